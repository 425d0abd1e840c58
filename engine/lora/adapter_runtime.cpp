// SPDX-License-Identifier: Apache-2.0
// The set: entries with their placed parts, and the sites that the hot path uses, rebuilt from
// the entries after every change.
#include "engine/lora/adapter_runtime.h"

#include "engine/lora/adapter_arrivals.h"
#include "engine/lora/adapter_site.h"
#include "engine/lora/placed_adapter.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <unordered_map>

namespace engine {

namespace {

Result<void> checkStrength(double strength) {
    if (!(strength >= 0.0 && strength <= 2.0)) {
        char text[64];
        std::snprintf(text, sizeof text, "%g", strength);
        return Error{ErrorCode::InvalidRequest,
                     said("adapter strength %1 is outside 0 to 2", text)};
    }
    return {};
}

/// What an entry would be after a change.
struct Wanted {
    int id = 0;
    double strength = 1.0;
    bool is_enabled = true;
    [[nodiscard]] bool isActive() const { return is_enabled && strength != 0.0; }
};

} // namespace

struct AdapterSet::State {
    explicit State(kernels::Device& host_device) : host(host_device) {}

    kernels::Device& host;
    std::vector<AdapterEntry> entries;
    std::vector<std::unique_ptr<PlacedAdapter>> placed; ///< Parallel to entries.
    std::map<kernels::Device*, DeviceBlock> scratch;
    Arrivals arrivals;              ///< For updates that travel.
    std::vector<AdapterSite> sites; ///< Index = handle.
    std::unordered_map<std::string, Handle> handle_of;
    struct ActiveVector {
        const PlacedVector* placed = nullptr;
        std::vector<float> values; ///< Empty when the blend can be read in the block.

        [[nodiscard]] std::span<const float> host() const {
            if (!values.empty()) {
                return values;
            }
            return {reinterpret_cast<const float*>(placed->block.at(0)), placed->value.size()};
        }
    };
    std::map<std::string, ActiveVector, std::less<>> vectors;
    uint64_t generation = 1;
    std::string fingerprint;
    int next_id = 1;

    [[nodiscard]] size_t indexOf(int id) const {
        for (size_t i = 0; i < entries.size(); ++i) {
            if (entries[i].id == id) {
                return i;
            }
        }
        return entries.size();
    }

    [[nodiscard]] std::vector<Wanted> current() const {
        std::vector<Wanted> wanted;
        for (const AdapterEntry& entry : entries) {
            wanted.push_back({entry.id, entry.strength, entry.is_enabled});
        }
        return wanted;
    }

    AdapterSite& site(const std::string& tensor) {
        const auto [it, is_new] = handle_of.emplace(tensor, static_cast<Handle>(sites.size()));
        if (is_new) {
            sites.emplace_back();
            sites.back().tensor = tensor;
        }
        return sites[static_cast<size_t>(it->second)];
    }

    // ---- workspace ----------------------------------------------------------------------------

    static void addDevices(const PlacedAdapter& adapter, std::set<kernels::Device*>& devices) {
        const auto add = [&](const DeviceBlock& block) {
            if (block.device() != nullptr) {
                devices.insert(block.device());
            }
        };
        for (const PlacedUpdate& part : adapter.updates) {
            if (part.isPlaced()) {
                devices.insert(part.home.compute);
            }
        }
        for (const PlacedRows& part : adapter.rows) {
            add(part.block);
        }
        for (const PlacedTensor& part : adapter.tensors) {
            add(part.block);
        }
        for (const PlacedVector& part : adapter.vectors) {
            add(part.block);
        }
    }

    /// Room for what travels of all entries and of `extra`.
    [[nodiscard]] ArrivalRooms arrivalRooms(const PlacedAdapter* extra = nullptr) const {
        ArrivalCount count;
        const auto add = [&count](const PlacedAdapter& adapter) {
            for (const PlacedUpdate& part : adapter.updates) {
                count.add(part.home, part.update->tensor, part.layout.total);
            }
        };
        for (const auto& adapter : placed) {
            add(*adapter);
        }
        if (extra != nullptr) {
            add(*extra);
        }
        return count.rooms();
    }

    /// Workspaces that are missing or too small for `adapter` on `devices`; nothing is replaced.
    Result<std::map<kernels::Device*, DeviceBlock>>
    newScratch(const PlacedAdapter& adapter, const std::set<kernels::Device*>& devices) const {
        std::map<kernels::Device*, DeviceBlock> fresh;
        const uint64_t bytes = adapter.adapter->footprint().scratch_bytes;
        for (kernels::Device* device : devices) {
            const auto it = scratch.find(device);
            if (it != scratch.end() && it->second.sizeBytes() >= bytes) {
                continue;
            }
            ENGINE_ASSIGN(fresh[device],
                          DeviceBlock::allocate(*device, bytes, phrase("workspace")));
        }
        return fresh;
    }

    // NOLINTNEXTLINE(performance-unnecessary-value-param): its blocks are moved from
    void takeScratch(std::map<kernels::Device*, DeviceBlock> fresh) {
        for (auto& [device, block] : fresh) {
            scratch[device] = std::move(block);
        }
    }

    /// No workspace where nothing computes, and none larger than what is left asks for.
    void dropUnusedScratch() {
        std::map<kernels::Device*, uint64_t> used;
        for (const auto& adapter : placed) {
            std::set<kernels::Device*> devices;
            addDevices(*adapter, devices);
            for (kernels::Device* device : devices) {
                used[device] = std::max(used[device], adapter->adapter->footprint().scratch_bytes);
            }
        }
        std::erase_if(scratch, [&](const auto& item) { return !used.contains(item.first); });
        for (auto& [device, block] : scratch) {
            if (block.sizeBytes() > used[device]) {
                auto smaller = DeviceBlock::allocate(*device, used[device], phrase("workspace"));
                if (smaller.has_value()) {
                    block = std::move(*smaller); // no room for both: the larger one serves
                }
            }
        }
    }

    // ---- activation ---------------------------------------------------------------------------

    /// Two active adapters must not replace the same thing.
    [[nodiscard]] Result<void> checkConflicts(const std::vector<Wanted>& wanted,
                                              const PlacedAdapter* extra = nullptr) const {
        std::map<std::string, std::string> tensor_owner;
        std::map<std::pair<std::string, int64_t>, std::string> row_owner;
        const auto visit = [&](const Adapter& adapter) -> Result<void> {
            for (const TensorReplacement& replacement : adapter.replacements()) {
                const auto [it, is_new] = tensor_owner.emplace(replacement.tensor, adapter.name());
                if (!is_new) {
                    return Error{
                        ErrorCode::InvalidRequest,
                        said("adapters %1 and %2 both replace %3; enable one of them at a time",
                             it->second, adapter.name(), replacement.tensor)};
                }
            }
            for (const RowReplacement& rows : adapter.rowReplacements()) {
                for (const int64_t id : rows.ids) {
                    const auto [it, is_new] =
                        row_owner.emplace(std::pair{rows.tensor, id}, adapter.name());
                    if (!is_new) {
                        return Error{ErrorCode::InvalidRequest,
                                     said("adapters %1 and %2 both replace token %3 of %4; enable "
                                          "one of them at a time",
                                          it->second, adapter.name(), id, rows.tensor)};
                    }
                }
            }
            return {};
        };
        for (const Wanted& item : wanted) {
            const size_t i = indexOf(item.id);
            if (!item.isActive()) {
                continue;
            }
            if (i < entries.size()) {
                ENGINE_TRY(visit(*entries[i].adapter));
            } else if (extra != nullptr) {
                ENGINE_TRY(visit(*extra->adapter));
            }
        }
        return {};
    }

    /// Makes the entries be as wanted (same ids, this order) and rebuilds the sites. Only device
    /// copies of factors and DoRA columns can fail.
    Result<void> become(const std::vector<Wanted>& wanted) {
        ENGINE_TRY(checkConflicts(wanted));
        for (const Wanted& item : wanted) {
            const size_t i = indexOf(item.id);
            if (entries[i].strength != item.strength) {
                for (PlacedUpdate& update : placed[i]->updates) {
                    ENGINE_TRY(writeStrength(update, item.strength));
                }
                for (PlacedVector& vector : placed[i]->vectors) {
                    ENGINE_TRY(writeBlend(vector, item.strength));
                }
            }
        }
        std::vector<AdapterEntry> new_entries;
        std::vector<std::unique_ptr<PlacedAdapter>> new_placed;
        for (const Wanted& item : wanted) {
            const size_t i = indexOf(item.id);
            new_entries.push_back(entries[i]);
            new_entries.back().strength = item.strength;
            new_entries.back().is_enabled = item.is_enabled;
            new_placed.push_back(std::move(placed[i]));
        }
        entries = std::move(new_entries);
        placed = std::move(new_placed);
        rebuild();
        return {};
    }

    void rebuild() {
        for (AdapterSite& s : sites) {
            s.device = nullptr;
            s.home = {};
            s.is_touched = false;
            s.tensors.clear();
            s.rows.clear();
            s.updates.clear();
            s.batches.clear();
        }
        vectors.clear();
        fingerprint.clear();
        for (size_t i = 0; i < entries.size(); ++i) {
            const AdapterEntry& entry = entries[i];
            const bool is_active = entry.is_enabled && entry.strength != 0.0;
            if (is_active) {
                char text[64];
                std::snprintf(text, sizeof text, "%d:%.17g;", entry.id, entry.strength);
                fingerprint += text;
            }
            addToSites(*placed[i], entry.strength, is_active);
        }
        arrivals.forget();
        for (AdapterSite& s : sites) {
            if (!s.home.travels()) {
                makeBatches(s);
            }
            const auto it = scratch.find(s.device);
            const bool has_scratch = s.device != nullptr && it != scratch.end();
            s.scratch = has_scratch ? reinterpret_cast<float*>(it->second.at(0)) : nullptr;
            s.scratch_floats =
                has_scratch ? static_cast<int64_t>(it->second.sizeBytes() / sizeof(float)) : 0;
        }
        ++generation;
    }

    void addToSites(PlacedAdapter& adapter, double strength, bool is_active) {
        const auto t = static_cast<float>(strength);
        const auto touchOn = [&](const std::string& tensor,
                                 kernels::Device* device) -> AdapterSite* {
            if (device == nullptr) {
                return nullptr;
            }
            AdapterSite& s = site(tensor);
            s.is_touched = true;
            s.device = device;
            return is_active ? &s : nullptr;
        };
        const auto touch = [&](const std::string& tensor, const DeviceBlock& block) {
            return touchOn(tensor, block.device());
        };
        for (const PlacedTensor& part : adapter.tensors) {
            if (AdapterSite* s = touch(part.tensor, part.block)) {
                s->tensors.push_back({&part, t});
            }
        }
        for (const PlacedRows& part : adapter.rows) {
            const std::string name = part.is_head ? std::string(kHeadTensor) : part.rows->tensor;
            if (AdapterSite* s = touch(name, part.block)) {
                s->rows.push_back({&part, t});
            }
        }
        for (PlacedUpdate& part : adapter.updates) {
            if (AdapterSite* s = touchOn(part.update->tensor, part.home.compute)) {
                s->home = part.home;
                s->updates.push_back({&part, static_cast<float>(part.update->scaling * strength)});
            }
        }
        if (!is_active) {
            return;
        }
        for (const PlacedVector& part : adapter.vectors) {
            State::ActiveVector& vector = vectors[part.replacement->tensor];
            vector.placed = &part;
            const kernels::Device* device = part.block.device();
            if (device == nullptr || !device->isHostVisible()) {
                vector.values = part.blended(strength);
            }
        }
    }
};

AdapterSet::AdapterSet(kernels::Device& host) : state_(std::make_unique<State>(host)) {}
AdapterSet::~AdapterSet() = default;

Result<int> AdapterSet::add(std::shared_ptr<const Adapter> adapter,
                            double strength,
                            bool is_enabled,
                            const AdapterHomeOf& home_of,
                            const ReadBaseRows& read_base,
                            std::stop_token stop) {
    State& s = *state_;
    ENGINE_TRY(checkStrength(strength));
    const int id = s.next_id;
    ENGINE_ASSIGN(std::unique_ptr<PlacedAdapter> placed,
                  placeAdapter(adapter, {s.host, home_of, read_base, std::move(stop)}));
    std::vector<Wanted> wanted = s.current();
    wanted.push_back({id, strength, is_enabled});
    ENGINE_TRY(s.checkConflicts(wanted, placed.get()));
    std::set<kernels::Device*> devices;
    State::addDevices(*placed, devices);
    ENGINE_ASSIGN(auto scratch, s.newScratch(*placed, devices));
    for (PlacedUpdate& update : placed->updates) {
        ENGINE_TRY(writeStrength(update, strength));
    }
    for (PlacedVector& vector : placed->vectors) {
        ENGINE_TRY(writeBlend(vector, strength));
    }
    ENGINE_TRY(s.arrivals.resize(s.arrivalRooms(placed.get())));
    s.takeScratch(std::move(scratch));
    s.entries.push_back({id, std::move(adapter), strength, is_enabled});
    s.placed.push_back(std::move(placed));
    ++s.next_id;
    s.rebuild();
    return id;
}

Result<void> AdapterSet::remove(int id) {
    State& s = *state_;
    const size_t i = s.indexOf(id);
    if (i == s.entries.size()) {
        return Error{ErrorCode::InvalidRequest, said("no adapter with id %1", id)};
    }
    s.entries.erase(s.entries.begin() + static_cast<std::ptrdiff_t>(i));
    s.placed.erase(s.placed.begin() + static_cast<std::ptrdiff_t>(i));
    s.dropUnusedScratch();
    (void)s.arrivals.resize(s.arrivalRooms()); // refused: made when something comes
    s.rebuild();
    return {};
}

void AdapterSet::clear() {
    State& s = *state_;
    s.entries.clear();
    s.placed.clear();
    s.scratch.clear();
    (void)s.arrivals.resize({});
    s.sites.clear();
    s.handle_of.clear();
    s.rebuild();
}

Result<void> AdapterSet::setStrength(int id, double strength) {
    State& s = *state_;
    ENGINE_TRY(checkStrength(strength));
    std::vector<Wanted> wanted = s.current();
    const size_t i = s.indexOf(id);
    if (i == wanted.size()) {
        return Error{ErrorCode::InvalidRequest, said("no adapter with id %1", id)};
    }
    wanted[i].strength = strength;
    return s.become(wanted);
}

Result<void> AdapterSet::setEnabled(int id, bool is_enabled) {
    State& s = *state_;
    std::vector<Wanted> wanted = s.current();
    const size_t i = s.indexOf(id);
    if (i == wanted.size()) {
        return Error{ErrorCode::InvalidRequest, said("no adapter with id %1", id)};
    }
    wanted[i].is_enabled = is_enabled;
    return s.become(wanted);
}

Result<void> AdapterSet::activate(std::span<const AdapterActivation> active) {
    State& s = *state_;
    std::vector<Wanted> wanted;
    for (const AdapterActivation& item : active) {
        ENGINE_TRY(checkStrength(item.strength));
        if (s.indexOf(item.id) == s.entries.size()) {
            return Error{ErrorCode::InvalidRequest, said("no adapter with id %1", item.id)};
        }
        const bool is_twice = std::any_of(wanted.begin(), wanted.end(),
                                          [&](const Wanted& w) { return w.id == item.id; });
        if (is_twice) {
            return Error{ErrorCode::InvalidRequest, said("adapter %1 is listed twice", item.id)};
        }
        wanted.push_back({item.id, item.strength, true});
    }
    for (const AdapterEntry& entry : s.entries) {
        const bool is_listed = std::any_of(wanted.begin(), wanted.end(),
                                           [&](const Wanted& w) { return w.id == entry.id; });
        if (!is_listed) {
            wanted.push_back({entry.id, entry.strength, false});
        }
    }
    return s.become(wanted);
}

/// What follow() does: everything that has to lie elsewhere is made beside what is there, and taken
/// all at once when nothing can fail any more.
class AdapterSet::Following {
public:
    Following(State& state,
              const AdapterHomeOf& home_of,
              const ReadBaseRows& read_base,
              const std::function<bool(const std::string& tensor)>& has_changed)
        : s_(state), home_of_(home_of), read_base_(read_base), has_changed_(has_changed) {}

    /// The room for what travels, as it will be.
    [[nodiscard]] ArrivalRooms rooms() const;
    Result<void> prepare(size_t entry);
    /// Fails only where a lost device refuses.
    Result<void> take();

private:
    using Devices = std::set<kernels::Device*>;
    struct Change {
        DeviceBlock* target = nullptr;
        DeviceBlock block;
    };
    struct UpdateChange {
        PlacedUpdate* update = nullptr;
        PlacedUpdate next;        ///< home, block and g.
        bool keeps_block = false; ///< It lies where it has to; `next` has none.
        std::vector<float> b;     ///< DoRA's B for the block that is kept; empty: as it is.
    };

    [[nodiscard]] AdapterHome homeOf(const PlacedUpdate& part) const {
        return part.update->kind == TensorKind::Embedding ? part.home
                                                          : home_of_(part.update->tensor);
    }
    static Error notLoaded(const Adapter& adapter, const std::string& tensor) {
        return Error{ErrorCode::InvalidRequest, said("%1: %2 was not loaded when the adapter was "
                                                     "added; remove the adapter and add it again",
                                                     adapter.name(), tensor)};
    }
    /// A block that lies with its tensor.
    Result<void> prepareBlock(const Adapter& adapter,
                              DeviceBlock& block,
                              const std::string& tensor,
                              Devices& devices);
    Result<void> prepareUpdate(const Adapter& adapter, PlacedUpdate& part, Devices& devices);
    /// `change.next` for a part that is placed before and after.
    Result<void> makeNext(const Adapter& adapter, UpdateChange& change, bool is_renewed);

    State& s_;
    const AdapterHomeOf& home_of_;
    const ReadBaseRows& read_base_;
    const std::function<bool(const std::string& tensor)>& has_changed_;
    std::vector<Change> changes_;
    std::vector<UpdateChange> update_changes_;
    std::map<kernels::Device*, DeviceBlock> scratch_;
};

ArrivalRooms AdapterSet::Following::rooms() const {
    ArrivalCount arriving;
    for (const auto& placed : s_.placed) {
        for (const PlacedUpdate& part : placed->updates) {
            arriving.add(homeOf(part), part.update->tensor, part.layout.total);
        }
    }
    return arriving.rooms();
}

Result<void> AdapterSet::Following::prepareBlock(const Adapter& adapter,
                                                 DeviceBlock& block,
                                                 const std::string& tensor,
                                                 Devices& devices) {
    kernels::Device* device = home_of_(tensor).compute;
    if (device != nullptr) {
        devices.insert(device);
    }
    if (device == block.device()) {
        return {};
    }
    Change change;
    change.target = &block;
    if (device != nullptr) {
        if (block.device() == nullptr) {
            return notLoaded(adapter, tensor);
        }
        ENGINE_ASSIGN(change.block, block.copyTo(*device, tensor));
    }
    changes_.push_back(std::move(change));
    return {};
}

Result<void>
AdapterSet::Following::prepareUpdate(const Adapter& adapter, PlacedUpdate& part, Devices& devices) {
    const LowRankUpdate& u = *part.update;
    const AdapterHome home = homeOf(part);
    if (home.compute != nullptr) {
        devices.insert(home.compute);
    }
    // DoRA's factors hang on the base's rows, which a move may have quantized anew.
    const bool is_renewed = u.isDora() && read_base_ != nullptr && home.compute != nullptr &&
                            part.isPlaced() && (has_changed_ == nullptr || has_changed_(u.tensor));
    if (home == part.home && !is_renewed) {
        return {};
    }
    UpdateChange change;
    change.update = &part;
    change.next.home = home;
    if (home.compute != nullptr) {
        if (!part.isPlaced()) {
            return notLoaded(adapter, u.tensor);
        }
        ENGINE_TRY(makeNext(adapter, change, is_renewed));
    }
    update_changes_.push_back(std::move(change));
    return {};
}

Result<void>
AdapterSet::Following::makeNext(const Adapter& adapter, UpdateChange& change, bool is_renewed) {
    const PlacedUpdate& part = *change.update;
    const AdapterHome home = change.next.home;
    change.next.update = part.update;
    change.next.source = part.source;
    change.next.layout = part.layout;
    change.next.strength = part.strength;
    change.next.g = part.g;
    if (is_renewed) {
        ENGINE_ASSIGN(change.next.g, doraFactors(adapter, *part.update, read_base_, {}));
    }
    const kernels::Device* const where = !home.travels()   ? home.compute
                                         : home.is_on_disk ? nullptr
                                                           : &s_.host;
    change.keeps_block = part.block.device() == where;
    if (change.keeps_block && is_renewed && where != nullptr) {
        ENGINE_ASSIGN(change.b, scaledB(adapter, change.next));
    }
    if (!change.keeps_block) {
        const DeviceBlock none;
        ENGINE_ASSIGN(change.next.block,
                      blockAt(change.next, home, s_.host, is_renewed ? none : part.block));
    }
    return {};
}

Result<void> AdapterSet::Following::prepare(size_t entry) {
    PlacedAdapter& placed = *s_.placed[entry];
    const Adapter& adapter = *s_.entries[entry].adapter;
    Devices devices;
    for (PlacedUpdate& part : placed.updates) {
        ENGINE_TRY(prepareUpdate(adapter, part, devices));
    }
    for (PlacedRows& part : placed.rows) {
        if (part.is_head) {
            ENGINE_TRY(prepareBlock(adapter, part.block, std::string(kHeadTensor), devices));
        }
    }
    for (PlacedVector& part : placed.vectors) {
        const std::string& tensor = part.replacement->tensor;
        if (part.replacement->place == VectorPlace::Device) {
            ENGINE_TRY(prepareBlock(adapter, part.block, tensor, devices));
        } else if (part.block.device() != nullptr) {
            devices.insert(&s_.host);
        }
    }
    for (PlacedTensor& part : placed.tensors) {
        if (part.replacement->kind != TensorKind::Embedding || part.tensor == kHeadTensor) {
            ENGINE_TRY(prepareBlock(adapter, part.block, part.tensor, devices));
        }
    }
    ENGINE_ASSIGN(auto fresh, s_.newScratch(placed, devices));
    for (auto& [device, block] : fresh) {
        DeviceBlock& slot = scratch_[device];
        if (slot.sizeBytes() < block.sizeBytes()) {
            slot = std::move(block);
        }
    }
    return {};
}

Result<void> AdapterSet::Following::take() {
    for (Change& change : changes_) {
        *change.target = std::move(change.block);
    }
    Result<void> written;
    for (UpdateChange& change : update_changes_) {
        PlacedUpdate& part = *change.update;
        part.home = change.next.home;
        if (!change.keeps_block) {
            part.block = std::move(change.next.block);
        }
        if (part.isPlaced()) {
            part.g = std::move(change.next.g);
        }
        if (!change.b.empty() && written.has_value()) {
            written = part.block.write(part.layout.b.offset, std::as_bytes(std::span(change.b)),
                                       part.update->tensor);
            if (written.has_value()) {
                written = writeStrength(part, part.strength);
            }
        }
    }
    s_.takeScratch(std::move(scratch_));
    s_.dropUnusedScratch();
    s_.rebuild();
    return written;
}

Result<void> AdapterSet::follow(const AdapterHomeOf& home_of,
                                const ReadBaseRows& read_base,
                                const std::function<bool(const std::string& tensor)>& has_changed) {
    State& s = *state_;
    Following following(s, home_of, read_base, has_changed);
    const ArrivalRooms rooms = following.rooms();
    s.arrivals.release(rooms);
    for (size_t i = 0; i < s.entries.size(); ++i) {
        ENGINE_TRY(following.prepare(i));
    }
    ENGINE_TRY(s.arrivals.resize(rooms));
    return following.take();
}

const std::vector<AdapterEntry>& AdapterSet::entries() const {
    return state_->entries;
}

const std::string& AdapterSet::fingerprint() const {
    return state_->fingerprint;
}

uint64_t AdapterSet::bytesOn(const kernels::Device* device) const {
    uint64_t bytes = 0;
    const auto add = [&](const DeviceBlock& block) {
        bytes += block.device() == device ? block.sizeBytes() : 0;
    };
    for (const auto& placed : state_->placed) {
        for (const PlacedUpdate& part : placed->updates) {
            add(part.block);
        }
        for (const PlacedRows& part : placed->rows) {
            add(part.block);
        }
        for (const PlacedTensor& part : placed->tensors) {
            add(part.block);
        }
        for (const PlacedVector& part : placed->vectors) {
            add(part.block);
        }
    }
    for (const auto& [owner, block] : state_->scratch) {
        add(block);
    }
    return bytes + state_->arrivals.bytesOn(device);
}

AdapterHook::Handle AdapterSet::find(std::string_view base_tensor) const {
    const auto it = state_->handle_of.find(std::string(base_tensor));
    if (it == state_->handle_of.end() ||
        !state_->sites[static_cast<size_t>(it->second)].is_touched) {
        return kNone;
    }
    return it->second;
}

Result<void>
AdapterSet::apply(Handle handle, kernels::Queue queue, kernels::MatF32 x, kernels::MutF32 y) {
    return applyExpert(handle, 0, queue, x, y);
}

Result<void> AdapterSet::applyExpert(
    Handle handle, int64_t expert, kernels::Queue queue, kernels::MatF32 x, kernels::MutF32 y) {
    if (handle < 0 || static_cast<size_t>(handle) >= state_->sites.size()) {
        return Error{ErrorCode::Internal, "an adapter handle that does not exist"};
    }
    AdapterSite& site = state_->sites[static_cast<size_t>(handle)];
    if (site.isIdle() || x.rows == 0) {
        return {};
    }
    if (site.home.travels() && !site.updates.empty()) {
        ENGINE_TRY(state_->arrivals.bring(site, state_->sites));
    }
    return applyAtLinear(site, expert, queue, x, y);
}

bool AdapterSet::hasOnlyUpdates() const {
    return state_->vectors.empty() &&
           std::all_of(state_->sites.begin(), state_->sites.end(), [](const AdapterSite& site) {
               return site.tensors.empty() && site.rows.empty();
           });
}

bool AdapterSet::stepUpdates(Handle handle, std::vector<kernels::ProjectLora>& updates) const {
    updates.clear();
    if (handle < 0 || static_cast<size_t>(handle) >= state_->sites.size()) {
        return false;
    }
    const AdapterSite& site = state_->sites[static_cast<size_t>(handle)];
    const bool is_elsewhere = site.home.travels() && !site.updates.empty();
    if (!site.tensors.empty() || !site.rows.empty() || is_elsewhere) {
        return false;
    }
    for (const ActiveUpdate& active : site.updates) {
        const PlacedUpdate& placed = *active.placed;
        if (placed.update->kind != TensorKind::Linear || placed.update->isDora() ||
            placed.update->b_bias.present) {
            updates.clear();
            return false;
        }
        updates.push_back({0, placed.a(), placed.b(), placed.factor()});
    }
    return true;
}

Result<void> AdapterSet::applyRows(Handle handle,
                                   std::span<const int32_t> ids,
                                   int64_t col_offset,
                                   float scale,
                                   kernels::MutF32 rows) {
    if (handle < 0 || static_cast<size_t>(handle) >= state_->sites.size()) {
        return Error{ErrorCode::Internal, "an adapter handle that does not exist"};
    }
    const AdapterSite& site = state_->sites[static_cast<size_t>(handle)];
    if (site.isIdle() || ids.empty()) {
        return {};
    }
    return applyAtEmbedding(site, ids, col_offset, scale, rows);
}

std::span<const float> AdapterSet::replacement(std::string_view base_tensor) const {
    const auto it = state_->vectors.find(base_tensor);
    return it == state_->vectors.end() ? std::span<const float>{} : it->second.host();
}

const float* AdapterSet::replacementOn(std::string_view base_tensor,
                                       const kernels::Device& device) const {
    const auto it = state_->vectors.find(base_tensor);
    if (it == state_->vectors.end() || it->second.placed->block.device() != &device) {
        return nullptr;
    }
    return reinterpret_cast<const float*>(it->second.placed->block.at(0));
}

uint64_t AdapterSet::generation() const {
    return state_->generation;
}

} // namespace engine
