// SPDX-License-Identifier: Apache-2.0
// Long texts of nothing but one or two of JSON's own tokens, for the events, for the tree and for
// what is made of a tree: read or refused in linear time and bounded memory.
#include "engine/base/json/text.h"
#include "tests/support/growth.h"
#include "tests/support/program/test_class.h"

#include <limits>

using engine::JsonLimits;

namespace {

/// Everything that can be set wide is: what is refused early says nothing about time.
void readEvents(const std::string& text) {
    const JsonLimits limits{.max_depth = std::numeric_limits<int>::max(),
                            .max_string_bytes = SIZE_MAX,
                            .replaces_surrogates = true};
    (void)engine::checkJson(text, "x.json", limits);
}

void readTree(const std::string& text) {
    const JsonLimits limits{.max_string_bytes = SIZE_MAX, .replaces_surrogates = true};
    if (const auto tree = engine::parseJson(text, "x.json", limits)) {
        (void)engine::jsonText(*tree);
    }
}

const std::vector<std::string>& tokens() {
    static const std::vector<std::string> kTokens = {
        "[",  "]",  "{",  "}", "\"", ":",      ",",      "\\",   "[[",      "{\"a\":",
        "{}", "[]", "1",  "-", "0",  ".",      "1e",     "true", "null",    "\"\"",
        " ",  "\n", "\t", "a", "/*", "\"a\":", "\"a\",", "\xff", "\xc3\xa4"};
    return kTokens;
}

const std::vector<std::string>& partsOfStrings() {
    static const std::vector<std::string> kParts = {"a",        "\\\"",     "\\\\",
                                                    "\\n",      "\\u0061",  "\\ud83d\\ude00",
                                                    "\\ud800",  "\\udc00",  "\\u",
                                                    "\\x",      "\x01",     "\xc3\xa4",
                                                    "\xe2\x82", "\xed\xa0", "\xf0\x9f\x98\x80",
                                                    "\xff"};
    return kParts;
}

} // namespace

class TestLongTexts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void texts_data();
    void texts();
    void manyNames_data();
    void manyNames();
};

void TestLongTexts::texts_data() {
    QTest::addColumn<bool>("is_tree");
    QTest::newRow("events") << false;
    QTest::newRow("tree") << true;
}

void TestLongTexts::texts() {
    QFETCH(bool, is_tree);
    const auto read = is_tree ? readTree : readEvents;
    support::checkLinear({read, tokens()});
    support::checkLinear({read, tokens(), "[", {}, size_t{1} << 20});
    support::checkLinear({read, tokens(), "{\"a\":", {}, size_t{1} << 20, 0});
    support::checkLinear({read, partsOfStrings(), "\"", "\"", size_t{1} << 20});
    support::checkLinear({read, {"1,", "\"a\",", "[],", "{},", "{\"a\":[]},"}, "[", "1]"});
    support::checkLinear({read, {"a", "\\n", "\xc3\xa4"}, "{\"", "\":1}"});
}

void TestLongTexts::manyNames_data() {
    texts_data();
}

/// No name stands twice, and each is looked for among those before it.
void TestLongTexts::manyNames() {
    QFETCH(bool, is_tree);
    const auto read = is_tree ? readTree : readEvents;
    const auto names = [read](const std::string& text) { read(support::numbered(text)); };
    support::checkLinear({names, {"\"#\":1,", "\"a#\":{},", "\"#\":{\"#\":[]},"}, "{", "\"\":1}"});
    support::checkLinear({names, {"{\"#\":", "{\"#\":1,\"#\":"}});
}

TEST_CLASS(TestLongTexts)
#include "tst_long_texts.moc"
