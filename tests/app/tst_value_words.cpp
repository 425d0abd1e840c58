// SPDX-License-Identifier: Apache-2.0
// Errors and sentences have the words of the window.
#include "tests/app/other_languages.h"
#include "tests/support/program/test_class.h"
#include "ui/common/error_words.h"
#include "ui/common/sentence_words.h"
#include "ui/style/format.h"

#include <QLocale>
#include <QTest>

#include <set>
#include <variant>

using engine::DeviceId;

class TestValueWords : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }
    void errorsOfPlans_data();
    void errorsOfPlans();
    void sentences();
    void wholeSentences_data();
    void wholeSentences();
    void otherErrorsAsTheyAre();
};

void TestValueWords::errorsOfPlans_data() {
    support::addColumns<std::shared_ptr<const engine::ErrorCause>, QString>("cause", "words");
    const auto row = [](const char* name, const std::vector<engine::PlanIssue>& errors,
                        const char* words) {
        QTest::newRow(name) << engine::causeOf(errors) << QString::fromUtf8(words);
    };
    engine::PlanIssue place;
    place.code = "DM01";
    place.words = engine::phrase("the member \"default\" is missing");
    place.line = 3;
    place.column = 7;
    row("map", {place}, "Line 3, column 7: The member \"default\" is missing.");
    engine::PlanIssue over;
    over.code = "DM09";
    over.words =
        engine::said("--limit names %1, which this machine does not have", DeviceId::cuda(3));
    over.suggestions = {engine::said("use less")};
    row("two of a plan", {over, place},
        "There is a limit for GPU 3, which this computer does not have.\n• use less\nLine 3, "
        "column 7: The member \"default\" is missing.");
    place.words = engine::phrase("the map is bad");
    place.line = 0;
    const QString line = QStringLiteral("The map is bad.\n");
    row("many", std::vector<engine::PlanIssue>(11, place),
        qPrintable(line.repeated(8) + QStringLiteral("(and 3 more)")));
}

void TestValueWords::errorsOfPlans() {
    QFETCH(std::shared_ptr<const engine::ErrorCause>, cause);
    QFETCH(QString, words);
    const engine::Error error{
        engine::ErrorCode::InvalidRequest, "load with a larger --context", {}, cause};
    QCOMPARE(ui::errorWords(error), words);
    QVERIFY(!words.contains(QStringLiteral("--")));
    app_test::checkOtherLanguages(words, [&] { return ui::errorWords(error); });
}

void TestValueWords::wholeSentences_data() {
    using engine::said;
    support::addColumns<engine::Sentence, QString>("sentence", "words");
    const auto row = [](const engine::Sentence& sentence, const char* words) {
        QTest::newRow(words) << sentence << QString::fromUtf8(words);
    };
    const engine::Sentence killed = said("the engine's process crashed (%1)", "SIGSEGV");
    row(killed, "The engine's process crashed (SIGSEGV).");
    row(said("%1. Ask again", killed), "The engine's process crashed (SIGSEGV). Ask again.");
    row(said("tensor %1: is missing", "a.b"), "Tensor a.b: is missing.");
    row(said("decode-step: %1", 5), "Decode-step: 5.");
    row(said("Stopped already."), "Stopped already.");
    row(said("and so on ..."), "And so on ...");
    row(said("which?"), "Which?");
    // The window names its own options.
    row(said("the context is full: %1 tokens are held, %2 more do not fit into %3; start a new "
             "chat, or reload with a larger --context",
             4000, 97, 4096),
        "The context is full: 4,000 tokens are held, 97 more do not fit into 4,096; start a new "
        "chat, or load with a larger “Context”.");
    row(said("%1 %2: expected one of %3", engine::phrase("--quant"), "nf5", "none, nf4"),
        "“Weights” cannot be nf5: possible are none, nf4.");
    row(said("%1 %2: expected one of %3", engine::phrase("--head"), "nf5", "auto, nf4"),
        "The format of the head cannot be nf5: possible are auto, nf4.");
    row(said("%1 is \"%2\": a model of another kind; Belfry runs Gemma 4 (E2B, E4B, 12B, 26B-A4B, "
             "31B) and models of Llama's form (llama, mistral)",
             "config.json: model_type", "qwen3"),
        "It holds a model of another kind (qwen3). Belfry runs Gemma 4 (E2B, E4B, 12B, 26B-A4B, "
        "31B) and models of Llama's form (llama, mistral).");
    row(said("%1: there is no such folder", "/models/a"),
        "The folder is not there any more: moved, renamed or deleted.");
    engine::PlanPart table;
    table.kind = engine::PlanPart::Kind::TokenTable;
    const auto cpu = said("%1", DeviceId::cpu());
    row(said("%1: frees %2, costs %3",
             said("use --head int8 and %1",
                  said("%1, with %2 kept as a copy of its own (\"%2\": {\"store\": \"%3\", "
                       "\"compute\": \"%4\", \"duplicate_tied\": true})",
                       said("move %1 to %2", table, cpu), "lm_head", cpu, cpu)),
             engine::ByteCount{3U << 20U}, said("about %1 per token", engine::Duration{0.012})),
        "Head in 8 bits and token embedding to CPU (the head keeps its own copy): frees 3.0 MiB, "
        "costs about 12 ms per token.");
    // Names stay as they are.
    row(said("%1 is missing", "model.safetensors"), "model.safetensors is missing.");
    row(said("config.json: is empty"), "config.json: is empty.");
    row(said("--in-process has no value"), "--in-process has no value.");
    row(said("num_layers is 0"), "num_layers is 0.");
    row(said("cuda:0 is not there"), "cuda:0 is not there.");
    row(engine::asItIs("permission denied"), "permission denied.");
    row({}, "");
}

void TestValueWords::wholeSentences() {
    QFETCH(const engine::Sentence, sentence);
    QFETCH(const QString, words);
    QCOMPARE(ui::wholeSentence(sentence), words);
    const engine::Error error{engine::ErrorCode::Internal, sentence};
    QCOMPARE(ui::errorSentence(error), words);
}

void TestValueWords::sentences() {
    using engine::phrase;
    using engine::said;
    // What stands in a place may itself hold one, or be words.
    const engine::Error error{
        engine::ErrorCode::InvalidFile,
        said("%1: %2", "a %2.json",
             said("is %1, expected a whole number from %2 to %3", phrase("a list"), -7, 87307U))};
    QCOMPARE(error.message,
             std::string("a %2.json: is a list, expected a whole number from -7 to 87307"));
    const QString english =
        QStringLiteral("a %2.json: is a list, expected a whole number from -7 to 87,307");
    QCOMPARE(ui::errorWords(error), english);
    app_test::checkOtherLanguages(english, [&] { return ui::errorWords(error); });

    engine::Error longer = error;
    longer.say(said("%1; the former model could not be loaded again: %2", longer.told(),
                    engine::Error{engine::ErrorCode::Internal, "no %1"}.told()));
    QCOMPARE(longer.message, error.message + "; the former model could not be loaded again: no %1");
    QCOMPARE(ui::errorWords(longer),
             english + QStringLiteral("; the former model could not be loaded again: no %1"));

    app::initTranslationResources();
    QTranslator translator;
    QVERIFY(translator.load(QStringLiteral(":/translations/belfry_de.qm")));
    QCoreApplication::installTranslator(&translator);
    QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
    const QString german = ui::errorWords(error);
    const QString number = ui::sentenceWords(said("%1", 0.25));
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    QCoreApplication::removeTranslator(&translator);
    QCOMPARE(german,
             QStringLiteral("a %2.json: ist eine Liste, erwartet wird eine ganze Zahl von -7 bis "
                            "87.307"));
    QCOMPARE(number, QStringLiteral("0,25"));
}

void TestValueWords::otherErrorsAsTheyAre() {
    const QString text = QStringLiteral("models--google--gemma: 87307 tokens -- as it is");
    QCOMPARE(ui::errorWords({engine::ErrorCode::InvalidFile, text.toStdString()}), text);
}

TEST_CLASS_WITH(QApplication, TestValueWords)
#include "tst_value_words.moc"
