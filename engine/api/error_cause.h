// SPDX-License-Identifier: Apache-2.0
// What an error's message says, as a value: for messages that name options or keys of a device map,
// which the window calls otherwise, and that its user meets in daily use. Each is a kind of its
// own, so that one without words does not compile.
#pragma once

#include "engine/api/error.h"
#include "engine/api/placement.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace engine {

namespace cause {

/// A device map, or the plan made of it, has these errors; not empty.
struct BadPlan {
    std::vector<PlanIssue> errors;
};
/// The prompt has more tokens than the context.
struct PromptTooLong {
    int64_t tokens = 0, context = 0;
};
/// So many tokens more do not fit behind those that are held.
struct ContextFull {
    int64_t held = 0, more = 0, context = 0;
};
/// More soft tokens per picture than the model was loaded for.
struct TooManyImageTokens {
    int64_t asked = 0, loaded = 0;
};
/// A picture of so many patches; the model was loaded for smaller ones.
struct PictureTooLarge {
    int64_t grid_w = 0, grid_h = 0;
};
/// A picture has more soft tokens than one call takes.
struct PictureOverCall {
    int64_t tokens = 0; ///< That a call takes.
};
/// An option has a value that it cannot have.
struct BadOption {
    enum class Option : uint8_t { Weights = 1, BlockSize, Head };
    Option option = Option::Weights;
    std::string value = {};
    std::vector<std::string> expected = {}; ///< Empty: a power of two from 32 to 4096.
};
/// Values were not finite; computed once more, all are.
struct NotFiniteOnce {};

/// A picture, or with is_sound a recording, for a model that was loaded without its towers.
struct TowerLeftOut {
    bool is_sound = false;
};

} // namespace cause

struct ErrorCause {
    std::variant<cause::BadPlan,
                 cause::PromptTooLong,
                 cause::ContextFull,
                 cause::TooManyImageTokens,
                 cause::PictureTooLarge,
                 cause::PictureOverCall,
                 cause::BadOption,
                 cause::NotFiniteOnce,
                 cause::TowerLeftOut>
        what;
};

template <typename T>
std::shared_ptr<const ErrorCause> causeOf(T what) {
    return std::make_shared<const ErrorCause>(ErrorCause{std::move(what)});
}

} // namespace engine
