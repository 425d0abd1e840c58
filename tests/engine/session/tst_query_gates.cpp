// SPDX-License-Identifier: Apache-2.0
// Gates of a layer's queries (LayerRecipe::has_query_gate): attention's output times the sigmoid of
// what q makes behind each head's query. The tiny model of the second family with gates of its own,
// by every executor, against the whole forward pass in double.
#include "engine/devices/gpu_access.h"
#include "engine/files/safetensors_writer.h"
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
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <span>

namespace {

constexpr int kGatedHidden = 64;
constexpr int kGatedHeads = 4;
constexpr int kGatedKvHeads = 2;
constexpr int kGatedDim = 16;
constexpr int kGatedLayers = 4;
constexpr double kGatedTheta = 500000.0;
constexpr double kGatedEps = 1e-5;
const std::vector<int32_t> kGatedIds = {3, 141, 59, 26, 535, 897, 932, 384, 62};

using GatedRows = std::vector<std::vector<double>>;
using GatedTensors = std::map<std::string, support::GoldenTensor>;

GatedRows multiplied(const GatedRows& x, const support::GoldenTensor& weight) {
    const std::vector<float> w = weight.floats();
    const auto outputs = static_cast<size_t>(weight.shape[0]);
    GatedRows y(x.size(), std::vector<double>(outputs));
    for (size_t t = 0; t < x.size(); ++t) {
        for (size_t i = 0; i < outputs * x[t].size(); ++i) {
            y[t][i / x[t].size()] += static_cast<double>(w[i]) * x[t][i % x[t].size()];
        }
    }
    return y;
}

GatedRows normed(GatedRows rows, const support::GoldenTensor& weight) {
    const std::vector<float> w = weight.floats();
    for (std::vector<double>& row : rows) {
        double squares = 0;
        for (const double value : row) {
            squares += value * value;
        }
        const double scale = 1.0 / std::sqrt(squares / static_cast<double>(row.size()) + kGatedEps);
        for (size_t i = 0; i < row.size(); ++i) {
            row[i] *= scale * static_cast<double>(w[i]);
        }
    }
    return rows;
}

/// The head that begins at `head`, turned by the row's position.
void turn(std::vector<double>& row, size_t head, size_t position) {
    for (size_t j = 0; j < kGatedDim / 2; ++j) {
        const double angle = static_cast<double>(position) *
                             std::pow(kGatedTheta, -2.0 * static_cast<double>(j) / kGatedDim);
        double& first = row[head + j];
        double& second = row[head + j + kGatedDim / 2];
        const double before = first;
        first = before * std::cos(angle) - second * std::sin(angle);
        second = second * std::cos(angle) + before * std::sin(angle);
    }
}

double sigmoid(double x) {
    return 1.0 / (1.0 + std::exp(-x));
}

/// Attention of one head of row t: softmax(q k / sqrt(dim)) v, times its gates' sigmoid.
void attend(const GatedRows& q,
            const GatedRows& k,
            const GatedRows& v,
            size_t t,
            size_t head,
            std::vector<double>& out) {
    const size_t query = head * 2 * kGatedDim;
    const size_t key = head / (kGatedHeads / kGatedKvHeads) * kGatedDim;
    double sum = 0;
    for (size_t s = 0; s <= t; ++s) {
        double score = 0;
        for (size_t j = 0; j < kGatedDim; ++j) {
            score += q[t][query + j] * k[s][key + j];
        }
        const double share = std::exp(score / std::sqrt(static_cast<double>(kGatedDim)));
        sum += share;
        for (size_t j = 0; j < kGatedDim; ++j) {
            out[head * kGatedDim + j] += share * v[s][key + j];
        }
    }
    for (size_t j = 0; j < kGatedDim; ++j) {
        out[head * kGatedDim + j] *= sigmoid(q[t][query + kGatedDim + j]) / sum;
    }
}

void add(GatedRows& x, const GatedRows& t) {
    for (size_t i = 0; i < x.size(); ++i) {
        std::transform(x[i].begin(), x[i].end(), t[i].begin(), x[i].begin(), std::plus<>());
    }
}

/// Logits of all rows.
std::vector<float> expectedLogits(const GatedTensors& tensors, const std::vector<int32_t>& ids) {
    const auto tensor = [&tensors](const std::string& name) {
        return tensors.at(name + ".weight");
    };
    const std::vector<float> embedding = tensor("model.embed_tokens").floats();
    GatedRows x;
    for (const int32_t id : ids) {
        const auto row = embedding.begin() + static_cast<std::ptrdiff_t>(id) * kGatedHidden;
        x.emplace_back(row, row + kGatedHidden);
    }
    for (int layer = 0; layer < kGatedLayers; ++layer) {
        const std::string name = "model.layers." + std::to_string(layer);
        const GatedRows h = normed(x, tensor(name + ".input_layernorm"));
        GatedRows q = multiplied(h, tensor(name + ".self_attn.q_proj"));
        GatedRows k = multiplied(h, tensor(name + ".self_attn.k_proj"));
        const GatedRows v = multiplied(h, tensor(name + ".self_attn.v_proj"));
        GatedRows out(x.size(), std::vector<double>(kGatedHeads * kGatedDim));
        for (size_t t = 0; t < x.size(); ++t) {
            for (size_t head = 0; head < kGatedHeads; ++head) {
                turn(q[t], head * 2 * kGatedDim, t);
            }
            for (size_t head = 0; head < kGatedKvHeads; ++head) {
                turn(k[t], head * kGatedDim, t);
            }
            for (size_t head = 0; head < kGatedHeads; ++head) {
                attend(q, k, v, t, head, out[t]);
            }
        }
        add(x, multiplied(out, tensor(name + ".self_attn.o_proj")));
        const GatedRows in = normed(x, tensor(name + ".post_attention_layernorm"));
        GatedRows gate = multiplied(in, tensor(name + ".mlp.gate_proj"));
        const GatedRows up = multiplied(in, tensor(name + ".mlp.up_proj"));
        for (size_t t = 0; t < gate.size(); ++t) {
            for (size_t i = 0; i < gate[t].size(); ++i) {
                gate[t][i] *= sigmoid(gate[t][i]) * up[t][i];
            }
        }
        add(x, multiplied(gate, tensor(name + ".mlp.down_proj")));
    }
    std::vector<float> logits;
    for (const auto& row : multiplied(normed(x, tensor("model.norm")), tensor("lm_head"))) {
        logits.insert(logits.end(), row.begin(), row.end());
    }
    return logits;
}

/// q with gates behind the queries: other rows of the same tensor, several times as large.
void addGates(support::GoldenTensor& q) {
    constexpr size_t kRowBytes = size_t{kGatedHidden} * 2; // bf16
    constexpr size_t kHeadBytes = kRowBytes * kGatedDim;
    std::vector<uint8_t> bytes;
    for (size_t head = 0; head < kGatedHeads; ++head) {
        const auto own = q.bytes.begin() + static_cast<std::ptrdiff_t>(head * kHeadBytes);
        bytes.insert(bytes.end(), own, own + kHeadBytes);
        const size_t other = (head + 1) % kGatedHeads * kHeadBytes;
        for (size_t at = other; at < other + kHeadBytes; at += 2) {
            uint16_t value = 0;
            std::memcpy(&value, &q.bytes[at], sizeof(value));
            value = static_cast<uint16_t>(value + (4U << 7U)); // times 16
            bytes.push_back(static_cast<uint8_t>(value & 0xffU));
            bytes.push_back(static_cast<uint8_t>(value >> 8U));
        }
    }
    q.bytes = std::move(bytes);
    q.shape[0] *= 2;
}

} // namespace

class TestQueryGates : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void everyExecutor_data();
    void everyExecutor();
    void onCard();

private:
    [[nodiscard]] engine::LoadRequest request(const std::string& map, bool is_reference) const {
        engine::LoadRequest request;
        request.model = folder_.path().toStdString();
        request.device_map = map;
        request.context = 64;
        request.is_reference_precision = is_reference;
        request.threads = 2;
        return request;
    }
    /// The rows of a prompt, and tokens behind it, each one of the best.
    void compare(engine::Engine& engine, double bound) const {
        support::GoldenCase c;
        c.input_ids = kGatedIds;
        const auto rows = static_cast<int64_t>(kGatedIds.size());
        const auto logits = support::engineLogits(engine, c, rows);
        const auto tokens = support::engineGreedy(engine, c, 4);
        c.input_ids.insert(c.input_ids.end(), tokens.begin(), tokens.end());
        const std::vector<float> expected = expectedLogits(tensors_, c.input_ids);
        const std::vector<float> of_prompt(
            expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(logits.size()));
        QCOMPARE_LE(support::maxRelativeToLargest(logits, of_prompt), bound);
        const size_t vocabulary = logits.size() / kGatedIds.size();
        for (size_t i = 0; i < tokens.size(); ++i) {
            const auto row =
                std::span(expected).subspan((kGatedIds.size() - 1 + i) * vocabulary, vocabulary);
            const auto [least, most] = std::minmax_element(row.begin(), row.end());
            const double largest = std::max(std::abs(*least), std::abs(*most));
            QCOMPARE_LE(*most - row[static_cast<size_t>(tokens[i])], 2 * bound * largest);
        }
    }
    QTemporaryDir folder_;
    GatedTensors tensors_; ///< The model's, as Hugging Face names them.
};

void TestQueryGates::initTestCase() {
    const std::filesystem::path source = support::testDataDir() / "llama";
    const std::filesystem::path folder = folder_.path().toStdString();
    for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
        std::filesystem::copy(support::goldenDir() / "e2b/model" / name, folder / name);
    }
    auto config = support::readJson(source / "config.json");
    config["attn_output_gate"] = true;
    std::ofstream(folder / "config.json") << config.dump();
    tensors_ = support::readSafetensors(source / "model.safetensors");
    std::vector<engine::TensorToWrite> written;
    for (auto& [name, tensor] : tensors_) {
        if (name.ends_with("q_proj.weight")) {
            addGates(tensor);
        }
        QCOMPARE(tensor.dtype, std::string("BF16"));
        const auto* const bytes = reinterpret_cast<const std::byte*>(tensor.bytes.data());
        written.push_back(engine::tensorFromBytes(name, engine::TensorType::BF16, tensor.shape,
                                                  {bytes, bytes + tensor.bytes.size()}));
    }
    VERIFY_VALUE(engine::writeSafetensorsFile(folder / "model.safetensors", written));
}

void TestQueryGates::everyExecutor_data() {
    support::addColumns<QString, bool>("map", "is_reference");
    const QString split = R"({"version": 1, "default": "cuda:0", "map": {
        "model.language_model.layers.1": "cuda:1", "model.language_model.layers.3": "cpu"}})";
    const QString keys_elsewhere =
        R"({"version": 1, "default": "cuda:0", "map": {}, "kv": {"place": "cpu"}})";
    QTest::newRow("CPU, single functions") << "cpu" << true;
    QTest::newRow("CPU, fused steps") << "cpu" << false;
    QTest::newRow("a card") << "gpu" << false;
    QTest::newRow("two cards and the CPU") << split << false;
    QTest::newRow("attention elsewhere") << keys_elsewhere << true;
}

void TestQueryGates::everyExecutor() {
    QFETCH(QString, map);
    QFETCH(bool, is_reference);
    support::HiddenCounts counts;
    {
        engine::EngineOptions options;
        options.gpus = support::hiddenAccess(2, uint64_t{256} << 20, counts);
        engine::Engine engine(options);
        VERIFY_VALUE(engine.load(request(map.toStdString(), is_reference), {}, {}));
        QCOMPARE(support::memoryDifference(engine), std::string());
        compare(engine, is_reference ? 1e-4 : 0.05);
    }
    QCOMPARE(counts.host_pointers, 0);
}

void TestQueryGates::onCard() {
    support::EmulatedCard card(support::smallCard());
    engine::Engine engine(support::optionsOn(card));
    VERIFY_VALUE(engine.load(request("gpu", false), {}, {}));
    compare(engine, 0.05);
    QCOMPARE(card.finish(), std::string());
    QVERIFY(card.fake().violations().empty());
}

TEST_CLASS_WITH(QCoreApplication, TestQueryGates)
#include "tst_query_gates.moc"
