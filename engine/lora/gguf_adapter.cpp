// SPDX-License-Identifier: Apache-2.0
// What the converter changes is undone here: names, the rows of llama's q and k, token tables (A
// stands transposed), experts (one matrix behind the other).
#include "engine/lora/gguf_adapter.h"

#include "engine/base/utf8.h"
#include "engine/families/gemma4/names.h"
#include "engine/families/gguf/names.h"
#include "engine/files/gguf_source.h"
#include "engine/quant/quantize.h"
#include "kernels/weight_formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace engine {

namespace {

constexpr std::string_view kHalfA = ".lora_a";
constexpr std::string_view kHalfB = ".lora_b";

Error adapterError(ErrorCode code,
                   std::string_view rule,
                   const GgufModel& file,
                   const Sentence& what,
                   const std::string& tensor = {}) {
    const std::string& name = file.header.fileName();
    Error error{code, said("%1: %2", name, what), {{"rule", std::string(rule)}, {"file", name}}};
    if (!tensor.empty()) {
        error.details.emplace_back("tensor", tensor);
    }
    return error;
}

/// Tensors in blocks as F32; the others as they are.
class ExpandedSource final : public TensorSource {
public:
    explicit ExpandedSource(std::unique_ptr<GgufSource> stored) : stored_(std::move(stored)) {
        for (TensorInfo info : stored_->tensors()) {
            if (const auto format = blockFormatOf(info.type)) {
                const kernels::WeightFormatRow& row = kernels::rowOf(*format);
                info.size_bytes = info.size_bytes / static_cast<uint64_t>(row.block_bytes) *
                                  static_cast<uint64_t>(row.block_values) * sizeof(float);
                info.type = TensorType::F32;
            }
            infos_.push_back(std::move(info));
        }
    }

    [[nodiscard]] const std::vector<TensorInfo>& tensors() const override { return infos_; }
    [[nodiscard]] const TensorInfo* find(std::string_view name) const override {
        const TensorInfo* stored = stored_->find(name);
        return stored == nullptr ? nullptr : &infos_[indexOf(stored)];
    }
    [[nodiscard]] const std::vector<std::string>& fileNames() const override {
        return stored_->fileNames();
    }
    [[nodiscard]] bool isHeaderOnly() const override { return stored_->isHeaderOnly(); }
    [[nodiscard]] std::optional<FileStamp> fileStamp(int file_index) const override {
        return stored_->fileStamp(file_index);
    }
    [[nodiscard]] std::vector<Sentence> warnings() const override { return stored_->warnings(); }

    [[nodiscard]] Result<void>
    read(const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out) const override {
        const TensorInfo* stored = stored_->find(tensor.name);
        const auto format = stored == nullptr ? std::nullopt : blockFormatOf(stored->type);
        if (stored == nullptr || !format) {
            return stored_->read(tensor, offset, out);
        }
        if (offset > tensor.size_bytes || out.size() > tensor.size_bytes - offset) {
            return Error{ErrorCode::Internal,
                         tensor.name + ": bytes outside the tensor were asked for"};
        }
        const kernels::WeightFormatRow& row = kernels::rowOf(*format);
        const auto block_bytes = static_cast<uint64_t>(row.block_bytes);
        const uint64_t value_bytes = static_cast<uint64_t>(row.block_values) * sizeof(float);
        const uint64_t first = offset / value_bytes;
        const uint64_t end = (offset + out.size() + value_bytes - 1) / value_bytes;
        std::vector<std::byte> blocks(static_cast<size_t>((end - first) * block_bytes));
        ENGINE_TRY(stored_->read(*stored, first * block_bytes, blocks));
        std::vector<float> values(static_cast<size_t>((end - first) * value_bytes / sizeof(float)));
        kernels::WeightView view;
        view.data = blocks.data();
        view.format = *format;
        view.rows = 1;
        view.cols = static_cast<int64_t>(values.size());
        expandRange(view, 0, view.cols, values.data());
        std::memcpy(out.data(),
                    std::as_bytes(std::span(values)).data() + (offset - first * value_bytes),
                    out.size());
        return {};
    }

private:
    [[nodiscard]] size_t indexOf(const TensorInfo* stored) const {
        return static_cast<size_t>(stored - stored_->tensors().data());
    }

    std::unique_ptr<GgufSource> stored_;
    std::vector<TensorInfo> infos_; ///< In the order of the stored ones.
};

class GgufAdapterReader {
public:
    GgufAdapterReader(std::shared_ptr<const GgufModel> file, const ModelConfig& model)
        : file_(std::move(file)), model_(model), is_llama_(model.family == "llama"),
          source_(std::make_unique<GgufSource>()) {}

    Result<GgufAdapter> run() {
        ENGINE_TRY(checkKind());
        ENGINE_TRY(readConfig());
        source_->addFiles(file_);
        has_down_ =
            std::any_of(file_->tensors.begin(), file_->tensors.end(), [](const TensorInfo& tensor) {
                return tensor.name.find(".ffn_down_exps.weight.lora_") != std::string::npos;
            });
        for (const TensorInfo& tensor : file_->tensors) {
            ENGINE_TRY(add(tensor));
        }
        source_->sort(); // as they were
        out_.source = std::make_unique<ExpandedSource>(std::move(source_));
        return std::move(out_);
    }

private:
    [[nodiscard]] Result<std::string> text(std::string_view key) const {
        ENGINE_ASSIGN(const auto found, file_->header.text(key));
        return std::string(found.value_or("").substr(0, 200));
    }

    Result<void> checkKind() {
        ENGINE_ASSIGN(const std::string type, text("general.type"));
        ENGINE_ASSIGN(const std::string kind, text("adapter.type"));
        ENGINE_ASSIGN(const std::string architecture, text("general.architecture"));
        if (type != "adapter") {
            return adapterError(ErrorCode::InvalidFile, "GgufAdapter", *file_,
                                architecture == "clip" || type == "mmproj"
                                    ? said("is a projector (mmproj), not an adapter; give it with "
                                           "its model")
                                    : said("is a model, not an adapter. Open it as the model"));
        }
        if (kind != "lora") {
            return adapterError(
                ErrorCode::Unsupported, "GgufAdapterKind", *file_,
                said("is an adapter of the kind %1; Belfry runs \"lora\"", inQuotes(kind)));
        }
        if (file_->header.has("adapter.alora.invocation_tokens")) {
            return adapterError(ErrorCode::Unsupported, "GgufAdapterKind", *file_,
                                said("is an activated LoRA (aLoRA), which acts behind certain "
                                     "words alone; Belfry runs plain LoRA"));
        }
        const std::string wanted = is_llama_ ? "llama" : "gemma4";
        if (architecture != wanted) {
            return adapterError(ErrorCode::InvalidFile, "GgufArchitecture", *file_,
                                said("was made for a model of the architecture %1, this one is "
                                     "%2; get the adapter that was made for this model",
                                     inQuotes(architecture), inQuotes(wanted)));
        }
        if (file_->is_data_absent) {
            const std::string& name = file_->header.fileName();
            return Error{ErrorCode::InvalidFile,
                         said("%1: the file was cut short; download it again", name),
                         {{"rule", "GgufDataTruncated"}, {"file", name}}};
        }
        return {};
    }

    Result<void> readConfig() {
        constexpr double kMostAlpha = 1e9;
        AdapterConfig& config = out_.config;
        config.is_told_by_file = true;
        ENGINE_ASSIGN(const auto alpha, file_->header.number("adapter.lora.alpha"));
        config.alpha = alpha.value_or(0.0); // as llama.cpp reads a missing key
        if (std::abs(config.alpha) > kMostAlpha) {
            return adapterError(ErrorCode::InvalidFile, "GgufKey", *file_,
                                said("adapter.lora.alpha is %1, beyond 1e9 in size; the file is "
                                     "damaged",
                                     config.alpha));
        }
        ENGINE_ASSIGN(config.base_model, text("general.base_model.0.name"));
        config.peft_version = "0.19.1"; // whose order the experts are given below
        config.notes.push_back(
            said("%1 is a GGUF file, whose converter keeps plain LoRA alone: of an adapter with "
                 "rsLoRA or an alpha_pattern only the PEFT folder has the right strengths",
                 file_->header.fileName()));
        ENGINE_ASSIGN(const std::string prefix, text("adapter.lora.prompt_prefix"));
        if (!prefix.empty()) {
            config.notes.push_back(
                said("the adapter was made for prompts that begin with %1", inQuotes(prefix)));
        }
        return {};
    }

    [[nodiscard]] Error unknown(const TensorInfo& tensor) const {
        return adapterError(ErrorCode::InvalidFile, "GgufTensorName", *file_,
                            said("the tensor %1 belongs to none of a model's; expected the name of "
                                 "one with .lora_a or .lora_b behind it. Convert the adapter "
                                 "again, or give its PEFT folder",
                                 tensor.name),
                            tensor.name);
    }

    Result<void> add(const TensorInfo& tensor) {
        const bool is_a = tensor.name.ends_with(kHalfA);
        const bool is_norm = tensor.name.ends_with("_norm.weight"); // mergekit's, saved whole
        if (!is_a && !is_norm && !tensor.name.ends_with(kHalfB)) {
            return unknown(tensor);
        }
        const std::string base =
            tensor.name.substr(0, tensor.name.size() - (is_norm ? 0 : kHalfA.size()));
        auto published = gguf::publishedName(base, is_llama_);
        if (!published) {
            return unknown(tensor);
        }
        std::string& module = *published;
        if (is_norm) {
            out_.keys.push_back(std::move(module));
            source_->add(tensor);
            return {};
        }
        for (const std::string_view parameter : expertParameters()) {
            if (module.ends_with(parameter)) {
                return addExperts(tensor, module, is_a);
            }
        }
        if (module.ends_with(".weight")) {
            module.resize(module.size() - std::string_view(".weight").size());
        }
        if (base.ends_with("token_embd.weight")) { // of the layers' inputs as well
            out_.keys.push_back(module + (is_a ? ".lora_embedding_A" : ".lora_embedding_B"));
            return is_a ? addTurned(tensor) : added(tensor);
        }
        out_.keys.push_back(module + (is_a ? ".lora_A.weight" : ".lora_B.weight"));
        const bool is_paired =
            is_llama_ && !is_a &&
            (base.ends_with(".attn_q.weight") || base.ends_with(".attn_k.weight"));
        return is_paired ? addPaired(tensor) : added(tensor);
    }

    Result<void> added(const TensorInfo& tensor) {
        source_->add(tensor);
        return {};
    }

    /// Rows of lora_b stand as those of its base do. Shapes are compared with the model's later.
    Result<void> addPaired(const TensorInfo& tensor) {
        const int64_t head_dim = model_.text.layers.empty() ? 0 : model_.text.layers[0].head_dim;
        if (tensor.shape.size() != 2 || head_dim < 2 || tensor.shape[0] % head_dim != 0) {
            return added(tensor);
        }
        Rearranged order;
        order.unit_bytes = tensor.size_bytes / static_cast<uint64_t>(tensor.shape[0]);
        order.pieces = {{tensor.file_index, tensor.file_offset,
                         order.unit_bytes * static_cast<uint64_t>(head_dim)}};
        order.from = [per_head = static_cast<uint64_t>(head_dim)](uint64_t row) {
            return gguf::pairedRow(row, per_head);
        };
        source_->add(tensor, std::move(order));
        return {};
    }

    /// [in, rank] as [rank, in].
    Result<void> addTurned(const TensorInfo& tensor) {
        if (tensor.shape.size() != 2) {
            return added(tensor);
        }
        const auto in = static_cast<uint64_t>(tensor.shape[0]);
        const auto rank = static_cast<uint64_t>(tensor.shape[1]);
        return addElements(tensor, {tensor.shape[1], tensor.shape[0]},
                           [in, rank](uint64_t at) { return at % in * rank + at / in; });
    }

    /// [experts, rank, in] and [experts, out, rank] as [experts * rank, in] and [out, rank *
    /// experts], the expert's number fastest. PEFT wraps the second parameter around the first.
    Result<void> addExperts(const TensorInfo& tensor, const std::string& parameter, bool is_a) {
        const bool is_inner = has_down_ && parameter.ends_with(expertParameters()[0]);
        out_.keys.push_back(parameter.substr(0, parameter.rfind('.')) +
                            (is_inner ? ".base_layer" : "") +
                            (is_a ? ".lora_A.weight" : ".lora_B.weight"));
        // By their ends: the names of all layers.
        const std::string target = parameter.substr(parameter.rfind("experts."));
        auto& targets = out_.config.target_parameters;
        if (std::find(targets.begin(), targets.end(), target) == targets.end()) {
            targets.push_back(target);
        }
        if (tensor.shape.size() != 3) {
            return added(tensor);
        }
        const auto experts = static_cast<uint64_t>(tensor.shape[0]);
        const auto rows = static_cast<uint64_t>(tensor.shape[1]);
        const auto cols = static_cast<uint64_t>(tensor.shape[2]);
        if (is_a) {
            TensorInfo info = tensor;
            info.shape = {tensor.shape[0] * tensor.shape[1], tensor.shape[2]};
            return added(info);
        }
        return addElements(tensor, {tensor.shape[1], tensor.shape[2] * tensor.shape[0]},
                           [experts, rows, cols](uint64_t at) {
                               const uint64_t row = at / experts / cols;
                               return (at % experts * rows + row) * cols + at / experts % cols;
                           });
    }

    /// Elements that change places within the whole tensor.
    Result<void> addElements(const TensorInfo& tensor,
                             std::vector<int64_t> shape,
                             std::function<uint64_t(uint64_t)> from) {
        const size_t size = tensorTypeSize(tensor.type);
        if (size == 0) {
            return adapterError(ErrorCode::Unsupported, "GgufTensorType", *file_,
                                said("the tensor %1 is stored as %2; F32, F16 or BF16 are read for "
                                     "it: convert the adapter with --outtype f16",
                                     tensor.name, tensorTypeName(tensor.type)),
                                tensor.name);
        }
        TensorInfo info = tensor;
        info.shape = std::move(shape);
        Rearranged order;
        order.unit_bytes = size;
        order.pieces = {{tensor.file_index, tensor.file_offset, tensor.size_bytes}};
        order.from = std::move(from);
        source_->add(std::move(info), std::move(order));
        return {};
    }

    std::shared_ptr<const GgufModel> file_;
    const ModelConfig& model_;
    bool is_llama_;
    bool has_down_ = false; ///< Factors of the experts' second parameter.
    std::unique_ptr<GgufSource> source_;
    GgufAdapter out_;
};

} // namespace

Result<GgufAdapter> openGgufAdapter(const std::filesystem::path& file, const ModelConfig& model) {
    ENGINE_ASSIGN(auto opened, openGgufModel(file));
    return GgufAdapterReader(std::move(opened), model).run();
}

} // namespace engine
