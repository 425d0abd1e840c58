// SPDX-License-Identifier: Apache-2.0
// Long headers, indices and configurations of nothing but one or two of what they are made of: read
// or refused in linear time and bounded memory.
#include "engine/families/config.h"
#include "engine/files/foreign_format.h"
#include "engine/files/model_files.h"
#include "engine/files/safetensors.h"
#include "engine/files/shard_index.h"
#include "tests/support/files.h"
#include "tests/support/golden.h"
#include "tests/support/growth.h"
#include "tests/support/program/test_class.h"

#include <fstream>
#include <iterator>

using namespace engine;

namespace {

void readHeader(const std::string& text) {
    const std::string header = support::numbered(text);
    (void)parseSafetensorsHeader(header, 8 + header.size(), "x.safetensors", true);
}

void readIndex(const std::string& text) {
    (void)parseShardIndex(support::numbered(text), "x.json");
}

const std::vector<std::string>& tokens() {
    static const std::vector<std::string> kTokens = {
        "{", "[", "\"", "}", "\"a#\":1,", "\"#\":{},", "{\"#\":", "1,", " ", "\n", "a", "\xff"};
    return kTokens;
}

std::string goldenText(const char* name) {
    return support::textOf(support::goldenDir() / "e2b/model" / name);
}

/// `text`, an object, as far as further members can stand behind.
std::string opened(const std::string& text) {
    return text.substr(0, text.rfind('}')) + ",";
}

} // namespace

class TestLongTexts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void headers();
    void indices();
    void configs_data();
    void configs();
    void names();
};

void TestLongTexts::headers() {
    support::checkLinear({readHeader, tokens()});
    support::checkLinear(
        {readHeader,
         {R"("a#":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)",
          R"("a#":{"dtype":"X#","shape":[0],"data_offsets":[0,0]},)",
          R"("a#":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"b":{"c":[1]}},)"},
         "{",
         R"("z":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})"});
    support::checkLinear(
        {readHeader, {"\"a#\":\"b\",", "\"a\":\"b\","}, "{\"__metadata__\":{", "\"z\":\"\"}}"});
    support::checkLinear({readHeader,
                          {"0,", "1,", "[", "{\"a#\":1},", "\"a#\":1,", "[1,2],"},
                          R"({"a":{"dtype":"F32","data_offsets":[0,0],"b":[)",
                          R"(0],"shape":[0]}})"});
    support::checkLinear({readHeader,
                          {"\"a#\":1,", "\"a#\":{},", "\"a#\":[[]],"},
                          R"({"a":{"dtype":"F32","data_offsets":[0,0],)",
                          R"("shape":[0]}})"});
    support::checkLinear({readHeader,
                          {"0,", "1,", "99,"},
                          R"({"a":{"dtype":"F32","data_offsets":[0,0],"shape":[)",
                          "0]}}"});
}

void TestLongTexts::indices() {
    support::checkLinear({readIndex, tokens()});
    support::checkLinear({readIndex,
                          {R"("a#":"b.safetensors",)", R"("a#":"b#.safetensors",)", R"("a#":"",)"},
                          "{\"weight_map\":{",
                          "\"z\":\"z.safetensors\"}}"});
    support::checkLinear({readIndex,
                          {"\"a#\":1,", "\"a#\":{\"b\":[]},", "\"total_size\":1,"},
                          "{\"metadata\":{",
                          "\"z\":1},\"weight_map\":{\"z\":\"z.safetensors\"}}"});
}

void TestLongTexts::configs_data() {
    QTest::addColumn<int>("which");
    QTest::newRow("config.json") << 0;
    QTest::newRow("generation_config.json") << 1;
    QTest::newRow("processor_config.json") << 2;
}

void TestLongTexts::configs() {
    QFETCH(int, which);
    const std::string config = goldenText("config.json");
    const auto read = [&](const std::string& text) {
        const std::string own = support::numbered(text);
        (void)parseModelConfig(which == 0 ? own : config, which == 1 ? own : std::string(),
                               which == 2 ? own : std::string());
    };
    support::checkLinear({read, tokens()});
    const std::string begin = which == 0 ? opened(config) : "{";
    support::checkLinear({read, {"\"a#\":1,", "\"a#\":{},", "\"a#\":[],"}, begin, "\"z\":1}"});
    for (const char* const member :
         {"layer_types", "eos_token_id", "suppress_tokens", "stop_strings", "architectures",
          "bad_words_ids", "per_layer_sizes", "image_processor", "begin_suppress_tokens"}) {
        support::checkLinear({read,
                              {"1,", "#,", "\"a#\",", "[1],", "{},", "null,", "1.5,"},
                              begin + "\"" + member + "\":[",
                              "1]}",
                              size_t{16} << 20,
                              0});
    }
    if (which == 0) {
        const size_t inner = config.find('{', config.find("\"text_config\"")) + 1;
        for (const char* const member : {"layer_types", "eos_token_id"}) {
            std::string twice = config.substr(0, inner);
            twice.append("\"").append(member).append("\":[");
            support::checkLinear({read,
                                  {"1,", "\"full_attention\",", "\"a#\","},
                                  twice,
                                  "1]," + config.substr(inner),
                                  size_t{16} << 20,
                                  0});
        }
    }
}

void TestLongTexts::names() {
    const auto name = [](const std::string& text) {
        (void)modelFileNameProblem(text);
        (void)recogniseStandIn(text);
    };
    support::checkLinear({name,
                          {"a", ".", "/", " ", "\n", "<", "<!", "version ", "\xff",
                           "version https://git-lfs.github.com/spec/v1\n"}});
}

TEST_CLASS(TestLongTexts)
#include "tst_long_texts.moc"
