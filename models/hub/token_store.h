// SPDX-License-Identifier: Apache-2.0
// Where a token that a person typed is kept, and which of several counts: the environment's, then
// the store's, then huggingface_hub's file. The keyring is app/network/keyring.h, where there is
// one at build and at run time. No message, log or address ever holds a token.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "models/hub/cache_layout.h"

namespace models::hub {

class TokenStore {
public:
    enum class Kind : uint8_t {
        Keyring = 1, ///< The system's, under its user's password.
        File,        ///< huggingface_hub's file, that only its owner may read.
    };

    TokenStore() = default;
    TokenStore(const TokenStore&) = delete;
    TokenStore& operator=(const TokenStore&) = delete;
    virtual ~TokenStore() = default;

    [[nodiscard]] virtual Kind kind() const = 0;
    /// For people: a path, or the name of the keyring.
    [[nodiscard]] virtual std::string place() const = 0;
    /// Empty: there is none. Errors: HubToken (what is there is none), HubDisk (it cannot be read,
    /// or the keyring is locked and stays so).
    virtual engine::Result<std::string> read() = 0;
    /// In place of the one before. Errors: HubToken (no token can look so), HubDisk.
    virtual engine::Result<void> write(const std::string& token) = 0;
    /// None there: done. Errors: HubDisk.
    virtual engine::Result<void> remove() = 0;
};

/// `file` as tokenFile(); written as a whole and with mode 0600, what huggingface_hub does as well.
/// A write replaces the token with which Python programs sign in, a remove signs them out: say so.
std::unique_ptr<TokenStore> fileTokenStore(std::filesystem::path file);

struct FoundToken {
    enum class Source : uint8_t { None = 1, Environment, Store, HubFile };
    std::string token; ///< Empty with None alone.
    Source source = Source::None;
};

/// Which token counts: HF_TOKEN (or its older name), else that of `store` (nullptr: no store), else
/// tokenFile(). HF_HUB_DISABLE_IMPLICIT_TOKEN leaves only the store's. A store that fails is passed
/// over where another has a token. Errors: as findToken(), and of the store.
engine::Result<FoundToken> chooseToken(const Environment& environment, TokenStore* store);

/// The same order without a look at a store: `stored` is what it gave earlier, or empty. Errors: as
/// findToken().
engine::Result<std::string> impliedToken(const Environment& environment, const std::string& stored);

/// `text` without blanks and line ends around it. Errors: HubToken when no token can look so;
/// `place`, a name or a phrase, begins the sentence.
engine::Result<std::string> checkedToken(const std::string& text, const engine::Argument& place);

/// What a window may show of it: "hf_...wxyz", the last 4 characters of one with 12 or more; else
/// "...".
std::string shownToken(const std::string& token);

} // namespace models::hub
