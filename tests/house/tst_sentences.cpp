// SPDX-License-Identifier: Apache-2.0
// What a user can meet of errors of the engine and the library is a sentence: its pattern, which
// stands in the sources as a literal of said() or phrase(), is translated in every
// resources/translations/ engine_*.ts with the same places, and no error but Internal is made of a
// bare text.
#include "tests/house/source_text.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"

#include <QFile>
#include <QRegularExpression>
#include <QTest>
#include <QXmlStreamReader>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Sources = std::map<std::string, std::string>;

/// Code without comments, strings as `look` has them.
std::string codeOf(const std::string& source, house::Look look) {
    std::string code;
    for (const std::string& line : house::linesOf(source, look)) {
        code += line + "\n";
    }
    return code;
}

size_t pastSpace(std::string_view code, size_t at) {
    while (at < code.size() && std::isspace(static_cast<unsigned char>(code[at])) != 0) {
        ++at;
    }
    return at;
}

/// The literal at `at`, with all that are joined to it, as it is at run time; empty if none is.
std::string literalAt(std::string_view code, size_t at) {
    std::string text;
    at = pastSpace(code, at);
    while (at < code.size() && code[at] == '"') {
        for (++at; at < code.size() && code[at] != '"'; ++at) {
            at += code[at] == '\\' ? 1 : 0; // patterns escape quotes and backslashes only
            text += code[at];
        }
        at = pastSpace(code, at + 1);
    }
    return text;
}

/// Past the bracket that closes the one at `open`.
size_t pastClosing(std::string_view code, size_t open) {
    int depth = 0;
    for (size_t at = open; at < code.size(); ++at) {
        depth += std::string_view("([{").find(code[at]) != std::string_view::npos ? 1 : 0;
        depth -= std::string_view(")]}").find(code[at]) != std::string_view::npos ? 1 : 0;
        if (depth == 0) {
            return at + 1;
        }
    }
    return code.size();
}

/// Where a call of `name` has its bracket, from `from` on; npos if there is none.
size_t callOf(std::string_view code, std::string_view name, size_t from) {
    for (size_t at = code.find(name, from); at != std::string_view::npos;
         at = code.find(name, at + 1)) {
        const bool is_word =
            at == 0 ||
            (std::isalnum(static_cast<unsigned char>(code[at - 1])) == 0 && code[at - 1] != '_');
        if (is_word && at + name.size() < code.size() && code[at + name.size()] == '(') {
            return at + name.size();
        }
    }
    return std::string_view::npos;
}

std::set<std::string> patternsOf(const std::string& source) {
    std::set<std::string> patterns;
    const std::string code = codeOf(source, house::Look::Code);
    for (const std::string_view name : {"said", "phrase"}) {
        for (size_t at = callOf(code, name, 0); at != std::string::npos;
             at = callOf(code, name, at)) {
            patterns.insert(literalAt(code, at + 1));
        }
    }
    patterns.erase(""); // a declaration
    return patterns;
}

std::set<std::string> placesOf(const std::string& text) {
    std::set<std::string> places;
    for (size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + 1)) {
        if (at + 1 < text.size() && text[at + 1] >= '1' && text[at + 1] <= '9') {
            places.insert(text.substr(at, 2));
        }
    }
    return places;
}

/// "%1: %2" says nothing in any language.
bool hasWords(const std::string& pattern) {
    return std::any_of(pattern.begin(), pattern.end(),
                       [](unsigned char c) { return std::isalpha(c) != 0; });
}

std::set<std::string> patternsOf(const Sources& sources) {
    std::set<std::string> all;
    for (const auto& [path, source] : sources) {
        for (const std::string& pattern : patternsOf(source)) {
            if (hasWords(pattern)) {
                all.insert(pattern);
            }
        }
    }
    return all;
}

/// What a catalogue lacks, has too much, or says with other places; empty: nothing.
std::string sentenceComplaints(const std::set<std::string>& patterns,
                               const std::map<std::string, std::string>& catalogue) {
    std::string text;
    for (const std::string& pattern : patterns) {
        const auto it = catalogue.find(pattern);
        if (it == catalogue.end() || it->second.empty()) {
            text += "not translated: " + pattern + "\n";
        } else if (placesOf(pattern) != placesOf(it->second)) {
            text += "other places: " + pattern + "\n";
        }
    }
    for (const auto& [source, translation] : catalogue) {
        if (!patterns.contains(source)) {
            text += "no source says this any more: " + source + "\n";
        }
    }
    return text;
}

std::map<std::string, std::string> readCatalogue(const QString& path) {
    std::map<std::string, std::string> catalogue;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        return catalogue;
    }
    QXmlStreamReader xml(&file);
    std::string source;
    while (!xml.atEnd()) {
        xml.readNext();
        if (xml.isStartElement() && xml.name() == QStringLiteral("source")) {
            source = xml.readElementText().toStdString();
        } else if (xml.isStartElement() && xml.name() == QStringLiteral("translation")) {
            const bool is_done = xml.attributes().value(QStringLiteral("type")).isEmpty();
            const std::string text = xml.readElementText().toStdString();
            catalogue[source] = is_done ? text : std::string();
        }
    }
    return xml.hasError() ? std::map<std::string, std::string>() : catalogue;
}

/// Files that word an error by its cause (engine/api/error_cause.h), or that set a sentence and its
/// text apart: how many lines.
const std::map<std::string, int> kBareTexts = {
    {"engine/plan/device_map_presets.cpp", 1}, // BadPlan
    {"engine/plan/device_map_parse.cpp", 3},   // BadPlan
    {"engine/run/planning.cpp", 3},            // BadPlan
    {"engine/run/engine.cpp", 1},              // outOfHostMemory() allocates nothing
};

/// Whether what stands behind the code of an error is made of sentences alone.
bool isSentence(std::string argument, const std::string& code) {
    bool has_words = false;
    for (const std::string_view name : {"said", "phrase", "asItIs"}) {
        for (size_t open = callOf(argument, name, 0); open != std::string::npos;
             open = callOf(argument, name, open - name.size())) {
            argument.erase(open - name.size(), pastClosing(argument, open) - open + name.size());
            has_words = true;
            if (open < name.size()) {
                break;
            }
        }
    }
    if (argument.find('"') != std::string::npos) {
        return false;
    }
    if (has_words) {
        return true;
    }
    // A name, or a call, of this file.
    static const QRegularExpression kName(QStringLiteral(R"(^(?:std::move\()?(\w+)\b)"));
    const QString name = kName.match(QString::fromStdString(argument).trimmed()).captured(1);
    const QRegularExpression declared(
        QStringLiteral(R"(\b(Sentence|Phrase)[&\s]+(\w+::)?%1\b)").arg(name));
    return !name.isEmpty() && declared.match(QString::fromStdString(code)).hasMatch();
}

/// How many errors of `source` that a user can meet are made of a bare text.
int bareTexts(const std::string& source) {
    static const QRegularExpression kMade(QStringLiteral(
        R"(\{\s*(?:(?:engine::)?ErrorCode::(?:InvalidFile|Unsupported|InvalidRequest|OutOfMemory)"
        R"(|DeviceLost|Cancelled)|code)\s*,)"));
    static const QRegularExpression kChanged(QStringLiteral(R"(\berror\.message\s*\+?=(?!=))"));
    const std::string bare = codeOf(source, house::Look::Bare);
    const QString text = QString::fromLatin1(bare.data(), static_cast<qsizetype>(bare.size()));
    int count = 0;
    for (auto it = kMade.globalMatch(text); it.hasNext();) {
        const auto begin = static_cast<size_t>(it.next().capturedEnd());
        size_t end = begin;
        while (end < bare.size() && bare[end] != ',' && bare[end] != '}') {
            const bool opens = std::string_view("([{").find(bare[end]) != std::string_view::npos;
            end = opens ? pastClosing(bare, end) : end + 1;
        }
        count += isSentence(bare.substr(begin, end - begin), bare) ? 0 : 1;
    }
    for (auto it = kChanged.globalMatch(text); it.hasNext(); it.next()) {
        ++count;
    }
    return count;
}

Sources ourSources() {
    Sources sources = house::sourcesBelow({"engine", "models", "app", "remote", "ipc"});
    std::erase_if(sources, [](const auto& file) {
        // Seen in a terminal alone; translated already.
        return file.first.starts_with("app/cli/") || file.first.starts_with("app/store/");
    });
    return sources;
}

} // namespace

class TestSentences : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void areTranslated_data();
    void areTranslated();
    void findsWhatIsNot();
    void noErrorIsABareText();
    void findsABareText_data();
    void findsABareText();
};

void TestSentences::areTranslated_data() {
    QTest::addColumn<QString>("catalogue");
    const std::filesystem::path folder = support::sourceDir() / "resources/translations";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("belfry_")) { // every language of the window
            const std::string other = "engine_" + name.substr(7);
            QTest::newRow(other.c_str()) << QString::fromStdString((folder / other).string());
        }
    }
}

void TestSentences::areTranslated() {
    QFETCH(QString, catalogue);
    const std::set<std::string> patterns = patternsOf(ourSources());
    QVERIFY(patterns.size() > 500);
    const std::string wrong = sentenceComplaints(patterns, readCatalogue(catalogue));
    QVERIFY2(wrong.empty(), ("\n" + wrong).c_str());
}

void TestSentences::findsWhatIsNot() {
    const Sources sources = {
        {"a.cpp", "f(said(\"%1 has \\\"%2\\\" \"\n  \"of it\", a, b)); // said(\"x\")"},
        {"b.cpp", "phrase(\"a list\"); unsaid(\"y\"); said(\"%1: %2\", c, d);"}};
    const std::set<std::string> patterns = patternsOf(sources);
    QCOMPARE(patterns, (std::set<std::string>{"%1 has \"%2\" of it", "a list"}));
    const std::string first = "%1 has \"%2\" of it";
    QCOMPARE(sentenceComplaints(patterns, {{first, "%2 ist in %1"}, {"a list", "eine Liste"}}),
             std::string());
    QCOMPARE(sentenceComplaints(patterns, {{first, "%2 ist da"}, {"a list", "eine Liste"}}),
             "other places: " + first + "\n");
    QCOMPARE(sentenceComplaints(patterns, {{first, "%2 ist in %1"}, {"a list", ""}}),
             std::string("not translated: a list\n"));
    QCOMPARE(sentenceComplaints({}, {{"a list", "eine Liste"}}),
             std::string("no source says this any more: a list\n"));
}

void TestSentences::noErrorIsABareText() {
    std::string wrong;
    for (const auto& [path, source] : ourSources()) {
        const auto known = kBareTexts.find(path);
        const int expected = known == kBareTexts.end() ? 0 : known->second;
        if (const int found = bareTexts(source); found != expected) {
            wrong += path + ": " + std::to_string(found) + " errors of a bare text, expected " +
                     std::to_string(expected) + ": say them with said()\n";
        }
    }
    QVERIFY2(wrong.empty(), ("\n" + wrong).c_str());
}

void TestSentences::findsABareText_data() {
    support::addColumns<QByteArray, int>("source", "count");
    const auto row = [](const char* name, const char* source, int count) {
        QTest::newRow(name) << QByteArray(source) << count;
    };
    row("literal", "return Error{ErrorCode::InvalidFile, \"a\"};", 1);
    row("sum", "return Error{ErrorCode::Unsupported, name + \": \" + b, {}};", 1);
    row("of app", "return {engine::ErrorCode::Cancelled, text.toStdString()};", 1);
    row("name", "Error f(std::string what) { return Error{code, std::move(what)}; }", 1);
    row("sentence by name", "Error f(Sentence what) { return Error{code, std::move(what)}; }", 0);
    row("said",
        "return Error{ErrorCode::InvalidFile, said(\"%1, %2\", a, f(\"b\")), {{\"c\", d}}};", 0);
    row("either", "return Error{ErrorCode::InvalidFile, is ? said(\"a\") : said(\"b\")};", 0);
    row("half", "return Error{ErrorCode::InvalidFile, is ? said(\"a\") : \"b\"};", 1);
    row("ours", "return Error{ErrorCode::Internal, \"a\"};", 0);
    row("longer", "    error.message += \"b\";", 1);
    row("compared", "if (error.message == \"b\") {}", 0);
}

void TestSentences::findsABareText() {
    QFETCH(QByteArray, source);
    QFETCH(int, count);
    QCOMPARE(bareTexts(source.toStdString()), count);
}

TEST_CLASS(TestSentences)
#include "tst_sentences.moc"
