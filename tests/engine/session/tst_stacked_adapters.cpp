// SPDX-License-Identifier: Apache-2.0
// Several adapters as one: the stacked adapter at full strength gives the logits that the separate
// ones give at theirs; one rank and scaling for all modules; what is no low-rank sum is refused by
// name and leaves nothing behind.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"
#include "tests/support/worst_error.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <map>

namespace fs = std::filesystem;

namespace {

engine::MergeOrder orderOf(const std::string& family,
                           std::vector<engine::AdapterChoice> adapters,
                           const std::string& out) {
    engine::MergeOrder order;
    order.model = support::goldenRequest(family).model;
    order.adapters = std::move(adapters);
    order.out_folder = out;
    return order;
}

/// Logits of every case of a family.
std::map<std::string, std::vector<float>> logitsOf(const std::string& family,
                                                   std::vector<engine::AdapterChoice> adapters) {
    engine::LoadRequest request = support::goldenRequest(family);
    request.adapters = std::move(adapters);
    engine::Engine engine;
    const auto loaded = engine.load(request, {}, {});
    std::map<std::string, std::vector<float>> out;
    if (!loaded.has_value()) {
        qWarning("%s", loaded.error().message.c_str());
        return out;
    }
    for (const auto& c : support::goldenCases(family)) {
        out[c.id] = support::engineLogits(engine, c, 8);
    }
    return out;
}

} // namespace

class TestStackedAdapters : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void equalsSeparate_data();
    void equalsSeparate();
    void refuses_data();
    void refuses();
    void cleanupTestCase() {
        worst_text_.print("logits of text, stacked against separate");
        worst_.print("logits with media, stacked against separate");
    }

private:
    support::WorstError worst_text_, worst_; ///< Worst: with media, which towers make larger.
};

void TestStackedAdapters::equalsSeparate_data() {
    QTest::addColumn<QString>("family");
    QTest::addColumn<QStringList>("names"); ///< "name=strength"
    QTest::newRow("text and towers, other strengths")
        << QStringLiteral("e2b") << QStringList{"text=0.7", "multimodal=1.3"};
    QTest::newRow("scalings and ranks by patterns")
        << QStringLiteral("e2b") << QStringList{"rslora=1", "pattern=0.5", "layers=2"};
    QTest::newRow("one at half strength") << QStringLiteral("e2b") << QStringList{"multimodal=0.5"};
    QTest::newRow("keys of shared layers")
        << QStringLiteral("e4b") << QStringList{"multimodal_old_keys=0.6", "multimodal=0.4"};
    QTest::newRow("31B") << QStringLiteral("dense31b") << QStringList{"text=1", "multimodal=0.25"};
}

void TestStackedAdapters::equalsSeparate() {
    QFETCH(QString, family);
    QFETCH(QStringList, names);
    std::vector<engine::AdapterChoice> adapters;
    for (const QString& name : names) {
        const QStringList words = name.split(QLatin1Char('='));
        adapters.push_back({support::goldenAdapter(family.toStdString(), words[0].toStdString()),
                            words[1].toDouble(), true});
    }
    const QTemporaryDir place;
    const std::string out = place.filePath(QStringLiteral("stacked")).toStdString();
    engine::Engine engine;
    const auto report = engine.stack(orderOf(family.toStdString(), adapters, out), {});
    VERIFY_VALUE(report);
    QCOMPARE(report->adapters, int64_t{names.size()});
    QVERIFY(report->rank > 0 && report->modules > 0);

    const auto summary = engine.inspect(support::goldenRequest(family.toStdString()).model, {out});
    VERIFY_VALUE(summary);
    const engine::AdapterSummary& one = summary->adapters.front();
    QCOMPARE(one.scaling, 1.0);
    QCOMPARE(one.active, one.tensors); // nothing in it is for nothing
    for (const auto& group : one.groups) {
        QCOMPARE(group.rank, report->rank);
    }

    const auto separate = logitsOf(family.toStdString(), adapters);
    const auto stacked = logitsOf(family.toStdString(), {{out, 1.0, true}});
    const auto without = logitsOf(family.toStdString(), {});
    QVERIFY(!separate.empty());
    for (const auto& [id, logits] : separate) {
        const bool is_text = id == "text";
        const double error = (is_text ? worst_text_ : worst_)
                                 .add(support::maxRelativeToLargest(stacked.at(id), logits), id);
        QVERIFY2(error <= (is_text ? 2e-6 : 1e-5),
                 qPrintable(QStringLiteral("%1: %2").arg(QString::fromStdString(id)).arg(error)));
        QVERIFY(support::maxRelativeToLargest(without.at(id), logits) > 1e-3);
    }
}

void TestStackedAdapters::refuses_data() {
    support::addColumns<QString, QString, QString>("family", "folder", "words");
    const auto own = [](const char* name) {
        return QString::fromStdString((support::testDataDir() / "adapters" / name).string());
    };
    QTest::newRow("DoRA") << QStringLiteral("e2b")
                          << QString::fromStdString(support::goldenAdapter("e2b", "dora"))
                          << QStringLiteral("DoRA");
    QTest::newRow("bias of B") << QStringLiteral("e2b") << own("lora_bias")
                               << QStringLiteral("a bias of an update");
    QTest::newRow("saved modules")
        << QStringLiteral("e2b") << own("modules_to_save") << QStringLiteral("a whole tensor");
    QTest::newRow("trained tokens")
        << QStringLiteral("e2b") << own("trainable_tokens") << QStringLiteral("rows of a table");
    QTest::newRow("experts") << QStringLiteral("moe26b") << own("experts")
                             << QStringLiteral("an update of experts");
}

void TestStackedAdapters::refuses() {
    QFETCH(QString, family);
    QFETCH(QString, folder);
    QFETCH(QString, words);
    const QTemporaryDir place;
    engine::Engine engine;
    const auto report =
        engine.stack(orderOf(family.toStdString(), {{folder.toStdString(), 1.0, true}},
                             place.filePath(QStringLiteral("stacked")).toStdString()),
                     {});
    QVERIFY(!report.has_value());
    QCOMPARE(report.error().code, engine::ErrorCode::Unsupported);
    QVERIFY2(report.error().message.find(words.toStdString()) != std::string::npos,
             report.error().message.c_str());
    QVERIFY(fs::is_empty(place.path().toStdString()));
}

TEST_CLASS_WITH(QCoreApplication, TestStackedAdapters)
#include "tst_stacked_adapters.moc"
