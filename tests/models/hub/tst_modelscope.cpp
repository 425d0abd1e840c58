// SPDX-License-Identifier: Apache-2.0
// ModelScope as a source: its addresses, its list of files read without trust, a whole model into a
// plain folder, and belfry-cli get.
#include "tests/support/hub/fetching.h"
#include "tests/support/program/test_class.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

#include "models/hub/modelscope.h"

namespace fs = std::filesystem;
namespace hub = models::hub;
using support::HubFault;
using support::HubReply;
using support::HubRequest;

namespace {

const std::string kSha256(64, 'a');

/// A list with one good file and this one.
std::string listWith(const std::string& file) {
    return R"({"Code":200,"Data":{"Files":[{"Path":"m.safetensors","Type":"blob","Size":5,)"
           R"("Sha256":")" +
           kSha256 + R"("},)" + file + "]}}";
}

std::string entry(const std::string& name, const std::string& size) {
    return R"({"Path":")" + name + R"(","Type":"blob","Size":)" + size + R"(,"Sha256":")" +
           kSha256 + R"("})";
}

std::string named(const std::string& name) {
    return listWith(entry(name, "5"));
}

support::FetchSetup setupIn(const fs::path& folder) {
    support::FetchSetup setup;
    setup.folder = folder;
    setup.revision = "master";
    setup.source = hub::Source::ModelScope;
    return setup;
}

} // namespace

class TestModelScope : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void readsAddresses_data();
    void readsAddresses();
    void readsNoListThatLies_data();
    void readsNoListThatLies();
    void fillsAFolder();
    void survivesFaults_data();
    void survivesFaults();
    void comesByTheCommandLine();
};

void TestModelScope::readsAddresses_data() {
    support::addColumns<QString, bool, QString, QString>("text", "is_page", "id", "revision");
    const auto row = [](const char* text, bool is_page, const char* id, const char* revision) {
        QTest::newRow(text) << QString::fromUtf8(text) << is_page << QString::fromUtf8(id)
                            << QString::fromUtf8(revision);
    };
    row("https://modelscope.cn/models/google/gemma-4-E2B-it", true, "google/gemma-4-E2B-it",
        "master");
    row("https://www.modelscope.cn/models/a/b/summary", true, "a/b", "master");
    row("https://www.modelscope.cn/models/a/b/files?version=x", true, "a/b", "master");
    row("https://modelscope.ai/models/a/b/", true, "a/b", "master");
    row("a/b", false, "a/b", "master");
    row("a/b@v1.0", false, "a/b", "v1.0");
    row("https://modelscope.cn/models/../x", true, "", "");
    row("https://modelscope.cn.evil.example/models/a/b", false, "", "");
    row("a b/c", false, "", "");
}

void TestModelScope::readsAddresses() {
    QFETCH(QString, text);
    QFETCH(bool, is_page);
    QFETCH(QString, id);
    QFETCH(QString, revision);
    QCOMPARE(hub::isModelScopeAddress(text.toStdString()), is_page);
    const auto address = hub::parseModelScopeAddress(text.toStdString());
    QCOMPARE(address.has_value(), !id.isEmpty());
    if (address.has_value()) {
        QCOMPARE(address->id, id.toStdString());
        QCOMPARE(address->revision, revision.toStdString());
    }
}

void TestModelScope::readsNoListThatLies_data() {
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QByteArray>("rule"); // empty: it is read
    const auto row = [](const char* name, const std::string& json, const char* rule) {
        QTest::newRow(name) << QByteArray::fromStdString(json) << QByteArray(rule);
    };
    row("good", named("config.json"), "");
    row("a folder", listWith(R"({"Path":"x","Type":"tree","Size":0})"), "");
    row("no JSON", "{", "HubListing");
    row("a list", "[]", "HubListing");
    row("no files", R"({"Code":200,"Data":{}})", "HubListing");
    row("an error in a good answer", R"({"Code":10010205001,"Message":"no such model"})",
        "HubMissing");
    row("a name that leads out", named("../evil"), "HubListing");
    row("a drive", named("C:\\\\evil"), ""); // the choice of files leaves it out on Windows
    row("no checksum", listWith(R"({"Path":"a","Type":"blob","Size":5})"), "HubListing");
    row("a checksum that is a path",
        listWith(R"({"Path":"a","Type":"blob","Size":5,"Sha256":"../../x"})"), "HubListing");
    row("a negative size", listWith(entry("a", "-5")), "HubListing");
    row("a size that is a text", listWith(entry("a", R"("5")")), "HubListing");
    std::string many = entry("f", "5");
    for (int i = 0; i < 60; ++i) {
        many += "," + entry("f" + std::to_string(i), "5");
    }
    row("more than can be", listWith(many), "HubListing");
}

void TestModelScope::readsNoListThatLies() {
    QFETCH(QByteArray, json);
    QFETCH(QByteArray, rule);
    const hub::Asked asked{"org/m", "master", {}, "https://modelscope.cn"};
    const auto files = hub::readModelScopeList(json.toStdString(), asked, 50);
    QCOMPARE(files.has_value(), rule.isEmpty());
    if (!files.has_value()) {
        const auto& details = files.error().details;
        QVERIFY(!details.empty());
        QCOMPARE(details.front().second, rule.toStdString());
    }
}

void TestModelScope::fillsAFolder() {
    const support::HubStandin standin(support::smallModel());
    const QTemporaryDir folder;
    support::FetchSetup setup = setupIn(fs::path(folder.path().toStdString()) / "model");
    setup.limits.block_bytes = uint64_t{128} << 10; // several ranges each
    const support::Fetched fetched = support::fetchFrom(standin, setup);
    QVERIFY2(fetched.is_done, fetched.error.message.c_str());
    for (const char* name :
         {"config.json", "tokenizer.json", "README.md", "model-00001-of-00002.safetensors",
          "model-00002-of-00002.safetensors"}) {
        QVERIFY2(support::textOf(setup.folder / name) == standin.content().files.at(name), name);
    }
    QVERIFY(!fs::exists(setup.folder / "pytorch_model.bin"));
    const uint64_t sent = standin.bytesSent();
    QVERIFY(support::fetchFrom(standin, setup).is_done); // checked, not fetched
    QCOMPARE(standin.bytesSent(), sent);
    // Never into the hub's cache.
    setup.cache = setup.folder.parent_path() / "hub";
    setup.folder.clear();
    const support::Fetched cached = support::fetchFrom(standin, setup);
    QCOMPARE(cached.rule, std::string("HubAddress"));
    QVERIFY(cached.error.message.find("--to") != std::string::npos);
    QVERIFY(!fs::exists(setup.cache));
}

void TestModelScope::survivesFaults_data() {
    support::addColumns<int, QByteArray>("row", "rule");
    QTest::newRow("404 for the list") << 0 << QByteArray("HubMissing");
    QTest::newRow("500 once") << 1 << QByteArray("ok");
    QTest::newRow("wrong bytes") << 2 << QByteArray("HubHash");
    QTest::newRow("a cut") << 3 << QByteArray("ok");
    QTest::newRow("the address expires") << 4 << QByteArray("ok");
}

void TestModelScope::survivesFaults() {
    QFETCH(int, row);
    QFETCH(QByteArray, rule);
    using Where = HubFault::Where;
    using How = HubFault::How;
    const auto status = [](int code) {
        return [code](const HubRequest&, HubReply& reply) {
            reply = {};
            reply.status = code;
        };
    };
    const auto wrong = [](const HubRequest&, HubReply& reply) {
        reply.setBody(std::string(reply.body.size(), 'x'));
    };
    const std::vector<HubFault> faults = {{Where::Tree, How::Edit, -1, 0, status(404)},
                                          {Where::Tree, How::Edit, 1, 0, status(500)},
                                          {Where::Small, How::Edit, -1, 0, wrong},
                                          {Where::Cdn, How::CutBody, 1, 10'000, {}},
                                          {Where::Cdn, How::Edit, 1, 0, status(403)}};
    const support::HubStandin standin(support::smallModel(), faults[static_cast<size_t>(row)]);
    const QTemporaryDir folder;
    const support::Fetched fetched =
        support::fetchFrom(standin, setupIn(folder.path().toStdString()));
    QVERIFY2(fetched.rule == rule.toStdString(),
             (fetched.rule + ": " + fetched.error.message).c_str());
}

void TestModelScope::comesByTheCommandLine() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("belfry-cli is not built");
    }
    const support::HubStandin standin(support::smallModel());
    const QTemporaryDir home;
    QProcessEnvironment environment;
    environment.insert(QStringLiteral("HOME"), home.path());
    environment.insert(QStringLiteral("USERPROFILE"), home.path());
    environment.insert(QStringLiteral("HF_TOKEN"), QStringLiteral("hf_secretsecretsecret"));
    environment.insert(QStringLiteral("MODELSCOPE_ENDPOINT"),
                       QString::fromStdString(standin.endpoint()));
    QByteArray errors;
    const auto get = [&](const QStringList& words) {
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(qEnvironmentVariable("BELFRY_CLI"),
                      QStringList{QStringLiteral("get")} + words);
        const bool is_done = process.waitForFinished(60'000);
        errors = process.readAllStandardError();
        return is_done ? process.exitCode() : -1;
    };
    const QString page = QStringLiteral("https://modelscope.cn/models/org/m");
    const QString option = QStringLiteral("--to");
    QCOMPARE(get({page}), 2); // no cache takes it
    QVERIFY2(errors.contains("--to"), errors.constData());
    const QString to = home.path() + QStringLiteral("/model");
    QVERIFY2(get({page, option, to}) == 0, errors.constData());
    QVERIFY(fs::exists(fs::path(to.toStdString()) / "config.json"));
    const QString other = home.path() + QStringLiteral("/other");
    QVERIFY2(get({QStringLiteral("org/m"), QStringLiteral("--source"), QStringLiteral("modelscope"),
                  option, other}) == 0,
             errors.constData());
    QVERIFY(standin.requests().size() > 10);
    for (const HubRequest& request : standin.requests()) { // the hub's token is the hub's
        QCOMPARE(request.headers.count("authorization"), size_t{0});
    }
}

TEST_CLASS_WITH(QCoreApplication, TestModelScope)
#include "tst_modelscope.moc"
