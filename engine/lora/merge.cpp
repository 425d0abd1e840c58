// SPDX-License-Identifier: Apache-2.0
// The merge flow: check what cannot be merged before anything is written, stream all tensors
// through the safetensors writer, copy the other files, judge the result, write the report.
#include "engine/lora/merge.h"

#include "engine/base/file_writer.h"
#include "engine/base/folder_list.h"
#include "engine/files/model_files.h"
#include "engine/files/safetensors.h"
#include "engine/files/safetensors_writer.h"
#include "engine/gemma4/config.h"
#include "engine/lora/merged_rows.h"
#include "engine/lora/sha256.h"
#include "engine/lora/tensor_values.h"
#include "engine/quant/quant_state.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <span>

#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace engine {

namespace fs = std::filesystem;

namespace {

constexpr double kKeptLow = 0.95;
constexpr double kKeptHigh = 1.05;
constexpr std::string_view kEmbedding = "model.language_model.embed_tokens.weight";
constexpr std::string_view kAudioBias = "model.audio_tower.output_proj.bias";
constexpr const char* kReportFile = "merge_report.json";

Error requestError(std::string message) {
    return Error{ErrorCode::InvalidRequest, std::move(message)};
}

/// The folder that is written. It grows under another name beside its place and is given its own
/// when all of it, the report too, is there: whatever ends the program, a folder with the asked for
/// name is a complete one. Removed again unless the merge succeeds.
class OutputFolder {
public:
    static Result<std::unique_ptr<OutputFolder>> open(const fs::path& wanted) {
        auto output = std::unique_ptr<OutputFolder>(new OutputFolder());
        std::error_code error;
        fs::path folder = wanted.has_filename() ? wanted : wanted.parent_path();
        const bool is_there = fs::exists(fs::symlink_status(folder, error));
        if (is_there) {
            if (!fs::is_directory(folder, error) || !fs::is_empty(folder, error)) {
                return requestError(
                    folder.string() +
                    ": the output folder exists and is not empty, or is no folder; choose a new "
                    "one");
            }
            folder = fs::canonical(folder, error); // a link keeps leading to it
        } else {
            if (folder.has_parent_path()) {
                fs::create_directories(folder.parent_path(), error);
            }
        }
        output->final_ = folder;
        output->work_ = folder;
        output->work_ += ".incomplete-" + std::to_string(std::random_device{}());
        if (is_there && !canMove(folder)) {
            output->work_ = folder;
            return output;
        }
        fs::create_directory(output->work_, error);
        if (error) {
            return Error{ErrorCode::InvalidFile,
                         folder.string() + ": cannot be created: " + error.message()};
        }
        output->is_apart_ = true;
        if (is_there) {
            fs::permissions(output->work_, fs::status(folder, error).permissions(), error);
        }
        return output;
    }
    ~OutputFolder() {
        if (is_kept_) {
            return;
        }
        std::error_code error;
        if (is_apart_) {
            fs::remove_all(work_, error);
            return;
        }
        for (const std::string& name : names_) {
            fs::remove(work_ / name, error);
        }
    }
    OutputFolder(const OutputFolder&) = delete;
    OutputFolder& operator=(const OutputFolder&) = delete;

    [[nodiscard]] const fs::path& work() const { return work_; }
    void add(const std::string& name) { names_.push_back(name); }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    /// The last step.
    Result<void> keep() {
        std::error_code error;
        if (is_apart_) {
            fs::rename(work_, final_, error); // an empty folder in its place is replaced
        }
        if (error) {
            return Error{ErrorCode::InvalidFile,
                         final_.string() + ": the finished folder cannot be given its name: " +
                             error.message() + "; choose another"};
        }
        is_kept_ = true;
        return {};
    }

private:
    OutputFolder() = default;
    /// Not a place where something is mounted, and not in a folder that cannot be written.
    static bool canMove(const fs::path& folder) {
#ifdef _WIN32
        return !folder.empty();
#else
        struct stat own {};
        struct stat parent {};
        return ::stat(folder.c_str(), &own) == 0 && ::stat((folder / "..").c_str(), &parent) == 0 &&
               own.st_dev == parent.st_dev && ::access((folder / "..").c_str(), W_OK) == 0;
#endif
    }

    fs::path work_, final_;
    std::vector<std::string> names_;
    bool is_apart_ = false, is_kept_ = false;
};

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
            return requestError("nothing to merge: no adapter was given");
        }
        for (const MergeInput& input : request_.adapters) {
            if (!(input.strength >= 0.0 && input.strength <= 2.0)) {
                return requestError("adapter strength " + std::to_string(input.strength) +
                                    " is outside 0 to 2");
            }
        }
        std::error_code error;
        if (fs::equivalent(request_.model_folder, request_.out_folder, error)) {
            return requestError("the output folder is the model folder; models are never changed");
        }
        ENGINE_ASSIGN(config_, readModelConfig(request_.model_folder));
        ENGINE_ASSIGN(base_, openModelFolder(request_.model_folder));
        if (config_.quantization) {
            return packedError("config.json has a quantization_config");
        }
        const bool is_text_only = config_.architecture == "Gemma4ForCausalLM";
        for (const TensorInfo& info : base_->tensors()) {
            if (isQuantHelper(info.name)) {
                return packedError(info.name + " belongs to a packed weight");
            }
            stored_.emplace(canonicalTensorName(info.name, is_text_only), &info);
        }
        return {};
    }

    [[nodiscard]] Error packedError(const std::string& why) const {
        return requestError(request_.model_folder.filename().string() + ": " + why +
                            "; merging into packed weights rounds the adapter away. Merge into "
                            "the 16-bit model and quantize the result");
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
                                            row.reason);
                }
            }
        }
        ENGINE_TRY(checkReplacedTwice());
        for (const auto& [tensor, plan] : plans_) {
            const auto it = stored_.find(tensor);
            if (it == stored_.end()) {
                return Error{ErrorCode::InvalidFile,
                             tensor + ": the adapter changes it, the model folder lacks it",
                             {{"tensor", tensor}}};
            }
            if (!isFloatType(it->second->type)) {
                return packedError(tensor + " is stored as " +
                                   std::string(tensorTypeName(it->second->type)));
            }
        }
        return {};
    }

    void add(const std::string& tensor, const MergePart& part) {
        MergePlan& plan = plans_[tensor];
        plan.tensor = tensor;
        plan.parts.push_back(part);
    }

    Result<void> planAdapter(const Adapter& adapter, double strength) {
        const bool is_tied_twin = hasTiedTwin(adapter);
        for (const LowRankUpdate& update : adapter.updates()) {
            const bool is_head = update.tensor == kHeadTensor;
            const bool is_table = update.tensor == kEmbedding;
            if ((is_head || is_table) && !is_tied_twin) {
                return tiedError(adapter, is_head ? "the output head" : "the token embedding");
            }
            if (is_head) {
                report_.notes.push_back(adapter.name() +
                                        ": the head's update is the embedding's own, merged once");
                continue;
            }
            add(update.tensor, {&adapter, strength, &update, nullptr, nullptr, nullptr, 0.0});
            if (update.b_bias.present) {
                if (update.tensor != "model.audio_tower.output_proj.weight") {
                    return requestError(adapter.name() + ": " + update.b_bias.key +
                                        ": the layer has no bias that could hold the bias of "
                                        "lora_B; use the adapter unmerged");
                }
                add(std::string(kAudioBias), {&adapter, strength, nullptr, nullptr, nullptr,
                                              &update.b_bias, update.scaling});
            }
        }
        for (const RowReplacement& rows : adapter.rowReplacements()) {
            if (rows.tensor == kHeadTensor || (rows.tensor == kEmbedding && !rows.replaces_head)) {
                return tiedError(adapter, "rows of the token embedding or of the head alone");
            }
            add(rows.tensor, {&adapter, strength, nullptr, &rows, nullptr, nullptr, 0.0});
        }
        for (const TensorReplacement& replacement : adapter.replacements()) {
            if (replacement.tensor == kHeadTensor ||
                (replacement.tensor == kEmbedding && !replacement.replaces_head)) {
                return tiedError(adapter, "the token embedding or the head alone");
            }
            add(replacement.tensor,
                {&adapter, strength, nullptr, nullptr, &replacement, nullptr, 0.0});
        }
        return {};
    }

    static Error tiedError(const Adapter& adapter, const std::string& what) {
        return requestError(adapter.name() + ": changes " + what +
                            "; embedding and head are one tensor in this model, so the merged "
                            "folder could not hold that. Use the adapter unmerged");
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
                    return requestError("two of the adapters replace " + tensor +
                                        "; merge one of them");
                }
            }
        }
        return {};
    }

    // ---- writing ------------------------------------------------------------------------------

    Result<void> writeWeights() {
        std::vector<TensorToWrite> list;
        uint64_t total_bytes = 0;
        const bool is_text_only = config_.architecture == "Gemma4ForCausalLM";
        for (const TensorInfo& info : base_->tensors()) {
            const std::string canonical = canonicalTensorName(info.name, is_text_only);
            if (canonical == kHeadTensor && plans_.contains(std::string(kEmbedding))) {
                report_.notes.push_back(info.name + ": the stored copy of the tied head is left "
                                                    "out, the changed embedding stands for it");
                continue;
            }
            total_bytes += info.size_bytes;
            TensorToWrite tensor;
            tensor.name = info.name;
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
                ENGINE_ASSIGN(open_, MergedTensorRows::open(plan, *base_, info,
                                                            request_.measure_nf4, request_.stop));
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
            return Error{ErrorCode::InvalidFile,
                         request_.model_folder.string() + ": cannot be listed: " + error.message()};
        }
        for (const fs::path& entry : entries) {
            const std::string name = entry.string();
            if (name.starts_with(".") || isWeightFile(name) || name == kReportFile ||
                fs::is_directory(request_.model_folder / entry, error)) {
                continue;
            }
            ENGINE_ASSIGN(const fs::path source, resolveModelFile(request_.model_folder, name));
            output_->add(name);
            fs::copy_file(source, output_->work() / name, error);
            if (error) {
                return Error{ErrorCode::InvalidFile,
                             name + ": cannot be copied: " + error.message(),
                             {{"file", name}}};
            }
        }
        return {};
    }

    // ---- judging ------------------------------------------------------------------------------

    Result<void> judge() {
        std::vector<double> nf4_kept;
        std::vector<double> direct_kept;
        for (const ExpectedTensor& expected : listTensors(config_)) {
            const auto it = merged_.find(expected.name);
            if (it == merged_.end()) {
                continue;
            }
            const MergedTensor& tensor = it->second;
            report_.tensors.push_back(tensor);
            if (tensor.has_nf4) {
                nf4_kept.push_back(tensor.nf4_kept);
                direct_kept.push_back(tensor.nf4_direct_kept);
            }
            if (!(tensor.kept >= kKeptLow && tensor.kept <= kKeptHigh)) {
                char text[160];
                std::snprintf(text, sizeof text,
                              "merging keeps %.3f of the update (%.2f to %.2f wanted): the update "
                              "is too small for the type of the weights",
                              tensor.kept, kKeptLow, kKeptHigh);
                return Error{ErrorCode::InvalidFile,
                             tensor.tensor + ": " + text + "; use the adapter unmerged",
                             {{"tensor", tensor.tensor}}};
            }
        }
        report_.median_nf4_kept = median(nf4_kept);
        report_.median_nf4_direct_kept = median(direct_kept);
        std::sort(report_.replaced.begin(), report_.replaced.end());
        return {};
    }

    static double median(std::vector<double> values) {
        if (values.empty()) {
            return 0.0;
        }
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    }

    Result<void> digest(const fs::path& folder,
                        const std::string& name,
                        const std::string& shown,
                        std::vector<FileDigest>& out) {
        if (request_.progress) {
            request_.progress(0.9, shown);
        }
        ENGINE_ASSIGN(const fs::path file, resolveModelFile(folder, name));
        ENGINE_ASSIGN(std::string sha, sha256OfFile(file, request_.stop));
        std::error_code error;
        out.push_back({shown, std::move(sha), fs::file_size(file, error)});
        return {};
    }

    Result<void> digests() {
        for (const std::string& name : base_->fileNames()) {
            ENGINE_TRY(digest(request_.model_folder, name, name, report_.inputs));
        }
        for (const MergeInput& input : request_.adapters) {
            for (const char* name : {"adapter_config.json", "adapter_model.safetensors"}) {
                ENGINE_TRY(digest(input.adapter->folder(), name, input.adapter->name() + "/" + name,
                                  report_.adapters));
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
    MergeReport report_;
};

} // namespace

Result<MergeReport> mergeAdapters(const MergeRequest& request) {
    return Merger(request).run();
}

} // namespace engine
