// SPDX-License-Identifier: Apache-2.0
// What a person types for a model, what the environment says of the cache, addresses.
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <fstream>
#include <span>

#include "models/hub/cache_layout.h"
#include "models/hub/file_choice.h"
#include "models/hub/lists.h"
#include "models/hub/names.h"
#include "models/hub/token.h"
#include "models/hub/url.h"

namespace fs = std::filesystem;
namespace hub = models::hub;

class TestNames : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void addresses_data();
    void addresses();
    void folders();
    void cacheOfTheEnvironment();
    void variables();
    void urls_data();
    void urls();
    void oddFileNames_data();
    void oddFileNames();
    void tokens();
};

void TestNames::addresses_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("id"); // empty: refused
    QTest::addColumn<QByteArray>("revision");
    QTest::addColumn<QByteArray>("endpoint");
    const auto row = [](const char* text, const char* id, const char* revision = "main",
                        const char* endpoint = "https://huggingface.co") {
        QTest::addRow("%s at %s", text, endpoint)
            << QByteArray(text) << QByteArray(id) << QByteArray(revision) << QByteArray(endpoint);
    };
    for (const char* mirror : {"https://mirror.example", "http://127.0.0.1:80/hub"}) {
        row("hf.co/a/b", "a/b", "main", mirror);
        row("https://hf.co/a/b/tree/dev", "a/b", "dev", mirror);
        row("huggingface.co/a/b", "a/b", "main", mirror);
        row("https://huggingface.co/a/b", "a/b", "main", mirror);
        row("https://example.com/a/b", "", "main", mirror);
    }
    row("google/gemma-4-E2B-it", "google/gemma-4-E2B-it");
    row("gpt2", "gpt2");
    row("a/b@v1.0", "a/b", "v1.0");
    row("a/b@refs/pr/1", "a/b", "refs/pr/1");
    row("hf://a/b@dev", "a/b", "dev");
    row("https://huggingface.co/a/b", "a/b");
    row("https://huggingface.co/a/b/", "a/b");
    row("https://huggingface.co/a/b/tree/dev", "a/b", "dev");
    row("https://huggingface.co/a/b/tree/refs%2Fpr%2F1", "a/b", "refs/pr/1");
    row("https://huggingface.co/a/b/blob/main/config.json", "a/b");
    row("https://huggingface.co/a/b/resolve/v2/config.json?download=true", "a/b", "v2");
    row("hf.co/a/b", "a/b");
    row("https://hf.co/a/b/tree/dev", "a/b", "dev");
    row("huggingface.co/a/b", "a/b");
    row("  a/b/ \n", "a/b");
    row("https://example.com/a/b", "");
    row("hf.co.example/a/b", "");
    row("http://huggingface.co/a/b", "");
    row("https://huggingface.co/", "");
    row("https://user:secret@huggingface.co/a/b", "");
    row("a/b:Q4_K_M", "a/b");
    row("a/b:UD-Q4_K_XL@v1", "a/b", "v1");
    row("https://hf.co/a/b:q8_0", "a/b");
    row("a/b:", "");
    row("a/b:../x", "");
    row("a/b:x:y", "");
    row("", "");
    row("a/b/c", "");
    row("../b", "");
    row("a/..", "");
    row("a/b--c", "");
    row("a/-b", "");
    row("a/b.git", "");
    row("a/b c", "");
    row("a/b@", "");
    row("a/b@../../x", "");
    row("a/b@x\ny", "");
}

void TestNames::addresses() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, id);
    QFETCH(QByteArray, revision);
    QFETCH(QByteArray, endpoint);
    const auto address = hub::parseAddress(text.toStdString(), endpoint.toStdString());
    QCOMPARE(address.has_value(), !id.isEmpty());
    if (address.has_value()) {
        QCOMPARE(address->id, id.toStdString());
        QCOMPARE(address->revision, revision.toStdString());
    } else {
        QVERIFY(address.error().message.find("expected OWNER/NAME") != std::string::npos);
        QVERIFY(address.error().message.find("secret") == std::string::npos || text.contains('@'));
    }
}

void TestNames::oddFileNames_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<bool>("is_refused");    // the list as a whole
    QTest::addColumn<QByteArray>("problem"); // as on every system; empty: on Windows alone
    const auto row = [](const char* name, bool is_refused, const char* problem = "") {
        QTest::newRow(name) << QByteArray(name) << is_refused << QByteArray(problem);
    };
    row("a:b", false);
    row("what?", false);
    row("a|b", false);
    row("aux.md", false);
    row("folder/LPT1", false);
    row("ends with a dot.", false);
    row("ends with a blank ", false);
    row("line\nend", false, "control character");
    row("line\nend.json", false, "control character"); // the pattern asks for *.json
    row("tab\t.jinja", false, "control character");
    row("../evil", true);
    row("/etc/passwd", true);
    row("a//b", true);
    row("a/./b", true);
}

/// One odd name in a repository: the model is fetched all the same, unless the name could leave its
/// folder.
void TestNames::oddFileNames() {
    QFETCH(QByteArray, name);
    QFETCH(bool, is_refused);
    QFETCH(QByteArray, problem);
    nlohmann::json list = nlohmann::json::array();
    for (const std::string& path : {std::string("model.safetensors"), name.toStdString(),
                                    std::string("README.md"), std::string("readme.md")}) {
        list.push_back(
            {{"type", "file"}, {"path", path}, {"size", 5}, {"oid", std::string(40, 'a')}});
    }
    std::vector<hub::ListedFile> files;
    const auto outcome = hub::readFileList(list.dump(), {}, 100, files);
    QCOMPARE(!outcome.has_value(), is_refused);
    if (is_refused) {
        return;
    }
    QCOMPARE(files.size(), size_t{4});
#ifdef _WIN32
    QVERIFY(files[1].problem != nullptr);
#else
    QCOMPARE(files[1].problem != nullptr, !problem.isEmpty());
    QVERIFY(problem.isEmpty() || QByteArray(files[1].problem).contains(problem));
#endif
    const hub::FileChoice some = hub::chooseFiles(files, /*takes_all=*/false);
    const bool keeps_both = files[0].problem == nullptr && some.wanted.size() == 3;
#ifdef _WIN32
    QVERIFY(!keeps_both);
#else
    QVERIFY(keeps_both);
#endif
    QVERIFY(hub::checkNames(some.wanted, "a/b").has_value());
    const hub::FileChoice all = hub::chooseFiles(files, /*takes_all=*/true);
    QCOMPARE(all.wanted.size(), size_t{4});
    QCOMPARE(hub::checkNames(all.wanted, "a/b").has_value(),
             keeps_both && files[1].problem == nullptr);
}

void TestNames::folders() {
    QCOMPARE(hub::repositoryFolderName("google/gemma-4"), std::string("models--google--gemma-4"));
    QCOMPARE(*hub::idOfFolderName("models--google--gemma-4"), std::string("google/gemma-4"));
    QCOMPARE(*hub::idOfFolderName("models--gpt2"), std::string("gpt2"));
    for (const char* other :
         {"datasets--a--b", "models--", "models----b", "models--a--", "blobs"}) {
        QVERIFY2(!hub::idOfFolderName(other).has_value(), other);
    }
    const hub::RepositoryLayout layout("/c", "a/b");
    QCOMPARE(layout.blob("e"), fs::path("/c/models--a--b/blobs/e"));
    QCOMPARE(layout.partialBlob("e"), fs::path("/c/models--a--b/blobs/e.incomplete"));
    QCOMPARE(layout.file("d", "x/y"), fs::path("/c/models--a--b/snapshots/d/x/y"));
    QCOMPARE(layout.ref("main"), fs::path("/c/models--a--b/refs/main"));
    QCOMPARE(layout.lock("e"), fs::path("/c/.locks/models--a--b/e.lock"));
    QCOMPARE(hub::linkTarget("x", "e"), fs::path("../../blobs/e"));
    QCOMPARE(hub::linkTarget("x/y/z", "e"), fs::path("../../../../blobs/e"));
}

void TestNames::cacheOfTheEnvironment() {
    hub::Environment environment;
    QVERIFY(hub::cacheFolder(environment).empty());
    QVERIFY(hub::tokenFile(environment).empty());
    QCOMPARE(hub::endpoint(environment), std::string("https://huggingface.co"));
    environment.home = "/home/u";
    QCOMPARE(hub::cacheFolder(environment), fs::path("/home/u/.cache/huggingface/hub"));
    environment.xdg_cache_home = "/x";
    QCOMPARE(hub::cacheFolder(environment), fs::path("/x/huggingface/hub"));
    environment.hf_home = "~/hf";
    QCOMPARE(hub::cacheFolder(environment), fs::path("/home/u/hf/hub"));
    QCOMPARE(hub::tokenFile(environment), fs::path("/home/u/hf/token"));
    environment.huggingface_hub_cache = "/old";
    QCOMPARE(hub::cacheFolder(environment), fs::path("/old"));
    environment.hf_hub_cache = "/new";
    QCOMPARE(hub::cacheFolder(environment), fs::path("/new"));
    environment.hf_endpoint = "https://mirror.example//";
    QCOMPARE(hub::endpoint(environment), std::string("https://mirror.example"));
    for (const char* on : {"1", "on", "True", "YES"}) {
        QVERIFY2(hub::isSwitchedOn(on), on);
    }
    for (const char* off : {"", "0", "no", "2"}) {
        QVERIFY2(!hub::isSwitchedOn(off), off);
    }
}

void TestNames::variables() {
    const auto value_of = [](const std::string& name) {
        return name == "A" ? std::optional<std::string>("x/y") : std::nullopt;
    };
    QCOMPARE(hub::withVariables("$A/b/${A}", value_of), std::string("x/y/b/x/y"));
    QCOMPARE(hub::withVariables("$B/${B}/${A", value_of), std::string("$B/${B}/${A"));
    QCOMPARE(hub::withVariables("a$", value_of), std::string("a$"));
}

void TestNames::urls_data() {
    QTest::addColumn<QByteArray>("base");
    QTest::addColumn<QByteArray>("location");
    QTest::addColumn<QByteArray>("expected"); // empty: refused
    const auto row = [](const char* location, const char* expected) {
        QTest::newRow(location) << QByteArray("https://h.example/a/b?q=1") << QByteArray(location)
                                << QByteArray(expected);
    };
    row("/c/d?e=f#g", "https://h.example/c/d?e=f");
    row("c", "https://h.example/a/c");
    row("../../../c", "https://h.example/c");
    row("?x", "https://h.example/a/b?x");
    row("//other.example/c", "https://other.example/c");
    row("HTTP://Other.Example:80/c", "http://other.example/c");
    row("https://o.example:444", "https://o.example:444/");
    row("https://[::1]:8080/x", "https://[::1]:8080/x");
    row("https://o.example@evil.example/", "");
    row("https://o.example:99999/", "");
    row("https:///x", "");
    row("ftp://o.example/", "");
    row("javascript:alert(1)", "");
    row("https://o.example/a b", "");
    row("https://o.example\\@evil.example/", "");
    row("", "");
}

void TestNames::urls() {
    QFETCH(QByteArray, base);
    QFETCH(QByteArray, location);
    QFETCH(QByteArray, expected);
    const auto url = hub::resolved(*hub::parseUrl(base.toStdString()), location.toStdString());
    QCOMPARE(url.has_value() ? url->text() : std::string(), expected.toStdString());
}

void TestNames::tokens() {
    QTemporaryDir folder;
    const fs::path file = folder.path().toStdString() + "/token";
    hub::Environment environment;
    environment.hf_token_path = file;
    QCOMPARE(*hub::findToken(environment), std::string());
    std::ofstream(file) << "  hf_fromfile\r\n";
    QCOMPARE(*hub::findToken(environment), std::string("hf_fromfile"));
    environment.hugging_face_hub_token = "hf_older";
    QCOMPARE(*hub::findToken(environment), std::string("hf_older"));
    environment.hf_token = "hf_set\n";
    QCOMPARE(*hub::findToken(environment), std::string("hf_set"));
    environment.hf_token = "hf_set\r\nHost: evil";
    const auto wrong = hub::findToken(environment);
    QVERIFY(!wrong.has_value());
    QVERIFY(wrong.error().message.find("hf_set") == std::string::npos);
    environment.hf_hub_disable_implicit_token = "1";
    QCOMPARE(*hub::findToken(environment), std::string());
}

TEST_CLASS_WITH(QCoreApplication, TestNames)
#include "tst_names.moc"
