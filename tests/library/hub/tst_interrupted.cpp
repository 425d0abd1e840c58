// SPDX-License-Identifier: Apache-2.0
// belfry-cli get killed at random moments and begun again: the model gets whole, and no byte is
// fetched twice but those that were on their way when the program died.
#include "tests/support/hub/fetching.h"

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <random>

namespace fs = std::filesystem;

namespace {

/// Of what a dying program had taken from the network and not given to the disk: its own queue (2
/// MiB), Qt's (4 MiB), and the sockets' buffers on both sides, in which the sender counts it.
constexpr uint64_t kBlockBytes = uint64_t{8} << 20;

QString program() {
    return qEnvironmentVariable("BELFRY_CLI");
}

QProcessEnvironment environment(const support::HubStandin& hub, const QString& home) {
    QProcessEnvironment out = QProcessEnvironment::systemEnvironment();
    for (const QString& name : out.keys()) {
        if (name.startsWith(QLatin1String("HF_")) || name.startsWith(QLatin1String("HUGGING"))) {
            out.remove(name);
        }
    }
    out.insert(QStringLiteral("HF_ENDPOINT"), QString::fromStdString(hub.endpoint()));
    out.insert(QStringLiteral("HF_HOME"), home);
    out.insert(QStringLiteral("HF_TOKEN"), QStringLiteral("hf_secretsecretsecret"));
    return out;
}

fs::path partialOf(const support::HubStandin& hub, const QString& home) {
    const library::hub::RepositoryLayout layout(home.toStdString() + "/hub", hub.content().id);
    return layout.partialBlob(hub.etag("model.safetensors"));
}

} // namespace

class TestInterrupted : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void goesOnAtTheByte();
    void tellsWrongUse_data();
    void tellsWrongUse();
};

void TestInterrupted::goesOnAtTheByte() {
    if (program().isEmpty()) {
        QSKIP("belfry-cli is not built");
    }
    support::HubContent content;
    content.token = "hf_secretsecretsecret";
    content.files["config.json"] = "{}";
    content.files["model.safetensors"] = std::string(size_t{96} << 20, '\0');
    std::mt19937 random(20'32);
    for (char& c : content.files["model.safetensors"]) {
        c = static_cast<char>(random() & 0xffU);
    }
    const uint64_t size = content.files["model.safetensors"].size();
    content.bytes_per_second = 60'000'000;
    const support::HubStandin hub(content);
    QTemporaryDir home;
    const fs::path partial = partialOf(hub, home.path());
    uint64_t kept = 0;
    for (int kill = 0; kill < 3; ++kill) {
        // Somewhere in the next quarter of the file.
        const uint64_t at = kept + 1 + random() % (size / 4);
        QProcess get;
        get.setProcessEnvironment(environment(hub, home.path()));
        get.start(program(), {QStringLiteral("get"), QStringLiteral("org/m")});
        QVERIFY(get.waitForStarted());
        QElapsedTimer timer;
        timer.start();
        std::error_code failure;
        while (get.state() == QProcess::Running && timer.elapsed() < 60'000) {
            const uint64_t there = fs::file_size(partial, failure);
            if (!failure && there >= at) {
                break;
            }
            get.waitForFinished(1);
        }
        get.kill();
        QVERIFY(get.waitForFinished());
        QCOMPARE(get.exitStatus(), QProcess::CrashExit); // killed, not done before
        kept = fs::file_size(partial);
        QVERIFY2(kept >= at && kept < size, std::to_string(kept).c_str());
        QVERIFY(support::textOf(partial) == content.files["model.safetensors"].substr(0, kept));
        const library::hub::RepositoryLayout layout(home.path().toStdString() + "/hub", "org/m");
        QVERIFY(!fs::exists(layout.file(content.commit, "model.safetensors")));
    }
    QProcess get;
    get.setProcessEnvironment(environment(hub, home.path()));
    get.start(program(),
              {QStringLiteral("get"), QStringLiteral("org/m"), QStringLiteral("--json")});
    QVERIFY(get.waitForFinished(120'000));
    const QByteArray errors = get.readAllStandardError();
    QVERIFY2(get.exitCode() == 0, errors.constData());
    const QJsonObject told = QJsonDocument::fromJson(get.readAllStandardOutput()).object();
    QCOMPARE(static_cast<uint64_t>(told[QLatin1String("total_bytes")].toDouble()), size + 2);
    // The last run fetched what was missing and nothing else.
    QCOMPARE(static_cast<uint64_t>(told[QLatin1String("fetched_bytes")].toDouble()), size - kept);
    const fs::path folder = told[QLatin1String("folder")].toString().toStdString();
    QVERIFY(support::textOf(folder / "model.safetensors") == content.files["model.safetensors"]);
    const uint64_t twice = hub.bytesSent() - (size + 2);
    qInfo("sent beyond the file's bytes: %llu in three interruptions",
          static_cast<unsigned long long>(twice));
    QVERIFY2(twice <= 3 * kBlockBytes, std::to_string(twice).c_str());
    // Each attempt began where the disk was.
    std::vector<std::string> ranges;
    for (const support::HubRequest& request : hub.requests()) {
        QCOMPARE(request.headers.count("authorization"), size_t{request.is_other_host ? 0U : 1U});
        if (request.is_other_host && request.headers.count("range") > 0) {
            ranges.push_back(request.headers.at("range"));
        }
    }
    QCOMPARE(ranges.size(), size_t{3});
    QCOMPARE(ranges.back(), "bytes=" + std::to_string(kept) + "-");
}

void TestInterrupted::tellsWrongUse_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const QStringList& words, int code, const char* says) {
        QTest::newRow(name) << words << code << QByteArray(says);
    };
    const QString get = QStringLiteral("get");
    row("no model", {get}, 2, "no model named");
    row("no name", {get, QStringLiteral("../x")}, 2, "OWNER/NAME");
    row("no revision", {get, QStringLiteral("org/m@../../x")}, 2, "revision");
    row("another site", {get, QStringLiteral("https://example.com/org/m")}, 2, "no address at");
    row("not there", {get, QStringLiteral("org/other")}, 1, "check the name");
}

void TestInterrupted::tellsWrongUse() {
    QFETCH(QStringList, words);
    QFETCH(int, code);
    QFETCH(QByteArray, says);
    support::HubContent content = support::smallModel();
    const support::HubStandin hub(content);
    QTemporaryDir home;
    QProcess get;
    get.setProcessEnvironment(environment(hub, home.path()));
    get.start(program(), words);
    QVERIFY(get.waitForFinished());
    const QByteArray errors = get.readAllStandardError();
    QVERIFY2(get.exitCode() == code, errors.constData());
    QVERIFY2(errors.contains(says), errors.constData());
    QVERIFY2(!errors.contains("hf_secret"), errors.constData());
    QVERIFY(get.readAllStandardOutput().isEmpty());
}

QTEST_GUILESS_MAIN(TestInterrupted)
#include "tst_interrupted.moc"
