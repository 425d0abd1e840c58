// SPDX-License-Identifier: Apache-2.0
// The engine in a process of its own says what the engine on a thread says, stops when asked, and
// can do no more than it needs. How it dies: tst_process_faults.cpp.
#include "engine/api/error_cause.h"
#include "engine/devices/gpu_access.h"
#include "engine/run/engine.h"
#include "tests/ipc/asking.h"
#include "tests/support/processes.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#ifndef _WIN32
#include <sys/wait.h>
#endif

#include "tests/support/program/test_class.h"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "ipc/child.h"

using asking::Log;

namespace {

const std::string kHost = BELFRY_HOST_PROGRAM;

/// What a caller heard of one reply.
struct Heard {
    std::string text;
    engine::Reply reply;
    bool is_reply = false;
};

Heard ask(engine::EngineClient& engine, const engine::GenerateRequest& request) {
    Heard heard;
    const auto reply = engine.generate(
        request, [&](const engine::ReplyUpdate& update) { heard.text += update.text; }, {});
    heard.is_reply = reply.has_value();
    if (reply.has_value()) {
        heard.reply = *reply;
    }
    return heard;
}

#ifdef _WIN32

bool isWine() {
    return ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr;
}

#endif

/// Descriptors, on Windows handles, that this process has. Wine does not count them: the number of
/// the next one, which is the smallest that is free.
int64_t openOnes() {
#ifdef _WIN32
    if (isWine()) {
        const HANDLE next = ::CreateEventW(nullptr, FALSE, FALSE, nullptr);
        ::CloseHandle(next);
        return static_cast<int64_t>(reinterpret_cast<intptr_t>(next));
    }
    DWORD count = 0;
    return ::GetProcessHandleCount(::GetCurrentProcess(), &count) != 0 ? int64_t{count} : -1;
#else
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
#endif
}

using Told = std::map<std::string, std::string>;

/// "NAME: WORD" a line.
Told linesOf(const QByteArray& text) {
    Told told;
    for (const QByteArray& line : text.split('\n')) {
        const qsizetype at = line.indexOf(": ");
        if (at > 0) {
            told[line.left(at).toStdString()] = line.mid(at + 2).toStdString();
        }
    }
    return told;
}

/// A folder of somebody's, with a file in it.
std::string withFiles(const QString& folder) {
    QDir().mkpath(folder);
    QFile file(folder + QStringLiteral("/mine"));
    if (file.open(QIODevice::WriteOnly)) {
        file.write("x");
    }
    return folder.toStdString();
}

#ifndef _WIN32

/// By the system's word, whatever the kernel knows of files.
void verifyRefused(Told& told) {
    const std::string refused = std::to_string(EPERM);
    for (const char* name : {"execve",      "ptrace",
                             "attach",      "kill",
                             "kill all",    "sigqueue",
                             "tgsigqueue",  "limit other",
                             "cores other", "priority other",
                             "read memory", "fork",
                             "name spaces", "unshare",
                             "owner",       "signal of owner",
                             "outlive",     "dumpable",
                             "AF_INET",     "AF_INET6",
                             "AF_NETLINK",  "datagram",
                             "connect",     "send to",
                             "thread",      "type",
                             "paste",       "discipline",
                             "terminal",    "bpf",
                             "mount",       "keyctl",
                             "userfaultfd", "perf",
                             "handle",      "chmod",
                             "link",        "empty file",
                             "mode 3",      "empty mode 3"}) {
        QVERIFY2(told[name] == refused, (std::string(name) + ": " + told[name]).c_str());
    }
#ifdef __x86_64__
    QCOMPARE(told["empty, old call"], refused);
#endif
    for (const char* name : {"pidfd", "clone3", "io_uring", "fsopen"}) {
        QVERIFY2(told[name] == std::to_string(ENOSYS),
                 (std::string(name) + ": " + told[name]).c_str());
    }
    for (const char* name :
         {"kill own", "limit own", "AF_UNIX", "memfd", "own maps", "name thread"}) {
        QVERIFY2(told[name] == "0", (std::string(name) + ": " + told[name]).c_str());
    }
}

/// What nobody has named is out of reach, where the kernel limits files.
void verifyUnnamedFiles(Told& told) {
    if (told["files"] != "achieved") {
        QSKIP("this kernel has no Landlock: files are not limited");
    }
    for (const char* name :
         {"read file", "write file", "make file", "list folder", "passwords", "terminals",
          "environment", "memory", "rename", "unlink", "make folder"}) {
        QVERIFY2(told[name] == std::to_string(EACCES),
                 (std::string(name) + ": " + told[name]).c_str());
    }
}

#endif

/// What "limits" of host_program.cpp tells: started on Linux by anybody, on Windows as an engine.
std::string limitsOf(const std::string& folder) {
#ifdef _WIN32
    auto child = ipc::Child::start({kHost, "limits", folder});
    std::string told;
    if (child.has_value()) {
        char room[4096];
        while (const size_t got = (*child)->pipe().read(room, sizeof(room))) {
            told.append(room, got);
        }
    }
    return told;
#else
    return engine::runChild({kHost, "limits", folder}, std::chrono::seconds(60)).output;
#endif
}

} // namespace

class TestProcessEngine : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void saysTheSame();
    void inspectsTheSame();
    void movesAndAdapts();
    void looksAtMedia();
    void stops();
    void tellsOfLongWork();
    void errorsAreTheEngines();
    void isLimited();
    void staysLimitedInside();
    void isLentWhatIsNamed();
    void isLentWhatAHubsCacheLinksTo();
    void endsWithItsWindow();
    void leavesNoOrphan();
    void leavesNothing();
};

/// Greedy: the same tokens, the same words, told and as a whole.
void TestProcessEngine::saysTheSame() {
    Log log;
    engine::Engine here(asking::threadOptions());
    ipc::ProcessEngine there(asking::options({kHost, "cpu"}, log));
    for (engine::EngineClient* engine :
         {static_cast<engine::EngineClient*>(&here), static_cast<engine::EngineClient*>(&there)}) {
        const auto loaded = engine->load(asking::demoRequest("cpu"), {}, {});
        VERIFY_VALUE(loaded);
    }
    QVERIFY(there.isLoaded());
    QCOMPARE(there.loadedRequest().model, std::string("demo"));
    QVERIFY(there.summary() != nullptr && there.currentPlan() != nullptr);
    QCOMPARE(there.summary()->variant, here.summary()->variant);
    QCOMPARE(there.summary()->layers.size(), here.summary()->layers.size());
    QCOMPARE(there.currentPlan()->map_text, here.currentPlan()->map_text);
    QCOMPARE(there.currentPlan()->tensors.size(), here.currentPlan()->tensors.size());
    QCOMPARE(there.loadNotes().size(), here.loadNotes().size());
    QVERIFY(there.loadSeconds() > 0.0);
    for (const char* text : {"Hello", "What is a bell tower?", "Gr\xc3\xbc\xc3\x9f dich"}) {
        engine::GenerateRequest request = asking::question(24, text);
        request.uses_drafts = false;
        request.logprobs = 2;
        const Heard a = ask(here, request);
        const Heard b = ask(there, request);
        QVERIFY(a.is_reply && b.is_reply);
        QVERIFY(!a.reply.token_ids.empty());
        QCOMPARE(b.reply.token_ids, a.reply.token_ids);
        QCOMPARE(b.reply.input_ids, a.reply.input_ids);
        QCOMPARE(b.reply.text, a.reply.text);
        QCOMPARE(b.text, a.text);
        QCOMPARE(b.reply.id, uint64_t{7});
        QCOMPARE(there.contextUse(), here.contextUse());
    }
    QVERIFY(log.has(asking::kLimit));
}

void TestProcessEngine::inspectsTheSame() {
    Log log;
    engine::Engine here(asking::threadOptions());
    ipc::ProcessEngine there(asking::options({kHost, "cpu"}, log));
    const auto summary = there.inspect("demo", {});
    QVERIFY(summary.has_value());
    QCOMPARE(summary->parameters, here.inspect("demo", {})->parameters);
    QVERIFY(!there.isLoaded());
    QTRY_VERIFY(!there.machineMemory().empty());
}

void TestProcessEngine::movesAndAdapts() {
    Log log;
    ipc::ProcessEngine there(asking::options({kHost, "cpu"}, log));
    engine::LoadRequest request = asking::demoRequest("cpu");
    request.sim_gpus = {uint64_t{1} << 30U};
    QVERIFY(there.load(request, {}, {}).has_value());
    int steps = 0;
    const auto moved =
        there.applyMap("towers-cpu", [&](const engine::LoadProgressValue&) { ++steps; }, {});
    VERIFY_VALUE(moved);
    QVERIFY(steps > 0);
    QCOMPARE(there.currentPlan()->find({engine::PartRole::FinalNorm, -1})->compute,
             engine::DeviceId::sim(0));
    const std::string adapter = asking::demoFolder() + "/adapter";
    QVERIFY(there.setAdapters({{adapter, 0.5, true}}, {}).has_value());
    QCOMPARE(there.loadedRequest().adapters.size(), size_t{1});
    QCOMPARE(there.loadedRequest().adapters.front().strength, 0.5);
    QTRY_VERIFY(!there.memory().empty());
    there.unload();
    QVERIFY(!there.isLoaded() && there.summary() == nullptr && there.currentPlan() == nullptr);
}

void TestProcessEngine::looksAtMedia() {
    Log log;
    engine::Engine here(asking::threadOptions());
    ipc::ProcessEngine there(asking::options({kHost, "cpu"}, log));
    QVERIFY(here.load(asking::demoRequest("cpu"), {}, {}).has_value());
    QVERIFY(there.load(asking::demoRequest("cpu"), {}, {}).has_value());
    const std::string folder = asking::demoFolder() + "/samples";
    int looked = 0;
    for (const auto& entry : std::filesystem::directory_iterator(engine::pathFromUtf8(folder))) {
        engine::MessagePart part;
        part.text = engine::utf8Of(entry.path());
        part.kind = entry.path().extension() == ".wav" || entry.path().extension() == ".flac"
                        ? engine::MessagePart::Kind::Audio
                        : engine::MessagePart::Kind::Image;
        const auto a = here.mediaCost(part, 0);
        const auto b = there.mediaCost(part, 0);
        QCOMPARE(b.has_value(), a.has_value());
        if (a.has_value()) {
            ++looked;
            QCOMPARE(b->tokens, a->tokens);
            QCOMPARE(b->description, a->description);
            QVERIFY(there.encodeAhead(part, 0, {}).has_value());
        } else {
            QCOMPARE(b.error().message, a.error().message);
        }
    }
    QVERIFY(looked > 0);
}

void TestProcessEngine::stops() {
    Log log;
    ipc::ProcessEngine there(asking::options({kHost, "cpu"}, log));
    QVERIFY(there.load(asking::demoRequest("cpu"), {}, {}).has_value());
    std::stop_source stop;
    engine::GenerateRequest request = asking::question(2000);
    const auto reply = there.generate(
        request, [&](const engine::ReplyUpdate&) { stop.request_stop(); }, stop.get_token());
    QVERIFY(reply.has_value());
    QCOMPARE(reply->finish_reason, std::string("cancelled"));
    QVERIFY(reply->token_ids.size() < 2000);
    // A stop that came before the question.
    const auto second = there.generate(request, {}, stop.get_token());
    QVERIFY(!second.has_value() || second->finish_reason == "cancelled");
    // And it goes on.
    QVERIFY(there.generate(asking::question(3), {}, {}).has_value());
    // A load that is stopped leaves what was there.
    std::stop_source other;
    const auto load = there.load(
        asking::demoRequest("cpu"), [&](const engine::LoadProgressValue&) { other.request_stop(); },
        other.get_token());
    if (!load.has_value()) { // else it was done before
        QCOMPARE(load.error().code, engine::ErrorCode::Cancelled);
    }
    QVERIFY(there.isLoaded());
    QVERIFY(there.generate(asking::question(3), {}, {}).has_value());
}

void TestProcessEngine::tellsOfLongWork() {
    Log log;
    int stages = 0;
    int steps = 0;
    ipc::ProcessOptions options = asking::options({kHost, "cpu"}, log);
    engine::EngineClient* asked = nullptr;
    options.on_step = [&] {
        ++steps;
        // Plain questions in the middle of a call.
        static_cast<void>(asked->memory());
        static_cast<void>(asked->machineMemory());
        static_cast<void>(asked->contextUse());
    };
    ipc::ProcessEngine there(options);
    asked = &there;
    QVERIFY(there
                .load(asking::demoRequest("cpu"),
                      [&](const engine::LoadProgressValue& value) {
                          stages += value.stage.empty() ? 0 : 1;
                      },
                      {})
                .has_value());
    QVERIFY(stages > 0);
    // Not before the first word, but when it takes its time: 1000 tokens may be there within the
    // 250 ms from one to the next.
    steps = 0;
    for (int i = 0; i < 20 && steps == 0; ++i) {
        QVERIFY(there.generate(asking::question(3500), {}, {}).has_value());
    }
    QVERIFY(steps > 0);
}

void TestProcessEngine::errorsAreTheEngines() {
    Log log;
    engine::Engine here(asking::threadOptions());
    ipc::ProcessEngine there(asking::options({kHost, "cpu"}, log));
    std::vector<const char*> nowhere = {"/nowhere/at/all", ""};
#ifndef _WIN32
    nowhere.push_back("demo\xff"); // paths of Windows are no bytes
#endif
    for (const char* model : nowhere) {
        const auto a = here.inspect(model, {});
        const auto b = there.inspect(model, {});
        QVERIFY(!a.has_value() && !b.has_value());
        QCOMPARE(b.error().code, a.error().code);
        QCOMPARE(b.error().sentence.isEmpty(), a.error().sentence.isEmpty());
    }
    engine::LoadRequest bad = asking::demoRequest("{\"version\": 1, \"default\": \"nowhere\"}");
    const auto a = here.load(bad, {}, {});
    const auto b = there.load(bad, {}, {});
    QVERIFY(!a.has_value() && !b.has_value());
    QCOMPARE(b.error().message, a.error().message);
    QVERIFY(a.error().cause != nullptr && b.error().cause != nullptr);
    QCOMPARE(b.error().cause->errors.size(), a.error().cause->errors.size());
    // Nothing is loaded: the engine's own words, and no process died of it.
    QVERIFY(!there.generate(asking::question(3), {}, {}).has_value());
    engine::GenerateRequest large = asking::question(1);
    large.messages.front().parts.front().text = std::string(ipc::kMostPayload + 1, 'x');
    const auto refused = there.generate(large, {}, {});
    QVERIFY(!refused.has_value());
    QCOMPARE(refused.error().code, engine::ErrorCode::InvalidRequest);
    QVERIFY(!log.has("ended"));
}

/// By the system's word: what is denied is refused, on Linux in every thread (EPERM).
void TestProcessEngine::isLimited() {
    const QTemporaryDir user;
    auto told = linesOf(QByteArray::fromStdString(limitsOf(withFiles(user.path()))));
    const auto verify = [&told](std::initializer_list<const char*> names, const std::string& what) {
        for (const char* name : names) {
            QVERIFY2(told[name] == what, (std::string(name) + ": " + told[name]).c_str());
        }
    };
#ifdef _WIN32
    verify({"in a job"}, "achieved");
    if (!isWine()) { // whose jobs count no processes and tell no limits
        verify({"ends with the window", "no other programs"}, "achieved");
        verify({"another program"}, "refused");
    }
#else
    verify({"ends with the window", "memory killer", "no new privileges", "system calls"},
           "achieved");
    verifyRefused(told);
    if (QTest::currentTestFailed()) {
        return;
    }
    verifyUnnamedFiles(told);
#endif
}

/// In a process that a window has started, which goes on with its work.
void TestProcessEngine::staysLimitedInside() {
#ifdef _WIN32
    QSKIP("the limits of Windows are those of the job");
#else
    const QTemporaryDir folder;
    const std::string user = withFiles(folder.path() + QStringLiteral("/engine-user"));
    const QString own = folder.path() + QStringLiteral("/engine");
    QDir().mkpath(own);
    QFile wish(own + QStringLiteral("/probe"));
    QVERIFY(wish.open(QIODevice::WriteOnly));
    wish.write(QByteArray::number(QCoreApplication::applicationPid()));
    wish.close();
    Log log;
    ipc::ProcessEngine there(asking::options({kHost, "cpu", own.toStdString()}, log));
    engine::LoadRequest request = asking::demoRequest("cpu");
    request.threads = 2;
    const auto loaded = there.load(request, {}, {});
    VERIFY_VALUE(loaded);
    QVERIFY(there.generate(asking::question(5), {}, {}).has_value());
    QFile file(own + QStringLiteral("/told"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    Told told = linesOf(file.readAll());
    QCOMPARE(told["session"], std::string("0")); // of its own: no terminal is its
    QCOMPARE(told["is terminal"], std::string("0"));
    QCOMPARE(told["rights"], std::string("100600")); // of a file of its own
    told["files"] = log.has("files") ? "achieved" : "";
    verifyRefused(told);
    if (QTest::currentTestFailed()) {
        return;
    }
    verifyUnnamedFiles(told);
#endif
}

/// A model, an adapter and pictures anywhere, by name; a cache that is named is written.
void TestProcessEngine::isLentWhatIsNamed() {
    namespace fs = std::filesystem;
    const QTemporaryDir folder;
    const fs::path home = folder.path().toStdString();
    const fs::path demo = asking::demoFolder();
    fs::create_directories(home / "model");
    for (const auto& entry : fs::directory_iterator(demo)) {
        if (entry.is_regular_file()) {
            fs::copy_file(entry.path(), home / "model" / entry.path().filename());
        }
    }
    fs::copy(demo / "adapter", home / "adapter");
    fs::copy(demo / "samples", home / "samples");
    Log log;
    ipc::ProcessOptions options = asking::options({kHost, "cpu"}, log);
    options.host.rates_file = engine::utf8Of(home / "cache" / "rates");
    ipc::ProcessEngine there(options);
    QVERIFY(there.inspect(engine::utf8Of(home / "model"), {}).has_value());
    const int64_t process = there.process().id();
    engine::LoadRequest request = asking::demoRequest("cpu");
    request.model = engine::utf8Of(home / "model");
    request.quant = "nf4";
    request.cache_folder = engine::utf8Of(home / "cache");
    const auto loaded = there.load(request, {}, {});
    VERIFY_VALUE(loaded);
    QVERIFY(!fs::is_empty(home / "cache"));
    const auto adapted = there.setAdapters({{engine::utf8Of(home / "adapter"), 0.5, true}}, {});
    VERIFY_VALUE(adapted);
    int looked = 0;
    for (const auto& entry : fs::directory_iterator(home / "samples")) {
        engine::MessagePart part;
        part.text = engine::utf8Of(entry.path());
        part.kind = entry.path().extension() == ".wav" || entry.path().extension() == ".flac"
                        ? engine::MessagePart::Kind::Audio
                        : engine::MessagePart::Kind::Image;
        const bool is_looked_at = there.encodeAhead(part, 0, {}).has_value();
        looked += is_looked_at ? 1 : 0;
        QCOMPARE(there.mediaCost(part, 0).has_value(), is_looked_at);
        const bool is_sound = part.kind == engine::MessagePart::Kind::Audio;
        const std::vector<std::string> none;
        const std::vector<std::string> one = {part.text};
        QCOMPARE(there.checkMedia(request.model, is_sound ? none : one, is_sound ? one : none)
                     .has_value(),
                 is_looked_at);
    }
    QVERIFY(looked > 1);
    QVERIFY(there.generate(asking::question(5), {}, {}).has_value());
    QCOMPARE(there.process().id(), process); // none of it needed another process
    // Another cache does, where files are limited: with what is wanted now, not with what was.
    request.cache_folder = engine::utf8Of(home / "other");
    QVERIFY(there.load(request, {}, {}).has_value());
    QVERIFY(!fs::is_empty(home / "other"));
    QCOMPARE(there.process().id() != process, log.has("files"));
    QVERIFY(!log.has("loads the model again"));
}

/// By any name of a snapshot, and from folders in it: the repository's files, and those that all
/// repositories share.
void TestProcessEngine::isLentWhatAHubsCacheLinksTo() {
#ifdef _WIN32
    QSKIP("the limits of Windows are those of the job");
#else
    namespace fs = std::filesystem;
    const QTemporaryDir folder;
    const fs::path home = folder.path().toStdString();
    const fs::path repository = home / "hub" / "models--a--b";
    const fs::path snapshot = repository / "snapshots" / "rev";
    fs::create_directories(repository / "blobs");
    fs::create_directories(home / "hub" / "blobs" / "aa");
    int count = 0;
    const auto link_all = [&](const fs::path& from, const fs::path& to) {
        fs::create_directories(to);
        for (const auto& entry : fs::directory_iterator(from)) {
            if (!entry.is_regular_file()) {
                continue;
            }
            ++count;
            const std::string hash = std::string(37, 'a') + std::to_string(100 + count);
            const fs::path own = repository / "blobs" / hash;
            const fs::path shared = home / "hub" / "blobs" / "aa" / hash;
            const bool is_shared = count % 2 == 0;
            fs::copy_file(entry.path(), is_shared ? shared : own);
            if (is_shared) {
                fs::create_symlink(shared, own);
            }
            fs::create_symlink(own, to / entry.path().filename());
        }
    };
    const fs::path demo = asking::demoFolder();
    link_all(demo, snapshot);
    link_all(demo / "adapter", snapshot / "checkpoint-500");
    fs::create_directory_symlink(snapshot, home / "m");
    for (const fs::path& model : {snapshot, home / "m"}) {
        Log log;
        ipc::ProcessEngine there(asking::options({kHost, "cpu"}, log));
        engine::LoadRequest request = asking::demoRequest("cpu");
        request.model = engine::utf8Of(model);
        const auto loaded = there.load(request, {}, {});
        VERIFY_VALUE(loaded);
    }
    Log log;
    ipc::ProcessEngine there(asking::options({kHost, "cpu"}, log));
    QVERIFY(there.load(asking::demoRequest("cpu"), {}, {}).has_value());
    const auto adapted =
        there.setAdapters({{engine::utf8Of(snapshot / "checkpoint-500"), 0.5, true}}, {});
    VERIFY_VALUE(adapted);
#endif
}

void TestProcessEngine::endsWithItsWindow() {
    Log log;
    auto there = std::make_unique<ipc::ProcessEngine>(asking::options({kHost, "cpu"}, log));
    QVERIFY(there->inspect("demo", {}).has_value());
    const int64_t id = there->process().id();
    QVERIFY(id > 0 && support::isRunning(id));
    there.reset();
    QVERIFY(!support::isRunning(id));
}

/// Whoever ends the window asks neither it nor the engine.
void TestProcessEngine::leavesNoOrphan() {
    QProcess window;
    window.start(QString::fromStdString(kHost), {QStringLiteral("window")});
    QVERIFY(window.waitForStarted(60000));
    QTRY_VERIFY_WITH_TIMEOUT(window.canReadLine(), 60000);
    const int64_t id = window.readLine().trimmed().toLongLong();
    QVERIFY(id > 0 && id != window.processId() && support::isRunning(id));
    QVERIFY(support::killProcess(window.processId()));
    QVERIFY(window.waitForFinished(60000));
    QTRY_VERIFY_WITH_TIMEOUT(!support::isRunning(id), 10000);
}

/// Neither descriptors nor processes.
void TestProcessEngine::leavesNothing() {
    const auto startOne = [] {
        Log log;
        ipc::ProcessEngine there(asking::options({kHost, "cpu"}, log));
        const auto info = there.inspect("demo", {});
        VERIFY_VALUE(info);
    };
    startOne(); // what the system opens once stays
    const int64_t before = openOnes();
    QVERIFY(before > 0);
    for (int i = 0; i < 20; ++i) {
        startOne();
    }
    QCOMPARE(openOnes(), before);
#ifndef _WIN32
    QCOMPARE(::waitpid(-1, nullptr, WNOHANG), -1);
    QCOMPARE(errno, ECHILD);
#endif
}

TEST_CLASS_WITH(QCoreApplication, TestProcessEngine)
#include "tst_process_engine.moc"
