// SPDX-License-Identifier: Apache-2.0
// The error value that crosses every boundary of Belfry: a code and a sentence for
// people that names the object, what was expected, what was found and a next step.
#pragma once

#include "engine/api/sentence.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

enum class ErrorCode {
    InvalidFile = 1, ///< A file breaks its format or contradicts another file.
    Unsupported,     ///< Valid, but not something this build or engine runs.
    InvalidRequest,  ///< The caller asked for something impossible (options, media, lengths).
    OutOfMemory,     ///< A device limit would be exceeded; message states asked and free bytes.
    DeviceLost,
    Cancelled,
    Internal,
};

/// "InvalidFile", ... as printed by the command line and in JSON.
constexpr std::string_view errorCodeName(ErrorCode code) {
    switch (code) {
    case ErrorCode::InvalidFile:
        return "InvalidFile";
    case ErrorCode::Unsupported:
        return "Unsupported";
    case ErrorCode::InvalidRequest:
        return "InvalidRequest";
    case ErrorCode::OutOfMemory:
        return "OutOfMemory";
    case ErrorCode::DeviceLost:
        return "DeviceLost";
    case ErrorCode::Cancelled:
        return "Cancelled";
    case ErrorCode::Internal:
        return "Internal";
    }
    return "Internal";
}

struct ErrorCause;

/// What a user can meet says its message as a sentence, which the window translates. A bare text is
/// for Internal, a fault of ours that goes into a report in English, and for what is translated
/// already (app/store); tests/house/tst_sentences.cpp keeps that.
struct Error {
    Error();
    Error(const Error&);
    Error(Error&&) noexcept;
    Error& operator=(const Error&);
    Error& operator=(Error&&) noexcept;
    ~Error();
    Error(ErrorCode kind,
          Sentence words,
          std::vector<std::pair<std::string, std::string>> facts = {},
          std::shared_ptr<const ErrorCause> why = {});
    Error(ErrorCode kind,
          std::string text,
          std::vector<std::pair<std::string, std::string>> facts = {},
          std::shared_ptr<const ErrorCause> why = {})
        : code(kind), message(std::move(text)), details(std::move(facts)), cause(std::move(why)) {}

    /// From now on the error says this.
    void say(Sentence words);
    /// What it says, to stand in another sentence.
    [[nodiscard]] Sentence told() const;

    ErrorCode code = ErrorCode::Internal;
    std::string message; ///< In English.
    /// Machine-readable facts (file, tensor, rule, asked_bytes, ...), for --json and the UI.
    std::vector<std::pair<std::string, std::string>> details;
    /// What the message says, as a value (error_cause.h), where the window words it otherwise than
    /// the sentence: where that names options or keys of a map.
    std::shared_ptr<const ErrorCause> cause;
    Sentence sentence; ///< The message; empty where that is a bare text.
};

} // namespace engine
