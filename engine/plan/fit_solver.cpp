// SPDX-License-Identifier: Apache-2.0
// `fit`: the fastest placement within limits. fit_model.h weighs the request, fit_search.h finds
// the cheapest member of the family of plans; here it becomes a map and a text that says why.
#include "engine/families/gemma4/names.h"
#include "engine/plan/fit_search.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace engine {

namespace {

uint64_t asBytes(int64_t bytes) {
    return static_cast<uint64_t>(std::max<int64_t>(0, bytes));
}

/// Tokens per second.
double rateOf(double seconds) {
    return 1.0 / std::max(1e-12, seconds);
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

    std::vector<Note> tell() {
        begin();
        tables();
        media(FitAudio);
        media(FitVision);
        smallerFormats();
        head();
        layers();
        end();
        return std::move(steps_);
    }

private:
    /// The device that everything would be on.
    [[nodiscard]] int first() const { return model_.gpus > 0 ? 0 : model_.cpu; }
    [[nodiscard]] DeviceId device(int place) const {
        return model_.devices[static_cast<size_t>(place)].id;
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
        using Verdict = note::FitStart::Verdict;
        note::FitStart start{device(first()), asBytes(needs[static_cast<size_t>(first())])};
        if (limit != kFitNoLimit) {
            start.limit = asBytes(limit);
        }
        start.verdict = model_.hostExcess(needs) > 0 ? Verdict::MoreThanHost
                        : is_too_much_               ? Verdict::TooMuch
                                                     : Verdict::Fits;
        steps_.emplace_back(start);
        if (is_too_much_ && model_.gpus > 0) {
            steps_.emplace_back(note::FitOrder{});
        }
    }

    /// What the steps since then freed on the first device.
    [[nodiscard]] note::Freed freedSince(int64_t before) const {
        const int64_t after = needOfFirst();
        return {device(first()), asBytes(before - after), asBytes(after)};
    }

    void tables() {
        const TextConfig& text = model_.request.config.text;
        if (isMoved(FitPerLayerTable)) {
            const int64_t before = needOfFirst();
            now_.place[FitPerLayerTable] = place(FitPerLayerTable);
            steps_.emplace_back(
                note::FitTable{true, device(place(FitPerLayerTable)), freedSince(before),
                               static_cast<uint64_t>(text.num_layers * text.ple_size * 2)});
        }
        const FitFormats& asked = model_.formats.front();
        if (asked.has_own_head && isMoved(FitTable)) {
            const int64_t before = needOfFirst();
            now_.place[FitTable] = place(FitTable);
            steps_.emplace_back(note::FitTable{false, device(place(FitTable)), freedSince(before),
                                               static_cast<uint64_t>(text.hidden_size * 2)});
        }
    }

    void media(FitBlock tower) {
        if (!isMoved(tower)) {
            return;
        }
        const int64_t before = needOfFirst();
        const FitFormats& format = model_.formats[now_.format];
        const auto seconds = [&](int at) {
            return static_cast<double>(model_.mediaPs(tower, at, format)) * 1e-12;
        };
        now_.place[tower] = place(tower);
        steps_.emplace_back(note::FitTower{tower == FitAudio, device(place(tower)),
                                           freedSince(before), seconds(place(tower)),
                                           seconds(first())});
    }

    void smallerFormats() {
        const FitFormats& asked = model_.formats.front();
        const FitFormats& chosen = model_.formats[found_.candidate.format];
        if (chosen.quality == 0) {
            return;
        }
        note::FitFormats told;
        told.quant = chosen.quant != asked.quant ? quantName(chosen.quant) : "";
        told.head = chosen.head != asked.head ? headName(chosen.head) : "";
        const int64_t before = needOfFirst();
        now_.format = found_.candidate.format;
        now_.place[FitTable] = place(FitTable);
        told.freed = freedSince(before);
        steps_.emplace_back(std::move(told));
    }

    void head() {
        if (!isMoved(FitHead)) {
            return;
        }
        const int64_t before = needOfFirst();
        const double seconds = model_.tokenSeconds(now_);
        now_.place[FitHead] = place(FitHead);
        model_.placeDependents(now_);
        steps_.emplace_back(
            note::FitHead{device(place(FitHead)), freedSince(before), slowerSince(seconds)});
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
                steps_.emplace_back(note::FitLayers{from, to - 1, device(d), freedSince(before),
                                                    slowerSince(seconds)});
            }
            from = to;
        }
    }

    /// Seconds per token more than before.
    [[nodiscard]] double slowerSince(double before) const {
        return std::max(0.0, model_.tokenSeconds(now_) - before);
    }

    void end() {
        if (!found_.fits) {
            steps_.emplace_back(
                note::FitTooLarge{asBytes(model_.excess(model_.needs(found_.candidate)))});
            return;
        }
        const bool has_simulated =
            std::any_of(model_.devices.begin(), model_.devices.end(),
                        [](const FitDevice& d) { return d.id.kind == DeviceId::Kind::Sim; });
        steps_.emplace_back(note::FitSpeed{rateOf(model_.tokenSeconds(found_.candidate)),
                                           device(first()), rateOf(all_seconds_), has_simulated});
    }

    const FitModel& model_;
    const FitFound& found_;
    FitCandidate now_;
    bool is_too_much_ = false;
    double all_seconds_ = 0;
    std::vector<Note> steps_;
};

} // namespace

namespace {

/// Quantizing the linear weights is the user's decision: `fit` only says what it would bring where
/// a token waits for main memory, or nothing fits.
std::optional<note::FourBits> quantizedInstead(const FitModel& model, const FitFound& found) {
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
    return note::FourBits{rateOf(smaller.tokenSeconds(other.candidate))};
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
    if (const auto hint = quantizedInstead(model, found); hint.has_value()) {
        result.steps.emplace_back(*hint);
    }
    return result;
}

} // namespace engine
