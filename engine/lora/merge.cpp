// SPDX-License-Identifier: Apache-2.0
// The merge flow: check what cannot be merged before anything is written, stream all tensors
// through the safetensors writer, copy the other files, judge the result, write the report.
#include "engine/lora/merge.h"

#include "engine/base/digest.h"
#include "engine/base/file_reader.h"
#include "engine/base/file_writer.h"
#include "engine/base/folder_list.h"
#include "engine/base/json/tree.h"
#include "engine/base/paths.h"
#include "engine/base/sentence_english.h"
#include "engine/families/config.h"
#include "engine/families/gemma4/names.h"
#include "engine/families/gemma4/stored_head.h"
#include "engine/files/model_files.h"
#include "engine/files/safetensors.h"
#include "engine/files/safetensors_writer.h"
#include "engine/lora/architecture.h"
#include "engine/lora/merged_rows.h"
#include "engine/lora/output_folder.h"
#include "engine/lora/tensor_values.h"
#include "engine/quant/quant_state.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

namespace engine {

namespace fs = std::filesystem;

namespace {

constexpr double kKeptLow = 0.95;
constexpr double kKeptHigh = 1.05;
constexpr std::string_view kEmbedding = kTokenTableName;
constexpr const char* kReportFile = "merge_report.json";

/// A tree that was read, to be changed and written.
nlohmann::ordered_json writable(const Json& value) { // NOLINT(misc-no-recursion): kDeepestJsonTree
    nlohmann::ordered_json out;
    switch (value.kind) {
    case Json::Kind::Null:
        break;
    case Json::Kind::Bool:
        out = value.boolean;
        break;
    case Json::Kind::Number:
        if (const auto integer = value.integer()) {
            out = *integer;
        } else {
            out = value.number().value_or(0.0);
        }
        break;
    case Json::Kind::String:
        out = value.text;
        break;
    case Json::Kind::Array:
        out = nlohmann::ordered_json::array();
        for (const Json& item : value.items) {
            out.push_back(writable(item));
        }
        break;
    case Json::Kind::Object:
        out = nlohmann::ordered_json::object();
        for (const JsonMember& member : value.members) {
            out[member.key] = writable(member.value);
        }
        break;
    }
    return out;
}

Error requestError(Sentence message) {
    return Error{ErrorCode::InvalidRequest, std::move(message)};
}

bool isWeightFile(const std::string& name) {
    for (const char* end : {".safetensors", ".safetensors.index.json", ".bin", ".bin.index.json",
                            ".pt", ".pth", ".gguf", ".h5", ".msgpack", ".onnx", ".npz", ".ckpt"}) {
        if (name.ends_with(end)) {
            return true;
        }
    }
    return false;
}

class Merger {
public:
    explicit Merger(const MergeRequest& request) : request_(request) {}

    Result<MergeReport> run() {
        ENGINE_TRY(openBase());
        ENGINE_TRY(planParts());
        ENGINE_ASSIGN(output_, OutputFolder::open(request_.out_folder));
        ENGINE_TRY(writeWeights());
        ENGINE_TRY(copyOtherFiles());
        ENGINE_TRY(judge());
        ENGINE_TRY(digests());
        ENGINE_TRY(writeReport());
        ENGINE_TRY(output_->keep());
        if (request_.progress) {
            request_.progress(1.0, kReportFile);
        }
        return std::move(report_);
    }

private:
    // ---- the base -----------------------------------------------------------------------------

    Result<void> openBase() {
        if (request_.adapters.empty()) {
            return requestError(said("nothing to merge: no adapter was given"));
        }
        for (const MergeInput& input : request_.adapters) {
            if (!(input.strength >= 0.0 && input.strength <= 2.0)) {
                return requestError(said("adapter strength %1 is outside 0 to 2", input.strength));
            }
        }
        std::error_code error;
        if (fs::equivalent(request_.model_folder, request_.out_folder, error)) {
            return requestError(
                said("the output folder is the model folder; models are never changed"));
        }
        const std::shared_ptr<const Checkpoint> checkpoint =
            folderCheckpoint(request_.model_folder);
        ENGINE_ASSIGN(config_, readModelConfig(*checkpoint));
        ENGINE_ASSIGN(base_, checkpoint->openTensors({}));
        if (config_.quantization) {
            return packedError(said("config.json has a quantization_config"));
        }
        ENGINE_TRY(decideHead(config_, *base_, request_.stop));
        for (const TensorInfo& info : base_->tensors()) {
            if (isQuantHelper(info.name)) {
                return packedError(said("%1 belongs to a packed weight", info.name));
            }
            stored_.emplace(storedTensorName(config_, info.name), &info);
        }
        return {};
    }

    [[nodiscard]] Error packedError(const Sentence& why) const {
        return requestError(said("%1: %2; merging into packed weights rounds the adapter away. "
                                 "Merge into the 16-bit model and quantize the result",
                                 utf8Of(request_.model_folder.filename()), why));
    }

    // ---- what changes -------------------------------------------------------------------------

    Result<void> planParts() {
        for (const MergeInput& input : request_.adapters) {
            if (input.strength == 0.0) {
                report_.notes.push_back(input.adapter->name() +
                                        " has strength 0 and changes nothing");
                continue;
            }
            ENGINE_TRY(planAdapter(*input.adapter, input.strength));
            for (const KeyReport& row : input.adapter->coverage().unmatched) {
                if (row.key_class == KeyClass::Inert) {
                    report_.notes.push_back(input.adapter->name() + ": " + row.key + ": " +
                                            inEnglish(row.reason.sentence));
                }
            }
        }
        decideTying();
        ENGINE_TRY(checkReplacedTwice());
        for (const auto& [tensor, plan] : plans_) {
            const TensorInfo* info = infoOf(tensor);
            if (info == nullptr) {
                return Error{ErrorCode::InvalidFile,
                             said("%1: the adapter changes it, the model folder lacks it", tensor),
                             {{"tensor", tensor}}};
            }
            if (!isFloatType(info->type)) {
                return packedError(said("%1 is stored as %2", tensor, tensorTypeName(info->type)));
            }
        }
        return {};
    }

    /// The stored tensor; of a head that is not stored, the table it shares.
    [[nodiscard]] const TensorInfo* infoOf(const std::string& tensor) const {
        auto it = stored_.find(tensor);
        if (it == stored_.end() && tensor == kHeadTensor) {
            it = stored_.find(std::string(kEmbedding));
        }
        return it == stored_.end() ? nullptr : it->second;
    }

    /// One table stays one where all adapters change it and the head in the same way. Otherwise
    /// the merged folder holds both.
    void decideTying() {
        const bool is_tied = config_.tie_word_embeddings && !config_.has_own_head;
        if (!is_tied) {
            return;
        }
        if (!parts_head_) {
            const auto head = plans_.find(std::string(kHeadTensor));
            for (const MergePart& part :
                 head == plans_.end() ? std::vector<MergePart>() : head->second.parts) {
                if (part.update != nullptr) {
                    report_.notes.push_back(part.adapter->name() +
                                            ": the head's update is the embedding's own, merged "
                                            "once");
                }
            }
            plans_.erase(std::string(kHeadTensor));
            return;
        }
        unties_ = true;
        report_.notes.push_back(
            "the adapter changes the output head and the token embedding in different ways: the "
            "merged folder holds " +
            std::string(kHeadTensor) +
            " as a tensor of its own, and its config.json says \"tie_word_embeddings\": false");
    }

    void add(const std::string& tensor, const MergePart& part) {
        MergePlan& plan = plans_[tensor];
        plan.tensor = tensor;
        plan.parts.push_back(part);
    }

    Result<void> planAdapter(const Adapter& adapter, double strength) {
        const std::string head(kHeadTensor);
        const bool is_tied_twin = hasTiedTwin(adapter);
        for (const LowRankUpdate& update : adapter.updates()) {
            parts_head_ = parts_head_ ||
                          ((update.tensor == head || update.tensor == kEmbedding) && !is_tied_twin);
            add(update.tensor, {&adapter, strength, &update, nullptr, nullptr, nullptr, 0.0});
            if (update.b_bias.present) {
                if (tensorUseOfName(update.tensor) != TensorUse::AudioOutput) {
                    return requestError(said("%1: %2: the layer has no bias that could hold the "
                                             "bias of lora_B; use the adapter unmerged",
                                             adapter.name(), update.b_bias.key));
                }
                add(moduleOfTensor(update.tensor) + ".bias",
                    {&adapter, strength, nullptr, nullptr, nullptr, &update.b_bias,
                     update.scaling});
            }
        }
        const auto addBoth = [&](const std::string& tensor, bool replaces_head,
                                 const MergePart& part) {
            add(tensor, part);
            if (replaces_head && tensor != head) {
                add(head, part);
            }
            parts_head_ = parts_head_ || tensor == head || (tensor == kEmbedding && !replaces_head);
        };
        for (const RowReplacement& rows : adapter.rowReplacements()) {
            addBoth(rows.tensor, rows.replaces_head,
                    {&adapter, strength, nullptr, &rows, nullptr, nullptr, 0.0});
        }
        for (const TensorReplacement& replacement : adapter.replacements()) {
            addBoth(replacement.tensor, replacement.replaces_head,
                    {&adapter, strength, nullptr, nullptr, &replacement, nullptr, 0.0});
        }
        return {};
    }

    /// True when the adapter updates embedding and head by the same matrix (ensure_weight_tying).
    static bool hasTiedTwin(const Adapter& adapter) {
        const LowRankUpdate* table = nullptr;
        const LowRankUpdate* head = nullptr;
        for (const LowRankUpdate& update : adapter.updates()) {
            table = update.tensor == kEmbedding ? &update : table;
            head = update.tensor == kHeadTensor ? &update : head;
        }
        if (table == nullptr || head == nullptr || table->isDora() || head->isDora() ||
            table->rank != head->rank || table->scaling != head->scaling || head->b_bias.present) {
            return false;
        }
        // head: B_h A_h [vocabulary, dim]; table: (B_t A_t)^T = A_t^T B_t^T.
        const auto read = [&](const AdapterTensor& tensor, std::vector<float>& out) {
            out.resize(tensor.size_bytes / tensorTypeSize(tensor.type));
            return adapter.readFloats(tensor, out).has_value();
        };
        std::vector<float> table_a;
        std::vector<float> table_b;
        std::vector<float> head_a;
        std::vector<float> head_b;
        if (!read(table->a, table_a) || !read(table->b, table_b) || !read(head->a, head_a) ||
            !read(head->b, head_b)) {
            return false;
        }
        const int64_t rank = table->rank;
        for (int64_t k = 0; k < rank; ++k) {
            for (int64_t v = 0; v < table->in; ++v) {
                if (table_a[static_cast<size_t>(k * table->in + v)] !=
                    head_b[static_cast<size_t>(v * rank + k)]) {
                    return false;
                }
            }
            for (int64_t d = 0; d < table->out; ++d) {
                if (table_b[static_cast<size_t>(d * rank + k)] !=
                    head_a[static_cast<size_t>(k * table->out + d)]) {
                    return false;
                }
            }
        }
        return true;
    }

    Result<void> checkReplacedTwice() const {
        for (const auto& [tensor, plan] : plans_) {
            const Adapter* owner = nullptr;
            std::set<int64_t> ids;
            for (const MergePart& part : plan.parts) {
                bool is_twice = false;
                if (part.replacement != nullptr) {
                    is_twice = owner != nullptr;
                    owner = part.adapter;
                }
                if (part.rows != nullptr) {
                    for (const int64_t id : part.rows->ids) {
                        is_twice = !ids.insert(id).second || is_twice;
                    }
                }
                if (is_twice) {
                    return requestError(
                        said("two of the adapters replace %1; merge one of them", tensor));
                }
            }
        }
        return {};
    }

    // ---- writing ------------------------------------------------------------------------------

    Result<void> writeWeights() {
        std::vector<TensorToWrite> list;
        uint64_t total_bytes = 0;
        const auto add = [&](std::string name, const std::string& canonical,
                             const TensorInfo& info) {
            total_bytes += info.size_bytes;
            TensorToWrite tensor;
            tensor.name = std::move(name);
            tensor.type = info.type;
            tensor.shape = info.shape;
            if (const auto plan = plans_.find(canonical); plan != plans_.end()) {
                tensor.fill = mergedFill(plan->second, info);
            } else {
                ++report_.copied_tensors;
                tensor.fill = [this, &info](uint64_t offset, std::span<std::byte> out) {
                    current_ = info.name;
                    return base_->read(info, offset, out);
                };
            }
            list.push_back(std::move(tensor));
        };
        const bool is_tied = config_.tie_word_embeddings && !config_.has_own_head;
        for (const TensorInfo& info : base_->tensors()) {
            const std::string canonical = storedTensorName(config_, info.name);
            if (canonical == kHeadTensor && is_tied && !unties_ &&
                plans_.contains(std::string(kEmbedding))) {
                report_.notes.push_back(info.name + ": the stored copy of the tied head is left "
                                                    "out, the changed embedding stands for it");
                continue;
            }
            const bool is_renamed =
                unties_ && canonical == kEmbedding && config_.is_table_stored_as_head;
            add(is_renamed ? tableFileName(config_) : info.name, canonical, info);
        }
        if (unties_ && !stored_.contains(std::string(kHeadTensor))) {
            const TensorInfo& table = *infoOf(std::string(kHeadTensor));
            add(headFileName(table.name), std::string(kHeadTensor), table);
        }
        WriteOptions options;
        options.stop = request_.stop;
        options.on_bytes_written = [&](uint64_t bytes) {
            if (request_.progress && total_bytes > 0) {
                const double share = static_cast<double>(bytes) / static_cast<double>(total_bytes);
                request_.progress(std::min(0.9 * share, 0.9), current_);
            }
        };
        ENGINE_ASSIGN(const std::vector<std::string> names,
                      writeSafetensorsFolder(output_->work(), list, request_.shard_bytes, options));
        for (const std::string& name : names) {
            output_->add(name);
        }
        return {};
    }

    /// Opens the tensor at its first piece and closes it at its last, so that one is open at a
    /// time.
    TensorFill mergedFill(const MergePlan& plan, const TensorInfo& info) {
        return [this, &plan, &info](uint64_t offset, std::span<std::byte> out) -> Result<void> {
            current_ = info.name;
            if (offset == 0) {
                ENGINE_ASSIGN(open_,
                              MergedTensorRows::open(plan, *base_, info, request_.measure_quantized,
                                                     request_.stop));
            }
            ENGINE_TRY(open_->fill(offset, out));
            if (open_->isComplete()) {
                if (open_->hasUpdates()) {
                    merged_[plan.tensor] = open_->result();
                } else {
                    report_.replaced.push_back(plan.tensor);
                }
                open_.reset();
            }
            return {};
        };
    }

    Result<void> copyOtherFiles() {
        std::error_code error;
        const std::vector<fs::path> entries = listFolder(request_.model_folder, SIZE_MAX, error);
        if (error) {
            return Error{
                ErrorCode::InvalidFile,
                said("%1: cannot be listed: %2", utf8Of(request_.model_folder), error.message())};
        }
        for (const fs::path& entry : entries) {
            const std::string name = utf8Of(entry);
            if (name.starts_with(".") || isWeightFile(name) || name == kReportFile ||
                fs::is_directory(request_.model_folder / entry, error)) {
                continue;
            }
            ENGINE_ASSIGN(const fs::path source, resolveModelFile(request_.model_folder, name));
            output_->add(name);
            if (unties_ && name == "config.json") {
                ENGINE_TRY(writeUntiedConfig(name));
                continue;
            }
            fs::copy_file(source, output_->work() / pathFromUtf8(name), error);
            if (error) {
                return Error{ErrorCode::InvalidFile,
                             said("%1: cannot be copied: %2", name, error.message()),
                             {{"file", name}}};
            }
        }
        return {};
    }

    /// config.json of a folder that holds table and head.
    Result<void> writeUntiedConfig(const std::string& name) {
        constexpr uint64_t kMaxBytes = uint64_t{16} << 20; // it was read with a tighter limit
        ENGINE_ASSIGN(const auto text, readModelText(request_.model_folder, name, kMaxBytes));
        const Result<Json> tree = parseJson(text.value_or(""), name);
        if (!tree || !tree->is(Json::Kind::Object)) {
            return Error{ErrorCode::InvalidFile,
                         said("%1: changed while the model was merged", name)};
        }
        nlohmann::ordered_json config = writable(*tree);
        config["tie_word_embeddings"] = false;
        if (const auto it = config.find("text_config"); it != config.end() && it->is_object()) {
            (*it)["tie_word_embeddings"] = false;
        }
        const std::string out =
            config.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
        ENGINE_ASSIGN(const auto file,
                      FileWriter::create(output_->work() / pathFromUtf8(name), false));
        ENGINE_TRY(file->write(std::as_bytes(std::span(out))));
        return file->commit();
    }

    // ---- judging ------------------------------------------------------------------------------

    Result<void> judge() {
        std::vector<double> quantized_kept;
        std::vector<double> direct_kept;
        std::vector<ExpectedTensor> tensors = listTensors(config_);
        tensors.push_back(headTensor(config_));
        for (const ExpectedTensor& expected : tensors) {
            const auto it = merged_.find(expected.name);
            if (it == merged_.end()) {
                continue;
            }
            const MergedTensor& tensor = it->second;
            report_.tensors.push_back(tensor);
            if (tensor.has_quantized) {
                quantized_kept.push_back(tensor.quantized_kept);
                direct_kept.push_back(tensor.quantized_direct_kept);
            }
            if (!(tensor.kept >= kKeptLow && tensor.kept <= kKeptHigh)) {
                return Error{
                    ErrorCode::InvalidFile,
                    said("%1: merging keeps %2 of the update (%3 to %4 wanted): the update is too "
                         "small for the type of the weights; use the adapter unmerged",
                         tensor.tensor, fixed(tensor.kept, 3), fixed(kKeptLow, 2),
                         fixed(kKeptHigh, 2)),
                    {{"tensor", tensor.tensor}}};
            }
        }
        report_.median_quantized_kept = median(quantized_kept);
        report_.median_quantized_direct_kept = median(direct_kept);
        std::sort(report_.replaced.begin(), report_.replaced.end());
        return {};
    }

    static std::string fixed(double value, int digits) {
        char text[32];
        std::snprintf(text, sizeof text, "%.*f", digits, value);
        return text;
    }

    static double median(std::vector<double> values) {
        if (values.empty()) {
            return 0.0;
        }
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    }

    /// The caller resolved links; the reader itself follows none.
    Result<std::string> sha256Of(const fs::path& file) {
        ENGINE_ASSIGN(const auto reader, FileReader::open(file));
        Digest sha = Digest::sha256();
        std::vector<std::byte> piece(size_t{1} << 20);
        for (uint64_t at = 0; at < reader->sizeBytes(); at += piece.size()) {
            if (request_.stop.stop_requested()) {
                return Error{ErrorCode::Cancelled, said("merging was cancelled")};
            }
            const auto bytes = std::span(piece).first(
                static_cast<size_t>(std::min<uint64_t>(piece.size(), reader->sizeBytes() - at)));
            ENGINE_TRY(reader->read(at, bytes));
            sha.add(bytes);
        }
        return sha.finish();
    }

    Result<void> digest(const fs::path& folder,
                        const std::string& name,
                        const std::string& shown,
                        std::vector<FileDigest>& out) {
        if (request_.progress) {
            request_.progress(0.9, shown);
        }
        ENGINE_ASSIGN(const fs::path file, resolveModelFile(folder, name));
        ENGINE_ASSIGN(std::string sha, sha256Of(file));
        std::error_code error;
        out.push_back({shown, std::move(sha), fs::file_size(file, error)});
        return {};
    }

    Result<void> digests() {
        for (const std::string& name : base_->fileNames()) {
            ENGINE_TRY(digest(request_.model_folder, name, name, report_.inputs));
        }
        for (const MergeInput& input : request_.adapters) {
            const fs::path& place = input.adapter->folder();
            if (input.adapter->config().is_told_by_file) {
                const std::string& name = input.adapter->name();
                ENGINE_TRY(digest(place.has_parent_path() ? place.parent_path() : ".", name, name,
                                  report_.adapters));
                continue;
            }
            for (const char* name : {"adapter_config.json", "adapter_model.safetensors"}) {
                ENGINE_TRY(
                    digest(place, name, input.adapter->name() + "/" + name, report_.adapters));
            }
        }
        for (const std::string& name : output_->names()) {
            ENGINE_TRY(digest(output_->work(), name, name, report_.outputs));
        }
        return {};
    }

    Result<void> writeReport() {
        output_->add(kReportFile);
        const std::string text = mergeReportJson(report_) + "\n";
        ENGINE_ASSIGN(const auto file, FileWriter::create(output_->work() / kReportFile, false));
        ENGINE_TRY(file->write(std::as_bytes(std::span(text))));
        return file->commit();
    }

    const MergeRequest& request_;
    ModelConfig config_;
    std::unique_ptr<TensorSource> base_;
    std::map<std::string, const TensorInfo*> stored_; ///< By canonical name.
    std::map<std::string, MergePlan> plans_;
    std::unique_ptr<OutputFolder> output_;
    std::unique_ptr<MergedTensorRows> open_;
    std::map<std::string, MergedTensor> merged_;
    std::string current_;
    bool parts_head_ = false; ///< Some adapter changes table and head in different ways.
    bool unties_ = false;     ///< The merged folder holds a head that the base does not have.
    MergeReport report_;
};

} // namespace

Result<MergeReport> mergeAdapters(const MergeRequest& request) {
    return Merger(request).run();
}

} // namespace engine
