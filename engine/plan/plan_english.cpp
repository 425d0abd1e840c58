// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_english.h"

#include "engine/plan/map_json.h"
#include "engine/plan/planner.h"

#include <cmath>
#include <cstdio>

namespace engine {

namespace {

// Suggestions.

/// " to disk (computed on cpu)".
std::string toText(DeviceId store, DeviceId compute) {
    return store == compute
               ? " to " + store.toString()
               : " to " + store.toString() + " (computed on " + compute.toString() + ")";
}

/// "move layers 3-7 to cpu".
std::string moveText(const SuggestedMove& move) {
    std::string what;
    if (move.part.kind == PlanPart::Kind::Layers) {
        const bool is_one = move.part.first_layer == move.part.last_layer;
        what = (is_one ? "layer " : "layers " + std::to_string(move.part.first_layer) + "-") +
               std::to_string(move.part.last_layer);
    } else {
        for (const std::string& module : move.modules) {
            what += (what.empty() ? "" : " and ") + module;
        }
    }
    return "move " + what + toText(move.store, move.compute);
}

std::string actionText(const SuggestedStep& step) {
    std::string text;
    const auto use = [&text](const std::string& what) {
        text += (text.empty() ? "use " : " and use ") + what;
    };
    if (step.is_head_int8) {
        use("--head int8");
    }
    if (!step.quant.empty()) {
        use("--quant " + step.quant);
    }
    if (step.context > 0) {
        use("a context of " + std::to_string(step.context) + " tokens");
    }
    if (step.prefill_chunk > 0) {
        use("--prefill-chunk " + std::to_string(step.prefill_chunk));
    }
    if (step.image_tokens > 0) {
        use("--image-tokens " + std::to_string(step.image_tokens));
    }
    const char* separator = text.empty() ? "" : " and ";
    for (const SuggestedMove& move : step.moves) {
        text += separator + moveText(move);
        separator = ", ";
    }
    if (step.head_copy.has_value()) {
        text += R"(, with lm_head kept as a copy of its own ("lm_head": {"store": ")" +
                step.head_copy->store.toString() + R"(", "compute": ")" +
                step.head_copy->compute.toString() + R"(", "duplicate_tied": true}))";
    }
    return text;
}

/// "about 12 ms", "less than 1 ms".
std::string aboutSeconds(double value) {
    char text[32];
    if (value < 0.001) {
        return "less than 1 ms";
    }
    if (value < 1) {
        std::snprintf(text, sizeof text, "about %.0f ms", value * 1000);
    } else {
        std::snprintf(text, sizeof text, "about %.1f s", value);
    }
    return text;
}

std::string costText(const SuggestedCost& cost) {
    using Kind = SuggestedCost::Kind;
    const std::string bytes = std::to_string(cost.bytes) + " bytes per token";
    switch (cost.kind) {
    case Kind::TableRow:
        return "nothing measurable (one row of " + bytes + ")";
    case Kind::OneRow:
        return "nothing measurable (one row per token)";
    case Kind::TableRead:
        return "one read of " + bytes;
    case Kind::TimePerImage:
        return aboutSeconds(cost.seconds) + " per image";
    case Kind::TimePerSound:
        return aboutSeconds(cost.seconds) + " per 10 s of audio";
    case Kind::TimePerToken:
        return aboutSeconds(cost.seconds) + " per token";
    case Kind::FilesPerMedia:
        return "one read of the files per image or clip";
    case Kind::Conversation:
        return "memory of the conversation";
    case Kind::PromptTime:
        return "time until a long prompt is read";
    case Kind::ImageDetail:
        return "detail of large images";
    case Kind::Accuracy:
        return "some accuracy; it is faster";
    case Kind::HeadAccuracy:
        return "some accuracy of the last layer; it is faster";
    case Kind::LittleAccuracy:
        return "a little more accuracy";
    case Kind::HardlyAccuracy:
        return "hardly any accuracy";
    }
    return {};
}

std::string text(const SuggestedStep& step) {
    return actionText(step) + ": frees " + formatByteCount(step.frees) + ", costs " +
           costText(step.cost) + (step.is_enough ? " (enough by itself)" : "");
}

std::string text(const LastResort& rest) {
    return std::string("use a device with more memory or a smaller model") +
           (rest.has_limit ? ", or raise the limit" : "") +
           (!rest.has_reserve ? ""
            : rest.has_limit  ? " or lower the reserve"
                              : ", or lower the reserve");
}

std::string text(const StepsTogether& sum) {
    return "all of this together leaves " + formatByteCount(sum.leaves) + ", still " +
           formatByteCount(sum.over) + " too much: " + text(sum.rest);
}

std::string text(const MapValue& value) {
    return value.text;
}

// Notes.

std::string secondsText(double seconds) {
    char text[32];
    if (seconds < 0.1) {
        std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
    } else {
        std::snprintf(text, sizeof text, "%.2g s", seconds);
    }
    return text;
}

std::string rateText(double tokens_per_s) {
    char number[32];
    std::snprintf(number, sizeof number, tokens_per_s < 100 ? "%.3g" : "%.0f", tokens_per_s);
    return number;
}

/// What a step of `fit` does, what that frees and what it costs.
std::string stepText(const std::string& what, const note::Freed& freed, const std::string& cost) {
    if (freed.bytes == 0) { // it left another card
        return what + ": " + cost;
    }
    return what + ": " + formatByteCount(freed.bytes) + " less on " + freed.device.toString() +
           " (" + formatByteCount(freed.remaining) + " remain); " + cost;
}

/// ", about 3.1 ms more per token".
std::string slowerText(double seconds) {
    return seconds > 0 ? ", about " + secondsText(seconds) + " more per token" : std::string();
}

std::string text(const note::FitStart& n) {
    using Verdict = note::FitStart::Verdict;
    return "everything on " + n.device.toString() + " needs " + formatByteCount(n.need) + " of " +
           (n.limit.has_value() ? formatByteCount(*n.limit) : std::string("unbounded memory")) +
           (n.verdict == Verdict::MoreThanHost
                ? ": more than this computer's memory, which simulated GPUs take theirs from"
            : n.verdict == Verdict::TooMuch ? ": too much"
                                            : ": it fits");
}

std::string text(const note::FitOrder& /*n*/) {
    return "what costs nothing per token moves first (tables), then what costs only with media "
           "(towers), then what every token reads (head and layers)";
}

std::string text(const note::FitTable& n) {
    return stepText(
        (n.is_per_layer ? "per-layer embedding table to "
                        : "token embedding (the head has its own copy) to ") +
            n.to.toString(),
        n.freed, "one row of " + std::to_string(n.row_bytes) + " bytes per token, not measurable");
}

std::string text(const note::FitTower& n) {
    return stepText((n.is_audio ? "audio tower to " : "vision tower to ") + n.to.toString(),
                    n.freed,
                    std::string("costs only with media: ") +
                        (n.is_audio ? "10 s of sound take" : "an image takes") + " about " +
                        secondsText(n.seconds) + " instead of " + secondsText(n.seconds_before));
}

std::string text(const note::FitFormats& n) {
    std::string what = n.quant.empty() ? "" : "linear weights in " + n.quant;
    if (!n.head.empty()) {
        what += (what.empty() ? "head in " : ", head in ") + n.head;
    }
    return stepText(what, n.freed,
                    std::string("some accuracy for speed, before what every token reads leaves") +
                        (n.head.empty() ? "" : "; --head bf16 keeps the head as it is stored"));
}

std::string text(const note::FitHead& n) {
    return stepText("head to " + n.to.toString(), n.freed,
                    "it is read whole for every token" + slowerText(n.slower_s));
}

std::string text(const note::FitLayers& n) {
    return stepText("layers " + std::to_string(n.first) + "-" + std::to_string(n.last) + " on " +
                        n.to.toString() + ", one block, so that the state changes device once",
                    n.freed, "every token reads them" + slowerText(n.slower_s));
}

std::string text(const note::FitTooLarge& n) {
    return "even this leanest plan is " + formatByteCount(n.over) +
           " over the limits; it keeps layers in memory: on disk, read anew for every token, only "
           "a map puts them";
}

std::string text(const note::FitSpeed& n) {
    return "weighed with about " + rateText(n.rate) + " tokens/s (everything on " +
           n.device.toString() + ": " + rateText(n.rate_there) + ")" +
           (n.has_simulated ? "; a simulated GPU is weighed as the mid-range card it stands for, "
                              "so that the choice is the card's; what it computes here has this "
                              "processor's speed"
                            : "") +
           (n.rate > n.rate_there ? "; what is elsewhere is computed faster there" : "");
}

std::string text(const note::FourBits& n) {
    return "linear weights stay as they are stored, because no --quant was given; with --quant nf4 "
           "it would be about " +
           rateText(n.rate) + " tokens/s";
}

std::string text(const note::ContextCut& n) {
    return "a context of " + std::to_string(n.asked) +
           " tokens is more than the model has positions for; planned with " +
           std::to_string(n.planned);
}

std::string text(const note::MadeAtEveryUse& n) {
    return std::to_string(n.count) +
           " quantized weights stored on disk are made from the checkpoint at every use; a cache "
           "keeps them as they are (--cache FOLDER)";
}

std::string text(const note::DiskHasNoLimit& n) {
    return std::string(n.is_reserve ? "reserve" : "limits") +
           ".disk has no effect: what is stored on disk stays in the model's own files, which need "
           "no more room";
}

std::string text(const note::AdapterNotCounted& n) {
    return "adapter weights for " + n.tensor + " are not counted: the plan has no such tensor";
}

std::string text(const note::ReplacementsStay& n) {
    return "the adapter replaces " + std::to_string(n.count) +
           (n.count == 1 ? " weight that travels to its device; its replacement stays"
                         : " weights that travel to their device; their replacements stay") +
           " there (only A and B follow)";
}

std::string text(const note::HeadStaysPacked& n) {
    return "--head has no effect: the checkpoint holds the head packed as " + n.format +
           ", and it stays so";
}

std::string text(const note::HeadIsTable& /*n*/) {
    return "--head has no effect: the map gives embed_tokens a format, and the head is the same "
           "table";
}

std::string text(const note::TwoCopies& /*n*/) {
    return "lm_head and embed_tokens are one tensor in the checkpoint; the map puts them on "
           "different devices, so there are two copies";
}

std::string text(const note::TiedFieldIdle& n) {
    return n.field + " given by " + inEnglish(n.by) +
           " has no effect: lm_head is the table of embed_tokens; give it to " + n.table +
           ", or ask for two copies with \"duplicate_tied\": true";
}

std::string text(const note::ResidencyIdle& n) {
    return "residency given by " + inEnglish(n.by) +
           " has no effect where store and compute are the same device (" + inEnglish(n.tensors) +
           ")";
}

std::string text(const note::PackedStays& n) {
    return std::to_string(n.count) + (n.count == 1 ? " weight" : " weights") +
           " of the checkpoint are packed in 4 bits already and stay as stored; --quant applies to "
           "the others";
}

std::string text(const note::NotInFiles& n) {
    return "not in the files, planned as bf16: " + inEnglish(n.tensors);
}

/// "a, b and 3 more" of `count`.
std::string listText(const std::vector<std::string>& items, size_t count) {
    std::string out;
    for (const std::string& item : items) {
        out += (out.empty() ? "" : ", ") + item;
    }
    return count > items.size() ? out + " and " + std::to_string(count - items.size()) + " more"
                                : out;
}

std::string text(const note::KeysTranslated& n) {
    std::vector<std::string> items;
    for (const auto& [from, to] : n.keys) {
        items.push_back(inQuotes(from) + " -> " + inQuotes(to));
    }
    return "keys translated to our names: " + listText(items, n.count);
}

std::string text(const note::KeysIdle& n) {
    std::vector<std::string> items;
    for (const auto& [key, is_shared] : n.keys) {
        items.push_back(key +
                        (is_shared ? " (its layer reads another layer's keys and values)" : ""));
    }
    return "keys without effect (no tensors that are used lie there): " + listText(items, n.count);
}

std::string text(const note::ManyConflicts& n) {
    return "more than " + std::to_string(n.shown) +
           " pairs of keys contradict each other; only the first are listed";
}

std::string text(const note::MeasuredRates& n) {
    return "speeds are estimates from rates measured on this computer: memory is read with " +
           std::to_string(std::lround(n.read_bytes_per_s / 1e9)) + " GB/s, products run at " +
           std::to_string(std::lround(n.flops / 1e9)) + " GFLOP/s";
}

std::string text(const note::DriverAssumed& n) {
    return n.device.toString() +
           ": what the driver takes for itself is assumed, not measured (the management library, "
           "NVML, does not tell)";
}

std::string text(const ModelOddity& oddity) {
    return inEnglish(oddity);
}

std::string text(const CardTrouble& trouble) {
    return trouble.sentence;
}

// Errors and warnings.

/// "1.00 GiB free, less 2.00 GiB that the map reserves".
std::string boundText(const MemoryBound& bound) {
    const char* by = bound.by == MemoryBound::By::Option ? " by --limit"
                     : bound.by == MemoryBound::By::Map  ? " by the limits of the map"
                     : bound.by == MemoryBound::By::System
                         ? " that the system lets this program have"
                         : " free";
    return formatByteCount(bound.whole) + by +
           (bound.reserve == 0
                ? std::string()
                : ", less " + formatByteCount(bound.reserve) + " that the map reserves");
}

std::string bothWays(uint64_t bytes) {
    return formatByteCount(bytes) + " (" + std::to_string(bytes) + " bytes)";
}

std::string partText(const PlanPart& part) {
    using Kind = PlanPart::Kind;
    switch (part.kind) {
    case Kind::Module:
    case Kind::VisionTower:
    case Kind::AudioTower:
    case Kind::PerLayerTable:
    case Kind::TokenTable:
    case Kind::Head:
        return part.module;
    case Kind::Layers:
        return "decoder layers " + std::to_string(part.first_layer) + "-" +
               std::to_string(part.last_layer);
    case Kind::KvCache:
        return "KV cache of " + std::to_string(part.tokens) + " tokens";
    case Kind::Adapters:
        return "adapters";
    case Kind::Workspace:
        return "workspace";
    case Kind::DriverContext:
        return "context of the driver";
    case Kind::VisitingRoom:
        return "room for visiting weights";
    }
    return {};
}

std::string largestText(const std::vector<PartShare>& largest) {
    std::string text = "The largest parts:";
    const char* separator = " ";
    for (const PartShare& share : largest) {
        text += separator + partText(share.part) +
                (share.device.has_value() ? " on " + share.device->toString() : "") + " " +
                formatByteCount(share.bytes);
        separator = ", ";
    }
    return text;
}

/// "12.00 MiB too much (4.00 MiB free). The largest parts: ..."
std::string
excessText(uint64_t excess, const MemoryBound& bound, const std::vector<PartShare>& largest) {
    return formatByteCount(excess) + " too much (" + boundText(bound) + "). " +
           largestText(largest);
}

/// "layer 3 computes", "layers 3-5 compute".
std::string layersText(const std::vector<int>& layers, const std::string& verb) {
    const bool is_one = layers.size() == 1;
    return (is_one ? "layer " : "layers ") + layerList(layers) + " " + verb + (is_one ? "s" : "");
}

/// What is wrong in a map.
template <typename T>
std::string text(const T& finding) {
    return inEnglish(finding);
}

std::string text(const issue::OverLimit& i) {
    return i.device.toString() + " needs " + bothWays(i.need) + " but may use " +
           bothWays(i.limit) + ", " + excessText(i.need - i.limit, i.bound, i.largest);
}

std::string text(const issue::OverHost& i) {
    std::string names;
    for (const auto& [device, bytes] : i.shares) {
        names += (names.empty() ? "" : " + ") + device.toString() + " " + formatByteCount(bytes);
    }
    return "the memory of a simulated GPU is this computer's main memory: " + names + " need " +
           bothWays(i.need) + " of it together but may use " + bothWays(i.limit) + ", " +
           excessText(i.need - i.limit, i.bound, i.largest);
}

std::string text(const issue::SplitLayers& i) {
    std::string places;
    for (const DeviceId device : i.devices) {
        places += (places.empty() ? "" : " and ") + device.toString();
    }
    return layersText(i.layers, "compute") + " on " + places + ": " + std::to_string(i.bytes) +
           " bytes travel per token inside " + (i.layers.size() == 1 ? "it" : "them") +
           "; keeping a layer's weights together avoids that";
}

std::string text(const issue::KvMirrored& i) {
    const bool is_one = i.layers.size() == 1;
    return (is_one ? "layer " : "layers ") + layerList(i.layers) + " on " + i.device.toString() +
           (is_one ? " reads" : " read") + " the keys and values of layer " +
           std::to_string(i.owner) + " on " + i.owner_device.toString() + ": " +
           std::to_string(i.bytes) + " bytes per token go to a mirror there";
}

std::string text(const issue::KvElsewhere& i) {
    const bool is_one = i.layers.size() == 1;
    return (is_one ? "layer " : "layers ") + layerList(i.layers) + " on " + i.device.toString() +
           (is_one ? " reads" : " read") + " keys and values kept on " + i.cache.toString() + ": " +
           std::to_string(i.bytes) + " bytes per token travel for it";
}

std::string text(const issue::LimitWithoutDevice& i) {
    return "--limit names " + i.device.toString() + ", which this machine does not have";
}

std::string text(const issue::NoDevice& i) {
    std::string there;
    for (const DeviceId device : i.gpus) {
        there += device.toString() + ", ";
    }
    return inQuotes(i.key) + " names " + i.device.toString() +
           ", which this machine does not have; it has " + there + "cpu and disk";
}

} // namespace

std::string inEnglish(const Suggestion& suggestion) {
    return std::visit([](const auto& one) { return text(one); }, suggestion);
}

std::string inEnglish(const Note& note) {
    return std::visit([](const auto& one) { return text(one); }, note);
}

std::string inEnglish(const PlanIssue& issue) {
    std::string message = std::visit([](const auto& one) { return text(one); }, issue.finding);
    if (issue.is_python) {
        message +=
            ". This is a Python dictionary as print() shows it, not JSON: write the file with "
            "json.dump(model.hf_device_map, file), or put double quotes around keys and values";
    }
    for (const CardTrouble& reason : issue.reasons) {
        message += (message.ends_with('.') ? " " : ". ") + text(reason);
    }
    return message;
}

std::string inEnglish(const note::Tensors& tensors) {
    return std::to_string(tensors.count) +
           (tensors.count == 1 ? " tensor: " : " tensors, the first: ") + tensors.first;
}

std::string inEnglish(const note::SetBy& by) {
    using Kind = note::SetBy::Kind;
    switch (by.kind) {
    case Kind::Key:
        return "the key " + inQuotes(by.key);
    case Kind::Default:
        return "default";
    case Kind::EmptyKey:
        return "the key \"\"";
    case Kind::Rules:
        return "the rules";
    case Kind::Options:
        return "the load options";
    }
    return {};
}

std::string inEnglish(Travel what) {
    switch (what) {
    case Travel::HiddenState:
        return "hidden state";
    case Travel::PerLayerRow:
        return "per-layer embedding row";
    case Travel::PerLayerSlice:
        return "per-layer input slice";
    case Travel::KvMirror:
        return "KV mirror";
    case Travel::SplitInput:
        return "input of a split layer";
    case Travel::SplitOutput:
        return "output of a split layer";
    case Travel::QueriesKeysValues:
        return "queries, keys and values";
    case Travel::AttentionResult:
        return "attention result";
    case Travel::StreamedWeights:
        return "streamed weights";
    case Travel::StreamedAdapter:
        return "streamed adapter";
    }
    return {};
}

std::string layerList(const std::vector<int>& layers) {
    std::string out;
    for (size_t i = 0; i < layers.size();) {
        size_t last = i;
        while (last + 1 < layers.size() && layers[last + 1] == layers[last] + 1) {
            ++last;
        }
        out += (out.empty() ? "" : ", ") + std::to_string(layers[i]);
        if (last > i) {
            out += "-" + std::to_string(layers[last]);
        }
        i = last + 1;
    }
    return out;
}

} // namespace engine
