// SPDX-License-Identifier: Apache-2.0
#include "engine/run/opened_model.h"

#include "engine/api/formats.h"
#include "engine/base/paths.h"
#include "engine/families/gemma4/assistant.h"
#include "engine/families/gemma4/names.h"
#include "engine/families/gemma4/published_shapes.h"
#include "engine/families/gemma4/stored_head.h"
#include "engine/families/gemma4/stored_names.h"
#include "engine/files/joined_source.h"
#include "engine/files/safetensors.h"
#include "engine/load/loader_origin.h"
#include "engine/load/random_source.h"
#include "engine/media/audio.h"
#include "engine/quant/quant_state.h"
#include "engine/run/sampler.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>

namespace engine {

namespace {

/// A published model's sizes with random weights; no tokenizer.
class ShapeCheckpoint final : public Checkpoint {
public:
    ShapeCheckpoint(std::string name, std::string config)
        : name_(std::move(name)), config_(std::move(config)) {}

    [[nodiscard]] std::filesystem::path where() const override { return "shape-" + name_; }

    [[nodiscard]] bool has(ModelText text) const override {
        return text == ModelText::Config || text == ModelText::Generation ||
               text == ModelText::Processor;
    }

    [[nodiscard]] Result<std::optional<std::string>> read(ModelText text) const override {
        switch (text) {
        case ModelText::Config:
            return std::optional(config_);
        case ModelText::Generation:
            return std::optional(std::string(publishedGenerationJson()));
        case ModelText::Processor:
            return std::optional(std::string(publishedProcessorJson()));
        default:
            return std::optional<std::string>();
        }
    }

    [[nodiscard]] Error missing(ModelText text) const override {
        return {ErrorCode::InvalidRequest,
                said("shape:%1: has random weights and no %2; give a model folder", name_,
                     fileNameOf(text))};
    }

    [[nodiscard]] Result<std::unique_ptr<TensorSource>>
    openTensors(const OpenOptions&) const override {
        ENGINE_ASSIGN(const ModelConfig config, parseModelConfig(config_, publishedGenerationJson(),
                                                                 publishedProcessorJson()));
        return makeRandomSource(config, 1);
    }

private:
    std::string name_, config_;
};

/// All tensors that the files may hold by name, a head of its own among them.
std::unordered_map<std::string, ExpectedTensor> expectedOf(const OpenedModel& opened) {
    std::unordered_map<std::string, ExpectedTensor> expected;
    for (const ExpectedTensor& tensor : opened.tensors) {
        expected.emplace(tensor.name, tensor);
    }
    if (opened.config.has_own_head) {
        expected.emplace(kHeadName, headTensor(opened.config));
    }
    return expected;
}

StoredTensors describeAll(const OpenedModel& opened) {
    const auto expected = expectedOf(opened);
    StoredTensors stored;
    for (const TensorInfo& info : opened.source->tensors()) {
        if (isQuantHelper(info.name)) {
            continue;
        }
        const std::string name = storedTensorName(opened.config, info.name);
        const auto it = expected.find(name);
        if (it == expected.end()) {
            continue;
        }
        const StoredWeight weight =
            describeStored(*opened.source, info.name, it->second.numElements());
        StoredTensor entry;
        entry.block_size = weight.block_size;
        switch (weight.kind) {
        case StoredAs::Dense:
            entry.type = weight.type;
            break;
        case StoredAs::Packed4Bit:
        case StoredAs::W4A16:
            entry.type = TensorType::BF16;
            entry.packed = weight.format;
            break;
        case StoredAs::Int8Rows:
            entry.type = TensorType::BF16;
            break; // loaded as bf16
        case StoredAs::Blocks:
            entry.type = TensorType::F32;
            entry.packed = weight.format;
            break;
        case StoredAs::Absent:
            continue;
        }
        stored.emplace(name, entry);
    }
    return stored;
}

/// What a load of these headers would refuse, a line for the first tensors and a number.
std::vector<Sentence> doubtsOf(const OpenedModel& opened) {
    constexpr size_t kMostTold = 3;
    const auto expected = expectedOf(opened);
    std::vector<Sentence> lines;
    const auto would_fail = [&lines](const Error& why) {
        lines.push_back(said("a load would fail: %1", why.told()));
    };
    size_t count = 0;
    std::vector<ExpectedTensor> tensors = opened.tensors;
    if (opened.config.has_own_head) {
        tensors.push_back(headTensor(opened.config));
    }
    const auto names = checkStoredNames(opened.config, tensors, *opened.source);
    if (!names) {
        would_fail(names.error());
    }
    if (opened.config.has_own_head && !opened.stored.contains(std::string(kHeadName))) {
        would_fail(missingHead());
        ++count;
    }
    std::unordered_set<std::string> found;
    for (const TensorInfo& info : opened.source->tensors()) {
        if (isQuantHelper(info.name)) {
            continue;
        }
        const auto it = expected.find(storedTensorName(opened.config, info.name));
        if (it == expected.end() || it->second.is_unused) {
            continue;
        }
        found.insert(it->first);
        const Result<void> checked = checkOriginHeaders(*opened.source, info.name, it->second);
        if (!checked.has_value() && ++count <= kMostTold) {
            would_fail(checked.error());
        }
    }
    if (count > kMostTold) {
        lines.push_back(said("a load would fail at %1 more tensors", count - kMostTold));
    }
    const auto missing = std::find_if(
        opened.tensors.begin(), opened.tensors.end(), [&](const ExpectedTensor& tensor) {
            return tensor.is_required && !tensor.is_unused && !found.contains(tensor.name);
        });
    if (missing != opened.tensors.end()) {
        would_fail(missingTensor(missing->name, opened.config, opened.tensors, *opened.source));
    }
    return lines;
}

/// What config.json says of weights that are not there: packed, but for the modules of its list. An
/// entry of it is the end of a name or a pattern for its beginning, of which only plain names are
/// understood here.
StoredTensors describePromised(const OpenedModel& opened, const QuantizationHint& hint) {
    const FormatRow* const row = formatOfOption(hint.quant_type);
    const Format plain = row != nullptr && hasCodes(row->format) ? row->format : kFourBitFormat;
    const Format packed = codesFormat(weightFormat(plain), hint.double_quant);
    StoredTensors stored;
    for (const ExpectedTensor& tensor : opened.tensors) {
        const bool is_skipped = std::any_of(hint.skip_modules.begin(), hint.skip_modules.end(),
                                            [&tensor](const std::string& entry) {
                                                return tensor.module.starts_with(entry) ||
                                                       tensor.module.ends_with(entry) ||
                                                       tensor.name == entry + ".weight";
                                            });
        StoredTensor entry;
        entry.packed = isQuantizable(tensor) && !is_skipped ? packed : Format::AsStored;
        if (const int32_t own = formatRow(packed).block_size; own > 0) {
            entry.block_size = own;
        }
        stored.emplace(tensor.name, entry);
    }
    if (opened.config.has_own_head) {
        stored.emplace(kHeadName, StoredTensor{}); // left out of quantization unless it is tied
    }
    return stored;
}

std::string kindOf(Part part, TensorKind kind) {
    switch (part.role) {
    case PartRole::VisionTower:
        return "vision tower";
    case PartRole::AudioTower:
        return "audio tower";
    case PartRole::VisionProjector:
    case PartRole::AudioProjector:
        return "projector";
    case PartRole::Layer:
        return "decoder layer";
    case PartRole::PerLayerTable:
        return "per-layer embedding table";
    case PartRole::Embedding:
        return "token embedding";
    case PartRole::Head:
        return "head";
    case PartRole::Assistant:
        return "assistant";
    case PartRole::Experts:
        return "experts";
    case PartRole::PerLayerProjection:
    case PartRole::PerLayerNorm:
    case PartRole::FinalNorm:
    case PartRole::Other:
        break;
    }
    return kind == TensorKind::Vector ? "norm" : "linear";
}

} // namespace

Result<OpenedModel> OpenedModel::open(std::shared_ptr<const Checkpoint> checkpoint,
                                      bool is_text_only) {
    OpenedModel opened;
    ENGINE_ASSIGN(opened.config, readModelConfig(*checkpoint));
    if (is_text_only) {
        leaveOutTowers(opened.config);
    }
    opened.tensors = listTensors(opened.config);
    OpenOptions options;
    options.is_header_only_allowed = true;
    ENGINE_ASSIGN(std::unique_ptr<TensorSource> source, checkpoint->openTensors(options));
    opened.checkpoint = std::move(checkpoint);
    opened.source = std::move(source);
    ENGINE_TRY(decideHead(opened.config, *opened.source));
    if (!opened.source->tensors().empty()) {
        opened.stored = describeAll(opened);
        opened.doubts = doubtsOf(opened);
    } else if (opened.config.quantization && opened.config.quantization->load_in_4bit) {
        opened.stored = describePromised(opened, *opened.config.quantization);
        opened.config.warnings.push_back(
            said("config.json: its quantization_config tells which weights are packed in 4 bits, "
                 "as the weight files are not there to say so"));
    }
    return opened;
}

Result<void> OpenedModel::addAssistant(std::shared_ptr<const Checkpoint> from) {
    ENGINE_ASSIGN(AssistantConfig found, readAssistantConfig(*from, config));
    OpenOptions options;
    options.is_header_only_allowed = true;
    ENGINE_ASSIGN(std::shared_ptr<const TensorSource> added, from->openTensors(options));
    if (!added->isHeaderOnly()) {
        ENGINE_TRY(readTokenOrdering(*added, found));
    }
    config.warnings.insert(config.warnings.end(), found.warnings.begin(), found.warnings.end());
    config.assistant = std::move(found);
    tensors = listTensors(config);
    // Rows of the table in the order of its groups, so that a group is one piece of memory.
    source =
        joinSources(source, std::move(added), partName({PartRole::Assistant}), assistantTensorName,
                    {assistantTableName(), config.assistant->token_ordering});
    assistant = std::move(from);
    if (!stored.empty()) {
        stored = describeAll(*this);
        doubts = doubtsOf(*this);
    }
    return {};
}

Result<void> OpenedModel::addRandomAssistant() {
    const std::string text = publishedAssistantJson(config.variant);
    if (text.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     said("there is no published assistant for a model of variant \"%1\"; give an "
                          "assistant's folder, or load without drafts",
                          config.variant)};
    }
    ENGINE_ASSIGN(AssistantConfig made, parseAssistantConfig(text, "", config));
    if (made.num_centroids > 0) {
        // Any order does for random weights; one that is not the identity shows mistakes.
        auto order =
            std::make_shared<std::vector<int32_t>>(static_cast<size_t>(made.text.vocab_size));
        std::iota(order->rbegin(), order->rend(), 0);
        made.token_ordering = std::move(order);
    }
    config.assistant = std::move(made);
    tensors = listTensors(config);
    source = makeRandomSource(config, 1);
    stored = describeAll(*this);
    return {};
}

std::vector<ExpectedTensor> OpenedModel::adaptable() const {
    std::vector<ExpectedTensor> own = tensors;
    std::erase_if(
        own, [](const ExpectedTensor& tensor) { return tensor.part.role == PartRole::Assistant; });
    return own;
}

Result<OpenedModel> openShape(const std::string& shape, bool is_text_only) {
    static const std::map<std::string, std::string> kSizes = {
        {"e2b", "E2B"}, {"e4b", "E4B"}, {"12b", "12B"}, {"26b", "26B-A4B"}, {"31b", "31B"}};
    const auto size = kSizes.find(shape); // the window says a variant's own name
    const std::string config = publishedConfigJson(size == kSizes.end() ? shape : size->second);
    if (config.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     said("--shape %1: expected e2b, e4b, 12b, 26b or 31b", shape)};
    }
    return OpenedModel::open(std::make_shared<ShapeCheckpoint>(shape, config), is_text_only);
}

std::vector<Sentence> oddThings(const OpenedModel& opened) {
    std::vector<Sentence> odd = opened.config.warnings;
    for (Sentence& warning : opened.source->warnings()) {
        odd.push_back(std::move(warning));
    }
    odd.insert(odd.end(), opened.doubts.begin(), opened.doubts.end());
    return odd;
}

double longestSound(const ModelConfig& config) {
    constexpr double kSecondsPerToken = 0.04; // audio_ms_per_token; other values are refused
    return std::min(static_cast<double>(kMaxAudioSeconds),
                    kSecondsPerToken * static_cast<double>(config.processor.max_audio_tokens));
}

ModelSummary summarize(const OpenedModel& opened) {
    ModelSummary summary;
    const ModelConfig& config = opened.config;
    summary.folder = utf8Of(opened.checkpoint->where());
    summary.architecture = config.architecture;
    summary.variant = config.variant;
    summary.dtype = config.dtype;
    summary.max_context = config.text.max_positions;
    summary.vocabulary = config.text.vocab_size;
    summary.has_vision = config.vision.has_value();
    summary.has_audio = config.audio.has_value();
    summary.lacks_vision_by_wish = config.left_out.vision.has_value();
    summary.lacks_audio_by_wish = config.left_out.audio.has_value();
    summary.longest_sound_s = summary.has_audio ? longestSound(config) : 0.0;
    const SamplingOptions sampling = samplingFromDefaults(config.generation);
    summary.sampling.temperature = sampling.temperature;
    summary.sampling.top_k = sampling.top_k;
    summary.sampling.top_p = sampling.top_p;
    summary.sampling.min_p = sampling.min_p;
    summary.sampling.repetition_penalty = sampling.repetition_penalty;
    summary.image_tokens = summary.has_vision ? config.processor.image_tokens : 0;
    summary.is_header_only = opened.source->isHeaderOnly();
    summary.weights_unread = opened.source->whyUnread();
    summary.warnings = oddThings(opened);
    for (const LayerConfig& layer : config.text.layers) {
        summary.layers.push_back(
            {layer.type == LayerType::Full, layer.is_kv_shared, layer.kv_source});
    }
    summary.vision_layers = config.vision.has_value() ? config.vision->num_layers : 0;
    summary.audio_layers = config.audio.has_value() ? config.audio->num_layers : 0;
    summary.has_experts = config.text.has_moe;
    std::map<std::string, size_t> index;
    std::map<std::string, int> formats;
    std::vector<ExpectedTensor> tensors = opened.tensors;
    if (config.has_own_head) {
        tensors.push_back(headTensor(config));
    }
    for (const ExpectedTensor& tensor : tensors) {
        const auto stored = opened.stored.find(tensor.name);
        if (tensor.is_unused || (!opened.stored.empty() && stored == opened.stored.end())) {
            continue;
        }
        const auto [it, is_new] = index.emplace(tensor.module, summary.modules.size());
        if (is_new) {
            summary.modules.push_back({tensor.module, kindOf(tensor.part, tensor.kind), 0, 0});
        }
        const StoredTensor how = stored == opened.stored.end() ? StoredTensor{} : stored->second;
        const int64_t cols = tensor.shape.empty() ? 1 : tensor.shape.back();
        const int64_t rows = tensor.numElements() / std::max<int64_t>(1, cols);
        const uint64_t bytes = formatBytes(how.packed, how.type, rows, cols, how.block_size);
        ModuleSummary& module = summary.modules[it->second];
        module.parameters += tensor.numElements();
        module.bytes += bytes;
        summary.parameters += tensor.numElements();
        summary.bytes += bytes;
        if (how.packed != Format::AsStored) {
            const FormatRow& row = formatRow(how.packed);
            ++formats[std::string(row.option.empty() ? row.label : row.option)];
        }
    }
    summary.quantization = "none";
    int most = 0;
    for (const auto& [name, count] : formats) {
        if (count > most) {
            most = count;
            summary.quantization = name;
        }
    }
    if (most > 0 && config.quantization &&
        config.quantization->quant_method == kCompressedTensors) {
        summary.quantization = "w4a16"; // as its folders are called; in memory another name
    }
    return summary;
}

} // namespace engine
