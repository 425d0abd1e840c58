// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_english.h"

#include "engine/base/sentence_english.h"
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

std::string text(const Sentence& words) {
    return inEnglish(words);
}

} // namespace

std::string inEnglish(const Suggestion& suggestion) {
    return std::visit([](const auto& one) { return text(one); }, suggestion);
}

std::string inEnglish(const Note& note) {
    return inEnglish(note.words);
}

std::string inEnglish(const PlanIssue& issue) {
    std::string message = inEnglish(issue.words);
    for (const CardTrouble& reason : issue.reasons) {
        message += (message.empty()          ? ""
                    : message.ends_with('.') ? " "
                                             : ". ") +
                   inEnglish(reason.words);
    }
    return message;
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
