// SPDX-License-Identifier: Apache-2.0
// Tells a std::variant, and what is derived from one (engine/api/values.cpp says why), from
// structs.
#pragma once

#include <type_traits>
#include <variant>

namespace ipc {

std::false_type isVariantAt(const void* value);
template <typename... Ts>
std::true_type isVariantAt(const std::variant<Ts...>* value);

template <typename T>
inline constexpr bool kIsVariant = decltype(isVariantAt(static_cast<const T*>(nullptr)))::value;

} // namespace ipc
