// SPDX-License-Identifier: Apache-2.0
// What compare found is kept: read as it was written, one of a kind, of the model as it lies there.
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>

#include "models/comparisons.h"

namespace fs = std::filesystem;
using engine::Comparison;

class TestComparisons : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void comesBack();
    void ofTheModelAsItIs();
    void damagedFile();

private:
    static Comparison found(const std::string& model, const std::string& quant) {
        return {model,        7,    quant,  "bfloat16", "",   "abc",
                "2026-11-30", 1234, 0.9714, 1.25e-5,    12.5, 12.25};
    }
};

void TestComparisons::comesBack() {
    const QTemporaryDir root;
    const fs::path file = fs::path(root.path().toStdString()) / "new" / "comparisons.json";
    VERIFY_VALUE(models::readComparisons(file));
    QVERIFY(models::readComparisons(file)->empty());
    const Comparison one = found("/m \"a\"", "nf4");
    VERIFY_VALUE(models::keepComparison(file, found("/m \"a\"", "q8_0")));
    VERIFY_VALUE(models::keepComparison(file, one));
    Comparison again = found("/m \"a\"", "q8_0");
    again.same_top = 1.0;
    VERIFY_VALUE(models::keepComparison(file, again));
    QVERIFY(*models::readComparisons(file) == (std::vector<Comparison>{one, again}));
    for (size_t i = 0; i < models::kMostComparisons; ++i) {
        again.text_sha256 = std::to_string(i);
        VERIFY_VALUE(models::keepComparison(file, again));
    }
    const auto all = models::readComparisons(file);
    VERIFY_VALUE(all);
    QCOMPARE(all->size(), models::kMostComparisons);
    QCOMPARE(all->front().text_sha256, std::string("0"));
}

/// A file that was replaced by another one of its name is another model.
void TestComparisons::ofTheModelAsItIs() {
    const QTemporaryDir root;
    const fs::path folder = root.path().toStdString();
    const fs::path model = folder / "model";
    fs::create_directory(model);
    std::ofstream(model / "a.safetensors") << "12345";
    std::ofstream(model / "b.safetensors") << "67";
    std::ofstream(model / "config.json") << "{}";
    fs::create_directory_symlink(model, folder / "link");
    Comparison one = found("", "nf4");
    models::nameCompared(folder / "link", one);
    QCOMPARE(one.bytes, uint64_t{7});
    QCOMPARE(one.model, fs::canonical(model).string());
    Comparison other = found("/elsewhere", "nf4");
    QCOMPARE(models::comparisonsOf(model, {other, one}).size(), size_t{1});
    std::ofstream(model / "b.safetensors") << "678";
    QVERIFY(models::comparisonsOf(model, {other, one}).empty());
    one.bytes = 0;
    one.model = (folder / "none").string();
    QVERIFY(models::comparisonsOf(folder / "none", {one}).empty());
}

void TestComparisons::damagedFile() {
    const QTemporaryDir root;
    const fs::path file = fs::path(root.path().toStdString()) / "comparisons.json";
    for (const char* text : {"{", "[]", R"({"comparisons": 3})"}) {
        std::ofstream(file) << text;
        QVERIFY(!models::readComparisons(file).has_value());
    }
    VERIFY_VALUE(models::keepComparison(file, found("/m", "nf4")));
    QCOMPARE(models::readComparisons(file)->size(), size_t{1});
}

TEST_CLASS(TestComparisons)
#include "tst_comparisons.moc"
