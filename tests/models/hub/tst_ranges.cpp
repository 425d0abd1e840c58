// SPDX-License-Identifier: Apache-2.0
// Files longer than a block: asked for in ranges, the next while one comes, the hub once for each
// file, over connections that stay. And what goes wrong between two ranges.
#include "tests/support/hub/fetching.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <filesystem>
#include <memory>

namespace fs = std::filesystem;
using support::HubFault;
using support::HubReply;
using support::HubRequest;
using Where = HubFault::Where;
using How = HubFault::How;

namespace {

constexpr uint64_t kBlock = uint64_t{128} << 10;

support::HubContent content() {
    support::HubContent out = support::smallModel();
    out.token = "hf_secretsecretsecret";
    return out;
}

support::FetchSetup setupIn(const QTemporaryDir& cache) {
    support::FetchSetup setup;
    setup.cache = cache.path().toStdString();
    setup.token = content().token;
    setup.limits.block_bytes = kBlock;
    return setup;
}

/// The n-th answer of the other host and `times` - 1 after it get `change`.
HubFault from(int n, int times, const std::function<void(const HubRequest&, HubReply&)>& change) {
    const auto count = std::make_shared<std::atomic<int>>(0);
    return {Where::Cdn, How::Edit, -1, 0, [=](const HubRequest& request, HubReply& reply) {
                const int number = ++*count;
                if (number >= n && number < n + times) {
                    change(request, reply);
                }
            }};
}

bool isWhole(const support::Fetched& fetched, const support::HubContent& model) {
    for (const char* name :
         {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}) {
        if (support::textOf(fetched.plan.model_folder / name) != model.files.at(name)) {
            return false;
        }
    }
    return true;
}

/// "bytes=5-9": its length; an open end: up to `size`.
uint64_t lengthOf(const std::string& range, uint64_t size) {
    const size_t dash = range.find('-');
    const uint64_t begin = std::stoull(range.substr(6, dash - 6));
    return dash + 1 < range.size() ? std::stoull(range.substr(dash + 1)) + 1 - begin : size - begin;
}

} // namespace

class TestRanges : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void areShortAndAskedOfTheHubOnce();
    void surviveFaults_data();
    void surviveFaults();
};

void TestRanges::areShortAndAskedOfTheHubOnce() {
    const support::HubContent model = content();
    const support::HubStandin hub(model);
    const QTemporaryDir cache;
    const support::Fetched fetched = support::fetchFrom(hub, setupIn(cache));
    QVERIFY2(fetched.is_done, fetched.error.message.c_str());
    QVERIFY(isWhole(fetched, model));
    size_t num_ranges = 0;
    size_t num_resolved = 0;
    for (const HubRequest& request : hub.requests()) {
        const bool is_large = model.isLarge(request.path.substr(0, request.path.find('?')));
        num_resolved += !request.is_other_host && is_large ? 1 : 0;
        if (request.is_other_host) {
            const auto range = request.headers.find("range");
            QVERIFY2(range != request.headers.end(), request.path.c_str());
            const std::string name = request.path.substr(5, request.path.find('?') - 5);
            QVERIFY2(lengthOf(range->second, model.files.at(name).size()) <= kBlock,
                     range->second.c_str());
            ++num_ranges;
        }
    }
    QCOMPARE(num_resolved, size_t{2}); // once for each of the two files
    QVERIFY2(num_ranges >= 8, std::to_string(num_ranges).c_str());
    QCOMPARE(hub.bytesSent(), fetched.plan.total_bytes); // nothing twice
    // Two connections to the other host for each of two files, one to the hub for each of four and
    // the plan's: they stay, whatever the number of ranges.
    QVERIFY2(hub.connections() <= 2 * 2 + 4 + 1, std::to_string(hub.connections()).c_str());
}

void TestRanges::surviveFaults_data() {
    QTest::addColumn<int>("row");
    int row = 0;
    for (const char* name :
         {"the address expires between two ranges", "it is gone there, and back",
          "an answer is cut", "the connection ends", "a range is answered with the whole file",
          "a range is answered with more than it asked for", "500 once", "another range comes"}) {
        QTest::newRow(name) << row++;
    }
}

void TestRanges::surviveFaults() {
    QFETCH(int, row);
    const support::HubContent model = content();
    const auto status = [](int code) {
        return [code](const HubRequest&, HubReply& reply) {
            reply.status = code;
            reply.headers = {};
            reply.body = {};
        };
    };
    // The whole file, of which the body that was asked for is a part.
    const auto whole = [&model](const HubRequest& request, HubReply& reply) {
        const std::string name = request.path.substr(5, request.path.find('?') - 5);
        reply.status = 200;
        reply.headers.erase("Content-Range");
        reply.setBody(model.files.at(name));
    };
    const auto more = [&model](const HubRequest& request, HubReply& reply) {
        const std::string name = request.path.substr(5, request.path.find('?') - 5);
        const std::string& text = model.files.at(name);
        const std::string& range = request.headers.at("range");
        const uint64_t begin = std::stoull(range.substr(6));
        reply.headers["Content-Range"] = "bytes " + std::to_string(begin) + "-" +
                                         std::to_string(text.size() - 1) + "/" +
                                         std::to_string(text.size());
        reply.setBody(text.substr(begin));
    };
    const auto shifted = [](const HubRequest&, HubReply& reply) {
        reply.headers["Content-Range"] = "bytes 7-9/300000";
    };
    const std::vector<HubFault> faults = {
        from(3, 1, status(403)),
        from(4, 2, status(404)),
        {Where::Cdn, How::CutBody, 3, 5'000, {}},
        {Where::Cdn, How::Close, 3, 0, {}},
        from(3, 1, whole),
        from(3, 2, more),
        from(5, 1, status(500)),
        from(4, 1, shifted),
    };
    const support::HubStandin hub(model, faults[static_cast<size_t>(row)]);
    const QTemporaryDir cache;
    const support::Fetched fetched = support::fetchFrom(hub, setupIn(cache));
    if (row == 7) { // what lies is not asked again
        QCOMPARE(fetched.rule, std::string("HubListing"));
        return;
    }
    QVERIFY2(fetched.is_done, fetched.error.message.c_str());
    QVERIFY(isWhole(fetched, model));
    for (const HubRequest& request : hub.requests()) {
        QCOMPARE(request.headers.count("authorization"), size_t{request.is_other_host ? 0U : 1U});
    }
}

TEST_CLASS_WITH(QCoreApplication, TestRanges)
#include "tst_ranges.moc"
