// SPDX-License-Identifier: Apache-2.0
// Sections "golden" and "quantized": every family against Hugging Face.
#include "tests/gpu/gpu_tests.h"
#include "tests/support/files.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace gpu {

using engine::Engine;
using engine::LoadRequest;
using support::GoldenCase;

namespace {

/// What files of a folder hold, by name.
std::map<std::string, std::string> contentsOf(const std::filesystem::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        files[entry.path().filename().string()] = support::textOf(entry.path());
    }
    return files;
}

/// The cache of quantized weights after a load onto the card and after one onto the CPU: every
/// byte.
std::string differentBytes(const std::string& quant, std::string* figure) {
    const auto root =
        std::filesystem::temp_directory_path() / ("belfry-quantized-" + std::to_string(::getpid()));
    std::string wrong;
    std::vector<std::map<std::string, std::string>> files;
    for (const std::string map : {"gpu", "cpu"}) {
        LoadRequest request = requestFor("e2b", map);
        request.quant = quant;
        request.head = "int8";
        request.cache_folder = (root / map).string();
        Engine engine(engineOptions());
        wrong = wrong.empty() ? load(engine, request) : wrong;
        files.push_back(wrong.empty() ? contentsOf(root / map)
                                      : std::map<std::string, std::string>());
    }
    std::error_code code;
    std::filesystem::remove_all(root, code);
    size_t bytes = 0;
    for (const auto& [name, text] : files[0]) {
        bytes += text.size();
    }
    *figure = std::to_string(files[0].size()) + " files, " + std::to_string(bytes) + " bytes";
    if (!wrong.empty() || files[0].size() < 2) {
        return wrong.empty() ? "no cache was written" : wrong;
    }
    return files[0] == files[1] ? std::string() : "the card's bytes are not those of the CPU";
}

} // namespace

void golden(CheckList& list) {
    for (const std::string& family : families()) {
        list.run("golden", family + " in fp32 on cuda:0", [&](std::string* figure) {
            Engine engine(engineOptions());
            std::string wrong = load(engine, requestFor(family, "gpu"));
            return !wrong.empty()
                       ? wrong
                       : compareCases(
                             engine, family, 32,
                             [&](const GoldenCase& c) { return expectedLogits(family, c); }, true,
                             1e-4, figure);
        });
        list.run("golden", family + " in 16 bits on cuda:0", [&](std::string* figure) {
            Engine engine(engineOptions());
            LoadRequest request = requestFor(family, "gpu");
            request.is_reference_precision = false;
            std::string wrong = load(engine, request);
            return !wrong.empty()
                       ? wrong
                       : compareDefault(
                             engine, family, 32,
                             [&](const GoldenCase& c) { return expectedLogits(family, c); },
                             [&](const GoldenCase& c) { return noiseOf(family, c).nmse; }, figure);
        });
    }
}

void quantized(CheckList& list) {
    for (const char* quant : {"nf4", "nf4-dq", "fp4", "fp4-dq"}) {
        list.run("quantized", std::string("bytes of the card, ") + quant + " and int8 head",
                 [&](std::string* figure) { return differentBytes(quant, figure); });
    }
    const auto check = [&](const std::string& family, const std::string& format,
                           const std::string& folder) {
        const auto expected = support::readSafetensors(support::goldenDir() / family / "quantized" /
                                                       (format + ".expected_logits.safetensors"));
        const auto goldenOf = [&](const GoldenCase& c) {
            return expected.at(c.id + ".logits_dequant_fp32").floats();
        };
        const std::string name =
            family + " " + format + (folder == "model" ? " on load" : " as saved");
        LoadRequest request = requestFor(family, "gpu", folder);
        request.quant = folder == "model" ? format : "none";
        list.run("quantized", name, [&](std::string* figure) {
            Engine engine(engineOptions());
            std::string wrong = load(engine, request);
            return !wrong.empty() ? wrong
                                  : compareCases(engine, family, 8, goldenOf, false, 1e-4, figure);
        });
        request.is_reference_precision = false;
        list.run("quantized", name + " in 16 bits", [&](std::string* figure) {
            Engine engine(engineOptions());
            std::string wrong = load(engine, request);
            const double allowed = fewRowsBound(family);
            const auto bound = [allowed](const GoldenCase&) { return allowed; };
            return !wrong.empty() ? wrong
                                  : compareDefault(engine, family, 8, goldenOf, bound, figure);
        });
    };
    for (const std::string& family : families()) {
        check(family, "nf4", "model");
        check(family, "nf4-dq", "model");
    }
    check("e2b", "fp4", "model");
    check("e2b", "nf4-dq", "quantized/nf4-dq-checkpoint");
    check("e2b", "fp4", "quantized/fp4-checkpoint");
    check("dense31b", "nf4", "quantized/nf4-checkpoint");
    check("moe26b", "nf4-dq", "quantized/nf4-dq-checkpoint");
}

} // namespace gpu
