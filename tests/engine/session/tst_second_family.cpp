// SPDX-License-Identifier: Apache-2.0
// A second family through the whole engine: a tiny random model of Llama's form (RMS norms in
// front, SwiGLU, plain RoPE, a head of its own) against what transformers computes for it in
// float64 (tests/data/llama, make_golden.py), on one device and split over three. The family is a
// folder and a line in engine/families: nothing else of the engine knows of it.
#include "engine/devices/gpu_access.h"
#include "engine/families/config.h"
#include "engine/text/tokenizer_bytes.h"
#include "tests/engine/session/small_card.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/hidden_device.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <span>

namespace {

constexpr double kSecondFamilyBound =
    1e-4; ///< As of the golden models: share of the largest value.
constexpr uint64_t kFamilyCapacity = uint64_t{256} << 20;

std::filesystem::path sourceFolder() {
    return support::testDataDir() / "llama";
}

} // namespace

class TestSecondFamily : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void refusedUnlessAskedFor();
    void everyHiddenState();
    void logitsAndTokens_data();
    void logitsAndTokens();
    void conversation();
    void fusedStepsOnCards_data();
    void fusedStepsOnCards();
    void refusesWhatItDoesNotCompute_data();
    void refusesWhatItDoesNotCompute();

private:
    [[nodiscard]] engine::LoadRequest request() const {
        engine::LoadRequest request;
        request.model = folder_.path().toStdString();
        request.device_map = "cpu";
        request.context = 64;
        request.is_reference_precision = true;
        request.threads = 2;
        return request;
    }
    QTemporaryDir folder_;
    std::vector<support::GoldenCase> cases_;
    std::map<std::string, support::GoldenTensor> expected_;
};

void TestSecondFamily::initTestCase() {
    // Ids only: any tokenizer of as many tokens opens the folder.
    for (const char* name : {"config.json", "generation_config.json", "model.safetensors"}) {
        std::filesystem::copy(sourceFolder() / name,
                              folder_.path().toStdString() / std::filesystem::path(name));
    }
    for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
        std::filesystem::copy(support::goldenDir() / "e2b/model" / name,
                              folder_.path().toStdString() / std::filesystem::path(name));
    }
    const auto told = support::readJson(sourceFolder() / "cases.json");
    for (const auto& entry : told["cases"]) {
        support::GoldenCase c;
        c.id = std::to_string(cases_.size());
        c.input_ids = entry["input_ids"].get<std::vector<int32_t>>();
        c.greedy = entry["greedy"].get<std::vector<int32_t>>();
        cases_.push_back(std::move(c));
    }
    QCOMPARE(cases_.size(), size_t{3});
    expected_ = support::readSafetensors(sourceFolder() / "expected.safetensors");
}

void TestSecondFamily::refusedUnlessAskedFor() {
    engine::Engine engine;
    const auto outcome = engine.load(request(), {}, {});
    QVERIFY(!outcome.has_value());
    QCOMPARE(outcome.error().code, engine::ErrorCode::Unsupported);
    QVERIFY(outcome.error().message.find("model_type is \"llama\"") != std::string::npos);
}

void TestSecondFamily::everyHiddenState() {
    const auto read = engine::readModelConfig(folder_.path().toStdString());
    VERIFY_VALUE(read);
    auto open = support::openModel(folder_.path().toStdString(), *read, true,
                                   kernels::cpuScalarOps(), 512, 64);
    const support::GoldenCase& c = cases_.back();
    std::map<int, std::vector<float>> hidden;
    const engine::HiddenObserver observer = [&hidden](int i, std::span<const float> values,
                                                      int64_t) {
        hidden[i].assign(values.begin(), values.end());
    };
    (void)support::prefill(*open.model, *open.kv, c.input_ids, {}, 1, 512, &observer);
    QCOMPARE(hidden.size(), size_t{5});
    for (const auto& [i, values] : hidden) {
        const auto golden = expected_.at(c.id + ".hidden." + std::to_string(i)).floats();
        QCOMPARE(values.size(), golden.size());
        const double error = support::maxRelativeToLargest(values, golden);
        QVERIFY2(error <= kSecondFamilyBound,
                 qPrintable(QString("hidden state %1: %2").arg(i).arg(error)));
    }
}

void TestSecondFamily::logitsAndTokens_data() {
    support::addColumns<QString, QString>("map", "quant");
    QTest::newRow("CPU") << "cpu"
                         << "";
    QTest::newRow("a card") << "gpu"
                            << "";
    QTest::newRow("two cards and the CPU")
        << R"({"version": 1, "default": "cuda:0", "map": {"model.language_model.layers.[1-2]":
               "cuda:1", "model.language_model.layers.3": "cpu"}})"
        << "";
    QTest::newRow("a layer streamed from memory")
        << R"({"version": 1, "default": "cuda:0", "map": {"model.language_model.layers.[1-2]":
               {"store": "cpu", "compute": "cuda:0"}}})"
        << "";
    // In 4 bits the values are others: the same on one device and on three.
    QTest::newRow("NF4") << R"({"version": 1, "default": "cuda:0", "map":
        {"model.language_model.layers.[1-2]": "cuda:1", "model.language_model.layers.3": "cpu"}})"
                         << "nf4";
}

void TestSecondFamily::logitsAndTokens() {
    QFETCH(QString, map);
    QFETCH(QString, quant);
    support::HiddenCounts counts;
    {
        engine::EngineOptions options;
        options.gpus = support::hiddenAccess(2, kFamilyCapacity, counts);
        engine::Engine engine(options);
        engine::LoadRequest wanted = request();
        wanted.device_map = map.toStdString();
        wanted.quant = quant.isEmpty() ? wanted.quant : quant.toStdString();
        const auto loaded = engine.load(wanted, {}, {});
        VERIFY_VALUE(loaded);
        QCOMPARE(support::memoryDifference(engine), std::string());
        engine::Engine plain(options);
        wanted.device_map = "cpu";
        QVERIFY(plain.load(wanted, {}, {}).has_value());
        for (const support::GoldenCase& c : cases_) {
            const auto rows = static_cast<int64_t>(c.input_ids.size());
            const auto logits = support::engineLogits(engine, c, rows);
            const auto golden = quant.isEmpty() ? expected_.at(c.id + ".logits").floats()
                                                : support::engineLogits(plain, c, rows);
            QCOMPARE(logits.size(), golden.size());
            QCOMPARE_LE(support::maxRelativeToLargest(logits, golden), kSecondFamilyBound);
            const auto count = static_cast<int>(c.greedy.size());
            QCOMPARE(support::engineGreedy(engine, c, count),
                     quant.isEmpty() ? c.greedy : support::engineGreedy(plain, c, count));
        }
    }
    QCOMPARE(counts.host_pointers, 0);
    QCOMPARE(counts.leaked, size_t{0});
}

/// By the folder's own template and a byte-level tokenizer: what is typed stays text, and the token
/// that the template puts behind a reply ends one.
void TestSecondFamily::conversation() {
    constexpr int kBegin = 256;
    constexpr int kTokensOfModel = 1024;
    nlohmann::json tokenizer = {
        {"version", "1.0"},
        {"added_tokens", nlohmann::json::array()},
        {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
        {"decoder", {{"type", "ByteLevel"}}},
        {"model",
         {{"type", "BPE"},
          {"vocab", nlohmann::json::object()},
          {"merges", nlohmann::json::array()}}}};
    const auto add = [&tokenizer](const std::string& text, int id) {
        tokenizer["added_tokens"].push_back({{"id", id}, {"content", text}, {"special", true}});
    };
    for (int byte = 0; byte < kBegin; ++byte) {
        tokenizer["model"]["vocab"]
                 [std::string(engine::text::byteCharacter(static_cast<uint8_t>(byte)))] = byte;
    }
    const nlohmann::json bytes_alone = tokenizer;
    const auto answer = [&](int end) {
        tokenizer = bytes_alone;
        add("<turn>", kBegin);
        for (int id = kBegin + 1; id < kTokensOfModel; ++id) {
            add(id == end ? "<end>" : "<" + std::to_string(id) + ">", id);
        }
        const std::filesystem::path folder = folder_.path().toStdString();
        std::ofstream(folder / "tokenizer.json") << tokenizer.dump();
        std::ofstream(folder / "chat_template.jinja")
            << "{% for m in messages %}<turn>{{ m.role }}\n{{ m.content }}"
               "{% if m.role == 'assistant' %}<end>{% endif %}{% endfor %}"
               "{% if add_generation_prompt %}<turn>assistant\n{% endif %}";
        engine::EngineOptions options;
        engine::Engine engine(options);
        const auto loaded = engine.load(request(), {}, {});
        if (!loaded.has_value()) {
            qFatal("%s", loaded.error().message.c_str());
        }
        engine::GenerateRequest asked;
        engine::Message message;
        message.role = engine::Message::Role::User;
        message.parts = {{engine::MessagePart::Kind::Text, "a<turn><end>"}};
        asked.messages = {message};
        asked.sampling.temperature = 0;
        asked.sampling.max_tokens = 12;
        const auto reply = engine.generate(asked, {}, {});
        if (!reply.has_value()) {
            qFatal("%s", reply.error().message.c_str());
        }
        return *reply;
    };
    const engine::Reply first = answer(kTokensOfModel - 1);
    QByteArray typed = "user\na<turn><end>";
    std::vector<int32_t> prompt = {kBegin};
    prompt.insert(prompt.end(), typed.begin(), typed.end());
    prompt.push_back(kBegin);
    typed = "assistant\n";
    prompt.insert(prompt.end(), typed.begin(), typed.end());
    QCOMPARE(first.input_ids, prompt);
    const auto end = std::find_if(first.token_ids.begin() + 1, first.token_ids.end(),
                                  [](int32_t id) { return id > kBegin; });
    QVERIFY(end != first.token_ids.end());
    QCOMPARE(first.finish_reason, std::string("length"));
    const engine::Reply second = answer(*end);
    QCOMPARE(second.input_ids, prompt);
    QCOMPARE(second.finish_reason, std::string("stop"));
    QCOMPARE(second.token_ids, std::vector<int32_t>(first.token_ids.begin(), end + 1));
}

void TestSecondFamily::fusedStepsOnCards_data() {
    QTest::addColumn<QString>("map");
    QTest::newRow("one") << "gpu";
    QTest::newRow("two")
        << R"({"version": 1, "default": "cuda:0", "map": {"model.language_model.layers.[2-3]":
               "cuda:1"}})";
}

/// Rows of a prompt and tokens go through the fused steps, as those of the first family: a layer of
/// a token is five launches, and nothing runs norms, RoPE or activations by themselves.
void TestSecondFamily::fusedStepsOnCards() {
    QFETCH(QString, map);
    constexpr int kLayers = 4;
    constexpr int kTokens = 5;
    support::EmulatedCard card(support::smallCard(2));
    engine::EngineOptions options = support::optionsOn(card);
    engine::Engine engine(options);
    engine::LoadRequest wanted = request();
    wanted.is_reference_precision = false;
    wanted.device_map = map.toStdString();
    const auto loaded = engine.load(wanted, {}, {});
    VERIFY_VALUE(loaded);

    const support::GoldenCase& c = cases_.back();
    size_t from = card.ran().size();
    const auto launches = [&card, &from] {
        std::map<std::string, int> counts;
        for (; from < card.ran().size(); ++from) {
            ++counts[card.ran()[from]];
        }
        return counts;
    };
    const auto rows = static_cast<int64_t>(c.input_ids.size());
    const auto logits = support::engineLogits(engine, c, rows);
    QCOMPARE(card.finish(), std::string());
    // Both round rows to bf16; random weights make much of it.
    const auto golden = expected_.at(c.id + ".logits").floats();
    engine::Engine host(options);
    wanted.device_map = "cpu";
    QVERIFY(host.load(wanted, {}, {}).has_value());
    const double of_host =
        support::maxRelativeToLargest(support::engineLogits(host, c, rows), golden);
    const double error = support::maxRelativeToLargest(logits, golden);
    QVERIFY2(error < 2 * of_host, qPrintable(QString("%1, on the CPU %2").arg(error).arg(of_host)));
    std::map<std::string, int> prompt = launches();
    QCOMPARE(prompt["belfry_head_rows"], kLayers);
    for (const char* single :
         {"belfry_rms_norm", "belfry_rope", "belfry_gated_mul", "belfry_axpby"}) {
        QVERIFY2(prompt[single] <= 1, single); // the final norm
    }
    support::GoldenCase with_reply = c;
    const auto reply = support::engineGreedy(engine, c, kTokens);
    QCOMPARE(card.finish(), std::string());
    QCOMPARE(reply.size(), size_t{kTokens});
    std::map<std::string, int> tokens = launches();
    // q with k and v, o, gate with up, and down of each layer, then the head.
    QCOMPARE(tokens["belfry_project_bf16"], (4 * kLayers + 1) * kTokens);
    QCOMPARE(tokens["belfry_attend_step_256"], kLayers * kTokens);
    QVERIFY(tokens["belfry_rope"] == 0 && tokens["belfry_gated_mul"] == 0);
    QVERIFY(card.fake().violations().empty());
    // Each token is one of the CPU's best, as far as rounding lets it.
    with_reply.input_ids.insert(with_reply.input_ids.end(), reply.begin(), reply.end());
    const auto rows_of_reply = support::engineLogits(host, with_reply, kTokens + 1);
    const size_t vocabulary = rows_of_reply.size() / (kTokens + 1);
    for (size_t i = 0; i < reply.size(); ++i) {
        const auto row = std::span(rows_of_reply).subspan(i * vocabulary, vocabulary);
        const auto [least, most] = std::minmax_element(row.begin(), row.end());
        const double below = *most - row[static_cast<size_t>(reply[i])];
        const double largest = std::max(std::abs(*least), std::abs(*most));
        QVERIFY2(below <= 2 * of_host * largest,
                 qPrintable(
                     QString("token %1: %2 of %3 below the best").arg(i).arg(below).arg(largest)));
    }
}

void TestSecondFamily::refusesWhatItDoesNotCompute_data() {
    support::addColumns<QString, QString>("key", "value");
    QTest::newRow("bias of attention") << "attention_bias"
                                       << "true";
    QTest::newRow("bias of the MLP") << "mlp_bias"
                                     << "true";
    QTest::newRow("another activation") << "hidden_act"
                                        << "\"gelu\"";
    QTest::newRow("scaled RoPE") << "rope_scaling"
                                 << R"({"rope_type": "llama3", "factor": 8})";
    QTest::newRow("heads that do not divide") << "num_key_value_heads"
                                              << "3";
    QTest::newRow("no layers") << "num_hidden_layers"
                               << "0";
    QTest::newRow("more than fits") << "vocab_size"
                                    << "99999999999";
}

void TestSecondFamily::refusesWhatItDoesNotCompute() {
    QFETCH(QString, key);
    QFETCH(QString, value);
    auto config = support::readJson(sourceFolder() / "config.json");
    if (key == QLatin1String("rope_scaling")) {
        config.erase("rope_parameters");
    }
    config[key.toStdString()] = nlohmann::json::parse(value.toStdString());
    const auto read = engine::parseModelConfig(config.dump(), "", "");
    QVERIFY(!read.has_value());
    QVERIFY2(read.error().message.find(key == QLatin1String("rope_scaling")
                                           ? "rope_type"
                                           : key.toStdString()) != std::string::npos,
             read.error().message.c_str());
}

TEST_CLASS_WITH(QCoreApplication, TestSecondFamily)
#include "tst_second_family.moc"
