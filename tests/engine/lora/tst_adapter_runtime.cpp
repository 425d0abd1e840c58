// SPDX-License-Identifier: Apache-2.0
// Run-time application against float64 formulas written out here: plain, rsLoRA, DoRA, bias of B,
// several adapters, strengths, embeddings, replaced rows and tensors, experts; then memory,
// failure, moves and switching.
#include "engine/api/placement.h"
#include "engine/lora/adapter_runtime.h"
#include "kernels/cpu/host_device.h"
#include "tests/engine/lora/adapter_files.h"
#include "tests/engine/lora/base_rows.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace engine;
using namespace lora_test;
using kernels::MatF32;
using kernels::MutF32;

namespace {

constexpr int kTag = static_cast<int>(MemoryPart::Adapter);
constexpr const char* kQ = "model.language_model.layers.1.self_attn.q_proj.weight";
constexpr const char* kEmbed = "model.language_model.embed_tokens.weight";
using Doubles = std::vector<double>;

/// Base weights of any tensor of the model: noise that depends on the name.
std::vector<float> baseWeight(const std::string& tensor, int64_t count) {
    return noise(count, std::hash<std::string>{}(tensor), 0.3F);
}

struct Fixture {
    explicit Fixture(const std::string& name = "e2b") : model(goldenModel(name)) {
        for (const ExpectedTensor& tensor : model.tensors) {
            shapes[tensor.name] = tensor.shape;
        }
        shapes["lm_head.weight"] = shapes.at(kEmbed);
    }

    ReadBaseRows readBase() {
        return [this](const std::string& tensor, int64_t first, int64_t count,
                      std::span<float> out) -> Result<void> {
            const std::string name = tensor == kHeadTensor ? kEmbed : tensor;
            const auto all = baseWeight(name, product(shapes.at(tensor)));
            const auto row = static_cast<int64_t>(out.size()) / std::max<int64_t>(count, 1);
            std::copy_n(all.begin() + first * row, out.size(), out.begin());
            return {};
        };
    }
    AdapterHomeOf everywhere(kernels::Device& device) {
        return [&device](const std::string&) { return &device; };
    }

    std::shared_ptr<const Adapter> load(const std::filesystem::path& folder) {
        auto loaded = loadAdapter(folder, model.config, model.tensors);
        if (!loaded) {
            qWarning("%s", loaded.error().message.c_str());
            return nullptr;
        }
        return *loaded;
    }

    Model model;
    std::map<std::string, std::vector<int64_t>> shapes;
    kernels::cpu::HostDevice host{0, nullptr, kernels::cpuScalarOps()};
};

Doubles valuesOf(const Adapter& adapter, const AdapterTensor& tensor) {
    std::vector<float> values(static_cast<size_t>(product(tensor.shape)));
    if (!adapter.readFloats(tensor, values)) {
        qFatal("unreadable tensor");
    }
    return {values.begin(), values.end()};
}

/// One low-rank update as a dense matrix in double.
struct Dense {
    int64_t in = 0, out = 0;
    Doubles delta; ///< s B A, [out, in]
    Doubles bias;  ///< s * bias of B
    Doubles g;     ///< DoRA
};

Dense denseOf(const Adapter& adapter, const LowRankUpdate& u, int64_t expert = 0) {
    Dense dense;
    dense.in = u.in;
    dense.out = u.out;
    const Doubles a = valuesOf(adapter, u.a);
    const Doubles b = valuesOf(adapter, u.b);
    const int64_t copies = std::max<int64_t>(u.experts, 1);
    dense.delta.assign(static_cast<size_t>(u.in * u.out), 0.0);
    for (int64_t o = 0; o < u.out; ++o) {
        for (int64_t i = 0; i < u.in; ++i) {
            for (int64_t r = 0; r < u.rank; ++r) {
                dense.delta[static_cast<size_t>(o * u.in + i)] +=
                    u.scaling * b[static_cast<size_t>((o * u.rank + r) * copies + expert)] *
                    a[static_cast<size_t>((expert * u.rank + r) * u.in + i)];
            }
        }
    }
    if (u.b_bias.present) {
        dense.bias = valuesOf(adapter, u.b_bias);
        for (double& value : dense.bias) {
            value *= u.scaling;
        }
    }
    if (u.isDora()) {
        dense.g = valuesOf(adapter, u.magnitude);
        const bool is_embedding = u.kind == TensorKind::Embedding;
        const auto w = baseWeight(u.tensor, u.in * u.out);
        for (int64_t o = 0; o < u.out; ++o) {
            double sum = 0.0;
            for (int64_t i = 0; i < u.in; ++i) {
                const auto at = is_embedding ? i * u.out + o : o * u.in + i;
                const double v = static_cast<double>(w[static_cast<size_t>(at)]) +
                                 dense.delta[static_cast<size_t>(o * u.in + i)];
                sum += v * v;
            }
            dense.g[static_cast<size_t>(o)] /= std::sqrt(sum);
        }
    }
    return dense;
}

/// y <- one adapter's update with strength t, by the formulas of adapter_runtime.h.
void applyDense(const Dense& d, double t, const Doubles& x, Doubles& y) {
    const auto rows = static_cast<int64_t>(x.size()) / d.in;
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t o = 0; o < d.out; ++o) {
            double update = d.bias.empty() ? 0.0 : d.bias[static_cast<size_t>(o)];
            for (int64_t i = 0; i < d.in; ++i) {
                update += d.delta[static_cast<size_t>(o * d.in + i)] *
                          x[static_cast<size_t>(row * d.in + i)];
            }
            double& value = y[static_cast<size_t>(row * d.out + o)];
            const double g = d.g.empty() ? 1.0 : d.g[static_cast<size_t>(o)];
            value += t * ((g - 1.0) * value + g * update);
        }
    }
}

const LowRankUpdate& updateOf(const Adapter& adapter, std::string_view tensor) {
    for (const LowRankUpdate& update : adapter.updates()) {
        if (update.tensor == tensor) {
            return update;
        }
    }
    qFatal("no such update");
}

double distance(const std::vector<float>& got, const Doubles& want) {
    const std::vector<float> rounded(want.begin(), want.end());
    return support::maxRelativeToLargest(got, rounded);
}

MutF32 matrix(std::vector<float>& values, int64_t cols) {
    return {values.data(), static_cast<int64_t>(values.size()) / cols, cols, cols};
}

} // namespace

class TestAdapterRuntime : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void linear_data();
    void linear();
    void severalInOrder();
    void adaptersShareOneCall();
    void strengthZeroIsBase();
    void longInputInBlocks();
    void embedding_data();
    void embedding();
    void replacedRowsAndHead();
    void headUpdate();
    void replacedTensors();
    void experts();
    void footprintIsExact_data();
    void footprintIsExact();
    void failedAddLeavesNothing();
    void followsItsModule();
    void switching();
    void conflictsAreRefused();
    void unloadedTowersAreSkipped();
    void invalidRequests();
};

void TestAdapterRuntime::linear_data() {
    support::addColumns<QString, QString, double>("adapter", "tensor", "strength");
    const QString golden = QString::fromStdString((support::goldenDir() / "e2b/adapters").string());
    const QString own = QString::fromStdString(adapterData().string());
    for (const double t : {1.0, 0.35, 2.0}) {
        const auto row = [&](const char* title, const QString& adapter, const char* tensor) {
            QTest::addRow("%s, strength %g", title, t) << adapter << QString(tensor) << t;
        };
        row("plain", golden + "/text", kQ);
        row("rslora", golden + "/rslora",
            "model.vision_tower.encoder.layers.1.mlp.down_proj.linear.weight");
        row("dora", golden + "/dora", kQ);
        row("pattern", golden + "/pattern",
            "model.language_model.layers.0.self_attn.q_proj.weight");
        row("bias of B", own + "/lora_bias", "model.audio_tower.output_proj.weight");
        row("head", own + "/head", "lm_head.weight");
    }
}

void TestAdapterRuntime::linear() {
    QFETCH(QString, adapter);
    QFETCH(QString, tensor);
    QFETCH(double, strength);
    Fixture f;
    const auto loaded = f.load(adapter.toStdString());
    QVERIFY(loaded != nullptr);
    AdapterSet set(f.host);
    const auto id = set.add(loaded, strength, true, f.everywhere(f.host), f.readBase());
    QVERIFY2(id, id ? "" : id.error().message.c_str());
    const LowRankUpdate& u = updateOf(*loaded, tensor.toStdString());
    std::vector<float> x = noise(5 * u.in, 77);
    std::vector<float> y = noise(5 * u.out, 78);
    Doubles want(y.begin(), y.end());
    applyDense(denseOf(*loaded, u), strength, {x.begin(), x.end()}, want);
    const auto handle = set.find(tensor.toStdString());
    QVERIFY(handle != AdapterHook::kNone);
    const auto done = set.apply(handle, f.host.queue(), matrix(x, u.in), matrix(y, u.out));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    QVERIFY2(distance(y, want) < 1e-6, std::to_string(distance(y, want)).c_str());
}

void TestAdapterRuntime::severalInOrder() {
    Fixture f;
    const auto golden = support::goldenDir() / "e2b/adapters";
    const auto text = f.load(golden / "text");
    const auto dora = f.load(golden / "dora");
    const auto pattern = f.load(golden / "pattern");
    AdapterSet set(f.host);
    const int a = *set.add(text, 1.0, true, f.everywhere(f.host), f.readBase());
    const int b = *set.add(dora, 0.8, true, f.everywhere(f.host), f.readBase());
    const int c = *set.add(pattern, 1.5, true, f.everywhere(f.host), f.readBase());
    const LowRankUpdate& u = updateOf(*text, kQ);
    const auto run = [&](const std::vector<AdapterActivation>& order) {
        if (!set.activate(order)) {
            qFatal("activate failed");
        }
        std::vector<float> x = noise(3 * u.in, 5);
        std::vector<float> y = noise(3 * u.out, 6);
        if (!set.apply(set.find(kQ), f.host.queue(), matrix(x, u.in), matrix(y, u.out))) {
            qFatal("apply failed");
        }
        return y;
    };
    const auto reference = [&](const std::vector<AdapterActivation>& order) {
        const std::vector<float> x = noise(3 * u.in, 5);
        const std::vector<float> y = noise(3 * u.out, 6);
        Doubles want(y.begin(), y.end());
        for (const AdapterActivation& item : order) {
            const Adapter& adapter = item.id == a ? *text : item.id == b ? *dora : *pattern;
            applyDense(denseOf(adapter, updateOf(adapter, kQ)), item.strength, {x.begin(), x.end()},
                       want);
        }
        return want;
    };
    const std::vector<AdapterActivation> first = {{a, 1.0}, {b, 0.8}, {c, 1.5}};
    const std::vector<AdapterActivation> second = {{c, 1.5}, {b, 0.8}, {a, 1.0}};
    const std::vector<AdapterActivation> plain = {{a, 1.0}, {c, 1.5}};
    const std::vector<AdapterActivation> plain_back = {{c, 1.5}, {a, 1.0}};
    for (const auto& order : {first, second, plain, plain_back}) {
        QVERIFY(distance(run(order), reference(order)) < 1e-6);
    }
    // DoRA scales what was added before it, so order shows; plain updates commute.
    QVERIFY(distance(run(first), reference(second)) > 1e-3);
    QVERIFY(distance(run(plain), reference(plain_back)) < 1e-6);
    // A, then others, then A again: the same bits.
    const auto only_a = run({{a, 1.0}});
    run(second);
    QVERIFY(run({{a, 1.0}}) == only_a);
}

/// Calls of kernels that the counted table makes.
struct KernelCalls {
    int all = 0, single = 0;
};
KernelCalls g_calls;

/// The reference table, with the low-rank kernels counted. Without the summing kernel the set must
/// fall back to one call per adapter (tables of other devices may lack it).
const kernels::OpTable& countedOps(bool has_sum) {
    static kernels::OpTable tables[2];
    kernels::OpTable& table = tables[has_sum ? 1 : 0];
    table = kernels::cpuScalarOps();
    table.lora_accumulate_all = nullptr;
    if (has_sum) {
        table.lora_accumulate_all = [](kernels::Queue q, MatF32 x, const kernels::LoraTerm* terms,
                                       int64_t count, MutF32 scratch, MutF32 y) {
            ++g_calls.all;
            return kernels::cpuScalarOps().lora_accumulate_all(q, x, terms, count, scratch, y);
        };
    }
    table.lora_accumulate = [](kernels::Queue q, MatF32 x, kernels::MatView a, kernels::MatView b,
                               kernels::MatView bias, float scaling, MutF32 scratch, MutF32 y) {
        ++g_calls.single;
        return kernels::cpuScalarOps().lora_accumulate(q, x, a, b, bias, scaling, scratch, y);
    };
    return table;
}

/// One kernel call however many plain adapters are active; DoRA needs its place in the order.
void TestAdapterRuntime::adaptersShareOneCall() {
    const auto golden = support::goldenDir() / "e2b/adapters";
    std::vector<float> results[2];
    for (const bool has_sum : {true, false}) {
        Fixture f;
        kernels::cpu::HostDevice host{0, nullptr, countedOps(has_sum)};
        AdapterSet set(host);
        const auto text = f.load(golden / "text");
        const LowRankUpdate& u = updateOf(*text, kQ);
        const auto run = [&] {
            g_calls = {};
            std::vector<float> x = noise(3 * u.in, 5);
            std::vector<float> y = noise(3 * u.out, 6);
            if (!set.apply(set.find(kQ), host.queue(), matrix(x, u.in), matrix(y, u.out))) {
                qFatal("apply failed");
            }
            return y;
        };
        for (const char* name : {"text", "pattern", "multimodal", "rslora"}) {
            QVERIFY(set.add(f.load(golden / name), 0.7, true, f.everywhere(host), f.readBase()));
            const int active = static_cast<int>(set.entries().size());
            run();
            QCOMPARE(g_calls.all, has_sum ? 1 : 0);
            QCOMPARE(g_calls.single, has_sum ? 0 : active);
        }
        QVERIFY(set.add(f.load(golden / "dora"), 0.7, true, f.everywhere(host), f.readBase()));
        QVERIFY(set.add(f.load(golden / "text"), 0.3, true, f.everywhere(host), f.readBase()));
        results[has_sum ? 1 : 0] = run();
        QCOMPARE(g_calls.all, has_sum ? 2 : 0);
        QCOMPARE(g_calls.single, has_sum ? 0 : 6);
        QVERIFY(set.setEnabled(set.entries().front().id, false));
        run();
        QCOMPARE(g_calls.all, has_sum ? 2 : 0);
    }
    QVERIFY(results[0] == results[1]);
}

void TestAdapterRuntime::strengthZeroIsBase() {
    Fixture f;
    AdapterSet set(f.host);
    const int id = *set.add(f.load(support::goldenDir() / "e2b/adapters/dora"), 0.0, true,
                            f.everywhere(f.host), f.readBase());
    QVERIFY(set.isIdle());
    const auto& shape = f.shapes.at(kQ);
    std::vector<float> x = noise(2 * shape[1], 5);
    const std::vector<float> before = noise(2 * shape[0], 6);
    std::vector<float> y = before;
    QVERIFY(set.apply(set.find(kQ), f.host.queue(), matrix(x, shape[1]), matrix(y, shape[0])));
    QVERIFY(y == before);
    QVERIFY(set.setStrength(id, 1.0));
    QVERIFY(!set.isIdle());
    QVERIFY(set.setEnabled(id, false));
    QVERIFY(set.apply(set.find(kQ), f.host.queue(), matrix(x, shape[1]), matrix(y, shape[0])));
    QVERIFY(y == before);
    QVERIFY(set.setEnabled(id, true));
    QVERIFY(set.apply(set.find(kQ), f.host.queue(), matrix(x, shape[1]), matrix(y, shape[0])));
    QVERIFY(y != before);
}

void TestAdapterRuntime::longInputInBlocks() {
    Fixture f;
    const auto text = f.load(support::goldenDir() / "e2b/adapters/text");
    AdapterSet set(f.host);
    QVERIFY(set.add(text, 1.0, true, f.everywhere(f.host), {}));
    const LowRankUpdate& u = updateOf(*text, kQ);
    const int64_t rows = 1000; // the workspace holds 256
    std::vector<float> x = noise(rows * u.in, 5);
    std::vector<float> y(static_cast<size_t>(rows * u.out), 0.0F);
    QVERIFY(set.apply(set.find(kQ), f.host.queue(), matrix(x, u.in), matrix(y, u.out)));
    Doubles want(y.size(), 0.0);
    applyDense(denseOf(*text, u), 1.0, {x.begin(), x.end()}, want);
    QVERIFY(distance(y, want) < 1e-6);
}

void TestAdapterRuntime::embedding_data() {
    support::addColumns<QString, QString, double>("adapter", "tensor", "strength");
    for (const double t : {1.0, 0.5}) {
        for (const auto& [adapter, tensor] : {std::pair{"embedding", "embed_tokens"},
                                              {"embedding", "embed_tokens_per_layer"},
                                              {"embedding_dora", "embed_tokens"}}) {
            QTest::addRow("%s %s, strength %g", adapter, tensor, t)
                << QString(adapter) << QString("model.language_model.%1.weight").arg(tensor) << t;
        }
    }
}

void TestAdapterRuntime::embedding() {
    QFETCH(QString, adapter);
    QFETCH(QString, tensor);
    QFETCH(double, strength);
    Fixture f;
    const auto loaded = f.load(adapterData() / adapter.toStdString());
    QVERIFY(loaded != nullptr);
    AdapterSet set(f.host);
    QVERIFY(set.add(loaded, strength, true, f.everywhere(f.host), f.readBase()));
    const LowRankUpdate& u = updateOf(*loaded, tensor.toStdString());
    const Dense d = denseOf(*loaded, u);
    const bool is_ple = tensor.contains("per_layer");
    const int64_t offset = is_ple ? 16 : 0;
    const int64_t cols = is_ple ? 16 : u.out;
    const float scale = is_ple ? 4.0F : 8.0F;
    const std::vector<int32_t> ids = {7, 1023, 0, 7};
    const auto table = baseWeight(u.tensor, u.in * u.out);
    std::vector<float> rows;
    Doubles want;
    for (const int32_t id : ids) {
        for (int64_t c = 0; c < cols; ++c) {
            const auto at = static_cast<size_t>(id * u.out + offset + c);
            rows.push_back(scale * table[at]);
            const double g = d.g.empty() ? 1.0 : d.g[static_cast<size_t>(offset + c)];
            const double base = static_cast<double>(scale) * static_cast<double>(table[at]);
            const double delta =
                static_cast<double>(scale) * d.delta[static_cast<size_t>((offset + c) * u.in + id)];
            want.push_back(base + strength * ((g - 1.0) * base + g * delta));
        }
    }
    QVERIFY(set.applyRows(set.find(tensor.toStdString()), ids, offset, scale, matrix(rows, cols)));
    QVERIFY2(distance(rows, want) < 1e-6, std::to_string(distance(rows, want)).c_str());
    // The gather's own tensor has no update at the head.
    QCOMPARE(set.find(kHeadTensor), AdapterHook::kNone);
}

void TestAdapterRuntime::replacedRowsAndHead() {
    for (const double t : {1.0, 0.25}) {
        Fixture f;
        const auto loaded = f.load(adapterData() / "trainable_tokens");
        QVERIFY(loaded != nullptr);
        AdapterSet set(f.host);
        QVERIFY(set.add(loaded, t, true, f.everywhere(f.host), f.readBase()));
        for (const RowReplacement& replaced : loaded->rowReplacements()) {
            const Doubles values = valuesOf(*loaded, replaced.rows);
            const int32_t known = static_cast<int32_t>(replaced.ids[1]);
            const std::vector<int32_t> ids = {3, known};
            std::vector<float> rows = noise(2 * replaced.dim, 9);
            Doubles want(rows.begin(), rows.end());
            for (int64_t c = 0; c < replaced.dim; ++c) {
                double& w = want[static_cast<size_t>(replaced.dim + c)];
                w = (1.0 - t) * w + t * 8.0 * values[static_cast<size_t>(replaced.dim + c)];
            }
            QVERIFY(
                set.applyRows(set.find(replaced.tensor), ids, 0, 8.0F, matrix(rows, replaced.dim)));
            QVERIFY(distance(rows, want) < 1e-6);
            QCOMPARE(replaced.replaces_head, replaced.tensor == kEmbed);
            if (!replaced.replaces_head) {
                continue;
            }
            std::vector<float> x = noise(3 * replaced.dim, 10);
            std::vector<float> logits = noise(3 * 1024, 11);
            Doubles head(logits.begin(), logits.end());
            for (int64_t row = 0; row < 3; ++row) {
                for (size_t k = 0; k < replaced.ids.size(); ++k) {
                    double sum = 0.0;
                    for (int64_t c = 0; c < replaced.dim; ++c) {
                        sum +=
                            static_cast<double>(x[static_cast<size_t>(row * replaced.dim + c)]) *
                            values[k * static_cast<size_t>(replaced.dim) + static_cast<size_t>(c)];
                    }
                    double& logit = head[static_cast<size_t>(row * 1024 + replaced.ids[k])];
                    logit = (1.0 - t) * logit + t * sum;
                }
            }
            QVERIFY(set.apply(set.find(kHeadTensor), f.host.queue(), matrix(x, replaced.dim),
                              matrix(logits, 1024)));
            QVERIFY(distance(logits, head) < 1e-6);
        }
    }
}

void TestAdapterRuntime::headUpdate() {
    Fixture f;
    // A tied embedding: peft writes the transposed factors for the head.
    const auto tied = f.load(adapterData() / "tied_embedding");
    QVERIFY(tied != nullptr);
    const Dense at_embedding = denseOf(*tied, updateOf(*tied, kEmbed));
    const Dense at_head = denseOf(*tied, updateOf(*tied, kHeadTensor));
    for (int64_t v = 0; v < 1024; v += 37) {
        for (int64_t d = 0; d < 64; ++d) {
            const double e = at_embedding.delta[static_cast<size_t>(d * 1024 + v)];
            const double h = at_head.delta[static_cast<size_t>(v * 64 + d)];
            QVERIFY(std::abs(e - h) < 1e-12);
        }
    }
}

void TestAdapterRuntime::replacedTensors() {
    for (const double t : {1.0, 0.4}) {
        Fixture f;
        const auto loaded = f.load(adapterData() / "modules_to_save");
        QVERIFY(loaded != nullptr);
        AdapterSet set(f.host);
        QVERIFY(set.add(loaded, t, true, f.everywhere(f.host), f.readBase()));
        int vectors = 0;
        for (const TensorReplacement& r : loaded->replacements()) {
            const Doubles value = valuesOf(*loaded, r.value);
            if (r.kind == TensorKind::Vector) {
                const auto base = baseWeight(r.tensor, product(r.shape));
                const auto got = set.replacement(r.tensor);
                QCOMPARE(got.size(), value.size());
                for (size_t i = 0; i < got.size(); ++i) {
                    const double want = static_cast<double>(base[i]) +
                                        t * (value[i] - static_cast<double>(base[i]));
                    QVERIFY(std::abs(static_cast<double>(got[i]) - want) < 1e-6);
                }
                ++vectors;
                continue;
            }
            const int64_t out = r.shape[0];
            const int64_t in = r.shape[1];
            std::vector<float> x = noise(3 * in, 12);
            std::vector<float> y = noise(3 * out, 13);
            Doubles want(y.begin(), y.end());
            for (int64_t row = 0; row < 3; ++row) {
                for (int64_t o = 0; o < out; ++o) {
                    double sum = 0.0;
                    for (int64_t i = 0; i < in; ++i) {
                        sum += static_cast<double>(x[static_cast<size_t>(row * in + i)]) *
                               value[static_cast<size_t>(o * in + i)];
                    }
                    double& w = want[static_cast<size_t>(row * out + o)];
                    w += t * (sum - w);
                }
            }
            QVERIFY(set.apply(set.find(r.tensor), f.host.queue(), matrix(x, in), matrix(y, out)));
            QVERIFY2(distance(y, want) < 1e-6, r.tensor.c_str());
        }
        QCOMPARE(vectors, 13);
        QVERIFY(set.replacement("model.language_model.norm.weight").empty());
    }
}

void TestAdapterRuntime::experts() {
    Fixture f("moe26b");
    const auto loaded = f.load(adapterData() / "experts");
    QVERIFY(loaded != nullptr);
    AdapterSet set(f.host);
    QVERIFY(set.add(loaded, 1.25, true, f.everywhere(f.host), f.readBase()));
    int checked = 0;
    for (const LowRankUpdate& u : loaded->updates()) {
        if (u.experts == 0 || u.layer > 1) {
            continue;
        }
        for (const int64_t expert : {0, 3, 7}) {
            std::vector<float> x = noise(4 * u.in, 21);
            std::vector<float> y = noise(4 * u.out, 22);
            Doubles want(y.begin(), y.end());
            applyDense(denseOf(*loaded, u, expert), 1.25, {x.begin(), x.end()}, want);
            QVERIFY(set.applyExpert(set.find(u.tensor), expert, f.host.queue(), matrix(x, u.in),
                                    matrix(y, u.out)));
            QVERIFY(distance(y, want) < 1e-6);
            ++checked;
        }
    }
    QCOMPARE(checked, 12);
}

void TestAdapterRuntime::footprintIsExact_data() {
    support::addColumns<QString, QString>("model", "folder");
    const auto golden = [](const char* model, const char* name) {
        QTest::addRow("%s/%s", model, name)
            << QString(model)
            << QString::fromStdString((support::goldenDir() / model / "adapters" / name).string());
    };
    golden("e2b", "multimodal_old_keys");
    golden("e2b", "dora");
    golden("moe26b", "multimodal");
    for (const char* name : {"lora_bias", "bias_all", "modules_to_save", "trainable_tokens",
                             "embedding", "embedding_dora", "head", "tied_embedding"}) {
        QTest::newRow(name) << QString("e2b")
                            << QString::fromStdString((adapterData() / name).string());
    }
    QTest::newRow("experts") << QString("moe26b")
                             << QString::fromStdString((adapterData() / "experts").string());
}

void TestAdapterRuntime::footprintIsExact() {
    QFETCH(QString, model);
    QFETCH(QString, folder);
    Fixture f(model.toStdString());
    const auto probe = probeAdapter(folder.toStdString(), f.model.config, f.model.tensors);
    QVERIFY(probe);
    kernels::cpu::HostDevice gpu(0, nullptr, kernels::cpuScalarOps());
    AdapterSet set(f.host);
    const auto id =
        set.add(f.load(folder.toStdString()), 1.0, true, f.everywhere(gpu), f.readBase());
    QVERIFY2(id, id ? "" : id.error().message.c_str());
    uint64_t on_host = 0;
    uint64_t on_gpu = 0;
    for (const TensorFootprint& row : probe->footprint.tensors) {
        (row.is_on_host ? on_host : on_gpu) += row.bytes;
    }
    QCOMPARE(on_host + on_gpu, probe->footprint.total_bytes);
    on_host += on_host > 0 ? probe->footprint.scratch_bytes : 0;
    on_gpu += on_gpu > 0 ? probe->footprint.scratch_bytes : 0;
    QCOMPARE(f.host.usedBytes(kTag), on_host);
    QCOMPARE(gpu.usedBytes(kTag), on_gpu);
    QCOMPARE(set.bytesOn(&gpu), on_gpu);
    QVERIFY(set.remove(*id));
    QCOMPARE(f.host.liveAllocations() + gpu.liveAllocations(), size_t{0});
}

void TestAdapterRuntime::failedAddLeavesNothing() {
    Fixture f;
    for (const auto& folder :
         {support::goldenDir() / "e2b/adapters/layers", adapterData() / "trainable_tokens"}) {
        const auto loaded = f.load(folder);
        AdapterSet set(f.host);
        const int first = *set.add(f.load(support::goldenDir() / "e2b/adapters/bridges"), 1.0, true,
                                   f.everywhere(f.host), {});
        const auto used = f.host.usedBytes(kTag);
        const auto generation = set.generation();
        uint64_t n = 1;
        for (;; ++n) {
            f.host.failAllocation(n);
            const auto id = set.add(loaded, 1.0, true, f.everywhere(f.host), f.readBase());
            f.host.failAllocation(0);
            if (id) {
                break;
            }
            QCOMPARE(id.error().code, ErrorCode::OutOfMemory);
            QVERIFY(id.error().message.find("bytes of the adapter") != std::string::npos);
            QCOMPARE(f.host.usedBytes(kTag), used);
            QCOMPARE(set.generation(), generation);
            QCOMPARE(set.entries().size(), size_t{1});
        }
        QVERIFY(n > 2);
        QVERIFY(set.remove(first));
    }
}

void TestAdapterRuntime::followsItsModule() {
    Fixture f;
    const auto loaded = f.load(support::goldenDir() / "e2b/adapters/dora");
    kernels::cpu::HostDevice gpu(0, nullptr, kernels::cpuScalarOps());
    AdapterSet set(f.host);
    QVERIFY(set.add(loaded, 0.7, true, f.everywhere(f.host), f.readBase()));
    const LowRankUpdate& u = updateOf(*loaded, kQ);
    const auto run = [&](kernels::Device& device) {
        std::vector<float> x = noise(2 * u.in, 5);
        std::vector<float> y = noise(2 * u.out, 6);
        if (!set.apply(set.find(kQ), device.queue(), matrix(x, u.in), matrix(y, u.out))) {
            qFatal("apply failed");
        }
        return y;
    };
    const auto before = run(f.host);
    const auto all = set.bytesOn(&f.host);
    const AdapterHomeOf layer_one_on_gpu = [&](const std::string& tensor) -> AdapterHome {
        return tensor.find("layers.1.") != std::string::npos ? static_cast<kernels::Device*>(&gpu)
                                                             : &f.host;
    };
    gpu.setCapacity(64);
    const auto failed = set.follow(layer_one_on_gpu);
    QVERIFY(!failed);
    QCOMPARE(failed.error().code, ErrorCode::OutOfMemory);
    QCOMPARE(set.bytesOn(&f.host), all);
    QCOMPARE(gpu.liveAllocations(), size_t{0});
    QVERIFY(run(f.host) == before);
    gpu.setCapacity(0);
    const auto generation = set.generation();
    QVERIFY(set.follow(layer_one_on_gpu));
    QVERIFY(set.generation() > generation);
    QVERIFY(set.bytesOn(&gpu) > 0);
    QCOMPARE(set.bytesOn(&gpu), gpu.usedBytes(kTag));
    QVERIFY(run(gpu) == before);
    QVERIFY(set.follow(f.everywhere(f.host)));
    QCOMPARE(gpu.liveAllocations(), size_t{0});
    QCOMPARE(set.bytesOn(&f.host), all);
    QVERIFY(run(f.host) == before);
    // Base values changed with the format: DoRA's norms follow.
    const ReadBaseRows doubled = lora_test::doubledRows(f.readBase());
    QVERIFY(set.follow(f.everywhere(f.host), doubled));
    QVERIFY(run(f.host) != before);
    QVERIFY(set.follow(f.everywhere(f.host), f.readBase()));
    QVERIFY(run(f.host) == before);
}

void TestAdapterRuntime::switching() {
    Fixture f;
    AdapterSet set(f.host);
    const auto golden = support::goldenDir() / "e2b/adapters";
    const int a = *set.add(f.load(golden / "multimodal"), 1.0, true, f.everywhere(f.host), {});
    const int b = *set.add(f.load(golden / "dora"), 1.0, false, f.everywhere(f.host), f.readBase());
    const std::string with_a = set.fingerprint();
    const auto first = set.generation();
    const auto allocations = f.host.allocationCalls();
    const std::vector<AdapterActivation> only_b = {{b, 0.9}};
    QVERIFY(set.activate(only_b));
    QVERIFY(set.fingerprint() != with_a);
    QVERIFY(set.generation() != first);
    QCOMPARE(f.host.allocationCalls(), allocations);
    const std::vector<AdapterActivation> only_a = {{a, 1.0}};
    QVERIFY(set.activate(only_a));
    QCOMPARE(set.fingerprint(), with_a); // what was computed under A is valid again
    QVERIFY(set.generation() != first);
    QVERIFY(set.activate({}));
    QVERIFY(set.isIdle());
    QCOMPARE(set.entries().size(), size_t{2});
    set.clear();
    QCOMPARE(f.host.usedBytes(kTag), uint64_t{0});
    QCOMPARE(set.find(kQ), AdapterHook::kNone);
}

void TestAdapterRuntime::conflictsAreRefused() {
    Fixture f;
    AdapterSet set(f.host);
    const auto tokens = f.load(adapterData() / "trainable_tokens");
    const auto saved = f.load(adapterData() / "modules_to_save");
    QVERIFY(set.add(tokens, 1.0, true, f.everywhere(f.host), f.readBase()));
    const auto again = set.add(tokens, 1.0, true, f.everywhere(f.host), f.readBase());
    QVERIFY(!again);
    QVERIFY(again.error().message.find("both replace token") != std::string::npos);
    const auto off = set.add(tokens, 1.0, false, f.everywhere(f.host), f.readBase());
    QVERIFY(off);
    QVERIFY(!set.setEnabled(*off, true));
    QVERIFY(set.add(saved, 1.0, true, f.everywhere(f.host), f.readBase()));
    const auto twice = set.add(saved, 1.0, true, f.everywhere(f.host), f.readBase());
    QVERIFY(!twice);
    QVERIFY(twice.error().message.find("both replace model.") != std::string::npos);
}

void TestAdapterRuntime::unloadedTowersAreSkipped() {
    Fixture f;
    AdapterSet set(f.host);
    const auto loaded = f.load(support::goldenDir() / "e2b/adapters/multimodal");
    const AdapterHomeOf no_towers = [&](const std::string& tensor) -> AdapterHome {
        return tensor.find("tower") != std::string::npos ? nullptr : &f.host;
    };
    QVERIFY(set.add(loaded, 1.0, true, no_towers, {}));
    QCOMPARE(set.find("model.vision_tower.encoder.layers.0.mlp.up_proj.linear.weight"),
             AdapterHook::kNone);
    QVERIFY(set.find(kQ) != AdapterHook::kNone);
}

void TestAdapterRuntime::invalidRequests() {
    Fixture f;
    AdapterSet set(f.host);
    const auto loaded = f.load(support::goldenDir() / "e2b/adapters/layers");
    const double nan = std::nan("");
    for (const double strength : {-0.1, 2.1, nan}) {
        const auto id = set.add(loaded, strength, true, f.everywhere(f.host), {});
        QVERIFY(!id);
        QCOMPARE(id.error().code, ErrorCode::InvalidRequest);
    }
    QCOMPARE(f.host.liveAllocations(), size_t{0});
    const int id = *set.add(loaded, 1.0, true, f.everywhere(f.host), {});
    QVERIFY(!set.setStrength(id, 3.0));
    QVERIFY(!set.setStrength(id + 1, 1.0));
    QVERIFY(!set.remove(id + 1));
    const std::vector<AdapterActivation> twice = {{id, 1.0}, {id, 0.5}};
    QVERIFY(!set.activate(twice));
    QVERIFY(!set.apply(999, f.host.queue(), {}, {}));
    std::stop_source stop;
    stop.request_stop();
    const auto cancelled = set.add(loaded, 1.0, true, f.everywhere(f.host), {}, stop.get_token());
    QVERIFY(!cancelled);
    QCOMPARE(cancelled.error().code, ErrorCode::Cancelled);
}

TEST_CLASS(TestAdapterRuntime)
#include "tst_adapter_runtime.moc"
