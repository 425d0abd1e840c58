// SPDX-License-Identifier: Apache-2.0
// belfry-cli get killed at random moments and begun again: the model gets whole, and by the
// sender's own count each kill costs at most one block, over all connections together.
#include "tests/support/hub/fetching.h"
#include "tests/support/processes.h"
#include "tests/support/program/test_class.h"

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <filesystem>
#include <map>
#include <random>

namespace fs = std::filesystem;

namespace {

/// What a kill may cost, as the program promises it (models/hub/asked_bytes.h).
constexpr uint64_t kBlockBytes = models::hub::Limits{}.block_bytes;

/// Four files as large as several blocks together.
support::HubContent fourShards() {
    support::HubContent content;
    content.token = "hf_secretsecretsecret";
    content.files["config.json"] = "{}";
    std::mt19937_64 random(20'32);
    for (int shard = 1; shard <= 4; ++shard) {
        std::string& text =
            content.files["model-0000" + std::to_string(shard) + "-of-00004.safetensors"];
        text.resize(size_t{48} << 20);
        for (size_t at = 0; at < text.size(); at += sizeof(uint64_t)) {
            const uint64_t word = random();
            std::memcpy(text.data() + at, &word, sizeof(word));
        }
    }
    return content;
}

/// What lies on the disk of each file, whole or not.
std::map<std::string, uint64_t> keptBytes(const support::HubStandin& hub, const QString& home) {
    const models::hub::RepositoryLayout layout(home.toStdString() + "/hub", hub.content().id);
    std::map<std::string, uint64_t> kept;
    for (const auto& [name, text] : hub.content().files) {
        std::error_code failure;
        uint64_t bytes = fs::file_size(layout.blob(hub.etag(name)), failure);
        if (failure) {
            bytes = fs::file_size(layout.partialBlob(hub.etag(name)), failure);
        }
        if (failure) { // without links a whole file is where a link would be
            bytes = fs::file_size(layout.file(hub.content().commit, name), failure);
        }
        kept[name] = failure ? 0 : bytes;
    }
    return kept;
}

uint64_t sumOf(const std::map<std::string, uint64_t>& bytes) {
    uint64_t sum = 0;
    for (const auto& [name, one] : bytes) {
        sum += one;
    }
    return sum;
}

/// Once nothing is on its way any more.
uint64_t settledCount(const support::HubStandin& hub) {
    uint64_t sent = hub.bytesSent();
    for (uint64_t before = sent + 1; before != sent; sent = hub.bytesSent()) {
        before = sent;
        QTest::qWait(200);
    }
    return sent;
}

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
    support::HubContent content = fourShards();
    content.bytes_per_second = 40'000'000; // of each connection
    const support::HubStandin hub(std::move(content));
    uint64_t size = 0;
    for (const auto& [name, text] : hub.content().files) {
        size += text.size();
    }
    std::mt19937 random(20'32);
    QTemporaryDir home;
    const models::hub::RepositoryLayout layout(home.path().toStdString() + "/hub", "org/m");
    std::map<std::string, uint64_t> kept;
    uint64_t twice = 0; // bytes that were sent and are not on the disk
    for (int kill = 0; kill < 3; ++kill) {
        // Somewhere in the next quarter of the model.
        const uint64_t at = sumOf(kept) + 1 + random() % (size / 4);
        QProcess get;
        get.setProcessEnvironment(environment(hub, home.path()));
        get.start(program(), {QStringLiteral("get"), QStringLiteral("org/m")});
        QVERIFY(get.waitForStarted());
        QElapsedTimer timer;
        timer.start();
        while (get.state() == QProcess::Running && timer.elapsed() < 60'000 &&
               sumOf(keptBytes(hub, home.path())) < at) {
            get.waitForFinished(1);
        }
        // The worst moment: it takes nothing more, until every buffer on the way has filled.
        QVERIFY(support::pauseProcess(get.processId()));
        settledCount(hub);
        get.kill();
        QVERIFY(get.waitForFinished());
        QCOMPARE(get.exitStatus(), QProcess::CrashExit); // killed, not done before
        kept = keptBytes(hub, home.path());
        QVERIFY2(sumOf(kept) >= at && sumOf(kept) < size, std::to_string(sumOf(kept)).c_str());
        for (const auto& [name, bytes] : kept) {
            const fs::path partial = layout.partialBlob(hub.etag(name));
            QVERIFY(!fs::exists(partial) ||
                    support::textOf(partial) == hub.content().files.at(name).substr(0, bytes));
        }
        QVERIFY(!fs::exists(layout.ref("main"))); // no model yet
        const uint64_t sent = settledCount(hub);
        const uint64_t lost = sent - sumOf(kept) - twice;
        qInfo("kill %d at %.1f MiB: %.1f MiB were on their way", kill + 1,
              static_cast<double>(sumOf(kept)) / 1048576.0, static_cast<double>(lost) / 1048576.0);
        QVERIFY2(lost <= kBlockBytes, std::to_string(lost).c_str());
        twice = sent - sumOf(kept);
    }
    const size_t num_requests = hub.requests().size();
    QProcess get;
    get.setProcessEnvironment(environment(hub, home.path()));
    get.start(program(),
              {QStringLiteral("get"), QStringLiteral("org/m"), QStringLiteral("--json")});
    QVERIFY(get.waitForFinished(120'000));
    const QByteArray errors = get.readAllStandardError();
    QVERIFY2(get.exitCode() == 0, errors.constData());
    const QJsonObject told = QJsonDocument::fromJson(get.readAllStandardOutput()).object();
    QCOMPARE(static_cast<uint64_t>(told[QLatin1String("total_bytes")].toDouble()), size);
    // The last run fetched what was missing and nothing else.
    QCOMPARE(static_cast<uint64_t>(told[QLatin1String("fetched_bytes")].toDouble()),
             size - sumOf(kept));
    QCOMPARE(hub.bytesSent() - twice, size);
    const fs::path folder = told[QLatin1String("folder")].toString().toStdString();
    for (const auto& [name, text] : hub.content().files) {
        QVERIFY2(support::textOf(folder / name) == text, name.c_str());
    }
    // It began with each file where the disk was.
    std::map<std::string, std::string> first_ranges;
    const std::vector<support::HubRequest> requests = hub.requests();
    for (size_t i = 0; i < requests.size(); ++i) {
        const support::HubRequest& request = requests[i];
        QCOMPARE(request.headers.count("authorization"), size_t{request.is_other_host ? 0U : 1U});
        if (i >= num_requests && request.is_other_host && request.headers.count("range") > 0) {
            const std::string name = request.path.substr(5, request.path.find('?') - 5);
            first_ranges.emplace(name, request.headers.at("range"));
        }
    }
    QVERIFY(!first_ranges.empty());
    for (const auto& [name, range] : first_ranges) {
        QVERIFY2(range.starts_with("bytes=" + std::to_string(kept[name]) + "-"), range.c_str());
    }
}

void TestInterrupted::tellsWrongUse_data() {
    support::addColumns<QStringList, int, QByteArray>("words", "code", "says");
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

TEST_CLASS_WITH(QCoreApplication, TestInterrupted)
#include "tst_interrupted.moc"
