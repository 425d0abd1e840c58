// SPDX-License-Identifier: Apache-2.0
// The operands of cases that tests/kernels has in the host's memory, in a card's.
#pragma once

#include "tests/gpu/kernel_check.h"
#include "tests/support/moved_operands.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>

namespace kernel_check {

class CardCopies {
public:
    /// Cases have eachOperand(take). They outlive the copies where these are brought back.
    template <typename... Cases>
    explicit CardCopies(Device& d, const Cases&... cases) : d_(&d) {
        (cases.eachOperand([this](void* host, size_t size) { add(host, size); }), ...);
    }
    /// Where what lies at `host` is in the card's memory.
    template <typename T>
    T* there(T* host) const {
        if (host == nullptr) {
            return nullptr;
        }
        const auto address = reinterpret_cast<uintptr_t>(host);
        const auto behind = copies_.upper_bound(address);
        const size_t offset =
            behind == copies_.begin() ? SIZE_MAX : address - std::prev(behind)->first;
        if (offset == SIZE_MAX || offset >= std::prev(behind)->second.size) {
            std::printf("an operand is in no copy\n");
            std::exit(1);
        }
        return reinterpret_cast<T*>(static_cast<std::byte*>(std::prev(behind)->second.card->data) +
                                    offset);
    }
    /// Arguments of a case for the card.
    template <typename Args>
    Args moved(const Args& args) const {
        return support::MovedOperands([this](auto* p) { return there(p); })(args);
    }
    void bringBack() const {
        for (const auto& [address, copy] : copies_) {
            d_->copyOut(copy.host, copy.card->data, copy.size);
        }
        d_->synchronize();
    }

private:
    struct Copy {
        void* host;
        size_t size;
        std::unique_ptr<Buffer> card;
    };
    void add(void* host, size_t size) {
        if (size == 0) {
            return;
        }
        auto card = std::make_unique<Buffer>(*d_, size + 64);
        d_->copyIn(card->data, host, size);
        copies_.emplace(reinterpret_cast<uintptr_t>(host), Copy{host, size, std::move(card)});
    }

    Device* d_;
    std::map<uintptr_t, Copy> copies_;
};

} // namespace kernel_check
