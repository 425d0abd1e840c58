// SPDX-License-Identifier: Apache-2.0
#include "models/comparisons.h"

#include "engine/base/file_writer.h"
#include "engine/base/folder_list.h"
#include "engine/base/json/text.h"
#include "engine/base/json/tree.h"
#include "engine/base/paths.h"
#include "engine/base/small_file.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

namespace models {

namespace fs = std::filesystem;
using engine::Comparison;
using engine::Error;
using engine::ErrorCode;
using engine::Json;
using engine::Result;
using engine::said;

namespace {

constexpr size_t kMostComparisonBytes = size_t{1} << 20;

using TextField = std::pair<const char*, std::string Comparison::*>;
constexpr TextField kTexts[] = {{"model", &Comparison::model},
                                {"quant", &Comparison::quant},
                                {"reference", &Comparison::reference},
                                {"other_model", &Comparison::other_model},
                                {"text_sha256", &Comparison::text_sha256},
                                {"date", &Comparison::date}};
using NumberField = std::pair<const char*, double Comparison::*>;
constexpr NumberField kNumbers[] = {{"same_top", &Comparison::same_top},
                                    {"divergence", &Comparison::divergence},
                                    {"perplexity", &Comparison::perplexity},
                                    {"reference_perplexity", &Comparison::reference_perplexity}};

/// What no two that are kept have in common.
auto keyOf(const Comparison& one) {
    return std::tie(one.model, one.quant, one.reference, one.other_model, one.text_sha256);
}

std::string comparisonText(const Comparison& one) {
    std::string text = "{";
    for (const auto& [name, field] : kTexts) {
        text += engine::jsonString(name) + ":" + engine::jsonString(one.*field) + ",";
    }
    for (const auto& [name, field] : kNumbers) {
        text += engine::jsonString(name) + ":" + engine::fractionText(one.*field) + ",";
    }
    return text + R"("bytes":)" + std::to_string(one.bytes) + R"(,"tokens":)" +
           std::to_string(one.tokens) + "}";
}

Comparison comparisonOf(const Json& value) {
    Comparison one;
    for (const auto& [name, field] : kTexts) {
        one.*field = engine::textOf(value, name);
    }
    for (const auto& [name, field] : kNumbers) {
        const Json* number = value.find(name);
        one.*field = number == nullptr ? 0.0 : number->number().value_or(0.0);
    }
    const Json* bytes = value.find("bytes");
    one.bytes = static_cast<uint64_t>(bytes == nullptr ? 0 : bytes->integer().value_or(0));
    const Json* tokens = value.find("tokens");
    one.tokens = tokens == nullptr ? 0 : tokens->integer().value_or(0);
    return one;
}

} // namespace

Result<std::vector<Comparison>> readComparisons(const fs::path& file) {
    std::vector<Comparison> found;
    std::error_code failure;
    if (!fs::exists(file, failure)) {
        return found;
    }
    ENGINE_ASSIGN(const std::string text, engine::readSmallFile(file, kMostComparisonBytes));
    const std::string name = engine::utf8Of(file.filename());
    ENGINE_ASSIGN(const Json root, engine::parseJson(text, name, {}));
    const Json* list = root.find("comparisons");
    if (list == nullptr || !list->is(Json::Kind::Array)) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: expected a list of comparisons; the next compare of belfry-cli "
                          "writes it anew",
                          name)};
    }
    for (const Json& value : list->items) {
        found.push_back(comparisonOf(value));
    }
    return found;
}

Result<void> keepComparison(const fs::path& file, const Comparison& found) {
    auto kept = readComparisons(file);
    std::vector<Comparison> all = kept ? *std::move(kept) : std::vector<Comparison>();
    std::erase_if(all, [&](const Comparison& one) { return keyOf(one) == keyOf(found); });
    all.push_back(found);
    if (all.size() > kMostComparisons) {
        all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(kMostComparisons));
    }
    std::string text = R"({"version":1,"comparisons":[)";
    for (size_t i = 0; i < all.size(); ++i) {
        text += (i == 0 ? "\n" : ",\n") + comparisonText(all[i]);
    }
    text += "\n]}\n";
    std::error_code failure;
    if (fs::create_directories(file.parent_path(), failure)) {
        // The window's settings come to lie there: nobody else reads them.
        fs::permissions(file.parent_path(), fs::perms::owner_all, failure);
    }
    ENGINE_ASSIGN(const auto writer, engine::FileWriter::create(file, true));
    ENGINE_TRY(writer->write(std::as_bytes(std::span<const char>(text))));
    return writer->commit(/*is_flushing=*/false); // a damaged one is replaced
}

void nameCompared(const fs::path& model, Comparison& one) {
    std::error_code failure;
    const fs::path path = fs::weakly_canonical(model, failure);
    one.model = engine::utf8Of(failure ? model : path);
    one.bytes = 0;
    const auto add = [&](const fs::path& file) {
        const uintmax_t bytes = fs::file_size(file, failure);
        one.bytes += failure ? 0 : static_cast<uint64_t>(bytes);
    };
    if (!fs::is_directory(model, failure)) {
        add(model);
        return;
    }
    constexpr size_t kMostNames = 10'000;
    for (const fs::path& name : engine::listFolder(model, kMostNames, failure)) {
        if (name.extension() == ".safetensors" || name.extension() == ".gguf") {
            add(model / name);
        }
    }
}

std::vector<Comparison> comparisonsOf(const fs::path& model, const std::vector<Comparison>& all) {
    Comparison wanted;
    nameCompared(model, wanted);
    std::vector<Comparison> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found), [&](const Comparison& one) {
        return one.model == wanted.model && one.bytes == wanted.bytes && one.bytes > 0;
    });
    return found;
}

} // namespace models
