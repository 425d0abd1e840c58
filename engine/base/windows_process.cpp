// SPDX-License-Identifier: Apache-2.0
#include "engine/base/windows_process.h"

#ifdef _WIN32

#include "engine/base/paths.h"

#include <algorithm>

namespace engine {

namespace {

/// One word of a command line as the C run time of the child takes it apart again.
std::wstring quoted(const std::wstring& word) {
    constexpr wchar_t kQuote = 0x22;
    constexpr wchar_t kBackslash = 0x5c;
    std::wstring text(1, kQuote);
    size_t backslashes = 0;
    for (const wchar_t c : word) {
        if (c == kBackslash) {
            ++backslashes;
            continue;
        }
        text.append(c == kQuote ? 2 * backslashes + 1 : backslashes, kBackslash);
        backslashes = 0;
        text += c;
    }
    text.append(2 * backslashes, kBackslash);
    return text + kQuote;
}

/// The child's streams may be given to it, and nothing else of ours.
class OnlyTheseHandles {
public:
    OnlyTheseHandles(HANDLE* handles, size_t count) {
        SIZE_T bytes = 0;
        InitializeProcThreadAttributeList(nullptr, 1, 0, &bytes);
        room_.resize(bytes);
        auto* list = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(room_.data());
        if (InitializeProcThreadAttributeList(list, 1, 0, &bytes) != 0) {
            list_ = list;
            is_good_ =
                UpdateProcThreadAttribute(list_, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles,
                                          count * sizeof(HANDLE), nullptr, nullptr) != 0;
        }
    }
    ~OnlyTheseHandles() {
        if (list_ != nullptr) {
            DeleteProcThreadAttributeList(list_);
        }
    }
    OnlyTheseHandles(const OnlyTheseHandles&) = delete;
    OnlyTheseHandles& operator=(const OnlyTheseHandles&) = delete;
    [[nodiscard]] LPPROC_THREAD_ATTRIBUTE_LIST get() const { return is_good_ ? list_ : nullptr; }

private:
    std::vector<unsigned char> room_;
    LPPROC_THREAD_ATTRIBUTE_LIST list_ = nullptr;
    bool is_good_ = false;
};

} // namespace

std::string systemError(const char* what) {
    return std::string(what) + ": Windows error " + std::to_string(GetLastError());
}

std::string startInJob(const std::vector<std::string>& words,
                       const ChildStreams& streams,
                       uint32_t most_processes,
                       Handle& job,
                       Handle& process) {
    std::wstring line;
    for (const std::string& word : words) {
        line += (line.empty() ? L"" : L" ") + quoted(pathFromUtf8(word).wstring());
    }
    std::vector<HANDLE> handles = {streams.in, streams.out, streams.error};
    std::sort(handles.begin(), handles.end()); // the list takes none twice
    handles.erase(std::unique(handles.begin(), handles.end()), handles.end());
    const OnlyTheseHandles only(handles.data(), handles.size());
    STARTUPINFOEXW startup{};
    startup.StartupInfo.cb = only.get() != nullptr ? sizeof(STARTUPINFOEXW) : sizeof(STARTUPINFOW);
    startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    startup.StartupInfo.hStdInput = streams.in;
    startup.StartupInfo.hStdOutput = streams.out;
    startup.StartupInfo.hStdError = streams.error;
    startup.lpAttributeList = only.get();
    const DWORD flags = CREATE_NO_WINDOW | CREATE_SUSPENDED |
                        (only.get() != nullptr ? EXTENDED_STARTUPINFO_PRESENT : 0);
    PROCESS_INFORMATION made{};
    if (CreateProcessW(pathFromUtf8(words.front()).wstring().c_str(), line.data(), nullptr, nullptr,
                       TRUE, flags, nullptr, nullptr, &startup.StartupInfo, &made) == 0) {
        return systemError("CreateProcessW");
    }
    process.reset(made.hProcess);
    job.reset(CreateJobObjectW(nullptr, nullptr));
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
    limits.BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION |
        (most_processes > 0 ? JOB_OBJECT_LIMIT_ACTIVE_PROCESS : 0);
    limits.BasicLimitInformation.ActiveProcessLimit = most_processes;
    if (job.get() != nullptr &&
        SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits,
                                sizeof(limits)) != 0) {
        // Where we are in a job that lets nobody out, the child's own limit or the end of its
        // streams ends it.
        static_cast<void>(AssignProcessToJobObject(job.get(), made.hProcess));
    }
    ResumeThread(made.hThread);
    CloseHandle(made.hThread);
    return {};
}

} // namespace engine

#endif
