// SPDX-License-Identifier: Apache-2.0
// What crosses between the window's process and the engine's: every value comes out as it went in,
// and bytes that are no such value are refused, wherever they break.
#include "tests/ipc/filler.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <fstream>
#include <set>
#include <string>

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

#include "ipc/messages.h"

namespace {

using filling::Filler;

/// Enough for every alternative of the largest variant and what lies in it.
constexpr uint64_t kRounds = 60;

template <typename T>
std::string bytesOf(const T& value) {
    ipc::Writer writer;
    writer(value);
    return std::move(writer).take();
}

template <typename T>
bool reads(std::string_view bytes, T& value) {
    ipc::Reader reader(bytes);
    reader(value);
    return reader.isDone();
}

} // namespace

class TestMessages : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void comeOutAsTheyWentIn();
    void areRefusedCutShort();
    void surviveAnyChange();
    void lengthsTakeNoMemory();
    void textsAreUtf8();
    void sentencesStaySmall();
    void framesAreCut();
    void frameWithoutMemory();
    void framesThatAreNone();
    void answersHaveValueOrError();
};

namespace {

template <typename T>
void checkRoundTrips(std::set<std::string>& seen) {
    const std::string plain = bytesOf(T{});
    for (uint64_t round = 0; round < kRounds; ++round) {
        T value{};
        Filler filler(round);
        filler(value);
        QVERIFY(filler.isPossible());
        const std::string bytes = bytesOf(value);
        QVERIFY(bytes != plain);
        seen.insert(bytes);
        T again{};
        QVERIFY(reads(bytes, again));
        QVERIFY(bytesOf(again) == bytes);
    }
}

/// Values of every kind that a payload holds.
template <typename Work>
void forAllValues(Work work) {
    work.template operator()<engine::Error>();
    work.template operator()<engine::LoadRequest>();
    work.template operator()<engine::GenerateRequest>();
    work.template operator()<engine::Reply>();
    work.template operator()<engine::ReplyUpdate>();
    work.template operator()<engine::MediaCost>();
    work.template operator()<engine::ModelSummary>();
    work.template operator()<engine::PlacementPlan>();
    work.template operator()<engine::LogitsResult>();
    work.template operator()<engine::LoadProgressValue>();
    work.template operator()<ipc::EngineState>();
}

} // namespace

void TestMessages::comeOutAsTheyWentIn() {
    std::set<std::string> seen;
    forAllValues([&]<typename T>() {
        if (!QTest::currentTestFailed()) {
            checkRoundTrips<T>(seen);
        }
    });
    QVERIFY(seen.size() >= 11 * kRounds);
    ipc::LoadedModel wide;
    wide.request.context = -1'234'567'890'123;
    wide.load_s = 1e-300;
    ipc::LoadedModel as_wide;
    QVERIFY(reads(bytesOf(wide), as_wide));
    QCOMPARE(as_wide.request.context, wide.request.context);
    QCOMPARE(as_wide.load_s, wide.load_s);
    // Some fields by name: the others are described in the same way.
    engine::Error error;
    Filler filler(5);
    filler(error);
    engine::Error again;
    QVERIFY(reads(bytesOf(error), again));
    QCOMPARE(again.code, error.code);
    QCOMPARE(again.message, error.message);
    QCOMPARE(again.details, error.details);
    QCOMPARE(again.cause->errors.size(), error.cause->errors.size());
    QCOMPARE(std::string(again.sentence.pattern), std::string("%1 of %2, %3 and %4 of %5"));
    QCOMPARE(std::get<int64_t>(again.sentence.arguments[1].value), int64_t{-5});
    QCOMPARE(std::get<double>(again.sentence.arguments[3].value), 1.5);
}

void TestMessages::areRefusedCutShort() {
    size_t tried = 0;
    forAllValues([&]<typename T>() {
        T value{};
        Filler filler(3);
        filler(value);
        const std::string bytes = bytesOf(value);
        const size_t pace = 1 + bytes.size() / 3000;
        for (size_t length = 0; length < bytes.size(); length += pace) {
            T cut{};
            if (reads(std::string_view(bytes).substr(0, length), cut)) {
                QFAIL("a value without its end was taken");
            }
            ++tried;
        }
        T longer{};
        QVERIFY(!reads(bytes + '\0', longer));
    });
    QVERIFY(tried > 5000);
}

/// Every byte in turn is another one: whatever that says, it is read or refused, and what was read
/// can be written.
void TestMessages::surviveAnyChange() {
    size_t taken = 0;
    size_t refused = 0;
    forAllValues([&]<typename T>() {
        T value{};
        Filler filler(11);
        filler(value);
        const std::string bytes = bytesOf(value);
        const size_t pace = 1 + bytes.size() / 2000;
        for (size_t at = 0; at < bytes.size(); at += pace) {
            for (const int change : {1, 0x80, 0xff}) {
                std::string other = bytes;
                other[at] = static_cast<char>(other[at] ^ change);
                T read{};
                const bool is_taken = reads(other, read);
                (is_taken ? taken : refused) += 1;
                if (is_taken) {
                    T again{};
                    QVERIFY(reads(bytesOf(read), again));
                }
            }
        }
    });
    QVERIFY(taken > 1000);
    QVERIFY(refused > 1000);
}

void TestMessages::lengthsTakeNoMemory() {
    // A list of as many plans as a length can say, in a few bytes.
    std::vector<engine::PlacementPlan> plans;
    ipc::Reader reader(std::string_view("\xff\xff\xff\x7f only so much is there", 26));
    reader(plans);
    QVERIFY(!reader.isGood());
    QCOMPARE(std::string(reader.wrong()), std::string("a length beyond the end"));
    QVERIFY(plans.empty());
    // Elements that are small here and large in memory end at the limit.
    std::string bytes = "\xff\xff\xff\x03" + std::string(size_t{0x03ffffff}, '\0');
    std::vector<std::optional<engine::ModelSummary>> summaries;
    ipc::Reader second(bytes);
    second(summaries);
    QVERIFY(!second.isGood());
    QCOMPARE(std::string(second.wrong()), std::string("too much at once"));
    QVERIFY(summaries.size() * sizeof(summaries.front()) < ipc::Reader::kMostMemory);
}

void TestMessages::textsAreUtf8() {
    engine::MessagePart part;
    part.text = "a path \xff of nobody";
    engine::MessagePart read;
    QVERIFY(reads(bytesOf(part), read));
    QCOMPARE(read.text, std::string("a path \xef\xbf\xbd of nobody"));
    std::string bytes = bytesOf(part);
    bytes[bytes.find("\xef\xbf\xbd")] = '\xff';
    engine::MessagePart refused;
    QVERIFY(!reads(bytes, refused));
    // Bytes of a token are what they are.
    engine::TokenLogprob token;
    token.said.bytes = "\xe2\x82";
    engine::TokenLogprob again;
    QVERIFY(reads(bytesOf(token), again));
    QCOMPARE(again.said.bytes, token.said.bytes);
}

void TestMessages::sentencesStaySmall() {
    // Nine places in nine levels: 9^9 words, were they filled in.
    engine::Sentence bomb = engine::said("end");
    for (int level = 0; level < 7; ++level) {
        bomb = engine::said("%1%1%1%1%1%1%1%1%1", bomb);
    }
    engine::Sentence read;
    QVERIFY(!reads(bytesOf(bomb), read));
    engine::Sentence deep = engine::said("end");
    for (int level = 0; level < 20; ++level) {
        deep = engine::said("%1", deep);
    }
    QVERIFY(!reads(bytesOf(deep), read));
    engine::Sentence fair = engine::said("%1 in %2", engine::said("%1 left", 3), "memory");
    engine::Sentence again;
    QVERIFY(reads(bytesOf(fair), again));
    QCOMPARE(again.arguments.size(), size_t{2});
}

void TestMessages::framesAreCut() {
    std::string bytes;
    for (int i = 0; i < 20; ++i) {
        bytes += ipc::frameBytes(ipc::Kind::Update, static_cast<uint64_t>(i),
                                 std::string(static_cast<size_t>(i * 7), 'x'));
    }
    for (const size_t piece : {size_t{1}, size_t{5}, size_t{13}, bytes.size()}) {
        ipc::FrameCutter cutter;
        int taken = 0;
        for (size_t at = 0; at < bytes.size(); at += piece) {
            QVERIFY(cutter.feed(std::string_view(bytes).substr(at, piece)));
            while (cutter.hasFrame()) {
                const ipc::Frame frame = cutter.take();
                QCOMPARE(frame.call, static_cast<uint64_t>(taken));
                QCOMPARE(frame.payload.size(), static_cast<size_t>(taken * 7));
                ++taken;
            }
        }
        QCOMPARE(taken, 20);
    }
}

/// The end of a frame for whose payload there is no memory is found all the same.
void TestMessages::frameWithoutMemory() {
#if !defined(__linux__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("an allocation fails here only as the allocator wants");
#else
    const std::string bytes =
        ipc::frameBytes(ipc::Kind::Generate, 7, std::string(ipc::kMostPayload, 'x')) +
        ipc::frameBytes(ipc::Kind::Ping, 8, "here");
    long num_pages = 0;
    std::ifstream("/proc/self/statm") >> num_pages;
    rlimit former{};
    QCOMPARE(getrlimit(RLIMIT_AS, &former), 0);
    rlimit tight = former;
    tight.rlim_cur = static_cast<rlim_t>(num_pages * sysconf(_SC_PAGESIZE)) + ipc::kMostPayload / 4;
    QCOMPARE(setrlimit(RLIMIT_AS, &tight), 0);
    ipc::FrameCutter cutter;
    bool is_good = true;
    for (size_t at = 0; at < bytes.size(); at += 65536) {
        is_good = is_good && cutter.feed(std::string_view(bytes).substr(at, 65536));
    }
    QCOMPARE(setrlimit(RLIMIT_AS, &former), 0);
    QVERIFY(is_good && cutter.hasFrame());
    const ipc::Frame lost = cutter.take();
    QVERIFY(lost.is_lost);
    QCOMPARE(lost.call, uint64_t{7});
    QVERIFY(cutter.hasFrame());
    const ipc::Frame next = cutter.take();
    QVERIFY(!next.is_lost);
    QCOMPARE(next.payload, std::string("here"));
#endif
}

void TestMessages::framesThatAreNone() {
    for (const std::string& bytes :
         {std::string(13, '\0'), std::string(13, '\xff'), std::string("GET / HTTP/1.1\r\n\r\n"),
          std::string("\x09\0\0\0\x00", 5) + std::string(8, '\0')}) {
        ipc::FrameCutter cutter;
        QVERIFY(!cutter.feed(bytes));
    }
    QVERIFY(ipc::frameBytes(ipc::Kind::Update, 1, std::string(ipc::kMostPayload + 1, 'x')).empty());
}

void TestMessages::answersHaveValueOrError() {
    ipc::Answer<engine::Reply> answer;
    answer.error = {engine::ErrorCode::OutOfMemory, engine::said("%1 are missing", 3)};
    std::string why;
    ipc::Answer<engine::Reply> read;
    QVERIFY(ipc::decode(ipc::encode(answer), read, why));
    QVERIFY(!read.value.has_value());
    QCOMPARE(read.error.message, std::string("3 are missing"));
    answer.value = engine::Reply();
    answer.value->text = "words";
    answer.value->finish_reason = "stop";
    ipc::Answer<engine::Reply> second;
    QVERIFY(ipc::decode(ipc::encode(answer), second, why));
    QCOMPARE(second.value->text, std::string("words"));
    ipc::Generate call;
    QVERIFY(!ipc::decode("garbage", call, why));
    QVERIFY(!why.empty());
}

TEST_CLASS(TestMessages)
#include "tst_messages.moc"
