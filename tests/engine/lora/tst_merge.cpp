// SPDX-License-Identifier: Apache-2.0
// Merging on the golden models: every changed weight against the formula in float64 rounded once,
// everything else byte for byte; what must be refused, and what a failed merge leaves (nothing).
#include "engine/base/digest.h"
#include "engine/families/config.h"
#include "engine/lora/merge.h"
#include "tests/engine/lora/adapter_files.h"
#include "tests/support/files.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace engine;
using namespace lora_test;
namespace fs = std::filesystem;

namespace {

using MergeDoubles = std::vector<double>;

/// Nearest bf16, ties to even, straight from double: the two neighbours are compared exactly.
uint16_t nearestBf16(double value) {
    const auto close = static_cast<float>(value);
    const uint32_t bits = std::bit_cast<uint32_t>(close);
    double best = std::numeric_limits<double>::infinity();
    uint16_t result = 0;
    for (int step = -1; step <= 1; ++step) {
        const auto candidate = static_cast<uint16_t>((bits >> 16) + static_cast<uint32_t>(step));
        const double error = std::abs(static_cast<double>(bf16ToFloat(candidate)) - value);
        if (error < best || (error == best && candidate % 2 == 0)) {
            best = error;
            result = candidate;
        }
    }
    return result;
}

MergeDoubles valuesOfMerge(const Adapter& adapter, const AdapterTensor& tensor) {
    std::vector<float> values(static_cast<size_t>(product(tensor.shape)));
    if (!adapter.readFloats(tensor, values)) {
        qFatal("unreadable tensor");
    }
    return {values.begin(), values.end()};
}

/// W <- W + t * (...) for one update, everything in double.
void mergeDense(const Adapter& adapter,
                const LowRankUpdate& u,
                double t,
                MergeDoubles& w,
                const MergeDoubles& base) {
    const MergeDoubles a = valuesOfMerge(adapter, u.a);
    const MergeDoubles b = valuesOfMerge(adapter, u.b);
    const bool is_embedding = u.kind == TensorKind::Embedding;
    const int64_t copies = std::max<int64_t>(u.experts, 1);
    for (int64_t e = 0; e < copies; ++e) {
        MergeDoubles delta(static_cast<size_t>(u.in * u.out));
        const auto at = [&](int64_t o, int64_t i) {
            const int64_t index = is_embedding ? i * u.out + o : o * u.in + i;
            return static_cast<size_t>(e * u.in * u.out + index);
        };
        MergeDoubles squares(static_cast<size_t>(u.out));
        for (int64_t o = 0; o < u.out; ++o) {
            for (int64_t i = 0; i < u.in; ++i) {
                double& d = delta[static_cast<size_t>(o * u.in + i)];
                for (int64_t r = 0; r < u.rank; ++r) {
                    if (u.is_stored_swapped) {
                        d += b[static_cast<size_t>((e * u.rank + r) * u.out + o)] *
                             a[static_cast<size_t>((i * u.rank + r) * copies + e)];
                        continue;
                    }
                    d += b[static_cast<size_t>((o * u.rank + r) * copies + e)] *
                         a[static_cast<size_t>((e * u.rank + r) * u.in + i)];
                }
                d *= u.scaling;
                squares[static_cast<size_t>(o)] += std::pow(base[at(o, i)] + d, 2);
            }
        }
        MergeDoubles g(static_cast<size_t>(u.out), 1.0);
        if (u.isDora()) {
            g = valuesOfMerge(adapter, u.magnitude);
            for (int64_t o = 0; o < u.out; ++o) {
                g[static_cast<size_t>(o)] /= std::sqrt(squares[static_cast<size_t>(o)]);
            }
        }
        for (int64_t o = 0; o < u.out; ++o) {
            for (int64_t i = 0; i < u.in; ++i) {
                double& v = w[at(o, i)];
                const double factor = g[static_cast<size_t>(o)];
                v += t * ((factor - 1.0) * v + factor * delta[static_cast<size_t>(o * u.in + i)]);
            }
        }
    }
}

struct Input {
    fs::path folder;
    double strength = 1.0;
};

/// Expected values of all changed tensors by the formulas.
std::map<std::string, MergeDoubles>
expectedTensors(const std::vector<MergeInput>& inputs,
                const std::map<std::string, support::GoldenTensor>& base) {
    std::map<std::string, MergeDoubles> out;
    const auto touch = [&](const std::string& name) -> MergeDoubles& {
        const auto values = base.at(name).floats();
        return out.try_emplace(name, values.begin(), values.end()).first->second;
    };
    for (const MergeInput& input : inputs) {
        for (const TensorReplacement& r : input.adapter->replacements()) {
            MergeDoubles& w = touch(r.tensor);
            const MergeDoubles v = valuesOfMerge(*input.adapter, r.value);
            for (size_t i = 0; i < w.size(); ++i) {
                w[i] += input.strength * (v[i] - w[i]);
            }
        }
        for (const RowReplacement& rows : input.adapter->rowReplacements()) {
            MergeDoubles& w = touch(rows.tensor);
            const MergeDoubles v = valuesOfMerge(*input.adapter, rows.rows);
            for (size_t k = 0; k < rows.ids.size(); ++k) {
                for (int64_t c = 0; c < rows.dim; ++c) {
                    double& x = w[static_cast<size_t>(rows.ids[k] * rows.dim + c)];
                    x += input.strength *
                         (v[k * static_cast<size_t>(rows.dim) + static_cast<size_t>(c)] - x);
                }
            }
        }
    }
    for (const MergeInput& input : inputs) {
        for (const LowRankUpdate& u : input.adapter->updates()) {
            if (u.tensor == kHeadTensor) {
                continue;
            }
            MergeDoubles& w = touch(u.tensor);
            const auto values = base.at(u.tensor).floats();
            mergeDense(*input.adapter, u, input.strength, w, {values.begin(), values.end()});
            if (u.b_bias.present) {
                MergeDoubles& bias = touch("model.audio_tower.output_proj.bias");
                const MergeDoubles v = valuesOfMerge(*input.adapter, u.b_bias);
                for (size_t i = 0; i < bias.size(); ++i) {
                    bias[i] += input.strength * u.scaling * v[i];
                }
            }
        }
    }
    return out;
}

std::vector<MergeInput> loadAll(const Model& model, const std::vector<Input>& inputs) {
    std::vector<MergeInput> out;
    for (const Input& input : inputs) {
        out.push_back(
            {support::must(loadAdapter(input.folder, model.config, model.tensors), "adapter"),
             input.strength});
    }
    return out;
}

std::map<std::string, support::GoldenTensor> readFolder(const fs::path& folder) {
    std::map<std::string, support::GoldenTensor> all;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".safetensors") {
            for (auto& [name, tensor] : support::readSafetensors(entry.path())) {
                all[name] = std::move(tensor);
            }
        }
    }
    return all;
}

fs::path golden(const char* model, const char* adapter) {
    return support::goldenDir() / model / "adapters" / adapter;
}

} // namespace

class TestMerge : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void weights_data();
    void weights();
    void shardsAndReport();
    void quantizationLosesTheDirectMerge();
    void refuses_data();
    void refuses();
    void gateRemovesTheOutput();
    void cancelRemovesTheOutput();

private:
    std::vector<std::pair<std::string, std::vector<Input>>> cases_;
};

void TestMerge::initTestCase() {
    const fs::path own = adapterData();
    cases_ = {
        {"e2b multimodal", {{golden("e2b", "multimodal")}}},
        {"e2b multimodal_old_keys", {{golden("e2b", "multimodal_old_keys")}}},
        {"e2b rslora, strength 0.5", {{golden("e2b", "rslora"), 0.5}}},
        {"e2b dora", {{golden("e2b", "dora")}}},
        {"e2b text then dora", {{golden("e2b", "text"), 0.75}, {golden("e2b", "dora"), 1.5}}},
        {"e2b dora then text", {{golden("e2b", "dora"), 1.5}, {golden("e2b", "text"), 0.75}}},
        {"e2b bias_all", {{own / "bias_all"}}},
        {"e2b modules_to_save", {{own / "modules_to_save"}}},
        {"e2b modules_to_save, strength 0.5", {{own / "modules_to_save", 0.5}}},
        {"e2b trainable_tokens", {{own / "trainable_tokens"}}},
        {"e2b tied_embedding", {{own / "tied_embedding"}}},
        {"moe26b experts", {{own / "experts"}}},
        {"moe26b experts of PEFT 0.18", {{own / "experts_peft_0_18"}}},
        {"dense31b multimodal", {{golden("dense31b", "multimodal")}}},
    };
}

void TestMerge::weights_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < cases_.size(); ++i) {
        QTest::newRow(cases_[i].first.c_str()) << static_cast<int>(i);
    }
}

void TestMerge::weights() {
    QFETCH(int, index);
    const auto& [title, inputs] = cases_[static_cast<size_t>(index)];
    const std::string name = title.substr(0, title.find(' '));
    const Model model = goldenModel(name);
    const fs::path model_folder = support::goldenDir() / name / "model";
    QTemporaryDir folder;
    MergeRequest request;
    request.model_folder = model_folder;
    request.adapters = loadAll(model, inputs);
    request.out_folder = fs::path(folder.path().toStdString()) / "merged";
    request.measure_quantized = false;
    const auto report = mergeAdapters(request);
    QVERIFY2(report, report ? "" : report.error().message.c_str());

    const auto base = readFolder(model_folder);
    const auto merged = readFolder(request.out_folder);
    const auto expected = expectedTensors(request.adapters, base);
    QCOMPARE(merged.size(), base.size());
    int64_t changed = 0;
    const double tie = title.find("dora") != std::string::npos ? 1e-6 : 1e-12;
    for (const auto& [tensor, before] : base) {
        const auto& after = merged.at(tensor);
        QCOMPARE(after.shape, before.shape);
        QCOMPARE(after.dtype, std::string("BF16"));
        const auto want = expected.find(tensor);
        if (want == expected.end()) {
            QVERIFY2(after.bytes == before.bytes, tensor.c_str());
            continue;
        }
        ++changed;
        for (size_t i = 0; i < want->second.size(); ++i) {
            uint16_t bits = 0;
            std::memcpy(&bits, after.bytes.data() + 2 * i, 2);
            const uint16_t nearest = nearestBf16(want->second[i]);
            if (bits != nearest) {
                // Only where the two results lie on either side of a tie: within double rounding,
                // or within fp32 rounding of DoRA's factors, which the run time shares.
                const double a = bf16ToFloat(bits);
                const double b = bf16ToFloat(nearest);
                const double distance = std::abs((a + b) / 2 - want->second[i]);
                QVERIFY2(distance < tie * std::max(std::abs(b), 0.1), tensor.c_str());
            }
        }
    }
    QCOMPARE(static_cast<int64_t>(report->tensors.size() + report->replaced.size()), changed);
    QCOMPARE(report->copied_tensors, static_cast<int64_t>(base.size()) - changed);
    for (const MergedTensor& tensor : report->tensors) {
        QVERIFY2(tensor.kept > 0.95 && tensor.kept < 1.05, tensor.tensor.c_str());
        QVERIFY(tensor.error < 0.5 && tensor.delta_norm > 0.0);
    }
    for (const char* file : {"config.json", "tokenizer.json", "generation_config.json",
                             "processor_config.json", "tokenizer_config.json"}) {
        QVERIFY2(support::textOf(request.out_folder / file) == support::textOf(model_folder / file),
                 file);
    }
    const bool has_old_keys = title.find("old_keys") != std::string::npos;
    QCOMPARE(report->notes.size(), has_old_keys                              ? size_t{16}
                                   : title.find("tied") != std::string::npos ? size_t{1}
                                                                             : size_t{0});
}

void TestMerge::shardsAndReport() {
    const Model model = goldenModel("e2b");
    QTemporaryDir folder;
    MergeRequest request;
    request.model_folder = support::goldenDir() / "e2b/model";
    request.adapters = loadAll(model, {{golden("e2b", "multimodal")}});
    request.out_folder = folder.path().toStdString();
    request.shard_bytes = 700'000;
    double last = 0.0;
    request.progress = [&](double done, const std::string&) {
        QVERIFY(done >= last && done <= 1.0);
        last = done;
    };
    const auto report = mergeAdapters(request);
    QVERIFY2(report, report ? "" : report.error().message.c_str());
    QCOMPARE(last, 1.0);
    QVERIFY(fs::exists(request.out_folder / "model.safetensors.index.json"));
    QVERIFY(!fs::exists(request.out_folder / "model.safetensors"));
    QCOMPARE(readFolder(request.out_folder).size(), readFolder(request.model_folder).size());
    // The merged folder opens as a model of the same config.
    QVERIFY(readModelConfig(request.out_folder));
    QCOMPARE(report->tensors.size(), size_t{89});
    QCOMPARE(report->inputs.size(), size_t{1});
    QCOMPARE(report->adapters.size(), size_t{2});
    QVERIFY(report->outputs.size() >= 9); // 4 shards, index, 5 small files
    for (const FileDigest& file : report->outputs) {
        const std::string text = support::textOf(request.out_folder / file.file);
        Digest sha = Digest::sha256();
        sha.add(std::as_bytes(std::span(text)));
        QCOMPARE(sha.finish(), file.sha256);
    }
    const auto json =
        nlohmann::json::parse(support::textOf(request.out_folder / "merge_report.json"));
    QCOMPARE(json["tensors"].size(), size_t{89});
    QCOMPARE(json["inputs"][0]["file"].get<std::string>(), std::string("model.safetensors"));
    for (const auto& row : json["tensors"]) {
        QVERIFY(row["nf4"]["changed_codes"].get<double>() > 0.0);
        QVERIFY(row["kept"].get<double>() > 0.95);
    }
}

/// Spec 6.2: an update of 1 % of the weights survives bf16 and, on average, quantization of the
/// merged weights; added to 4-bit weights it is gone.
void TestMerge::quantizationLosesTheDirectMerge() {
    const Model model = goldenModel("e2b");
    const auto base = readFolder(support::goldenDir() / "e2b/model");
    const std::string name = "model.language_model.embed_tokens_per_layer.weight";
    const std::string layer = "model.language_model.layers.6.mlp.up_proj"; // [256, 64]
    const auto weights = base.at(layer + ".weight").floats();
    double sum = 0.0;
    for (const float w : weights) {
        sum += static_cast<double>(w) * static_cast<double>(w);
    }
    const auto sigma = static_cast<float>(std::sqrt(sum / static_cast<double>(weights.size())));
    Tensors tensors;
    // rank 8, uniform factors: delta rms = sqrt(8) * (1/3) * a * b.
    tensors["base_model.model." + layer + ".lora_A.weight"] = noiseTensor({8, 64}, 1, 1.0F);
    tensors["base_model.model." + layer + ".lora_B.weight"] =
        noiseTensor({256, 8}, 2, 0.01F * sigma * 3.0F / std::sqrt(8.0F));
    Json config = minimalConfig();
    config["r"] = 8;
    config["lora_alpha"] = 8;
    config["target_modules"] = {layer};
    config.erase("exclude_modules");
    QTemporaryDir folder;
    const fs::path root = folder.path().toStdString();
    writeAdapter(root / "small", config, tensors);
    MergeRequest request;
    request.model_folder = support::goldenDir() / "e2b/model";
    request.adapters = loadAll(model, {{root / "small"}});
    request.out_folder = root / "merged";
    const auto report = mergeAdapters(request);
    QVERIFY2(report, report ? "" : report.error().message.c_str());
    const MergedTensor& t = report->tensors.at(0);
    QVERIFY(t.has_quantized);
    QVERIFY2(t.kept > 0.95 && t.kept < 1.05, std::to_string(t.kept).c_str());
    QVERIFY2(t.quantized_direct_kept < 0.2, std::to_string(t.quantized_direct_kept).c_str());
    QVERIFY2(t.quantized_kept > 0.5 && t.quantized_kept < 1.5,
             std::to_string(t.quantized_kept).c_str());
    QVERIFY(t.quantized_error > 2.0);
    QVERIFY(t.quantized_changed_codes > 0.005 && t.quantized_changed_codes < 0.1);
}

void TestMerge::refuses_data() {
    support::addColumns<QByteArray, QByteArray>("what", "fragment");
    for (const auto& [what, fragment] : {
             std::pair{"packed base", "packed weights"},
             {"output is the model", "models are never changed"},
             {"output not empty", "not empty"},
             {"no adapter", "nothing to merge"},
             {"strength", "outside 0 to 2"},
             {"bias without a place", "no bias that could hold"},
             {"replaced twice", "replace"},
             {"no such folder", "there is no such folder"},
         }) {
        QTest::newRow(what) << QByteArray(what) << QByteArray(fragment);
    }
}

void TestMerge::refuses() {
    QFETCH(QByteArray, what);
    QFETCH(QByteArray, fragment);
    const Model model = goldenModel("e2b");
    QTemporaryDir folder;
    const fs::path root = folder.path().toStdString();
    MergeRequest request;
    request.model_folder = support::goldenDir() / "e2b/model";
    request.out_folder = root / "merged";
    std::vector<Input> inputs = {{golden("e2b", "text")}};
    if (what == "bias without a place") {
        inputs = {{adapterData() / "lora_bias"}};
    } else if (what == "replaced twice") {
        inputs = {{adapterData() / "trainable_tokens"}, {adapterData() / "trainable_tokens"}};
    } else if (what == "no adapter") {
        inputs.clear();
    }
    request.adapters = loadAll(model, inputs);
    if (what == "packed base") {
        request.model_folder = support::goldenDir() / "e2b/quantized/nf4-checkpoint";
    } else if (what == "output is the model") {
        request.out_folder = request.model_folder;
    } else if (what == "output not empty") {
        fs::create_directories(request.out_folder);
        writeText(request.out_folder / "mine.txt", "keep me");
    } else if (what == "strength") {
        request.adapters[0].strength = 2.5;
    } else if (what == "no such folder") {
        request.model_folder = root / "absent";
    }
    const auto report = mergeAdapters(request);
    QVERIFY(!report);
    QVERIFY2(report.error().message.find(fragment.toStdString()) != std::string::npos,
             report.error().message.c_str());
    if (what == "output not empty") {
        QCOMPARE(support::textOf(request.out_folder / "mine.txt"), std::string("keep me"));
    } else if (what != "output is the model") {
        QVERIFY(!fs::exists(request.out_folder));
    }
}

void TestMerge::gateRemovesTheOutput() {
    const Model model = goldenModel("e2b");
    const std::string layer = "model.language_model.layers.0.mlp.up_proj";
    Tensors tensors;
    tensors["base_model.model." + layer + ".lora_A.weight"] = noiseTensor({4, 64}, 1, 1.0F);
    tensors["base_model.model." + layer + ".lora_B.weight"] = noiseTensor({128, 4}, 2, 1e-9F);
    QTemporaryDir folder;
    const fs::path root = folder.path().toStdString();
    Json config = minimalConfig();
    writeAdapter(root / "tiny", config, tensors);
    MergeRequest request;
    request.model_folder = support::goldenDir() / "e2b/model";
    request.adapters = loadAll(model, {{root / "tiny"}});
    request.out_folder = root / "merged";
    const auto report = mergeAdapters(request);
    QVERIFY(!report);
    QVERIFY2(report.error().message.find("of the update") != std::string::npos,
             report.error().message.c_str());
    QVERIFY(!fs::exists(request.out_folder));
}

void TestMerge::cancelRemovesTheOutput() {
    const Model model = goldenModel("e2b");
    QTemporaryDir folder;
    MergeRequest request;
    request.model_folder = support::goldenDir() / "e2b/model";
    request.adapters = loadAll(model, {{golden("e2b", "text")}});
    request.out_folder = fs::path(folder.path().toStdString()) / "merged";
    std::stop_source stop;
    request.stop = stop.get_token();
    request.progress = [&](double done, const std::string&) {
        if (done > 0.3) {
            stop.request_stop();
        }
    };
    const auto report = mergeAdapters(request);
    QVERIFY(!report);
    QCOMPARE(report.error().code, ErrorCode::Cancelled);
    QVERIFY(!fs::exists(request.out_folder));
}

TEST_CLASS(TestMerge)
#include "tst_merge.moc"
