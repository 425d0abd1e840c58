// SPDX-License-Identifier: Apache-2.0
// Target matching against what peft itself targets (tests/data/adapters/target_matching.json, made
// by tests/golden/make_target_vectors.py), and the Python syntax that is refused by name.
#include "engine/lora/adapter_english.h"
#include "engine/lora/target_matching.h"
#include "tests/engine/lora/adapter_files.h"

#include <QElapsedTimer>
#include <QTest>

using namespace engine;
using lora_test::Json;

class TestTargetMatching : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void matchesPeft_data();
    void matchesPeft();
    void translates_data();
    void translates();
    void refusesByName_data();
    void refusesByName();
    void defaultTargets();
    void unreadablePatternsAreReadOffTheFile();
    void hostilePatternIsFast_data();
    void hostilePatternIsFast();

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
        const bool is_targeted = matcher->classify(name, name, is_linear) == TargetState::Targeted;
        QVERIFY2(is_targeted == expected.contains(i), name.c_str());
        if (is_targeted) {
            QCOMPARE(matcher->rankOf(name).value_or(0), expected[i].rank);
            QCOMPARE(matcher->alphaOf(name), expected[i].alpha);
            QCOMPARE(matcher->scalingOf(name, expected[i].rank), expected[i].scaling);
        }
    }
}

void TestTargetMatching::translates_data() {
    QTest::addColumn<QByteArray>("python");
    QTest::addColumn<QByteArray>("re2");
    const auto row = [](const char* title, const char* python, const char* re2) {
        QTest::newRow(title) << QByteArray(python) << QByteArray(re2);
    };
    row("plain", R"(a\.b)", R"(a\.b)");
    row("group without capture", "(a|b)", "(?:a|b)");
    row("named group", "(?P<x1>a)", "(?:a)");
    row("comment", "a(?#b)c", "ac");
    row("end of text", R"(a\Z)", R"(a\z)");
    row("octal", R"(\056)", R"(\x2e)");
    row("underscore", R"(a\_b)", "a_b");
    row("literal braces", "a{x}", R"(a\{x\})");
    row("open repeat", "a{,3}", "a{0,3}");
    row("bracket first in class", "[]a]", R"([\]a])");
    row("bracket inside class", "[[:a]", R"([\[:a])");
    row("backspace in class", R"([\b])", R"([\x08])");
    row("flags", "(?i)a", "(?i)a");
    row("flags without effect here", "(?u)a", "a");
    row("flag group", "(?is:a)", "(?is:a)");
    row("flag off", "(?-i:a)", "(?-i:a)");
    row("look-arounds stay", "(?=a)(?<!b)(c)", "(?=a)(?<!b)(?:c)");
    row("lazy", "a*?b+?c??d{1,2}?", "a*?b+?c??d{1,2}?");
}

void TestTargetMatching::translates() {
    QFETCH(QByteArray, python);
    QFETCH(QByteArray, re2);
    const auto result = translatePythonPattern(python.toStdString(), true);
    QVERIFY2(result, result ? "" : result.error().message.c_str());
    QCOMPARE(QByteArray::fromStdString(result->text), re2);
    QCOMPARE(result->has_look_around, python.contains("(?=") || python.contains("(?<!"));
}

void TestTargetMatching::refusesByName_data() {
    QTest::addColumn<QByteArray>("python");
    QTest::addColumn<QByteArray>("fragment");
    QTest::addColumn<bool>("is_unsupported");
    const auto row = [](const char* python, const char* fragment, bool is_unsupported) {
        QTest::newRow(python) << QByteArray(python) << QByteArray(fragment) << is_unsupported;
    };
    row(R"((a)\1)", "back-reference", true);
    row("(?P<x>a)(?P=x)", "back-reference", true);
    row("(?>a)", "atomic group", true);
    row("(a)(?(1)b|c)", "conditional group", true);
    row("a*+", "possessive", true);
    row("a{2}+", "possessive", true);
    row("(?x)a b", "verbose", true);
    row(R"(\u0041)", "Unicode escape", true);
    row("a{2000}", "repeat count", true);
    row("(?=a){1000}b{1000}(?:c{100}){100}", "too large", true);
    row("(?<=a+)b", "fixed width", false);
    row("(?<!a|bc)d", "fixed width", false);
    row("(?=a", "not closed", false);
    row("(?!a)[z-a]", "backwards", false);
    row("(?!a)b{3,2}", "at least 3", false);
    row("(a", "not closed", false);
    row("a)", "without an opening", false);
    row("[a", "not closed", false);
    row("[]", "not closed", false);
    row("*a", "nothing to repeat", false);
    row("a|*", "nothing to repeat", false);
    row("^*", "nothing to repeat", false);
    row("a**", "multiple repeat", false);
    row("a{2}{3}", "multiple repeat", false);
    row(R"(\q)", "unknown escape", false);
    row(R"(\pL)", "unknown escape", false);
    row(R"(\x4)", "incomplete", false);
    row("a\\", "backslash", false);
    row("a(?i)", "global flags", false);
    row("(?P<1>a)", "group name", false);
    row("(?q)", "unknown group", false);
    row("(?<x>a)", "unknown group", false);
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
    QCOMPARE(matcher->classify("model.layers.0.self_attn.q_proj", q, true), TargetState::Targeted);
    QCOMPARE(matcher->classify("x", "model.language_model.layers.0.self_attn.k_proj", true),
             TargetState::NotTargeted);
    QCOMPARE(matcher->classify("x", "model.vision_tower.encoder.layers.0.self_attn.q_proj", true),
             TargetState::NotTargeted);
}

/// Where Python's engine has more than ours, what PEFT saved says which modules it meant.
void TestTargetMatching::unreadablePatternsAreReadOffTheFile() {
    const std::string q = "model.layers.0.self_attn.q_proj";
    const std::string k = "model.layers.0.self_attn.k_proj";
    AdapterConfig config;
    config.targets.kind = ModuleSelector::Kind::Pattern;
    config.targets.pattern = R"(.*\.(q|k)_(?:p)roj(?>x*))";
    config.rank_patterns.push_back({R"((a)\1)", 3});
    const auto matcher = TargetMatcher::compile(config, {q});
    QVERIFY2(matcher, matcher ? "" : matcher.error().message.c_str());
    QCOMPARE(matcher->classify(q, q, true), TargetState::Targeted);
    QCOMPARE(matcher->classify(k, k, true), TargetState::NotTargeted);
    QVERIFY(!matcher->rankOf(q));
    QCOMPARE(matcher->notes().size(), size_t{2});
    QVERIFY(inEnglish(matcher->notes()[0]).find("an atomic group") != std::string::npos);

    config.rank_patterns.clear();
    config.targets = {ModuleSelector::Kind::List, {"q_proj", "k_proj"}, {}};
    config.excluded.kind = ModuleSelector::Kind::Pattern;
    config.excluded.pattern = R"((?P<x>k).*(?P=x))";
    const auto excluding = TargetMatcher::compile(config, {q});
    QVERIFY(excluding);
    QCOMPARE(excluding->classify(q, q, true), TargetState::Targeted);
    QCOMPARE(excluding->classify(k, k, true), TargetState::NotTargeted);

    // A scaling is nowhere else than in the pattern.
    config.excluded = {};
    config.alpha_patterns.push_back({R"((a)\1)", 3});
    const auto refused = TargetMatcher::compile(config, {q});
    QVERIFY(!refused);
    QVERIFY(refused.error().message.find("alpha_pattern") != std::string::npos);
}

void TestTargetMatching::hostilePatternIsFast_data() {
    QTest::addColumn<QByteArray>("pattern");
    QTest::newRow("plain") << QByteArray("(((a+)+)+)+$|(.*.*.*.*.*.*.*.*x)*y");
    QTest::newRow("look-around") << QByteArray("(?=(((a+)+)+)+$)(?!(.*.*.*.*.*.*.*.*a)*!)(a|aa)+y");
    QTest::newRow("look-around inside loops")
        << QByteArray("(?:(?!(?:a(?=(?:a*a*)*b))*c)(?<!ab).)*y");
}

void TestTargetMatching::hostilePatternIsFast() {
    QFETCH(QByteArray, pattern);
    AdapterConfig config;
    config.targets.kind = ModuleSelector::Kind::Pattern;
    config.targets.pattern = pattern.toStdString();
    const auto matcher = TargetMatcher::compile(config);
    QVERIFY2(matcher, matcher ? "" : matcher.error().message.c_str());
    const std::string name(5000, 'a');
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(matcher->classify(name + "!", name, true), TargetState::NotTargeted);
    QVERIFY2(timer.elapsed() < 2000, "matching must stay linear");
}

QTEST_APPLESS_MAIN(TestTargetMatching)
#include "tst_target_matching.moc"
