// SPDX-License-Identifier: Apache-2.0
// What is told of a model folder's own chat template for a conversation: nothing when it writes the
// same, else where the two part.
#include "engine/base/sentence_english.h"
#include "engine/families/gemma4/turns.h"
#include "engine/run/template_difference.h"
#include "tests/support/program/test_class.h"

#include <QTest>

using namespace engine;

namespace {

/// Gemma 4's form for text, in our own words; with a system prompt of its own where asked.
std::string template4(const std::string& system) {
    return "{{ bos_token }}"
           "{%- if messages[0]['role'] == 'system' -%}{{ '<|turn>system\\n' }}{{ "
           "messages[0].content "
           "| trim }}{{ '<turn|>\\n' }}{%- set rest = messages[1:] -%}{%- else -%}" +
           (system.empty() ? std::string() : "{{ '<|turn>system\\n" + system + "<turn|>\\n' }}") +
           "{%- set rest = messages -%}{%- endif -%}"
           "{%- for m in rest -%}{{ '<|turn>' + ('model' if m.role == 'assistant' else m.role) + "
           "'\\n' }}{%- if m.content is string -%}{{ m.content | trim }}{%- else -%}{%- for p in "
           "m.content -%}{{ '<|image|>' if p.type == 'image' else (p.text | trim) }}{%- endfor -%}"
           "{%- endif -%}{{ '<turn|>\\n' }}{%- endfor -%}"
           "{%- if add_generation_prompt -%}{{ '<|turn>model\\n' }}{%- endif -%}";
}

/// The form of tools without parameters, of calls and of results, in our own words.
const std::string kTemplateOfTools =
    "{{ bos_token }}{%- if tools -%}{{ '<|turn>system\n' }}{%- for t in tools -%}"
    "{{ '<|tool>declaration:' + t.function.name + '{description:<|\"|>' + t.function.description + "
    "'<|\"|>}<tool|>' }}{%- endfor -%}{{ '<turn|>\n' }}{%- endif -%}"
    "{%- for m in messages -%}{%- if m.role == 'tool' -%}"
    "{{ '<|tool_response>response:now{value:<|\"|>' + m.content + '<|\"|>}<tool_response|>' }}"
    "{%- else -%}{{ '<|turn>' + ('model' if m.role == 'assistant' else m.role) + '\n' }}"
    "{%- if m.tool_calls -%}{%- for c in m.tool_calls -%}"
    "{{ '<|tool_call>call:' + c.function.name + '{' }}"
    "{%- for k, v in c.function.arguments | dictsort -%}{{ k }}:"
    "{%- if v is string -%}{{ '<|\"|>' + v + '<|\"|>' }}{%- else -%}{{ v }}{%- endif -%}"
    "{%- if not loop.last -%},{%- endif -%}{%- endfor -%}{{ '}<tool_call|>' }}{%- endfor -%}"
    "{%- endif -%}{%- if m.content -%}{{ m.content | trim }}{{ '<turn|>\n' }}{%- endif -%}"
    "{%- endif -%}{%- endfor -%}";

} // namespace

class TestTemplateDifference : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void tells_data();
    void tells();
    void tellsOfTools();
    void tellsOfAnOldOne();
};

void TestTemplateDifference::tells_data() {
    QTest::addColumn<QByteArray>("source");
    QTest::addColumn<bool>("has_system");
    QTest::addColumn<QByteArray>("fragments"); // empty: nothing is told
    const QByteArray own = QByteArray::fromStdString(template4("You are Foo."));
    QTest::newRow("the same") << QByteArray::fromStdString(template4("")) << false << QByteArray();
    QTest::newRow("the same, with a system prompt")
        << QByteArray::fromStdString(template4("")) << true << QByteArray();
    QTest::newRow("a system prompt of its own")
        << own << false
        << QByteArray("tokenizer_config.json: its chat template would write~You are Foo.");
    QTest::newRow("a system prompt of its own, and one given") << own << true << QByteArray();
    QTest::newRow("ChatML")
        << QByteArray("{% for m in messages %}{{'<|im_start|>' + m.role + '\n' + m.content}}"
                      "{% endfor %}")
        << false
        << QByteArray("\"<|im_start|>user\\nHello\"~where the prompt that is used has "
                      "\"<bos><|turn>user");
    QTest::newRow("one that refuses") << QByteArray("{{ raise_exception('no system') }}") << false
                                      << QByteArray("cannot be compared~no system");
    QTest::newRow("one with a filter that is not known")
        << QByteArray("{{ messages | tojson }}") << false << QByteArray("cannot be compared");
}

void TestTemplateDifference::tells() {
    QFETCH(QByteArray, source);
    QFETCH(bool, has_system);
    QFETCH(QByteArray, fragments);
    std::vector<ChatMessage> messages;
    if (has_system) {
        messages.push_back(ChatMessage::makeText("system", "Be brief. "));
    }
    messages.push_back(ChatMessage::makeText("user", "Hello"));
    const ChatTemplateOptions options;
    const auto segments = renderChat(messages, options);
    QVERIFY(segments);
    const ChatTemplateText own = {"tokenizer_config.json", source.toStdString(), {}, {}};
    const auto told = templateDifference(own, messages, options, segmentsText(*segments));
    const std::string note = told.has_value() ? inEnglish(*told) : std::string();
    QCOMPARE(note.empty(), fragments.isEmpty());
    for (const QByteArray& fragment : fragments.split('~')) {
        QVERIFY2(note.find(fragment.toStdString()) != std::string::npos, note.c_str());
    }
}

/// Tools, calls and results go to the folder's template in the form that transformers gives them.
void TestTemplateDifference::tellsOfTools() {
    const std::vector<Tool> tools = {{"now", "Time."}};
    ChatTemplateOptions options;
    options.tools = tools;
    std::vector<ChatMessage> messages = {ChatMessage::makeText("user", "When?"), ChatMessage(),
                                         ChatMessage::makeText("tool", "12:30")};
    messages[1].role = "assistant";
    messages[1].calls = {{"c1", "now", R"({"days": 2, "city": "Paris"})"}};
    messages[2].call_id = "c1";
    const auto segments = renderChat(messages, options);
    QVERIFY(segments);
    const std::string prompt = segmentsText(*segments);
    QVERIFY(prompt.find("call:now{city:<|\"|>Paris<|\"|>,days:2}") != std::string::npos);
    const ChatTemplateText same = {"chat_template.jinja", kTemplateOfTools, {}, {}};
    const auto told = templateDifference(same, messages, options, prompt);
    QVERIFY2(!told.has_value(), told.has_value() ? inEnglish(*told).c_str() : "");
    const ChatTemplateText deaf = {"chat_template.jinja", template4(""), {}, {}};
    messages.resize(1);
    const auto asked = renderChat(messages, options);
    QVERIFY(asked);
    const auto other = templateDifference(deaf, messages, options, segmentsText(*asked));
    QVERIFY(other.has_value());
    const std::string note = inEnglish(*other);
    QVERIFY2(note.find("<|tool>declaration:now") != std::string::npos, note.c_str());
}

/// What Google has replaced is told with both dates, and only where the two part.
void TestTemplateDifference::tellsOfAnOldOne() {
    const std::vector<ChatMessage> messages = {ChatMessage::makeText("user", "Hello")};
    const auto segments = renderChat(messages, {});
    QVERIFY(segments);
    const std::string prompt = segmentsText(*segments);
    ChatTemplateText old = {"chat_template.jinja", template4(""), {}, "2026-04-10"};
    QVERIFY(!templateDifference(old, messages, {}, prompt));
    old.source = template4("You are Foo.");
    const auto told = templateDifference(old, messages, {}, prompt);
    QVERIFY(told.has_value());
    const std::string note = inEnglish(*told);
    for (const char* fragment : {"Google's of 2026-04-10", "newer one, of 2026-07-09", "You are"}) {
        QVERIFY2(note.find(fragment) != std::string::npos, note.c_str());
    }
}

TEST_CLASS(TestTemplateDifference)
#include "tst_template_difference.moc"
