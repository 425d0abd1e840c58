// SPDX-License-Identifier: Apache-2.0
#include "models/find.h"

#include "engine/base/json/tree.h"
#include "engine/base/paths.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/describe.h"
#include "models/hub/cache_layout.h"

namespace models {

namespace fs = std::filesystem;
using engine::phrase;
using engine::said;

namespace {

/// "above/below"; `below` alone where nothing is above.
std::string joined(const std::string& above, const std::string& below) {
    std::string name = above;
    if (!name.empty()) {
        name += '/';
    }
    name += below;
    return name;
}

bool isSameName(std::string_view a, std::string_view b) {
    const auto lower = [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                              [&](char x, char y) { return lower(x) == lower(y); });
}

class Search {
public:
    Search(Disk& disk, const Root& root, const Wanted& wanted, const Found& found)
        : disk_(disk), root_(root), wanted_(wanted), found_(found) {}

    RootReport run() {
        RootReport report{root_, RootReport::Outcome::Done, {}};
        const fs::path folder = modelsFolder();
        const std::string shown = engine::utf8Of(folder);
        // The root itself may be a link: the user, or the environment, named it.
        const Look look = disk_.look(folder);
        if (look.kind == Look::Kind::Nothing) {
            report.outcome = RootReport::Outcome::Missing;
            // Not the pattern of a chosen folder, which the window words without the name.
            report.sentence = said("%1: %2", shown, phrase("there is no such folder"));
            return report;
        }
        const bool is_read = root_.place == Place::HubCache ? readCache(folder)
                             : root_.place == Place::Ollama ? readOllama(folder)
                                                            : walk(folder, std::string(), 0);
        if (!is_read) {
            report.outcome = RootReport::Outcome::Unreadable;
            report.sentence = said("%1: cannot be read; look whether it is a folder and whether "
                                   "you may open it",
                                   shown);
        } else if (disk_.isCut()) {
            report.outcome = RootReport::Outcome::Cut;
            report.sentence =
                said("%1: holds more than %2 entries, or folders with more than %3; "
                     "the rest was not looked at. Name a folder further down",
                     shown, disk_.limits().max_entries, disk_.limits().max_folder_names);
        }
        return report;
    }

private:
    /// LM Studio: where its settings say, else models/ in its folder.
    fs::path modelsFolder() {
        if (root_.place == Place::Ollama) {
            return root_.folder / "manifests";
        }
        if (root_.place != Place::LmStudio) {
            return root_.folder;
        }
        const std::string settings = disk_.read(root_.folder / "settings.json");
        const auto tree = engine::parseJson(settings, "settings.json");
        if (tree.has_value()) {
            const engine::Json* moved = tree->find("downloadsFolder");
            if (moved != nullptr && moved->is(engine::Json::Kind::String)) {
                fs::path folder = engine::pathFromUtf8(moved->text);
                if (folder.is_absolute()) {
                    return folder;
                }
            }
        }
        return root_.folder / "models";
    }

    /// False: the folder cannot be read.
    bool readCache(const fs::path& cache) {
        std::error_code failure;
        const std::vector<fs::path> names = disk_.list(cache, failure);
        for (const fs::path& name : names) {
            const std::optional<std::string> id = models::hub::idOfFolderName(engine::utf8Of(name));
            if (id.has_value() && !disk_.isOver() && isWanted(*id) &&
                disk_.look(cache / name).kind == Look::Kind::Folder) {
                readRepository(cache / name, *id);
            }
        }
        return !failure;
    }

    [[nodiscard]] bool isWanted(const std::string& id) const {
        return wanted_.repository.empty() || isSameName(id, wanted_.repository);
    }

    void readRepository(const fs::path& repository, const std::string& id) {
        std::map<std::string, std::vector<std::string>> refs; // by commit
        readRefs(repository / "refs", std::string(), 0, refs);
        std::error_code failure;
        bool has_snapshot = false;
        for (const fs::path& name : disk_.list(repository / "snapshots", failure)) {
            const fs::path snapshot = repository / "snapshots" / name;
            if (disk_.look(snapshot).kind != Look::Kind::Folder) {
                continue;
            }
            const std::string commit = engine::utf8Of(name);
            has_snapshot =
                readSnapshot(snapshot, repository, id, commit, refs[commit], 0) || has_snapshot;
        }
        if (!has_snapshot && !disk_.isOver()) {
            readBeginning(repository, id);
        }
    }

    /// refs/main, refs/pr/1: a commit each.
    void readRefs(const fs::path& folder,
                  const std::string& prefix,
                  int depth,
                  std::map<std::string, std::vector<std::string>>& refs) {
        constexpr int kMaxRefDepth = 3;
        std::error_code failure;
        for (const fs::path& name : disk_.list(folder, failure)) {
            const Look look = disk_.look(folder / name);
            const std::string shown = prefix + engine::utf8Of(name);
            if (look.kind == Look::Kind::Folder && depth < kMaxRefDepth) {
                readRefs(folder / name, shown + "/", depth + 1, refs);
            } else if (look.kind == Look::Kind::File) {
                std::string commit = disk_.read(folder / name);
                while (!commit.empty() && (commit.back() == '\n' || commit.back() == '\r')) {
                    commit.pop_back();
                }
                refs[commit].push_back(shown);
            }
        }
    }

    /// True when something was found there or below.
    bool readSnapshot(const fs::path& folder,
                      const fs::path& repository,
                      const std::string& name,
                      const std::string& commit,
                      const std::vector<std::string>& refs,
                      int depth) {
        constexpr int kMaxSnapshotDepth = 2; // adapters and checkpoints in folders of their own
        const FolderContents contents = readFolder(disk_, folder);
        bool is_found = false;
        for (Entry& entry : describeFolder(disk_, contents, root_, name)) {
            entry.commit = commit;
            entry.refs = refs;
            entry.repository = repository;
            if (entry.state == State::Incomplete && entry.trouble.has_value()) {
                const size_t id_end = name.find('/', name.find('/') + 1);
                std::string id = name.substr(0, id_end);
                if (entry.form == Form::Gguf && !entry.precision.empty()) {
                    id += ":" + entry.precision;
                }
                if (entry.revisionShown() != "main") {
                    id += '@';
                    id += commit;
                }
                entry.trouble->way_out = said("belfry-cli get %1 completes it", id);
            }
            is_found = true;
            found_(std::move(entry));
        }
        for (const std::string& below : contents.folders) {
            if (depth < kMaxSnapshotDepth && !disk_.isOver()) {
                is_found = readSnapshot(folder / engine::pathFromUtf8(below), repository,
                                        joined(name, below), commit, refs, depth + 1) ||
                           is_found;
            }
        }
        return is_found;
    }

    /// A download that has not come to a snapshot yet, or was broken off before.
    void readBeginning(const fs::path& repository, const std::string& id) {
        std::error_code failure;
        Entry entry;
        bool has_beginning = false;
        for (const fs::path& name : disk_.list(repository / "blobs", failure)) {
            const Look look = disk_.look(repository / "blobs" / name);
            if (look.kind == Look::Kind::File) {
                entry.bytes += look.bytes;
                entry.modified = std::max(entry.modified, look.modified);
                has_beginning = has_beginning || name.extension() == ".incomplete";
            }
        }
        if (!has_beginning) {
            return; // nothing, or a repository of something else
        }
        entry.name = id;
        entry.path = repository;
        entry.real_path = disk_.real(repository);
        entry.repository = repository;
        entry.root = root_;
        entry.state = State::Incomplete;
        entry.trouble = Trouble{Trouble::Reason::FilesMissing,
                                phrase("is the beginning of a download: no file of the model is "
                                       "whole"),
                                said("belfry-cli get %1 goes on with it", id)};
        found_(std::move(entry));
    }

    /// manifests/HOST/OWNER/NAME/TAG: a list of blobs/sha256-... each, of which one is the model.
    bool readOllama(const fs::path& folder, const std::vector<std::string>& names = {}) {
        constexpr size_t kDepth = 4; // host, owner, name, tag
        std::error_code failure;
        for (const fs::path& name : disk_.list(folder, failure)) {
            if (disk_.isOver()) {
                break;
            }
            std::vector<std::string> below = names;
            below.push_back(engine::utf8Of(name));
            const Look look = disk_.look(folder / name);
            if (look.kind == Look::Kind::Folder && below.size() < kDepth) {
                readOllama(folder / name, below);
            } else if (look.kind == Look::Kind::File && below.size() == kDepth) {
                readManifest(folder / name, below, look.modified);
            }
        }
        return !failure;
    }

    void
    readManifest(const fs::path& file, const std::vector<std::string>& names, int64_t modified) {
        const auto tree = engine::parseJson(disk_.read(file), "manifest");
        const engine::Json* const layers = tree.has_value() ? tree->find("layers") : nullptr;
        if (layers == nullptr) {
            return;
        }
        Entry entry;
        // "gemma4:e2b" as Ollama has it, "me/mine:latest" for other owners than its library.
        entry.name = (names[1] == "library" ? "" : names[1] + "/") + names[2] + ":" + names[3];
        entry.root = root_;
        entry.form = Form::Gguf;
        entry.modified = modified;
        for (const engine::Json& layer : layers->items) {
            const engine::Json* const size = layer.find("size");
            const auto bytes = size == nullptr ? std::nullopt : size->integer();
            entry.bytes += bytes.has_value() && *bytes > 0 ? static_cast<uint64_t>(*bytes) : 0;
            const engine::Json* const type = layer.find("mediaType");
            const engine::Json* const digest = layer.find("digest");
            if (type == nullptr || digest == nullptr || !isDigest(digest->text)) {
                continue;
            }
            const fs::path blob = root_.folder / "blobs" / ("sha256-" + digest->text.substr(7));
            if (type->isString("application/vnd.ollama.image.model")) {
                entry.path = blob;
            } else if (type->isString("application/vnd.ollama.image.projector")) {
                entry.projector = blob;
            }
        }
        if (entry.path.empty()) {
            return;
        }
        entry.real_path = disk_.real(file); // several may share their blob
        for (const fs::path& blob : {entry.path, entry.projector}) {
            if (!blob.empty() && disk_.look(blob).kind != Look::Kind::File) {
                entry.missing.push_back(engine::utf8Of(blob.filename()));
                entry.state = State::Incomplete;
                entry.trouble = Trouble{Trouble::Reason::FilesMissing,
                                        said("is not whole: %1 is missing", entry.missing.back()),
                                        said("\"ollama pull %1\" completes it", entry.name)};
            }
        }
        found_(std::move(entry));
    }

    /// "sha256:" and 64 hexadecimal digits: a name of a file, and no way out of its folder.
    static bool isDigest(const std::string& text) {
        return text.starts_with("sha256:") && models::hub::isSha256(text.substr(7));
    }

    bool walk(const fs::path& folder, const std::string& name, int depth) {
        const FolderContents contents = readFolder(disk_, folder);
        if (disk_.isOver()) {
            return true;
        }
        const std::string shown =
            name.empty() && root_.place != Place::LmStudio && root_.place != Place::LlamaCpp
                ? engine::utf8Of(folder.filename())
                : name;
        for (Entry& entry : describeFolder(disk_, contents, root_, shown)) {
            found_(std::move(entry));
        }
        for (const std::string& below : contents.folders) {
            const fs::path path = folder / engine::pathFromUtf8(below);
            const std::optional<std::string> id = models::hub::idOfFolderName(below);
            if (disk_.isOver() || below.starts_with('.')) {
                continue; // what is hidden is some program's own
            }
            if (id.has_value()) {
                if (isWanted(*id)) {
                    readRepository(path, *id); // a hub's cache somewhere else
                }
            } else if (depth < disk_.limits().max_depth) {
                walk(path, joined(name, below), depth + 1);
            }
        }
        return contents.is_readable;
    }

    Disk& disk_;
    const Root& root_;
    const Wanted& wanted_;
    const Found& found_;
};

} // namespace

RootReport findBelow(Disk& disk, const Root& root, const Wanted& wanted, const Found& found) {
    return Search(disk, root, wanted, found).run();
}

} // namespace models
