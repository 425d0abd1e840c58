// SPDX-License-Identifier: Apache-2.0
// Which engine loads, answers, says what it can, and is compared.
#include "app/engines/engine_switch.h"
#include "tests/remote/remote_asking.h"
#include "tests/support/program/test_class.h"

#include <QTest>

namespace {

/// An engine of this computer that has every model and says its name.
class Own final : public engine::EngineClient {
public:
    explicit Own(std::string name = "here") : name_(std::move(name)) {}
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
    std::vector<engine::Sentence> loadNotes() const override { return {}; }
    std::pair<int64_t, int64_t> contextUse() const override { return {0, 0}; }
    engine::Result<engine::Reply> generate(const engine::GenerateRequest& /*request*/,
                                           const engine::UpdateCallback& /*delta*/,
                                           const std::stop_token& /*stop*/) override {
        engine::Reply reply;
        reply.text = name_;
        return reply;
    }
    engine::Result<void> setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                                     const std::stop_token& /*stop*/) override {
        request_.adapters = adapters;
        return {};
    }

private:
    std::string name_;
    engine::LoadRequest request_;
    bool is_loaded_ = false;
};

std::string answer(const app::EngineSwitch& engines) {
    const auto reply = engines.answering().generate(support::question(), {}, {});
    return reply.has_value() ? reply->text : reply.error().message;
}

app::EngineSwitch withServers() {
    app::EngineSwitch engines(std::make_unique<Own>());
    engines.addServers(support::remoteEngine());
    return engines;
}

engine::LoadRequest own() {
    engine::LoadRequest request;
    request.model = "/models/own";
    return request;
}

} // namespace

class TestEngineSwitch : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void lastLoadedAnswers();
    void failedLoadChangesNothing();
    void comparesBoth();
    void waitsForWork();
};

void TestEngineSwitch::lastLoadedAnswers() {
    const support::ChatStandin server(support::goodAnswer({"there"}));
    app::EngineSwitch engines = withServers();
    QVERIFY(!engines.state().isLoaded());
    QVERIFY(engines.load(own(), {}, {}).has_value());
    QVERIFY(engines.state().capabilities().host.empty());
    QCOMPARE(answer(engines), std::string("here"));
    QVERIFY(engines.load(support::loadOf(server.base()), {}, {}).has_value());
    QCOMPARE(engines.state().capabilities().host, engine::serverHost(server.base()));
    QVERIFY(!engines.state().capabilities().places_parts);
    QCOMPARE(answer(engines), std::string("there"));
    QVERIFY(engines.load(own(), {}, {}).has_value());
    QCOMPARE(answer(engines), std::string("here"));
    QCOMPARE(server.numAsked(), size_t{1});
    engines.unload();
    QVERIFY(!engines.state().isLoaded());
}

void TestEngineSwitch::failedLoadChangesNothing() {
    app::EngineSwitch engines = withServers();
    QVERIFY(engines.load(own(), {}, {}).has_value());
    QVERIFY(!engines.load(support::loadOf("http://127.0.0.1:9/v1"), {}, {}).has_value());
    QCOMPARE(answer(engines), std::string("here"));
    QCOMPARE(engines.state().loadedRequest().model, std::string("/models/own"));
}

/// A server's model among the adapters answers in their place while it is on.
void TestEngineSwitch::comparesBoth() {
    const support::ChatStandin server(support::goodAnswer({"there"}));
    const std::string model = engine::serverModel(server.base(), "m");
    app::EngineSwitch engines = withServers();
    QVERIFY(engines.load(own(), {}, {}).has_value());
    const std::vector<engine::AdapterChoice> base = {{"poems", 0.5, true}, {model, 1.0, false}};
    QVERIFY(engines.setAdapters(base, {}).has_value());
    QCOMPARE(engines.state().loadedRequest().adapters.size(),
             size_t{1}); // the engine here sees its own
    QCOMPARE(answer(engines), std::string("here"));
    QCOMPARE(server.requests().size(), size_t{0});
    QVERIFY(engines.setAdapters({{"poems", 0.5, false}, {model, 1.0, true}}, {}).has_value());
    QCOMPARE(answer(engines), std::string("there"));
    QVERIFY(engines.state().capabilities().host.empty()); // what is loaded is still this computer's
    QVERIFY(engines.setAdapters({{"poems", 0.5, true}}, {}).has_value());
    QCOMPARE(answer(engines), std::string("here"));
    const auto nowhere = engines.setAdapters({{"http://127.0.0.1:9/v1#m", 1.0, true}}, {});
    QVERIFY(!nowhere.has_value());
    QCOMPARE(answer(engines), std::string("here"));
}

/// Only work waits for the choice: until it is made, the engine on this thread answers questions.
void TestEngineSwitch::waitsForWork() {
    int waits = 0;
    const app::EngineSwitch::Choice choose = [&waits](bool is_waiting) -> std::optional<bool> {
        waits += is_waiting ? 1 : 0;
        return is_waiting ? std::optional<bool>(true) : std::nullopt;
    };
    auto here = std::make_unique<Own>("here");
    auto process = std::make_unique<Own>("process");
    const engine::EngineClient* const thread = here.get();
    const engine::EngineClient* const other = process.get();
    app::EngineSwitch engines(std::move(here), std::move(process), choose);
    QVERIFY(&engines.state() == thread);
    QVERIFY(&engines.reader("/models/own") == thread);
    engines.unload();
    QCOMPARE(waits, 0);
    QVERIFY(engines.load(own(), {}, {}).has_value());
    QCOMPARE(waits, 1);
    QCOMPARE(answer(engines), std::string("process"));
    QVERIFY(engines.state().isLoaded() && &engines.state() == other);
    QVERIFY(&engines.reader("/models/own") == other && &engines.at("/models/own") == other);
    QCOMPARE(waits, 1); // once chosen, it stays
}

TEST_CLASS_WITH(QCoreApplication, TestEngineSwitch)
#include "tst_engine_switch.moc"
