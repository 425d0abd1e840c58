// SPDX-License-Identifier: Apache-2.0
#include "tests/support/hub/fetching.h"

#include "app/network/qt_http.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

namespace support {

namespace hub = models::hub;
using std::chrono::milliseconds;

namespace {

std::string randomText(size_t bytes, unsigned seed) {
    std::mt19937 random(seed);
    std::string text(bytes, '\0');
    for (char& c : text) {
        c = static_cast<char>(random() & 0xffU);
    }
    return text;
}

std::string ruleOf(const engine::Error& error) {
    if (error.code == engine::ErrorCode::Cancelled) {
        return "Cancelled";
    }
    for (const auto& [name, value] : error.details) {
        if (name == "rule") {
            return value;
        }
    }
    return "none";
}

} // namespace

hub::Limits shortLimits() {
    hub::Limits limits;
#ifdef _WIN32 // where the first connection of a thread takes longer, under wine at least
    limits.silence = milliseconds(4000);
    limits.short_answer = milliseconds(6000);
#else
    limits.silence = milliseconds(400);
    limits.short_answer = milliseconds(900);
#endif
    limits.drip = milliseconds(500);
    limits.min_bytes = 4096;
    limits.first_wait = milliseconds(2);
    limits.longest_wait = milliseconds(5000);
    limits.lock = milliseconds(400);
    limits.attempts = 4;
    limits.list_bytes = 100'000;
    limits.files = 50;
    return limits;
}

HubContent smallModel() {
    HubContent content;
    content.files["config.json"] = "{\"model_type\": \"gemma4\"}\n";
    content.files["tokenizer.json"] = "{\"text\": \"" + std::string(20'000, 'x') + "\"}\n";
    content.files["README.md"] = "# A model\n";
    content.files["model-00001-of-00002.safetensors"] = randomText(300'000, 1);
    content.files["model-00002-of-00002.safetensors"] = randomText(200'000, 2);
    content.files["pytorch_model.bin"] = randomText(1000, 3);
    content.files["original/consolidated.safetensors"] = randomText(1000, 4);
    return content;
}

hub::HubOptions hubOptions(const HubStandin& standin, const FetchSetup& setup) {
    hub::HubOptions options;
    options.endpoint = standin.endpoint();
    options.token = setup.token;
    options.source = setup.source;
    options.limits = setup.limits;
    return options;
}

Fetched fetchFrom(const HubStandin& standin, const FetchSetup& setup) {
    Fetched out;
    const auto failed = [&](const engine::Error& error) {
        out.error = error;
        out.rule = ruleOf(error);
        return out;
    };
    hub::FetchOptions options;
    options.hub = hubOptions(standin, setup);
    options.make_http = app::qtHttp([] { return std::string(); });
    hub::FetchRequest request;
    request.address = {standin.content().id, setup.revision};
    request.target = {setup.cache, setup.folder, setup.has_links};
    request.takes_all = setup.takes_all;
    request.source = setup.source;
    const auto http = options.make_http();
    auto client = hub::HubClient::create(options.hub, *http);
    if (!client.has_value()) {
        return failed(client.error());
    }
    auto plan = hub::planFetch(request, *client, {});
    if (!plan.has_value()) {
        return failed(plan.error());
    }
    out.plan = *plan;
    const auto fetched = hub::fetch(out.plan, options, {});
    if (!fetched.has_value()) {
        return failed(fetched.error());
    }
    out.is_done = true;
    out.rule = "ok";
    return out;
}

uint64_t keptBytes(const hub::RepositoryLayout& layout) {
    namespace fs = std::filesystem;
    uint64_t sum = 0;
    for (const fs::path& folder : {layout.blobs(), layout.snapshots()}) {
        std::error_code failure; // what is being renamed right now is counted the next time
        for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
             at.increment(failure)) {
            std::error_code gone;
            if (fs::is_regular_file(at->symlink_status(gone))) {
                const uint64_t bytes = at->file_size(gone);
                sum += gone ? 0 : bytes;
            }
        }
    }
    return sum;
}

void writeText(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

} // namespace support
