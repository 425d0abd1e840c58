// SPDX-License-Identifier: Apache-2.0
// Model folders as people have them: a snapshot of the Hugging Face cache, where every file is a
// link into blobs/, answers like the plain folder, links that lead elsewhere are refused; and what
// is odd in config, checkpoint and tokenizer is told by inspect and after a load.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/files.h"
#include "tests/support/links.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

} // namespace

class TestModelFolderVariants : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void snapshotOfTheHubCache();
    void linkThatLeavesTheFolder();
    void oddThingsAreTold();
    void missingTokenizer();
    void packedWeightsNotThere_data();
    void packedWeightsNotThere();
    void problemsOfAPlanAreTold();
    void stopTextsEndReplies();
    void adaptersTemplateIsCompared();
    void whatALoadWouldRefuse_data();
    void whatALoadWouldRefuse();

private:
    const fs::path golden_ = support::goldenDir() / "e2b/model";
};

void TestModelFolderVariants::snapshotOfTheHubCache() {
    QTemporaryDir temporary;
    const fs::path cache = fs::path(temporary.path().toStdString()) / "models--google--gemma";
    const fs::path snapshot = cache / "snapshots" / "0123456789abcdef0123456789abcdef01234567";
    fs::create_directories(snapshot);
    fs::create_directories(cache / "blobs");
    int index = 0;
    for (const auto& entry : fs::directory_iterator(golden_)) {
        const std::string blob = std::string(39, 'a') + static_cast<char>('0' + index++);
        fs::copy_file(entry.path(), cache / "blobs" / blob);
        BELFRY_LINK_OR_SKIP(fs::path("../../blobs") / blob, snapshot / entry.path().filename());
    }
    const auto c = support::goldenCases("e2b").front();
    engine::Engine plain;
    QVERIFY(plain.load(support::folderRequest(golden_), {}, {}).has_value());
    const auto expected = support::engineLogits(plain, c, 1);
    engine::Engine linked;
    const auto loaded = linked.load(support::folderRequest(snapshot), {}, {});
    VERIFY_VALUE(loaded);
    QCOMPARE(support::engineLogits(linked, c, 1), expected);
    const auto ids = linked.tokenize(snapshot.string(), "Hello there");
    QVERIFY(ids.has_value());
    QVERIFY(!ids->ids.empty());
    engine::Engine other;
    QCOMPARE(other.tokenize(snapshot.string(), "Hello there")->ids, ids->ids);
}

void TestModelFolderVariants::linkThatLeavesTheFolder() {
    QTemporaryDir temporary;
    const fs::path folder = fs::path(temporary.path().toStdString()) / "model";
    fs::copy(golden_, folder, fs::copy_options::recursive);
    const fs::path outside = folder.parent_path() / "elsewhere.json";
    fs::rename(folder / "tokenizer.json", outside);
    BELFRY_LINK_OR_SKIP(outside, folder / "tokenizer.json");
    engine::Engine engine;
    const auto loaded = engine.load(support::folderRequest(folder), {}, {});
    QVERIFY(!loaded.has_value());
    QCOMPARE(loaded.error().code, engine::ErrorCode::InvalidFile);
    QVERIFY(loaded.error().message.find("tokenizer.json") != std::string::npos);
    QVERIFY(loaded.error().message.find("leaves the model folder") != std::string::npos);
    const auto summary = engine.inspect(folder.string(), {});
    QVERIFY(summary.has_value());
    QVERIFY(support::mentions(engine::inEnglish(summary->warnings), "leaves the model folder"));
}

void TestModelFolderVariants::oddThingsAreTold() {
    QTemporaryDir temporary;
    const fs::path folder = fs::path(temporary.path().toStdString()) / "model";
    fs::copy(golden_, folder, fs::copy_options::recursive);
    auto tokenizer = nlohmann::ordered_json::parse(support::textOf(folder / "tokenizer.json"));
    tokenizer["odd_tokenizer_member"] = 1;
    write(folder / "tokenizer.json", tokenizer.dump());
    auto config = nlohmann::ordered_json::parse(support::textOf(folder / "config.json"));
    config.erase("architectures");
    write(folder / "config.json", config.dump());
    // An unknown member in the checkpoint's header; offsets count from the header's end.
    const std::string weights = support::textOf(folder / "model.safetensors");
    uint64_t length = 0;
    std::memcpy(&length, weights.data(), sizeof length);
    auto header = nlohmann::ordered_json::parse(weights.substr(8, length));
    header["model.language_model.norm.weight"]["odd_header_member"] = 1;
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const uint64_t new_length = text.size();
    std::string changed(sizeof new_length, '\0');
    std::memcpy(changed.data(), &new_length, sizeof new_length);
    write(folder / "model.safetensors", changed + text + weights.substr(8 + length));

    engine::Engine plain;
    const auto usual = plain.inspect(golden_.string(), {});
    QVERIFY(usual.has_value());
    QVERIFY(usual->warnings.empty());
    engine::Engine engine;
    const auto summary = engine.inspect(folder.string(), {});
    VERIFY_VALUE(summary);
    for (const char* odd : {"odd_tokenizer_member", "odd_header_member", "architectures"}) {
        QVERIFY2(support::mentions(engine::inEnglish(summary->warnings), odd), odd);
    }
    const auto plan = engine.plan(support::folderRequest(folder));
    QVERIFY(plan.has_value());
    for (const char* odd : {"odd_header_member", "architectures"}) {
        QVERIFY2(support::mentions(engine::inEnglish(plan->notes), odd), odd);
    }
    const auto loaded = engine.load(support::folderRequest(folder), {}, {});
    VERIFY_VALUE(loaded);
    for (const std::string& warning : engine::inEnglish(summary->warnings)) {
        QVERIFY2(support::mentions(engine::inEnglish(engine.loadNotes()), warning),
                 warning.c_str());
    }
}

void TestModelFolderVariants::missingTokenizer() {
    QTemporaryDir temporary;
    const fs::path folder = fs::path(temporary.path().toStdString()) / "model";
    fs::copy(golden_, folder, fs::copy_options::recursive);
    fs::remove(folder / "tokenizer.json");
    engine::Engine engine;
    QVERIFY(engine.plan(support::folderRequest(folder)).has_value());
    const auto summary = engine.inspect(folder.string(), {});
    QVERIFY(summary.has_value());
    QVERIFY(support::mentions(engine::inEnglish(summary->warnings),
                              "tokenizer.json is not in the folder"));
    const auto loaded = engine.load(support::folderRequest(folder), {}, {});
    QVERIFY(!loaded.has_value());
    QVERIFY(loaded.error().message.find("tokenizer.json") != std::string::npos);
}

void TestModelFolderVariants::packedWeightsNotThere_data() {
    QTest::addColumn<QString>("checkpoint");
    for (const char* name : {"nf4-checkpoint", "nf4-dq-checkpoint", "fp4-checkpoint"}) {
        QTest::newRow(name) << QString::fromUtf8(name);
    }
}

// Without weight files config.json alone tells what is packed: the plan is that of the whole
// folder.
void TestModelFolderVariants::packedWeightsNotThere() {
    QFETCH(QString, checkpoint);
    const fs::path whole = support::goldenDir() / "e2b" / "quantized" / checkpoint.toStdString();
    QTemporaryDir temporary;
    const fs::path folder = fs::path(temporary.path().toStdString()) / "model";
    fs::copy(whole, folder, fs::copy_options::recursive);
    write(folder / "model.safetensors",
          "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1000000\n");
    engine::Engine engine;
    const auto expected = engine.plan(support::folderRequest(whole));
    const auto plan = engine.plan(support::folderRequest(folder));
    VERIFY_VALUE(plan);
    QVERIFY(support::mentions(engine::inEnglish(plan->notes), "quantization_config"));
    QVERIFY(support::mentions(engine::inEnglish(plan->notes), "Git LFS pointer"));
    QCOMPARE(plan->tensors.size(), expected->tensors.size());
    for (size_t i = 0; i < plan->tensors.size(); ++i) {
        const std::string& name = plan->tensors[i].tensor;
        QCOMPARE(name, expected->tensors[i].tensor);
        QVERIFY2(plan->tensors[i].format == expected->tensors[i].format, name.c_str());
    }
    engine::Engine loading;
    const auto loaded = loading.load(support::folderRequest(folder), {}, {});
    QVERIFY(!loaded.has_value());
    QVERIFY2(loaded.error().message.find("Git LFS pointer") != std::string::npos,
             loaded.error().message.c_str());
}

void TestModelFolderVariants::problemsOfAPlanAreTold() {
    engine::LoadRequest request = support::folderRequest(golden_);
    request.sim_gpus = {uint64_t{1} << 30};
    request.device_map = R"({"": "sim:0", "foo": "cpu", "bar": "cpu", "model.norm_x": "sim:7"})";
    engine::Engine engine;
    const auto refused = engine.load(request, {}, {});
    QVERIFY(!refused.has_value());
    std::set<std::string> keys;
    for (const auto& [key, text] : refused.error().details) {
        QVERIFY2(keys.insert(key).second, key.c_str());
    }
    QVERIFY(keys.size() >= 3);
    for (const char* word : {"\"foo\"", "\"bar\"", "line 1, column 15"}) {
        QVERIFY2(refused.error().message.find(word) != std::string::npos,
                 refused.error().message.c_str());
    }
    // What a plan warns of is told after the load as well.
    request.device_map = "gpu";
    request.context = 999999;
    QVERIFY(engine.load(request, {}, {}).has_value());
    QVERIFY(support::mentions(engine::inEnglish(engine.loadNotes()), "999999"));
    const auto notes = engine::inEnglish(engine.loadNotes());
    QCOMPARE(std::set<std::string>(notes.begin(), notes.end()).size(), notes.size());
}

namespace {

engine::GenerateRequest question() {
    engine::GenerateRequest request;
    request.messages.push_back(
        {engine::Message::Role::User, {{engine::MessagePart::Kind::Text, "Hello there"}}});
    request.sampling.temperature = 0.0;
    request.sampling.max_tokens = 24;
    return request;
}

} // namespace

/// stop_strings of generation_config: as in transformers the reply ends behind the text.
void TestModelFolderVariants::stopTextsEndReplies() {
    QTemporaryDir temporary;
    const fs::path folder = fs::path(temporary.path().toStdString()) / "model";
    fs::copy(golden_, folder, fs::copy_options::recursive);
    engine::Engine plain;
    QVERIFY(plain.load(support::folderRequest(folder), {}, {}).has_value());
    const auto whole = plain.generate(question(), {}, {});
    QVERIFY(whole.has_value());
    QVERIFY2(whole->text.size() > 12, whole->text.c_str());
    const std::string stop = whole->text.substr(4, 5); // over several tokens
    const size_t end = whole->text.find(stop) + stop.size();
    auto defaults =
        nlohmann::ordered_json::parse(support::textOf(folder / "generation_config.json"));
    defaults["stop_strings"] = {"never said", stop};
    write(folder / "generation_config.json", defaults.dump());
    engine::Engine stopping;
    QVERIFY(stopping.load(support::folderRequest(folder), {}, {}).has_value());
    std::string streamed;
    const auto cut = stopping.generate(
        question(), [&](const engine::ReplyUpdate& update) { streamed += update.text; }, {});
    QVERIFY(cut.has_value());
    QCOMPARE(cut->finish_reason, std::string("stop"));
    QVERIFY2(whole->text.starts_with(cut->text) && cut->text.size() >= end, cut->text.c_str());
    QVERIFY(cut->token_ids.size() < whole->token_ids.size());
    QCOMPARE(streamed, cut->text);
    // The next turn begins where it ended.
    engine::GenerateRequest next = question();
    next.messages.push_back(
        {engine::Message::Role::Assistant, {{engine::MessagePart::Kind::Text, cut->text}}});
    next.messages.push_back(question().messages[0]);
    QVERIFY(stopping.generate(next, {}, {}).has_value());
}

void TestModelFolderVariants::adaptersTemplateIsCompared() {
    QTemporaryDir temporary;
    const fs::path adapter = fs::path(temporary.path().toStdString()) / "tuned";
    fs::copy(support::goldenDir() / "e2b/adapters/text", adapter, fs::copy_options::recursive);
    write(adapter / "chat_template.jinja",
          "{{ '<|turn>system\\nYou are Foo.<turn|>' }}{{ messages[0].content }}");
    engine::LoadRequest request = support::folderRequest(golden_);
    request.adapters = {{adapter.string(), 1.0, true}};
    engine::Engine engine;
    const auto loaded = engine.load(request, {}, {});
    VERIFY_VALUE(loaded);
    const auto tells = [](const engine::Reply& reply) {
        return support::mentions(engine::inEnglish(reply.notes),
                                 "tuned/chat_template.jinja: its chat template "
                                 "would write this conversation otherwise");
    };
    const auto first = engine.generate(question(), {}, {});
    QVERIFY(first.has_value() && tells(*first));
    const auto second = engine.generate(question(), {}, {}); // once a load
    QVERIFY(second.has_value() && !tells(*second));
    const auto summary = engine.inspect(golden_.string(), {adapter.string()});
    QVERIFY(summary.has_value());
}

void TestModelFolderVariants::whatALoadWouldRefuse_data() {
    QTest::addColumn<QString>("from"); // a key of the weight, renamed
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("rule");
    const QString state = QStringLiteral(".quant_state.bitsandbytes__nf4");
    QTest::newRow("bytes without a state") << state << ".other"
                                           << "has element type U8";
    QTest::newRow("two states") << ".quant_map"
                                << ".quant_state.bitsandbytes__fp4"
                                << "found 2 such keys";
    QTest::newRow("no scales") << ".absmax"
                               << ".other"
                               << "absmax_missing";
    QTest::newRow("no code book") << ".quant_map"
                                  << ".other"
                                  << "quant_map_missing";
}

/// A plan reads headers only, and says where these are enough to know that a load would fail.
void TestModelFolderVariants::whatALoadWouldRefuse() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QString, rule);
    const fs::path packed = support::goldenDir() / "e2b/quantized/nf4-checkpoint";
    QTemporaryDir temporary;
    const fs::path folder = fs::path(temporary.path().toStdString()) / "model";
    fs::copy(packed, folder, fs::copy_options::recursive);
    const std::string weights = support::textOf(folder / "model.safetensors");
    uint64_t length = 0;
    std::memcpy(&length, weights.data(), sizeof length);
    const auto header = nlohmann::ordered_json::parse(weights.substr(8, length));
    const std::string weight = "model.language_model.layers.3.mlp.up_proj.weight";
    nlohmann::ordered_json changed;
    for (const auto& [name, value] : header.items()) {
        changed[name == weight + from.toStdString() ? weight + to.toStdString() : name] = value;
    }
    QVERIFY(changed != header);
    const std::string text = changed.dump();
    const uint64_t new_length = text.size();
    std::string size(sizeof new_length, '\0');
    std::memcpy(size.data(), &new_length, sizeof new_length);
    write(folder / "model.safetensors", size + text + weights.substr(8 + length));

    engine::Engine engine;
    const auto intact = engine.plan(support::folderRequest(packed));
    QVERIFY(intact.has_value());
    QVERIFY(!support::mentions(engine::inEnglish(intact->notes), "a load would fail"));
    const auto plan = engine.plan(support::folderRequest(folder));
    VERIFY_VALUE(plan);
    const auto loaded = engine.load(support::folderRequest(folder), {}, {});
    QVERIFY(!loaded.has_value());
    QVERIFY2(loaded.error().message.find(rule.toStdString()) != std::string::npos,
             loaded.error().message.c_str());
    QVERIFY(support::mentions(engine::inEnglish(plan->notes),
                              "a load would fail: " + loaded.error().message));
}

TEST_CLASS(TestModelFolderVariants)
#include "tst_model_folder_variants.moc"
