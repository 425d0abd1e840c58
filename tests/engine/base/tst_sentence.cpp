// SPDX-License-Identifier: Apache-2.0
// Sentences in English, and the errors that say them.
#include "engine/api/error.h"
#include "engine/base/sentence_english.h"
#include "engine/base/sentence_list.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <string>
#include <vector>

using engine::asItIs;
using engine::Error;
using engine::ErrorCode;
using engine::inEnglish;
using engine::phrase;
using engine::said;
using engine::Sentence;

class TestSentence : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void placesAreFilled();
    void errorsSayThem();
};

void TestSentence::placesAreFilled() {
    QCOMPARE(inEnglish(Sentence()), std::string());
    QCOMPARE(inEnglish(said("100 % of it")), std::string("100 % of it"));
    QCOMPARE(inEnglish(said("%2, then %1 and %2", "a", std::string_view("b"))),
             std::string("b, then a and b"));
    QCOMPARE(inEnglish(said("%1 %2 %3", int8_t{-7}, uint64_t{18446744073709551615U}, 0.25F)),
             std::string("-7 18446744073709551615 0.250000"));
    QCOMPARE(inEnglish(said("%1 on %2 in %3 at %4 as %5", engine::ByteCount{1536},
                            engine::DeviceId::cuda(1), engine::Duration{0.0031},
                            engine::Rate{12.34}, engine::FormatName{"nf4"})),
             std::string("1.50 KiB on cuda:1 in 3.1 ms at 12.3 as nf4"));
    QCOMPARE(inEnglish(listed({"a", "b"}, 5)), std::string("a, b and 3 more"));
    QCOMPARE(inEnglish(listed({"a", "b"}, 2)), std::string("a, b"));
    std::vector<Sentence> many;
    for (int i = 0; i < 100; ++i) {
        many.push_back(i % 2 == 0 ? said("%1", i) : Sentence());
    }
    const std::string list = inEnglish(engine::joined(many, " + "));
    QVERIFY(list.starts_with("0 + 2 + 4 + ") && list.ends_with(" + 96 + 98"));
    QCOMPARE(std::count(list.begin(), list.end(), '+'), std::ptrdiff_t{49});
    // A place in an argument is not one of the pattern's.
    QCOMPARE(inEnglish(said("%1 %2", "%2", said("(%1)", phrase("a list")))),
             std::string("%2 (a list)"));
    QCOMPARE(inEnglish(asItIs("%1 as it is")), std::string("%1 as it is"));
}

void TestSentence::errorsSayThem() {
    Error error{ErrorCode::InvalidFile, said("%1: %2", "a", phrase("is missing")), {{"rule", "R"}}};
    QCOMPARE(error.message, std::string("a: is missing"));
    QCOMPARE(std::string(error.sentence.pattern), std::string("%1: %2"));
    QCOMPARE(error.details.size(), size_t{1});
    error.say(said("%1; %2", error.told(), Error{ErrorCode::Internal, "b"}.told()));
    QCOMPARE(error.message, std::string("a: is missing; b"));
    QCOMPARE(inEnglish(error.sentence), error.message);
    const Error bare{ErrorCode::Internal, "ours"};
    QVERIFY(bare.sentence.isEmpty());
    QCOMPARE(inEnglish(bare.told()), bare.message);
}

TEST_CLASS(TestSentence)
#include "tst_sentence.moc"
