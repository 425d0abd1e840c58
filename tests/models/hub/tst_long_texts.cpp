// SPDX-License-Identifier: Apache-2.0
// Long answers of a hub of nothing but one or two of what they are made of: lists, search results,
// heads, addresses. Read or refused in linear time and bounded memory.
#include "tests/support/growth.h"
#include "tests/support/hub/fetching.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>

#include "models/hub/answer_heads.h"
#include "models/hub/file_choice.h"
#include "models/hub/hub_error.h"
#include "models/hub/lists.h"
#include "models/hub/modelscope.h"
#include "models/hub/names.h"
#include "models/hub/queue.h"
#include "models/hub/search.h"
#include "models/hub/url.h"

namespace hub = models::hub;

namespace {

const hub::Asked kAsked = {"o/m", "main", {}, "https://huggingface.co"};
constexpr size_t kMostFiles = 100'000;

void choose(const std::vector<hub::ListedFile>& files) {
    (void)hub::chooseFiles(files, false);
    (void)hub::checkNames(files, "o/m");
    (void)hub::nothingToLoad(files);
}

void readAnswer(const std::string& text) {
    const std::string json = support::numbered(text);
    (void)hub::readSearchHits(json, kAsked);
    (void)hub::readModelInfo(json, kAsked);
    std::vector<hub::ListedFile> files;
    if (hub::readFileList(json, kAsked, kMostFiles, files)) {
        choose(files);
    }
    if (const auto others = hub::readModelScopeList(json, kAsked, kMostFiles)) {
        choose(*others);
    }
}

} // namespace

class TestLongTexts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void answers();
    void files();
    void hits();
    void heads();
    void addresses();
    void queues();
};

void TestLongTexts::answers() {
    support::checkLinear(
        {readAnswer, {"{", "[", "\"", "1,", "{},", "{\"a#\":1},", "\"a#\":1,", " ", "a", "\xff"}});
    support::checkLinear({readAnswer, {"1,", "{},", "[],", "{\"a#\":1},"}, "[", "{}]"});
    support::checkLinear({readAnswer, {"\"a#\":1,", "\"a#\":{},"}, "{", "\"z\":1}"});
}

void TestLongTexts::files() {
    const std::string hash(40, 'a');
    const std::string sha256(64, 'a');
    const std::string file = R"(","size":1,"oid":")" + hash + "\"},";
    const std::string begin = R"({"type":"file","path":")";
    support::checkLinear(
        {readAnswer,
         {begin + "a#" + file, begin + "a#/b/c#.safetensors" + file, begin + "a#/" + file,
          begin + "a:#" + file, R"({"type":"directory","path":"a#"},)"},
         "[",
         begin + "z" + file.substr(0, file.size() - 1) + "]",
         size_t{16} << 20,
         0});
    support::checkLinear({readAnswer,
                          {"a", "a/", "/", ".", "../", "\\n", "\xc3\xa4"},
                          "[" + begin,
                          file.substr(0, file.size() - 1) + "]"});
    const std::string other =
        R"({"Type":"blob","Size":1,"Sha256":")" + sha256 + R"(","Path":"a#"},)";
    support::checkLinear({readAnswer,
                          {other, "{},", R"({"Type":"tree"},)"},
                          R"({"Data":{"Files":[)",
                          R"({"Type":"tree"}]}})"});
}

void TestLongTexts::hits() {
    support::checkLinear({readAnswer,
                          {R"({"id":"o/m#","tags":["gguf"]},)", R"({"id":"a#"},)"},
                          "[",
                          "{}]",
                          size_t{16} << 20,
                          0});
    support::checkLinear({readAnswer,
                          {"\"a#\",", "\"license:a#\",", "\"base_model:o/m#\",",
                           "\"base_model:adapter:o/m#\",", "1,", "[],"},
                          R"([{"id":"o/m","tags":[)",
                          "\"z\"]}]",
                          size_t{16} << 20,
                          0});
    support::checkLinear({readAnswer, {"a", "/", "-", ".", "@"}, R"([{"id":"o/)", "\"}]"});
    const auto time = [](const std::string& text) { (void)hub::secondsOfTime(text); };
    support::checkLinear({time, {"9", "-", ":", "T", "Z"}, {}, {}, size_t{1} << 20});
}

void TestLongTexts::heads() {
    const auto head = [](const std::string& text) {
        for (const char* const name : {"link", "ratelimit", "retry-after", "content-length",
                                       "content-range", "x-error-message", "x-error-code"}) {
            const hub::HttpHead read{404, {{name, text}}};
            (void)hub::nextPage(read);
            (void)hub::waitAsked(read);
            (void)hub::contentLength(read);
            (void)hub::firstByte({206, {{name, text}}}, {}, 0, kAsked);
            (void)hub::statusError(read, text, kAsked);
        }
        (void)hub::plainEtag(text);
    };
    support::checkLinear({head,
                          {"<", ">", "<>", "<a>;", ",", "t=", "1", "-", "/", "\"", "W/", " ",
                           "rel=", "rel=\"next\"", "bytes ", "{\"error\":\"", "\xff"},
                          {},
                          {},
                          size_t{1} << 20});
}

void TestLongTexts::addresses() {
    const auto address = [](const std::string& text) {
        (void)hub::parseAddress(text, "https://huggingface.co");
        (void)hub::parseModelScopeAddress(text);
        (void)hub::fileNameProblem(text);
        (void)hub::mayLeaveFolder(text);
        (void)hub::clashingNames({text, "a"});
        if (const auto url = hub::parseUrl("https://a/b")) {
            (void)hub::resolved(*url, text);
        }
        (void)hub::percentDecoded(hub::percentEncoded(text, false));
        (void)hub::percentDecoded(text);
    };
    for (const char* const before : {"", "hf://", "https://huggingface.co/o/m/"}) {
        support::checkLinear({address,
                              {"a", "/", "a/", "./", "../", "@", ":", "%", "%41", " ", "#", "?",
                               "-", "https://", "\n", "\xff"},
                              before,
                              {},
                              size_t{1} << 20,
                              size_t{4} << 10});
    }
}

void TestLongTexts::queues() {
    const QTemporaryDir folder;
    const std::filesystem::path file(folder.filePath(QStringLiteral("a.json")).toStdString());
    const auto read = [&](const std::string& text) {
        support::writeText(file, support::numbered(text));
        (void)hub::readQueueFile(file);
    };
    support::checkLinear(
        {read,
         {R"({"id":"o/m#","revision":"main","folder":"/a","source":"modelscope"},)", "{},", "1,",
          "[", "\"a#\":1,"},
         R"({"kind":"belfry-downloads","version":1,"items":[)",
         "{}]}",
         size_t{16} << 20,
         0});
}

TEST_CLASS(TestLongTexts)
#include "tst_long_texts.moc"
