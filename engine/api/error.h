// SPDX-License-Identifier: Apache-2.0
// The error value that crosses every boundary of Belfry: a code the UI can translate and a
// message for people that names the object, what was expected, what was found and a next step.
#pragma once

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

struct Error {
    ErrorCode code = ErrorCode::Internal;
    std::string message;
    /// Machine-readable facts (file, tensor, rule, asked_bytes, ...), for --json and the UI.
    std::vector<std::pair<std::string, std::string>> details = {};
    /// What the message says, as a value (error_cause.h), where the window words it itself; others
    /// are shown as they are.
    std::shared_ptr<const ErrorCause> cause = {};
};

} // namespace engine
