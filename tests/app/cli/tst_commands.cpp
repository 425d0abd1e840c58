// SPDX-License-Identifier: Apache-2.0
// merge, inspect and bench of belfry-cli from end to end: the program is started, its JSON and its
// files are read.
#include "tests/support/golden.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

namespace {

struct Outcome {
    int code = -1;
    QJsonObject json;
    QString text; ///< stdout and stderr, for messages.
};

Outcome run(const QStringList& words) {
    QProcess process;
    process.start(qEnvironmentVariable("BELFRY_CLI"),
                  words + QStringList{QStringLiteral("--json")});
    Outcome outcome;
    if (process.waitForFinished(120000)) {
        const QByteArray out = process.readAllStandardOutput();
        outcome.code = process.exitCode();
        outcome.json = QJsonDocument::fromJson(out).object();
        outcome.text = QString::fromUtf8(out + process.readAllStandardError());
    }
    return outcome;
}

QString golden(const char* path) {
    return QString::fromStdString((support::goldenDir() / path).string());
}

/// Logits [4, vocab] of fixed ids in the float32 path.
std::vector<float> logits(const QString& folder, const QStringList& options, const QString& file) {
    const Outcome outcome =
        run(QStringList{"logits", folder, "--precision", "f32", "--context", "64", "--ids",
                        "5,700,1023,12,44,9", "--last", "4", "--out", file} +
            options);
    if (outcome.code != 0) {
        qFatal("%s", qPrintable(outcome.text));
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
    void benchDrawsTokens();
    void benchByOtherForms();
    void benchOnACard_data();
    void benchOnACard();
    void benchOfMedia();
    void benchWithRandomAdapter();
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
    const Outcome merged = run({"merge", golden("e2b/model"), "--adapter", adapter, "--out", out});
    QVERIFY2(merged.code == 0, qPrintable(merged.text));
    const QJsonArray tensors = merged.json["tensors"].toArray();
    QVERIFY(tensors.size() > 50);
    for (const auto& value : tensors) {
        const QJsonObject row = value.toObject();
        const double kept = row["kept"].toDouble();
        QVERIFY2(kept > 0.95 && kept < 1.05, qPrintable(row["tensor"].toString()));
        QVERIFY2(row["nf4"].toObject().contains("direct_merge_kept"),
                 qPrintable(row["tensor"].toString()));
    }
    const auto drift = [&](const char* name) {
        return merged.json["logits"].toObject()[QLatin1String(name)].toObject();
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
    const Outcome again = run({"merge", golden("e2b/model"), "--adapter", adapter, "--out", out});
    QCOMPARE(again.code, 1);
    QCOMPARE(again.json["error"].toObject()["code"].toString(), QStringLiteral("InvalidRequest"));
}

void TestCommands::mergeOfTheDemoByName() {
    const QString out = folder_.filePath(QStringLiteral("demo"));
    const Outcome merged = run({"merge", "demo", "--adapter", "demo", "--out", out});
    QVERIFY2(merged.code == 0, qPrintable(merged.text));
    const QJsonObject drift = merged.json["logits"].toObject();
    const double kl =
        drift["merged_bf16_against_run_time"].toObject()["mean_kl_nats"].toDouble(-1.0);
    QVERIFY2(kl >= 0.0 && kl < 0.01, qPrintable(QString::number(kl)));
    // It speaks as the adapter taught it, without the adapter.
    const Outcome reply =
        run({"chat", out, "--temperature", "0", "--context", "256", "--prompt", "Hello!"});
    QVERIFY2(reply.code == 0, qPrintable(reply.text));
    const Outcome taught = run({"chat", "demo", "--adapter", "demo", "--temperature", "0",
                                "--context", "256", "--prompt", "Hello!"});
    const Outcome plain =
        run({"chat", "demo", "--temperature", "0", "--context", "256", "--prompt", "Hello!"});
    QCOMPARE(reply.json["reply"].toString(), taught.json["reply"].toString());
    QVERIFY(plain.json["reply"].toString() != taught.json["reply"].toString());
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
    const Outcome merged =
        run({"merge", checkpoint, "--adapter", golden("e2b/adapters/multimodal"), "--out", out});
    QCOMPARE(merged.code, 1);
    const QJsonObject error = merged.json["error"].toObject();
    QCOMPARE(error["code"].toString(), QStringLiteral("InvalidRequest"));
    QVERIFY(error["message"].toString().contains(QStringLiteral("packed weights")));
    QVERIFY(!QFile::exists(out));
}

void TestCommands::inspectReportsCoverage() {
    const Outcome seen = run(
        {"inspect", golden("e4b/model"), "--adapter", golden("e4b/adapters/multimodal_old_keys")});
    QVERIFY2(seen.code == 0, qPrintable(seen.text));
    const QJsonObject a = seen.json["adapters"].toArray().at(0).toObject();
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
        const Outcome seen =
            run({"inspect", golden("e2b/model"), "--adapter", adapter, "--effect"});
        if (seen.code != 0) {
            qFatal("%s", qPrintable(seen.text));
        }
        return seen.json["adapters"].toArray().at(0).toObject()["effect"].toObject();
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

void TestCommands::benchDrawsTokens() {
    const QStringList plain = {"bench", golden("e2b/model"), "--prefill", "0",          "--decode",
                               "4",     "--depth",           "4",         "--no-towers"};
    const Outcome greedy = run(plain);
    QVERIFY2(greedy.code == 0, qPrintable(greedy.text));
    QVERIFY(greedy.json["decode_choice"].toObject()["is_greedy"].toBool());
    const Outcome drawn = run(plain + QStringList{"--temperature", "0.7", "--top-k", "5"});
    QVERIFY2(drawn.code == 0, qPrintable(drawn.text));
    const QJsonObject choice = drawn.json["decode_choice"].toObject();
    QVERIFY(!choice["is_greedy"].toBool(true));
    QCOMPARE(choice["temperature"].toDouble(), 0.7);
    QCOMPARE(choice["top_k"].toInt(), 5);
    QCOMPARE(choice["seed"].toInt(), 1);
    QVERIFY(drawn.json["decode"].toArray().at(0).toObject()["tokens_per_s"].toDouble() > 0);
    // A choice of settings that would not be made use of.
    QCOMPARE(run(plain + QStringList{"--top-k", "5"}).code, 2);
}

/// What a benchmark compares with: fewer instructions, fewer forms; and what it tells of times.
void TestCommands::benchByOtherForms() {
    const QStringList plain = {"bench", golden("e2b/model"), "--prefill", "0",          "--decode",
                               "4",     "--depth",           "4",         "--no-towers"};
    const Outcome scalar = run(plain + QStringList{"--cpu-kernels", "cpu-scalar"});
    QVERIFY2(scalar.code == 0, qPrintable(scalar.text));
    QCOMPARE(scalar.json["machine"].toObject()["kernels"].toString(), QStringLiteral("cpu-scalar"));
    QVERIFY2(!scalar.text.contains(QStringLiteral("load time: at")), qPrintable(scalar.text));
    const Outcome timed = run(plain + QStringList{"--load-times", "--kernel-times", "--without",
                                                  "candidates,lookahead,split-steps,draft-steps"});
    QVERIFY2(timed.code == 0, qPrintable(timed.text));
    QVERIFY2(timed.text.contains(QStringLiteral("load time: at")), qPrintable(timed.text));
    QVERIFY2(timed.text.contains(QStringLiteral(" ms: weights\n")), qPrintable(timed.text));
}

void TestCommands::benchOnACard_data() {
    QTest::addColumn<bool>("isPortable");
    QTest::newRow("as built") << false;
    QTest::newRow("portable") << true;
}

/// What is asked for arrives at the card (a driver that is not there): kernel times and forms. The
/// driver is found by LD_LIBRARY_PATH, by a program whose loader does not look there too.
void TestCommands::benchOnACard() {
#ifndef BELFRY_FAKE_CUDA_FOLDER
    QSKIP("no fake driver library on this system");
#else
    QFETCH(bool, isPortable);
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("LD_LIBRARY_PATH"), QStringLiteral(BELFRY_FAKE_CUDA_FOLDER));
    const auto bench = [&](const QStringList& options) {
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(
            isPortable ? QStringLiteral(BELFRY_PORTABLE_CLI) : qEnvironmentVariable("BELFRY_CLI"),
            QStringList{"bench", "demo", "--device-map", "gpu", "--prefill", "0", "--decode", "4",
                        "--depth", "4", "--no-towers", "--no-ceiling", "--quant", "nf4"} +
                options);
        const bool is_over = process.waitForFinished(120'000);
        const QByteArray told = process.readAllStandardError();
        return is_over && process.exitCode() == 0 ? told : "FAILED: " + told;
    };
    const QByteArray timed = bench({"--kernel-times"});
    if (timed.contains("no GPU kernels")) {
        QSKIP("this build has no GPU kernels");
    }
    QVERIFY2(timed.contains("kernel times, "), timed.constData());
    QVERIFY2(timed.contains("  belfry_stream"), timed.constData());
    if (isPortable) {
        return; // a bench takes seconds
    }
    const QByteArray plain = bench({});
    QVERIFY2(!plain.contains("FAILED") && !plain.contains("kernel times"), plain.constData());
    const QByteArray other = bench({"--kernel-times", "--without", "streamed-launch"});
    QVERIFY2(other.contains("  belfry_token "), other.constData());
    QVERIFY2(!other.contains("  belfry_stream"), other.constData());
#endif
}

void TestCommands::benchOfMedia() {
    const Outcome bench = run({"bench", golden("e2b/model"), "--prefill", "8", "--decode", "12",
                               "--depth", "4", "--no-ceiling"});
    QVERIFY2(bench.code == 0, qPrintable(bench.text));
    for (const char* name : {"image", "audio"}) {
        // A whole request has everything that is also measured apart.
        const QJsonObject row = bench.json[name].toObject();
        const double first = row["first_token_s"].toDouble();
        QVERIFY(row["min_first_token_s"].toDouble() <= first);
        QVERIFY(row["max_first_token_s"].toDouble() >= first);
        QVERIFY(row["seconds"].toDouble() > 0 && row["prepare_s"].toDouble() > 0);
        QVERIFY(row["prompt_s"].toDouble() > 0);
        QVERIFY2(row["max_first_token_s"].toDouble() > 0.5 * row["seconds"].toDouble(), name);
        QVERIFY(row["soft_tokens"].toInt() > 0);
    }
    QCOMPARE(bench.json["audio"].toObject()["soft_tokens"].toInt(), 250);
    for (const char* kind : {"decode", "prefill"}) {
        const QJsonObject row = bench.json[kind].toArray().at(0).toObject();
        QVERIFY(row["min_tokens_per_s"].toDouble() <= row["tokens_per_s"].toDouble());
        QVERIFY(row["max_tokens_per_s"].toDouble() >= row["tokens_per_s"].toDouble());
        QVERIFY(row["min_tokens_per_s"].toDouble() > 0);
    }
}

void TestCommands::benchWithRandomAdapter() {
    const Outcome bench = run({"bench", golden("e2b/model"), "--prefill", "8", "--decode", "4",
                               "--depth", "4", "--no-towers", "--adapter-rank", "4"});
    QVERIFY2(bench.code == 0, qPrintable(bench.text));
    const QJsonObject machine = bench.json["machine"].toObject();
    const double asked = machine["decode_asked_gb_per_s"].toDouble();
    const double bound = machine["decode_arithmetic_gb_per_s"].toDouble();
    QVERIFY(bound > 0 && asked > 0 && asked <= bound);
    QVERIFY(asked <= 0.7001 * std::max(machine["read_gb_per_s"].toDouble(),
                                       machine["weights_read_gb_per_s"].toDouble()));
    const QJsonObject adapter = bench.json["adapter"].toObject();
    QCOMPARE(adapter["rank"].toInt(), 4);
    QCOMPARE(adapter["targets"].toString(), QStringLiteral("projections"));
    QVERIFY(adapter["bytes"].toDouble() > 0);
    const QJsonObject row = adapter["decode"].toArray().at(0).toObject();
    QVERIFY(row["tokens_per_s_with"].toDouble() > 0 && row["tokens_per_s_without"].toDouble() > 0);
    QCOMPARE(adapter["prefill"].toArray().size(), 1);
    const QJsonObject prompt = adapter["prefill"].toArray().at(0).toObject();
    QCOMPARE(prompt["tokens"].toInt(), 8);
    QVERIFY(prompt["tokens_per_s_with"].toDouble() > 0 && prompt["tokens_per_s"].toDouble() > 0);
    // The per-layer-input linears as well.
    const Outcome all = run({"bench", golden("e2b/model"), "--prefill", "0", "--decode", "4",
                             "--depth", "0", "--no-towers", "--no-ceiling", "--adapter-rank", "4",
                             "--adapter-targets", "all-linear"});
    QVERIFY2(all.code == 0, qPrintable(all.text));
    QVERIFY(all.json["adapter"].toObject()["bytes"].toDouble() > adapter["bytes"].toDouble());
    QVERIFY(all.json["adapter"].toObject()["prefill"].toArray().isEmpty());
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
    const Outcome outcome = run(QStringList{"plan", golden("e2b/model")} + words);
    QVERIFY2(outcome.code == 2, qPrintable(outcome.text));
    const QString message = outcome.json["error"].toObject()["message"].toString();
    QVERIFY2(message.contains(words[0]) && message.contains("expected"), qPrintable(message));
}

void TestCommands::wordsAreChecked_data() {
    QTest::addColumn<QStringList>("words");
    QTest::newRow("unknown quantization") << QStringList{"--quant", "bogus"};
    QTest::newRow("no quantization") << QStringList{"--quant", ""};
    QTest::newRow("unknown head") << QStringList{"--head", "bogus"};
    QTest::newRow("block between two powers") << QStringList{"--quant-block", "48"};
    QTest::newRow("unknown CPU kernels") << QStringList{"--cpu-kernels", "scalar"};
    QTest::newRow("unknown form") << QStringList{"--without", "stream"};
    QTest::newRow("block too small") << QStringList{"--quant-block", "16"};
}

void TestCommands::wordsAreChecked() {
    QFETCH(QStringList, words);
    const QString command = words[0] == "--without" ? "bench" : "plan"; // as it belongs to
    const Outcome outcome = run(QStringList{command, golden("e2b/model")} + words);
    QVERIFY2(outcome.code == 2, qPrintable(outcome.text));
    const QString message = outcome.json["error"].toObject()["message"].toString();
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
    const Outcome outcome = run({"plan", golden("e2b/model"), "--device-map", path});
    QVERIFY2(outcome.json["errors"].toArray().at(0).toObject()["code"] == "DM04",
             qPrintable(outcome.text));
    for (const auto& value : outcome.json["devices"].toArray()) {
        const QJsonObject device = value.toObject();
        QVERIFY(device.contains("limit"));
        QVERIFY2(device["limit"].isNull() || device["limit"].toDouble() < 1e18,
                 qPrintable(outcome.text));
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
    const Outcome whole = run({"plan", "demo", "--device-map", "cpu"});
    const Outcome lean = run({"plan", "demo", "--device-map", "cpu", "--text-only"});
    QCOMPARE(whole.code, 0);
    QVERIFY2(lean.code == 0, qPrintable(lean.text));
    const auto weights = [](const Outcome& outcome) {
        const QJsonObject cpu = outcome.json["devices"].toArray().at(0).toObject();
        return cpu["parts"].toObject()["weights"].toDouble();
    };
    const double saved = lean.json["left_out_bytes"].toDouble();
    QVERIFY(saved > 0);
    QCOMPARE(weights(whole) - weights(lean), saved);
    const QString question = QStringLiteral("What is a tower?");
    const QStringList ask = {"chat", "demo", "--temperature", "0", "--prompt", question};
    const Outcome first = run(ask);
    const Outcome second = run(ask + QStringList{"--text-only"});
    QVERIFY2(second.code == 0, qPrintable(second.text));
    QCOMPARE(second.json["token_ids"], first.json["token_ids"]);
    // Both at once can only be a mistake.
    const Outcome refused = run(ask + QStringList{"--text-only", "--image", "cat.png"});
    QCOMPARE(refused.code, 2);
    QVERIFY(refused.text.contains(QStringLiteral("--text-only leaves out what reads")));
}

/// What somebody set is no estimate: --anyway does not go beyond it.
void TestCommands::anywayKeepsLimits() {
    const QStringList words = {"plan", "demo", "--device-map", "cpu", "--limit", "cpu=1MiB"};
    QVERIFY(!run(words).json["fits"].toBool(true));
    const Outcome limited = run(words + QStringList{"--anyway"});
    QVERIFY2(!limited.json["fits"].toBool(true), qPrintable(limited.text));
    QCOMPARE(limited.json["errors"].toArray().at(0).toObject()["code"].toString(),
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
    const Outcome outcome = run({"plan", golden("e2b/model"), "--device-map", path});
    QVERIFY2(outcome.code == 1, qPrintable(outcome.text));
    const QString message = outcome.json["error"].toObject()["message"].toString();
    QVERIFY2(message.startsWith("DM01: device map, line "), qPrintable(message));
}

QTEST_GUILESS_MAIN(TestCommands)
#include "tst_commands.moc"
