// SPDX-License-Identifier: Apache-2.0
// compare: what a format or a file costs, over a text in windows of the context. One model is
// loaded at a time: the first one's logits wait in a temporary file, as they are, so that a model
// differs from itself by nothing.
#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/cli/output.h"
#include "app/cli/row_comparison.h"
#include "app/cli/temporary_folder.h"
#include "app/common/library_roots.h"
#include "engine/api/formats.h"
#include "engine/base/digest.h"
#include "engine/base/paths.h"
#include "engine/base/small_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fstream>
#include <functional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "models/comparisons.h"

namespace cli {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using nlohmann::ordered_json;

namespace {

constexpr int64_t kUsualWindow = 512;
constexpr size_t kMostTextBytes = size_t{256} << 20;

/// A piece of the text with what the model's files put before raw text.
struct Window {
    std::vector<int32_t> ids;
    size_t first = 1; ///< The first token that is predicted.
};

/// Row of logits that predicts `token`.
using RowVisitor = std::function<Result<void>(std::span<const float> row, int32_t token)>;

Error temporaryError(const std::filesystem::path& file, const char* what) {
    return {ErrorCode::InvalidFile, engine::utf8Of(file) + " cannot be " + what +
                                        "; set TMPDIR to a folder of a disk with more space"};
}

/// Windows of at most `length` tokens, one behind the other.
Result<std::vector<Window>>
windowsOf(engine::Engine& engine, const Arguments& arguments, const std::string& text) {
    ENGINE_ASSIGN(const engine::Tokenized read, engine.tokenize(arguments.load.model, text));
    const size_t first =
        std::max({size_t{1}, read.prefix.size(), static_cast<size_t>(arguments.judged_from)});
    const auto length = static_cast<size_t>(arguments.load.context);
    std::vector<Window> windows;
    for (size_t at = 0; at < read.ids.size() && length > first;) {
        const size_t count = std::min(length - read.prefix.size(), read.ids.size() - at);
        Window window{read.prefix, first};
        window.ids.insert(window.ids.end(), read.ids.begin() + static_cast<std::ptrdiff_t>(at),
                          read.ids.begin() + static_cast<std::ptrdiff_t>(at + count));
        at += count;
        if (window.ids.size() > first) {
            windows.push_back(std::move(window));
        }
    }
    if (windows.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     arguments.text_file + ": has " + std::to_string(read.ids.size()) +
                         " tokens in windows of " + std::to_string(length) +
                         "; expected at least two of each, and more than " + std::to_string(first) +
                         " in a window"};
    }
    return windows;
}

/// Visits the predicted tokens in the text's order. Returns the perplexity.
Result<double> runWindows(engine::Engine& engine,
                          const Arguments& arguments,
                          const std::vector<Window>& windows,
                          const RowVisitor& visit) {
    double loss = 0.0;
    int64_t tokens = 0;
    const bool shows = !arguments.is_json && isErrorTerminal();
    for (size_t i = 0; i < windows.size(); ++i) {
        if (shows) {
            showProgress("window " + std::to_string(i + 1) + " of " +
                         std::to_string(windows.size()));
        }
        const Window& window = windows[i];
        engine::GenerateRequest request;
        request.raw_ids = window.ids;
        const auto rows = static_cast<int64_t>(window.ids.size() - window.first + 1);
        ENGINE_ASSIGN(const engine::LogitsResult result,
                      engine.logits(request, rows, interruptToken()));
        const auto vocab = static_cast<size_t>(result.vocab);
        for (size_t at = window.first; at < window.ids.size(); ++at) { // the last row has no token
            const auto row = std::span(result.logits).subspan((at - window.first) * vocab, vocab);
            loss += logSumExp(row) - row[static_cast<size_t>(window.ids[at])];
            ++tokens;
            ENGINE_TRY(visit(row, window.ids[at]));
        }
    }
    if (shows) {
        showProgress("");
    }
    return std::exp(loss / static_cast<double>(tokens));
}

/// Tells what the temporary file takes, and refuses where it would not fit.
Result<void> checkSpace(const Arguments& arguments,
                        const std::filesystem::path& folder,
                        const std::vector<Window>& windows,
                        int64_t vocab) {
    uint64_t tokens = 0;
    for (const Window& window : windows) {
        tokens += window.ids.size() - window.first;
    }
    const uint64_t bytes = tokens * static_cast<uint64_t>(vocab) * sizeof(float);
    std::error_code failure;
    const std::filesystem::space_info space = std::filesystem::space(folder, failure);
    const std::string needs =
        byteText(bytes) + " for the first model's logits of " + std::to_string(tokens) + " tokens";
    if (!failure && space.available < bytes) {
        return Error{ErrorCode::InvalidRequest,
                     engine::utf8Of(folder.parent_path()) + ": " + byteText(space.available) +
                         " are free, compare needs " + needs +
                         "; set TMPDIR to a folder of a larger disk, or give a shorter text"};
    }
    if (!arguments.is_json) {
        printError("note: %s are kept in %s meanwhile\n", needs.c_str(),
                   engine::utf8Of(folder.parent_path()).c_str());
    }
    return {};
}

/// Errors: as loadModel(), and InvalidRequest where --quant would change no weight, since packed
/// ones stay as they are.
Result<void> loadForm(engine::Engine& engine, const Arguments& arguments) {
    ENGINE_TRY(loadModel(engine, arguments));
    const std::string_view quant = arguments.load.quant;
    const engine::FormatRow* wanted = engine::formatOfOption(quant.substr(0, quant.find('+')));
    const auto plan = engine.currentPlan();
    if (quant == "none" || wanted == nullptr ||
        std::any_of(plan->tensors.begin(), plan->tensors.end(),
                    [&](const auto& row) { return row.format == wanted->format; })) {
        return {};
    }
    return Error{ErrorCode::InvalidRequest,
                 arguments.load.model + ": its weights are packed (" +
                     engine.summary()->quantization + ") and stay as they are, so that " +
                     std::string(quant) + " changes none of them; say none for it, or give the " +
                     "model in 16 bits"};
}

/// The precision that a loaded model has, as people call it.
std::string precisionOf(const engine::Engine& engine, const engine::LoadRequest& load) {
    const auto summary = engine.summary();
    return load.quant != "none" || summary == nullptr ? load.quant
           : summary->quantization != "none"          ? summary->quantization
                                                      : summary->dtype;
}

/// Adapters, keys in 8 bits, and maps that may choose formats, change more than --quant says.
bool isOfPrecisionAlone(const engine::LoadRequest& load) {
    constexpr std::array<std::string_view, 7> kPlacesAlone = {
        "", "gpu", "cpu", "lean", "ple-cpu", "towers-cpu", "experts-cpu"};
    return load.adapters.empty() && load.kv != "q8" &&
           load.quant_block == engine::LoadRequest().quant_block &&
           std::find(kPlacesAlone.begin(), kPlacesAlone.end(), load.device_map) !=
               kPlacesAlone.end();
}

/// For the window's load form. What cannot be kept is told and changes nothing.
void keep(const Arguments& first, const Arguments& second, engine::Comparison found) {
    const std::filesystem::path file = app::comparisonsFile();
    engine::Comparison other;
    models::nameCompared(engine::pathFromUtf8(first.load.model), other);
    models::nameCompared(engine::pathFromUtf8(second.load.model), found);
    const bool is_same = found.model == other.model;
    if (file.empty() || found.bytes == 0 || !isOfPrecisionAlone(second.load) ||
        (is_same && first.load.quant == second.load.quant)) {
        return;
    }
    found.quant = second.load.quant;
    found.other_model = is_same ? "" : engine::utf8Of(engine::pathFromUtf8(other.model).filename());
    const std::time_t now = std::time(nullptr);
    std::array<char, 16> date{};
    if (const std::tm* parts = std::gmtime(&now); parts != nullptr) {
        std::strftime(date.data(), date.size(), "%Y-%m-%d", parts);
    }
    found.date = date.data();
    if (const auto kept = models::keepComparison(file, found); !kept && !first.is_json) {
        printError("note: %s\n", kept.error().message.c_str());
    }
}

} // namespace

Result<void> runCompare(engine::Engine& engine, const Arguments& arguments) {
    Arguments first = arguments;
    first.load.context = arguments.load.context > 0 ? arguments.load.context : kUsualWindow;
    first.load.draft = "off";
    first.load.is_text_only = true;
    first.load.projector.clear();
    Arguments second = first;
    if (!arguments.second_model.empty()) {
        second.load.model = arguments.second_model;
    }
    if (!arguments.second_quant.empty()) {
        second.load.quant = arguments.second_quant;
    }
    if (!arguments.second_kv.empty()) {
        second.load.kv = arguments.second_kv;
    }
    ENGINE_ASSIGN(const std::string text,
                  engine::readSmallFile(engine::pathFromUtf8(arguments.text_file), kMostTextBytes));
    ENGINE_ASSIGN(const auto folder, TemporaryFolder::make("compare"));
    const std::filesystem::path file = folder->path() / "logits";

    ENGINE_TRY(loadForm(engine, first));
    ENGINE_ASSIGN(const std::vector<Window> windows, windowsOf(engine, first, text));
    ENGINE_ASSIGN(const engine::WorkCounts counts, engine.countWork());
    const int64_t vocab = counts.vocab_size;
    ENGINE_TRY(checkSpace(arguments, folder->path(), windows, vocab));
    std::ofstream kept(file, std::ios::binary);
    ENGINE_ASSIGN(const double first_perplexity,
                  runWindows(engine, first, windows, [&](std::span<const float> row, int32_t) {
                      kept.write(reinterpret_cast<const char*>(row.data()),
                                 static_cast<std::streamsize>(row.size_bytes()));
                      return kept ? Result<void>() : temporaryError(file, "written");
                  }));
    kept.close();
    if (!kept) {
        return temporaryError(file, "written");
    }
    engine::Comparison found;
    found.reference = precisionOf(engine, first.load);
    engine.unload();

    ENGINE_TRY(loadForm(engine, second));
    ENGINE_ASSIGN(const std::vector<Window> others, windowsOf(engine, second, text));
    ENGINE_ASSIGN(const engine::WorkCounts other_counts, engine.countWork());
    const bool is_same_text =
        vocab == other_counts.vocab_size &&
        std::equal(windows.begin(), windows.end(), others.begin(), others.end(),
                   [](const Window& a, const Window& b) { return a.ids == b.ids; });
    if (!is_same_text) {
        return Error{ErrorCode::InvalidRequest,
                     second.load.model + ": reads the text as other tokens than " +
                         first.load.model + "; compare forms of the same model"};
    }
    RowComparison comparison;
    std::vector<float> reference(static_cast<size_t>(vocab));
    std::ifstream back(file, std::ios::binary);
    ENGINE_ASSIGN(const double second_perplexity,
                  runWindows(engine, second, windows, [&](std::span<const float> row, int32_t) {
                      back.read(reinterpret_cast<char*>(reference.data()),
                                static_cast<std::streamsize>(row.size_bytes()));
                      if (!back) {
                          return Result<void>(temporaryError(file, "read"));
                      }
                      comparison.add(reference, row);
                      return Result<void>();
                  }));

    engine::Digest digest = engine::Digest::sha256();
    digest.add(std::as_bytes(std::span(text)));
    found.text_sha256 = digest.finish();
    found.tokens = comparison.rows();
    found.same_top = comparison.sameTop();
    found.divergence = comparison.meanDivergence();
    found.perplexity = second_perplexity;
    found.reference_perplexity = first_perplexity;
    keep(first, second, std::move(found));

    ordered_json models = ordered_json::array();
    for (const auto& [of, perplexity] :
         {std::pair(&first, first_perplexity), std::pair(&second, second_perplexity)}) {
        models.push_back({{"model", of->load.model},
                          {"quant", of->load.quant},
                          {"kv", of->load.kv},
                          {"perplexity", perplexity}});
    }
    if (arguments.is_json) {
        printJson({{"models", models},
                   {"top1_agreement", comparison.sameTop()},
                   {"mean_kl_nats", comparison.meanDivergence()},
                   {"p99_kl_nats", comparison.divergenceAt(0.99)},
                   {"positions", comparison.rows()},
                   {"windows", windows.size()},
                   {"context", first.load.context},
                   {"depth", arguments.judged_from}});
        return {};
    }
    for (const ordered_json& model : models) {
        print("%-60s %-9s %-4s perplexity %.4f\n", model["model"].get<std::string>().c_str(),
              model["quant"].get<std::string>().c_str(), model["kv"].get<std::string>().c_str(),
              model["perplexity"].get<double>());
    }
    print("same top token %.2f %%, KL mean %.3e nats, 99 %% of the tokens at most %.3e nats\n"
          "(%lld tokens in windows of %lld)\n",
          100 * comparison.sameTop(), comparison.meanDivergence(), comparison.divergenceAt(0.99),
          static_cast<long long>(comparison.rows()), static_cast<long long>(first.load.context));
    return {};
}

} // namespace cli
