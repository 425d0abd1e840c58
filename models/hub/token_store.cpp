// SPDX-License-Identifier: Apache-2.0
#include "models/hub/token_store.h"

#include "engine/base/ascii.h"
#include "engine/base/paths.h"
#include "engine/base/real_path.h"
#include "engine/base/small_file.h"

#include <algorithm>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include "models/hub/disk_file.h"
#include "models/hub/hub_error.h"
#include "models/hub/token.h"

namespace models::hub {

namespace fs = std::filesystem;
using engine::Result;
using engine::said;

namespace {

constexpr size_t kLongestStoredToken = 4096;

class FileTokenStore : public TokenStore {
public:
    explicit FileTokenStore(fs::path file) : file_(std::move(file)) {}

    [[nodiscard]] Kind kind() const override { return Kind::File; }
    [[nodiscard]] std::string place() const override { return engine::utf8Of(file_); }

    Result<std::string> read() override {
        std::error_code ignored;
        if (file_.empty() || !fs::exists(file_, ignored)) {
            return std::string();
        }
        ENGINE_ASSIGN(const std::string text, engine::readSmallFile(file_, kLongestStoredToken));
        return checkedToken(text, place());
    }

    Result<void> write(const std::string& token) override {
        ENGINE_ASSIGN(const std::string checked,
                      checkedToken(token, engine::phrase("what was typed")));
        if (checked.empty()) {
            return hubError("HubToken", said("no token was typed: expected one word such as hf_... "
                                             "from your settings page at the hub"));
        }
        if (file_.empty()) {
            return hubError("HubDisk", said("there is no place for a token: set HOME or HF_HOME"));
        }
        // The file may be a link into a folder that its owner keeps in order: it stays one.
        std::error_code failure;
        const fs::path real = fs::exists(file_, failure) ? engine::realPath(file_, failure) : file_;
        const fs::path target = failure ? file_ : real;
        fs::path temporary = target;
        temporary += ".belfry-" + std::to_string(std::random_device()());
        auto written = writeSmallFile(target, temporary, checked, FileReaders::Owner);
        if (!written.has_value()) {
            fs::remove(temporary, failure);
        }
        return written;
    }

    Result<void> remove() override {
        std::error_code failure;
        fs::remove(file_, failure);
        return failure ? Result<void>(
                             diskError(file_, engine::phrase("cannot be removed"), failure.value()))
                       : Result<void>();
    }

private:
    fs::path file_;
};

/// What findToken() finds without a file.
Result<std::string> variableToken(Environment environment) {
    environment.home.clear();
    environment.xdg_cache_home.clear();
    environment.hf_home.clear();
    environment.hf_token_path.clear();
    return findToken(environment);
}

} // namespace

std::unique_ptr<TokenStore> fileTokenStore(fs::path file) {
    return std::make_unique<FileTokenStore>(std::move(file));
}

Result<std::string> checkedToken(const std::string& text, const engine::Argument& place) {
    const std::string token(engine::trimmed(text));
    // A header takes it as it is: nothing in it may end the line.
    const bool is_plain = std::all_of(token.begin(), token.end(), [](char c) {
        return static_cast<unsigned char>(c) > 0x20U && static_cast<unsigned char>(c) < 0x7fU;
    });
    if (!is_plain || token.size() > kLongestStoredToken) {
        return hubError("HubToken", said("%1 holds no token: expected one word such as hf_... ; "
                                         "copy it again from your settings page at the hub",
                                         place));
    }
    return token;
}

Result<FoundToken> chooseToken(const Environment& environment, TokenStore* store) {
    using From = FoundToken::Source;
    ENGINE_ASSIGN(std::string variable, variableToken(environment));
    if (!variable.empty()) {
        return FoundToken{std::move(variable), From::Environment};
    }
    std::optional<engine::Error> failure;
    if (store != nullptr) {
        auto token = store->read();
        if (token.has_value() && !token->empty()) {
            const bool is_hubs = store->kind() == TokenStore::Kind::File;
            return FoundToken{*std::move(token), is_hubs ? From::HubFile : From::Store};
        }
        if (!token.has_value()) {
            failure = std::move(token).error();
        }
    }
    ENGINE_ASSIGN(std::string token, findToken(environment));
    if (!token.empty()) {
        return FoundToken{std::move(token), From::HubFile};
    }
    return failure.has_value() ? Result<FoundToken>(*std::move(failure))
                               : Result<FoundToken>(FoundToken());
}

Result<std::string> impliedToken(const Environment& environment, const std::string& stored) {
    ENGINE_ASSIGN(std::string variable, variableToken(environment));
    return !variable.empty() ? Result<std::string>(std::move(variable))
           : !stored.empty() ? Result<std::string>(stored)
                             : findToken(environment);
}

std::string shownToken(const std::string& token) {
    constexpr size_t kShown = 4;
    constexpr size_t kShortest = 12; // of which so little may be seen
    return token.size() < kShortest ? "..."
                                    : (token.starts_with("hf_") ? "hf_..." : "...") +
                                          token.substr(token.size() - kShown);
}

} // namespace models::hub
