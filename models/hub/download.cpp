// SPDX-License-Identifier: Apache-2.0
#include "models/hub/download.h"

#include "engine/base/paths.h"
#include "engine/base/utf8.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "models/hub/asked_bytes.h"
#include "models/hub/blob_writer.h"
#include "models/hub/disk_file.h"
#include "models/hub/file_choice.h"

namespace models::hub {

namespace fs = std::filesystem;
using engine::Error;
using engine::ErrorCode;
using engine::Phrase;
using engine::phrase;
using engine::Result;
using engine::said;
using engine::Sentence;

namespace {

using State = SnapshotStore::Found::State;

std::string detailOf(const Error& error, std::string_view key) {
    const auto found = std::find_if(error.details.begin(), error.details.end(),
                                    [&](const auto& detail) { return detail.first == key; });
    return found == error.details.end() ? std::string() : found->second;
}

/// Free bytes where `folder` will be made.
uint64_t freeBytes(fs::path folder) {
    std::error_code failure;
    folder = fs::absolute(folder, failure);
    while (!fs::exists(folder, failure) && folder.has_relative_path()) {
        folder = folder.parent_path();
    }
    const fs::space_info space = fs::space(folder, failure);
    return failure ? 0 : space.available;
}

Error foreignError(const fs::path& path, Sentence why) {
    return hubError("HubFolder", said("%1 is there and is another file (%2); nothing is "
                                      "overwritten: choose an empty folder, or move it away",
                                      engine::utf8Of(path), std::move(why)));
}

/// Shared by the threads of one fetch().
class Fetching {
public:
    Fetching(const FetchPlan& plan,
             const FetchOptions& options,
             size_t num_connections,
             const std::stop_token& outer)
        : plan_(plan), options_(options),
          store_(plan.request.target, plan.request.address.id, plan.commit),
          asked_(options.hub.limits.block_bytes, num_connections),
          chain_(outer, [this] { stop_.request_stop(); }) {
        progress_.total_bytes = plan.total_bytes;
        progress_.files = plan.files.size();
    }

    /// One thread's work: file after file.
    void work() {
        const auto http = options_.make_http();
        auto hub = HubClient::create(options_.hub, *http);
        if (!hub.has_value()) {
            fail(hub.error());
            return;
        }
        for (size_t i = next_++; i < plan_.files.size() && !stop_.stop_requested(); i = next_++) {
            const auto done = fetchFile(*hub, plan_.files[i].file);
            if (!done.has_value()) {
                fail(done.error());
                return;
            }
            const std::lock_guard lock(mutex_);
            ++progress_.done_files;
            tell(/*is_forced=*/false);
        }
    }

    Result<void> finish(const std::stop_token& outer) {
        const std::lock_guard lock(mutex_);
        tell(/*is_forced=*/true);
        if (outer.stop_requested()) {
            return networkError({HttpEnd::Kind::Cancelled}, {});
        }
        if (failure_.has_value()) {
            return *failure_;
        }
        return store_.noteRevision(plan_.request.address.revision);
    }

    void fail(const Error& error) {
        const std::lock_guard lock(mutex_);
        // The others end as Cancelled because of the first.
        if (!failure_.has_value()) {
            failure_ = error;
        }
        stop_.request_stop();
    }

private:
    Result<void> fetchFile(HubClient& hub, const ListedFile& file) {
        const std::stop_token stop = stop_.get_token();
        ENGINE_ASSIGN(const auto lock, CacheLock::take(store_.lock(file), hub.limits().lock, stop));
        const auto found = store_.find(file); // anew: another program may have fetched it meanwhile
        if (found.state == State::Whole || found.state == State::Blob) {
            ENGINE_ASSIGN(const bool is_right, verifyPresent(file, stop));
            if (is_right) {
                return found.state == State::Whole ? Result<void>() : store_.publish(file);
            }
            store_.discard(file);
        }
        if (found.state == State::Unchecked) {
            const auto checked = verifyFile(store_.final(file), file, stop,
                                            [this](uint64_t bytes) { add(bytes, 0); });
            return checked.has_value() || checked.error().code == ErrorCode::Cancelled
                       ? checked
                       : foreignFile(file, checked.error().told());
        }
        if (found.state == State::Foreign) {
            return foreignFile(file, phrase("it has another size"));
        }
        ENGINE_TRY(makeFolder(store_.partial(file).parent_path()));
        auto outcome = fetchBytes(hub, file, stop);
        if (!outcome.has_value() && detailOf(outcome.error(), "rule") == "HubHash") {
            outcome = fetchBytes(hub, file, stop); // once: what was left by a power cut, say
        }
        ENGINE_TRY(outcome);
        ENGINE_TRY(store_.publish(file));
        store_.noteVerified(file);
        return {};
    }

    /// Reads a file of the cache that has the right name and size, once: whoever wrote it, a power
    /// cut or another program may have changed it. False: it holds something else.
    Result<bool> verifyPresent(const ListedFile& file, const std::stop_token& stop) {
        if (store_.isVerified(file)) {
            add(file.size_bytes, 0);
            return true;
        }
        uint64_t counted = 0;
        const auto checked = verifyFile(store_.present(file), file, stop, [&](uint64_t bytes) {
            counted += bytes;
            add(bytes, 0);
        });
        if (checked.has_value()) {
            store_.noteVerified(file);
            return true;
        }
        if (detailOf(checked.error(), "rule") != "HubHash") {
            return checked.error();
        }
        take(counted);
        return false;
    }

    Error foreignFile(const ListedFile& file, Sentence why) const {
        return foreignError(store_.final(file), std::move(why));
    }

    /// Until the partial file is whole and verified.
    Result<void> fetchBytes(HubClient& hub, const ListedFile& file, const std::stop_token& stop) {
        uint64_t counted = 0; // of this file in progress_
        bool has_waited = false;
        const auto count = [&](uint64_t bytes, uint64_t fetched) {
            counted += bytes;
            add(bytes, fetched);
        };
        const auto uncount = [&] {
            take(counted);
            counted = 0;
        };
        ENGINE_ASSIGN(const auto writer,
                      BlobWriter::open(store_.partial(file), file, stop,
                                       [&](uint64_t bytes) { count(bytes, 0); }));
        AskedBytes::Share asked(asked_, file.size_bytes);
        FileSink sink;
        sink.begin = [&](uint64_t position) -> Result<void> {
            if (has_waited) {
                setWaiting({});
                has_waited = false;
            }
            if (position == writer->position()) {
                return {};
            }
            uncount();
            asked.forget(0);
            return writer->restart(); // no ranges there
        };
        sink.bytes = [&](std::span<const std::byte> bytes) -> Result<void> {
            count(bytes.size(), bytes.size());
            return writer->append(bytes);
        };
        sink.room = [&] { return writer->room(); };
        sink.next_end = [&] { return asked.more(writer->onDisk()); };
        bool has_restarted = false;
        for (int attempt = 1; writer->position() < file.size_bytes;) {
            const uint64_t before = writer->position();
            uint64_t end = asked.rangeEnd(before, writer->onDisk());
            if (end == before) {
                ENGINE_TRY(writer->settle());
                end = asked.rangeEnd(before, writer->onDisk());
            }
            auto outcome =
                hub.read(plan_.request.address.id, plan_.commit, file, before, end, sink, stop);
            if (outcome.has_value()) {
                attempt = 1;
                continue;
            }
            asked.forget(writer->position());
            if (detailOf(outcome.error(), "status") == "416" && before > 0 && !has_restarted) {
                has_restarted = true;
                uncount();
                asked.forget(0);
                ENGINE_TRY(writer->restart());
                continue;
            }
            attempt = writer->position() > before ? 1 : attempt;
            const auto wait = hub.waitAfter(outcome.error(), attempt++);
            if (!wait.has_value()) {
                return outcome;
            }
            setWaiting(outcome.error().told());
            has_waited = true;
            if (!waitFor(*wait, stop)) {
                return networkError({HttpEnd::Kind::Cancelled}, {});
            }
        }
        auto finished = writer->finish();
        if (!finished.has_value()) {
            uncount();
        }
        return finished;
    }

    void add(uint64_t bytes, uint64_t fetched) {
        const std::lock_guard lock(mutex_);
        progress_.done_bytes += bytes;
        progress_.fetched_bytes += fetched;
        tell(/*is_forced=*/false);
    }
    void take(uint64_t bytes) {
        const std::lock_guard lock(mutex_);
        progress_.done_bytes -= std::min(bytes, progress_.done_bytes);
    }
    void setWaiting(const Sentence& why) {
        const std::lock_guard lock(mutex_);
        progress_.waiting = why;
        tell(/*is_forced=*/true);
    }
    /// With mutex_ held.
    void tell(bool is_forced) {
        constexpr std::chrono::milliseconds kBetween(100);
        const auto now = std::chrono::steady_clock::now();
        if (is_forced || now - told_ >= kBetween) {
            told_ = now;
            options_.on_progress(progress_);
        }
    }

    const FetchPlan& plan_;
    const FetchOptions& options_;
    SnapshotStore store_;
    AskedBytes asked_;
    std::atomic<size_t> next_{0};
    std::mutex mutex_;
    FetchProgress progress_;
    std::optional<Error> failure_;
    std::chrono::steady_clock::time_point told_;
    std::stop_source stop_;
    std::stop_callback<std::function<void()>> chain_; ///< After stop_, which it stops.
};

} // namespace

fs::path FetchPlan::modelPath() const {
    return gguf.has_value()
               ? model_folder / engine::pathFromUtf8(gguf->models[gguf->chosen].parts.front().name)
               : model_folder;
}

/// nullopt: the model is no GGUF file.
static Result<std::optional<GgufFiles>> ggufOf(const FetchRequest& request,
                                               const std::vector<ListedFile>& listed) {
    const std::string& wanted = request.address.quantization;
    if (request.takes_all || (wanted.empty() && hasSafetensors(listed))) {
        return std::optional<GgufFiles>();
    }
    auto gguf = chooseGguf(listed, wanted);
    if (gguf.has_value() || wanted.empty()) {
        return gguf;
    }
    const auto others = chooseGguf(listed, "");
    if (!others.has_value()) {
        return hubError("HubMissing", said("%1 has no GGUF model; leave \":%2\" out",
                                           request.address.id, wanted));
    }
    std::vector<std::string> names;
    for (const GgufModel& model : others->models) {
        names.push_back(model.quantization);
    }
    return hubError("HubMissing", said("%1 has no GGUF model of the quantization %2; it has: %3",
                                       request.address.id, engine::inQuotes(wanted),
                                       engine::listed(names, names.size())));
}

Result<FetchPlan>
planFetch(const FetchRequest& request, HubClient& hub, const std::stop_token& stop) {
    const ModelAddress& address = request.address;
    if (hub.source() == Source::ModelScope && request.target.folder.empty()) {
        return hubError("HubAddress", said("%1: models of ModelScope come as plain files, because "
                                           "the hub's cache has no place for them; name a folder "
                                           "with --to",
                                           address.id));
    }
    ENGINE_ASSIGN(const ModelInfo info, hub.model(address.id, address.revision, stop));
    ENGINE_ASSIGN(const std::vector<ListedFile> listed, hub.files(address.id, info.commit, stop));
    ENGINE_ASSIGN(std::optional<GgufFiles> gguf, ggufOf(request, listed));
    if (const Phrase problem =
            request.takes_all || gguf.has_value() ? Phrase() : nothingToLoad(listed);
        problem.text[0] != '\0') {
        return hubError("HubMissing",
                        said("%1 %2 (--all fetches what is there)", address.id, problem));
    }
    FetchPlan plan;
    plan.request = request;
    plan.commit = info.commit;
    FileChoice choice =
        gguf.has_value() ? chooseFiles(listed, *gguf) : chooseFiles(listed, request.takes_all);
    plan.gguf = std::move(gguf);
    ENGINE_TRY(checkNames(choice.wanted, address.id));
    plan.left_out = std::move(choice.left_out);
    const SnapshotStore store(request.target, address.id, info.commit);
    plan.model_folder = store.modelFolder();
    for (ListedFile& file : choice.wanted) {
        const auto found = store.find(file);
        if (found.state == State::Foreign) {
            return foreignError(store.final(file), phrase("it has another size"));
        }
        plan.total_bytes += file.size_bytes;
        plan.present_bytes += found.bytes;
        plan.files.push_back({std::move(file), found});
    }
    plan.free_bytes = freeBytes(store.disk());
    return plan;
}

Result<void> checkRoom(const FetchPlan& plan) {
    const uint64_t needed = plan.missingBytes();
    if (needed == 0 || plan.free_bytes == 0 || needed + kKeptFreeBytes <= plan.free_bytes) {
        return {};
    }
    Error error = hubError(
        "HubDisk", said("not enough room: %1 bytes are missing and %2 shall stay free, the disk "
                        "has %3 free; make room, or choose another disk with --to or HF_HUB_CACHE",
                        needed, kKeptFreeBytes, plan.free_bytes));
    error.details.emplace_back("asked_bytes", std::to_string(needed));
    error.details.emplace_back("free_bytes", std::to_string(plan.free_bytes));
    return error;
}

Result<void>
fetch(const FetchPlan& plan, const FetchOptions& options, const std::stop_token& stop) {
    ENGINE_TRY(checkRoom(plan));
    const auto num_threads = std::clamp<size_t>(static_cast<size_t>(options.connections), 1,
                                                std::max<size_t>(1, plan.files.size()));
    Fetching fetching(plan, options, num_threads, stop);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < num_threads; ++i) {
        threads.emplace_back([&] {
            try {
                fetching.work();
            } catch (const std::exception& problem) { // no memory: nothing else throws
                fetching.fail({ErrorCode::OutOfMemory,
                               said("the download ended: %1; close other programs and give the "
                                    "same command again",
                                    problem.what())});
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return fetching.finish(stop);
}

} // namespace models::hub
