// SPDX-License-Identifier: Apache-2.0
// Repositories of GGUF files: which quantization is taken, what belongs to it, and, by belfry-cli
// and a hub of this computer, from the plan to a reply; a pair that does not fit together is
// refused before it is fetched.
#include "tests/support/hub/fetching.h"
#include "tests/support/hub/gguf_repository.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

#include "models/hub/file_choice.h"

namespace fs = std::filesystem;
namespace hub = models::hub;

class TestGguf : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void chooses_data();
    void chooses();
    void partsAreOneModel();
    void fromThePlanToAReply();
    void refusesABrokenPair();

private:
    struct Outcome {
        int code = -1;
        QByteArray out, err;
    };
    [[nodiscard]] Outcome
    run(const support::HubStandin& hub, const QString& home, const QStringList& words) const;
};

void TestGguf::chooses_data() {
    QTest::addColumn<QByteArray>("files");
    QTest::addColumn<QByteArray>("asked");
    QTest::addColumn<QByteArray>("wanted"); // names in order; "": nothing
    const auto row = [](const char* title, const char* files, const char* asked,
                        const char* wanted) {
        QTest::newRow(title) << QByteArray(files) << QByteArray(asked) << QByteArray(wanted);
    };
    row("the usual one", "m-Q2_K.gguf m-Q4_K_M.gguf m-Q8_0.gguf", "", "m-Q4_K_M.gguf");
    row("next to it", "m-Q2_K.gguf m-Q8_0.gguf m-Q5_K_M.gguf", "", "m-Q5_K_M.gguf");
    row("nothing usual: the smallest", "m-IQ3_M.gguf m-IQ2_M.gguf", "", "m-IQ3_M.gguf");
    row("asked for, in another case", "m-Q2_K.gguf m-Q4_K_M.gguf", "q2_k", "m-Q2_K.gguf");
    row("not there", "m-Q2_K.gguf m-Q4_K_M.gguf", "Q8_0", "");
    row("by its whole name", "model.gguf", "model.gguf", "model.gguf");
    row("a trio",
        "mmproj-F16.gguf mmproj-BF16.gguf m-Q8_0.gguf mtp-m.gguf MTP/mtp-m-BF16.gguf README.md "
        "config.json params",
        "", "m-Q8_0.gguf mmproj-BF16.gguf mtp-m.gguf README.md");
    row("an assistant for each", "m-Q4_0.gguf m-Q8_0.gguf mtp-m-Q4_0.gguf mtp-m-Q8_0.gguf", "Q8_0",
        "m-Q8_0.gguf mtp-m-Q8_0.gguf");
    row("parts in a folder", "BF16/m-BF16-00002-of-00002.gguf BF16/m-BF16-00001-of-00002.gguf", "",
        "BF16/m-BF16-00002-of-00002.gguf BF16/m-BF16-00001-of-00002.gguf");
    row("a part is missing", "m-BF16-00001-of-00002.gguf", "", "");
    row("projectors alone", "mmproj-F16.gguf", "", "");
}

void TestGguf::chooses() {
    QFETCH(QByteArray, files);
    QFETCH(QByteArray, asked);
    QFETCH(QByteArray, wanted);
    std::vector<hub::ListedFile> listed;
    uint64_t bytes = 1000;
    for (const QByteArray& name : files.split(' ')) {
        listed.push_back({name.toStdString(), nullptr, bytes++, "", name.endsWith(".gguf")});
    }
    const auto gguf = hub::chooseGguf(listed, asked.toStdString());
    QByteArrayList names;
    if (gguf.has_value()) {
        for (const hub::ListedFile& file : hub::chooseFiles(listed, *gguf).wanted) {
            names << QByteArray::fromStdString(file.name);
        }
    }
    QCOMPARE(names.join(' '), wanted);
}

void TestGguf::partsAreOneModel() {
    const auto gguf = hub::chooseGguf({{"m-Q8_0-00001-of-00002.gguf", nullptr, 5, "", true},
                                       {"m-Q8_0-00002-of-00002.gguf", nullptr, 7, "", true}},
                                      "");
    QVERIFY(gguf.has_value());
    QCOMPARE(gguf->models.size(), size_t{1});
    QCOMPARE(gguf->models[0].bytes(), uint64_t{12});
    QCOMPARE(gguf->models[0].quantization, std::string("Q8_0"));
}

TestGguf::Outcome
TestGguf::run(const support::HubStandin& hub, const QString& home, const QStringList& words) const {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const QString& name : environment.keys()) {
        if (name.startsWith(QLatin1String("HF_")) || name.startsWith(QLatin1String("HUGG"))) {
            environment.remove(name);
        }
    }
    environment.insert(QStringLiteral("HF_ENDPOINT"), QString::fromStdString(hub.endpoint()));
    environment.insert(QStringLiteral("HF_HOME"), home);
    for (const char* name : {"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"}) {
        environment.insert(QLatin1String(name), home);
    }
    QProcess process;
    process.setProcessEnvironment(environment);
    process.start(qEnvironmentVariable("BELFRY_CLI"), words);
    process.closeWriteChannel();
    Outcome outcome;
    if (process.waitForFinished(240'000)) {
        outcome = {process.exitCode(), process.readAllStandardOutput(),
                   process.readAllStandardError()};
    }
    return outcome;
}

void TestGguf::fromThePlanToAReply() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("belfry-cli is not built");
    }
    const support::HubContent content = support::ggufRepository();
    const support::HubStandin standin(content);
    const QTemporaryDir home;
    const QString id = QStringLiteral("org/tiny-GGUF");

    const Outcome planned =
        run(standin, home.path(), {QStringLiteral("get"), id, QStringLiteral("--dry-run")});
    QVERIFY2(planned.code == 0, planned.err.constData());
    QVERIFY2(planned.out.contains("taken is Q4_0; another: belfry-cli get org/tiny-GGUF:"),
             planned.out.constData());
    QVERIFY2(planned.out.contains("  * Q4_0  ") && planned.out.contains("    Q8_0  "),
             planned.out.constData());
    QVERIFY2(planned.out.contains("on this computer: fits"), planned.out.constData());
    QVERIFY2(planned.out.contains("vision_tower"), planned.out.constData());

    const Outcome unknown =
        run(standin, home.path(), {QStringLiteral("get"), id + QStringLiteral(":Q3_K")});
    QVERIFY(unknown.code != 0);
    QVERIFY2(unknown.err.contains("it has: Q4_0, Q8_0"), unknown.err.constData());

    const Outcome got = run(standin, home.path(), {QStringLiteral("get"), id});
    QVERIFY2(got.code == 0, got.err.constData());
    const fs::path file = got.out.trimmed().toStdString();
    QCOMPARE(file.filename().string(), std::string("tiny-Q4_0.gguf"));
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(file.parent_path())) {
        names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    QCOMPARE(names, (std::vector<std::string>{"README.md", "mmproj-BF16.gguf", "mtp-tiny.gguf",
                                              "tiny-Q4_0.gguf"}));

    for (const QString& model :
         {id, id + QStringLiteral(":q4_0"), QString::fromStdString(file.parent_path().string())}) {
        const Outcome reply =
            run(standin, home.path(),
                {QStringLiteral("chat"), model, QStringLiteral("--raw-prompt"),
                 QStringLiteral("a b"), QStringLiteral("--max-tokens"), QStringLiteral("4"),
                 QStringLiteral("--device-map"), QStringLiteral("cpu")});
        QVERIFY2(reply.code == 0, reply.err.constData());
    }
}

void TestGguf::refusesABrokenPair() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("belfry-cli is not built");
    }
    const support::HubStandin standin(support::brokenGgufRepository());
    const QTemporaryDir home;
    const Outcome got =
        run(standin, home.path(), {QStringLiteral("get"), QStringLiteral("org/tiny-GGUF")});
    QVERIFY(got.code != 0);
    QVERIFY2(got.err.contains("mmproj-BF16.gguf: belongs to another model: its features are 80 "
                              "wide, tiny-Q4_0.gguf is 64 wide"),
             got.err.constData());
    QVERIFY(!fs::exists(fs::path(home.path().toStdString()) / "hub"));
}

TEST_CLASS(TestGguf)
#include "tst_gguf.moc"
