// SPDX-License-Identifier: Apache-2.0
// The way out of a company's network: a proxy that the settings or the environment name is used for
// everything but this computer, and sees no token. And a mirror whose hub lies below a path.
#include "app/network/qt_http.h"
#include "app/network/qt_proxy.h"
#include "tests/support/hub/fetching.h"
#include "tests/support/hub/proxy_standin.h"
#include "tests/support/program/test_class.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

namespace fs = std::filesystem;
namespace hub = models::hub;
using support::HubFault;

namespace {

const std::string kToken = "hf_secretsecretsecret";

/// Large files are at a name that nobody but the proxy can find, as the hub is.
HubFault atCdnExample() {
    return {HubFault::Where::Large, HubFault::How::Edit, -1, 0,
            [](const support::HubRequest&, support::HubReply& reply) {
                std::string& to = reply.headers["Location"];
                to = "http://cdn.example" + to.substr(to.find("/cdn/"));
            }};
}

size_t countOf(const std::vector<std::string>& heads, const std::string& begin) {
    return static_cast<size_t>(
        std::count_if(heads.begin(), heads.end(),
                      [&](const std::string& head) { return head.starts_with(begin); }));
}

} // namespace

class TestProxy : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void cleanup() { app::useProxy({}); }
    void carriesEverything();
    void isTakenFromTheEnvironment();
    void isNotAskedForThisComputer();
    void seesNoToken();
    void thatRefusesIsNamed();
    void mirrorsMayLieBelowAPath();
};

void TestProxy::carriesEverything() {
    const support::HubStandin standin(support::smallModel(), atCdnExample());
    const support::ProxyStandin proxy(
        {{"hub.example", standin.port()}, {"cdn.example", standin.otherPort()}});
    const QTemporaryDir cache;
    hub::FetchOptions options;
    options.hub = support::hubOptions(standin, {});
    options.hub.endpoint = "http://hub.example";
    options.make_http = app::qtHttp([] { return std::string(); }); // which follows the system
    app::useProxy(proxy.address());
    const auto http = options.make_http();
    auto client = hub::HubClient::create(options.hub, *http);
    hub::FetchRequest request;
    request.address = {"org/m", "main"};
    request.target.cache = cache.path().toStdString();
    const auto plan = hub::planFetch(request, *client, {});
    VERIFY_VALUE(plan);
    const auto fetched = hub::fetch(*plan, options, {});
    VERIFY_VALUE(fetched);
    for (const hub::PlannedFile& planned : plan->files) {
        QVERIFY(support::textOf(plan->model_folder / planned.file.name) ==
                standin.content().files.at(planned.file.name));
    }
    const std::vector<std::string> heads = proxy.heads();
    QCOMPARE(heads.size(), standin.requests().size()); // nothing went beside it
    QCOMPARE(countOf(heads, "GET http://cdn.example"), size_t{2});
}

void TestProxy::isTakenFromTheEnvironment() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("belfry-cli is not built");
    }
    const support::HubStandin standin(support::smallModel(), atCdnExample());
    const support::ProxyStandin proxy(
        {{"hub.example", standin.port()}, {"cdn.example", standin.otherPort()}});
    const QTemporaryDir home;
    QProcessEnvironment environment;
    environment.insert(QStringLiteral("HOME"), home.path());
    environment.insert(QStringLiteral("USERPROFILE"), home.path());
    environment.insert(QStringLiteral("HF_ENDPOINT"), QStringLiteral("http://hub.example"));
    environment.insert(QStringLiteral("http_proxy"), QString::fromStdString(proxy.address()));
    QProcess get;
    get.setProcessEnvironment(environment);
    get.start(qEnvironmentVariable("BELFRY_CLI"), {QStringLiteral("get"), QStringLiteral("org/m")});
    QVERIFY(get.waitForFinished(60'000));
    const QByteArray errors = get.readAllStandardError();
    QVERIFY2(get.exitCode() == 0, errors.constData());
    QCOMPARE(proxy.heads().size(), standin.requests().size());
    QVERIFY(!proxy.heads().empty());
}

void TestProxy::isNotAskedForThisComputer() {
    const support::HubStandin standin(support::smallModel());
    const support::ProxyStandin proxy({});
    const auto http = app::qtHttp([] { return std::string(); })();
    app::useProxy(proxy.address());
    auto client = hub::HubClient::create(support::hubOptions(standin, {}), *http);
    QVERIFY(client->model("org/m", "main", {}).has_value());
    QCOMPARE(proxy.heads().size(), size_t{0});
    QCOMPARE(standin.requests().size(), size_t{1});
}

void TestProxy::seesNoToken() {
    const support::ProxyStandin proxy({});
    const auto http = app::qtHttp([] { return std::string(); })();
    app::useProxy(proxy.address());
    hub::HubOptions options;
    options.endpoint = "https://hub.example";
    options.token = kToken;
    options.limits = support::shortLimits();
    auto client = hub::HubClient::create(options, *http);
    QVERIFY(client.has_value());
    const auto model = client->model("org/m", "main", {});
    QVERIFY(!model.has_value());
    QVERIFY2(model.error().message.find(kToken) == std::string::npos,
             model.error().message.c_str());
    const std::vector<std::string> heads = proxy.heads();
    QVERIFY(countOf(heads, "CONNECT hub.example:443 ") > 0); // a tunnel, in which TLS begins
    QCOMPARE(countOf(heads, "CONNECT "), heads.size());
    for (const std::string& head : heads) {
        QVERIFY2(head.find(kToken) == std::string::npos, head.c_str());
        QVERIFY2(head.find("uthorization: Bearer") == std::string::npos, head.c_str());
    }
    // Unencrypted to another computer it is not sent at all.
    options.endpoint = "http://hub.example";
    QVERIFY(!hub::HubClient::create(options, *http).has_value());
}

void TestProxy::thatRefusesIsNamed() {
    const auto http = app::qtHttp([] { return std::string(); })();
    app::useProxy("http://127.0.0.1:1"); // nobody listens there
    hub::HubOptions options;
    options.endpoint = "http://hub.example";
    options.limits = support::shortLimits();
    auto client = hub::HubClient::create(options, *http);
    const auto model = client->model("org/m", "main", {});
    QVERIFY(!model.has_value());
    QVERIFY2(model.error().message.find("proxy") != std::string::npos,
             model.error().message.c_str());
}

void TestProxy::mirrorsMayLieBelowAPath() {
    support::HubContent content = support::smallModel();
    content.prefix = "/hf";
    content.page_size = 2; // the list's next page is below it as well
    const support::HubStandin standin(content);
    const QTemporaryDir cache;
    support::FetchSetup setup;
    setup.cache = cache.path().toStdString();
    const support::Fetched fetched = support::fetchFrom(standin, setup);
    QVERIFY2(fetched.is_done, fetched.error.message.c_str());
    const auto pasted =
        hub::parseAddress(standin.endpoint() + "/org/m/tree/dev", standin.endpoint());
    VERIFY_VALUE(pasted);
    QCOMPARE(pasted->id, std::string("org/m"));
    QCOMPARE(pasted->revision, std::string("dev"));
}

TEST_CLASS_WITH(QCoreApplication, TestProxy)
#include "tst_proxy.moc"
