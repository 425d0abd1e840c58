// SPDX-License-Identifier: Apache-2.0
// What a struct is made of, said once for Writer and Reader. A field that is left out, or an
// enumerator, does not compile: the binding has as many names as the struct has members, the switch
// all that the enum has.
#pragma once

#include <type_traits>

#include "ipc/reader.h"
#include "ipc/writer.h"

// IPC_EACH(M, a, b): M(a) M(b), for up to 30 of them.
#define IPC_PARENS ()
#define IPC_EXPAND(...) IPC_EXPAND_2(IPC_EXPAND_2(IPC_EXPAND_2(__VA_ARGS__)))
#define IPC_EXPAND_2(...) IPC_EXPAND_1(IPC_EXPAND_1(IPC_EXPAND_1(__VA_ARGS__)))
#define IPC_EXPAND_1(...) IPC_EXPAND_0(IPC_EXPAND_0(IPC_EXPAND_0(__VA_ARGS__)))
#define IPC_EXPAND_0(...) __VA_ARGS__
#define IPC_EACH(macro, ...) __VA_OPT__(IPC_EXPAND(IPC_EACH_NEXT(macro, __VA_ARGS__)))
#define IPC_EACH_NEXT(macro, first, ...)                                                           \
    macro(first) __VA_OPT__(IPC_EACH_AGAIN IPC_PARENS(macro, __VA_ARGS__))
#define IPC_EACH_AGAIN() IPC_EACH_NEXT
#define IPC_CASE(name) case name:

/// IPC_FIELDS(engine::ToolCall, id, name, arguments): all members, in their order.
#define IPC_FIELDS(Type, ...)                                                                      \
    template <typename Archive>                                                                    \
    void fields(Archive& ipc_archive, Type& ipc_whole) {                                           \
        auto& [__VA_ARGS__] = ipc_whole;                                                           \
        ipc_archive(__VA_ARGS__);                                                                  \
    }

/// A struct without members.
#define IPC_EMPTY(Type)                                                                            \
    template <typename Archive>                                                                    \
    void fields(Archive& /*archive*/, Type& /*whole*/) {                                           \
        static_assert(std::is_empty_v<Type>);                                                      \
    }

/// All enumerators.
#define IPC_ENUM(Type, ...)                                                                        \
    constexpr bool isKnown(Known /*tag*/, Type ipc_value) {                                        \
        using enum Type;                                                                           \
        switch (ipc_value) {                                                                       \
            IPC_EACH(IPC_CASE, __VA_ARGS__)                                                        \
            return true;                                                                           \
        }                                                                                          \
        return false;                                                                              \
    }
