// SPDX-License-Identifier: Apache-2.0
// A hub that misbehaves, in each of the ways of fault_rows.h: it ends soon, with the right error or
// none, with a sentence that says what to do; nothing that is not whole gets a name in the
// snapshot; no token reaches another host.
#include "tests/models/hub/fault_rows.h"
#include "tests/support/hub/fetching.h"
#include "tests/support/program/test_class.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace {

const char* const kFirstLarge = "model-00001-of-00002.safetensors";

std::vector<FaultRow> allRows() {
    std::vector<FaultRow> rows;
    for (const auto& some : {infoFaults(), listFaults(), fileFaults(), otherHostFaults()}) {
        rows.insert(rows.end(), some.begin(), some.end());
    }
    return rows;
}

/// Some verb that a person can act on.
bool saysWhatToDo(const std::string& message) {
    const std::vector<std::string> verbs = {
        "try",   "check",    "set ",    "choose", "again",          "open",     "accept", "look",
        "leave", "expected", "fetches", "reads",  "Is HF_ENDPOINT", "HF_TOKEN", "unset"};
    return std::any_of(verbs.begin(), verbs.end(), [&](const std::string& verb) {
        return message.find(verb) != std::string::npos;
    });
}

} // namespace

class TestHubFaults : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void endClearly_data();
    void endClearly();
    void areManyAndNamedOnce();
};

void TestHubFaults::endClearly_data() {
    QTest::addColumn<int>("row");
    int index = 0;
    for (const FaultRow& row : allRows()) {
        QTest::newRow(row.name.c_str()) << index++;
    }
}

void TestHubFaults::endClearly() {
    QFETCH(int, row);
    const FaultRow fault = allRows()[static_cast<size_t>(row)];
    support::HubContent content = support::smallModel();
    content.token = "hf_secretsecretsecret";
    const support::HubStandin hub(content, fault.fault);
    QTemporaryDir cache;
    support::FetchSetup setup;
    setup.cache = cache.path().toStdString();
    setup.token = content.token;
    const models::hub::RepositoryLayout layout(setup.cache, content.id);
    const std::string& whole = content.files.at(kFirstLarge);
    const fs::path partial = layout.partialBlob(hub.etag(kFirstLarge));
    if (fault.partial == "begin") {
        support::writeText(partial, whole.substr(0, 1000));
    } else if (fault.partial == "wrong") {
        support::writeText(partial, std::string(1000, 'x'));
    } else if (fault.partial == "long") {
        support::writeText(partial, whole + "x");
    }

    QElapsedTimer timer;
    timer.start();
    const support::Fetched fetched = support::fetchFrom(hub, setup);
    QVERIFY2(timer.elapsed() < 30'000, "takes longer than its limits");

    const std::string& message = fetched.error.message;
    QVERIFY2(fetched.rule == fault.rule, (fetched.rule + ": " + message).c_str());
    QVERIFY2(message.find(fault.says) != std::string::npos, message.c_str());
    QVERIFY2(fetched.is_done || saysWhatToDo(message), message.c_str());
    QVERIFY2(message.find(content.token) == std::string::npos, message.c_str());
    QVERIFY2(message.find('\x1b') == std::string::npos, message.c_str());
    QVERIFY2(message.find("signature=secret") == std::string::npos, message.c_str());
    for (const support::HubRequest& request : hub.requests()) {
        QCOMPARE(request.headers.count("authorization"), size_t{request.is_other_host ? 0U : 1U});
    }
    const fs::path snapshot = layout.snapshot(content.commit);
    size_t num_files = 0;
    if (fs::exists(snapshot)) {
        for (const auto& entry : fs::recursive_directory_iterator(snapshot)) {
            if (!entry.is_directory()) {
                const std::string name = entry.path().lexically_relative(snapshot).generic_string();
                QVERIFY2(support::textOf(entry.path()) == content.files.at(name), name.c_str());
                ++num_files;
            }
        }
    }
    if (fetched.is_done) {
        QCOMPARE(num_files, size_t{5});
        QCOMPARE(support::textOf(layout.ref("main")), content.commit);
    } else {
        QVERIFY(!fs::exists(layout.ref("main")));
    }
}

void TestHubFaults::areManyAndNamedOnce() {
    std::vector<std::string> names;
    for (const FaultRow& row : allRows()) {
        names.push_back(row.name);
    }
    QVERIFY(names.size() >= 60);
    std::sort(names.begin(), names.end());
    QVERIFY(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CLASS_WITH(QCoreApplication, TestHubFaults)
#include "tst_hub_faults.moc"
