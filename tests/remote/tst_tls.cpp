// SPDX-License-Identifier: Apache-2.0
// Servers with TLS: an authority of one's own, each thing that can be wrong with a certificate by
// its name and with a way on, and never a request to a server that nobody vouches for.
#include "tests/remote/remote_asking.h"
#include "tests/support/program/test_class.h"
#include "tests/support/remote/tls_standin.h"

#include <QFile>
#include <QProcess>
#include <QTest>

#include <optional>

namespace {

engine::Result<remote::ModelList> askTls(const std::string& base, const QString& authority) {
    remote::Connection connection;
    ENGINE_ASSIGN(connection.server, remote::parseServer(base));
    connection.limits.list = connection.limits.connect = std::chrono::seconds(5);
    connection.key = "k3y";
    if (!authority.isEmpty()) {
        ENGINE_ASSIGN(connection.authorities, remote::readAuthority(authority.toStdString()));
    }
    return remote::listModels(app::qtHttp([] { return std::string(); }), connection, "belfry/test",
                              {});
}

} // namespace

class TestTls : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void trustsAnOwnAuthority();
    void namesWhatIsWrong_data();
    void namesWhatIsWrong();
    void speaksToNobodyInTheClear();
    void wantsCertificates();
    void fromTheCommandLine();

private:
    std::optional<support::TestAuthority> authority_, other_;
};

void TestTls::initTestCase() {
    authority_.emplace();
    other_.emplace();
    if (!authority_->isUsable()) {
        QSKIP("no openssl program, which makes certificates; install scripts/packages-checks.txt");
    }
    QVERIFY(authority_->sign("right", QStringLiteral("IP:127.0.0.1"), 30));
    QVERIFY(authority_->sign("late", QStringLiteral("IP:127.0.0.1"), -1));
    QVERIFY(authority_->sign("other", QStringLiteral("DNS:gpu.example.org"), 30));
}

void TestTls::trustsAnOwnAuthority() {
    const support::TlsStandin server(authority_->path("right.pem"), authority_->path("right.key"));
    const auto list = askTls(server.base(), authority_->file());
    VERIFY_VALUE(list);
    QCOMPARE(list->models.size(), size_t{1});
    QCOMPARE(server.numRequests(), 1);
}

void TestTls::namesWhatIsWrong_data() {
    support::addColumns<QString, bool, QString>("certificate", "is_trusted", "words");
    QTest::newRow("unknown issuer")
        << QStringLiteral("right") << false << QStringLiteral("signed by Belfry test authority");
    QTest::newRow("unknown issuer, and expired")
        << QStringLiteral("late") << false << QStringLiteral("signed by Belfry test authority");
    QTest::newRow("expired") << QStringLiteral("late") << true << QStringLiteral("valid until 20");
    QTest::newRow("wrong name") << QStringLiteral("other") << true
                                << QStringLiteral("another host's (gpu.example.org)");
}

void TestTls::namesWhatIsWrong() {
    QFETCH(QString, certificate);
    QFETCH(bool, is_trusted);
    QFETCH(QString, words);
    const support::TlsStandin server(authority_->path(certificate + ".pem"),
                                     authority_->path(certificate + ".key"));
    // One that is there, but has signed something else, is worth as little as none.
    for (const QString& file : {is_trusted ? authority_->file() : QString(),
                                is_trusted ? authority_->file() : other_->file()}) {
        const auto list = askTls(server.base(), file);
        QVERIFY(!list.has_value());
        QCOMPARE(support::detailOf(list.error()), std::string("RemoteNetwork"));
        QVERIFY2(list.error().message.find(words.toStdString()) != std::string::npos,
                 list.error().message.c_str());
        QVERIFY(list.error().message.find("nothing was sent") != std::string::npos);
        QVERIFY(list.error().message.find("k3y") == std::string::npos);
    }
    QCOMPARE(server.numRequests(), 0);
}

/// A server without TLS behind an address with it.
void TestTls::speaksToNobodyInTheClear() {
    const support::ChatStandin plain(support::goodAnswer({"x"}));
    const auto list = askTls("https://127.0.0.1:" + std::to_string(plain.port()) + "/v1", {});
    QVERIFY(!list.has_value());
    QCOMPARE(support::detailOf(list.error()), std::string("RemoteNetwork"));
    for (const support::ChatRequestSeen& seen : plain.requests()) {
        QVERIFY(seen.headers.empty());
    }
}

void TestTls::wantsCertificates() {
    const auto key = remote::readAuthority(authority_->path("right.key").toStdString());
    QVERIFY(!key.has_value());
    QVERIFY2(key.error().message.find("BEGIN CERTIFICATE") != std::string::npos,
             key.error().message.c_str());
    const auto none = remote::readAuthority(authority_->path("none.pem").toStdString());
    QVERIFY(!none.has_value());
    QCOMPARE(support::detailOf(none.error()), std::string("RemoteAuthority"));
}

void TestTls::fromTheCommandLine() {
    const support::TlsStandin server(authority_->path("right.pem"), authority_->path("right.key"));
    const auto run = [&](const QStringList& more) {
        QProcess process;
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(qEnvironmentVariable("BELFRY_CLI"),
                      QStringList{"chat", "--server", QString::fromStdString(server.base()),
                                  "--prompt", "Hello?"} +
                          more);
        process.waitForFinished(60000);
        return QString::fromUtf8(process.readAllStandardOutput());
    };
    const QString unknown = run({});
    QVERIFY2(unknown.contains(QStringLiteral("--server-ca FILE")), qPrintable(unknown));
    QCOMPARE(server.numRequests(), 0);
    const QString known = run({"--server-ca", authority_->file()});
    // It knows only its list: that was asked for, and so was the reply.
    QVERIFY2(server.numRequests() >= 2, qPrintable(known));
}

TEST_CLASS_WITH(QCoreApplication, TestTls)
#include "tst_tls.moc"
