// SPDX-License-Identifier: Apache-2.0
// The token in the system's keyring, through QtKeychain and a secret service of the test's own
// (keyring.sh starts one on a bus of its own, unlocked and empty). Run without it, this does
// nothing to anybody's keyring: it asks for the variable that the script sets.
#include "app/network/keyring.h"
#include "tests/support/program/test_class.h"

#include <QCoreApplication>
#include <QTest>

#include <memory>

using models::hub::TokenStore;

class TestKeyring : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void keepsATokenOverProcesses();
    void refusesWhatIsNoToken();
};

void TestKeyring::initTestCase() {
    if (qEnvironmentVariable("BELFRY_TEST_BUS") !=
            qEnvironmentVariable("DBUS_SESSION_BUS_ADDRESS") ||
        qEnvironmentVariable("BELFRY_TEST_BUS").isEmpty()) {
        QSKIP("not on a bus of the test's own: run keyring.sh");
    }
}

void TestKeyring::keepsATokenOverProcesses() {
    const std::unique_ptr<TokenStore> store = app::tokenStore();
    QVERIFY2(store->kind() == TokenStore::Kind::Keyring, store->place().c_str());
    const auto before = store->read();
    VERIFY_VALUE(before);
    QCOMPARE(*before, std::string());
    QVERIFY(store->remove().has_value()); // nothing there: done
    const auto written = store->write(" hf_fromthekeyring \n");
    VERIFY_VALUE(written);
    QCOMPARE(app::tokenStore()->read().value(), std::string("hf_fromthekeyring"));
    QVERIFY(store->write("hf_another").has_value());
    QCOMPARE(store->read().value(), std::string("hf_another"));
    QVERIFY(store->remove().has_value());
    QCOMPARE(store->read().value(), std::string());
    // For belfry-cli, which the script runs next.
    QVERIFY(store->write("hf_fromthekeyring").has_value());
}

void TestKeyring::refusesWhatIsNoToken() {
    const std::unique_ptr<TokenStore> store = app::tokenStore();
    const auto kept = store->write("two words");
    QVERIFY(!kept.has_value());
    QVERIFY(kept.error().message.find("two words") == std::string::npos);
    QCOMPARE(store->read().value(), std::string("hf_fromthekeyring"));
}

TEST_CLASS_WITH(QCoreApplication, TestKeyring)
#include "tst_keyring.moc"
