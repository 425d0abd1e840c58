// SPDX-License-Identifier: Apache-2.0
// belfry-cli models, and models by name in the other commands: the program in a home of its own.
#include "tests/models/trees.h"
#include "tests/support/golden.h"
#include "tests/support/program/run_program.h"
#include "tests/support/program/test_class.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using support::fs::path;

namespace {

const QString kId = QStringLiteral("google/gemma-4-E2B-it");

} // namespace

class TestModels : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void lists();
    void tellsOfNothing();
    void opensByName_data();
    void opensByName();
    void tellsHowToGetIt();
    void adaptersByName();
    void namesAmbiguity();
    void pathsComeFirst();
    void keepsFolders();
    void listsWhatTheWindowUsed();
    void deletes();
    void asksBeforeItDeletes();

private:
    [[nodiscard]] support::ProgramOutcome run(const QStringList& words) const;
    [[nodiscard]] path home(const char* below = "") const {
        return path(home_->path().toStdString()) / below;
    }
    /// A model that runs, in the cache of the hub, and an adapter for it.
    void fillCache() const;
    std::unique_ptr<QTemporaryDir> home_;
};

support::ProgramOutcome TestModels::run(const QStringList& words) const {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("HOME"), home_->path());
    environment.insert(QStringLiteral("USERPROFILE"), home_->path());
    environment.insert(QStringLiteral("LOCALAPPDATA"), home_->path());
    for (const char* name : {"HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME",
                             "XDG_CONFIG_HOME"}) {
        environment.remove(QLatin1String(name));
    }
    QProcess process;
    process.setProcessEnvironment(environment);
    process.setWorkingDirectory(home_->path());
    process.start(qEnvironmentVariable("BELFRY_CLI"), words);
    process.closeWriteChannel();
    return support::outcomeOf(process, 240'000);
}

void TestModels::initTestCase() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("BELFRY_CLI names no program: run through ctest");
    }
}

void TestModels::init() {
    home_ = std::make_unique<QTemporaryDir>();
    QVERIFY(home_->isValid());
}

void TestModels::fillCache() const {
    const path cache = home(".cache/huggingface/hub");
    const support::HubRepository gemma(cache, "models--google--gemma-4-E2B-it");
    const path snapshot = gemma.snapshot(support::kCommitA);
    support::fs::create_directories(snapshot.parent_path());
    support::fs::copy(support::goldenDir() / "e2b/model", snapshot);
    gemma.ref("main", support::kCommitA);
    const support::HubRepository lora(cache, "models--me--my-lora");
    support::fs::create_directories(lora.snapshot(support::kCommitB).parent_path());
    support::fs::copy(support::goldenDir() / "e2b/adapters/text", lora.snapshot(support::kCommitB));
    QFile config(QString::fromStdString(
        (lora.snapshot(support::kCommitB) / "adapter_config.json").string()));
    config.setPermissions(QFile::ReadOwner | QFile::WriteOwner);
    QVERIFY(config.open(QIODevice::ReadWrite));
    QJsonObject members = QJsonDocument::fromJson(config.readAll()).object();
    members["base_model_name_or_path"] = kId;
    config.resize(0);
    config.write(QJsonDocument(members).toJson());
}

void TestModels::lists() {
    fillCache();
    support::put(home(".lmstudio/models/pub/name/x.gguf"), "no such thing");
    const path gguf = support::goldenMoreDir() / "gguf-e2b";
    support::fs::create_directories(home(".lmstudio/models/pub/tiny"));
    support::fs::copy(gguf / "Q4_0.gguf", home(".lmstudio/models/pub/tiny/tiny-Q4_0.gguf"));
    support::fs::copy(gguf / "Q4_0.mmproj.gguf", home(".lmstudio/models/pub/tiny/mmproj-x.gguf"));
    support::put(home(".cache/huggingface/hub/models--half--way/blobs/a.incomplete"), "x");
    const support::ProgramOutcome told = run({"models", "--json"});
    QVERIFY2(told.code == 0, qPrintable(told.err));
    const QJsonArray models = told.json()["models"].toArray();
    QCOMPARE(models.size(), 4);
    const QJsonObject tiny = models[1].toObject();
    QCOMPARE(tiny["name"].toString(), QStringLiteral("pub/tiny/tiny-Q4_0.gguf"));
    QCOMPARE(tiny["form"].toString(), QStringLiteral("gguf"));
    QCOMPARE(tiny["precision"].toString(), QStringLiteral("Q4_0"));
    QCOMPARE(tiny["state"].toString(), QStringLiteral("usable"));
    QCOMPARE(tiny["fit"].toString(), QStringLiteral("fits"));
    const support::ProgramOutcome plan = run({"plan", "pub/tiny:Q4_0", "--device-map", "cpu"});
    QVERIFY2(plan.code == 0, qPrintable(plan.err));
    QVERIFY2(plan.out.contains(QStringLiteral(" Q4_0 ")), qPrintable(plan.out));
    QVERIFY2(plan.out.contains(QStringLiteral("vision_tower")), qPrintable(plan.out));
    const QJsonObject gemma = models[0].toObject();
    QCOMPARE(gemma["name"].toString(), kId);
    QCOMPARE(gemma["state"].toString(), QStringLiteral("usable"));
    QCOMPARE(gemma["fit"].toString(), QStringLiteral("fits"));
    QCOMPARE(gemma["refs"].toArray(), QJsonArray{"main"});
    QVERIFY(gemma["parameters"].toDouble() > 1e6);
    const QJsonObject adapter = gemma["adapters"].toArray().at(0).toObject();
    QCOMPARE(adapter["name"].toString(), QStringLiteral("me/my-lora"));
    const support::ProgramOutcome table = run({"models"});
    QCOMPARE(table.code, 0);
    const qsizetype model = table.out.indexOf(QStringLiteral("\n") + kId + " (main)");
    const qsizetype below = table.out.indexOf(QStringLiteral("\n  me/my-lora"));
    const qsizetype unusable = table.out.indexOf(QStringLiteral("Cannot be used as they are"));
    QVERIFY2(model > 0 && below > model && unusable > below, qPrintable(table.out));
    QVERIFY2(table.out.contains(QStringLiteral("-> belfry-cli get half/way")),
             qPrintable(table.out));
    QVERIFY2(!run({"models", "--no-plan"}).out.contains(QStringLiteral("fits")), "planned");
}

void TestModels::tellsOfNothing() {
    const support::ProgramOutcome told = run({"models"});
    QCOMPARE(told.code, 0);
    QVERIFY2(told.out.contains(QStringLiteral("belfry-cli get ")), qPrintable(told.out));
    QVERIFY(!told.out.contains(QStringLiteral("note:")));
    const support::ProgramOutcome named = run({"models", "--folder", "nowhere"});
    QVERIFY2(named.out.contains(QStringLiteral("nowhere: there is no such folder")),
             qPrintable(named.out));
}

void TestModels::opensByName_data() {
    QTest::addColumn<QString>("word");
    for (const char* word :
         {"google/gemma-4-E2B-it", "google/gemma-4-E2B-it@main", "google/gemma-4-E2B-it@aaaaaaa",
          "gemma-4-E2B-it", "GOOGLE/GEMMA-4-E2B-IT", "demo"}) {
        QTest::newRow(word) << QString::fromLatin1(word);
    }
}

void TestModels::opensByName() {
    QFETCH(QString, word);
    fillCache();
    const support::ProgramOutcome told = run({"inspect", word, "--json"});
    QVERIFY2(told.code == 0, qPrintable(told.err));
    QVERIFY(told.json()["parameters"].toDouble() > 1e6);
    const support::ProgramOutcome ids = run({"tokenize", word, "--text", "a", "--json"});
    QVERIFY2(ids.code == 0, qPrintable(ids.err));
}

void TestModels::tellsHowToGetIt() {
    fillCache();
    const support::ProgramOutcome absent = run({"plan", "google/gemma-4-E4B-it"});
    QCOMPARE(absent.code, 1);
    QVERIFY2(absent.err.contains(QStringLiteral("belfry-cli get google/gemma-4-E4B-it")),
             qPrintable(absent.err));
    const support::ProgramOutcome revision = run({"plan", kId + "@v2"});
    QVERIFY2(revision.err.contains(QStringLiteral("belfry-cli get ") + kId + "@v2"),
             qPrintable(revision.err));
    const support::ProgramOutcome word = run({"plan", "nonsense"});
    QVERIFY2(word.err.contains(QStringLiteral("belfry-cli models lists")), qPrintable(word.err));
    const support::ProgramOutcome path = run({"plan", "./google/gemma-4-E2B-it"});
    QVERIFY2(path.code == 1 && !path.err.contains(QStringLiteral("belfry-cli get")),
             qPrintable(path.err));
}

void TestModels::adaptersByName() {
    fillCache();
    const support::ProgramOutcome told = run({"inspect", kId, "--adapter", "my-lora", "--json"});
    QVERIFY2(told.code == 0, qPrintable(told.err));
    QCOMPARE(told.json()["adapters"].toArray().size(), 1);
    QCOMPARE(run({"plan", kId, "--adapter", "me/my-lora=0.5"}).code, 0);
    const support::ProgramOutcome absent = run({"plan", kId, "--adapter", "me/other"});
    QVERIFY2(absent.code == 1 && absent.err.contains(QStringLiteral("belfry-cli get me/other")),
             qPrintable(absent.err));
}

void TestModels::namesAmbiguity() {
    fillCache();
    support::putModel(home(".cache/huggingface/hub/models--copy--gemma-4-E2B-it/snapshots") /
                      support::kCommitA);
    const support::ProgramOutcome told = run({"plan", "gemma-4-E2B-it"});
    QCOMPARE(told.code, 1);
    QVERIFY2(told.err.contains(QStringLiteral("copy/gemma-4-E2B-it")) && told.err.contains(kId),
             qPrintable(told.err));
}

void TestModels::pathsComeFirst() {
    fillCache();
    support::put(home("google/gemma-4-E2B-it/config.json"), "{}");
    const support::ProgramOutcome told = run({"inspect", kId});
    QCOMPARE(told.code, 1); // the folder of this name, which is no model
    QVERIFY2(told.err.contains(QStringLiteral("config.json")), qPrintable(told.err));
}

void TestModels::keepsFolders() {
    support::putModel(home("mine/some-model"));
    const support::ProgramOutcome added =
        run({"models", "--add-folder", "mine", "--no-plan", "--json"});
    QVERIFY2(added.code == 0, qPrintable(added.err));
    QCOMPARE(added.json()["models"].toArray().size(), 1);
    QCOMPARE(run({"models", "--no-plan", "--json"}).json()["models"].toArray().size(), 1);
    QCOMPARE(run({"models", "--add-folder", "nowhere"}).code, 1);
    const support::ProgramOutcome removed =
        run({"models", "--remove-folder", "mine", "--no-plan", "--json"});
    QVERIFY2(removed.code == 0, qPrintable(removed.err));
    QVERIFY(removed.json()["models"].toArray().isEmpty());
    QVERIFY(support::fs::exists(home("mine/some-model")));
    QCOMPARE(run({"models", "--remove-folder", "mine"}).code, 1);
}

void TestModels::listsWhatTheWindowUsed() {
    fillCache();
    const path snapshot =
        home(".cache/huggingface/hub/models--google--gemma-4-E2B-it/snapshots") / support::kCommitA;
    support::putModel(home("elsewhere/my-gemma"));
#ifdef _WIN32
    const path list = home("Belfry/recent-models");
#else
    const path list = home(".config/Belfry/recent-models");
#endif
    // One that the cache has as well, one that is elsewhere, one that is gone.
    support::put(list, snapshot.string() + "\n" + home("elsewhere/my-gemma").string() + "\n" +
                           home("gone").string() + "\n");
    for (int i = 0; i < 5; ++i) { // whichever place answers first
        const support::ProgramOutcome told = run({"models", "--no-plan", "--json"});
        QVERIFY2(told.code == 0, qPrintable(told.err));
        QStringList names;
        for (const QJsonValue& model : told.json()["models"].toArray()) {
            names << model.toObject()["name"].toString();
        }
        names.sort();
        QVERIFY2(names.contains(kId) && names.contains(QStringLiteral("my-gemma")),
                 qPrintable(names.join(QLatin1Char(' '))));
        QCOMPARE(names.count(kId), 1);
    }
    const support::ProgramOutcome opened = run({"inspect", "my-gemma", "--json"});
    QVERIFY2(!opened.err.contains(QStringLiteral("no model")), qPrintable(opened.err));
}

void TestModels::deletes() {
    fillCache();
    const support::ProgramOutcome told = run({"models", "--delete", kId, "--yes", "--json"});
    QVERIFY2(told.code == 0, qPrintable(told.err));
    QVERIFY(told.json()["bytes"].toDouble() > 1e6);
    QVERIFY(!support::fs::exists(home(".cache/huggingface/hub/models--google--gemma-4-E2B-it")));
    QVERIFY(support::fs::exists(home(".cache/huggingface/hub/models--me--my-lora")));
    QCOMPARE(run({"models", "--delete", kId, "--yes"}).code, 1);
    QCOMPARE(run({"models", "--delete", "my-lora", "--yes"}).code, 0);
    QVERIFY(!support::fs::exists(home(".cache/huggingface/hub/models--me--my-lora")));
}

void TestModels::asksBeforeItDeletes() {
    fillCache();
    const support::ProgramOutcome told = run({"models", "--delete", kId});
    QCOMPARE(told.code, 1);
    QVERIFY2(told.err.contains(QStringLiteral("--yes")) &&
                 told.err.contains(QStringLiteral("lose it as well")),
             qPrintable(told.err));
    QVERIFY(support::fs::exists(home(".cache/huggingface/hub/models--google--gemma-4-E2B-it")));
}

TEST_CLASS(TestModels)
#include "tst_models.moc"
