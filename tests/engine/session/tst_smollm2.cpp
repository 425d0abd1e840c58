// SPDX-License-Identifier: Apache-2.0
// Trained weights: SmolLM2-135M-Instruct as a GGUF file (Q4_1, with a Q8_0 table), which
// $BELFRY_SMOLLM2 names; without it every test is skipped. Ids, prompts, logits and greedy tokens
// against transformers' run over the expanded weights (tests/data/smollm2), also with a PEFT
// adapter on projections whose rows the file keeps in another order.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"
#include "tests/support/worst_error.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace {

/// Largest difference to the float64 run, as a share of the largest logit.
constexpr double kSmolBound = 1e-4;
constexpr uint64_t kSmolCard = uint64_t{512} << 20;
constexpr size_t kSmolPrompts = 10;

struct SmolPlace {
    const char* name;
    const char* map;
};
constexpr SmolPlace kSmolPlaces[] = {
    {"the CPU", "cpu"},
    {"two cards, split in the middle", R"({"version": 1, "default": "sim:0", "map": {
        "model.language_model.layers.[15-29]": "sim:1", "model.language_model.norm": "sim:1",
        "model.language_model.embed_tokens": "cpu", "lm_head": "cpu"}})"},
    {"streamed from disk", R"({"version": 1, "default": "sim:0", "map": {
        "model.language_model.layers.[1-29]": {"store": "disk", "compute": "sim:0"}}})"},
};

engine::Message message(const nlohmann::json& item) {
    using enum engine::Message::Role;
    const std::string role = item["role"];
    engine::Message message;
    message.role = role == "system" ? System : role == "user" ? User : Assistant;
    message.parts = {{engine::MessagePart::Kind::Text, item["content"]}};
    return message;
}

} // namespace

class TestSmolLm2 : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void tokenIds();
    void promptsAndGreedyText_data();
    void promptsAndGreedyText();
    void logits_data();
    void logits();
    void cleanupTestCase() { worst_.print("SmolLM2 against float64"); }

private:
    [[nodiscard]] engine::LoadRequest request(const char* map) const {
        engine::LoadRequest request;
        request.model = file_;
        request.device_map = map;
        request.context = 256;
        request.is_reference_precision = true;
        request.sim_gpus = {kSmolCard, kSmolCard};
        return request;
    }
    /// Compares the kept values of a row, and the likeliest token.
    void compareRow(const std::string& name, const std::vector<float>& row);

    std::string file_;
    std::vector<nlohmann::json> cases_;
    std::map<std::string, support::GoldenTensor> expected_;
    support::WorstError worst_;
};

void TestSmolLm2::initTestCase() {
    const char* file = std::getenv("BELFRY_SMOLLM2");
    if (file == nullptr || *file == '\0') {
        QSKIP("BELFRY_SMOLLM2 names no SmolLM2-135M-Instruct.Q4_1.gguf: scripts/test.sh --all");
    }
    file_ = file;
    const auto folder = support::testDataDir() / "smollm2";
    const auto greedy = support::readJson(folder / "greedy.json");
    for (const auto& item : support::readJson(folder / "chat_cases.json")) {
        cases_.push_back(item);
        cases_.back().update(greedy[cases_.size() - 1]);
    }
    QCOMPARE(cases_.size(), kSmolPrompts);
    expected_ = support::readSafetensors(folder / "logits.safetensors");
}

void TestSmolLm2::tokenIds() {
    const auto cases = support::readJson(support::testDataDir() / "smollm2/tokenizer_cases.json");
    QCOMPARE(cases.size(), size_t{40});
    engine::Engine engine;
    for (const auto& item : cases) {
        const std::string text = item["text"];
        const auto read = support::must(engine.tokenize(file_, text), text.c_str());
        QCOMPARE(read.ids, item["ids"].get<std::vector<int32_t>>());
    }
}

void TestSmolLm2::promptsAndGreedyText_data() {
    QTest::addColumn<size_t>("at");
    for (size_t i = 0; i < kSmolPrompts; ++i) {
        QTest::addRow("%zu", i) << i;
    }
}

/// A conversation by the file's own template, and what follows it whether or not the answer ends.
void TestSmolLm2::promptsAndGreedyText() {
    QFETCH(size_t, at);
    constexpr size_t kShort = 32; // of characters: an answer that takes little time once more
    const nlohmann::json& item = cases_[at];
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request("cpu"), {}, {}));
    engine::GenerateRequest asked;
    for (const auto& entry : item["messages"]) {
        asked.messages.push_back(message(entry));
    }
    const auto expected = item["greedy"].get<std::vector<int32_t>>();
    asked.sampling.temperature = 0;
    asked.sampling.ignores_eos = true;
    asked.sampling.max_tokens = static_cast<int64_t>(expected.size());
    const auto raw = support::must(engine.generate(asked, {}, {}), "raw tokens");
    QCOMPARE(raw.input_ids, item["ids"].get<std::vector<int32_t>>());
    QCOMPARE(raw.token_ids, expected);

    const std::string whole = item["text"];
    if (const size_t end = whole.find("<|im_end|>"); end < kShort) {
        asked.sampling.ignores_eos = false;
        const auto reply = support::must(engine.generate(asked, {}, {}), "a reply");
        QCOMPARE(reply.text, whole.substr(0, end));
        QCOMPARE(reply.finish_reason, std::string("stop"));
    }
}

void TestSmolLm2::compareRow(const std::string& name, const std::vector<float>& row) {
    const auto top = expected_.at(name + ".top").floats();
    const auto top_ids = expected_.at(name + ".top_ids").integers();
    const auto expected = expected_.at(name).floats();
    const auto ids = expected_.at("ids").integers();
    const auto [least, most] = std::minmax_element(expected.begin(), expected.end());
    const double largest = std::max(std::abs(double{*least}), std::abs(double{top.front()}));
    double error = 0.0;
    const auto compare = [&](const auto& at, const auto& values) {
        for (size_t i = 0; i < at.size(); ++i) {
            const double difference = double{row[static_cast<size_t>(at[i])]} - values[i];
            // Not std::max(), which would drop what is no number.
            error =
                std::abs(difference) / largest <= error ? error : std::abs(difference) / largest;
        }
    };
    compare(ids, expected);
    compare(top_ids, top);
    worst_.add(error, name);
    QVERIFY2(error <= kSmolBound,
             qPrintable(QStringLiteral("%1: logits differ by %2").arg(name.c_str()).arg(error)));
    QCOMPARE(std::max_element(row.begin(), row.end()) - row.begin(), top_ids.front());
}

void TestSmolLm2::logits_data() {
    support::addColumns<QString, bool>("map", "has_adapter");
    for (const SmolPlace& place : kSmolPlaces) {
        QTest::addRow("%s", place.name) << place.map << false;
        QTest::addRow("an adapter, %s", place.name) << place.map << true;
    }
}

void TestSmolLm2::logits() {
    QFETCH(QString, map);
    QFETCH(bool, has_adapter);
    engine::LoadRequest wanted = request(map.toUtf8().constData());
    if (has_adapter) {
        wanted.adapters = {{(support::testDataDir() / "smollm2/adapter").string()}};
    }
    engine::Engine engine;
    VERIFY_VALUE(engine.load(wanted, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    int compared = 0;
    for (size_t i = 0; i < cases_.size(); ++i) {
        const std::string name = std::to_string(i) + (has_adapter ? ".adapter" : ".plain");
        if (!expected_.contains(name)) {
            continue;
        }
        ++compared;
        engine::GenerateRequest asked;
        asked.raw_ids = cases_[i]["ids"].get<std::vector<int32_t>>();
        compareRow(name, support::must(engine.logits(asked, 1, {}), name.c_str()).logits);
    }
    QCOMPARE(compared, has_adapter ? 3 : 10);
    QCOMPARE(support::memoryDifference(engine), std::string());
}

TEST_CLASS(TestSmolLm2)
#include "tst_smollm2.moc"
