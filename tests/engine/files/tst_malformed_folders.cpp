// SPDX-License-Identifier: Apache-2.0
// Named malformed model folders, each with its own error. A sound folder (the golden E2B model's
// configuration and tokenizer, a tiny weight file) opens; every case changes one thing in it.
#include "engine/families/config.h"
#include "engine/files/safetensors.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/files/malformed_config.h"
#include "tests/engine/files/malformed_index.h"
#include "tests/engine/files/malformed_safetensors.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <set>

namespace {

namespace fs = std::filesystem;

/// What the program does with a chosen folder: configuration, tokenizer, weights.
engine::Result<void> openFolder(const fs::path& folder) {
    ENGINE_TRY(engine::readModelConfig(folder));
    ENGINE_TRY(engine::Tokenizer::fromCheckpoint(*engine::folderCheckpoint(folder)));
    ENGINE_TRY(engine::openModelFolder(folder));
    return {};
}

std::vector<std::pair<std::string, std::string>> soundFiles() {
    const fs::path golden = support::goldenDir() / "e2b" / "model";
    std::vector<std::pair<std::string, std::string>> files;
    for (const char* name :
         {"config.json", "generation_config.json", "processor_config.json", "tokenizer.json"}) {
        files.emplace_back(name, support::textOf(golden / name));
    }
    files.emplace_back("model.safetensors", support::smallShard("a"));
    return files;
}

std::vector<support::MalformedCase> allCases() {
    const auto files = soundFiles();
    std::vector<support::MalformedCase> cases =
        support::malformedConfigs({files[0].second, files[2].second});
    for (auto&& table : {support::malformedSafetensors(), support::malformedIndexes()}) {
        cases.insert(cases.end(), table.begin(), table.end());
    }
    return cases;
}

} // namespace

class TestMalformedFolders : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void soundFolderOpens();
    void thereAreEnoughCases();
    void malformed_data();
    void malformed();

private:
    void writeFiles(const std::vector<std::pair<std::string, std::string>>& files) {
        for (const auto& [name, content] : files) {
            if (content == support::kRemoved) {
                fs::remove(folder_ / name);
            } else {
                support::writeBytes(folder_ / name, content);
            }
        }
    }
    QTemporaryDir root_;
    fs::path folder_;
    std::vector<std::pair<std::string, std::string>> sound_;
};

void TestMalformedFolders::initTestCase() {
    QVERIFY(root_.isValid());
    folder_ = fs::path(root_.path().toStdString()) / "model";
    fs::create_directory(folder_);
    sound_ = soundFiles();
}

void TestMalformedFolders::soundFolderOpens() {
    writeFiles(sound_);
    const auto opened = openFolder(folder_);
    QVERIFY2(opened.has_value(), opened ? "" : opened.error().message.c_str());
}

/// Distinct names and distinct expectations: no case hides behind another's error.
void TestMalformedFolders::thereAreEnoughCases() {
    std::set<std::string> names, expectations;
    const auto cases = allCases();
    for (const support::MalformedCase& row : cases) {
        QVERIFY2(names.insert(row.name).second, row.name.c_str());
        QVERIFY2(!row.expected.empty(), row.name.c_str());
        expectations.insert(row.expected);
    }
    qInfo("%zu cases, %zu different expectations", cases.size(), expectations.size());
    QVERIFY(cases.size() >= 300);
    QVERIFY(expectations.size() >= 250);
}

void TestMalformedFolders::malformed_data() {
    QTest::addColumn<int>("index");
    const auto cases = allCases();
    for (size_t i = 0; i < cases.size(); ++i) {
        QTest::newRow(cases[i].name.c_str()) << static_cast<int>(i);
    }
}

void TestMalformedFolders::malformed() {
    QFETCH(int, index);
    static const auto cases = allCases();
    const support::MalformedCase& row = cases[static_cast<size_t>(index)];
    for (const auto& entry : fs::directory_iterator(folder_)) {
        fs::remove(entry.path());
    }
    writeFiles(sound_);
    writeFiles(row.files);
    const auto opened = openFolder(folder_);
    QVERIFY2(!opened.has_value(), "the folder opened");
    const engine::Error& error = opened.error();
    QVERIFY2(error.message.find(row.expected) != std::string::npos, error.message.c_str());
    std::string rule, file;
    for (const auto& [key, value] : error.details) {
        if (key == "rule") {
            rule = value;
        } else if (key == "file") {
            file = value;
        }
    }
    QCOMPARE(rule, row.rule.empty() ? rule : row.rule);
    QVERIFY(!rule.empty());
    QVERIFY(!file.empty());
    QVERIFY(error.code == engine::ErrorCode::InvalidFile ||
            error.code == engine::ErrorCode::Unsupported);
}

TEST_CLASS(TestMalformedFolders)
#include "tst_malformed_folders.moc"
