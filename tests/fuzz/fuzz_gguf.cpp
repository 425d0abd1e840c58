// SPDX-License-Identifier: Apache-2.0
// Any bytes as a GGUF file: an error that names a rule, or a header whose tensors lie apart inside
// any file, and a model whose config, tokenizer and tensors read or are refused with a rule. A
// projector is put beside a sound model. Files and data: tests/engine/files/tst_gguf_header.cpp.
#include "engine/families/config.h"
#include "engine/families/gguf/metadata.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/files/small_gguf.h"
#include "tests/fuzz/gguf_mutator.h"
#include "tests/fuzz/require.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

using fuzz::require;

namespace {

void requireRule(const engine::Error& error) {
    require(!error.message.empty() && !error.details.empty());
    require(std::any_of(error.details.begin(), error.details.end(),
                        [](const auto& detail) { return detail.first == "rule"; }));
}

engine::Result<engine::GgufHeader> parse(std::string_view bytes) {
    const auto read = [&](uint64_t offset, std::span<std::byte> out) -> engine::Result<void> {
        require(offset <= bytes.size() && out.size() <= bytes.size() - offset);
        std::memcpy(out.data(), bytes.data() + offset, out.size());
        return {};
    };
    return engine::GgufHeader::parse("fuzz", bytes.size(), read, true);
}

/// A header as a model of which nothing but the header is there.
std::shared_ptr<const engine::GgufModel> modelOf(engine::GgufHeader header) {
    static const std::shared_ptr<const engine::FileReader> kNoData = [] {
        auto opened = engine::FileReader::open(BELFRY_GOLDEN_DIR "/e2b/model/config.json", "fuzz");
        return opened ? *std::move(opened) : nullptr;
    }();
    auto model = std::make_shared<engine::GgufModel>();
    model->tensors = header.tensors();
    std::sort(model->tensors.begin(), model->tensors.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    model->is_data_absent = true;
    model->files.push_back(kNoData);
    model->header = std::move(header);
    return model;
}

/// What projectors are tried with.
std::shared_ptr<const engine::GgufModel> soundModel() {
    static const auto kModel = [] {
        support::gguf::File file = support::gguf::gemmaWithoutTables();
        std::erase_if(file.keys, [](const auto& key) { return key.first.starts_with("token"); });
        return modelOf(*parse(file.header()));
    }();
    return kModel;
}

void checkHeader(const engine::GgufHeader& header) {
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (const engine::TensorInfo& info : header.tensors()) {
        require(info.size_bytes > 0 && info.file_offset < (uint64_t{1} << 63));
        for (const int64_t side : info.shape) {
            require(side > 0);
        }
        ranges.emplace_back(info.file_offset, info.file_offset + info.size_bytes);
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); ++i) {
        require(ranges[i - 1].second <= ranges[i].first);
    }
}

void checkTensors(const engine::TensorSource& source) {
    const engine::TensorInfo* before = nullptr;
    for (const engine::TensorInfo& info : source.tensors()) {
        require(before == nullptr || before->name < info.name);
        before = &info;
        require(source.find(info.name) == &info);
        uint64_t count = 1;
        for (const int64_t side : info.shape) {
            count *= static_cast<uint64_t>(side);
        }
        const uint64_t each = engine::tensorTypeSize(info.type);
        require(each == 0 || count * each == info.size_bytes);
    }
}

/// True where the text is there; else its error has a rule.
bool isThere(const engine::Result<std::string>& text) {
    if (!text) {
        requireRule(text.error());
    }
    return text.has_value();
}

void checkModel(const engine::gguf::Files& files, engine::gguf::Architecture architecture) {
    using namespace engine::gguf;
    const auto config = configText(files, architecture);
    const auto generation = generationText(*files.text, architecture);
    if (isThere(config) && isThere(generation)) {
        if (const auto read = engine::parseModelConfig(*config, *generation, ""); !read) {
            requireRule(read.error());
        }
    }
    if (const auto tokenizer = tokenizerText(*files.text); isThere(tokenizer)) {
        if (const auto read = engine::Tokenizer::fromJson(*tokenizer); !read) {
            requireRule(read.error());
        }
    }
    isThere(tokenizerConfigText(*files.text));
    engine::GgufSource source;
    if (const auto added = addTensors(files, architecture, source); !added) {
        requireRule(added.error());
        return;
    }
    checkTensors(source);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    auto header = parse(bytes);
    if (!header) {
        requireRule(header.error());
        return 0;
    }
    checkHeader(*header);
    const auto model = modelOf(*std::move(header));
    const auto named = model->header.text("general.architecture");
    if (named && named->value_or("") == "clip") {
        checkModel({soundModel(), model}, engine::gguf::Architecture::Gemma4);
        return 0;
    }
    if (const auto architecture = engine::gguf::architectureOf(*model); architecture) {
        checkModel({model, nullptr}, *architecture);
    } else {
        requireRule(architecture.error());
    }
    return 0;
}
