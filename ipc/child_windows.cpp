// SPDX-License-Identifier: Apache-2.0
#ifdef _WIN32
#include "engine/base/windows_process.h"

#include <algorithm>
#include <utility>

#include "ipc/child.h"

namespace ipc {

struct ChildHandles {
    engine::Handle process, job;
};

namespace {

/// Buffer per direction: a request with its settings fits, so that nobody waits for a reader.
constexpr DWORD kPipeBytes = DWORD{256} << 10U;

} // namespace

engine::Result<std::unique_ptr<Child>> Child::start(const std::vector<std::string>& words) {
    SECURITY_ATTRIBUTES inherited{sizeof(SECURITY_ATTRIBUTES), nullptr, TRUE};
    engine::Handle their_in;
    engine::Handle our_out;
    engine::Handle our_in;
    engine::Handle their_out;
    std::unique_ptr<Child> child(new Child);
    child->handles_ = std::make_unique<ChildHandles>();
    std::string why;
    if (CreatePipe(their_in.out(), our_out.out(), &inherited, kPipeBytes) == 0 ||
        CreatePipe(our_in.out(), their_out.out(), &inherited, kPipeBytes) == 0) {
        why = engine::systemError("CreatePipe");
    } else {
        SetHandleInformation(our_in.get(), HANDLE_FLAG_INHERIT, 0);
        SetHandleInformation(our_out.get(), HANDLE_FLAG_INHERIT, 0);
        const engine::Handle nothing(CreateFileW(L"NUL", GENERIC_WRITE,
                                                 FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited,
                                                 OPEN_EXISTING, 0, nullptr));
        why = engine::startInJob(words, {their_in.get(), their_out.get(), nothing.get()}, 1,
                                 child->handles_->job, child->handles_->process);
    }
    if (!why.empty()) {
        child->is_over_ = true;
        return engine::Error{engine::ErrorCode::Internal,
                             engine::said("the engine's process cannot be started (%1: %2); start "
                                          "Belfry with --in-process to do without it",
                                          words.front(), why)};
    }
    child->pipe_ = Pipe(reinterpret_cast<Pipe::End>(our_in.release()),
                        reinterpret_cast<Pipe::End>(our_out.release()));
    child->id_ = GetProcessId(child->handles_->process.get());
    return child;
}

Child::Child() = default;

Child::~Child() {
    pipe_.shut();
    static_cast<void>(end(std::chrono::milliseconds(0)));
}

void Child::allow(const std::vector<std::string>& /*paths*/) {} // it opens what the user may open

bool Child::hasEnded(std::chrono::milliseconds wait) {
    HANDLE process = handles_->process.get();
    if (WaitForSingleObject(process, static_cast<DWORD>(std::max<int64_t>(0, wait.count()))) !=
        WAIT_OBJECT_0) {
        return false;
    }
    DWORD code = 0;
    GetExitCodeProcess(process, &code);
    constexpr DWORD kExceptions = 0xC0000000; // of nobody caught
    end_.kind =
        code >= kExceptions ? engine::ChildEnd::Kind::Crashed : engine::ChildEnd::Kind::Exited;
    end_.code = code;
    return true;
}

void Child::kill() {
    TerminateProcess(handles_->process.get(), 1);
}

} // namespace ipc
#endif
