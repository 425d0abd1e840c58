// SPDX-License-Identifier: Apache-2.0
// The rules of the house that a search through the sources can check. Each is a row of the table
// rules(): what must not stand where, which files may hold it by design, and how many lines of
// which files still break it. That last list may only become shorter: a file that has fewer such
// lines than it says fails as well as one that has more. So do the counts of ratchets().
#include "tests/house/source_text.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"

#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Rule {
    const char* name;
    const char* says; ///< For who broke it.
    house::Look look;
    const char* pattern;              ///< PCRE, searched in each line.
    std::vector<std::string> folders; ///< Searched, with all below.
    std::vector<std::string> allowed; ///< Folders ("a/b/") and files that may hold it.
    std::map<std::string, int> still; ///< Files that still break it: how many lines.
    /// For the check of the check: a file that breaks the rule with its only line.
    const char* violation;
};

std::vector<Rule> rules() {
    const std::vector<std::string> product = {"engine", "models", "remote", "ipc",
                                              "ui",     "app",    "kernels"};
    return {
        {"part names",
         "asks for a part of a model by its name: ask for its role (engine/api/part.h); names are "
         "in the family's names.h",
         house::Look::Strings,
         R"(language_model|(vision|audio)_tower(?!\.h)|embed_vision|embed_audio|embed_tokens|lm_head)"
         R"(|per_layer_(model_)?projection|per_layer_input_gate|self_attn)"
         R"(|\b(q|k|v|o|gate|up|down|gate_up)_proj\b)",
         product,
         {"engine/families/", "engine/plan/map_keys.cpp", "engine/lora/key_spelling.cpp"},
         {
             {"app/cli/grammar.cpp", 1}, // help of --adapter-targets
             // Sentences that name keys of a map.
             {"engine/plan/map_resolve.cpp", 3},
             {"ui/common/window_sentences.cpp", 2},
         },
         "if (module == \"model.vision_tower\") { return 1; }\n"},
        {"environment",
         "reads the environment: options are handed down, app reads it (app/common/environment.h)",
         house::Look::Code,
         R"(\bgetenv\s*\(|\bqgetenv\b|\bqEnvironmentVariable)",
         {"engine", "kernels", "models", "remote", "ipc", "ui"},
         {},
         {},
         "const bool is_on = std::getenv(\"X\") != nullptr;\n"},
        {"cards",
         "includes kernels/cuda: the engine asks devices (kernels/device.h, engine/devices)",
         house::Look::Code,
         R"(#\s*include\s+"kernels/cuda/)",
         {"engine", "models", "remote", "ipc", "ui", "app"},
         {"engine/devices/"},
         {},
         "#include \"kernels/cuda/cuda_device.h\"\n"},
        {"door",
         "goes past the engine's door: app includes engine/run/engine.h, engine/client, engine/api "
         "and engine/base",
         house::Look::Code,
         R"(#\s*include\s+"(engine/(?!api/|base/|client/|run/engine\.h")|kernels/))",
         {"app"},
         {},
         {},
         "#include \"engine/plan/planner.h\"\n"},
        {"models' door",
         "goes past the engine's door: models includes what app may, and what says which files a "
         "model has (engine/files, engine/lora/adapter_config.h)",
         house::Look::Code,
         R"(#\s*include\s+"(engine/(?!api/|base/|client/|files/|lora/adapter_config\.h"|run/engine\.h")|kernels/))",
         {"models"},
         {},
         {},
         "#include \"engine/plan/planner.h\"\n"},
        {"remote's door",
         "needs more than values, the interface of engines, readers of media and the network: an "
         "engine elsewhere computes nothing here",
         house::Look::Code,
         R"(#\s*include\s+"(engine/(?!api/|base/|client/|media/)|kernels/|models/(?!hub/(http|url)\.h")))",
         {"remote"},
         {},
         {},
         "#include \"engine/run/engine.h\"\n"},
        {"ipc's door",
         "needs more than values and the interface of engines: which engine runs in a process of "
         "its own is app's to say",
         house::Look::Code,
         R"(#\s*include\s+"(engine/(?!api/|base/|client/)|kernels/|models/|remote/))",
         {"ipc"},
         {},
         {},
         "#include \"engine/run/engine.h\"\n"},
        {"plain C++",
         "uses Qt: engine, kernels, models, ipc and remote are plain C++; the network is behind "
         "models/hub/http.h",
         house::Look::Code,
         R"(#\s*include\s+[<"]Q)",
         {"engine", "kernels", "models", "remote", "ipc"},
         {},
         {},
         "#include <QString>\n"},
        {"values",
         "sees more of the engine than its values: ui includes engine/api alone",
         house::Look::Code,
         R"(#\s*include\s+"(engine/(?!api/)|kernels/|app/))",
         {"ui"},
         {},
         {},
         "#include \"engine/run/engine.h\"\n"},
        {"sentences",
         "takes a text apart: the engine's notes, suggestions and errors come as values",
         house::Look::Code,
         R"(\bQRegularExpression\b|\bstd::regex\b)"
         R"(|(\.|->)(message|what|sentence|description|stage)\.(find|rfind|compare|substr|starts_with)"
         R"(|ends_with|contains)\()",
         {"ui"},
         {"ui/chat/chat_panels.cpp", "ui/layout/plan_options_dialog.cpp"}, // what users type
         {},
         "static const QRegularExpression kMoved(text);\n"},
        {"waiting",
         "shares memory between threads or waits for one: ui gets values by queued signals",
         house::Look::Code,
         R"(\b(Q(Recursive)?Mutex|QReadWriteLock|QSemaphore|QWaitCondition)\b)"
         R"(|\bstd::(\w*mutex|condition_variable\w*)\b|\bBlockingQueuedConnection\b)",
         {"ui"},
         {},
         {},
         "    QMutex mutex;\n"},
    };
}

/// A count over all sources that may only sink: the test fails as well where fewer are counted,
/// until the row says so.
struct Ratchet {
    const char* name;
    const char* pattern;  ///< PCRE.
    bool counts_comments; ///< Else files with a match in their code, strings aside.
    std::vector<std::string> folders;
    int count;
    const char* match; ///< For the check of the check: counts one in a file of its own.
};

std::vector<Ratchet> ratchets() {
    const std::vector<std::string> ours = {"app",    "engine", "ipc",   "kernels",
                                           "models", "remote", "tests", "ui"};
    return {
        {"files with NF4", "(?i)nf4", false, {"engine", "kernels"}, 9, "int kNf4Block;"},
        {"files with an activation", "(?i)gelu|silu", false, {"engine", "kernels"}, 7, "kGelu,"},
        // The goal is 0.
        {"comments that begin with Of", R"((?<!/)//[/<]* Of\b)", true, ours, 0, "//\x20Of b"},
    };
}

int countOf(const Ratchet& ratchet, const std::map<std::string, std::string>& sources) {
    const QRegularExpression pattern(QString::fromLatin1(ratchet.pattern));
    int count = 0;
    for (const auto& [path, source] : sources) {
        if (ratchet.counts_comments) {
            count += static_cast<int>(QString::fromStdString(source).count(pattern));
            continue;
        }
        const std::vector<std::string> lines = house::linesOf(source, house::Look::Bare);
        const bool has_one = std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
            return pattern.match(QString::fromStdString(line)).hasMatch();
        });
        count += has_one ? 1 : 0;
    }
    return count;
}

/// Lines, from 1, of a source that the rule forbids.
std::vector<int> brokenLines(const Rule& rule, const std::string& source) {
    const QRegularExpression pattern(QString::fromLatin1(rule.pattern));
    std::vector<int> found;
    int number = 0;
    for (const std::string& line : house::linesOf(source, rule.look)) {
        ++number;
        if (!line.empty() && pattern.match(QString::fromStdString(line)).hasMatch()) {
            found.push_back(number);
        }
    }
    return found;
}

bool isAllowed(const Rule& rule, const std::string& path) {
    return std::any_of(rule.allowed.begin(), rule.allowed.end(), [&](const std::string& allowed) {
        return allowed.ends_with('/') ? path.starts_with(allowed) : path == allowed;
    });
}

/// What is wrong, one line per file; empty: nothing.
std::string complaints(const Rule& rule, const std::map<std::string, std::string>& sources) {
    std::string text;
    std::map<std::string, int> still = rule.still;
    for (const auto& [path, source] : sources) {
        const int known = still.contains(path) ? still.at(path) : 0;
        still.erase(path);
        if (isAllowed(rule, path)) {
            continue;
        }
        const std::vector<int> lines = brokenLines(rule, source);
        const auto count = static_cast<int>(lines.size());
        if (count > known) {
            text += path + ":";
            for (const int line : lines) {
                text += " " + std::to_string(line);
            }
            text += std::string(" ") + rule.says + "\n";
        } else if (count < known) {
            text += path + ": " + std::to_string(count) + " lines are left, the list says " +
                    std::to_string(known) + ": write that there\n";
        }
    }
    for (const auto& [path, count] : still) {
        text += path + ": is in the list of those that still break the rule, and does not exist\n";
    }
    return text;
}

} // namespace

class TestRules : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void texts_data();
    void texts();
    void areKept_data();
    void areKept();
    void findAViolation_data();
    void findAViolation();
    void listOnlyShrinks();
    void numbersOnlySink_data();
    void numbersOnlySink();
};

void TestRules::texts_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray, QByteArray>("source", "strings", "code",
                                                                        "bare");
    const auto row = [](const char* name, const char* source, const char* strings, const char* code,
                        const char* bare) {
        QTest::newRow(name) << QByteArray(source) << QByteArray(strings) << QByteArray(code)
                            << QByteArray(bare);
    };
    row("strings", "f(\"a\", \"b\");", "a b ", "f(\"a\", \"b\");", "f(\"\", \"\");");
    row("line comment", "x; // \"a\"\ny", "|", "x; |y", "x; |y");
    row("block comment", "x /* \"a\"\n \" */ y", "|", "x | y", "x | y");
    row("comment in a string", "\"a // b /* c\" d", "a // b /* c ", "\"a // b /* c\" d", "\"\" d");
    row("escapes", R"("a\"b\\" c)", R"(a\"b\\ )", R"("a\"b\\" c)", R"("" c)");
    row("characters", "'\"' x '\\'' \"a\"", "a ", "'\"' x '\\'' \"a\"", "'' x '' \"\"");
    row("digits", "1'000 + 2'000 \"a\"", "a ", "1'000 + 2'000 \"a\"", "1'000 + 2'000 \"\"");
    row("raw string", "R\"(a \" // b)\" c", "a \" // b ", "R\"(a \" // b)\" c", "R\"()\" c");
    row("raw string with a mark", "u8R\"x(a )\" b\nc)x\" d", "a )\" b|c ", "u8R\"x(a )\" b|c)x\" d",
        "u8R\"x(|)x\" d");
    row("no raw string", "FOR\"(a\" b", "(a ", "FOR\"(a\" b", "FOR\"\" b");
    row("open string", "\"a\nb", "a |", "\"a|b", "\"|b");
    row("open comment", "a /* b", "", "a ", "a ");
}

void TestRules::texts() {
    QFETCH(QByteArray, source);
    const auto joined = [&](house::Look look) {
        QByteArray text;
        for (const std::string& line : house::linesOf(source.toStdString(), look)) {
            text += QByteArray::fromStdString(line) + '|';
        }
        text.chop(1);
        return text;
    };
    QTEST(joined(house::Look::Strings), "strings");
    QTEST(joined(house::Look::Code), "code");
    QTEST(joined(house::Look::Bare), "bare");
}

void TestRules::areKept_data() {
    QTest::addColumn<int>("rule");
    int index = 0;
    for (const Rule& rule : rules()) {
        QTest::newRow(rule.name) << index++;
    }
}

void TestRules::areKept() {
    QFETCH(int, rule);
    const Rule asked = rules()[static_cast<size_t>(rule)];
    const auto sources = house::sourcesBelow(asked.folders);
    QVERIFY(sources.size() > 15);
    for (const std::string& allowed : asked.allowed) {
        const fs::path path = support::sourceDir() / allowed;
        QVERIFY2(fs::exists(path), (allowed + ": allowed, and does not exist").c_str());
    }
    const std::string wrong = complaints(asked, sources);
    QVERIFY2(wrong.empty(), ("\n" + wrong).c_str());
}

void TestRules::findAViolation_data() {
    areKept_data();
}

void TestRules::findAViolation() {
    QFETCH(int, rule);
    const Rule asked = rules()[static_cast<size_t>(rule)];
    std::map<std::string, std::string> sources = house::sourcesBelow(asked.folders);
    // Where it counts: at the end of each folder that is searched, in a new file and in an old one.
    for (const std::string& folder : asked.folders) {
        auto planted = sources;
        planted[folder + "/planted.cpp"] = std::string("int a;\n") + asked.violation;
        const std::string wrong = complaints(asked, planted);
        QVERIFY2(wrong.starts_with(folder + "/planted.cpp: 2 "), wrong.c_str());
    }
    for (const auto& [path, count] : asked.still) {
        auto planted = sources;
        planted[path] += asked.violation;
        QVERIFY2(complaints(asked, planted).starts_with(path + ": "), path.c_str());
    }
    // And only there.
    for (const std::string& allowed : asked.allowed) {
        auto planted = sources;
        planted[allowed.ends_with('/') ? allowed + "planted.cpp" : allowed] += asked.violation;
        QCOMPARE(complaints(asked, planted), complaints(asked, sources));
    }
    auto commented = sources;
    commented[asked.folders.front() + "/planted.cpp"] = std::string("// ") + asked.violation;
    QCOMPARE(complaints(asked, commented), complaints(asked, sources));
}

void TestRules::listOnlyShrinks() {
    Rule rule = rules().front();
    rule.still = {{"ui/a.cpp", 2}};
    const std::string line = rule.violation;
    QCOMPARE(complaints(rule, {{"ui/a.cpp", line + line}}), std::string());
    QVERIFY(complaints(rule, {{"ui/a.cpp", line}}).starts_with("ui/a.cpp: 1 lines are left"));
    QVERIFY(complaints(rule, {{"ui/a.cpp", line + line + line}}).starts_with("ui/a.cpp: 1 2 3 "));
    QVERIFY(complaints(rule, {}).starts_with("ui/a.cpp: is in the list"));
}

void TestRules::numbersOnlySink_data() {
    QTest::addColumn<int>("ratchet");
    int index = 0;
    for (const Ratchet& ratchet : ratchets()) {
        QTest::newRow(ratchet.name) << index++;
    }
}

void TestRules::numbersOnlySink() {
    QFETCH(int, ratchet);
    const Ratchet asked = ratchets()[static_cast<size_t>(ratchet)];
    auto sources = house::sourcesBelow(asked.folders);
    QCOMPARE(countOf(asked, sources), asked.count);
    sources["planted.cpp"] = asked.match;
    QCOMPARE(countOf(asked, sources), asked.count + 1);
    sources["planted.cpp"] = "f(\"nf4 gelu\"); // nf4, gelu, of silu";
    QCOMPARE(countOf(asked, sources), asked.count);
}

TEST_CLASS(TestRules)
#include "tst_rules.moc"
