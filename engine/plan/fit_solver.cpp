// SPDX-License-Identifier: Apache-2.0
// `fit`: the fastest placement within limits. fit_model.h weighs the request, fit_search.h finds
// the cheapest member of the family of plans; here it becomes a map and a text that says why.
#include "engine/families/gemma4/names.h"
#include "engine/plan/fit_search.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace engine {

namespace {

std::string bytesText(int64_t bytes) {
    return formatByteCount(static_cast<uint64_t>(std::max<int64_t>(0, bytes)));
}

std::string secondsText(double seconds) {
    char text[32];
    if (seconds < 0.1) {
        std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
    } else {
        std::snprintf(text, sizeof text, "%.2g s", seconds);
    }
    return text;
}

/// Tokens per second.
std::string rateText(double seconds) {
    const double tokens = 1.0 / std::max(1e-12, seconds);
    char number[32];
    std::snprintf(number, sizeof number, tokens < 100 ? "%.3g" : "%.0f", tokens);
    return number;
}

const char* headName(HeadOption head) {
    return head == HeadOption::Int8 ? "int8" : head == HeadOption::Nf4 ? "nf4" : "bf16";
}

const char* quantName(QuantOption quant) {
    return quant == QuantOption::Nf4 ? "nf4" : quant == QuantOption::Nf4Dq ? "nf4-dq" : "none";
}

DeviceMap mapOf(const FitModel& model, const FitCandidate& c) {
    const FitFormats& format = model.formats[c.format];
    const auto device = [&](int place) { return model.devices[static_cast<size_t>(place)].id; };
    DeviceMap map;
    map.has_default = true;
    const int home = model.layers > 0 ? model.layerPlace(c, 0) : c.place[FitHead];
    map.default_fields.store = device(home);
    map.default_fields.compute = device(home);
    map.main_device = device(home);
    const auto addKey = [&](std::string key, int place) {
        MapEntry entry;
        entry.key = std::move(key);
        entry.fields.store = device(place);
        entry.fields.compute = device(model.computePlace(place));
        map.entries.push_back(std::move(entry));
    };
    const auto addIfElsewhere = [&](PartRole role, FitBlock block) {
        if (c.place[block] != home && format.bytes[block] > 0) {
            addKey(partName({role}), c.place[block]);
        }
    };
    const int table = format.has_own_head ? c.place[FitTable] : c.place[FitHead];
    if (table != home) {
        addKey(partName({PartRole::Embedding}), table);
    }
    const bool is_smaller_head = format.head != model.formats.front().head;
    const bool is_stored = model.request.config.has_own_head;
    const bool is_apart = is_stored ? c.place[FitHead] != home : table != c.place[FitHead];
    if (format.has_own_head && (is_apart || is_smaller_head)) {
        addKey(partName({PartRole::Head}), c.place[FitHead]);
        if (!is_stored) {
            map.entries.back().fields.duplicate_tied = true;
        }
        if (is_smaller_head) {
            map.entries.back().fields.format = headFormat(format.head, format.quant);
        }
    }
    addIfElsewhere(PartRole::PerLayerTable, FitPerLayerTable);
    for (int i = 0; i < model.layers;) {
        const int place = model.layerPlace(c, i);
        int last = i;
        while (last + 1 < model.layers && model.layerPlace(c, last + 1) == place) {
            ++last;
        }
        if (place != home) {
            addKey(layerRangeName(i, last), place);
        }
        i = last + 1;
    }
    addIfElsewhere(PartRole::FinalNorm, FitNorm);
    addIfElsewhere(PartRole::VisionTower, FitVision);
    addIfElsewhere(PartRole::VisionProjector, FitVision);
    addIfElsewhere(PartRole::AudioTower, FitAudio);
    addIfElsewhere(PartRole::AudioProjector, FitAudio);
    return map;
}

/// Walks from "everything on the first device" to the chosen plan in the order of what a step
/// costs, and tells at each step what it frees there and what it costs.
class Story {
public:
    Story(const FitModel& model, const FitFound& found) : model_(model), found_(found) {
        now_.split.fill(model.layers);
        now_.place.fill(first());
        model_.placeDependents(now_);
    }

    std::vector<std::string> tell() {
        begin();
        tables();
        media(FitAudio, "audio tower", "10 s of sound take");
        media(FitVision, "vision tower", "an image takes");
        smallerFormats();
        head();
        layers();
        end();
        return std::move(steps_);
    }

private:
    /// The device that everything would be on.
    [[nodiscard]] int first() const { return model_.gpus > 0 ? 0 : model_.cpu; }
    [[nodiscard]] std::string name(int place) const {
        return model_.devices[static_cast<size_t>(place)].id.toString();
    }
    [[nodiscard]] int64_t needOfFirst() const {
        return model_.needs(now_)[static_cast<size_t>(first())];
    }
    [[nodiscard]] int place(FitBlock block) const { return found_.candidate.place[block]; }
    [[nodiscard]] bool isMoved(FitBlock block) const {
        return place(block) != first() && model_.formats[found_.candidate.format].bytes[block] > 0;
    }

    void begin() {
        const int64_t limit = model_.devices[static_cast<size_t>(first())].limit;
        const std::vector<int64_t> needs = model_.needs(now_);
        is_too_much_ = model_.excess(needs) > 0;
        all_seconds_ = model_.tokenSeconds(now_);
        steps_.push_back(
            "everything on " + name(first()) + " needs " +
            bytesText(needs[static_cast<size_t>(first())]) + " of " +
            (limit == kFitNoLimit ? std::string("unbounded memory") : bytesText(limit)) +
            (model_.hostExcess(needs) > 0
                 ? ": more than this computer's memory, which simulated GPUs take theirs from"
             : is_too_much_ ? ": too much"
                            : ": it fits"));
        if (is_too_much_ && model_.gpus > 0) {
            steps_.emplace_back("what costs nothing per token moves first (tables), then what "
                                "costs only with media (towers), then what every token reads "
                                "(head and layers)");
        }
    }

    /// Says `what` with the bytes it freed since the last step, and what it costs.
    void step(const std::string& what, int64_t before, const std::string& cost) {
        const int64_t after = needOfFirst();
        if (after >= before) { // it left another card
            steps_.push_back(what + ": " + cost);
            return;
        }
        steps_.push_back(what + ": " + bytesText(before - after) + " less on " + name(first()) +
                         " (" + bytesText(after) + " remain); " + cost);
    }

    void tables() {
        const TextConfig& text = model_.request.config.text;
        if (isMoved(FitPerLayerTable)) {
            const int64_t before = needOfFirst();
            now_.place[FitPerLayerTable] = place(FitPerLayerTable);
            step("per-layer embedding table to " + name(place(FitPerLayerTable)), before,
                 "one row of " + std::to_string(text.num_layers * text.ple_size * 2) +
                     " bytes per token, not measurable");
        }
        const FitFormats& asked = model_.formats.front();
        if (asked.has_own_head && isMoved(FitTable)) {
            const int64_t before = needOfFirst();
            now_.place[FitTable] = place(FitTable);
            step("token embedding (the head has its own copy) to " + name(place(FitTable)), before,
                 "one row of " + std::to_string(text.hidden_size * 2) +
                     " bytes per token, not measurable");
        }
    }

    void media(FitBlock tower, const std::string& what, const std::string& takes) {
        if (!isMoved(tower)) {
            return;
        }
        const int64_t before = needOfFirst();
        const FitFormats& format = model_.formats[now_.format];
        const auto seconds = [&](int at) {
            return static_cast<double>(model_.mediaPs(tower, at, format)) * 1e-12;
        };
        now_.place[tower] = place(tower);
        step(what + " to " + name(place(tower)), before,
             "costs only with media: " + takes + " about " + secondsText(seconds(place(tower))) +
                 " instead of " + secondsText(seconds(first())));
    }

    void smallerFormats() {
        const FitFormats& asked = model_.formats.front();
        const FitFormats& chosen = model_.formats[found_.candidate.format];
        if (chosen.quality == 0) {
            return;
        }
        std::string what;
        if (chosen.quant != asked.quant) {
            what = std::string("linear weights in ") + quantName(chosen.quant);
        }
        if (chosen.head != asked.head) {
            what += (what.empty() ? "head in " : ", head in ") + std::string(headName(chosen.head));
        }
        const int64_t before = needOfFirst();
        now_.format = found_.candidate.format;
        now_.place[FitTable] = place(FitTable);
        std::string why = "some accuracy for speed, before what every token reads leaves";
        if (chosen.head != asked.head) {
            why += "; --head bf16 keeps the head as it is stored";
        }
        step(what, before, why);
    }

    void head() {
        if (!isMoved(FitHead)) {
            return;
        }
        const int64_t before = needOfFirst();
        const double seconds = model_.tokenSeconds(now_);
        now_.place[FitHead] = place(FitHead);
        model_.placeDependents(now_);
        step("head to " + name(place(FitHead)), before,
             "it is read whole for every token" + slower(seconds));
    }

    void layers() {
        for (int d = 0, from = 0; d <= model_.gpus && model_.layers > 0; ++d) {
            const int to = d < model_.gpus
                               ? std::max(from, found_.candidate.split[static_cast<size_t>(d)])
                               : model_.layers;
            if (to > from && d != first()) {
                const int64_t before = needOfFirst();
                const double seconds = model_.tokenSeconds(now_);
                for (int g = 0; g < d; ++g) {
                    int& split = now_.split[static_cast<size_t>(g)];
                    split = std::min(
                        split, std::max(from, found_.candidate.split[static_cast<size_t>(g)]));
                }
                model_.placeDependents(now_);
                step("layers " + std::to_string(from) + "-" + std::to_string(to - 1) + " on " +
                         name(d) + ", one block, so that the state changes device once",
                     before, "every token reads them" + slower(seconds));
            }
            from = to;
        }
    }

    /// ", about 3.1 ms more per token".
    [[nodiscard]] std::string slower(double before) const {
        const double more = model_.tokenSeconds(now_) - before;
        return more > 0 ? ", about " + secondsText(more) + " more per token" : std::string();
    }

    void end() {
        if (!found_.fits) {
            steps_.push_back("even this leanest plan is " +
                             bytesText(model_.excess(model_.needs(found_.candidate))) +
                             " over the limits; it keeps layers in memory: on disk, read anew for "
                             "every token, only a map puts them");
            return;
        }
        std::string text = "weighed with about " + rateText(model_.tokenSeconds(found_.candidate)) +
                           " tokens/s (everything on " + name(first()) + ": " +
                           rateText(all_seconds_) + ")";
        if (std::any_of(model_.devices.begin(), model_.devices.end(),
                        [](const FitDevice& d) { return d.id.kind == DeviceId::Kind::Sim; })) {
            text += "; a simulated GPU is weighed as the mid-range card it stands for, so that the "
                    "choice is the card's; what it computes here has this processor's speed";
        }
        steps_.push_back(std::move(text));
    }

    const FitModel& model_;
    const FitFound& found_;
    FitCandidate now_;
    bool is_too_much_ = false;
    double all_seconds_ = 0;
    std::vector<std::string> steps_;
};

} // namespace

namespace {

/// Quantizing the linear weights is the user's decision: `fit` only says what it would bring where
/// a token waits for main memory, or nothing fits.
std::string quantizedInstead(const FitModel& model, const FitFound& found) {
    const FitFormats& now = model.formats[found.candidate.format];
    const bool is_all_on_gpus = model.gpus > 0 && found.candidate.place[FitHead] != model.cpu &&
                                model.layerPlace(found.candidate, model.layers - 1) != model.cpu;
    if (now.quant != QuantOption::None || model.layers == 0 || (found.fits && is_all_on_gpus) ||
        model.gpus == 0) {
        return {};
    }
    PlanRequest request = model.request;
    request.quant = QuantOption::Nf4;
    const FitModel smaller(request);
    if (smaller.formats.front().layer_bytes == model.formats.front().layer_bytes) {
        return {}; // the checkpoint is packed already
    }
    const FitFound other = searchFit(smaller);
    if (!other.fits) {
        return {};
    }
    return "linear weights stay as they are stored, because no --quant was given; with --quant nf4 "
           "it would be about " +
           rateText(smaller.tokenSeconds(other.candidate)) + " tokens/s";
}

} // namespace

FitResult fitDeviceMap(const PlanRequest& request) {
    const FitModel model(request);
    const FitFound found = searchFit(model);
    const FitFormats& format = model.formats[found.candidate.format];
    FitResult result;
    result.map = mapOf(model, found.candidate);
    result.head = format.head;
    result.quant = format.quant;
    result.fits = found.fits;
    result.steps = Story(model, found).tell();
    if (std::string hint = quantizedInstead(model, found); !hint.empty()) {
        result.steps.push_back(std::move(hint));
    }
    return result;
}

} // namespace engine
