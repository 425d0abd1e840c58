// SPDX-License-Identifier: Apache-2.0
// Target matching against what peft itself targets (tests/data/adapters/target_matching.json, made
// by tests/golden/make_target_vectors.py), and Python's syntax: what matches as re.fullmatch does
// and what is refused by name.
#include "engine/base/sentence_english.h"
#include "engine/lora/target_matching.h"
#include "tests/engine/lora/adapter_files.h"
#include "tests/support/program/test_class.h"

#include <QElapsedTimer>
#include <QTest>

using namespace engine;
using lora_test::Json;

namespace {

/// Without an answer a row fails: no test expects OtherLayer.
TargetState stateOf(const TargetMatcher& matcher,
                    const std::string& module,
                    const std::string& canonical,
                    bool is_linear) {
    const auto state = matcher.classify(module, canonical, is_linear);
    return state ? *state : TargetState::OtherLayer;
}

} // namespace

class TestTargetMatching : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void matchesPeft_data();
    void matchesPeft();
    void matchesLikePython_data();
    void matchesLikePython();
    void refusesByName_data();
    void refusesByName();
    void defaultTargets();
    void unreadablePatternsAreReadOffTheFile();
    void hostilePatternEnds_data();
    void hostilePatternEnds();

private:
    Json vectors_;
};

void TestTargetMatching::matchesPeft_data() {
    std::ifstream in(lora_test::adapterData() / "target_matching.json");
    vectors_ = Json::parse(in);
    QTest::addColumn<int>("index");
    int i = 0;
    for (const auto& vector : vectors_["vectors"]) {
        const auto title =
            vector["title"].get<std::string>() + " / " + vector["model"].get<std::string>();
        QTest::newRow(title.c_str()) << i++;
    }
    QVERIFY(i >= 140);
}

void TestTargetMatching::matchesPeft() {
    QFETCH(int, index);
    const auto& vector = vectors_["vectors"][static_cast<size_t>(index)];
    const auto config = parseAdapterConfig(vector["config"].dump());
    QVERIFY2(config, config ? "" : config.error().message.c_str());
    const auto matcher = TargetMatcher::compile(*config);
    QVERIFY2(matcher, matcher ? "" : matcher.error().message.c_str());
    struct Row {
        int64_t rank = 0;
        double alpha = 0.0, scaling = 0.0;
    };
    std::map<size_t, Row> expected;
    for (const auto& row : vector["targeted"]) {
        if (row.is_array()) {
            expected[row[0]] = {row[1], row[2], row[3]};
        } else {
            const auto& same = vector["uniform"];
            expected[row] = {same[0], same[1], same[2]};
        }
    }
    const auto names =
        vectors_["names"][vector["model"].get<std::string>()].get<std::vector<std::string>>();
    for (size_t i = 0; i < names.size(); ++i) {
        const std::string& name = names[i];
        // The wrapper of a clipped linear is not a linear layer, its inner `.linear` is.
        const bool is_wrapper =
            std::find(names.begin(), names.end(), name + ".linear") != names.end();
        const bool is_embedding = name.find("embed_tokens") != std::string::npos;
        const bool is_linear = !is_wrapper && !is_embedding && name != "lm_head";
        const bool is_targeted = stateOf(*matcher, name, name, is_linear) == TargetState::Targeted;
        QVERIFY2(is_targeted == expected.contains(i), name.c_str());
        if (is_targeted) {
            const auto rank = matcher->rankOf(name);
            const auto alpha = matcher->alphaOf(name);
            QVERIFY(rank && alpha);
            QCOMPARE(*rank, expected[i].rank);
            QCOMPARE(*alpha, expected[i].alpha);
            QCOMPARE(matcher->scalingOf(*alpha, expected[i].rank), expected[i].scaling);
        }
    }
}

void TestTargetMatching::matchesLikePython_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray>("python", "matched", "other");
    const auto row = [](const char* title, const char* python, const char* matched,
                        const char* other) {
        QTest::newRow(title) << QByteArray(python) << QByteArray(matched) << QByteArray(other);
    };
    row("plain", R"(a\.b)", "a.b", "axb");
    row("alternatives match the whole", "a|ab", "ab", "abc");
    row("group", "(a|b)", "b", "ab");
    row("named group", "(?P<x1>a)b", "ab", "b");
    row("comment", "a(?#b)c", "ac", "abc");
    row("comment before a repeat", "a(?#b)*", "aa", "ab");
    row("both ends", "^a$|b", "a", "a$");
    row("end of text", R"(\Aa\Z)", "a", "aZ");
    row("octal", R"(\056)", ".", "0");
    row("octal and a digit", R"(\0561)", ".1", "n");
    row("hexadecimal", R"(\x2e)", ".", "x");
    row("underscore", R"(a\_b)", "a_b", "ab");
    row("literal braces", "a{x}", "a{x}", "ax");
    row("literal braces with a space", "a{1, 2}", "a{1, 2}", "a");
    row("literal braces with nothing", "a{}", "a{}", "a");
    row("open repeat", "a{,3}", "aaa", "aaaa");
    row("repeat without bounds", "a{,}b", "aab", "a{,}b");
    row("repeat of thousands", "a{0,2000}b", "aab", "aa");
    row("bracket first in class", "[]a]", "]", "[");
    row("bracket inside class", "[[:a]", "[", "]");
    row("no POSIX class", "[[:alpha:]]", ":]", "b");
    row("backspace in class", R"([\b]|a)", "a", "b");
    row("vertical tab", R"([^\va])", "\n", "\v");
    row("flag", "(?i)a|b", "B", "c");
    row("flags without effect on names", R"((?u)\w(?a:\d))", "x1", "1x");
    row("flag group", "(?is:a)b", "Ab", "AB");
    row("flag off", "(?i)a(?-i:b)", "Ab", "AB");
    row("look-arounds", "(?=a)(?<!b)(a)", "a", "b");
    row("look-behind of one width", "..(?<!q_|k_)proj", "v_proj", "k_proj");
    row("lazy", "a*?b+?c??d{1,2}?", "abd", "abc");
    row("possessive", R"(\w++\.q)", "a.q", "a.k");
    row("possessive gives nothing back", "a*+a|a{1,2}+b", "aab", "aa");
    row("atomic group", "(?>a|ab)c", "ac", "abc");
    row("back-reference", R"((a|b)\1)", "bb", "ab");
    row("named back-reference", "(?P<x>a|b)(?P=x)", "aa", "ab");
    row("conditional group", "(a)?(?(1)b|c)", "ab", "ac");
    row("conditional group by name", "(?P<x>a)?(?(x)b|c)", "c", "b");
    row("letters outside of ASCII", "[^\xc3\xa4]", "a", "\xc3\xa4");
    const QByteArray deep = QByteArray(100, '(') + "a" + QByteArray(100, ')');
    row("groups nested 100 deep", deep.constData(), "a", "(a)");
}

/// Each row was compared with re.fullmatch of Python 3.11.
void TestTargetMatching::matchesLikePython() {
    QFETCH(QByteArray, python);
    QFETCH(QByteArray, matched);
    QFETCH(QByteArray, other);
    AdapterConfig config;
    config.targets.kind = ModuleSelector::Kind::Pattern;
    config.targets.pattern = python.toStdString();
    config.is_zero_initialised = false;
    const auto matcher = TargetMatcher::compile(config);
    QVERIFY2(matcher, matcher ? "" : matcher.error().message.c_str());
    QCOMPARE(stateOf(*matcher, matched.toStdString(), "", true), TargetState::Targeted);
    QCOMPARE(stateOf(*matcher, other.toStdString(), "", true), TargetState::NotTargeted);
}

void TestTargetMatching::refusesByName_data() {
    support::addColumns<QByteArray, QByteArray, bool>("python", "fragment", "is_unsupported");
    const auto row = [](const char* python, const char* fragment, bool is_unsupported) {
        QTest::newRow(python) << QByteArray(python) << QByteArray(fragment) << is_unsupported;
    };
    row("(?x)a b", "verbose", true);
    row(R"(\u0041)", "Unicode escape", true);
    row(R"((a)\10)", "several digits", true);
    row("(?i)\xc3\xa4", "outside of ASCII", true);
    row("[(?i:]\xc3\xa4(?i:a)", "outside of ASCII", true);
    row("a{70000}", "number too big", true);
    row("(((a{1,100}){1,100}){1,100}){1,100}", "too large", true);
    row("(?<=a+)b", "not fixed length", false);
    row("(?<!a|bc)d", "not fixed length", false);
    row("(?=a", "missing closing", false);
    row("(?!a)[z-a]", "out of order", false);
    row("(?!a)b{3,2}", "out of order", false);
    row("(a", "missing closing", false);
    row("a)", "unmatched closing", false);
    row("[a", "terminating ]", false);
    row("[]", "terminating ]", false);
    row("*a", "repeatable item", false);
    row("a|*", "repeatable item", false);
    row("^*", "repeatable item", false);
    row("a**", "repeatable item", false);
    row("a{2}{3}", "repeatable item", false);
    row("(*ACCEPT)a", "nothing to repeat", false);
    row(R"(\q)", "unknown escape", false);
    row(R"(\pL)", "unknown escape", false);
    row(R"(\Qa.\E)", "unknown escape", false);
    row(R"(\x4)", "incomplete", false);
    row("a\\", "end of pattern", false);
    row("a(?i)", "global flags", false);
    row("(?i", "not closed", false);
    row("(?P<1>a)", "subpattern name", false);
    row("(?q)", "unknown group", false);
    row("(?<x>a)", "unknown group", false);
    row("(?R)", "unknown group", false);
    row("(a)?(?(?=a)b|c)", "unknown group", false);
    row(R"([\A])", "inside a class", false);
}

void TestTargetMatching::refusesByName() {
    QFETCH(QByteArray, python);
    QFETCH(QByteArray, fragment);
    QFETCH(bool, is_unsupported);
    AdapterConfig config;
    config.targets.kind = ModuleSelector::Kind::Pattern;
    config.targets.pattern = python.toStdString();
    config.is_zero_initialised = false; // else the file's keys stand in for what cannot be read
    const auto result = TargetMatcher::compile(config);
    QVERIFY(!result);
    QVERIFY2(result.error().message.find(fragment.toStdString()) != std::string::npos,
             result.error().message.c_str());
    QVERIFY(result.error().message.find("target_modules") != std::string::npos);
    QCOMPARE(result.error().code == ErrorCode::Unsupported, is_unsupported);
}

void TestTargetMatching::defaultTargets() {
    const auto matcher = TargetMatcher::compile(AdapterConfig{});
    QVERIFY(matcher);
    const std::string q = "model.language_model.layers.0.self_attn.q_proj";
    QCOMPARE(stateOf(*matcher, "model.layers.0.self_attn.q_proj", q, true), TargetState::Targeted);
    QCOMPARE(stateOf(*matcher, "x", "model.language_model.layers.0.self_attn.k_proj", true),
             TargetState::NotTargeted);
    QCOMPARE(stateOf(*matcher, "x", "model.vision_tower.encoder.layers.0.self_attn.q_proj", true),
             TargetState::NotTargeted);
}

/// Where Python's engine has more than ours, what PEFT saved says which modules it meant.
void TestTargetMatching::unreadablePatternsAreReadOffTheFile() {
    const std::string q = "model.layers.0.self_attn.q_proj";
    const std::string k = "model.layers.0.self_attn.k_proj";
    AdapterConfig config;
    config.targets.kind = ModuleSelector::Kind::Pattern;
    config.targets.pattern = R"(.*\.(q|k)_(?x: p roj))";
    config.rank_patterns.push_back({R"(\u0071_proj)", 3});
    const auto matcher = TargetMatcher::compile(config, {q});
    QVERIFY2(matcher, matcher ? "" : matcher.error().message.c_str());
    QCOMPARE(stateOf(*matcher, q, q, true), TargetState::Targeted);
    QCOMPARE(stateOf(*matcher, k, k, true), TargetState::NotTargeted);
    const auto rank = matcher->rankOf(q);
    QVERIFY(rank);
    QCOMPARE(*rank, 0);
    QCOMPARE(matcher->notes().size(), size_t{2});
    QVERIFY(inEnglish(matcher->notes()[0]).find("verbose mode") != std::string::npos);

    config.rank_patterns.clear();
    config.targets = {ModuleSelector::Kind::List, {"q_proj", "k_proj"}, {}};
    config.excluded.kind = ModuleSelector::Kind::Pattern;
    config.excluded.pattern = R"(.*\u006b_proj)";
    const auto excluding = TargetMatcher::compile(config, {q});
    QVERIFY(excluding);
    QCOMPARE(stateOf(*excluding, q, q, true), TargetState::Targeted);
    QCOMPARE(stateOf(*excluding, k, k, true), TargetState::NotTargeted);

    // A scaling is nowhere else than in the pattern.
    config.excluded = {};
    config.alpha_patterns.push_back({R"(\u0071_proj)", 3});
    const auto refused = TargetMatcher::compile(config, {q});
    QVERIFY(!refused);
    QVERIFY(refused.error().message.find("alpha_pattern") != std::string::npos);
}

void TestTargetMatching::hostilePatternEnds_data() {
    QTest::addColumn<QByteArray>("pattern");
    QTest::newRow("plain") << QByteArray("(((a+)+)+)+$|(.*.*.*.*.*.*.*.*x)*y");
    QTest::newRow("look-around") << QByteArray("(?=(((a+)+)+)+$)(?!(.*.*.*.*.*.*.*.*a)*!)(a|aa)+");
    QTest::newRow("look-around inside loops")
        << QByteArray("(?:(?!(?:a(?=(?:a*a*)*[bc]))*c)(?<!ab).)*[xy]");
    QTest::newRow("back-reference") << QByteArray(R"((a*)*(a*)*\1\2[xy])");
    QTest::newRow("thousands of groups") << "(" + QByteArray("()").repeated(1000) + "(a|aa)*)*[xy]";
    QTest::newRow("deep") << QByteArray("(?:(a)(?:b|a)?)*[xy]");
}

/// The limits end it, and the error names the pattern and the module.
void TestTargetMatching::hostilePatternEnds() {
    QFETCH(QByteArray, pattern);
    AdapterConfig config;
    config.targets.kind = ModuleSelector::Kind::Pattern;
    config.targets.pattern = pattern.toStdString();
    const auto matcher = TargetMatcher::compile(config);
    QVERIFY2(matcher, matcher ? "" : matcher.error().message.c_str());
    const std::string name(5000, 'a');
    QElapsedTimer timer;
    timer.start();
    const auto state = matcher->classify(name + "!", name, true);
    QVERIFY2(timer.elapsed() < 2000, "the work on one name must stay bounded");
    QVERIFY(!state);
    const std::string& message = state.error().message;
    QVERIFY2(message.find("target_modules: the pattern \"" + pattern.toStdString().substr(0, 20)) !=
                 std::string::npos,
             message.c_str());
    QVERIFY2(message.find("on the module aaaa") != std::string::npos, message.c_str());
}

TEST_CLASS(TestTargetMatching)
#include "tst_target_matching.moc"
