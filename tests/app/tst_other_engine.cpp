// SPDX-License-Identifier: Apache-2.0
// The window in front of another engine than this program's: one that answers and nothing else.
// What it cannot do is not offered; what is asked of it all the same is refused, not lost.
#include "tests/app/program_fixture.h"
#include "tests/support/program/test_class.h"

#include <QAbstractButton>
#include <QTemporaryDir>

using support::Program;

namespace {

/// Has one model, "parrot", and says every last message once more, a word at a time.
class Parrot final : public engine::EngineClient {
public:
    engine::Capabilities capabilities() const override {
        return {.places_parts = false, .tells_memory = false, .takes_adapters = false};
    }
    engine::Result<engine::ModelSummary>
    inspect(const std::string& model, const std::vector<std::string>& /*adapters*/) override {
        if (model != "parrot") {
            return engine::Error{engine::ErrorCode::InvalidFile, model + ": no such model"};
        }
        engine::ModelSummary summary;
        summary.folder = model;
        summary.variant = "parrot";
        summary.max_context = 100;
        return summary;
    }
    engine::Result<void> load(const engine::LoadRequest& request,
                              const engine::ProgressCallback& /*progress*/,
                              const std::stop_token& /*stop*/) override {
        ENGINE_ASSIGN(engine::ModelSummary summary, inspect(request.model, {}));
        request_ = request;
        summary_ = std::make_shared<const engine::ModelSummary>(std::move(summary));
        return {};
    }
    void unload() override { summary_ = nullptr; }
    bool isLoaded() const override { return summary_ != nullptr; }
    const engine::LoadRequest& loadedRequest() const override { return request_; }
    std::shared_ptr<const engine::ModelSummary> summary() const override { return summary_; }
    double loadSeconds() const override { return 0.0; }
    std::vector<engine::Sentence> loadNotes() const override { return {}; }
    std::pair<int64_t, int64_t> contextUse() const override { return {used_, 100}; }
    engine::Result<engine::Reply> generate(const engine::GenerateRequest& request,
                                           const engine::UpdateCallback& delta,
                                           const std::stop_token& /*stop*/) override {
        engine::Reply reply;
        reply.id = request.id;
        reply.finish_reason = "stop";
        for (const engine::MessagePart& part : request.messages.back().parts) {
            reply.text += part.text;
        }
        ++used_;
        delta({reply.text, "", 1});
        return reply;
    }

private:
    engine::LoadRequest request_;
    std::shared_ptr<const engine::ModelSummary> summary_;
    int64_t used_ = 0;
};

const app::EngineFactory& parrots() {
    static const app::EngineFactory::Make kMake = [](const app::EngineEvents& /*events*/) {
        return app::EngineSwitch(std::make_unique<Parrot>());
    };
    static const app::EngineFactory kFactory(kMake);
    return kFactory;
}

} // namespace

class TestOtherEngine : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void answers();
    void offersNoMore();
    void refusesTheRest();
};

/// Chosen, loaded, asked and answered, as with the engine of the program.
void TestOtherEngine::answers() {
    const QTemporaryDir folder;
    Program program(folder.path(), {}, {}, &parrots());
    program.session().chooseModel(QStringLiteral("parrot"));
    QTRY_VERIFY(program.session().summary() != nullptr);
    QVERIFY(program.load());
    program.ask(QStringLiteral("Good morning"));
    QVERIFY(program.waitForReply(2));
    QCOMPARE(program.chat().chat().turns.back().text, QStringLiteral("Good morning"));
    program.shot("other_engine");
    program.session().chooseModel(QStringLiteral("raven"));
    QTRY_VERIFY(program.session().modelError() != nullptr);
}

/// Layout, memory, adapters and comparing are gone from the window, and from the keyboard.
void TestOtherEngine::offersNoMore() {
    const QTemporaryDir folder;
    const char* const only_here[] = {"chatTab", "layoutTab", "bothTab", "addAdapterButton",
                                     "compareButton"};
    {
        Program own(folder.path());
        own.session().chooseModel(QStringLiteral("demo"));
        QTRY_VERIFY(own.session().summary() != nullptr);
        for (const char* name : only_here) {
            QVERIFY2(own.find<QAbstractButton>(name)->isVisibleTo(own.window.get()), name);
        }
        QVERIFY(own.window->findChild<QWidget*>(QStringLiteral("memoryMeter"))->isVisible());
    }
    Program program(folder.path(), {}, {}, &parrots());
    program.session().chooseModel(QStringLiteral("parrot"));
    QTRY_VERIFY(program.session().summary() != nullptr);
    QVERIFY(program.load());
    for (const char* name : only_here) {
        QVERIFY2(!program.find<QAbstractButton>(name)->isVisibleTo(program.window.get()), name);
    }
    QVERIFY(!program.window->findChild<QWidget*>(QStringLiteral("memoryMeter"))->isVisible());
    for (const char* name : {"action_showLayout", "action_showBoth", "action_toggleMeter"}) {
        QVERIFY2(!program.find<QAction>(name)->isEnabled(), name);
    }
    QTest::keyClick(program.window.get(), Qt::Key_2, Qt::ControlModifier);
    QVERIFY(!program.window->layoutView()->isVisible());
}

void TestOtherEngine::refusesTheRest() {
    Parrot parrot;
    const auto refused = [](const auto& result) {
        return !result.has_value() && result.error().code == engine::ErrorCode::Unsupported;
    };
    QVERIFY(refused(parrot.applyMap("cpu", {}, {})));
    QVERIFY(refused(parrot.setAdapters({{"somewhere", 1.0, true}}, {})));
    QVERIFY(parrot.setAdapters({}, {}).has_value());
    QVERIFY(refused(parrot.adapterEffect("somewhere", {})));
    QVERIFY(refused(parrot.logits({}, 1, {})));
    QVERIFY(refused(parrot.mediaCost({}, 0)));
    QVERIFY(refused(parrot.checkMedia("parrot", {"cat.png"}, {})));
    QVERIFY(parrot.checkMedia("parrot", {}, {}).has_value());
    QVERIFY(parrot.currentPlan() == nullptr);
    QVERIFY(parrot.memory().empty() && parrot.machineMemory().empty());
}

TEST_CLASS_WITH(QApplication, TestOtherEngine)
#include "tst_other_engine.moc"
