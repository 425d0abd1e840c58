// SPDX-License-Identifier: Apache-2.0
// The lists of the shell under QAbstractItemModelTester, the report that says nothing of a chat,
// shortcuts that do not collide, and the session's order of requests.
#include "tests/support/program/test_class.h"
#include "ui/common/shortcuts.h"
#include "ui/dialogs/coverage_dialog.h"
#include "ui/dialogs/diagnostics.h"
#include "ui/dialogs/log_buffer.h"
#include "ui/dialogs/shortcut_editor.h"
#include "ui/layout/repair.h"
#include "ui/model/folder_words.h"
#include "ui/model/recent_models.h"
#include "ui/model/session.h"
#include "ui/style/format.h"

#include <QAbstractItemModelTester>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QScopeGuard>
#include <QSet>
#include <QSignalSpy>
#include <QTest>

using ui::Session;

class TestShellModels : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void recentModels();
    void logBuffer();
    void coverage();
    void missingFolders();
    void shortcutsAreDistinct();
    void shortcutEditor();
    void sliderDoesNotFloodTheEngine();
    void onlyAMapIsMoved();
    void reportHidesTheHomeFolder();
    void bytesReadTheSameEverywhere();
    void repairs();
    void adaptersOfOtherModels();
};

void TestShellModels::recentModels() {
    ui::RecentModels models;
    const QAbstractItemModelTester tester(&models,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    for (int i = 0; i < 12; ++i) {
        models.note(QStringLiteral("/models/%1").arg(i));
    }
    QCOMPARE(models.rowCount(), ui::RecentModels::kMaximum);
    QCOMPARE(models.index(0).data().toString(), QStringLiteral("11"));
    models.note(QStringLiteral("/models/9"));
    QCOMPARE(models.index(0).data().toString(), QStringLiteral("9"));
    QCOMPARE(models.rowCount(), ui::RecentModels::kMaximum);
    models.forget(QStringLiteral("/models/9"));
    QCOMPARE(models.rowCount(), ui::RecentModels::kMaximum - 1);
}

void TestShellModels::missingFolders() {
    ui::RecentModels models;
    const QAbstractItemModelTester tester(&models,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    QSignalSpy asked(&models, &ui::RecentModels::checkRequested);
    models.setFolders({QStringLiteral("/models/here"), QStringLiteral("/models/gone")});
    QCOMPARE(asked.count(), 1);
    QCOMPARE(asked.last().first().toStringList(), models.folders());
    ui::FolderFacts gone;
    gone.is_missing = true;
    models.showFacts({{QStringLiteral("/models/gone"), gone}});
    QVERIFY(!models.isMissing(QStringLiteral("/models/here")));
    QVERIFY(models.index(1).data(ui::RecentModels::MissingRole).toBool());
    QCOMPARE(models.index(1).data().toString(), QStringLiteral("gone (missing)"));
    QVERIFY(models.index(1)
                .data(Qt::AccessibleTextRole)
                .toString()
                .contains(QStringLiteral("missing")));
    QSignalSpy changed(&models, &ui::RecentModels::foldersChanged);
    models.replace(QStringLiteral("/models/gone"), QStringLiteral("/disk/found"));
    QCOMPARE(models.folders().first(), QStringLiteral("/disk/found"));
    QCOMPARE(models.rowCount(), 2);
    QVERIFY(changed.count() > 0);
    QVERIFY(!models.index(0).data(ui::RecentModels::MissingRole).toBool());
}

void TestShellModels::shortcutEditor() {
    const auto keys = [](const char* text) {
        return QKeySequence(QString::fromLatin1(text), QKeySequence::PortableText);
    };
    const auto of = [](const char* action) {
        for (const ui::Shortcut& shortcut : ui::shortcuts()) {
            if (shortcut.action == QString::fromLatin1(action)) {
                return shortcut.keys;
            }
        }
        return QList<QKeySequence>();
    };
    const auto guard = qScopeGuard([] { ui::setShortcutKeys({}); });
    QPushButton tip;
    ui::setKeyToolTip(&tip, QStringLiteral("New chat"), QStringLiteral("newChat"));
    QCOMPARE(tip.toolTip(), QStringLiteral("New chat (Ctrl+N)"));
    ui::ShortcutEditor editor(nullptr);
    editor.setAttribute(Qt::WA_DeleteOnClose, false);
    auto* model = editor.findChild<ui::ShortcutModel*>();
    const QAbstractItemModelTester tester(model,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    auto* edit = editor.findChild<QKeySequenceEdit*>();
    auto* assign = editor.findChild<QPushButton*>(QStringLiteral("shortcutAssign"));
    auto* reset = editor.findChild<QPushButton*>(QStringLiteral("shortcutReset"));
    auto* verdict = editor.findChild<QLabel*>(QStringLiteral("shortcutVerdict"));
    QSignalSpy edited(&editor, &ui::ShortcutEditor::keysEdited);
    editor.select(QStringLiteral("newChat"));
    QVERIFY(!assign->isEnabled());
    QVERIFY(!reset->isEnabled());
    // Free keys.
    edit->setKeySequence(keys("Ctrl+Alt+N"));
    QVERIFY(assign->isEnabled());
    assign->click();
    QCOMPARE(edited.count(), 1);
    QCOMPARE(of("newChat"), QList<QKeySequence>{keys("Ctrl+Alt+N")});
    QCOMPARE(tip.toolTip(), QStringLiteral("New chat (Ctrl+Alt+N)"));
    QVERIFY(reset->isEnabled());
    // Keys that type text, edit text, or belong to a pane are refused with the reason.
    for (const char* refused : {"N", "Shift+N", "Ctrl+C", "Return", "Esc"}) {
        edit->setKeySequence(keys(refused));
        QVERIFY2(!assign->isEnabled(), refused);
        QVERIFY2(!verdict->text().isEmpty(), refused);
    }
    // Keys of another action: named, then taken over.
    edit->setKeySequence(keys("Ctrl+K"));
    QVERIFY(assign->isEnabled());
    QVERIFY(verdict->text().contains(QStringLiteral("Search chats")));
    assign->click();
    QCOMPARE(of("newChat"), QList<QKeySequence>{keys("Ctrl+K")});
    QVERIFY(of("searchChats").isEmpty());
    // Back to the usual keys takes them from whoever has them since.
    editor.select(QStringLiteral("searchChats"));
    reset->click();
    QCOMPARE(of("searchChats"), QList<QKeySequence>{keys("Ctrl+K")});
    QVERIFY(of("newChat").isEmpty());
    QCOMPARE(tip.toolTip(), QStringLiteral("New chat"));
    shortcutsAreDistinct();
    editor.findChild<QPushButton*>(QStringLiteral("shortcutResetAll"))->click();
    QVERIFY(ui::shortcutKeys().isEmpty());
    QCOMPARE(of("newChat").size(), 2);
    shortcutsAreDistinct();
}

void TestShellModels::logBuffer() {
    ui::LogBuffer log;
    const QAbstractItemModelTester tester(&log,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    for (int i = 0; i < ui::LogBuffer::kMaximum + 5; ++i) {
        log.append(QString::number(i));
    }
    QCOMPARE(log.rowCount(), ui::LogBuffer::kMaximum);
    QCOMPARE(log.index(0).data().toString(), QStringLiteral("5"));
}

void TestShellModels::coverage() {
    engine::AdapterSummary summary;
    summary.tensors = 3;
    summary.matched_modules = {"a", "b"};
    using Outcome = engine::UnusedKey::Outcome;
    using engine::said;
    summary.unmatched = {{"x.lora_A", Outcome::Ignored, {said("the key names no module")}}};
    summary.missing = {"c"};
    ui::CoverageModel model(summary);
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(model.rowCount(), 4);
    QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("x.lora_A"));
    engine::AdapterSummary keys;
    keys.unmatched = {{"base_model.model.model.layers.6.self_attn.k_proj.lora_A.weight",
                       Outcome::Inert,
                       {said("layer %1 shares the KV of layer %2", 6, 5)}},
                      {"base_model.model.model.audio_tower.x",
                       Outcome::Ignored,
                       {said("the model has no audio tower")}}};
    const ui::CoverageModel findings(keys);
    QCOMPARE(findings.index(0, 0).data().toString(),
             QStringLiteral("model.layers.6.self_attn.k_proj.lora_A.weight"));
    QCOMPARE(findings.index(0, 1).data().toString(),
             QStringLiteral("no effect: layer 6 shares the KV of layer 5"));
    QVERIFY(!findings.index(0, 1).data(Qt::ForegroundRole).isValid()); // no fault of the adapter
    QCOMPARE(findings.index(1, 1).data().toString(),
             QStringLiteral("left out: the model has no audio tower"));
    QVERIFY(findings.index(1, 1).data(Qt::ForegroundRole).isValid());
    const QString text = ui::CoverageDialog::reportText(summary, QStringLiteral("m"));
    QVERIFY(text.contains(QStringLiteral("2 of 3")));
    QVERIFY(text.contains(QStringLiteral("unmatched: x.lora_A: ignored: the key names no module")));
}

void TestShellModels::shortcutsAreDistinct() {
    // Keys that a pane reads itself may mean something else in another pane.
    QSet<QString> seen;
    for (const ui::Shortcut& shortcut : ui::shortcuts()) {
        QVERIFY(!shortcut.text.isEmpty());
        for (const QKeySequence& keys : shortcut.keys) {
            const QString text = keys.toString(QKeySequence::PortableText);
            const QString in_group = shortcut.group + QLatin1Char(' ') + text;
            QVERIFY2(!text.isEmpty() && !seen.contains(in_group), qPrintable(text));
            QVERIFY2(shortcut.isFixed() || !seen.contains(text), qPrintable(text));
            seen.insert(in_group);
            if (!shortcut.isFixed()) {
                seen.insert(text);
                QVERIFY2(ui::shortcutProblem(shortcut.action, keys).isEmpty(), qPrintable(text));
            }
        }
    }
}

void TestShellModels::sliderDoesNotFloodTheEngine() {
    Session session;
    session.chooseModel(QStringLiteral("/m"));
    session.addAdapter(QStringLiteral("/a"));
    auto summary = std::make_shared<engine::ModelSummary>();
    session.showModel(QStringLiteral("/m"), summary);
    session.load();
    auto snapshot = std::make_shared<engine::EngineSnapshot>();
    snapshot->model = summary;
    snapshot->adapters = session.adapters();
    session.showSnapshot(snapshot);
    session.showLoaded();
    QSignalSpy asked(&session, &Session::adaptersRequested);
    for (int i = 0; i <= 40; ++i) {
        session.setAdapterStrength(0, i * 0.05);
    }
    QCOMPARE(asked.count(), 1);
    session.showAdaptersChanged();
    QCOMPARE(asked.count(), 2); // the last value, once
    session.showAdaptersChanged();
    QCOMPARE(asked.count(), 2);
    QCOMPARE(session.adapters().front().strength, 2.0);
}

void TestShellModels::onlyAMapIsMoved() {
    Session session;
    session.chooseModel(QStringLiteral("/m"));
    auto summary = std::make_shared<engine::ModelSummary>();
    session.showModel(QStringLiteral("/m"), summary);
    QSignalSpy loads(&session, &Session::loadRequested);
    QSignalSpy moves(&session, &Session::applyMapRequested);
    session.load();
    QCOMPARE(loads.count(), 1);
    session.load(); // one at a time
    QCOMPARE(loads.count(), 1);
    auto snapshot = std::make_shared<engine::EngineSnapshot>();
    snapshot->model = summary;
    session.showSnapshot(snapshot);
    session.showLoaded();
    engine::LoadRequest request = session.request();
    request.device_map = "towers-cpu";
    session.apply(request);
    QCOMPARE(moves.count(), 1);
    session.showMapApplied();
    request.quant = "nf4";
    session.apply(request);
    QCOMPARE(moves.count(), 1);
    QCOMPARE(loads.count(), 2);
    session.showLoadError({engine::ErrorCode::Cancelled, "cancelled"});
    // An assistant is loaded, not moved to; how many drafts it makes likewise.
    request = session.request();
    request.quant = "none";
    request.draft = "auto";
    session.apply(request);
    QCOMPARE(loads.count(), 3);
    session.showLoaded();
    request.draft_tokens = 4;
    session.apply(request);
    QCOMPARE(moves.count(), 1);
    QCOMPARE(loads.count(), 4);
    // Cancelled is no failure to report.
    QSignalSpy failed(&session, &Session::failed);
    session.showLoadError({engine::ErrorCode::Cancelled, "cancelled"});
    QCOMPARE(failed.count(), 0);
    QVERIFY(session.state() == Session::State::Ready);
}

void TestShellModels::reportHidesTheHomeFolder() {
    ui::SystemFacts facts;
    facts.version = QStringLiteral("1");
    facts.home = QStringLiteral("/home/somebody");
    const Session session;
    const QString report = ui::diagnosticsReport(
        facts, session, QStringLiteral("load /home/somebody/models/x failed\n"));
    QVERIFY(!report.contains(QStringLiteral("somebody")));
    QVERIFY(report.contains(QStringLiteral("~/models/x")));
}

void TestShellModels::bytesReadTheSameEverywhere() {
    QLocale::setDefault(QLocale::c());
    QCOMPARE(ui::formatBytes(0), QStringLiteral("0 B"));
    QCOMPARE(ui::formatBytes(312ULL << 20U), QStringLiteral("312 MiB"));
    QCOMPARE(ui::formatBytes(1023ULL << 20U), QStringLiteral("1.0 GiB"));
    QCOMPARE(ui::formatBytes(4'700ULL << 20U), QStringLiteral("4.6 GiB"));
    QCOMPARE(ui::formatBytesDelta(-(qint64{312} << 20U)), QStringLiteral("−312 MiB"));
    QCOMPARE(ui::formatParameters(5'100'000'000), QStringLiteral("5.1 B"));
}

void TestShellModels::repairs() {
    const engine::LoadRequest plain;
    engine::LoadRequest request = ui::repaired(plain, {});
    QVERIFY(request.moves.empty() && request.head == plain.head && request.quant == plain.quant &&
            request.context == 0 && request.prefill_chunk == 0 && request.image_tokens == 0);
    engine::Repair repair;
    repair.moves.emplace_back().module = "model.audio_tower";
    repair.head = "int8";
    repair.quant = "nf4-dq";
    repair.context = 1024;
    repair.prefill_chunk = 64;
    repair.image_tokens = 70;
    request = ui::repaired(plain, repair);
    QVERIFY(request.moves == repair.moves && request.head == repair.head &&
            request.quant == repair.quant && request.context == repair.context &&
            request.prefill_chunk == repair.prefill_chunk &&
            request.image_tokens == repair.image_tokens);
}

void TestShellModels::adaptersOfOtherModels() {
    using engine::ErrorCode;
    QVERIFY(ui::adapterProblem({ErrorCode::InvalidFile,
                                "adapter_model.safetensors: base_model.model.x.lora_A.weight: "
                                "shape [8, 128], expected [8, 64] (rank 8, x.weight is [256, 64]) "
                                "(and 205 more)",
                                {{"rule", "OtherShape"}}})
                .startsWith(QStringLiteral("It was trained for a model of another size")));
    QVERIFY(ui::adapterProblem({ErrorCode::InvalidFile, "adapter_config.json: r is missing"})
                .isEmpty());
}

TEST_CLASS_WITH(QApplication, TestShellModels)
#include "tst_shell_models.moc"
