// SPDX-License-Identifier: Apache-2.0
// The page Get a model and the network behind it: a keyring is opened when a model asks for a token
// and not before, the settings' mirror is the one that is asked, two downloads at once go their own
// ways.
#include "tests/app/hub/models_fixture.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>

#include <algorithm>
#include <atomic>

namespace fs = std::filesystem;
using support::HubContent;
using support::HubStandin;
using support::Models;
using support::Program;
using State = ui::Download::State;

namespace {

const std::string kToken = "hf_secretsecretsecret";

/// A keyring that counts who opens it.
class CountedStore : public models::hub::TokenStore {
public:
    explicit CountedStore(std::atomic<int>* num_reads) : num_reads_(num_reads) {}
    [[nodiscard]] Kind kind() const override { return Kind::Keyring; }
    [[nodiscard]] std::string place() const override { return "the test's keyring"; }
    engine::Result<std::string> read() override {
        ++*num_reads_;
        return kToken;
    }
    engine::Result<void> write(const std::string& /*token*/) override { return {}; }
    engine::Result<void> remove() override { return {}; }

private:
    std::atomic<int>* num_reads_;
};

HubContent demo(uint64_t bytes_per_second = 0) {
    HubContent content = support::demoRepository(app::demoModelFolder());
    content.bytes_per_second = bytes_per_second;
    return content;
}

void click(QAbstractButton* button) {
    QVERIFY(button != nullptr && button->isVisible() && button->isEnabled());
    QTest::mouseClick(button, Qt::LeftButton);
}

} // namespace

class TestModelsNetwork : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void opensAKeyringOnDemand();
    void asksTheMirrorOfTheSettings();
    void fetchesTwoAtOnce();
    void modelScopeComesToAFolder();
};

void TestModelsNetwork::opensAKeyringOnDemand() {
    std::atomic<int> num_made = 0;
    std::atomic<int> num_reads = 0;
    const auto counted = [&](app::HubSetup& setup) {
        setup.make_tokens = [&] {
            ++num_made;
            return std::make_unique<CountedStore>(&num_reads);
        };
    };
    {
        // What is everybody's: looked up, fetched, found; the keyring stays shut.
        QTemporaryDir folder;
        const HubStandin hub(demo());
        Program program(folder.path());
        Models models(program, folder.path(), hub.endpoint(), counted);
        QVERIFY(models.lookUp(QStringLiteral("belfry/demo-4")));
        QVERIFY(models.label("offerProblem")->isHidden());
        click(program.find("offerDownload"));
        QVERIFY(models.waitForDownload(State::Done));
        QCOMPARE(num_made.load(), 0);
        QCOMPARE(num_reads.load(), 0);
        for (const support::HubRequest& request : hub.requests()) {
            QCOMPARE(request.headers.count("authorization"), size_t{0});
        }
    }
    QTemporaryDir folder;
    HubContent content = demo();
    content.token = kToken;
    const HubStandin hub(content);
    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint(), counted);
    QVERIFY(models.lookUp(QStringLiteral("belfry/demo-4")));
    QVERIFY2(models.label("offerProblem")->isHidden(),
             qPrintable(models.label("offerProblem")->text()));
    QCOMPARE(num_reads.load(), 1);
    const std::vector<support::HubRequest> asked = hub.requests();
    QCOMPARE(asked.front().headers.count("authorization"), size_t{0}); // first without
    QCOMPARE(asked.at(1).headers.at("authorization"), "Bearer " + kToken);
    click(program.find("offerDownload"));
    QVERIFY(models.waitForDownload(State::Done));
    QVERIFY(num_reads.load() <= 2); // the queue asks once more at most
    for (const support::HubRequest& request : hub.requests()) {
        QVERIFY(!request.is_other_host || request.headers.count("authorization") == 0);
    }
}

void TestModelsNetwork::asksTheMirrorOfTheSettings() {
    QTemporaryDir folder;
    const HubStandin usual(demo());
    const HubStandin mirror(demo());
    ui::Settings settings = support::settingsAfterGuide();
    settings.hub_endpoint = QString::fromStdString(mirror.endpoint());
    Program program(folder.path(), settings);
    Models models(program, folder.path(), usual.endpoint());
    program.window->showModels(ui::ModelsPage::Page::Get);
    QTRY_VERIFY(models.getPage().network().is_mirror);
    QVERIFY(models.lookUp(QStringLiteral("belfry/demo-4")));
    click(program.find("offerDownload"));
    QVERIFY(models.waitForDownload(State::Done));
    QCOMPARE(usual.requests().size(), size_t{0});
    QVERIFY(mirror.requests().size() > 4);
    // Back to the usual one: the next request goes there, and only that.
    const size_t num_mirror = mirror.requests().size();
    settings.hub_endpoint.clear();
    Q_EMIT program.window->settingsEdited(settings);
    QTRY_COMPARE(models.getPage().network().endpoint, QString::fromStdString(usual.endpoint()));
    QVERIFY(models.lookUp(QStringLiteral("belfry/demo-4")));
    QTRY_VERIFY(!usual.requests().empty());
    QCOMPARE(mirror.requests().size(), num_mirror);
}

void TestModelsNetwork::fetchesTwoAtOnce() {
    QTemporaryDir folder;
    constexpr uint64_t kRate = 4'000'000;
    HubContent content = demo(kRate);
    content.also_called = {"belfry/second"};
    const HubStandin hub(content);
    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint());
    for (const char* id : {"belfry/demo-4", "belfry/second"}) {
        QVERIFY(models.lookUp(QString::fromLatin1(id)));
        QTRY_COMPARE(models.label("offerTitle")->text(), QString::fromLatin1(id));
        QTRY_VERIFY(program.find("offerDownload")->isEnabled());
        click(program.find("offerDownload"));
    }
    QTRY_COMPARE(models.downloads().size(), size_t{2});
    const auto at = [&](size_t i) { return models.downloads().at(i); };
    QTRY_VERIFY(at(0).done_bytes > 1'000'000 && at(1).done_bytes > 1'000'000);
    QVERIFY(at(0).state == State::Fetching && at(1).state == State::Fetching);
    // Each tells its own rate, which is no more than the line's for each of two connections.
    QTRY_VERIFY(at(0).bytes_per_s > 0 && at(1).bytes_per_s > 0);
    for (const size_t i : {0U, 1U}) {
        QCOMPARE_LT(at(i).bytes_per_s, 3.0 * kRate);
    }
    // A pause of one leaves the other.
    const QList<QAbstractButton*> toggles =
        models.getPage().downloads()->findChildren<QAbstractButton*>(
            QStringLiteral("downloadToggle"));
    QCOMPARE(toggles.size(), 2);
    program.shot("hub-two-downloads");
    click(toggles[0]);
    QTRY_VERIFY(at(0).state == State::Paused);
    const quint64 paused_at = at(0).done_bytes;
    QTRY_VERIFY_WITH_TIMEOUT(at(1).state == State::Done, 60000);
    QVERIFY(at(0).state == State::Paused);
    QCOMPARE(at(0).done_bytes, paused_at);
    click(toggles[0]);
    QTRY_VERIFY_WITH_TIMEOUT(at(0).state == State::Done, 60000);
    for (const size_t i : {0U, 1U}) {
        for (const auto& [name, text] : content.files) {
            if (name.ends_with(".safetensors") || name == "config.json") {
                QVERIFY2(support::textOf(fs::path(at(i).folder.toStdString()) / name) == text,
                         name.c_str());
            }
        }
    }
}

void TestModelsNetwork::modelScopeComesToAFolder() {
    QTemporaryDir folder;
    const HubStandin hub(demo());
    const HubStandin modelscope(demo(4'000'000));
    const auto with = [&](app::HubSetup& setup) {
        setup.environment.modelscope_endpoint = modelscope.endpoint();
        setup.environment.hf_token = kToken;
        setup.models_folder = fs::path(folder.path().toStdString()) / "models";
    };
    const QString page = QStringLiteral("https://modelscope.cn/models/belfry/demo-4");
    {
        Program program(folder.path());
        Models models(program, folder.path(), hub.endpoint(), with);
        QVERIFY(models.lookUp(page));
        QVERIFY2(models.label("offerProblem")->isHidden(),
                 qPrintable(models.label("offerProblem")->text()));
        QVERIFY(models.label("offerPlan")->text().contains(QStringLiteral("Fits")));
        QVERIFY(models.label("offerFolder")->text().contains(QStringLiteral("models")));
        const QString promise = models.label("getPromise")->text(); // who is asked
        QVERIFY2(promise.contains(QString::fromStdString(modelscope.endpoint())) &&
                     !promise.contains(QString::fromStdString(hub.endpoint())),
                 qPrintable(promise));
        program.shot("hub-modelscope");
        click(program.find("offerDownload"));
        QTRY_VERIFY(!models.downloads().empty() &&
                    models.downloads().front().done_bytes > 2'000'000);
    } // and over a restart
    Program program(folder.path());
    Models models(program, folder.path(), hub.endpoint(), with);
    program.window->showModels(ui::ModelsPage::Page::Get);
    QVERIFY(models.waitForDownload(State::Paused));
    click(program.find<QAbstractButton>("downloadToggle"));
    QVERIFY(models.waitForDownload(State::Done));
    const fs::path fetched = models.downloads().front().folder.toStdString();
    QCOMPARE(fetched, fs::path(folder.path().toStdString()) / "models/belfry/demo-4");
    QVERIFY(support::textOf(fetched / "model.safetensors") ==
            modelscope.content().files.at("model.safetensors"));
    QCOMPARE(hub.requests().size(), size_t{0});
    for (const support::HubRequest& request : modelscope.requests()) { // the token is the hub's
        QCOMPARE(request.headers.count("authorization"), size_t{0});
    }
}

TEST_CLASS_WITH(QApplication, TestModelsNetwork)
#include "tst_models_network.moc"
