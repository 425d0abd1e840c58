// SPDX-License-Identifier: Apache-2.0
// inspect, plan, tokenize, logits.
#include "app/cli/commands.h"

#include "app/cli/console.h"
#include "app/cli/output.h"
#include "engine/base/file_writer.h"
#include "engine/base/paths.h"

#include <algorithm>
#include <iostream>

namespace cli {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using nlohmann::ordered_json;

Result<void> loadModel(engine::EngineClient& engine, const Arguments& arguments) {
    const bool shows = !arguments.is_json && isErrorTerminal();
    const engine::ProgressCallback progress = [shows](const engine::LoadProgressValue& value) {
        if (shows && value.bytes_total > 0) {
            showProgress(value.stage + " " + byteText(value.bytes_done) + " of " +
                         byteText(value.bytes_total));
        }
    };
    Result<void> outcome = engine.load(arguments.load, progress, interruptToken());
    if (shows) {
        showProgress("");
    }
    if (outcome.has_value() && !arguments.is_json) {
        for (const std::string& note : engine::inEnglish(engine.loadNotes())) {
            std::cerr << "note: " << note << "\n";
        }
    }
    return outcome;
}

Result<void> runInspect(engine::EngineClient& engine, const Arguments& arguments) {
    std::vector<std::string> adapters;
    for (const engine::AdapterChoice& choice : arguments.load.adapters) {
        adapters.push_back(choice.folder);
    }
    ENGINE_ASSIGN(engine::ModelSummary summary, engine.inspect(arguments.model, adapters));
    if (arguments.checks_effect && !adapters.empty()) {
        Arguments plain = arguments;
        plain.load.adapters.clear();
        plain.load.context = plain.load.context > 0 ? plain.load.context : 256;
        ENGINE_TRY(loadModel(engine, plain));
        for (size_t i = 0; i < adapters.size(); ++i) {
            ENGINE_ASSIGN(summary.adapters[i].effect,
                          engine.adapterEffect(adapters[i], interruptToken()));
        }
    }
    if (arguments.is_json) {
        printJson(summaryJson(summary));
    } else {
        std::cout << summaryText(summary);
    }
    return {};
}

namespace {

/// The map as text on stdout, what the text cannot say on stderr.
Result<void> printExport(engine::Engine& engine, const Arguments& arguments) {
    using Kind = engine::MapExport::Kind;
    const std::string& wanted = arguments.export_as;
    const Kind kind = wanted == "accelerate" ? Kind::Accelerate : Kind::Document;
    ENGINE_ASSIGN(const engine::MapExport exported, engine.exportMap(arguments.load, kind));
    if (arguments.is_json) {
        printJson({{"format", wanted},
                   {"text", exported.text},
                   {"losses", engine::inEnglish(exported.losses)}});
        return {};
    }
    {
        const Verbatim verbatim;
        std::cout << exported.text << (exported.text.ends_with('\n') ? "" : "\n");
    }
    for (const std::string& loss : engine::inEnglish(exported.losses)) {
        std::cerr << "note: " << loss << "\n";
    }
    return {};
}

} // namespace

Result<void> runPlan(engine::Engine& engine, const Arguments& arguments) {
    if (!arguments.export_as.empty()) {
        return printExport(engine, arguments);
    }
    ENGINE_ASSIGN(const engine::PlacementPlan plan, engine.plan(arguments.load));
    if (arguments.is_json) {
        printJson(planJson(plan));
    } else {
        std::cout << planText(plan);
    }
    return {};
}

Result<void> runTokenize(engine::Engine& engine, const Arguments& arguments) {
    std::string text = arguments.text;
    if (arguments.reads_stdin) {
        ENGINE_ASSIGN(text, readInput());
    }
    ENGINE_ASSIGN(const engine::Tokenized result, engine.tokenize(arguments.model, text));
    if (arguments.is_json) {
        printJson({{"ids", result.ids}, {"pieces", result.pieces}});
        return {};
    }
    for (size_t i = 0; i < result.ids.size(); ++i) {
        std::cout << result.ids[i] << "\t" << result.pieces[i] << "\n";
    }
    return {};
}

Result<void> runLogits(engine::EngineClient& engine, const Arguments& arguments) {
    // A target that cannot be written is told before minutes of work.
    ENGINE_TRY(engine::FileWriter::check(engine::pathFromUtf8(arguments.out), true,
                                         engine::NoPlainFile::WriteInto));
    ENGINE_TRY(engine.checkMedia(arguments.model, arguments.images, arguments.audios));
    ENGINE_TRY(loadModel(engine, arguments));
    engine::GenerateRequest request;
    request.raw_prompt = arguments.raw_prompt;
    request.raw_ids = arguments.ids;
    request.raw_images = arguments.images;
    request.raw_audios = arguments.audios;
    request.image_tokens = arguments.load.image_tokens;
    const std::vector<std::string> told = engine::inEnglish(engine.loadNotes());
    ENGINE_ASSIGN(const engine::LogitsResult result,
                  engine.logits(request, arguments.last, interruptToken()));
    for (const std::string& note : engine::inEnglish(engine.loadNotes())) { // met in use
        if (!arguments.is_json && std::find(told.begin(), told.end(), note) == told.end()) {
            std::cerr << "note: " << note << "\n";
        }
    }
    for (const std::string& note : engine::inEnglish(result.notes)) {
        if (!arguments.is_json) {
            std::cerr << "note: " << note << "\n";
        }
    }
    // Where the tensors themselves go to standard output, what is told of them must not.
    const bool is_out_elsewhere = isStandardOutput(arguments.out);
    std::cout.flush();
    ENGINE_TRY(engine::Engine::writeLogits(arguments.out, result, interruptToken()));
    if (arguments.is_json) {
        printJson({{"out", arguments.out},
                   {"rows", result.rows},
                   {"vocab", result.vocab},
                   {"input_ids", result.input_ids},
                   {"load_notes", engine::inEnglish(engine.loadNotes())},
                   {"notes", engine::inEnglish(result.notes)},
                   {"memory", memoryJson(engine.memory())}},
                  is_out_elsewhere);
    } else {
        (is_out_elsewhere ? std::cerr : std::cout)
            << arguments.out << ": logits [" << result.rows << ", " << result.vocab << "], "
            << result.input_ids.size() << " input ids\n";
    }
    return {};
}

} // namespace cli
