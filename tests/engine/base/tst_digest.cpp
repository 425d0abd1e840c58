// SPDX-License-Identifier: Apache-2.0
// SHA-256 and git's blob ids, by the routine of this processor and by the plain one.
#include "engine/base/digest.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <span>
#include <vector>

using namespace engine;

class TestDigest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void digests_data();
    void digests();
    void digestsInPieces();
};

void TestDigest::digests_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray>("text", "sha256", "git");
    // FIPS 180-4's examples; git hash-object --stdin.
    QTest::newRow("empty") << QByteArray()
                           << QByteArray("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b"
                                         "7852b855")
                           << QByteArray("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    QTest::newRow("abc") << QByteArray("abc")
                         << QByteArray("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20"
                                       "015ad")
                         << QByteArray("f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f");
    QTest::newRow("two blocks")
        << QByteArray("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        << QByteArray("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        << QByteArray();
}

void TestDigest::digests() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, sha256);
    QFETCH(QByteArray, git);
    const auto bytes = std::as_bytes(std::span(text.constData(), static_cast<size_t>(text.size())));
    for (const auto blocks : {sha256Blocks(), plainSha256Blocks()}) {
        Digest digest = Digest::sha256By(blocks);
        digest.add(bytes);
        QCOMPARE(digest.finish(), sha256.toStdString());
    }
    if (!git.isEmpty()) {
        Digest digest = Digest::gitBlob(bytes.size());
        digest.add(bytes);
        QCOMPARE(digest.finish(), git.toStdString());
    }
}

void TestDigest::digestsInPieces() {
    std::vector<std::byte> bytes(1000);
    for (size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(i * 31 % 251);
    }
    for (size_t length = 0; length < 260; ++length) {
        const auto whole = std::span(bytes).first(length);
        Digest plain = Digest::sha256By(plainSha256Blocks());
        plain.add(whole);
        const std::string expected = plain.finish();
        Digest fast = Digest::sha256();
        const size_t first = length / 3;
        fast.add(whole.first(first));
        fast.add(whole.subspan(first, length / 2 - first));
        fast.add(whole.subspan(length / 2));
        QCOMPARE(fast.finish(), expected);
    }
}

TEST_CLASS(TestDigest)
#include "tst_digest.moc"
