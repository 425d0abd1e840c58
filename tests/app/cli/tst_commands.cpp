// SPDX-License-Identifier: Apache-2.0
// merge, inspect and bench of belfry-cli from end to end: the program is started, its JSON and its
// files are read.
#include "tests/support/golden.h"
#include "tests/support/program/run_program.h"
#include "tests/support/program/test_class.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

namespace {

support::ProgramOutcome runCommands(const QStringList& words) {
    return support::runCli(words + QStringList{QStringLiteral("--json")});
}

QString golden(const char* path) {
    return QString::fromStdString((support::goldenDir() / path).string());
}

/// Logits [4, vocab] of fixed ids in the float32 path.
std::vector<float> logits(const QString& folder, const QStringList& options, const QString& file) {
    const support::ProgramOutcome outcome =
        runCommands(QStringList{"logits", folder, "--precision", "f32", "--context", "64", "--ids",
                                "5,700,1023,12,44,9", "--last", "4", "--out", file} +
                    options);
    if (outcome.code != 0) {
        qFatal("%s", qPrintable(outcome.text()));
    }
    return support::readSafetensors(file.toStdString()).at("logits").floats();
}

} // namespace

class TestCommands : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void textOnly();
    void anywayKeepsLimits();
    void merge();
    void mergeOfTheDemoByName();
    void mergeRefusesPackedWeights_data();
    void mergeRefusesPackedWeights();
    void inspectReportsCoverage();
    void inspectMeasuresTheEffect();
    void benchOfAModel();
    void benchOptions();
    void benchInLines();
    void benchByForms();
    void benchOnACard_data();
    void benchOnACard();
    void sizesAreChecked_data();
    void sizesAreChecked();
    void wordsAreChecked_data();
    void wordsAreChecked();
    void planOfAMarkedMap();
    void planOfNoMap_data();
    void planOfNoMap();

private:
    QTemporaryDir folder_;
};

void TestCommands::initTestCase() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("BELFRY_CLI names no program: run through ctest");
    }
    QVERIFY(folder_.isValid());
}

/// The merged folder is a model: it computes what the base computes with the adapter beside it, up
/// to the rounding of its weights to bf16, and the report says so.
void TestCommands::merge() {
    const QString out = folder_.filePath(QStringLiteral("merged"));
    const QString adapter = golden("e2b/adapters/multimodal");
    const support::ProgramOutcome merged =
        runCommands({"merge", golden("e2b/model"), "--adapter", adapter, "--out", out});
    QVERIFY2(merged.code == 0, qPrintable(merged.text()));
    const QJsonArray tensors = merged.json()["tensors"].toArray();
    QVERIFY(tensors.size() > 50);
    for (const auto& value : tensors) {
        const QJsonObject row = value.toObject();
        const double kept = row["kept"].toDouble();
        QVERIFY2(kept > 0.95 && kept < 1.05, qPrintable(row["tensor"].toString()));
        QVERIFY2(row["nf4"].toObject().contains("direct_merge_kept"),
                 qPrintable(row["tensor"].toString()));
    }
    const auto drift = [&](const char* name) {
        return merged.json()["logits"].toObject()[QLatin1String(name)].toObject();
    };
    const auto kl = [&](const char* name) { return drift(name)["mean_kl_nats"].toDouble(-1.0); };
    QVERIFY(kl("merged_bf16_against_run_time") >= 0.0);
    QVERIFY(kl("merged_bf16_against_run_time") < 0.01);
    QVERIFY(kl("run_time_against_base") > 20 * kl("merged_bf16_against_run_time"));
    // Quantizing again costs far more than bf16 does: what the report is there to show.
    QVERIFY(kl("merged_then_nf4_against_run_time_bf16") > 10 * kl("merged_bf16_against_run_time"));
    QVERIFY(drift("merged_then_nf4_against_run_time_on_nf4").contains("top1_agreement"));
    QVERIFY(QFile::exists(out + QStringLiteral("/merge_report.json")));
    QVERIFY(QFile::exists(out + QStringLiteral("/tokenizer.json")));

    const auto from_merged = logits(out, {}, folder_.filePath("merged.safetensors"));
    const auto at_run_time = logits(golden("e2b/model"), {"--adapter", adapter},
                                    folder_.filePath("run_time.safetensors"));
    const auto base = logits(golden("e2b/model"), {}, folder_.filePath("base.safetensors"));
    const double error = support::maxRelativeToLargest(from_merged, at_run_time);
    const double effect = support::maxRelativeToLargest(base, at_run_time);
    QVERIFY2(error < 0.05 && effect > 5 * error,
             qPrintable(QString("%1 %2").arg(error).arg(effect)));

    // A folder with files in it is not written over.
    const support::ProgramOutcome again =
        runCommands({"merge", golden("e2b/model"), "--adapter", adapter, "--out", out});
    QCOMPARE(again.code, 1);
    QCOMPARE(again.json()["error"].toObject()["code"].toString(), QStringLiteral("InvalidRequest"));
}

void TestCommands::mergeOfTheDemoByName() {
    const QString out = folder_.filePath(QStringLiteral("demo"));
    const support::ProgramOutcome merged =
        runCommands({"merge", "demo", "--adapter", "demo", "--out", out});
    QVERIFY2(merged.code == 0, qPrintable(merged.text()));
    const QJsonObject drift = merged.json()["logits"].toObject();
    const double kl =
        drift["merged_bf16_against_run_time"].toObject()["mean_kl_nats"].toDouble(-1.0);
    QVERIFY2(kl >= 0.0 && kl < 0.01, qPrintable(QString::number(kl)));
    // It speaks as the adapter taught it, without the adapter.
    const support::ProgramOutcome reply =
        runCommands({"chat", out, "--temperature", "0", "--context", "256", "--prompt", "Hello!"});
    QVERIFY2(reply.code == 0, qPrintable(reply.text()));
    const support::ProgramOutcome taught =
        runCommands({"chat", "demo", "--adapter", "demo", "--temperature", "0", "--context", "256",
                     "--prompt", "Hello!"});
    const support::ProgramOutcome plain = runCommands(
        {"chat", "demo", "--temperature", "0", "--context", "256", "--prompt", "Hello!"});
    QCOMPARE(reply.json()["reply"].toString(), taught.json()["reply"].toString());
    QVERIFY(plain.json()["reply"].toString() != taught.json()["reply"].toString());
}

void TestCommands::mergeRefusesPackedWeights_data() {
    QTest::addColumn<QString>("checkpoint");
    for (const char* name : {"nf4-checkpoint", "nf4-dq-checkpoint", "fp4-checkpoint"}) {
        QTest::newRow(name) << golden("e2b/quantized/") + QString::fromUtf8(name);
    }
}

void TestCommands::mergeRefusesPackedWeights() {
    QFETCH(QString, checkpoint);
    const QString out = folder_.filePath(QStringLiteral("packed"));
    const support::ProgramOutcome merged = runCommands(
        {"merge", checkpoint, "--adapter", golden("e2b/adapters/multimodal"), "--out", out});
    QCOMPARE(merged.code, 1);
    const QJsonObject error = merged.json()["error"].toObject();
    QCOMPARE(error["code"].toString(), QStringLiteral("InvalidRequest"));
    QVERIFY(error["message"].toString().contains(QStringLiteral("packed weights")));
    QVERIFY(!QFile::exists(out));
}

void TestCommands::inspectReportsCoverage() {
    const support::ProgramOutcome seen = runCommands(
        {"inspect", golden("e4b/model"), "--adapter", golden("e4b/adapters/multimodal_old_keys")});
    QVERIFY2(seen.code == 0, qPrintable(seen.text()));
    const QJsonObject a = seen.json()["adapters"].toArray().at(0).toObject();
    const QJsonObject towers = a["by_tower"].toObject();
    const int tensors = a["tensors"].toInt();
    QVERIFY(tensors > 0);
    QCOMPARE(towers["language"].toInt() + towers["vision"].toInt() + towers["audio"].toInt() +
                 towers["other"].toInt(),
             tensors);
    QCOMPARE(a["active"].toInt() + a["inert"].toInt() + a["ignored"].toInt(), tensors);
    QCOMPARE(a["unmatched"].toArray().size(), tensors - a["active"].toInt());
    QVERIFY(a["inert"].toInt() > 0);
    for (const auto& row : a["unmatched"].toArray()) {
        QVERIFY(row.toObject()["reason"].toString().contains(QStringLiteral("shares the KV")));
    }
    const QJsonObject modules = a["modules_by_tower"].toObject();
    QVERIFY(modules["language"].toInt() > 0 && modules["vision"].toInt() > 0 &&
            modules["audio"].toInt() > 0);
    QCOMPARE(modules["language"].toInt() + modules["vision"].toInt() + modules["audio"].toInt(),
             static_cast<int>(a["matched_modules"].toArray().size()));
    int grouped = 0;
    for (const auto& value : a["groups"].toArray()) {
        const QJsonObject group = value.toObject();
        grouped += group["modules"].toInt();
        QVERIFY(group["rank"].toInt() > 0 && group["alpha"].toDouble() > 0 &&
                group["scaling"].toDouble() > 0);
    }
    const QJsonObject norms = a["delta_norms"].toObject();
    QCOMPARE(grouped, static_cast<int>(norms.size()));
    QVERIFY(std::all_of(norms.begin(), norms.end(),
                        [](const auto& norm) { return norm.toDouble() > 0.0; }));
    QVERIFY(a.contains("targeted_but_missing"));
    QVERIFY(a["effect"].isNull());
}

void TestCommands::inspectMeasuresTheEffect() {
    const auto effect = [](const QString& adapter) {
        const support::ProgramOutcome seen =
            runCommands({"inspect", golden("e2b/model"), "--adapter", adapter, "--effect"});
        if (seen.code != 0) {
            qFatal("%s", qPrintable(seen.text()));
        }
        return seen.json()["adapters"].toArray().at(0).toObject()["effect"].toObject();
    };
    const QJsonObject all = effect(golden("e2b/adapters/multimodal"));
    QVERIFY(all["differs_from_base"].toBool());
    QVERIFY(all["logits"].toDouble() > 1e-3 && all["vision"].toDouble() > 1e-3 &&
            all["audio"].toDouble() > 1e-3);
    const QJsonObject text = effect(golden("e2b/adapters/text"));
    QVERIFY(text["logits"].toDouble() > 1e-3);
    QCOMPARE(text["vision"].toDouble(-1.0), 0.0);
    QCOMPARE(text["audio"].toDouble(-1.0), 0.0);
}

void TestCommands::benchOfAModel() {
    const support::ProgramOutcome bench =
        runCommands({"bench", golden("e2b/model"), "--prefill", "8", "--decode", "12", "--depth",
                     "4", "--no-ceiling"});
    QVERIFY2(bench.code == 0, qPrintable(bench.text()));
    QVERIFY(bench.json()["load_s"].toDouble() > 0);
    QVERIFY(bench.json()["memory"].toObject()["cpu"].toObject()["total"].toDouble() > 0);
    QVERIFY(bench.json()["machine"].toObject()["read_gb_per_s"].toDouble() > 0);
    for (const char* kind : {"decode", "prefill"}) {
        QCOMPARE(bench.json()[kind].toArray().size(), 1);
        const QJsonObject row = bench.json()[kind].toArray().at(0).toObject();
        QVERIFY(row["min_tokens_per_s"].toDouble() <= row["tokens_per_s"].toDouble());
        QVERIFY(row["max_tokens_per_s"].toDouble() >= row["tokens_per_s"].toDouble());
        QVERIFY(row["min_tokens_per_s"].toDouble() > 0);
        const bool is_decode = QLatin1String(kind) == QLatin1String("decode");
        QVERIFY(row[is_decode ? "share_of_read_bandwidth" : "share_of_peak"].toDouble() > 0);
        QCOMPARE(row[is_decode ? "depth" : "tokens"].toInt(), is_decode ? 4 : 8);
    }
    for (const char* name : {"image", "audio"}) {
        // A whole request has everything that is also measured apart.
        const QJsonObject row = bench.json()[name].toObject();
        QVERIFY(row["encode_s"].toDouble() > 0 && row["prepare_s"].toDouble() > 0);
        QVERIFY2(row["first_token_s"].toDouble() > 0.5 * row["encode_s"].toDouble(), name);
        QVERIFY(row["soft_tokens"].toInt() > 0);
    }
    QCOMPARE(bench.json()["audio"].toObject()["soft_tokens"].toInt(), 250);
}

/// What is asked of the engine arrives there: fewer instructions, drawn tokens, adapters.
void TestCommands::benchOptions() {
    const QStringList plain = {"bench", golden("e2b/model"), "--prefill", "0",          "--decode",
                               "4",     "--depth",           "4",         "--no-towers"};
    const support::ProgramOutcome other = runCommands(
        plain + QStringList{"--cpu-kernels", "cpu-scalar", "--temperature", "0.7", "--top-k", "5"});
    QVERIFY2(other.code == 0, qPrintable(other.text()));
    QCOMPARE(other.json()["machine"].toObject()["kernels"].toString(),
             QStringLiteral("cpu-scalar"));
    QVERIFY(other.json()["decode"].toArray().at(0).toObject()["tokens_per_s"].toDouble() > 0);
    QVERIFY(other.json()["prefill"].toArray().isEmpty() && !other.json().contains("image"));
    // A choice of settings that would not be made use of.
    QCOMPARE(runCommands(plain + QStringList{"--top-k", "5"}).code, 2);
    const auto adapterBytes = [&](const QStringList& words) {
        const support::ProgramOutcome outcome = runCommands(plain + words);
        const double bytes =
            outcome.json()["memory"].toObject()["cpu"].toObject()["adapter"].toDouble(-1);
        return outcome.code == 0 ? bytes : -1.0;
    };
    QCOMPARE(adapterBytes({}), 0.0);
    const double of_projections = adapterBytes({"--adapter-rank", "4"});
    QVERIFY(of_projections > 0);
    // The per-layer-input linears as well.
    QVERIFY(adapterBytes({"--adapter-rank", "4", "--adapter-targets", "all-linear"}) >
            of_projections);
}

/// For people: a line for each thing that is measured.
void TestCommands::benchInLines() {
    QProcess process;
    process.start(qEnvironmentVariable("BELFRY_CLI"),
                  {"bench", "demo", "--prefill", "8", "--decode", "12", "--adapter-rank", "4",
                   "--draft", "auto", "--draft-tokens", "3", "--draft-accept", "1"});
    QVERIFY(process.waitForFinished(120'000));
    const QString text = QString::fromUtf8(process.readAllStandardOutput());
    QVERIFY2(process.exitCode() == 0, process.readAllStandardError().constData());
    for (const char* line :
         {"machine  ", "load     ", "adapter  random, rank 4 on projections", "prefill  tokens",
          "decode   depth", "         with drafts", "image    ", "audio    ", "memory   cpu "}) {
        QVERIFY2(text.contains('\n' + QLatin1String(line)) || text.startsWith(QLatin1String(line)),
                 qPrintable(line + (":\n" + text)));
    }
    QVERIFY2(
        text.contains(QRegularExpression(QStringLiteral("times; [1-4]\\.[0-9]+ tokens a round"))),
        qPrintable(text));
}

/// The developers' program: the same, without forms and with times.
void TestCommands::benchByForms() {
#ifndef BELFRY_FORM_BENCH
    QSKIP("belfry_form_bench is not built on this system");
#else
    const auto bench = [](const QStringList& options) {
        QProcess process;
        process.start(QStringLiteral(BELFRY_FORM_BENCH),
                      QStringList{golden("e2b/model"), "--prefill", "0", "--decode", "4", "--depth",
                                  "4", "--no-towers"} +
                          options);
        process.waitForFinished(120'000);
        return std::pair(process.exitCode(),
                         process.readAllStandardOutput() + process.readAllStandardError());
    };
    const auto [code, text] =
        bench({"--load-times", "--kernel-times", "--without", "candidates,split-steps"});
    QVERIFY2(code == 0 && text.contains("decode   depth"), text.constData());
    QVERIFY2(text.contains("load time: at") && text.contains(" ms: weights\n"), text.constData());
    const auto [unknown, why] = bench({"--without", "stream"});
    QVERIFY2(unknown == 2 && why.startsWith("--without stream: expected one of"), why.constData());
#endif
}

void TestCommands::benchOnACard_data() {
    QTest::addColumn<QString>("program");
#ifdef BELFRY_FAKE_CUDA_FOLDER
    QTest::newRow("as built") << qEnvironmentVariable("BELFRY_CLI");
    QTest::newRow("portable") << QStringLiteral(BELFRY_PORTABLE_CLI);
    QTest::newRow("by forms") << QStringLiteral(BELFRY_FORM_BENCH);
#else
    QTest::newRow("as built") << QString();
#endif
}

/// On a card of a driver that is not there. It is found by LD_LIBRARY_PATH, by a program whose
/// loader does not look there too.
void TestCommands::benchOnACard() {
#ifndef BELFRY_FAKE_CUDA_FOLDER
    QSKIP("no fake driver library on this system");
#else
    QFETCH(QString, program);
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("LD_LIBRARY_PATH"), QStringLiteral(BELFRY_FAKE_CUDA_FOLDER));
    const auto bench = [&](const QStringList& options) {
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(program, QStringList{"bench", "demo", "--device-map", "gpu", "--prefill", "0",
                                           "--decode", "4", "--depth", "4", "--no-towers",
                                           "--no-ceiling", "--quant", "nf4"}
                                       .mid(program == QStringLiteral(BELFRY_FORM_BENCH) ? 1 : 0) +
                                   options);
        const bool is_over = process.waitForFinished(120'000);
        const QByteArray told = process.readAllStandardOutput() + process.readAllStandardError();
        return is_over && process.exitCode() == 0 ? told : "FAILED: " + told;
    };
    const QByteArray plain = bench({});
    if (plain.contains("no GPU kernels")) {
        QSKIP("this build has no GPU kernels");
    }
    QVERIFY2(plain.contains("\nmemory   cuda:0 ") && !plain.contains("FAILED"), plain.constData());
    QVERIFY2(!plain.contains("kernel times"), plain.constData());
    if (program != QStringLiteral(BELFRY_FORM_BENCH)) {
        return;
    }
    const QByteArray timed = bench({"--kernel-times"});
    QVERIFY2(timed.contains("kernel times, ") && timed.contains("  belfry_stream"),
             timed.constData());
    const QByteArray other = bench({"--kernel-times", "--without", "streamed-launch"});
    QVERIFY2(other.contains("kernel times, ") && !other.contains("  belfry_stream"),
             other.constData());
#endif
}

void TestCommands::sizesAreChecked_data() {
    QTest::addColumn<QStringList>("words");
    QTest::newRow("no size") << QStringList{"--sim-gpu", ""};
    QTest::newRow("comma at the end") << QStringList{"--sim-gpu", "1GiB,"};
    QTest::newRow("comma at the start") << QStringList{"--sim-gpu", ",1GiB"};
    QTest::newRow("beyond 64 bits") << QStringList{"--sim-gpu", "99999999999999GiB"};
    QTest::newRow("zero") << QStringList{"--sim-gpu", "0GiB"};
    QTest::newRow("limit beyond 64 bits") << QStringList{"--limit", "cpu=99999999999999GiB"};
    QTest::newRow("limit without a size") << QStringList{"--limit", "cpu="};
    QTest::newRow("limit of the disk") << QStringList{"--limit", "disk=1GiB"};
    QTest::newRow("limit without a device") << QStringList{"--limit", "=1GiB"};
}

void TestCommands::sizesAreChecked() {
    QFETCH(QStringList, words);
    const support::ProgramOutcome outcome =
        runCommands(QStringList{"plan", golden("e2b/model")} + words);
    QVERIFY2(outcome.code == 2, qPrintable(outcome.text()));
    const QString message = outcome.json()["error"].toObject()["message"].toString();
    QVERIFY2(message.contains(words[0]) && message.contains("expected"), qPrintable(message));
}

void TestCommands::wordsAreChecked_data() {
    QTest::addColumn<QStringList>("words");
    QTest::newRow("unknown quantization") << QStringList{"--quant", "bogus"};
    QTest::newRow("no quantization") << QStringList{"--quant", ""};
    QTest::newRow("unknown head") << QStringList{"--head", "bogus"};
    QTest::newRow("block between two powers") << QStringList{"--quant-block", "48"};
    QTest::newRow("unknown CPU kernels") << QStringList{"--cpu-kernels", "scalar"};
    QTest::newRow("block too small") << QStringList{"--quant-block", "16"};
}

void TestCommands::wordsAreChecked() {
    QFETCH(QStringList, words);
    const support::ProgramOutcome outcome =
        runCommands(QStringList{"plan", golden("e2b/model")} + words);
    QVERIFY2(outcome.code == 2, qPrintable(outcome.text()));
    const QString message = outcome.json()["error"].toObject()["message"].toString();
    QVERIFY2(message.startsWith(words.join(' ') + ": expected"), qPrintable(message));
}

/// A map file that begins with a byte order mark is a map; a device that this computer lacks has no
/// limit rather than a number.
void TestCommands::planOfAMarkedMap() {
    const QString path = folder_.filePath(QStringLiteral("map.json"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("\xEF\xBB\xBF{\"\": \"cpu\", \"model.vision_tower\": \"cuda:63\"}");
    file.close();
    const support::ProgramOutcome outcome =
        runCommands({"plan", golden("e2b/model"), "--device-map", path});
    QVERIFY2(outcome.json()["errors"].toArray().at(0).toObject()["code"] == "DM04",
             qPrintable(outcome.text()));
    for (const auto& value : outcome.json()["devices"].toArray()) {
        const QJsonObject device = value.toObject();
        QVERIFY(device.contains("limit"));
        QVERIFY2(device["limit"].isNull() || device["limit"].toDouble() < 1e18,
                 qPrintable(outcome.text()));
        QVERIFY(device["id"] != "cuda:63" || device["limit"].isNull());
    }
}

void TestCommands::planOfNoMap_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("nothing") << QByteArray();
    QTest::newRow("white space") << QByteArray(" \n");
    QTest::newRow("a list") << QByteArray("[]");
    QTest::newRow("a preset's name") << QByteArray("fit");
}

void TestCommands::textOnly() {
    const support::ProgramOutcome whole = runCommands({"plan", "demo", "--device-map", "cpu"});
    const support::ProgramOutcome lean =
        runCommands({"plan", "demo", "--device-map", "cpu", "--text-only"});
    QCOMPARE(whole.code, 0);
    QVERIFY2(lean.code == 0, qPrintable(lean.text()));
    const auto weights = [](const support::ProgramOutcome& outcome) {
        const QJsonObject cpu = outcome.json()["devices"].toArray().at(0).toObject();
        return cpu["parts"].toObject()["weights"].toDouble();
    };
    const double saved = lean.json()["left_out_bytes"].toDouble();
    QVERIFY(saved > 0);
    QCOMPARE(weights(whole) - weights(lean), saved);
    const QString question = QStringLiteral("What is a tower?");
    const QStringList ask = {"chat", "demo", "--temperature", "0", "--prompt", question};
    const support::ProgramOutcome first = runCommands(ask);
    const support::ProgramOutcome second = runCommands(ask + QStringList{"--text-only"});
    QVERIFY2(second.code == 0, qPrintable(second.text()));
    QCOMPARE(second.json()["token_ids"], first.json()["token_ids"]);
    // Both at once can only be a mistake.
    const support::ProgramOutcome refused =
        runCommands(ask + QStringList{"--text-only", "--image", "cat.png"});
    QCOMPARE(refused.code, 2);
    QVERIFY(refused.text().contains(QStringLiteral("--text-only leaves out what reads")));
}

/// What somebody set is no estimate: --anyway does not go beyond it.
void TestCommands::anywayKeepsLimits() {
    const QStringList words = {"plan", "demo", "--device-map", "cpu", "--limit", "cpu=1MiB"};
    QVERIFY(!runCommands(words).json()["fits"].toBool(true));
    const support::ProgramOutcome limited = runCommands(words + QStringList{"--anyway"});
    QVERIFY2(!limited.json()["fits"].toBool(true), qPrintable(limited.text()));
    QCOMPARE(limited.json()["errors"].toArray().at(0).toObject()["code"].toString(),
             QStringLiteral("DM09"));
}

/// The file is there, so the words are right: its content is what is wrong.
void TestCommands::planOfNoMap() {
    QFETCH(QByteArray, text);
    const QString path = folder_.filePath(QStringLiteral("nomap.json"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
    file.close();
    const support::ProgramOutcome outcome =
        runCommands({"plan", golden("e2b/model"), "--device-map", path});
    QVERIFY2(outcome.code == 1, qPrintable(outcome.text()));
    const QString message = outcome.json()["error"].toObject()["message"].toString();
    QVERIFY2(message.startsWith("DM01: device map, line "), qPrintable(message));
}

TEST_CLASS_WITH(QCoreApplication, TestCommands)
#include "tst_commands.moc"
