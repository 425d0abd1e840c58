// SPDX-License-Identifier: Apache-2.0
// Two engines behind one: which of them loads, answers, says what it can, and is compared.
#include "app/routed_engine.h"
#include "tests/remote/remote_asking.h"

#include <QTest>

namespace {

/// An engine of this computer that has every model and says "here".
class Here final : public engine::EngineClient {
public:
    engine::Capabilities capabilities() const override { return {}; }
    engine::Result<engine::ModelSummary>
    inspect(const std::string& model, const std::vector<std::string>& /*adapters*/) override {
        engine::ModelSummary summary;
        summary.folder = model;
        return summary;
    }
    engine::Result<void> load(const engine::LoadRequest& request,
                              const engine::ProgressCallback& /*progress*/,
                              const std::stop_token& /*stop*/) override {
        request_ = request;
        is_loaded_ = true;
        return {};
    }
    void unload() override { is_loaded_ = false; }
    bool isLoaded() const override { return is_loaded_; }
    const engine::LoadRequest& loadedRequest() const override { return request_; }
    std::shared_ptr<const engine::ModelSummary> summary() const override { return nullptr; }
    double loadSeconds() const override { return 0.0; }
    std::vector<engine::LoadNote> loadNotes() const override { return {}; }
    std::pair<int64_t, int64_t> contextUse() const override { return {0, 0}; }
    engine::Result<engine::Reply> generate(const engine::GenerateRequest& /*request*/,
                                           const engine::UpdateCallback& /*delta*/,
                                           const std::stop_token& /*stop*/) override {
        engine::Reply reply;
        reply.text = "here";
        return reply;
    }
    engine::Result<void> setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                                     const std::stop_token& /*stop*/) override {
        request_.adapters = adapters;
        return {};
    }

private:
    engine::LoadRequest request_;
    bool is_loaded_ = false;
};

std::string answer(app::RoutedEngine& engine) {
    const auto reply = engine.generate(support::question(), {}, {});
    return reply.has_value() ? reply->text : reply.error().message;
}

engine::LoadRequest own() {
    engine::LoadRequest request;
    request.model = "/models/own";
    return request;
}

} // namespace

class TestRouted : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void lastLoadedAnswers();
    void failedLoadChangesNothing();
    void comparesBoth();
};

void TestRouted::lastLoadedAnswers() {
    const support::ChatStandin server(support::goodAnswer({"there"}));
    app::RoutedEngine engine(std::make_unique<Here>(), support::remoteEngine());
    QVERIFY(!engine.isLoaded());
    QVERIFY(engine.load(own(), {}, {}).has_value());
    QVERIFY(engine.capabilities().host.empty());
    QCOMPARE(answer(engine), std::string("here"));
    QVERIFY(engine.load(support::loadOf(server.base()), {}, {}).has_value());
    QCOMPARE(engine.capabilities().host, engine::serverHost(server.base()));
    QVERIFY(!engine.capabilities().places_parts);
    QCOMPARE(answer(engine), std::string("there"));
    QVERIFY(engine.load(own(), {}, {}).has_value());
    QCOMPARE(answer(engine), std::string("here"));
    QCOMPARE(server.numAsked(), size_t{1});
    engine.unload();
    QVERIFY(!engine.isLoaded());
}

void TestRouted::failedLoadChangesNothing() {
    app::RoutedEngine engine(std::make_unique<Here>(), support::remoteEngine());
    QVERIFY(engine.load(own(), {}, {}).has_value());
    QVERIFY(!engine.load(support::loadOf("http://127.0.0.1:9/v1"), {}, {}).has_value());
    QCOMPARE(answer(engine), std::string("here"));
    QCOMPARE(engine.loadedRequest().model, std::string("/models/own"));
}

/// A server's model among the adapters answers in their place while it is on.
void TestRouted::comparesBoth() {
    const support::ChatStandin server(support::goodAnswer({"there"}));
    const std::string model = engine::serverModel(server.base(), "m");
    app::RoutedEngine engine(std::make_unique<Here>(), support::remoteEngine());
    QVERIFY(engine.load(own(), {}, {}).has_value());
    const std::vector<engine::AdapterChoice> base = {{"poems", 0.5, true}, {model, 1.0, false}};
    QVERIFY(engine.setAdapters(base, {}).has_value());
    QCOMPARE(engine.loadedRequest().adapters.size(), size_t{1}); // the engine here sees its own
    QCOMPARE(answer(engine), std::string("here"));
    QCOMPARE(server.requests().size(), size_t{0});
    QVERIFY(engine.setAdapters({{"poems", 0.5, false}, {model, 1.0, true}}, {}).has_value());
    QCOMPARE(answer(engine), std::string("there"));
    QVERIFY(engine.capabilities().host.empty()); // what is loaded is still this computer's
    QVERIFY(engine.setAdapters({{"poems", 0.5, true}}, {}).has_value());
    QCOMPARE(answer(engine), std::string("here"));
    const auto nowhere = engine.setAdapters({{"http://127.0.0.1:9/v1#m", 1.0, true}}, {});
    QVERIFY(!nowhere.has_value());
    QCOMPARE(answer(engine), std::string("here"));
}

QTEST_GUILESS_MAIN(TestRouted)
#include "tst_routed.moc"
