// SPDX-License-Identifier: Apache-2.0
#include "ipc/attendant.h"

#ifndef _WIN32
#include "engine/base/paths.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

namespace ipc {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostPath = 4096;
/// A pipe or a terminal that takes nothing for so long loses the line.
constexpr int kPrintPatienceMs = 1000;
/// No larger than what a pipe that is ready takes without waiting.
constexpr size_t kPiece = 4096;

/// ASCII without what a terminal obeys: what is printed there is a library's, in English.
void makePlain(char* text, size_t size) {
    for (size_t i = 0; i < size; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool is_control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte >= 0x7f;
        text[i] = is_control ? '?' : text[i];
    }
}

void print(const char* text, size_t size) {
    pollfd end = {STDERR_FILENO, POLLOUT, 0};
    if (::poll(&end, 1, kPrintPatienceMs) > 0 && (end.revents & POLLOUT) != 0) {
        static_cast<void>(::write(STDERR_FILENO, text, size) >= 0);
    }
}

/// False: nobody prints any more, or nothing is there yet.
bool passOn(int printed) {
    std::array<char, kPiece> text = {};
    const ssize_t got = ::read(printed, text.data(), text.size());
    if (got > 0) {
        makePlain(text.data(), static_cast<size_t>(got));
        print(text.data(), static_cast<size_t>(got));
    }
    return got > 0;
}

bool isBelow(const fs::path& file, const fs::path& folder) {
    const auto [at, end] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    return at == folder.end();
}

/// One byte and, where it is lent, a descriptor with it.
void reply(int asked, int lent) {
    char word = lent >= 0 ? 1 : 0;
    iovec piece = {&word, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room = {};
    msghdr message = {};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (lent >= 0) {
        message.msg_control = room.data();
        message.msg_controllen = room.size();
        cmsghdr* const head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(head), &lent, sizeof(int));
    }
    static_cast<void>(::sendmsg(asked, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0);
}

} // namespace

Attendant::Attendant(int printed, int asked)
    : printed_(printed), asked_(asked), thread_([this] { attend(); }) {}

Attendant::~Attendant() {
    ::shutdown(asked_, SHUT_RDWR);
    thread_.join();
    ::close(asked_);
    ::close(printed_);
}

void Attendant::allow(std::vector<std::string> paths) {
    std::vector<fs::path> allowed;
    for (const std::string& name : paths) {
        const fs::path path = engine::pathFromUtf8(name);
        fs::path folder = path.has_filename() ? path : path.parent_path();
        if (folder.empty()) {
            continue;
        }
        allowed.push_back(folder);
        if (folder.parent_path().filename() == "snapshots") { // in a hub's cache
            folder = folder.parent_path().parent_path();
            allowed.push_back(folder);
        }
        allowed.push_back(folder += "-assistant");
    }
    const std::lock_guard lock(mutex_);
    allowed_ = std::move(allowed);
}

bool Attendant::mayLend(const fs::path& file) const {
    std::vector<fs::path> allowed;
    {
        const std::lock_guard lock(mutex_);
        allowed = allowed_;
    }
    std::error_code failed;
    for (fs::path& path : allowed) {
        path = fs::canonical(path, failed);
        if (!failed && isBelow(file, path)) {
            return true;
        }
    }
    return false;
}

bool Attendant::lend() {
    std::array<char, kMostPath> name = {};
    const ssize_t got = ::recv(asked_, name.data(), name.size(), MSG_DONTWAIT);
    if (got <= 0) {
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    std::error_code failed;
    const fs::path file = fs::canonical(std::string(name.data(), static_cast<size_t>(got)), failed);
    int lent = -1;
    if (!failed && mayLend(file)) {
        // Nothing is opened whose opening does something.
        struct stat info {};
        const bool is_known =
            ::lstat(file.c_str(), &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
        lent = is_known
                   ? ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
                   : -1;
    }
    reply(asked_, lent);
    if (lent >= 0) {
        ::close(lent);
    }
    return true;
}

void Attendant::attend() {
    std::array<pollfd, 2> ends = {};
    ends[0] = {printed_, POLLIN, 0};
    ends[1] = {asked_, POLLIN, 0};
    bool is_asked = true;
    while (is_asked) {
        if (::poll(ends.data(), ends.size(), -1) < 0) {
            continue;
        }
        if (ends[0].revents != 0 && !passOn(printed_)) {
            ends[0].fd = -1; // poll() leaves it out
        }
        is_asked = ends[1].revents == 0 || lend();
    }
    while (ends[0].fd >= 0 && passOn(printed_)) {
    }
}

bool canBorrow() {
    int kind = 0;
    socklen_t size = sizeof(kind);
    return ::getsockopt(kLendingEnd, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 &&
           kind == SOCK_SEQPACKET;
}

int borrow(const fs::path& path) {
    static std::mutex mutex; // one question at a time
    const std::string& name = path.native();
    if (name.size() > kMostPath) {
        return -1;
    }
    const std::lock_guard lock(mutex);
    if (::send(kLendingEnd, name.data(), name.size(), MSG_NOSIGNAL) < 0) {
        return -1;
    }
    char word = 0;
    iovec piece = {&word, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room = {};
    msghdr message = {};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    ssize_t got = 0;
    do {
        got = ::recvmsg(kLendingEnd, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    const cmsghdr* const head = got == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
    int lent = -1;
    if (word == 1 && head != nullptr && head->cmsg_type == SCM_RIGHTS) {
        std::memcpy(&lent, CMSG_DATA(head), sizeof(int));
    }
    return lent;
}

} // namespace ipc
#endif
