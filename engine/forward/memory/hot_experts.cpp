// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/memory/hot_experts.h"

#include "engine/forward/layers/host_experts.h"
#include "engine/forward/memory/weight_parts.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

namespace engine {

using kernels::WeightView;

namespace {

constexpr uint64_t kGibibyte = uint64_t{1} << 30;

/// Places of one kind of weight can hold both.
bool areAlike(const WeightView& a, const WeightView& b) {
    return a.format == b.format && a.block_size == b.block_size && a.expand_type == b.expand_type &&
           a.rows == b.rows && a.cols == b.cols && (a.absmax == nullptr) == (b.absmax == nullptr) &&
           (a.nested_code == nullptr ||
            std::equal(a.nested_code, a.nested_code + kNestedCodes, b.nested_code));
}

/// Rows of one expert; no rows where its blocks do not begin there.
WeightView expertOf(WeightView all, int64_t expert, int64_t experts) {
    const int64_t rows = all.rows / experts;
    if (!takeRows(all, expert * rows, rows)) {
        all.rows = 0;
    }
    return all;
}

uint64_t roomOn(const PlacementPlan& plan, const DeviceScratch& home) {
    for (const DevicePlan& device : plan.devices) {
        if (device.id == home.id()) {
            return device.parts[MemoryPart::Experts];
        }
    }
    return 0;
}

WeightView withPlaces(WeightView weight, int64_t experts, int64_t places) {
    weight.rows = weight.rows / experts * places;
    return weight;
}

} // namespace

const HotExperts* BoundModel::hotExpertsOf(const DecoderLayer& layer) const {
    const auto hot = hot_experts.find(layer.home);
    return hot != hot_experts.end() && hot->second->has(indexOf(layer)) ? hot->second.get()
                                                                        : nullptr;
}

HotExperts::~HotExperts() {
    home_->device().free(memory_);
}

bool HotExperts::hasRoom(const PlacementPlan& plan, const DeviceScratch& home) {
    return roomOn(plan, home) > 0;
}

Result<std::shared_ptr<HotExperts>> HotExperts::create(const BoundModel& model,
                                                       DeviceScratch& home) {
    std::shared_ptr<HotExperts> hot(new HotExperts(model, home));
    ENGINE_TRY(hot->open(roomOn(model.plan, home)));
    return hot;
}

const HotExperts::Bank* HotExperts::bankOf(int layer) const {
    for (const Bank& bank : banks_) {
        if (std::find(bank.layers.begin(), bank.layers.end(), layer) != bank.layers.end()) {
            return &bank;
        }
    }
    return nullptr;
}

/// Banks without places: which layers there are.
void HotExperts::findBanks() {
    const int64_t experts = model_->config.text.num_experts;
    for (size_t i = 0; i < model_->text.layers.size(); ++i) {
        const DecoderLayer& layer = model_->text.layers[i];
        if (layer.home != home_ || home_->ops().placed_experts == nullptr ||
            !HostExperts::serves(*model_, layer)) {
            continue;
        }
        const auto gate_up = model_->context->resident(layer.experts.gate_up);
        const auto down = model_->context->resident(layer.experts.down);
        if (!gate_up.has_value() || !down.has_value() || // told of by who multiplies with them
            expertOf(*gate_up, 1, experts).rows == 0 || expertOf(*down, 1, experts).rows == 0) {
            continue;
        }
        const auto bank = std::find_if(banks_.begin(), banks_.end(), [&](const Bank& b) {
            return areAlike(b.gate_up, *gate_up) && areAlike(b.down, *down);
        });
        if (bank != banks_.end()) {
            bank->layers.push_back(static_cast<int>(i));
        } else {
            banks_.push_back({*gate_up, *down, {static_cast<int>(i)}, {}, 0});
        }
    }
}

/// Places of each bank in so much memory behind `at`; banks that get none, or that the kernels do
/// not take, go.
void HotExperts::divide(uint64_t bytes, size_t at) {
    const TextConfig& text = model_->config.text;
    const int64_t experts = text.num_experts;
    std::erase_if(banks_, [&](const Bank& bank) {
        kernels::ExpertsStepArgs args;
        args.router.cols = text.hidden_size;
        args.gate_up = bank.gate_up;
        args.down = bank.down;
        args.experts = experts;
        args.top_k = text.top_k_experts;
        return !home_->ops().takes_experts(home_->queue(), args);
    });
    const auto layers =
        std::accumulate(banks_.begin(), banks_.end(), size_t{0},
                        [](size_t sum, const Bank& bank) { return sum + bank.layers.size(); });
    for (Bank& bank : banks_) {
        const size_t room = at < bytes ? (bytes - at) / layers * bank.layers.size() : 0;
        const auto sizeOf = [&](int64_t places) {
            return bytesOf(withPlaces(bank.gate_up, experts, places)) +
                   bytesOf(withPlaces(bank.down, experts, places));
        };
        bank.expert_bytes = sizeOf(1);
        int64_t places = std::min(static_cast<int64_t>(room / bank.expert_bytes) + 1,
                                  experts * static_cast<int64_t>(bank.layers.size()));
        while (places > 0 && sizeOf(places) > room) {
            --places;
        }
        bank.holds.assign(static_cast<size_t>(places), -1);
    }
    std::erase_if(banks_, [](const Bank& bank) { return bank.holds.empty(); });
}

Result<void> HotExperts::open(uint64_t bytes) {
    const TextConfig& text = model_->config.text;
    const size_t table = static_cast<size_t>(text.num_layers * text.num_experts) * sizeof(int32_t);
    size_t at = (table + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
    findBanks();
    divide(bytes, at);
    if (banks_.empty()) {
        return {};
    }
    kernels::Device& device = home_->device();
    memory_ =
        static_cast<std::byte*>(device.allocate(bytes, static_cast<int>(MemoryPart::Experts)));
    if (memory_ == nullptr) {
        banks_.clear(); // they are there for speed alone
        return {};
    }
    for (Bank& bank : banks_) {
        const auto places = static_cast<int64_t>(bank.holds.size());
        for (WeightView* weight : {&bank.gate_up, &bank.down}) {
            const float* const nested = weight->nested_code;
            *weight = withPlaces(*weight, text.num_experts, places);
            layParts(*weight, memory_ + at);
            at += bytesOf(*weight);
            if (nested != nullptr) {
                ENGINE_KERNEL(device.copyIn(const_cast<float*>(weight->nested_code), nested,
                                            kNestedCodes * sizeof(float)),
                              "copy in", "experts");
            }
        }
    }
    place_of_.assign(table / sizeof(int32_t), -1);
    return checkStatus(device.copyIn(memory_, place_of_.data(), table), "copy in", "experts");
}

void HotExperts::put(int layer, kernels::ExpertsStepArgs& args) const {
    const Bank& bank = *bankOf(layer);
    args.gate_up = bank.gate_up;
    args.down = bank.down;
    args.places = static_cast<int64_t>(bank.holds.size());
    args.place_of = reinterpret_cast<const int32_t*>(memory_) + index(layer, 0);
    // What quantized scales are moved by is each weight's own.
    const ExpertWeights& experts = model_->text.layers[static_cast<size_t>(layer)].experts;
    for (const auto& [linear, view] :
         {std::pair(&experts.gate_up, &args.gate_up), std::pair(&experts.down, &args.down)}) {
        if (const auto own = model_->context->resident(*linear); own.has_value()) {
            view->nested_offset = own->nested_offset;
        }
    }
}

Result<void> HotExperts::bring(const Bank& bank, int32_t what, size_t place) {
    const int64_t experts = model_->config.text.num_experts;
    const ExpertWeights& weights = model_->text.layers[static_cast<size_t>(what / experts)].experts;
    kernels::Device& device = home_->device();
    LentWeights* const lent = model_->context->lent(*home_);
    for (const auto& [linear, all] :
         {std::pair(&weights.gate_up, &bank.gate_up), std::pair(&weights.down, &bank.down)}) {
        ENGINE_ASSIGN(const WeightView there, model_->context->resident(*linear));
        WeightView from = expertOf(there, what % experts, experts);
        WeightView to =
            expertOf(*all, static_cast<int64_t>(place), static_cast<int64_t>(bank.holds.size()));
        std::array<const void*, 4> parts{};
        size_t count = 0;
        eachPart(from, [&](auto* part, int64_t) { parts[count++] = part; });
        count = 0;
        auto status = kernels::Status::Ok;
        eachPart(to, [&](auto* part, int64_t size) {
            const void* const source = parts[count++];
            void* const target = const_cast<void*>(static_cast<const void*>(part));
            const auto bytes = static_cast<size_t>(size);
            if (status != kernels::Status::Ok || target == to.nested_code) {
                return; // all of a bank have the same table
            }
            status =
                lent == nullptr ? kernels::Status::OutOfMemory : lent->send(target, source, bytes);
            if (status == kernels::Status::OutOfMemory) { // of page-locked memory
                status = device.copyIn(target, source, bytes);
            }
        });
        ENGINE_KERNEL(status, "copy in", linear->name);
    }
    return {};
}

Result<void> HotExperts::followIn(Bank& bank,
                                  const ExpertCounts& counts,
                                  size_t& most_bytes,
                                  const std::stop_token& stop) {
    const int64_t experts = model_->config.text.num_experts;
    std::vector<int32_t> wanted;
    for (const int layer : bank.layers) {
        for (int64_t e = 0; e < experts; ++e) {
            wanted.push_back(static_cast<int32_t>(layer * experts + e));
        }
    }
    // What is here stays rather than another one with the same count; then layers take turns.
    const auto before = [&](int32_t a, int32_t b) {
        const auto key = [&](int32_t what) {
            const auto i = static_cast<size_t>(what);
            return std::tuple(-static_cast<int64_t>(counts.all()[i]), place_of_[i] < 0,
                              what % experts, what);
        };
        return key(a) < key(b);
    };
    const size_t places = std::min(bank.holds.size(), wanted.size());
    std::partial_sort(wanted.begin(), wanted.begin() + static_cast<ptrdiff_t>(places), wanted.end(),
                      before);
    wanted.resize(places);
    std::vector<bool> stays(place_of_.size(), false);
    for (const int32_t what : wanted) {
        stays[static_cast<size_t>(what)] = true;
    }
    size_t place = 0;
    for (const int32_t what : wanted) { // those asked for most first
        if (place_of_[static_cast<size_t>(what)] >= 0) {
            continue;
        }
        while (bank.holds[place] >= 0 && stays[static_cast<size_t>(bank.holds[place])]) {
            ++place;
        }
        if (most_bytes < bank.expert_bytes || stop.stop_requested()) {
            return {};
        }
        most_bytes -= bank.expert_bytes;
        if (const int32_t former = std::exchange(bank.holds[place], -1); former >= 0) {
            place_of_[static_cast<size_t>(former)] = -1;
        }
        ENGINE_TRY(bring(bank, what, place));
        bank.holds[place] = what;
        place_of_[static_cast<size_t>(what)] = static_cast<int32_t>(place);
    }
    return {};
}

Result<void>
HotExperts::follow(const ExpertCounts& counts, size_t most_bytes, const std::stop_token& stop) {
    for (Bank& bank : banks_) {
        ENGINE_TRY(followIn(bank, counts, most_bytes, stop));
    }
    return banks_.empty() ? Result<void>()
                          : checkStatus(home_->device().copyIn(memory_, place_of_.data(),
                                                               place_of_.size() * sizeof(int32_t)),
                                        "copy in", "experts");
}

ExpertCacheState HotExperts::state(const ExpertCounts& counts) const {
    ExpertCacheState state;
    const int64_t experts = model_->config.text.num_experts;
    for (const Bank& bank : banks_) {
        std::vector<uint32_t> asked;
        for (const int layer : bank.layers) {
            const auto own = counts.all().subspan(index(layer, 0), static_cast<size_t>(experts));
            asked.insert(asked.end(), own.begin(), own.end());
            for (size_t e = 0; e < own.size(); ++e) {
                state.asked += own[e];
                state.hits += place_of_[index(layer, static_cast<int32_t>(e))] >= 0 ? own[e] : 0;
            }
        }
        const size_t more = std::min(
            asked.size(),
            bank.holds.size() + static_cast<size_t>(kGibibyte / banks_.size() / bank.expert_bytes));
        std::partial_sort(asked.begin(), asked.begin() + static_cast<ptrdiff_t>(more), asked.end(),
                          std::greater<>());
        state.hits_with_more += std::accumulate(
            asked.begin(), asked.begin() + static_cast<ptrdiff_t>(more), int64_t{0});
        state.bytes += bank.holds.size() * bank.expert_bytes;
        state.places += static_cast<int64_t>(bank.holds.size());
        state.experts += static_cast<int64_t>(asked.size());
    }
    return state;
}

} // namespace engine
