// SPDX-License-Identifier: Apache-2.0
// What is said when a tensor is not found: by the names that are there instead. The golden e2b
// model's names, changed as other programs leave them.
#include "engine/families/config.h"
#include "engine/families/gemma4/stored_names.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <functional>
#include <memory>

using namespace engine;

namespace {

class Names : public TensorSource {
public:
    void add(std::string name, TensorType type = TensorType::BF16) {
        TensorInfo info;
        info.name = std::move(name);
        info.type = type;
        list_.push_back(std::move(info));
    }
    [[nodiscard]] const std::vector<TensorInfo>& tensors() const override { return list_; }
    [[nodiscard]] const TensorInfo* find(std::string_view name) const override {
        const auto it = std::find_if(list_.begin(), list_.end(),
                                     [&](const TensorInfo& info) { return info.name == name; });
        return it == list_.end() ? nullptr : &*it;
    }
    [[nodiscard]] const std::vector<std::string>& fileNames() const override { return files_; }
    [[nodiscard]] Result<void>
    read(const TensorInfo&, uint64_t, std::span<std::byte>) const override {
        return Error{ErrorCode::Internal, "names only", {}};
    }

private:
    std::vector<TensorInfo> list_;
    std::vector<std::string> files_;
};

using Change = std::function<std::vector<std::string>(const std::string&)>;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const size_t at = text.find(what);
    return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

Change renaming(const std::string& what, const std::string& with) {
    return [=](const std::string& name) {
        return std::vector<std::string>{replaced(name, what, with)};
    };
}

Change without(const std::vector<std::string>& parts) {
    return [=](const std::string& name) {
        const bool is_gone = std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
            return name.find(part) != std::string::npos;
        });
        return is_gone ? std::vector<std::string>{} : std::vector<std::string>{name};
    };
}

} // namespace

class TestStoredNames : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void says_data();
    void says();
    void ofTheAssistant();
    void unclear_data();
    void unclear();

private:
    [[nodiscard]] std::unique_ptr<Names> changed(const Change& change) const;
    ModelConfig config_;
    std::vector<ExpectedTensor> expected_;
    std::vector<std::pair<const char*, Change>> changes_;
};

void TestStoredNames::initTestCase() {
    const auto config = readModelConfig(support::goldenDir() / "e2b/model");
    QVERIFY2(config, config ? "" : config.error().message.c_str());
    config_ = *config;
    expected_ = listTensors(config_);
}

std::unique_ptr<Names> TestStoredNames::changed(const Change& change) const {
    auto names = std::make_unique<Names>();
    for (const ExpectedTensor& tensor : expected_) {
        if (tensor.is_required) {
            for (std::string& name : change(tensor.name)) {
                names->add(std::move(name));
            }
        }
    }
    return names;
}

void TestStoredNames::says_data() {
    support::addColumns<QByteArray, QByteArray>("tensor", "fragments");
    changes_.clear();
    const auto row = [&](const char* title, Change change, const char* tensor,
                         const char* fragments) {
        changes_.emplace_back(title, std::move(change));
        QTest::newRow(title) << QByteArray(tensor) << QByteArray(fragments);
    };
    const char* up = "model.language_model.layers.0.mlp.up_proj.weight";
    const auto instead = [=](std::vector<std::string> others) -> Change {
        return [=](const std::string& name) {
            return name == up ? others : std::vector<std::string>{name};
        };
    };
    const std::string module = "model.language_model.layers.0.mlp.up_proj.";
    row("behind a prefix of a trainer", renaming("model.", "student.model."), up,
        "student.model.language_model.layers.0.mlp.up_proj.weight|rename");
    row("one prefix too many", renaming("model.language_model.", "model.language_model.model.x."),
        up, "\"model.language_model.model.x.\" to \"model.language_model.\"");
    row("qweight", instead({module + "qweight", module + "qzeros", module + "scales"}), up,
        "qweight|GPTQ or AWQ|16-bit model");
    row("MLX, weight elsewhere", instead({module + "scales", module + "biases"}), up, "MLX");
    row("no vision tower", without({"vision_tower", "embed_vision"}),
        "model.vision_tower.patch_embedder.input_proj.weight",
        "nothing of the vision tower|Set vision_config to null");
    row("no audio tower", without({"audio_tower", "embed_audio"}),
        "model.embed_audio.embedding_projection.weight",
        "nothing of the audio tower|Set audio_config to null");
    row("no towers", without({"audio", "vision"}), "model.embed_audio.embedding_projection.weight",
        "vision tower and audio tower|Set vision_config and audio_config to null");
    row("fused by a server", instead({"model.language_model.layers.0.mlp.gate_up_proj.weight"}), up,
        "in its place they have model.language_model.layers.0.mlp.gate_up_proj.weight");
    row(
        "another model",
        [](const std::string& name) {
            return std::vector<std::string>{"blk." + std::to_string(name.size())};
        },
        up, "0 of the|belong to another model");
    row("really missing", instead({}), up, "download the model again");
}

void TestStoredNames::says() {
    QFETCH(QByteArray, tensor);
    QFETCH(QByteArray, fragments);
    const auto it = std::find_if(changes_.begin(), changes_.end(), [](const auto& change) {
        return QByteArray(change.first) == QTest::currentDataTag();
    });
    const auto names = changed(it->second);
    const Error error = missingTensor(tensor.toStdString(), config_, expected_, *names);
    for (const QByteArray& fragment : fragments.split('|')) {
        QVERIFY2(error.message.find(fragment.toStdString()) != std::string::npos,
                 error.message.c_str());
    }
    const bool is_download = fragments.contains("download the model again");
    QCOMPARE(error.message.find("download the model again") != std::string::npos, is_download);
}

// An assistant's tensors come from a download of their own: counted apart, and named so.
void TestStoredNames::ofTheAssistant() {
    const auto names =
        changed([](const std::string& name) { return std::vector<std::string>{name}; });
    std::vector<ExpectedTensor> expected = expected_;
    size_t needed = 0;
    for (const ExpectedTensor& tensor : expected_) {
        needed += tensor.is_required && !tensor.is_unused ? 1U : 0U;
        if (!tensor.is_required && !tensor.is_unused) {
            names->add(tensor.name); // may be missing, and is not
        }
    }
    const std::vector<std::string> parts = {"embed_tokens.weight", "pre_projection.weight",
                                            "norm.weight", "post_projection.weight"};
    for (const std::string& part : parts) {
        ExpectedTensor& tensor = expected.emplace_back(expected_.front());
        tensor.name = "assistant." + part;
        tensor.is_required = true;
        tensor.is_unused = false;
        if (part != parts.back()) {
            names->add(tensor.name);
        }
    }
    const Error ours = missingTensor("assistant.post_projection.weight", config_, expected, *names);
    QVERIFY2(ours.message.find("the assistant's files do not hold this tensor (they hold 3 of the "
                               "4 that its config.json implies); download the assistant again") !=
                 std::string::npos,
             ours.message.c_str());
    const Error model =
        missingTensor("model.language_model.norm.weight", config_, expected, *names);
    const std::string count =
        "they hold " + std::to_string(needed) + " of the " + std::to_string(needed) + " that";
    QVERIFY2(model.message.find(count) != std::string::npos, model.message.c_str());
}

void TestStoredNames::unclear_data() {
    QTest::addColumn<QByteArrayList>("extra");
    QTest::addColumn<QByteArray>("fragment"); // empty: clear
    const QByteArray q = "model.language_model.layers.0.self_attn.q_proj.";
    QTest::newRow("as they are") << QByteArrayList{} << QByteArray();
    QTest::newRow("factors left in a merged file")
        << QByteArrayList{q + "lora_A.weight", q + "lora_B.weight"} << QByteArray();
    QTest::newRow("an unmerged PEFT model")
        << QByteArrayList{"base_model.model.x.base_layer.weight", q + "lora_A.default.weight"}
        << QByteArray("merge_and_unload");
    QTest::newRow("twice") << QByteArrayList{"module." + q + "weight"}
                           << QByteArray("the files hold it twice");
}

void TestStoredNames::unclear() {
    QFETCH(QByteArrayList, extra);
    QFETCH(QByteArray, fragment);
    const auto names =
        changed([](const std::string& name) { return std::vector<std::string>{name}; });
    for (const QByteArray& name : extra) {
        names->add(name.toStdString());
    }
    const Result<void> result = checkStoredNames(config_, expected_, *names);
    QCOMPARE(result.has_value(), fragment.isEmpty());
    if (!result) {
        QVERIFY2(result.error().message.find(fragment.toStdString()) != std::string::npos,
                 result.error().message.c_str());
    }
}

TEST_CLASS(TestStoredNames)
#include "tst_stored_names.moc"
