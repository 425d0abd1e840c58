// SPDX-License-Identifier: Apache-2.0
#include "ipc/link.h"

#include <utility>

namespace ipc {

engine::Result<std::unique_ptr<Link>> Link::start(const std::vector<std::string>& words) {
    ENGINE_ASSIGN(std::unique_ptr<Child> child, Child::start(words));
    return std::unique_ptr<Link>(new Link(std::move(child)));
}

Link::Link(std::unique_ptr<Child> child) : child_(std::move(child)), inbox_(child_->pipe()) {}

Link::~Link() {
    static_cast<void>(end(std::chrono::milliseconds(0)));
}

bool Link::send(Kind kind, uint64_t call, std::string_view payload) {
    const std::string bytes = frameBytes(kind, call, payload);
    return !bytes.empty() && child_->pipe().write(bytes);
}

engine::ChildEnd Link::end(std::chrono::milliseconds patience) {
    inbox_.close();
    // Where it lives it is asked first: it ends by itself when nobody is there any more.
    child_->pipe().shut();
    return child_->end(patience);
}

} // namespace ipc
