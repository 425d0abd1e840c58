// SPDX-License-Identifier: Apache-2.0
// From nothing to an answer, by belfry-cli and a hub of this computer: a model in shards is planned
// from ranges of its files, fetched though the program is killed three times, found by its name,
// loaded and asked; and the server's own count says what it cost.
#include "tests/support/hub/fetching.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>
#include <random>

#include "models/hub/cache_layout.h"

namespace fs = std::filesystem;

namespace {

/// What one kill may cost. Here, where the line is slow, it is much less; tst_interrupted.cpp has
/// the case in which it counts.
constexpr uint64_t kStoryBlockBytes = models::hub::Limits{}.block_bytes;
const char* const kStoryToken = "hf_secretsecretsecret";

using nlohmann::ordered_json;

std::string safetensors(const ordered_json& header, const std::string& data) {
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const uint64_t length = text.size();
    std::string file(8, '\0');
    std::memcpy(file.data(), &length, 8); // little-endian, as all our machines
    return file + text + data;
}

/// The demo model in `num_shards` files with their index, as large models come.
support::HubContent shardedDemo(size_t num_shards) {
    support::HubContent content;
    content.id = "org/demo";
    content.token = kStoryToken;
    const fs::path folder = support::sourceDir() / "resources/demo_model";
    for (const char* name : {"config.json", "generation_config.json", "processor_config.json",
                             "tokenizer.json", "tokenizer_config.json", "README.md"}) {
        content.files[name] = support::textOf(folder / name);
    }
    const std::string whole = support::textOf(folder / "model.safetensors");
    uint64_t length = 0;
    std::memcpy(&length, whole.data(), 8);
    const auto header = ordered_json::parse(whole.substr(8, length));
    const std::string_view data = std::string_view(whole).substr(8 + length);
    std::vector<ordered_json> headers(num_shards, ordered_json::object());
    std::vector<std::string> bodies(num_shards);
    ordered_json map = ordered_json::object();
    const auto nameOf = [&](size_t i) {
        return "model-0000" + std::to_string(i + 1) + "-of-0000" + std::to_string(num_shards) +
               ".safetensors";
    };
    for (const auto& [name, tensor] : header.items()) {
        if (name == "__metadata__") {
            continue;
        }
        const uint64_t begin = tensor["data_offsets"][0];
        const uint64_t end = tensor["data_offsets"][1];
        const size_t shard = std::min<size_t>(num_shards - 1, begin * num_shards / data.size());
        ordered_json moved = tensor;
        moved["data_offsets"] = {bodies[shard].size(), bodies[shard].size() + (end - begin)};
        bodies[shard] += data.substr(begin, end - begin);
        headers[shard][name] = moved;
        map[name] = nameOf(shard);
    }
    for (size_t i = 0; i < num_shards; ++i) {
        content.files[nameOf(i)] = safetensors(headers[i], bodies[i]);
    }
    content.files["model.safetensors.index.json"] =
        ordered_json{{"metadata", {{"total_size", data.size()}}}, {"weight_map", map}}.dump();
    return content;
}

class Shell {
public:
    Shell(const support::HubStandin& hub, const QString& home) {
        environment_ = QProcessEnvironment::systemEnvironment();
        for (const QString& name : environment_.keys()) {
            if (name.startsWith(QLatin1String("HF_")) || name.startsWith(QLatin1String("HUGG"))) {
                environment_.remove(name);
            }
        }
        environment_.insert(QStringLiteral("HF_ENDPOINT"), QString::fromStdString(hub.endpoint()));
        environment_.insert(QStringLiteral("HF_HOME"), home);
        environment_.insert(QStringLiteral("HOME"), home);
        environment_.insert(QStringLiteral("USERPROFILE"), home);
        environment_.insert(QStringLiteral("XDG_CONFIG_HOME"), home);
        environment_.insert(QStringLiteral("HF_TOKEN"), QLatin1String(kStoryToken));
    }

    void start(QProcess& process, const QStringList& words) const {
        process.setProcessEnvironment(environment_);
        process.start(qEnvironmentVariable("BELFRY_CLI"), words);
    }

    /// Its output; `errors` gets the other one. An empty QByteArray with `errors` where it fails.
    QByteArray run(const QStringList& words, QByteArray& errors) const {
        QProcess process;
        start(process, words);
        const bool is_done = process.waitForFinished(180'000);
        errors = process.readAllStandardError();
        return is_done && process.exitCode() == 0 ? process.readAllStandardOutput() : QByteArray();
    }

private:
    QProcessEnvironment environment_;
};

} // namespace

class TestStory : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void fromNothingToAnAnswer();
};

void TestStory::fromNothingToAnAnswer() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("belfry-cli is not built");
    }
    support::HubContent content = shardedDemo(3);
    uint64_t total = 0;
    for (const auto& [name, text] : content.files) {
        total += text.size();
    }
    content.bytes_per_second = 4'000'000;
    const support::HubStandin hub(content);
    const QTemporaryDir home;
    const Shell shell(hub, home.path());
    QByteArray errors;

    // The plan, of ranges: much less than the model.
    const QStringList get = {QStringLiteral("get"), QStringLiteral("org/demo")};
    const QJsonObject planned =
        QJsonDocument::fromJson(
            shell.run(get + QStringList{QStringLiteral("--dry-run"), QStringLiteral("--json")},
                      errors))
            .object();
    QVERIFY2(planned[QLatin1String("fits")].toBool(), errors.constData());
    const uint64_t for_plan = hub.bytesSent();
    QVERIFY2(for_plan < total / 4, std::to_string(for_plan).c_str());

    // The model, with the program killed three times.
    const models::hub::RepositoryLayout layout(home.path().toStdString() + "/hub", "org/demo");
    std::mt19937 random(2026);
    uint64_t kept = 0;
    for (int kill = 0; kill < 3; ++kill) {
        const uint64_t at = kept + 1 + random() % (total / 4);
        QProcess process;
        shell.start(process, get);
        QVERIFY(process.waitForStarted());
        QElapsedTimer timer;
        timer.start();
        while (process.state() == QProcess::Running && timer.elapsed() < 60'000 &&
               support::keptBytes(layout) < at) {
            process.waitForFinished(1);
        }
        process.kill();
        QVERIFY(process.waitForFinished());
        QCOMPARE(process.exitStatus(), QProcess::CrashExit);
        kept = support::keptBytes(layout);
        QVERIFY(!fs::exists(layout.ref("main"))); // no model yet
    }
    const QJsonObject fetched =
        QJsonDocument::fromJson(shell.run(get + QStringList{QStringLiteral("--json")}, errors))
            .object();
    QVERIFY2(!fetched.isEmpty(), errors.constData());
    const uint64_t sent = hub.bytesSent() - for_plan;
    QVERIFY2(sent >= total && sent - total <= 3 * kStoryBlockBytes, std::to_string(sent).c_str());
    for (const auto& [name, text] : content.files) {
        QVERIFY2(support::textOf(layout.file(content.commit, name)) == text, name.c_str());
    }
    for (const support::HubRequest& request : hub.requests()) {
        QCOMPARE(request.headers.count("authorization"), size_t{request.is_other_host ? 0U : 1U});
    }

    // Found by its name, and it answers as the same model does elsewhere.
    const size_t num_requests = hub.requests().size();
    const QJsonArray models =
        QJsonDocument::fromJson(
            shell.run({QStringLiteral("models"), QStringLiteral("--json")}, errors))
            .object()[QLatin1String("models")]
            .toArray();
    QCOMPARE(models.size(), 1);
    QCOMPARE(models[0].toObject()[QLatin1String("name")].toString(), QStringLiteral("org/demo"));
    QCOMPARE(models[0].toObject()[QLatin1String("state")].toString(), QStringLiteral("usable"));
    const auto ask = [&](const QString& model) {
        return shell.run({QStringLiteral("chat"), model, QStringLiteral("--prompt"),
                          QStringLiteral("Hello"), QStringLiteral("--max-tokens"),
                          QStringLiteral("8")},
                         errors);
    };
    const QByteArray said = ask(QStringLiteral("org/demo"));
    QVERIFY2(!said.isEmpty(), errors.constData());
    QCOMPARE(said, ask(QStringLiteral("demo")));
    QCOMPARE(hub.requests().size(), num_requests); // all this without the network
}

TEST_CLASS_WITH(QCoreApplication, TestStory)
#include "tst_story.moc"
