// SPDX-License-Identifier: Apache-2.0
// A PEFT adapter folder, or a GGUF file with an adapter, checked against one model: which base
// tensor each pair of low-rank factors belongs to, with rank, alpha and scaling, plus replaced
// rows, replaced tensors and trained biases. Values stay in the file and are read when the adapter
// is put on a device (adapter_runtime.h), so a loaded adapter costs no second copy in host memory.
#pragma once

#include "engine/base/result.h"
#include "engine/families/stored_templates.h"
#include "engine/families/tensor_list.h"
#include "engine/files/checkpoint.h"
#include "engine/files/tensor_source.h"
#include "engine/lora/adapter_config.h"
#include "engine/lora/coverage.h"
#include "engine/model/model_config.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Canonical name of the tied output head: linear updates on it, and rows replaced in it.
inline constexpr std::string_view kHeadTensor = kHeadName;

struct AdapterOptions {
    bool allow_changed_base = false; ///< See AdapterConfigOptions.
    /// Accept a file of which fewer than half of the tensors find a module.
    bool allow_foreign = false;
    /// The base checkpoint, to recognise saved embeddings that equal the base's own; may be null
    /// (then they count as replacements).
    const TensorSource* base = nullptr;
    /// The model's texts, to compare the tokenizer and the chat template in the adapter's folder
    /// with; may be null (then nothing is said of these).
    const Checkpoint* model = nullptr;
    std::stop_token stop; ///< Looked at per tensor.
};

/// One tensor of the adapter file, checked; `present` is false when the adapter has none.
struct AdapterTensor {
    bool present = false;
    std::string key;
    TensorType type = TensorType::Other; ///< F32, F16 or BF16.
    std::vector<int64_t> shape;
    uint64_t size_bytes = 0;
    int source_index = -1; ///< Into TensorSource::tensors().
};

/// scaling * B A on one 2-D weight [out, in], on an embedding [in = vocabulary, out = dim], or on
/// each of `experts` matrices [out, in].
struct LowRankUpdate {
    std::string tensor; ///< Canonical base tensor, or kHeadTensor.
    TensorKind kind = TensorKind::Linear;
    Tower tower = Tower::Language;
    int layer = -1;
    int64_t in = 0, out = 0, rank = 0;
    int64_t experts = 0; ///< 0 = one matrix.
    double alpha = 0.0, scaling = 0.0;
    /// Experts as PEFT before 0.19.1 stored them: it read [experts, out, in] as [experts, in, out],
    /// so the file's lora_B plays the part of A and its lora_A that of B. `a` and `b` are by part,
    /// and lie in the file as [in, rank * experts] and [experts * rank, out].
    bool is_stored_swapped = false;
    AdapterTensor a;         ///< [rank, in]; embedding [rank, in]; experts [experts * rank, in]
    AdapterTensor b;         ///< [out, rank]; experts [out, rank * experts], expert index fastest
    AdapterTensor b_bias;    ///< [out]
    AdapterTensor magnitude; ///< [out]: DoRA
    [[nodiscard]] bool isDora() const { return magnitude.present; }
};

/// Rows of an embedding that are replaced (trainable_token_indices). For embed_tokens the tied
/// head uses the new rows as well.
struct RowReplacement {
    std::string tensor;
    std::vector<int64_t> ids; ///< Row k of `rows` replaces row ids[k].
    int64_t dim = 0;
    AdapterTensor rows; ///< [ids, dim]
    bool replaces_head = false;
};

/// A dense tensor that is replaced whole (modules_to_save, trained biases).
/// Where a replaced small tensor lies.
enum class VectorPlace : uint8_t {
    Device = 1, ///< fp32 on the compute device of its base tensor: norm weights.
    Host,       ///< fp32 in host memory: values that the host reads, the position table.
    Tables,     ///< In the model's tables, whose room is planned with the base.
};

struct TensorReplacement {
    std::string tensor;
    TensorKind kind = TensorKind::Vector;
    std::vector<int64_t> shape;
    AdapterTensor value;
    VectorPlace place = VectorPlace::Device; ///< Vectors and clip limits.
    bool replaces_head = false;              ///< A token embedding whose tied head changes with it.
};

/// Bytes that one base tensor's part of an adapter takes, exactly as adapter_runtime.h allocates
/// them: on the compute device of the base tensor, or in host memory.
struct TensorFootprint {
    std::string tensor; ///< Canonical base tensor, or kHeadTensor.
    uint64_t bytes = 0;
    bool is_on_host = false; ///< Embedding parts: always in host memory (the cpu device).
    /// Part of `bytes`: A and B and what belongs to them, which can travel with a base that does.
    uint64_t update_bytes = 0;
};

struct AdapterFootprint {
    std::vector<TensorFootprint> tensors; ///< One row per tensor; device memory part "adapter".
    uint64_t total_bytes = 0;             ///< Sum of the rows.
    int64_t max_rank = 0;
    /// Workspace on every device that holds any of the rows (on_host rows: the cpu). Of several
    /// adapters the largest counts once per device.
    uint64_t scratch_bytes = 0;
};

struct AdapterProbe {
    AdapterConfig config;
    AdapterFootprint footprint;
    CoverageReport coverage; ///< errors > 0: loadAdapter would refuse with the first one.
};

/// Immutable after loading; may be shared between sets.
class Adapter {
public:
    [[nodiscard]] const std::string& name() const { return name_; } ///< The folder's or file's.
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    [[nodiscard]] const AdapterConfig& config() const { return config_; }
    [[nodiscard]] const std::vector<LowRankUpdate>& updates() const { return updates_; }
    [[nodiscard]] const std::vector<RowReplacement>& rowReplacements() const { return rows_; }
    [[nodiscard]] const std::vector<TensorReplacement>& replacements() const { return replaced_; }
    [[nodiscard]] const CoverageReport& coverage() const { return coverage_; }
    [[nodiscard]] const AdapterFootprint& footprint() const { return footprint_; }
    /// The template in its folder, where that is not the model's.
    [[nodiscard]] const std::optional<ChatTemplateText>& chatTemplate() const {
        return chat_template_;
    }

    /// All values of one tensor as fp32 (exact). `out` has as many elements as the tensor.
    Result<void> readFloats(const AdapterTensor& tensor, std::span<float> out) const;
    /// Bytes [offset, offset + out.size()) as in the file.
    Result<void>
    readBytes(const AdapterTensor& tensor, uint64_t offset, std::span<std::byte> out) const;

private:
    friend struct AdapterBuilder;
    Adapter() = default;
    std::string name_;
    std::filesystem::path folder_;
    AdapterConfig config_;
    std::vector<LowRankUpdate> updates_;
    std::vector<RowReplacement> rows_;
    std::vector<TensorReplacement> replaced_;
    CoverageReport coverage_;
    AdapterFootprint footprint_;
    std::optional<ChatTemplateText> chat_template_;
    std::shared_ptr<const TensorSource> source_;
};

/// Reads config and headers of an adapter folder or GGUF file, checks every key, rank and shape
/// against the model and every value for being finite. Nothing changes elsewhere. Errors:
/// InvalidFile, Unsupported (both name file, tensor, expected, found), Cancelled.
Result<std::shared_ptr<const Adapter>> loadAdapter(const std::filesystem::path& folder,
                                                   const ModelConfig& model,
                                                   const std::vector<ExpectedTensor>& tensors,
                                                   const AdapterOptions& options = {});

/// The same from the headers alone, for the planner and for inspect. Keys that would refuse the
/// adapter are reported in `coverage` as errors; a config that cannot be run is an Error.
Result<AdapterProbe> probeAdapter(const std::filesystem::path& folder,
                                  const ModelConfig& model,
                                  const std::vector<ExpectedTensor>& tensors,
                                  const AdapterOptions& options = {});

} // namespace engine
