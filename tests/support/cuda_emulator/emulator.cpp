// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cuda_emulator/emulator.h"

#include "tests/support/cuda_emulator/fiber.h"
#include "tests/support/cuda_emulator/shared_memory.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <ucontext.h>
#endif

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace emulator {

const ThreadIds* current_ids = nullptr;

namespace {

struct Block;

enum class State : uint8_t { Ready = 1, AtBarrier, InWarp, Yielding, AtPhase, Ended };

struct PendingCopy {
    void* to;
    const void* from;
    uint64_t group;
};

struct PendingProduct {
    std::function<void()> run;
    uint64_t group;
};

struct BulkCopy {
    void* to;
    const void* from;
    size_t bytes;
    uint64_t* barrier;
};

/// Copies of a thread, and the barrier that it arrives at behind them.
struct LateArrival {
    std::vector<PendingCopy> copies;
    uint64_t* barrier;
};

struct alignas(64) Thread {
    Fiber fiber; ///< First, with what else a switch reads.
    Block* block = nullptr;
    int index = 0; ///< In the block.
    State state = State::Ready;
    ThreadIds ids;
    std::vector<PendingCopy> copies;
    uint64_t copy_group = 0;
    std::vector<PendingProduct> products;
    uint64_t product_group = 0;
    int barrier = 0;                 ///< At which one it waits.
    const uint64_t* phase = nullptr; ///< The barrier in shared memory whose phase it waits for.
    uint64_t priority = 0;           ///< Order::Starving: the higher one goes first.
};

struct Warp {
    Lane lanes[32];
    uint32_t present = 0; ///< Lanes that have not ended.
    uint32_t waiting = 0; ///< Lanes inside an exchange.
    uint32_t mask[32] = {};
    Exchange what[32] = {};
};

struct Block {
    Dim3 index;
    std::vector<std::unique_ptr<Thread>> threads;
    std::vector<Warp> warps;
    std::vector<Thread*> ready;    ///< The last one goes on next.
    std::vector<Thread*> yielding; ///< Go on when nobody else can.
    std::vector<Thread*> at_phase; ///< Go on when that phase ends, or has copies that may land.
    int alive = 0;
    int arrived = 0;
    int arrived_some[16] = {}; ///< At barriers of a number of threads.
    std::vector<BulkCopy> bulk_copies;
    std::vector<LateArrival> late_arrivals;
    BarrierVotes votes;   ///< At the barrier that fills.
    BarrierVotes outcome; ///< At the one before.
    std::unique_ptr<SharedMemory> shared;
};

/// Who goes on, by seed.
enum class Order : uint8_t {
    Fixed = 1, ///< Seed 0.
    Drawn,     ///< Anybody, drawn every time.
    Ahead,     ///< One warp runs ahead for a while.
    /// Fixed priorities drawn at the start: some threads come last wherever they may (after
    /// Burckhardt et al. 2010, "A randomized scheduler with probabilistic guarantees of finding
    /// bugs").
    Starving,
};

/// A __syncthreads() in the source.
struct BarrierSite {
    const char* file;
    unsigned line;
    std::string text;
    bool is_skipped;
};

/// More rounds in which threads only look and nothing happens are a deadlock.
constexpr int kIdleRounds = 20000;

struct Launch {
    std::string name;
    Shape shape;
    Options options;
    const std::function<void()>* body = nullptr;
    uint64_t random = 0;
    uint64_t next_block = 0, blocks = 0;
    std::vector<std::unique_ptr<Block>> resident, spare;
    size_t turn = 0;     ///< Resident block whose threads run.
    size_t yielding = 0; ///< Threads, of all resident blocks.
    unsigned room = 1;
    uint64_t progress = 0, seen_progress = 0, switches = 0;
    int idle_rounds = 0;
    Fiber outside;
    Thread* current = nullptr;
    std::vector<BarrierSite> sites;
    std::string error;

    uint64_t draw() {
        random += 0x9e3779b97f4a7c15U;
        uint64_t z = random;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    [[nodiscard]] bool isSeeded() const { return options.seed != 0; }
    [[nodiscard]] Order order() const {
        constexpr Order kOrders[] = {Order::Starving, Order::Drawn, Order::Ahead};
        return isSeeded() ? kOrders[options.seed % 3] : Order::Fixed;
    }
};

Launch* launch = nullptr;

std::string text(const Dim3& d) {
    return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) +
           ")";
}

std::string place(const Thread& t) {
    return "block " + text(t.ids.block) + " thread " + text(t.ids.thread);
}

bool isLater(const Thread* a, const Thread* b) {
    return a->priority < b->priority;
}

void makeReady(Block& block, Thread& thread) {
    thread.state = State::Ready;
    block.ready.push_back(&thread);
    if (launch->order() == Order::Starving) {
        std::push_heap(block.ready.begin(), block.ready.end(), isLater);
    }
}

void threadMain();

void admitBlock() {
    Launch& l = *launch;
    std::unique_ptr<Block> block;
    const unsigned count = l.shape.block.x * l.shape.block.y * l.shape.block.z;
    if (l.spare.empty()) {
        block = std::make_unique<Block>();
        for (unsigned i = 0; i < count; ++i) {
            block->threads.push_back(std::make_unique<Thread>());
            block->threads.back()->fiber.stack = takeStack();
        }
        block->shared = std::make_unique<SharedMemory>(l.shape.shared_bytes);
    } else {
        block = std::move(l.spare.back());
        l.spare.pop_back();
    }
    const uint64_t id = l.next_block++;
    const Dim3& grid = l.shape.grid;
    block->index = {static_cast<unsigned>(id % grid.x), static_cast<unsigned>(id / grid.x % grid.y),
                    static_cast<unsigned>(id / grid.x / grid.y)};
    block->warps.assign((count + 31) / 32, Warp{});
    block->alive = static_cast<int>(count);
    block->arrived = 0;
    std::fill_n(block->arrived_some, 16, 0);
    block->bulk_copies.clear();
    block->votes = {};
    block->ready.clear();
    block->yielding.clear();
    block->at_phase.clear();
    block->late_arrivals.clear();
    block->shared->reset();
    // Every other seed of that order mixes the threads of all blocks.
    const uint64_t block_priority = l.options.seed % 2 == 0 ? l.draw() : 0;
    for (unsigned i = 0; i < count; ++i) {
        Thread& t = *block->threads[i];
        const Dim3& size = l.shape.block;
        t.ids.thread = {i % size.x, i / size.x % size.y, i / size.x / size.y};
        t.ids.block = block->index;
        t.ids.block_size = size;
        t.ids.grid_size = grid;
        t.block = block.get();
        t.index = static_cast<int>(i);
        t.state = State::Ready;
        t.copies.clear();
        t.copy_group = 0;
        t.products.clear();
        t.product_group = 0;
        // Whole blocks before or behind others, and threads within them.
        t.priority = (block_priority & 0xff00000000000000U) | (l.draw() >> 8U);
        prepareFiber(t.fiber, &threadMain);
        block->warps[i / 32].present |= 1U << (i % 32);
        block->ready.push_back(&t);
    }
    if (l.order() == Order::Starving) {
        std::make_heap(block->ready.begin(), block->ready.end(), isLater);
    } else if (l.isSeeded()) {
        for (size_t i = block->ready.size(); i > 1; --i) {
            std::swap(block->ready[i - 1], block->ready[l.draw() % i]);
        }
    } else {
        std::reverse(block->ready.begin(), block->ready.end());
    }
    l.resident.push_back(std::move(block));
    ++l.progress;
}

/// Ends the block at `turn`, all of whose threads have ended.
void retireBlock() {
    Launch& l = *launch;
    auto at = l.resident.begin() + static_cast<std::ptrdiff_t>(l.turn);
    const std::string wrong = (*at)->shared->overrun();
    if (!wrong.empty() && l.error.empty()) {
        l.error = l.name + ", block " + text((*at)->index) + ": " + wrong;
    }
    l.spare.push_back(std::move(*at));
    l.resident.erase(at);
    l.turn = 0;
    ++l.progress;
}

std::string waitersOf(const Block& block) {
    int counts[7] = {};
    const Thread* example[7] = {};
    for (const auto& t : block.threads) {
        const auto state = static_cast<size_t>(t->state);
        ++counts[state];
        example[state] = t.get();
    }
    static const char* const kWhat[7] = {"",
                                         "ready",
                                         "at a block barrier",
                                         "in a warp exchange",
                                         "waiting for other blocks",
                                         "at a barrier in shared memory",
                                         "ended"};
    std::string result = "block " + text(block.index) + ":";
    for (size_t i = 1; i < 7; ++i) {
        if (counts[i] > 0) {
            result += " " + std::to_string(counts[i]) + " threads " + kWhat[i] + " (such as " +
                      text(example[i]->ids.thread) + ")";
        }
    }
    return result;
}

/// Those who most likely come next have long left the caches: the nearest one's stack, and the
/// record of one behind it.
void prefetchReady([[maybe_unused]] const Block& block, [[maybe_unused]] Order order) {
#if defined(__x86_64__)
    const size_t count = block.ready.size();
    if (count > 0) {
        const Thread* const next = order == Order::Starving ? block.ready[0] : block.ready.back();
        __builtin_prefetch(next->fiber.pointer);
    }
    if (count > 2) {
        __builtin_prefetch(order == Order::Starving ? block.ready[2] : block.ready[count - 3]);
    }
#endif
}

Thread* takeReady(Block& block) {
    Launch& l = *launch;
    const Order order = l.order();
    if (order == Order::Starving) {
        std::pop_heap(block.ready.begin(), block.ready.end(), isLater);
    } else if (order == Order::Drawn || (order == Order::Ahead && (l.draw() & 15U) == 0)) {
        std::swap(block.ready.back(), block.ready[l.draw() % block.ready.size()]);
    }
    Thread* const next = block.ready.back();
    block.ready.pop_back();
    prefetchReady(block, order);
    return next;
}

/// Whether copies that nobody has waited for yet belong to that barrier.
bool hasLateCopies(const Block& block, const uint64_t* barrier) {
    const auto belongs = [&](const auto& late) { return late.barrier == barrier; };
    return std::any_of(block.bulk_copies.begin(), block.bulk_copies.end(), belongs) ||
           std::any_of(block.late_arrivals.begin(), block.late_arrivals.end(), belongs);
}

void wakeYielding() {
    Launch& l = *launch;
    for (size_t i = 0; l.yielding > 0 && i < l.resident.size(); ++i) {
        Block& block = *l.resident[i];
        for (Thread* t : block.yielding) {
            makeReady(block, *t);
        }
        l.yielding -= block.yielding.size();
        block.yielding.clear();
    }
}

/// Those for whose phase copies may land: they land them. False: there are none.
bool wakeForCopies() {
    bool has_woken = false;
    for (auto& block : launch->resident) {
        std::erase_if(block->at_phase, [&](Thread* t) {
            const bool is_due = hasLateCopies(*block, t->phase);
            if (is_due) {
                makeReady(*block, *t);
                has_woken = true;
            }
            return is_due;
        });
    }
    return has_woken;
}

/// The thread that goes on; nullptr when all have ended or nobody ever will (error).
Thread* pickNext() {
    Launch& l = *launch;
    while (true) {
        if (!l.error.empty()) {
            return nullptr;
        }
        if (l.order() == Order::Starving) {
            const Thread* first = nullptr;
            for (size_t i = 0; i < l.resident.size(); ++i) {
                const auto& ready = l.resident[i]->ready;
                if (!ready.empty() && (first == nullptr || isLater(first, ready.front()))) {
                    first = ready.front();
                    l.turn = i;
                }
            }
        } else if (l.isSeeded() && l.resident.size() > 1 && (l.draw() & 31U) == 0) {
            l.turn = l.draw() % l.resident.size();
        }
        for (size_t i = 0; i < l.resident.size(); ++i) {
            const size_t at = (l.turn + i) % l.resident.size();
            if (!l.resident[at]->ready.empty()) {
                l.turn = at;
                return takeReady(*l.resident[at]);
            }
        }
        bool has_retired = false;
        for (size_t i = l.resident.size(); i-- > 0;) {
            if (l.resident[i]->alive == 0) {
                l.turn = i;
                retireBlock();
                has_retired = true;
            }
        }
        bool has_admitted = false;
        while (l.next_block < l.blocks && l.resident.size() < l.room &&
               (!has_admitted || l.isSeeded())) {
            admitBlock();
            has_admitted = true;
        }
        if (has_admitted) {
            l.turn = l.resident.size() - 1;
            continue;
        }
        if (has_retired) {
            continue;
        }
        if (l.resident.empty()) {
            return nullptr;
        }
        const bool has_yielding = l.yielding > 0;
        wakeYielding();
        const bool has_copies = wakeForCopies();
        l.idle_rounds = l.progress == l.seen_progress ? l.idle_rounds + 1 : 0;
        l.seen_progress = l.progress;
        if ((!has_yielding && !has_copies) || l.idle_rounds > kIdleRounds) {
            for (auto& block : l.resident) { // back, for the text
                for (Thread* t : block->ready) {
                    t->state = State::Yielding;
                }
            }
            l.error = l.name + ": nobody can go on; " + waitersOf(*l.resident.front()) +
                      (l.next_block < l.blocks
                           ? "; " + std::to_string(l.blocks - l.next_block) +
                                 " blocks have not begun: a card may not have room for them either"
                           : "");
            return nullptr;
        }
    }
}

/// Lets somebody else run; comes back when this thread's turn comes.
void leave() {
    Launch& l = *launch;
    Thread& self = *l.current;
    Thread* const next = pickNext();
    if (next == &self) {
        return;
    }
    ++l.switches;
    l.current = next;
    current_ids = next == nullptr ? nullptr : &next->ids;
    switchFiber(self.fiber, next == nullptr ? l.outside : next->fiber, false);
}

/// Goes back to run(), which picks the next thread: this one's stack may be used for another.
void leaveForGood() {
    Launch& l = *launch;
    switchFiber(l.current->fiber, l.outside, true);
}

void wakeThreadsAt(Block& block, int barrier) {
    ++launch->progress;
    for (size_t i = block.threads.size(); i-- > 0;) {
        Thread& t = *block.threads[i];
        if (t.state == State::AtBarrier && t.barrier == barrier) {
            makeReady(block, t);
        }
    }
}

void wakeBarrier(Block& block) {
    block.outcome = block.votes;
    block.votes = {};
    block.arrived = 0;
    wakeThreadsAt(block, 0);
}

void threadMain() {
    fiberEntered();
    Launch& l = *launch;
    (*l.body)();
    Thread& self = *l.current;
    finishCopies(-1);
    self.state = State::Ended;
    Block& block = *self.block;
    block.warps[static_cast<size_t>(self.index) / 32].present &=
        ~(1U << (static_cast<unsigned>(self.index) % 32));
    ++l.progress;
    --block.alive;
    if (block.alive > 0 && block.arrived == block.alive) {
        wakeBarrier(block);
    }
    leaveForGood();
}

#if defined(__x86_64__) && (defined(__linux__) || defined(_WIN32)) && !defined(__SANITIZE_ADDRESS__)
void* fault_address = nullptr;

[[noreturn]] void afterFault() {
    char text[96];
    std::snprintf(text, sizeof(text), "reads or writes memory that is not its own, at %p",
                  fault_address);
    fail(text);
}

/// Where the stack of the thread that runs is empty, as a function finds it that was called.
char* emptyStack() {
    return static_cast<char*>(launch->current->fiber.stack) + kStackBytes - 64 - 8;
}

#ifdef _WIN32
/// Lets the thread that touched forbidden memory go on in afterFault(), on an empty stack.
LONG CALLBACK onFault(EXCEPTION_POINTERS* fault) {
    const EXCEPTION_RECORD& what = *fault->ExceptionRecord;
    if (what.ExceptionCode != EXCEPTION_ACCESS_VIOLATION || launch == nullptr ||
        launch->current == nullptr) {
        return EXCEPTION_CONTINUE_SEARCH;
    }
    fault_address = reinterpret_cast<void*>(what.ExceptionInformation[1]);
    fault->ContextRecord->Rsp = reinterpret_cast<DWORD64>(emptyStack());
    fault->ContextRecord->Rip = reinterpret_cast<DWORD64>(&afterFault);
    return EXCEPTION_CONTINUE_EXECUTION;
}

/// While kernels run, forbidden memory is an error of theirs.
class FaultGuard {
public:
    FaultGuard() : handler_(AddVectoredExceptionHandler(/*First=*/1, &onFault)) {}
    ~FaultGuard() { RemoveVectoredExceptionHandler(handler_); }
    FaultGuard(const FaultGuard&) = delete;
    FaultGuard& operator=(const FaultGuard&) = delete;

private:
    void* handler_;
};
#else
/// Lets the thread that touched forbidden memory go on in afterFault(), on an empty stack.
void onFault(int number, siginfo_t* info, void* context) {
    if (launch == nullptr || launch->current == nullptr) {
        std::signal(number, SIG_DFL); // not a kernel: happens again, and ends the program
        return;
    }
    fault_address = info->si_addr;
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    registers[REG_RSP] = reinterpret_cast<greg_t>(emptyStack());
    registers[REG_RIP] = reinterpret_cast<greg_t>(&afterFault);
}

/// While kernels run, forbidden memory is an error of theirs. AddressSanitizer tells more, so it is
/// left alone.
class FaultGuard {
public:
    FaultGuard() {
        static char handler_stack[size_t{64} * 1024];
        stack_t stack{};
        stack.ss_sp = handler_stack;
        stack.ss_size = sizeof(handler_stack);
        sigaltstack(&stack, &stack_before_);
        struct sigaction action {};
        action.sa_sigaction = &onFault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigaction(SIGSEGV, &action, &before_[0]);
        sigaction(SIGBUS, &action, &before_[1]);
    }
    ~FaultGuard() {
        sigaction(SIGSEGV, &before_[0], nullptr);
        sigaction(SIGBUS, &before_[1], nullptr);
        sigaltstack(&stack_before_, nullptr);
    }
    FaultGuard(const FaultGuard&) = delete;
    FaultGuard& operator=(const FaultGuard&) = delete;

private:
    struct sigaction before_[2]{};
    stack_t stack_before_{};
};
#endif
#else
struct FaultGuard {};
#endif

} // namespace

Outcome run(const std::string& name,
            const Shape& shape,
            const Options& options,
            const std::function<void()>& body) {
    Launch l;
    l.name = name;
    l.shape = shape;
    l.options = options;
    l.body = &body;
    l.random = options.seed;
    l.blocks = uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z;
    const unsigned threads = shape.block.x * shape.block.y * shape.block.z;
    l.room = std::max(1U, options.resident_threads / threads);
    launch = &l;
    [[maybe_unused]] const FaultGuard guard;
    while (Thread* const next = pickNext()) {
        ++l.switches;
        l.current = next;
        current_ids = &next->ids;
        switchFiber(l.outside, next->fiber, false);
    }
    current_ids = nullptr;
    launch = nullptr;
    for (auto* list : {&l.resident, &l.spare}) {
        for (auto& block : *list) {
            for (auto& t : block->threads) {
                giveStack(t->fiber.stack);
            }
        }
    }
    Outcome outcome{l.error, l.switches, {}};
    for (const BarrierSite& site : l.sites) {
        outcome.barriers.push_back(site.text);
    }
    return outcome;
}

void fail(std::string what) {
    Launch& l = *launch;
    if (l.error.empty()) {
        l.error = l.name + ", " + place(*l.current) + ": " + what;
    }
    std::string().swap(what); // nobody comes back to free it
    leaveForGood();           // pickNext() sees the error
    __builtin_unreachable();
}

void exchange(Exchange what, uint32_t mask, Combine combine, Lane& mine) {
    Launch& l = *launch;
    Thread& self = *l.current;
    Block& block = *self.block;
    const auto lane = static_cast<unsigned>(self.index) % 32;
    Warp& warp = block.warps[static_cast<size_t>(self.index) / 32];
    const auto first = static_cast<size_t>(self.index) / 32 * 32;
    const size_t size = std::min<size_t>(32, block.threads.size() - first);
    mask &= size == 32 ? 0xffffffffU : (1U << size) - 1U;
    if ((mask >> lane & 1U) == 0) {
        fail("a warp exchange whose mask leaves out the lane itself");
    }
    if ((mask & ~warp.present) != 0) {
        fail("a warp exchange with lanes that have ended");
    }
    warp.lanes[lane] = mine;
    warp.mask[lane] = mask;
    warp.what[lane] = what;
    warp.waiting |= 1U << lane;
    if ((warp.waiting & mask) == mask) {
        for (size_t i = 0; i < size; ++i) {
            if ((mask >> i & 1U) != 0 && (warp.what[i] != what || warp.mask[i] != mask)) {
                fail("the lanes of a warp meet in different exchanges: with " +
                     place(*block.threads[first + i]));
            }
        }
        combine(warp.lanes, mask);
        warp.waiting &= ~mask;
        ++l.progress;
        for (size_t i = size; i-- > 0;) {
            if ((mask >> i & 1U) != 0 && i != lane) {
                makeReady(block, *block.threads[first + i]);
            }
        }
    } else {
        self.state = State::InWarp;
        leave();
    }
    mine = warp.lanes[lane];
}

namespace {

const BarrierSite& siteOf(const std::source_location& place) {
    Launch& l = *launch;
    for (const BarrierSite& site : l.sites) {
        if (site.line == place.line() && site.file == place.file_name()) {
            return site;
        }
    }
    const std::string file = place.file_name();
    const std::string text =
        file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(place.line());
    l.sites.push_back({place.file_name(), place.line(), text, text == l.options.without_barrier});
    return l.sites.back();
}

} // namespace

BarrierVotes blockBarrier(int vote, const std::source_location& place) {
    Thread& self = *launch->current;
    if (siteOf(place).is_skipped) {
        return {vote != 0 ? 1 : 0, vote != 0 ? 1 : 0, vote != 0 ? 1 : 0};
    }
    Block& block = *self.block;
    block.votes.any |= vote != 0 ? 1 : 0;
    block.votes.all &= vote != 0 ? 1 : 0;
    block.votes.count += vote != 0 ? 1 : 0;
    ++block.arrived;
    self.state = State::AtBarrier;
    self.barrier = 0;
    if (block.arrived == block.alive) {
        wakeBarrier(block);
    }
    leave();
    // Nobody reaches the next barrier's end before everybody has left this one.
    return block.outcome;
}

void someBarrier(int id, int threads, const std::source_location& place) {
    Thread& self = *launch->current;
    Block& block = *self.block;
    if (id < 1 || id > 15 || threads % 32 != 0 ||
        threads > static_cast<int>(block.threads.size())) {
        fail("a barrier of " + std::to_string(threads) + " threads with the number " +
             std::to_string(id));
    }
    if (siteOf(place).is_skipped) {
        return;
    }
    int& arrived = block.arrived_some[id];
    self.state = State::AtBarrier;
    self.barrier = id;
    if (++arrived == threads) {
        arrived = 0;
        wakeThreadsAt(block, id);
    }
    leave();
}

namespace {

/// What an emulated barrier in shared memory holds in its 8 bytes.
struct CopyBarrierState {
    uint16_t arrivals;  ///< Per phase.
    uint16_t missing;   ///< In this phase.
    int32_t bytes : 31; ///< Still to be copied in this phase.
    uint32_t parity : 1;
};
static_assert(sizeof(CopyBarrierState) == sizeof(uint64_t));

void change(uint64_t* at, int arrivals, int bytes) {
    auto state = std::bit_cast<CopyBarrierState>(*at);
    if (arrivals > state.missing) {
        fail("more arrivals at a barrier in shared memory than it was made for");
    }
    state.missing = static_cast<uint16_t>(state.missing - arrivals);
    state.bytes += bytes;
    if (state.missing == 0 && state.bytes == 0) {
        state.missing = state.arrivals;
        state.parity = state.parity == 0 ? 1 : 0;
        Block& block = *launch->current->block;
        std::erase_if(block.at_phase, [&](Thread* t) {
            if (t->phase == at) {
                makeReady(block, *t);
            }
            return t->phase == at;
        });
    }
    *at = std::bit_cast<uint64_t>(state);
    ++launch->progress;
    noteAtomicWrite();
}

void copyNow(const PendingCopy& copy) {
    if (copy.from == nullptr) {
        std::memset(copy.to, 0, 16);
    } else {
        std::memcpy(copy.to, copy.from, 16);
    }
}

void arriveNow(const LateArrival& arrival) {
    for (const PendingCopy& copy : arrival.copies) {
        copyNow(copy);
    }
    change(arrival.barrier, 1, 0);
}

void copyNow(const BulkCopy& copy) {
    std::memcpy(copy.to, copy.from, copy.bytes);
    change(copy.barrier, 0, -static_cast<int>(copy.bytes));
}

} // namespace

void initCopyBarrier(uint64_t* at, int arrivals) {
    const auto count = static_cast<uint16_t>(arrivals);
    *at = std::bit_cast<uint64_t>(CopyBarrierState{count, count, 0, 0});
}

void expectCopies(uint64_t* at, int bytes) {
    change(at, 0, bytes);
}

void arriveAtCopyBarrier(uint64_t* at) {
    change(at, 1, 0);
}

namespace {

/// What may land at the latest now that it is waited for.
void landCopies(Block& block, const uint64_t* at) {
    auto& copies = block.bulk_copies;
    for (size_t i = copies.size(); i-- > 0;) {
        if (copies[i].barrier == at) {
            const BulkCopy copy = copies[i];
            copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(i));
            copyNow(copy);
        }
    }
    auto& arrivals = block.late_arrivals;
    for (size_t i = arrivals.size(); i-- > 0;) {
        if (arrivals[i].barrier == at) {
            const LateArrival arrival = std::move(arrivals[i]);
            arrivals.erase(arrivals.begin() + static_cast<std::ptrdiff_t>(i));
            arriveNow(arrival);
        }
    }
}

} // namespace

void waitForPhase(uint64_t* at, uint32_t parity) {
    Thread& self = *launch->current;
    Block& block = *self.block;
    while (true) {
        landCopies(block, at);
        if (std::bit_cast<CopyBarrierState>(*at).parity != (parity & 1U)) {
            return;
        }
        self.state = State::AtPhase;
        self.phase = at;
        block.at_phase.push_back(&self);
        leave();
    }
}

void copyBulk(void* to, const void* from, size_t bytes, uint64_t* barrier) {
    const BulkCopy copy{to, from, bytes, barrier};
    if (launch->isSeeded() && (launch->draw() & 1U) == 0) {
        copyNow(copy);
        return;
    }
    launch->current->block->bulk_copies.push_back(copy);
}

void arriveBehindCopies(uint64_t* at) {
    Thread& self = *launch->current;
    LateArrival arrival{std::move(self.copies), at};
    self.copies.clear();
    if (launch->isSeeded() && (launch->draw() & 1U) == 0) {
        arriveNow(arrival);
        return;
    }
    self.block->late_arrivals.push_back(std::move(arrival));
}

void noteProgress() {
    ++launch->progress;
}

void noteAtomicWrite() {
    if (launch->isSeeded()) {
        wakeYielding();
    }
}

void yieldToOthers() {
    Thread& self = *launch->current;
    if (launch->isSeeded() && (launch->draw() & 3U) == 0) {
        return;
    }
    self.state = State::Yielding;
    self.block->yielding.push_back(&self);
    ++launch->yielding;
    leave();
}

void yieldSometimes() {
    if (launch->isSeeded() && (launch->draw() & 63U) == 0) {
        Thread& self = *launch->current;
        makeReady(*self.block, self);
        leave();
    }
}

int64_t steps() {
    return static_cast<int64_t>(launch->progress + launch->switches);
}

void* staticShared(const void* key, size_t bytes, size_t alignment) {
    void* const at = launch->current->block->shared->variable(key, bytes, alignment);
    if (at == nullptr) {
        fail("more static shared memory than a block may have");
    }
    return at;
}

char* dynamicShared() {
    return launch->current->block->shared->dynamic();
}

uint32_t sharedNumber(const void* pointer) {
    const int64_t number = launch->current->block->shared->numberOf(pointer);
    if (number < 0) {
        fail("a pointer outside the block's shared memory is taken for a shared address");
    }
    return static_cast<uint32_t>(number);
}

void* sharedPointer(uint32_t number, size_t bytes, size_t alignment) {
    if (number % alignment != 0) {
        fail("shared address " + std::to_string(number) + " is not a multiple of " +
             std::to_string(alignment));
    }
    void* const at = launch->current->block->shared->pointerTo(number, bytes);
    if (at == nullptr) {
        fail("shared address " + std::to_string(number) + " with " + std::to_string(bytes) +
             " bytes lies outside the block's shared memory (" +
             std::to_string(launch->shape.shared_bytes) + " bytes dynamic)");
    }
    return at;
}

void copyLater(void* to, const void* from) {
    Thread& self = *launch->current;
    const PendingCopy copy{to, from, self.copy_group};
    if (reinterpret_cast<uintptr_t>(from) % 16 != 0) {
        fail("an asynchronous copy of 16 bytes from an address that is not a multiple of 16");
    }
    // As late as allowed; with a seed at once now and then.
    if (launch->isSeeded() && (launch->draw() & 1U) == 0) {
        copyNow(copy);
        return;
    }
    self.copies.push_back(copy);
}

void commitCopies() {
    ++launch->current->copy_group;
}

void finishCopies(int left) {
    Thread& self = *launch->current;
    size_t kept = 0;
    for (const PendingCopy& copy : self.copies) {
        // Groups 0 .. copy_group - 1 are committed.
        const bool is_due = left < 0 || copy.group + static_cast<uint64_t>(left) < self.copy_group;
        if (is_due) {
            copyNow(copy);
        } else {
            self.copies[kept++] = copy;
        }
    }
    self.copies.resize(kept);
}

void productLater(std::function<void()> product) {
    Thread& self = *launch->current;
    // In order, as the sums of one follow those of the other.
    if (self.products.empty() && launch->isSeeded() && (launch->draw() & 1U) == 0) {
        product();
        return;
    }
    self.products.push_back({std::move(product), self.product_group});
}

void commitProducts() {
    ++launch->current->product_group;
}

void finishProducts(int left) {
    Thread& self = *launch->current;
    size_t done = 0;
    while (done < self.products.size() &&
           self.products[done].group + static_cast<uint64_t>(left) < self.product_group) {
        self.products[done++].run();
    }
    self.products.erase(self.products.begin(),
                        self.products.begin() + static_cast<std::ptrdiff_t>(done));
}

} // namespace emulator
