// SPDX-License-Identifier: Apache-2.0
// A second family through the whole engine: a tiny random model of Llama's form (RMS norms in
// front, SwiGLU, RoPE, a head of its own) against what transformers computes for it in float64
// (tests/data/llama, make_golden.py), on one device and split over three; with Llama 3.1's scaled
// positions, as a folder and as a GGUF file (make_scaled.py). The family is a folder and a line in
// engine/families: nothing else of the engine knows of it.
#include "engine/devices/gpu_access.h"
#include "engine/families/config.h"
#include "engine/text/tokenizer_bytes.h"
#include "tests/engine/session/small_card.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/hidden_device.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QFile>
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

/// Values of GGUF: a text behind its length, and values behind their type.
QByteArray lengthAnd(const QByteArray& text) {
    const auto length = static_cast<uint64_t>(text.size());
    return QByteArray(reinterpret_cast<const char*>(&length), sizeof length) + text;
}
QByteArray textValue(const QByteArray& text) {
    return QByteArray("\x08\0\0\0", 4) + lengthAnd(text);
}
QByteArray numberValue(char number) {
    return QByteArray("\x04\0\0\0", 4) + number + QByteArray(3, '\0');
}

/// Another config.json in a folder, as long as this lives.
class ChangedConfig {
public:
    ChangedConfig(const QTemporaryDir& folder, const nlohmann::json& config)
        : file_(std::filesystem::path(folder.path().toStdString()) / "config.json") {
        std::ofstream(file_, std::ios::trunc) << config.dump();
    }
    ChangedConfig(const ChangedConfig&) = delete;
    ChangedConfig& operator=(const ChangedConfig&) = delete;
    ~ChangedConfig() {
        std::filesystem::copy_file(sourceFolder() / "config.json", file_,
                                   std::filesystem::copy_options::overwrite_existing);
    }

private:
    std::filesystem::path file_;
};

} // namespace

class TestSecondFamily : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void everyHiddenState();
    void logitsAndTokens_data();
    void logitsAndTokens();
    void scaledPositions_data();
    void scaledPositions();
    void fileWithScaledPositions_data();
    void fileWithScaledPositions();
    void fileRefused_data();
    void fileRefused();
    void asMistral();
    void conversation();
    void fusedStepsOnCards_data();
    void fusedStepsOnCards();
    void refusesWhatItDoesNotCompute_data();
    void refusesWhatItDoesNotCompute();

private:
    static void addPlaces() {
        QTest::addColumn<QString>("map");
        QTest::newRow("CPU") << "cpu";
        QTest::newRow("two cards") << R"({"version": 1, "default": "cuda:0", "map": {
            "model.language_model.layers.1": "cuda:1"}})";
    }
    void compareScaled(const std::string& name,
                       const nlohmann::json& cases,
                       engine::LoadRequest wanted,
                       const QString& map);
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

void TestSecondFamily::compareScaled(const std::string& name,
                                     const nlohmann::json& cases,
                                     engine::LoadRequest wanted,
                                     const QString& map) {
    const auto expected = support::readSafetensors(sourceFolder() / "scaled.safetensors");
    support::HiddenCounts counts;
    engine::EngineOptions options;
    options.gpus = support::hiddenAccess(2, kFamilyCapacity, counts);
    engine::Engine engine(options);
    wanted.context = 256;
    wanted.device_map = map.toStdString();
    VERIFY_VALUE(engine.load(wanted, {}, {}));
    QCOMPARE(support::memoryDifference(engine), std::string());
    QCOMPARE(cases.size(), size_t{3});
    for (size_t i = 0; i < cases.size(); ++i) {
        support::GoldenCase c;
        c.input_ids = cases[i]["input_ids"].get<std::vector<int32_t>>();
        c.greedy = cases[i]["greedy"].get<std::vector<int32_t>>();
        const auto golden = expected.at(name + "." + std::to_string(i));
        const auto logits = support::engineLogits(engine, c, golden.shape.front());
        QCOMPARE_LE(support::maxRelativeToLargest(logits, golden.floats()), kSecondFamilyBound);
        QCOMPARE(support::engineGreedy(engine, c, static_cast<int>(c.greedy.size())), c.greedy);
    }
}

void TestSecondFamily::scaledPositions_data() {
    addPlaces();
}

/// Llama 3.1's rope_scaling, in both spellings.
void TestSecondFamily::scaledPositions() {
    QFETCH(QString, map);
    const auto told = support::readJson(sourceFolder() / "scaled.json");
    auto config = support::readJson(sourceFolder() / "config.json");
    config["rope_parameters"] = told["rope_parameters"];
    if (map == QLatin1String("cpu")) {
        config["rope_theta"] = told["rope_parameters"]["rope_theta"];
        config["rope_scaling"] = told["rope_parameters"];
        config.erase("rope_parameters");
        config["rope_scaling"].erase("rope_theta");
    }
    const ChangedConfig changed(folder_, config);
    compareScaled("folder", told["folder"], request(), map);
}

void TestSecondFamily::fileWithScaledPositions_data() {
    addPlaces();
}

/// The same positions as divisors of a GGUF file, with its own tokenizer and template.
void TestSecondFamily::fileWithScaledPositions() {
    QFETCH(QString, map);
    const auto told = support::readJson(sourceFolder() / "scaled.json");
    engine::LoadRequest wanted = request();
    wanted.model = (sourceFolder() / "tiny.gguf").string();
    compareScaled("gguf", told["gguf"], wanted, map);

    engine::Engine engine;
    VERIFY_VALUE(engine.load(wanted, {}, {}));
    engine::GenerateRequest asked;
    engine::Message message;
    message.parts = {{engine::MessagePart::Kind::Text, told["chat"]["user"]}};
    asked.messages = {message};
    asked.sampling.max_tokens = 1;
    const auto reply = engine.generate(asked, {}, {});
    VERIFY_VALUE(reply);
    const auto prompt = engine.tokenize(wanted.model, told["chat"]["prompt"].get<std::string>());
    VERIFY_VALUE(prompt);
    QCOMPARE(prompt->ids.front(), 257); // <|begin_of_text|>, once
    QCOMPARE(reply->input_ids, prompt->ids);
}

void TestSecondFamily::fileRefused_data() {
    support::addColumns<QByteArray, QByteArray>("key",
                                                "value"); // as the file has it, behind its type
    QTest::newRow("scaled in another way")
        << QByteArray("llama.rope.scaling.type") << textValue("yarn");
    QTest::newRow("a window") << QByteArray("llama.attention.sliding_window") << numberValue(64);
    QTest::newRow("experts") << QByteArray("llama.expert_count") << numberValue(8);
}

/// A key that the model's arithmetic would have to follow is named.
void TestSecondFamily::fileRefused() {
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, value);
    constexpr qsizetype kBehindCounts = 24;
    constexpr qsizetype kAlignment = 32;
    QFile file(QString::fromStdString((sourceFolder() / "tiny.gguf").string()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QByteArray bytes = file.readAll();
    QByteArray added = lengthAnd(key) + value;
    // A second one keeps the tensors aligned.
    const QByteArray padding = lengthAnd("x") + textValue("");
    const qsizetype rest = (added.size() + padding.size()) % kAlignment;
    added += lengthAnd("x") + textValue(QByteArray((kAlignment - rest) % kAlignment, ' '));
    bytes[16] = static_cast<char>(bytes[16] + 2); // pairs
    bytes.insert(kBehindCounts, added);
    const std::filesystem::path changed =
        std::filesystem::path(folder_.path().toStdString()) / "changed.gguf";
    std::ofstream(changed, std::ios::binary)
        .write(bytes.constData(), static_cast<std::streamsize>(bytes.size()));
    engine::LoadRequest wanted = request();
    wanted.model = changed.string();
    engine::Engine engine;
    const auto loaded = engine.load(wanted, {}, {});
    QVERIFY(!loaded.has_value());
    QCOMPARE(loaded.error().code, engine::ErrorCode::Unsupported);
    QVERIFY2(loaded.error().message.find(key.toStdString()) != std::string::npos,
             loaded.error().message.c_str());
}

/// The same weights as Mistral's without a window: transformers' two classes compute the same
/// (asserted by make_scaled.py).
void TestSecondFamily::asMistral() {
    auto config = support::readJson(sourceFolder() / "config.json");
    config["model_type"] = "mistral";
    config["architectures"] = {"MistralForCausalLM"};
    config["sliding_window"] = nullptr;
    const ChangedConfig changed(folder_, config);
    engine::Engine engine;
    VERIFY_VALUE(engine.load(request(), {}, {}));
    for (const support::GoldenCase& c : cases_) {
        const auto logits =
            support::engineLogits(engine, c, static_cast<int64_t>(c.input_ids.size()));
        QCOMPARE_LE(support::maxRelativeToLargest(logits, expected_.at(c.id + ".logits").floats()),
                    kSecondFamilyBound);
    }
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
    QTest::newRow("RoPE scaled in another way") << "rope_type"
                                                << R"({"rope_type": "yarn", "factor": 8})";
    QTest::newRow("scaled RoPE without its bounds")
        << "low_freq_factor"
        << R"({"rope_type": "llama3", "factor": 8, "high_freq_factor": 4,
               "original_max_position_embeddings": 64})";
    QTest::newRow("scaled RoPE with crossed bounds")
        << "high_freq_factor"
        << R"({"rope_type": "llama3", "factor": 8, "high_freq_factor": 1, "low_freq_factor": 1,
               "original_max_position_embeddings": 64})";
    QTest::newRow("Mistral's window, which is there unless it is said not to be")
        << "sliding_window"
        << "4096";
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
    const bool is_rope = value.startsWith('{');
    if (key == QLatin1String("sliding_window")) {
        config["model_type"] = "mistral";
        config["max_position_embeddings"] = 32768;
    } else {
        config[is_rope ? "rope_parameters" : key.toStdString()] =
            nlohmann::json::parse(value.toStdString());
    }
    const auto read = engine::parseModelConfig(config.dump(), "", "");
    QVERIFY(!read.has_value());
    QVERIFY2(read.error().message.find(key.toStdString()) != std::string::npos,
             read.error().message.c_str());
}

TEST_CLASS_WITH(QCoreApplication, TestSecondFamily)
#include "tst_second_family.moc"
