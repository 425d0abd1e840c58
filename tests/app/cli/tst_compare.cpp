// SPDX-License-Identifier: Apache-2.0
// compare of belfry-cli: a model with itself, with another format of itself, and with another file,
// whose figures transformers gives (tests/data/llama, make_scaled.py).
#include "tests/support/golden.h"
#include "tests/support/program/run_program.h"
#include "tests/support/program/test_class.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>

namespace {

QString goldenModel() {
    return QString::fromStdString((support::goldenDir() / "e2b/model").string());
}

QString tinyFile() {
    return QString::fromStdString((support::testDataDir() / "llama/tiny.gguf").string());
}

} // namespace

class TestCompare : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void withItself();
    void withAnotherFormat();
    void withOtherKeys();
    void withAnotherFile();
    void refuses_data();
    void refuses();
    void isKept();
    void leavesNothingBehind();

private:
    [[nodiscard]] support::ProgramOutcome compare(const QStringList& words) const {
        return support::runCli(QStringList{"compare", "--device-map", "cpu", "--json"} + words);
    }
    void writeText(const QByteArray& text) const {
        QFile file(text_);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
    }
    QTemporaryDir folder_;
    QTemporaryDir settings_; ///< In the place of the user's.
    QString text_ = folder_.filePath(QStringLiteral("text"));
    nlohmann::json told_;
};

void TestCompare::initTestCase() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("BELFRY_CLI names no program: run through ctest");
    }
    qputenv("XDG_CONFIG_HOME", settings_.path().toUtf8());
    told_ = support::readJson(support::testDataDir() / "llama/scaled.json")["compare"];
    writeText(QByteArray::fromStdString(told_["text"]));
}

void TestCompare::withItself() {
    const support::ProgramOutcome outcome =
        compare({goldenModel(), goldenModel(), "--text", text_, "--context", "32"});
    QVERIFY2(outcome.code == 0, qPrintable(outcome.text()));
    const QJsonObject told = outcome.json();
    QCOMPARE(told["top1_agreement"].toDouble(), 1.0);
    QCOMPARE(told["mean_kl_nats"].toDouble(-1.0), 0.0);
    QCOMPARE(told["p99_kl_nats"].toDouble(-1.0), 0.0);
    QVERIFY(told["windows"].toInt() > 1);
    QVERIFY(told["positions"].toInt() > told["windows"].toInt());
    const QJsonArray models = told["models"].toArray();
    QCOMPARE(models.size(), 2);
    QVERIFY(models[0].toObject()["perplexity"].toDouble() > 1.0);
    QCOMPARE(models[0].toObject(), models[1].toObject());
}

void TestCompare::withAnotherFormat() {
    const QStringList words = {"demo",      "--quant", "q8_0",   "--quant2", "nf4",
                               "--context", "64",      "--text", text_};
    const support::ProgramOutcome outcome = compare(words);
    QVERIFY2(outcome.code == 0, qPrintable(outcome.text()));
    const QJsonObject told = outcome.json();
    const double top = told["top1_agreement"].toDouble();
    const double mean = told["mean_kl_nats"].toDouble();
    QVERIFY2(top > 0.5 && top < 1.0 && mean > 0.0 && mean < told["p99_kl_nats"].toDouble(),
             qPrintable(outcome.text()));
    const QJsonArray models = told["models"].toArray();
    QCOMPARE(models[0].toObject()["quant"].toString(), QStringLiteral("q8_0"));
    QCOMPARE(models[1].toObject()["quant"].toString(), QStringLiteral("nf4"));
    QCOMPARE(compare(words).out, outcome.out);
}

/// Keys and values in 8 bits, behind the first tokens of each window.
void TestCompare::withOtherKeys() {
    const support::ProgramOutcome outcome =
        compare({"demo", "--kv2", "q8", "--context", "64", "--depth", "48", "--text", text_});
    QVERIFY2(outcome.code == 0, qPrintable(outcome.text()));
    const QJsonObject told = outcome.json();
    QVERIFY2(told["mean_kl_nats"].toDouble() > 0.0 && told["mean_kl_nats"].toDouble() < 0.01 &&
                 told["top1_agreement"].toDouble() > 0.9,
             qPrintable(outcome.text()));
    QCOMPARE(told["depth"].toInt(), 48);
    QVERIFY(told["positions"].toInt() <= 16 * told["windows"].toInt());
    const QJsonArray models = told["models"].toArray();
    QCOMPARE(models[0].toObject()["kv"].toString(), QStringLiteral("auto"));
    QCOMPARE(models[1].toObject()["kv"].toString(), QStringLiteral("q8"));
}

/// Windows begin with the file's <|begin_of_text|>, which is not predicted.
void TestCompare::withAnotherFile() {
    QFile file(tinyFile());
    QVERIFY(file.open(QIODevice::ReadOnly));
    QByteArray bytes = file.readAll();
    const QByteArray key = "llama.rope.freq_base";
    const qsizetype at = bytes.indexOf(key);
    QVERIFY(at > 0);
    const auto base = told_["rope_freq_base"].get<float>();
    std::memcpy(bytes.data() + at + key.size() + 4, &base, sizeof base); // behind its type
    const QString other = folder_.filePath(QStringLiteral("other.gguf"));
    QFile changed(other);
    QVERIFY(changed.open(QIODevice::WriteOnly) && changed.write(bytes) == bytes.size());
    changed.close();

    const support::ProgramOutcome outcome =
        compare({tinyFile(), other, "--text", text_, "--precision", "f32", "--context",
                 QString::number(told_["context"].get<int>())});
    QVERIFY2(outcome.code == 0, qPrintable(outcome.text()));
    const QJsonObject told = outcome.json();
    QCOMPARE(told["positions"].toInt(), told_["positions"].get<int>());
    const auto isNear = [](double value, double expected) {
        return std::abs(value - expected) <= 1e-4 * expected;
    };
    for (const char* name : {"top1_agreement", "mean_kl_nats", "p99_kl_nats"}) {
        QVERIFY2(isNear(told[QLatin1String(name)].toDouble(), told_[name].get<double>()),
                 qPrintable(outcome.text()));
    }
    for (int i = 0; i < 2; ++i) {
        QVERIFY2(isNear(told["models"].toArray()[i].toObject()["perplexity"].toDouble(),
                        told_["perplexity"][static_cast<size_t>(i)].get<double>()),
                 qPrintable(outcome.text()));
    }
}

void TestCompare::refuses_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("why");
    QTest::newRow("nothing to compare with")
        << QStringList{"demo", "--text", text_} << 2 << "--quant2";
    QTest::newRow("no text") << QStringList{"demo", "demo"} << 2 << "--text";
    QTest::newRow("a text that is not there")
        << QStringList{"demo", "demo", "--text", folder_.filePath("none")} << 1 << "none";
    QTest::newRow("windows without a prediction")
        << QStringList{"demo", "demo", "--text", text_, "--context", "1"} << 1 << "at least two";
    QTest::newRow("other tokens") << QStringList{goldenModel(), tinyFile(),  "--text",
                                                 text_,         "--context", "64"}
                                  << 1 << "other tokens";
    const auto packed = QString::fromStdString((support::goldenMoreDir() / "w4a16-e2b").string());
    QTest::newRow("weights that stay packed")
        << QStringList{packed, "--quant2", "nf4", "--text", text_, "--context", "32"} << 1
        << "are packed (w4a16) and stay as they are, so that nf4 changes none of them";
}

void TestCompare::refuses() {
    QFETCH(QStringList, words);
    QFETCH(int, code);
    QFETCH(QString, why);
    const support::ProgramOutcome outcome = compare(words);
    QCOMPARE(outcome.code, code);
    const QString message = outcome.json()["error"].toObject()["message"].toString();
    QVERIFY2(message.contains(why), qPrintable(outcome.text()));
}

/// What was found waits for the window's load form; a model beside itself says nothing.
void TestCompare::isKept() {
    const std::filesystem::path file =
        std::filesystem::path(settings_.path().toStdString()) / "Belfry" / "comparisons.json";
    std::filesystem::remove(file);
    const QStringList words = {goldenModel(), "--context", "32", "--text", text_};
    QVERIFY(compare(words + QStringList{"--quant2", "none"}).code == 0);
    const auto outcome = compare(words + QStringList{"--quant2", "nf4"});
    QVERIFY2(outcome.code == 0, qPrintable(outcome.text()));
    QVERIFY(compare(words + QStringList{"--quant2", "nf4"}).code == 0); // in its place
    const nlohmann::json kept = support::readJson(file);
    QCOMPARE(kept["comparisons"].size(), size_t{1});
    const nlohmann::json& one = kept["comparisons"][0];
    QCOMPARE(one["quant"].get<std::string>(), std::string("nf4"));
    QVERIFY(!one["reference"].get<std::string>().empty());
    QCOMPARE(one["other_model"].get<std::string>(), std::string());
    QVERIFY(one["bytes"].get<int64_t>() > 0);
    QCOMPARE(one["date"].get<std::string>().size(), size_t{10});
    QCOMPARE(one["text_sha256"].get<std::string>().size(), size_t{64});
    QCOMPARE(one["same_top"].get<double>(), outcome.json()["top1_agreement"].toDouble());
    QCOMPARE(one["divergence"].get<double>(), outcome.json()["mean_kl_nats"].toDouble());
}

void TestCompare::leavesNothingBehind() {
    const QTemporaryDir temporary;
    qputenv("TMPDIR", temporary.path().toUtf8());
    const auto outcome = compare({tinyFile(), tinyFile(), "--text", text_, "--context", "64"});
    qunsetenv("TMPDIR");
    QVERIFY2(outcome.code == 0, qPrintable(outcome.text()));
    QVERIFY(QDir(temporary.path()).isEmpty());
}

TEST_CLASS_WITH(QCoreApplication, TestCompare)
#include "tst_compare.moc"
