// SPDX-License-Identifier: Apache-2.0
#include "engine/run/speed_book.h"

#include "engine/api/formats.h"
#include "engine/base/keyed_numbers.h"
#include "engine/plan/plan_speed.h"
#include "kernels/cpu/thread_pool.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace engine {

namespace {

constexpr double kLeastFactor = 0.1;
constexpr double kMostFactor = 10;
/// A device that has less of the time than this tells nothing of itself.
constexpr double kLeastShare = 0.6;
/// Shorter replies and prompts are a matter of their ends, longer chats one of keys and values.
constexpr double kLeastNews = 0.02;
constexpr int64_t kLeastDecoded = 32;
constexpr int64_t kLeastPrompt = 256;
constexpr int64_t kMostContext = 8192;

KeyedNumbers numbersIn(const std::filesystem::path& folder) {
    return {folder.empty() ? folder : folder / "speed-factors", "belfry-speed 1",
            [](const KeyedNumbers::Pair& pair) {
                return std::all_of(pair.begin(), pair.end(), [](double factor) {
                    return factor >= kLeastFactor && factor <= kMostFactor;
                });
            }};
}

/// The format that most of the decoder's bytes have once they are loaded.
std::string formatOf(const LoadRequest& request, const OpenedModel& opened) {
    if (request.quant != "none") {
        return request.quant;
    }
    std::map<std::string, int64_t> values;
    for (const ExpectedTensor& tensor : opened.tensors) {
        const auto stored = opened.stored.find(tensor.name);
        if (stored != opened.stored.end() && !isMedia(tensor.part) &&
            tensor.kind != TensorKind::Embedding) {
            values[stored->second.packed != Format::AsStored
                       ? std::string(formatName(stored->second.packed))
                       : std::string("dense")] += tensor.numElements();
        }
    }
    const auto most =
        std::max_element(values.begin(), values.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == values.end() ? "dense" : most->first;
}

const DeviceSeconds* largestOf(const std::vector<DeviceSeconds>& parts) {
    const auto largest = std::max_element(
        parts.begin(), parts.end(),
        [](const DeviceSeconds& a, const DeviceSeconds& b) { return a.seconds < b.seconds; });
    return largest == parts.end() ? nullptr : &*largest;
}

} // namespace

std::optional<double> learnedFactor(const SpeedMeasured& of) {
    const double others = of.all - of.here;
    if (!(of.all > 0) || of.here < kLeastShare * of.all || of.measured <= others) {
        return std::nullopt;
    }
    return std::clamp(of.used * (of.measured - others) / of.here, kLeastFactor, kMostFactor);
}

void SpeedBook::correct(const LoadRequest& request,
                        const OpenedModel& opened,
                        std::vector<DeviceInfo>& devices) {
    const std::string format = formatOf(request, opened);
    const int threads =
        request.threads > 0 ? request.threads : kernels::cpu::ThreadPool::availableProcessors();
    for (DeviceInfo& device : devices) {
        const bool is_card = device.id.kind == DeviceId::Kind::Cuda;
        if (device.id == DeviceId::disk() || (!is_card && !(device.rates.read_bytes_per_s > 0))) {
            continue; // what a guess is wrong by tells nothing once it is measured
        }
        Used used;
        used.key =
            (is_card ? device.description : "processor, " + std::to_string(threads) + " threads") +
            ", " + format;
        if (const auto pair = numbersIn(folder_).of(used.key)) {
            used.factors = {(*pair)[0], (*pair)[1]};
            DeviceRates& rates = device.rates = ratesOf(&device, device.id);
            rates.read_bytes_per_s /= used.factors.decode;
            rates.layer_overhead_s *= used.factors.decode;
            rates.flops /= used.factors.prefill;
        }
        used_[device.id] = std::move(used);
    }
}

void SpeedBook::learn(const PlacementPlan& plan, const GenerateTiming& timing) const {
    const SpeedEstimate& estimate = plan.estimate;
    const auto learn = [&](const std::vector<DeviceSeconds>& parts, double per_second,
                           double seconds, int64_t tokens, double SpeedFactors::*factor) {
        const DeviceSeconds* const most = largestOf(parts);
        const auto used = most == nullptr ? used_.end() : used_.find(most->device);
        if (used == used_.end() || per_second <= 0 || seconds <= 0) {
            return;
        }
        SpeedFactors now = used->second.factors;
        const auto learned = learnedFactor(
            {most->seconds, 1 / per_second, now.*factor, seconds / static_cast<double>(tokens)});
        if (!learned.has_value()) {
            return;
        }
        const KeyedNumbers file = numbersIn(folder_);
        const auto kept = file.of(used->second.key);
        if (kept.has_value()) {
            now = {(*kept)[0], (*kept)[1]};
        }
        // One reply among other work of the machine is not believed alone.
        const double before = std::exchange(now.*factor, kept.has_value() && now.*factor != 1.0
                                                             ? (now.*factor + *learned) / 2
                                                             : *learned);
        if (std::abs(now.*factor - before) < kLeastNews * before) {
            return;
        }
        file.keep(used->second.key, KeyedNumbers::Pair{now.decode, now.prefill});
    };
    const int64_t context = timing.prefill_tokens + timing.reused_tokens + timing.decode_tokens;
    if (context > kMostContext || folder_.empty()) {
        return;
    }
    // How many choices fall on copies of experts is not the speed of anything.
    const bool has_copies =
        std::any_of(plan.devices.begin(), plan.devices.end(),
                    [](const DevicePlan& device) { return device.parts[MemoryPart::Experts] > 0; });
    if (timing.decode_tokens >= kLeastDecoded && !has_copies) {
        learn(estimate.decode_by, estimate.decode_tokens_per_s, timing.decode_s,
              timing.decode_tokens - 1, &SpeedFactors::decode); // the prompt gave the first
    }
    if (timing.prefill_tokens >= kLeastPrompt && timing.image_s + timing.audio_s == 0.0) {
        learn(estimate.prefill_by, estimate.prefill_tokens_per_s, timing.prefill_s,
              timing.prefill_tokens, &SpeedFactors::prefill);
    }
}

} // namespace engine
