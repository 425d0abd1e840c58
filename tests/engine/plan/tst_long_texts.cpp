// SPDX-License-Identifier: Apache-2.0
// Long device maps of nothing but one or two of what maps are made of: read, applied to a model,
// changed and written, or refused, in linear time and bounded memory.
#include "engine/plan/map_key_table.h"
#include "engine/plan/map_write.h"
#include "tests/engine/plan/plan_fixture.h"
#include "tests/support/growth.h"
#include "tests/support/program/test_class.h"

using namespace engine;

namespace {

/// All that is done with a map before anything is loaded.
void use(const planfixture::Model& model, const std::string& text) {
    std::vector<PlanIssue> issues;
    const auto map = parseDeviceMap(support::numbered(text), {}, &issues);
    for (const PlanIssue& issue : issues) {
        (void)inEnglish(issue);
    }
    if (!map) {
        return;
    }
    ResolveInput input;
    input.config = &model.config;
    input.tensors = &model.tensors;
    input.devices = {DeviceId::cuda(0)};
    const Resolution resolved = resolveDeviceMap(*map, input);
    for (const PlanIssue& issue : resolved.errors) {
        (void)inEnglish(issue);
    }
    PlaceFields fields;
    fields.store = DeviceId::cpu();
    (void)placedAnew(*map, resolved.errors, "model.language_model.layers.1", fields);
    (void)writeDeviceMap(canonicalMap(*map, input));
}

} // namespace

class TestLongTexts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void texts();
    void manyKeys_data();
    void manyKeys();
    void longKeys_data();
    void longKeys();
    void words();

private:
    planfixture::Model model_ = planfixture::goldenModel("e2b");
    std::function<void(const std::string&)> use_ = [this](const std::string& text) {
        use(model_, text);
    };
};

void TestLongTexts::texts() {
    support::checkLinear(
        {use_, {"{", "[", "\"", ":", ",", "'", "OrderedDict(", "{\"a\":", "1", " ", "\n", "\xff"}});
}

void TestLongTexts::manyKeys_data() {
    support::addColumns<QByteArray, QByteArray>("before", "after");
    QTest::newRow("imported") << QByteArray("{") << QByteArray("\"\":0}");
    QTest::newRow("native") << QByteArray(R"({"version":1,"default":"cpu","map":{)")
                            << QByteArray(R"("lm_head":"cpu"}})");
}

void TestLongTexts::manyKeys() {
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    const std::string layer = "model.language_model.layers.";
    support::checkLinear(
        {use_,
         {"\"a#\":\"cpu\",", "\"model.a#\":0,", "\"#\":\"sim:1\",", "\"" + layer + "#\":\"disk\",",
          "\"" + layer + "[0-#]\":{\"store\":\"cpu\"},",
          "\"" + layer + "1.self_attn.q_proj.weight.a#\":\"cpu\",",
          "\"model.a#.rotary_emb\":\"cpu\",", "\"a#\":{\"stor\":#},", "\"\":0,"},
         before.toStdString(),
         after.toStdString(),
         size_t{16} << 20,
         size_t{4} << 10});
}

void TestLongTexts::longKeys_data() {
    manyKeys_data();
}

void TestLongTexts::longKeys() {
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    for (const char* const start : {"", "model.", "model.language_model.layers.1."}) {
        support::checkLinear({use_,
                              {"a", "a.", "0.", "1.", ".", "[0-1].", "[", "]", "-", "model.",
                               "base_model.model.", "layers.0.", "\\n", "\xc3\xa4"},
                              before.toStdString() + "\"" + start,
                              "x\":\"cpu\"," + after.toStdString()});
    }
    support::checkLinear({use_,
                          {"a", "0", "cuda:", ":", "MiB", "\\n"},
                          before.toStdString() + "\"model\":\"",
                          "\"," + after.toStdString()});
}

void TestLongTexts::words() {
    const auto word = [](const std::string& text) {
        (void)parseByteSize(text);
        (void)isDeviceMapText(text);
        (void)presetProblem(text, {});
        (void)deviceMapHint(text);
    };
    support::checkLinear({word, {"1", ".", "0", "M", "i", " ", "-", "cuda:", "{"}});
}

TEST_CLASS(TestLongTexts)
#include "tst_long_texts.moc"
