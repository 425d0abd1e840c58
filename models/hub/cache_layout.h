// SPDX-License-Identifier: Apache-2.0
// Where the Hugging Face hub's cache lies and what is where in it, as huggingface_hub 2.4 reads and
// writes it: models--OWNER--NAME/{blobs,refs,snapshots} and .locks beside it. Pure functions of
// values: nothing here reads the environment or a disk. Left out: datasets, spaces, assets.
//
//   hub/models--google--gemma-4-E2B-it/blobs/ETAG               a file's bytes; ETAG: SHA-256 or
//   git SHA-1
//                                      blobs/ETAG.incomplete    the beginning of them
//                                      refs/main                the commit, 40 hexadecimal digits
//                                      snapshots/COMMIT/NAME    a link to ../../blobs/ETAG
//   hub/.locks/models--google--gemma-4-E2B-it/ETAG.lock
//
// Where links are not to be had, snapshots/COMMIT/NAME is the file itself and blobs/ has none.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace models::hub {

/// The variables of huggingface_hub's that Belfry follows, as they stand in the environment; what
/// is not set is empty. app/common/environment.h reads them.
struct Environment {
    std::filesystem::path home;                  ///< HOME, on Windows USERPROFILE.
    std::filesystem::path xdg_cache_home;        ///< XDG_CACHE_HOME.
    std::filesystem::path hf_home;               ///< HF_HOME.
    std::filesystem::path hf_hub_cache;          ///< HF_HUB_CACHE.
    std::filesystem::path huggingface_hub_cache; ///< HUGGINGFACE_HUB_CACHE, its older name.
    std::filesystem::path hf_token_path;         ///< HF_TOKEN_PATH.
    std::string hf_token;                        ///< HF_TOKEN.
    std::string hugging_face_hub_token;          ///< HUGGING_FACE_HUB_TOKEN, its older name.
    std::string hf_endpoint;                     ///< HF_ENDPOINT.
    std::string modelscope_endpoint;             ///< MODELSCOPE_ENDPOINT.
    std::string hf_hub_offline;                  ///< HF_HUB_OFFLINE.
    std::string hf_hub_disable_symlinks;         ///< HF_HUB_DISABLE_SYMLINKS.
    std::string hf_hub_disable_implicit_token;   ///< HF_HUB_DISABLE_IMPLICIT_TOKEN.
};

/// Where models come from unless HF_ENDPOINT says otherwise.
inline constexpr std::string_view kDefaultEndpoint = "https://huggingface.co";

/// "1", "ON", "YES" or "TRUE" in any case.
bool isSwitchedOn(std::string_view value);

/// `value` with $NAME and ${NAME} replaced by what `value_of` says of NAME; one that is not set
/// (nullopt) stays as it is written, as Python's os.path.expandvars leaves it.
std::string
withVariables(std::string_view value,
              const std::function<std::optional<std::string>(const std::string&)>& value_of);

/// HF_HOME, else huggingface/ in XDG_CACHE_HOME, else .cache/huggingface in HOME (on Windows as
/// well). A "~" at the beginning is HOME. Empty where the environment names none.
std::filesystem::path hubHome(const Environment& environment);

/// The cache itself: HF_HUB_CACHE, else HUGGINGFACE_HUB_CACHE, else hub/ in hubHome(). Empty where
/// the environment names none.
std::filesystem::path cacheFolder(const Environment& environment);

/// HF_TOKEN_PATH, else token in hubHome(). Empty where the environment names none.
std::filesystem::path tokenFile(const Environment& environment);

/// HF_ENDPOINT without slashes at its end, else kDefaultEndpoint.
std::string endpoint(const Environment& environment);

/// 40 lower-case hexadecimal digits: a commit, or the id of a git blob.
bool isCommit(std::string_view text);
/// 64 lower-case hexadecimal digits.
bool isSha256(std::string_view text);

/// "models--google--gemma-4-E2B-it" for "google/gemma-4-E2B-it".
std::string repositoryFolderName(std::string_view id);
/// The other way round; nullopt for a name that is no model's.
std::optional<std::string> idOfFolderName(std::string_view folder_name);

/// Paths of one model in one cache.
class RepositoryLayout {
public:
    /// `cache` as cacheFolder() gives it; `id` is "owner/name" or "name".
    RepositoryLayout(const std::filesystem::path& cache, std::string_view id);

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    [[nodiscard]] std::filesystem::path blobs() const { return folder_ / "blobs"; }
    [[nodiscard]] std::filesystem::path blob(std::string_view etag) const;
    /// What there is of a blob that is still being fetched: its length says how far.
    [[nodiscard]] std::filesystem::path partialBlob(std::string_view etag) const;
    [[nodiscard]] std::filesystem::path refs() const { return folder_ / "refs"; }
    /// `revision` may be "refs/pr/1": folders below refs/.
    [[nodiscard]] std::filesystem::path ref(std::string_view revision) const;
    [[nodiscard]] std::filesystem::path snapshots() const { return folder_ / "snapshots"; }
    [[nodiscard]] std::filesystem::path snapshot(std::string_view commit) const;
    /// `name` with '/' between folders, as the hub lists it.
    [[nodiscard]] std::filesystem::path file(std::string_view commit, std::string_view name) const;
    [[nodiscard]] const std::filesystem::path& locks() const { return locks_; }
    [[nodiscard]] std::filesystem::path lock(std::string_view etag) const;

private:
    std::filesystem::path folder_;
    std::filesystem::path locks_;
};

/// What the link snapshots/COMMIT/`name` holds: "../../blobs/ETAG", one "../" more per folder in
/// `name`.
std::filesystem::path linkTarget(std::string_view name, std::string_view etag);

} // namespace models::hub
