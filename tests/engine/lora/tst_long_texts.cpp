// SPDX-License-Identifier: Apache-2.0
// Long adapter configurations, patterns and headers of nothing but one or two of what they are made
// of: read, compiled and matched, or refused, in linear time and bounded memory.
#include "engine/lora/adapter_index.h"
#include "engine/lora/key_spelling.h"
#include "engine/lora/target_matching.h"
#include "tests/engine/lora/adapter_files.h"
#include "tests/support/growth.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>

using namespace engine;

namespace {

const std::string kModule = "model.layers.3.self_attn.q_proj";

/// Compiled, and matched against one module.
void use(const std::string& text) {
    const auto config = parseAdapterConfig(support::numbered(text));
    if (!config) {
        return;
    }
    if (const auto matcher = TargetMatcher::compile(*config)) {
        (void)matcher->classify(kModule, kModule, true);
        (void)matcher->rankOf(kModule);
        (void)matcher->alphaOf(kModule);
    }
}

const std::string kBegin = R"({"peft_type":"LORA","r":4,)";

} // namespace

class TestLongTexts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void texts();
    void tables_data();
    void tables();
    void manyLargePatterns_data();
    void manyLargePatterns();
    void patterns_data();
    void patterns();
    void keys();
    void headers();
};

void TestLongTexts::texts() {
    support::checkLinear({use, {"{", "[", "\"", "\"a#\":1,", "{\"a\":", "1,", " ", "\xff"}});
    support::checkLinear({use, {"\"a#\":1,", "\"a#\":\"b\",", "\"a#\":[],"}, kBegin, "\"z\":1}"});
}

void TestLongTexts::tables_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray>("before", "after", "entry");
    const auto list = [](const char* member, const char* more = "") {
        QTest::newRow(member) << QByteArray("\"") + member + "\":[" << QByteArray("\"z\"]") + more
                              << QByteArray("\"%1\",");
    };
    list("target_modules");
    list("exclude_modules");
    list("modules_to_save");
    list("target_parameters");
    list("layers_pattern", R"(,"layers_to_transform":[1])");
    for (const char* const member : {"rank_pattern", "alpha_pattern"}) {
        QTest::newRow(member) << QByteArray("\"") + member + "\":{" << QByteArray("\"z\":1}")
                              << QByteArray("\"%1\":2,");
    }
    QTest::newRow("layers_to_transform")
        << QByteArray(R"("layers_to_transform":[)") << QByteArray("1]") << QByteArray("#,");
    QTest::newRow("trainable_token_indices")
        << QByteArray(R"("trainable_token_indices":[)") << QByteArray("1]") << QByteArray("#,");
}

void TestLongTexts::tables() {
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    QFETCH(QByteArray, entry);
    std::vector<std::string> units;
    for (const char* const name :
         {"a#", ".*#", "(a|b#)*", "a(?=#)", "(?<!#)a", "[", "(", "\\\\1"}) {
        units.push_back(QByteArray(entry).replace("%1", name).toStdString());
    }
    support::checkLinear({use, units, kBegin + before.toStdString(), after.toStdString() + "}",
                          size_t{16} << 20, 0});
}

void TestLongTexts::manyLargePatterns_data() {
    tables_data();
}

/// Some bytes of a pattern become kilobytes once it is compiled, and there may be many.
void TestLongTexts::manyLargePatterns() {
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    QFETCH(QByteArray, entry);
    std::vector<std::string> units;
    for (const char* const name : {"a{900}#", "[^.]{400}#", "(?:[^.]{30}){30}#", "a(?=b{999})#"}) {
        units.push_back(QByteArray(entry).replace("%1", name).toStdString());
    }
    support::checkLinear(
        {use, units, kBegin + before.toStdString(), after.toStdString() + "}", size_t{1} << 20, 0});
}

void TestLongTexts::patterns_data() {
    QTest::addColumn<QByteArray>("member");
    QTest::newRow("target_modules") << QByteArray("target_modules");
    QTest::newRow("exclude_modules") << QByteArray("exclude_modules");
}

/// One pattern, up to more than may be read.
void TestLongTexts::patterns() {
    QFETCH(QByteArray, member);
    support::checkLinear(
        {use,
         {"a",    ".*",    "a|",   "(",        "(a)",   "(a|b)*", "a*",    "a{2}",  "{",
          "[",    "[a]",   "[^a]", "\\\\",     "\\\\d", "\\\\b",  "(?=a)", "(?!a)", "(?<=a)",
          "(?:a", "(?#a)", "(?i)", "(?P<a>b)", "^",     "$",      ".*?",   "(.*)*", "\xc3\xa4"},
         kBegin + "\"" + member.toStdString() + "\":\"",
         "\"}"});
}

void TestLongTexts::keys() {
    const auto key = [](const std::string& text) {
        if (const auto parsed = parseAdapterKey(text)) {
            for (const KeyLayout layout :
                 {KeyLayout::Conditional, KeyLayout::TextOnly, KeyLayout::OldWrapper}) {
                (void)spellModulePath(parsed->canonical_module, layout);
            }
        }
        (void)canonicalModulePath(text);
    };
    support::checkLinear({key,
                          {"a", ".", "model.", "base_model.model.", "layers.0.", "base_layer.",
                           "lora_A.", "default.", "0", "language_model.", "linear."},
                          "base_model.model.",
                          "lora_A.weight"});
}

/// Tensors without a byte of data: the header is all that there is.
void TestLongTexts::headers() {
    const QTemporaryDir folder;
    const std::filesystem::path place(folder.path().toStdString());
    const lora_test::Model model = lora_test::goldenModel("e2b");
    lora_test::writeText(place / "adapter_config.json", lora_test::minimalConfig().dump());
    const auto index = [&](const std::string& text) {
        std::string file(8, '\0');
        const std::string header = support::numbered(text);
        const uint64_t size = header.size();
        std::memcpy(file.data(), &size, 8);
        lora_test::writeText(place / "adapter_model.safetensors", file + header);
        (void)indexAdapter(place, model.config, model.tensors, {});
    };
    const std::string empty = R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
    std::vector<std::string> units;
    for (const char* const name :
         {"a#", "base_model.model.a#.lora_A.weight",
          "base_model.model.model.layers.#.self_attn.q_proj.lora_A.weight",
          "base_model.model.model.layers.0.self_attn.q_proj.lora_A.a#.weight",
          "base_model.model.model.layers.0.self_attn.q_proj.lora_B.a#.weight",
          "base_model.model.model.embed_tokens.lora_embedding_A.a#",
          "base_model.model.model.layers.0.self_attn.q_proj.base_layer.a#"}) {
        units.push_back("\"" + std::string(name) + empty + ",");
    }
    support::checkLinear({index, units, "{", "\"z" + empty + "}", size_t{16} << 20, 0});
}

TEST_CLASS(TestLongTexts)
#include "tst_long_texts.moc"
