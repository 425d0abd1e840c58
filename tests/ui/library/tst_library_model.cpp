// SPDX-License-Identifier: Apache-2.0
// The library's list: sections, adapters below their model, the filter, and that a scan which tells
// of more and more leaves selected rows selected. Words of what cannot be used.
#include "tests/support/program/test_class.h"
#include "ui/library/download_pace.h"
#include "ui/library/family_model.h"
#include "ui/library/hub_words.h"
#include "ui/library/library_model.h"
#include "ui/library/library_words.h"

#include <QAbstractItemModelTester>
#include <QItemSelectionModel>
#include <QTest>

using ui::LibraryItem;

namespace {

LibraryItem model(const char* name, LibraryItem::Fit fit = LibraryItem::Fit::Fits) {
    LibraryItem item;
    item.name = QString::fromLatin1(name);
    item.path = QStringLiteral("/m/") + item.name;
    item.variant =
        item.name.contains(QStringLiteral("E4B")) ? QStringLiteral("E4B") : QStringLiteral("E2B");
    item.precision = QStringLiteral("bfloat16");
    item.bytes = 10'246'357'958;
    item.parameters = 5'123'178'979;
    item.fit = fit;
    return item;
}

LibraryItem adapter(const char* name, const char* base) {
    LibraryItem item = model(name, LibraryItem::Fit::Unknown);
    item.kind = LibraryItem::Kind::Adapter;
    item.base = QString::fromLatin1(base);
    item.rank = 16;
    return item;
}

LibraryItem unusable(const char* name, LibraryItem::Reason reason) {
    LibraryItem item = model(name, LibraryItem::Fit::Unknown);
    item.state = reason == LibraryItem::Reason::FilesMissing ? LibraryItem::State::Incomplete
                                                             : LibraryItem::State::Unusable;
    item.reason = reason;
    return item;
}

std::shared_ptr<const ui::LibraryContents> contents(std::vector<ui::LibraryGroup> groups) {
    auto made = std::make_shared<ui::LibraryContents>();
    made->groups = std::move(groups);
    made->is_complete = true;
    return made;
}

QStringList rows(const QAbstractItemModel& list) {
    QStringList out;
    for (int row = 0; row < list.rowCount(); ++row) {
        const QModelIndex index = list.index(row, 0);
        out << (index.data(ui::ModelRow::IsHeadingRole).toBool()    ? QStringLiteral("# ")
                : index.data(ui::ModelRow::IsIndentedRole).toBool() ? QStringLiteral("  ")
                                                                    : QString()) +
                   index.data().toString();
    }
    return out;
}

} // namespace

class TestLibraryModel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void sections();
    void filters();
    void keepsTheSelection();
    void saysWhyAndWhatNow_data();
    void saysWhyAndWhatNow();
    void familyBeforeWhatWasFound();
    void pace();
};

void TestLibraryModel::sections() {
    ui::LibraryModel list;
    const QAbstractItemModelTester tester(&list);
    list.setContents(contents({{model("google/gemma-4-E2B-it"), {adapter("me/french", "x")}},
                               {unusable("me/half", LibraryItem::Reason::FilesMissing), {}},
                               {std::nullopt, {adapter("me/lost", "google/other")}}}));
    QCOMPARE(rows(list),
             (QStringList{QStringLiteral("# Models"), QStringLiteral("google/gemma-4-E2B-it"),
                          QStringLiteral("  me/french"),
                          QStringLiteral("# Adapters whose model is not here"),
                          QStringLiteral("me/lost"), QStringLiteral("# Cannot be used as they are"),
                          QStringLiteral("me/half")}));
    QCOMPARE(list.itemCount(), 4);
    QVERIFY(list.item(list.index(0)) == nullptr);
    QVERIFY((list.flags(list.index(0)) & Qt::ItemIsSelectable) == 0);
    const QString facts = list.index(1).data(ui::ModelRow::FactsRole).toString();
    QVERIFY2(facts.contains(QStringLiteral("9.5 GiB")) && facts.contains(QStringLiteral("5.1 B")),
             qPrintable(facts));
    QCOMPARE(list.index(1).data(ui::ModelRow::VerdictRole).toString(), QStringLiteral("fits"));
    QVERIFY(
        list.index(2).data(ui::ModelRow::FactsRole).toString().contains(QStringLiteral("rank 16")));
}

void TestLibraryModel::filters() {
    ui::LibraryModel list;
    const QAbstractItemModelTester tester(&list);
    list.setContents(contents({{model("google/gemma-4-E2B-it"), {adapter("me/french", "x")}},
                               {model("google/gemma-4-E4B-it"), {}}}));
    list.setFilter(QStringLiteral("e4b"));
    QCOMPARE(rows(list),
             (QStringList{QStringLiteral("# Models"), QStringLiteral("google/gemma-4-E4B-it")}));
    list.setFilter(QStringLiteral("FRENCH")); // with the model that it belongs to
    QCOMPARE(rows(list),
             (QStringList{QStringLiteral("# Models"), QStringLiteral("google/gemma-4-E2B-it"),
                          QStringLiteral("  me/french")}));
    list.setFilter(QStringLiteral("  google   e2b "));
    QCOMPARE(list.itemCount(), 2);
    list.setFilter(QStringLiteral("no such thing"));
    QCOMPARE(list.rowCount(), 0);
    list.setFilter({});
    QCOMPARE(list.itemCount(), 3);
}

void TestLibraryModel::keepsTheSelection() {
    ui::LibraryModel list;
    const QAbstractItemModelTester tester(&list);
    QItemSelectionModel selection(&list);
    list.setContents(contents({{model("b"), {}}, {model("d"), {}}}));
    selection.setCurrentIndex(list.indexOf(QStringLiteral("/m/d")),
                              QItemSelectionModel::ClearAndSelect);
    const auto selected = [&] { return selection.currentIndex().data().toString(); };
    list.setContents(contents({{model("a"), {}}, {model("b"), {}}, {model("d"), {}}}));
    QCOMPARE(selected(), QStringLiteral("d"));
    list.setContents(
        contents({{model("a"), {}}, {model("b"), {}}, {model("c"), {}}, {model("d"), {}}}));
    QCOMPARE(selected(), QStringLiteral("d"));
    // The same once more, with the engine's verdict: no row comes or goes.
    list.setContents(contents({{model("a"), {}},
                               {model("b"), {}},
                               {model("c"), {}},
                               {model("d", LibraryItem::Fit::DoesNotFit), {}}}));
    QCOMPARE(selected(), QStringLiteral("d"));
    QCOMPARE(selection.currentIndex().data(ui::ModelRow::VerdictRole).toString(),
             QStringLiteral("does not fit"));
    list.setContents(contents({{model("a"), {}}}));
    QCOMPARE(list.itemCount(), 1);
}

void TestLibraryModel::saysWhyAndWhatNow_data() {
    support::addColumns<LibraryItem::Reason, QString>("reason", "word");
    QTest::newRow("half") << LibraryItem::Reason::FilesMissing << QStringLiteral("half a download");
    QTest::newRow("pickle") << LibraryItem::Reason::Pickle << QStringLiteral("PyTorch file");
    QTest::newRow("mlx") << LibraryItem::Reason::Mlx << QStringLiteral("MLX");
    QTest::newRow("family") << LibraryItem::Reason::NotSupported << QStringLiteral("not supported");
    QTest::newRow("broken") << LibraryItem::Reason::Broken << QStringLiteral("damaged");
}

void TestLibraryModel::saysWhyAndWhatNow() {
    QFETCH(LibraryItem::Reason, reason);
    QFETCH(QString, word);
    LibraryItem item = unusable("x", reason);
    item.problem = engine::said("model.bin holds %1", "a flaw");
    QCOMPARE(ui::verdictWords(item), word);
    QCOMPARE(ui::verdictSentence(item), QStringLiteral("model.bin holds a flaw."));
    LibraryItem usable;
    usable.fit = LibraryItem::Fit::Fits;
    usable.notes = {engine::said("%1: is old", "chat_template.jinja")};
    QCOMPARE(ui::verdictSentence(usable), QStringLiteral("Fits this computer as it is stored. "
                                                         "chat_template.jinja: is old."));
}

void TestLibraryModel::familyBeforeWhatWasFound() {
    ui::GetModel list;
    const QAbstractItemModelTester tester(&list);
    list.setOrigin(QStringLiteral("https://huggingface.co"));
    QCOMPARE(list.rowCount(), static_cast<int>(ui::family().size()) + 1);
    QVERIFY(list.member(list.index(0)) == nullptr);
    QCOMPARE(QByteArray(list.member(list.index(1))->id), QByteArray("google/gemma-4-E2B-it"));
    list.setNeeds(QStringLiteral("E2B"), {true, true, 3'000'000'000, 40});
    QCOMPARE(list.index(1).data(ui::ModelRow::VerdictRole).toString(),
             QStringLiteral("fits in 4 bits"));
    auto found = std::make_shared<ui::HubFound>();
    found->hits.resize(2);
    found->hits[0].id = QStringLiteral("a/b");
    found->hits[1].id = QStringLiteral("c/d");
    found->hits[1].gate = ui::HubHit::Gate::Manual;
    found->has_more = true;
    list.setFound(found);
    QCOMPARE(list.hit(list.firstHit())->id, QStringLiteral("a/b"));
    QVERIFY(list.hasMore());
    QCOMPARE(list.index(list.firstHit().row() - 1).data().toString(),
             QStringLiteral("Found at huggingface.co"));
    auto more = std::make_shared<ui::HubFound>();
    more->hits.resize(1);
    more->hits[0].id = QStringLiteral("e/f");
    more->is_continued = true;
    list.setFound(more);
    QCOMPARE(list.hitCount(), 3);
    QVERIFY(!list.hasMore());
    list.setFound(std::make_shared<ui::HubFound>()); // another search, without a hit
    QCOMPARE(list.rowCount(), static_cast<int>(ui::family().size()) + 1);
}

void TestLibraryModel::pace() {
    ui::DownloadPace pace;
    pace.note(0, 0);
    QCOMPARE(pace.rate(), 0.0);
    pace.note(400, 400'000);
    QVERIFY(pace.secondsFor(1'000'000) < 0); // too little to tell
    pace.note(1000, 1'000'000);
    QCOMPARE(pace.rate(), 1'000'000.0);
    QCOMPARE(pace.secondsFor(5'000'000), 5.0);
    for (qint64 ms = 2000; ms <= 8000; ms += 1000) {
        pace.note(ms, 1'000'000 + 2'000 * static_cast<quint64>(ms - 1000));
    }
    QCOMPARE(pace.rate(), 2'000'000.0); // what was before is forgotten
    pace.note(9000, 10);                // begun again
    QCOMPARE(pace.rate(), 0.0);
}

TEST_CLASS_WITH(QApplication, TestLibraryModel)
#include "tst_library_model.moc"
