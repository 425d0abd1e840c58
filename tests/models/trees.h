// SPDX-License-Identifier: Apache-2.0
// File trees as huggingface_hub, LM Studio and people leave them.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace support {

namespace fs = std::filesystem;

inline void put(const fs::path& file, std::string_view text) {
    fs::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

inline const std::string kGemmaConfig =
    R"({"model_type":"gemma4","architectures":["Gemma4ForConditionalGeneration"],)"
    R"("dtype":"bfloat16"})";
inline const std::string kCommitA(40, 'a');
inline const std::string kCommitB(40, 'b');

/// A whole model by its names, with weights that nobody could load.
inline void putModel(const fs::path& folder) {
    put(folder / "config.json", kGemmaConfig);
    put(folder / "model.safetensors", std::string(2000, 'w'));
    put(folder / "tokenizer.json", "{}");
}

inline void putAdapter(const fs::path& folder, const std::string& base) {
    put(folder / "adapter_config.json", R"({"peft_type":"LORA","r":8,"target_modules":["q_proj"],)"
                                        R"("base_model_name_or_path":")" +
                                            base + "\"}");
    put(folder / "adapter_model.safetensors", std::string(500, 'a'));
}

/// One repository of a hub's cache.
class HubRepository {
public:
    HubRepository(const fs::path& cache, const std::string& folder_name)
        : folder_(cache / folder_name) {}

    [[nodiscard]] const fs::path& folder() const { return folder_; }
    [[nodiscard]] fs::path snapshot(const std::string& commit) const {
        return folder_ / "snapshots" / commit;
    }
    /// A blob with this digit as its name, and the link to it.
    void link(const std::string& commit,
              const std::string& name,
              char digit,
              std::string_view text) const {
        const std::string blob(64, digit);
        put(folder_ / "blobs" / blob, text);
        const fs::path link = snapshot(commit) / name;
        fs::create_directories(link.parent_path());
        fs::path target = "../../blobs";
        for (const char c : name) { // one more for each folder in the name
            target = c == '/' ? ".." / target : target;
        }
#ifdef _WIN32 // as the hub's library does where links are not allowed
        fs::rename(folder_ / "blobs" / blob, link);
#else
        fs::create_symlink(target / blob, link);
#endif
    }
    void ref(const std::string& name, const std::string& commit) const {
        put(folder_ / "refs" / name, commit);
    }
    /// config, tokenizer and weights; `weights`: the digit of their blob.
    void linkModel(const std::string& commit, char weights) const {
        link(commit, "config.json", '1', kGemmaConfig);
        link(commit, "tokenizer.json", '2', "{}");
        link(commit, "model.safetensors", weights, std::string(2000, weights));
    }

private:
    fs::path folder_;
};

} // namespace support
