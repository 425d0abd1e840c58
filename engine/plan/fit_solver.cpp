// SPDX-License-Identifier: Apache-2.0
// `fit`: the fastest placement within limits. fit_model.h weighs the request, fit_search.h finds
// the cheapest member of the family of plans; here it becomes a map and a text that says why.
#include "engine/api/formats.h"
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

Sentence quantWords(Format quant) {
    return said("linear weights in %1", FormatName{std::string(formatRow(quant).option)});
}

Sentence headWords(Format head) {
    return head == Format::Q8
               ? phrase("head in int8")
               : said("head in %1", FormatName{hasCodes(head) ? std::string(formatRow(head).option)
                                                              : std::string("bf16")});
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
        const int away = place < model.gpus ? c.experts_away[static_cast<size_t>(place)] : 0;
        if (away > 0) {
            addKey(expertsRangeName(i, i + away - 1), model.cpu);
        }
        i = last + 1;
    }
    addIfElsewhere(PartRole::FinalNorm, FitNorm);
    if (model.request.config.hasVisionTower()) {
        addIfElsewhere(PartRole::VisionTower, FitVision);
    }
    addIfElsewhere(PartRole::VisionProjector, FitVision);
    if (model.request.config.hasAudioTower()) {
        addIfElsewhere(PartRole::AudioTower, FitAudio);
    }
    addIfElsewhere(PartRole::AudioProjector, FitAudio);
    if (std::any_of(c.experts_away.begin(), c.experts_away.end(), [](int n) { return n > 0; })) {
        map.expert_cache = kAllThatIsLeft;
    }
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

    std::vector<Note> whole() {
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
        const DeviceId all = device(first());
        const ByteCount need{asBytes(needs[static_cast<size_t>(first())])};
        const Argument room = limit != kFitNoLimit ? Argument(ByteCount{asBytes(limit)})
                                                   : Argument(phrase("unbounded memory"));
        if (model_.hostExcess(needs) > 0) {
            tell(said("everything on %1 needs %2 of %3: more than this computer's memory, which "
                      "simulated GPUs take theirs from",
                      all, need, room));
        } else if (is_too_much_) {
            tell(said("everything on %1 needs %2 of %3: too much", all, need, room));
        } else {
            kind_ = NoteKind::AllOnOne;
            tell(said("everything on %1 needs %2 of %3: it fits", all, need, room));
        }
        if (is_too_much_ && model_.gpus > 0) {
            tell(said("what costs nothing per token moves first (tables), then what costs only "
                      "with media (towers), then what every token reads (head, experts, layers)"));
        }
    }

    void tell(Sentence words) { steps_.emplace_back(std::move(words), kind_); }

    /// What a step does, what it freed on the first device since that needed `before`, and what it
    /// costs.
    void tellStep(Sentence what, int64_t before, Sentence cost) {
        const int64_t after = needOfFirst();
        if (const uint64_t freed = asBytes(before - after); freed > 0) {
            tell(said("%1: %2 less on %3 (%4 remain); %5", std::move(what), ByteCount{freed},
                      device(first()), ByteCount{asBytes(after)}, std::move(cost)));
        } else { // it left another card
            tell(said("%1: %2", std::move(what), std::move(cost)));
        }
    }

    static Sentence rowCost(int64_t values) {
        return said("one row of %1 per token, not measurable",
                    ByteCount{static_cast<uint64_t>(values * 2)});
    }

    void tables() {
        const TextConfig& text = model_.request.config.text;
        if (isMoved(FitPerLayerTable)) {
            const int64_t before = needOfFirst();
            now_.place[FitPerLayerTable] = place(FitPerLayerTable);
            tellStep(said("per-layer embedding table to %1", device(place(FitPerLayerTable))),
                     before, rowCost(text.num_layers * text.ple_size));
        }
        const FitFormats& asked = model_.formats.front();
        if (asked.has_own_head && isMoved(FitTable)) {
            const int64_t before = needOfFirst();
            now_.place[FitTable] = place(FitTable);
            tellStep(
                said("token embedding (the head has its own copy) to %1", device(place(FitTable))),
                before, rowCost(text.hidden_size));
        }
    }

    void media(FitBlock tower) {
        if (!isMoved(tower)) {
            return;
        }
        const int64_t before = needOfFirst();
        const FitFormats& format = model_.formats[now_.format];
        const auto seconds = [&](int at) {
            return Duration{static_cast<double>(model_.mediaPs(tower, at, format)) * 1e-12};
        };
        now_.place[tower] = place(tower);
        const DeviceId to = device(place(tower));
        const Duration there = seconds(place(tower));
        const Duration here = seconds(first());
        if (tower == FitAudio) {
            tellStep(said("audio tower to %1", to), before,
                     said("costs only with media: 10 s of sound take about %1 instead of %2", there,
                          here));
        } else {
            tellStep(
                said("vision tower to %1", to), before,
                said("costs only with media: an image takes about %1 instead of %2", there, here));
        }
    }

    void smallerFormats() {
        const FitFormats& asked = model_.formats.front();
        const FitFormats& chosen = model_.formats[found_.candidate.format];
        if (chosen.quality == 0) {
            return;
        }
        const bool has_quant = chosen.quant != asked.quant;
        const bool has_head = chosen.head != asked.head;
        const int64_t before = needOfFirst();
        now_.format = found_.candidate.format;
        now_.place[FitTable] = place(FitTable);
        tellStep(!has_head    ? quantWords(chosen.quant)
                 : !has_quant ? headWords(chosen.head)
                              : said("%1, %2", quantWords(chosen.quant), headWords(chosen.head)),
                 before,
                 has_head ? said("some accuracy for speed, before what every token reads leaves; "
                                 "--head bf16 keeps the head as it is stored")
                          : said("some accuracy for speed, before what every token reads leaves"));
    }

    void head() {
        if (!isMoved(FitHead)) {
            return;
        }
        const int64_t before = needOfFirst();
        const double seconds = model_.tokenSeconds(now_);
        now_.place[FitHead] = place(FitHead);
        model_.placeDependents(now_);
        const Duration slower = slowerSince(seconds);
        tellStep(said("head to %1", device(place(FitHead))), before,
                 slower.seconds > 0
                     ? said("it is read whole for every token, about %1 more per token", slower)
                     : said("it is read whole for every token"));
    }

    /// Experts of layers that stay on their cards. Those of other layers go with them.
    void experts() {
        for (int d = 0, from = 0; d < model_.gpus; ++d) {
            const auto g = static_cast<size_t>(d);
            const int away = found_.candidate.experts_away[g];
            if (away > 0) {
                const int64_t before = needOfFirst();
                const double seconds = model_.tokenSeconds(now_);
                now_.experts_away[g] = away;
                const TextConfig& text = model_.request.config.text;
                PlanPart part;
                part.kind = PlanPart::Kind::Experts;
                part.first_layer = from;
                part.last_layer = from + away - 1;
                tellStep(said("%1 to %2", std::move(part), device(model_.cpu)), before,
                         said("a token reads %1 of %2 in each layer, about %3 more per token",
                              text.top_k_experts, text.num_experts, slowerSince(seconds)));
            }
            from = std::max(from, found_.candidate.split[g]);
        }
    }

    void layers() {
        for (int d = 0, from = 0; d <= model_.gpus && model_.layers > 0; ++d) {
            if (d == model_.gpus) {
                experts();
            }
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
                const Duration slower = slowerSince(seconds);
                tellStep(said("layers %1-%2 on %3, one block, so that the state changes device "
                              "once",
                              from, to - 1, device(d)),
                         before,
                         slower.seconds > 0
                             ? said("every token reads them, about %1 more per token", slower)
                             : said("every token reads them"));
            }
            from = to;
        }
    }

    /// Per token, more than before.
    [[nodiscard]] Duration slowerSince(double before) const {
        return {std::max(0.0, model_.tokenSeconds(now_) - before)};
    }

    void end() {
        if (!found_.fits) {
            tell(said("even this leanest plan is %1 over the limits; it keeps layers in memory: on "
                      "disk, read anew for every token, only a map puts them",
                      ByteCount{asBytes(model_.excess(model_.needs(found_.candidate)))}));
            return;
        }
        const bool has_simulated =
            std::any_of(model_.devices.begin(), model_.devices.end(),
                        [](const FitDevice& d) { return d.id.kind == DeviceId::Kind::Sim; });
        const Rate rate{rateOf(model_.tokenSeconds(found_.candidate))};
        const Rate rate_there{rateOf(all_seconds_)}; // with everything on the first device
        const DeviceId there = device(first());
        Sentence speed =
            has_simulated
                ? said("weighed with about %1 tokens/s (everything on %2: %3); a simulated GPU is "
                       "weighed as the mid-range card it stands for, so that the choice is the "
                       "card's; what it computes here has this processor's speed",
                       rate, there, rate_there)
                : said("weighed with about %1 tokens/s (everything on %2: %3)", rate, there,
                       rate_there);
        tell(rate.per_second > rate_there.per_second
                 ? said("%1; what is elsewhere is computed faster there", std::move(speed))
                 : std::move(speed));
    }

    const FitModel& model_;
    const FitFound& found_;
    FitCandidate now_;
    bool is_too_much_ = false;
    double all_seconds_ = 0;
    NoteKind kind_ = NoteKind::Apart;
    std::vector<Note> steps_;
};

} // namespace

namespace {

/// Quantizing the linear weights is the user's decision: `fit` only says what it would bring where
/// a token waits for main memory, or nothing fits.
std::optional<Note> quantizedInstead(const FitModel& model, const FitFound& found) {
    const FitFormats& now = model.formats[found.candidate.format];
    const bool is_all_on_gpus = model.gpus > 0 && found.candidate.place[FitHead] != model.cpu &&
                                model.layerPlace(found.candidate, model.layers - 1) != model.cpu;
    if (now.quant != Format::AsStored || model.layers == 0 || (found.fits && is_all_on_gpus) ||
        model.gpus == 0) {
        return {};
    }
    PlanRequest request = model.request;
    request.quant = kFourBitFormat;
    request.quantizes_experts = now.hasExperts();
    const FitModel smaller(request);
    if (smaller.formats.front().layer_bytes == model.formats.front().layer_bytes) {
        return {}; // the checkpoint is packed already
    }
    const FitFound other = searchFit(smaller);
    if (!other.fits) {
        return {};
    }
    return Note(said("linear weights stay as they are stored, because no --quant was given; with "
                     "--quant %1 it would be about %2 tokens/s",
                     FormatName{now.hasExperts() ? "nf4+experts" : "nf4"},
                     Rate{rateOf(smaller.tokenSeconds(other.candidate))}),
                NoteKind::FourBits);
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
    result.steps = Story(model, found).whole();
    if (auto hint = quantizedInstead(model, found); hint.has_value()) {
        result.steps.push_back(*std::move(hint));
    }
    return result;
}

} // namespace engine
