// SPDX-License-Identifier: Apache-2.0
#include "ipc/attendant.h"

#ifndef _WIN32
#include "engine/base/gguf_names.h"
#include "engine/base/paths.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <utility>

namespace ipc {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostPath = 4096;
/// A pipe or a terminal that takes nothing for so long loses the line.
constexpr int kPrintPatienceMs = 1000;
/// For its thread to end: longer than a line is waited for.
constexpr std::chrono::milliseconds kEndPatience{2000};
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

/// `is_losing`: the line before was lost; then nothing is waited for until one is taken.
void print(const char* text, size_t size, bool& is_losing) {
    pollfd end = {STDERR_FILENO, POLLOUT, 0};
    const bool is_taken = ::poll(&end, 1, is_losing ? 0 : kPrintPatienceMs) > 0;
    is_losing = !is_taken;
    if (is_taken && (end.revents & POLLOUT) != 0) {
        static_cast<void>(::write(STDERR_FILENO, text, size) >= 0);
    }
}

/// False: nobody prints any more, or nothing is there yet.
bool passOn(int printed, bool& is_losing) {
    std::array<char, kPiece> text = {};
    const ssize_t got = ::read(printed, text.data(), text.size());
    if (got > 0) {
        makePlain(text.data(), static_cast<size_t>(got));
        print(text.data(), static_cast<size_t>(got), is_losing);
    }
    return got > 0;
}

bool isBelow(const fs::path& file, const fs::path& folder) {
    const auto [at, end] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    return at == folder.end();
}

/// Further parts, a projector or an assistant beside a GGUF model.
bool comesWith(const fs::path& file, const fs::path& model) {
    using engine::GgufRole;
    const GgufRole role = engine::ggufRole(engine::utf8Of(file.filename()));
    return role != GgufRole::None && role != GgufRole::Model &&
           engine::ggufRole(engine::utf8Of(model.filename())) != GgufRole::None &&
           file.parent_path() == model.parent_path();
}

/// What belongs to a named place: its assistant, and of one in a hub's cache, however deep, what
/// isHubCacheLink() of engine/files/model_files.cpp lets its links lead to.
void addPlaces(const fs::path& named, std::vector<fs::path>& places) {
    const auto assistant_of = [](fs::path folder) { return folder += "-assistant"; };
    places.push_back(named);
    places.push_back(assistant_of(named));
    for (fs::path at = named; at.has_relative_path(); at = at.parent_path()) {
        const fs::path repository = at.parent_path().parent_path();
        if (at.parent_path().filename() == "snapshots" && repository.has_filename()) {
            places.push_back(repository / "blobs");
            places.push_back(repository.parent_path() / "blobs"); // of all repositories
            places.push_back(assistant_of(repository));
        }
    }
}

/// `file`: without links. Where something is named as it is no other place is looked at: one may be
/// on a disk that answers no more.
bool isNamed(const fs::path& file, const std::vector<fs::path>& named) {
    std::vector<fs::path> places;
    for (const fs::path& path : named) {
        addPlaces(path, places);
    }
    const auto has_file = [&file](const fs::path& place) {
        return isBelow(file, place) || comesWith(file, place);
    };
    if (std::any_of(places.begin(), places.end(), has_file)) {
        return true;
    }
    std::error_code failed;
    for (const fs::path& path : named) {
        places.clear();
        addPlaces(path, places);
        if (const fs::path real = fs::canonical(path, failed); !failed && real != path) {
            addPlaces(real, places);
        }
        for (const fs::path& place : places) {
            const fs::path real = fs::canonical(place, failed);
            if (!failed && has_file(real)) {
                return true;
            }
        }
    }
    return false;
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
    if (::sendmsg(asked, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && lent >= 0) {
        reply(asked, -1); // the system hands over no more descriptors: who asks waits for a word
    }
}

} // namespace

struct Attendant::Shared {
    Shared(int printed_end, int asked_end) : printed(printed_end), asked(asked_end) {}
    ~Shared() {
        ::close(asked);
        ::close(printed);
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    /// The thread, until nobody asks any more.
    void attend();
    /// False: nobody asks any more.
    bool lend();
    [[nodiscard]] bool mayLend(const fs::path& file);

    const int printed, asked;
    std::mutex mutex;
    std::condition_variable over;
    std::vector<fs::path> allowed; ///< As they were named.
    bool is_over = false;
};

Attendant::Attendant(int printed, int asked)
    : shared_(std::make_shared<Shared>(printed, asked)),
      thread_([shared = shared_] { shared->attend(); }) {}

Attendant::~Attendant() {
    ::shutdown(shared_->asked, SHUT_RDWR);
    std::unique_lock lock(shared_->mutex);
    const bool is_over =
        shared_->over.wait_for(lock, kEndPatience, [this] { return shared_->is_over; });
    lock.unlock();
    if (is_over) {
        thread_.join();
    } else {
        thread_.detach();
    }
}

void Attendant::allow(const std::vector<std::string>& paths) {
    std::vector<fs::path> allowed;
    for (const std::string& name : paths) {
        const fs::path path = engine::pathFromUtf8(name);
        fs::path folder = path.has_filename() ? path : path.parent_path();
        if (!folder.empty()) {
            allowed.push_back(std::move(folder));
        }
    }
    const std::lock_guard lock(shared_->mutex);
    shared_->allowed = std::move(allowed);
}

bool Attendant::Shared::mayLend(const fs::path& file) {
    std::vector<fs::path> named;
    {
        const std::lock_guard lock(mutex);
        named = allowed;
    }
    return isNamed(file, named);
}

bool Attendant::Shared::lend() {
    std::array<char, kMostPath> name = {};
    const ssize_t got = ::recv(asked, name.data(), name.size(), MSG_DONTWAIT);
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
    reply(asked, lent);
    if (lent >= 0) {
        ::close(lent);
    }
    return true;
}

void Attendant::Shared::attend() {
    std::array<pollfd, 2> ends = {};
    ends[0] = {printed, POLLIN, 0};
    ends[1] = {asked, POLLIN, 0};
    bool is_asked = true;
    bool is_losing = false;
    while (is_asked) {
        if (::poll(ends.data(), ends.size(), -1) < 0) {
            continue;
        }
        if (ends[0].revents != 0 && !passOn(printed, is_losing)) {
            ends[0].fd = -1; // poll() leaves it out
        }
        is_asked = ends[1].revents == 0 || lend();
    }
    while (ends[0].fd >= 0 && passOn(printed, is_losing)) {
    }
    const std::lock_guard lock(mutex);
    is_over = true;
    over.notify_all();
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
