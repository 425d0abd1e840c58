// SPDX-License-Identifier: Apache-2.0
// Target matching against what peft itself targets (tests/data/adapters/target_matching.json, made
// by tests/golden/make_target_vectors.py), and the Python syntax that is refused by name.
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
            QCOMPARE(matcher->rankOf(name), expected[i].rank);
            QCOMPARE(matcher->alphaOf(name), expected[i].alpha);
            QCOMPARE(matcher->scalingOf(name), expected[i].scaling);
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
    row("lazy", "a*?b+?c??d{1,2}?", "a*?b+?c??d{1,2}?");
}

void TestTargetMatching::translates() {
    QFETCH(QByteArray, python);
    QFETCH(QByteArray, re2);
    const auto result = translatePythonPattern(python.toStdString(), true);
    QVERIFY2(result, result ? "" : result.error().message.c_str());
    QCOMPARE(QByteArray::fromStdString(*result), re2);
}

void TestTargetMatching::refusesByName_data() {
    QTest::addColumn<QByteArray>("python");
    QTest::addColumn<QByteArray>("fragment");
    QTest::addColumn<bool>("is_unsupported");
    const auto row = [](const char* python, const char* fragment, bool is_unsupported) {
        QTest::newRow(python) << QByteArray(python) << QByteArray(fragment) << is_unsupported;
    };
    row("(?=a)b", "look-ahead", true);
    row("(?!a)b", "negative look-ahead", true);
    row("(?<=a)b", "look-behind", true);
    row("(?<!a)b", "negative look-behind", true);
    row(R"((a)\1)", "back-reference", true);
    row("(?P<x>a)(?P=x)", "back-reference", true);
    row("(?>a)", "atomic group", true);
    row("(a)(?(1)b|c)", "conditional group", true);
    row("a*+", "possessive", true);
    row("a{2}+", "possessive", true);
    row("(?x)a b", "verbose", true);
    row(R"(\u0041)", "Unicode escape", true);
    row("a{2000}", "repeat count", true);
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

void TestTargetMatching::hostilePatternIsFast() {
    AdapterConfig config;
    config.targets.kind = ModuleSelector::Kind::Pattern;
    config.targets.pattern = "(((a+)+)+)+$|(.*.*.*.*.*.*.*.*x)*y";
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
