// SPDX-License-Identifier: Apache-2.0
// The lists of the shell under QAbstractItemModelTester, the report that says nothing of a chat,
// shortcuts that do not collide, and the session's order of requests.
#include "ui/common/engine_words.h"
#include "ui/common/shortcuts.h"
#include "ui/layout/repair.h"
#include "ui/layout/suggestion_words.h"
#include "ui/shell/coverage_dialog.h"
#include "ui/shell/diagnostics.h"
#include "ui/shell/folder_words.h"
#include "ui/shell/log_buffer.h"
#include "ui/shell/recent_models.h"
#include "ui/shell/session.h"
#include "ui/shell/shortcut_editor.h"
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
    void suggestionsInTheWindowsWords();
    void repairs_data();
    void repairs();
    void noWordsOfTheCommandLine_data();
    void noWordsOfTheCommandLine();
    void foldersInTheWindowsWords();
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
    gone.place = ui::FolderFacts::Place::Missing;
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
    summary.unmatched = {{"x.lora_A", "no such module"}};
    summary.missing = {"c"};
    ui::CoverageModel model(summary);
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(model.rowCount(), 4);
    QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("x.lora_A"));
    engine::AdapterSummary keys;
    keys.unmatched = {{"base_model.model.model.layers.6.self_attn.k_proj.lora_A.weight",
                       "inert: layer 6 shares the KV of layer 5"},
                      {"base_model.model.model.audio_tower.x", "ignored: the model has no audio "
                                                               "tower"}};
    const ui::CoverageModel findings(keys);
    QCOMPARE(findings.index(0, 0).data().toString(),
             QStringLiteral("model.layers.6.self_attn.k_proj.lora_A.weight"));
    QCOMPARE(findings.index(0, 1).data().toString(),
             QStringLiteral("no effect: layer 6 uses the keys and values of layer 5"));
    QVERIFY(!findings.index(0, 1).data(Qt::ForegroundRole).isValid()); // no fault of the adapter
    QCOMPARE(findings.index(1, 1).data().toString(),
             QStringLiteral("left out: the model has no audio tower"));
    QVERIFY(findings.index(1, 1).data(Qt::ForegroundRole).isValid());
    const QString text = ui::CoverageDialog::reportText(summary, QStringLiteral("m"));
    QVERIFY(text.contains(QStringLiteral("2 of 3")));
    QVERIFY(text.contains(QStringLiteral("unmatched: x.lora_A: no such module")));
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

void TestShellModels::suggestionsInTheWindowsWords() {
    QCOMPARE(ui::suggestionWords("move model.vision_tower and model.embed_vision to cpu: frees 312 "
                                 "MiB, costs about 0.9 s per image (enough by itself)"),
             QStringLiteral("vision tower to CPU: frees 312 MiB (enough by itself), costs about "
                            "0.9 s per image"));
    QCOMPARE(ui::suggestionWords("move model.language_model.embed_tokens_per_layer to cpu: frees "
                                 "2.50 MiB, costs nothing measurable (one row of 1280 bytes per "
                                 "token)"),
             QStringLiteral("per-layer embeddings to CPU: frees 2.5 MiB, costs nothing "
                            "measurable"));
    QCOMPARE(ui::suggestionWords("move layers 20-34 to cpu: frees 570 MiB, costs about 12 ms per "
                                 "token"),
             QStringLiteral("layers 20 to 34 to CPU: frees 570 MiB, costs about 12 ms per token"));
    QCOMPARE(ui::suggestionWords("use --head int8 and move model.language_model.embed_tokens to "
                                 "cpu, with lm_head kept as a copy of its own (\"lm_head\": "
                                 "{\"store\": \"sim:0\", \"compute\": \"sim:0\", "
                                 "\"duplicate_tied\": true}): frees 383.00 MiB, costs some "
                                 "accuracy of the last layer; it is faster"),
             QStringLiteral("head in 8 bits and token embedding to CPU: frees 383 MiB, costs "
                            "some accuracy of the last layer; it is faster"));
    // What the planner says anew stays as it is.
    for (const char* other : {"use a device with more memory, or raise its limit", "cpu",
                              "move model.new_part to cpu: frees 1.0 MiB, costs something"}) {
        QCOMPARE(ui::suggestionWords(other), QString::fromLatin1(other));
    }
}

void TestShellModels::repairs_data() {
    QTest::addColumn<QString>("suggestion");
    QTest::addColumn<QString>("change"); // empty: none that can be carried out
    QTest::addColumn<bool>("is_enough");
    const auto row = [](const char* name, const char* suggestion, const char* change,
                        bool is_enough = false) {
        QTest::newRow(name) << QString::fromLatin1(suggestion) << QString::fromLatin1(change)
                            << is_enough;
    };
    row("tower",
        "move model.audio_tower and model.embed_audio to cpu: frees 583.00 MiB, costs about 4 ms "
        "per 10 s of audio (enough by itself)",
        "model.audio_tower@cpu/cpu model.embed_audio@cpu/cpu", true);
    row("table to disk",
        "move model.language_model.embed_tokens_per_layer to disk (computed on cpu): frees 4.38 "
        "GiB, costs one read of 17920 bytes per token",
        "model.language_model.embed_tokens_per_layer@disk/cpu");
    row("both towers",
        "move model.audio_tower and model.embed_audio to disk (computed on cpu), move "
        "model.vision_tower and model.embed_vision to disk (computed on cpu): frees 1.00 GiB, "
        "costs one read of the files per image or clip",
        "model.audio_tower@disk/cpu model.embed_audio@disk/cpu model.vision_tower@disk/cpu "
        "model.embed_vision@disk/cpu");
    row("layers", "move layers 20-34 to cpu: frees 570.00 MiB, costs about 12 ms per token",
        "model.language_model.layers.[20-34]@cpu/cpu");
    row("one layer", "move layer 34 to cpu: frees 57.00 MiB, costs about 1 ms per token",
        "model.language_model.layers.34@cpu/cpu");
    row("head",
        "use --head int8: frees 383.00 MiB, costs some accuracy of the last layer; it is "
        "faster",
        "head=int8");
    row("head and table",
        "use --head int8 and move model.language_model.embed_tokens to cpu, with lm_head kept as "
        "a copy of its own (\"lm_head\": {\"store\": \"sim:0\", \"compute\": \"sim:0\", "
        "\"duplicate_tied\": true}): frees 383.00 MiB, costs some accuracy of the last layer; it "
        "is faster",
        "model.language_model.embed_tokens@cpu/cpu lm_head@sim:0/sim:0* head=int8");
    row("quant",
        "use --quant nf4-dq: frees 1.00 GiB, costs a little more accuracy (enough by "
        "itself)",
        "quant=nf4-dq", true);
    row("context",
        "use a context of 1024 tokens: frees 20.00 MiB, costs memory of the "
        "conversation",
        "context=1024");
    row("pieces", "use --prefill-chunk 64: frees 90.00 MiB, costs time until a long prompt is read",
        "chunk=64");
    row("pictures", "use --image-tokens 70: frees 90.00 MiB, costs detail of large images",
        "image=70");
    row("summary",
        "all of this together leaves 3.00 GiB, still 1.00 GiB too much: use a device "
        "with more memory or a smaller model",
        "");
    row("last resort", "use a device with more memory or a smaller model", "");
    row("unknown", "move model.new part to cpu: frees 1.0 MiB, costs something", "");
    row("unknown device", "move model.audio_tower to npu: frees 1.0 MiB, costs something", "");
    row("half known", "use --head int8 and dance: frees 1.0 MiB, costs something", "");
}

void TestShellModels::repairs() {
    QFETCH(QString, suggestion);
    QFETCH(QString, change);
    QFETCH(bool, is_enough);
    const auto repair = ui::repairOf(suggestion.toStdString());
    QCOMPARE(repair.has_value(), !change.isEmpty());
    if (!repair.has_value()) {
        return;
    }
    QCOMPARE(repair->is_enough, is_enough);
    const engine::LoadRequest request = ui::repaired({}, *repair);
    QStringList parts;
    for (const engine::MapMove& move : request.moves) {
        parts.append(QString::fromStdString(move.module + "@" + move.store.toString() + "/" +
                                            move.compute.toString() +
                                            (move.is_tied_copy ? "*" : "")));
    }
    const engine::LoadRequest plain;
    const auto field = [&parts](const char* name, const QString& now, const QString& before) {
        if (now != before) {
            parts.append(QString::fromLatin1(name) + QLatin1Char('=') + now);
        }
    };
    field("head", QString::fromStdString(request.head), QString::fromStdString(plain.head));
    field("quant", QString::fromStdString(request.quant), QString::fromStdString(plain.quant));
    field("context", QString::number(request.context), QString::number(plain.context));
    field("chunk", QString::number(request.prefill_chunk), QString::number(plain.prefill_chunk));
    field("image", QString::number(request.image_tokens), QString::number(plain.image_tokens));
    QCOMPARE(parts.join(QLatin1Char(' ')), change);
}

void TestShellModels::noWordsOfTheCommandLine_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words"); // empty: anything without "--"
    const auto row = [](const char* text, const char* words = "") {
        QTest::newRow(text) << QString::fromUtf8(text) << QString::fromUtf8(words);
    };
    row("start a new chat, or reload with a larger --context",
        "start a new chat, or reload with a larger “Context”");
    row("load with a larger --image-tokens", "load with a larger number of tokens per picture");
    row("load again with --image-tokens 280", "load again with 280 tokens per picture");
    row("try a simulated GPU with --sim-gpu");
    row("--head has no effect: the map gives embed_tokens a format");
    row("3 weights stay as they are stored; --quant applies to the others");
    row("; --head bf16 keeps the head as it is stored");
    row("fp32 with --precision f32) and has no other format");
    row("a cache keeps them as they are (--cache FOLDER)");
    row("--limit names sim:3, which this machine does not have");
    row("--quant-block: expected a power of two from 32 to 4096, found 7");
    row("--shape e9b: expected e2b or e4b");
    row("linear weights stay as they are stored, because no --quant was given; with --quant nf4 it "
        "would be about 36629 tokens/s");
    row("use --quant nf4-dq, or --prefill-chunk 64 and --threads 4.");
    row("the prompt has 87307 tokens, the context holds 4096 tokens",
        "the prompt has 87,307 tokens, the context holds 4,096 tokens");
    // What is no option stays.
    row("/models/my--model/config.json", "/models/my--model/config.json");
    row("models--google--gemma-4-E2B-it", "models--google--gemma-4-E2B-it");
    row("a -- b", "a -- b");
    row("nothing", "nothing");
}

void TestShellModels::noWordsOfTheCommandLine() {
    QFETCH(QString, text);
    QFETCH(QString, words);
    const QLocale before;
    const auto restore = qScopeGuard([before] { QLocale::setDefault(before); });
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    const QString said = ui::engineWords(text);
    if (words.isEmpty()) {
        QVERIFY2(!said.contains(QStringLiteral("--")), qPrintable(said));
    } else {
        QCOMPARE(said, words);
    }
}

void TestShellModels::foldersInTheWindowsWords() {
    using engine::ErrorCode;
    const auto folder = [](const char* message, const char* file) {
        engine::Error error{ErrorCode::InvalidFile, message};
        if (*file != 0) {
            error.details = {{"rule", "FileMissing"}, {"file", file}};
        }
        return ui::folderProblem(error, {});
    };
    const QString kind = folder("config.json: model_type is \"llama\": not a Gemma 4 model; Belfry "
                                "runs Gemma 4 (E2B, E4B, 26B-A4B, 31B)",
                                "");
    QVERIFY2(kind.startsWith(QStringLiteral("It holds a model of another kind (llama).")),
             qPrintable(kind));
    QVERIFY(folder("config.json: there is no such file", "config.json")
                .startsWith(QStringLiteral("There is no config.json in it.")));
    QVERIFY(folder("tokenizer.json: there is no such file", "tokenizer.json")
                .startsWith(QStringLiteral("tokenizer.json is missing")));
    QCOMPARE(folder("something new", ""), QStringLiteral("something new"));
    ui::FolderFacts gone;
    gone.place = ui::FolderFacts::Place::Missing;
    QVERIFY(ui::folderProblem({ErrorCode::InvalidFile, "x"}, gone)
                .startsWith(QStringLiteral("The folder is not there any more")));
    QVERIFY(ui::adapterProblem({ErrorCode::InvalidFile,
                                "adapter_model.safetensors: base_model.model.x.lora_A.weight: "
                                "shape [8, 128], expected [8, 64] (rank 8, x.weight is [256, 64]) "
                                "(and 205 more)"})
                .startsWith(QStringLiteral("It was trained for a model of another size")));
    QVERIFY(ui::adapterProblem({ErrorCode::InvalidFile, "adapter_config.json: r is missing"})
                .isEmpty());
}

QTEST_MAIN(TestShellModels)
#include "tst_shell_models.moc"
