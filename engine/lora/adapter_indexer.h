// SPDX-License-Identifier: Apache-2.0
// The work behind sortKeys(): names (all keys, one naming family), then each key on its own, then
// pairs, then what the config targets and the file lacks. One class over three files:
//   adapter_index.cpp          the order of work, naming families, the report and its refusals
//   adapter_index_keys.cpp     one key: which tensor it belongs to, whether it may act
//   adapter_index_modules.cpp  across keys: pairs, replaced rows, modules without tensors
#pragma once

#include "engine/api/sentence.h"
#include "engine/lora/adapter_index.h"
#include "engine/lora/architecture.h"
#include "engine/lora/expert_order.h"
#include "engine/lora/key_spelling.h"
#include "engine/lora/target_matching.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

inline constexpr std::string_view kLinearSuffix = ".linear";

class AdapterIndexer {
public:
    AdapterIndexer(AdapterIndex& index,
                   const Architecture& architecture,
                   const TargetMatcher& matcher,
                   const AdapterOptions& options)
        : index_(index), architecture_(architecture), matcher_(matcher), options_(options) {}

    Result<void> run();

private:
    /// A low-rank update being put together, with the reports of its keys.
    struct Pending {
        ArchitectureTensor base;
        std::string match_name; ///< The name whose patterns give rank and alpha.
        AdapterTensor a, b, bias, magnitude;
        std::vector<size_t> reports;
        bool is_broken = false; ///< One of its keys is an error already.
    };

    // Reports
    KeyReport& report(size_t i, KeyClass key_class, KeyReason reason) {
        KeyReport& row = reports_[i];
        row.key_class = key_class;
        row.reason = std::move(reason);
        return row;
    }
    void ignore(size_t i, KeyReason reason) { report(i, KeyClass::Ignored, std::move(reason)); }
    /// `member` of adapter_config.json is false.
    void turnedOff(size_t i, const char* member) {
        ignore(i, {said("%1 is false in adapter_config.json", member)});
    }
    void fail(size_t i, const Sentence& sentence) { report(i, KeyClass::Error, {sentence}); }
    void refuse(ErrorCode code, Sentence message, std::string_view tensor = {});

    // Names
    /// The naming family of the file. Two families in one file are refused: patterns were written
    /// for one of them.
    void findFamily();
    void refuseMixed(const std::string& first, const std::string& second, std::string_view other);

    // One key
    Result<void> classify(size_t i);
    /// Fails keys with values that cannot be computed with.
    bool checkType(size_t i);
    bool checkShape(size_t i, const std::vector<int64_t>& expected, const Sentence& why);

    /// The name under which patterns see the module, when they target it.
    struct Match {
        TargetState state = TargetState::NotTargeted;
        std::string name;
    };

    /// A clipped linear has two names, with and without `.linear`; files and configs use either.
    [[nodiscard]] Result<Match> match(const std::string& spelled,
                                      const ArchitectureTensor& base,
                                      const std::string& canonical) const;
    [[nodiscard]] Result<bool>
    isTargeted(std::string_view module, std::string_view canonical, bool is_linear) const;
    [[nodiscard]] Result<bool> isEmbeddingTargeted() const;
    /// The expert parameter that a nested wrapper stands for: the outermost wrapper belongs to
    /// the last targeted parameter of the module.
    [[nodiscard]] std::string expertParameter(const AdapterKey& key) const;
    Result<void> lowRank(size_t i, const AdapterKey& key);
    void attach(size_t i,
                const AdapterKey& key,
                const ArchitectureTensor& base,
                const std::string& match_name);
    void attachTo(Pending& pending,
                  size_t i,
                  const AdapterKey& key,
                  const ArchitectureTensor& base,
                  const std::string& match_name);
    void tokenRows(size_t i, const AdapterKey& key);
    /// Saved copies of base parameters: modules_to_save, trained biases, saved embeddings, and,
    /// as PEFT loads them too, parameters that no member of the config announces.
    Result<void> parameter(size_t i, const AdapterKey& key);
    [[nodiscard]] const TensorInfo& info(size_t i) const { return index_.source->tensors()[i]; }
    /// For messages.
    [[nodiscard]] const std::string& fileName() const { return index_.source->fileNames().front(); }
    bool replace(size_t i, const ArchitectureTensor& base, const AdapterTensor& value);
    /// PEFT saves the whole table beside an update of an embedding or of the head. Usually it is
    /// the base's own.
    Result<void> savedTable(size_t i, const ArchitectureTensor& base, const AdapterTensor& value);

    // Pairs
    Result<void> assemble();
    /// Which way round the experts' factors of this file stand, from their shapes and the version.
    Result<void> findExpertOrder();
    void failAll(const Pending& pending, const Sentence& reason);
    Result<void> assembleOne(Pending& p);
    [[nodiscard]] Result<LowRankUpdate> sized(const Pending& p) const;
    bool checkShapes(const Pending& p, const LowRankUpdate& u);

    // Across keys
    [[nodiscard]] const TrainableTokens* tokensOf(std::string_view module_end) const;
    /// Which replaced rows also replace rows of the tied head, and what rows cannot go with.
    void checkRows();
    /// Modules that the config targets but the file has nothing for.
    Result<void> findMissing();
    void findMissingExperts(const ArchitectureTensor& base);

    // The file as a whole
    void finish();
    static void count(TowerCounts& counts, KeyTower tower);
    void checkForeign();
    [[nodiscard]] std::string firstForeign() const;
    /// Another model's keys, or this one's behind another path.
    [[nodiscard]] Sentence foreignReason() const;
    /// A hint when the name of the base the adapter was made for names another size.
    void noteBaseModel();

    AdapterIndex& index_;
    const Architecture& architecture_;
    const TargetMatcher& matcher_;
    const AdapterOptions& options_;
    KeyLayout family_ = KeyLayout::Conditional;
    std::vector<std::optional<AdapterKey>> keys_;
    std::vector<KeyReport> reports_;
    std::set<size_t> other_shapes_; ///< Keys whose tensors have another shape than the model asks.
    std::map<std::string, Pending> pending_;
    std::vector<size_t> row_reports_, replacement_reports_;
    int64_t foreign_ = 0;
    bool ties_embedding_ = false;
    ExpertOrder expert_order_ = ExpertOrder::Plain;
};

} // namespace engine
