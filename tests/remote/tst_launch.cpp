// SPDX-License-Identifier: Apache-2.0
// From a placement to commands for a server: words that a shell and compose take as they are meant,
// and every difference named.
#include "engine/base/sentence_english.h"
#include "tests/support/program/test_class.h"

#include <QProcess>
#include <QTest>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "remote/launch.h"

using engine::DeviceId;

namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30U;

engine::ModelSummary summary(int64_t parameters = 5'000'000'000) {
    engine::ModelSummary model;
    model.parameters = parameters;
    model.quantization = "none";
    model.has_vision = true;
    model.has_audio = true;
    return model;
}

engine::PlacementPlan plan(std::vector<DeviceId> places) {
    engine::PlacementPlan plan;
    plan.context = 8192;
    for (size_t i = 0; i < places.size(); ++i) {
        engine::ModulePlacement module;
        module.store = module.compute = places[i];
        module.part = engine::layerPart(static_cast<int>(i));
        plan.modules.push_back(module);
        engine::DevicePlan device;
        device.id = places[i];
        device.parts[engine::MemoryPart::Kv] = kGiB;
        plan.devices.push_back(device);
    }
    return plan;
}

engine::LoadRequest request(const std::string& model = "/models/gemma-4-E2B-it") {
    engine::LoadRequest request;
    request.model = model;
    return request;
}

bool says(const engine::LaunchForm& form, const char* words) {
    return std::any_of(form.losses.begin(), form.losses.end(), [&](const engine::Sentence& loss) {
        return engine::inEnglish(loss).find(words) != std::string::npos;
    });
}

/// What POSIX makes of the words of a command as ours are, one a line and without the program: a
/// key that is set first, and one command of words in single quotes and plain ones. Anything else
/// that a shell would read is told.
std::string wordsByRule(const std::string& command) {
    constexpr std::string_view kPlain = "-_./:=,+@%";
    const size_t first_line = command.find('\n');
    std::string lines;
    std::string word;
    bool is_word = false;
    bool is_program = true;
    for (size_t i = first_line + 1; i < command.size(); ++i) {
        const char c = command[i];
        if (c == ' ' || c == '\n') {
            if (std::exchange(is_word, false)) {
                lines += std::exchange(is_program, false) ? std::string() : word + "\n";
                word.clear();
            }
            if (c == '\n' && i + 1 < command.size()) {
                return "more than one command\n";
            }
            continue;
        }
        if (c == '\\' && command.compare(i, 2, "\\\n") == 0) {
            ++i; // the line goes on
            continue;
        }
        is_word = true;
        if (c == '\\' && i + 1 < command.size()) {
            word += command[++i];
        } else if (c == '\'') {
            const size_t close = command.find('\'', i + 1);
            if (close == std::string::npos) {
                return "a quote without end\n";
            }
            word += command.substr(i + 1, close - i - 1);
            i = close;
        } else if (command.compare(i, 13, "\"$SGLANG_KEY\"") == 0) {
            word += "00";
            i += 12;
        } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                   kPlain.find(c) != std::string_view::npos) {
            word += c;
        } else {
            return std::string("a character that a shell would take: ") + c + "\n";
        }
    }
    const bool sets_key = command.starts_with("export ") &&
                          command.compare(first_line - 26, 26, "=\"$(openssl rand -hex 24)\"") == 0;
    return sets_key ? lines : "no key is set\n";
}

/// What a shell makes of a command's words, one a line; where there is none, what it would by rule.
QByteArray wordsInShell(const std::string& command) {
    const QByteArray by_rule = QByteArray::fromStdString(wordsByRule(command));
#ifdef _WIN32
    return by_rule;
#else
    QProcess shell;
    const std::string script = "vllm() { printf '%s\\n' \"$@\"; }; python() { vllm \"$@\"; }; "
                               "openssl() { echo 00; }\n" +
                               command;
    shell.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), QString::fromStdString(script)});
    shell.waitForFinished();
    const QByteArray words = shell.readAllStandardError() + shell.readAllStandardOutput();
    return words == by_rule ? words : "the rule says: " + by_rule + "the shell says: " + words;
#endif
}

} // namespace

class TestLaunch : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void plainPlan();
    void countsCards();
    void cutsIntoStages();
    void namesWhatDiffers();
    void adapters();
    void quotes();
    void hubNames();
};

void TestLaunch::plainPlan() {
    const auto launch = remote::serverLaunch(
        request("/home/me/.cache/huggingface/hub/models--google--gemma-4-E2B-it/snapshots/abc"),
        summary(), plan({DeviceId::cuda(0)}));
    QCOMPARE(launch.forms.size(), size_t{2});
    const engine::LaunchForm& vllm = launch.forms[0];
    QCOMPARE(wordsInShell(vllm.command),
             QByteArray("serve\ngoogle/gemma-4-E2B-it\n--served-model-name\ngemma-4-E2B-it\n"
                        "--dtype\nbfloat16\n--tensor-parallel-size\n1\n"
                        "--gpu-memory-utilization\n0.90\n--max-model-len\n8192\n"
                        "--limit-mm-per-prompt\n{\"image\":4,\"audio\":2}\n"
                        "--reasoning-parser\ngemma4\n--enable-auto-tool-choice\n"
                        "--tool-call-parser\ngemma4\n--host\n127.0.0.1\n--port\n8000\n"));
    QVERIFY(vllm.losses.empty());
    QVERIFY(launch.merge_command.empty());
    // The key is nowhere an argument of vLLM.
    QVERIFY(vllm.command.find("--api-key") == std::string::npos);
    QVERIFY(vllm.compose.find("VLLM_API_KEY: ${VLLM_API_KEY:?set a key}") != std::string::npos);
    QVERIFY(vllm.compose.find("\"127.0.0.1:8000:8000\"") != std::string::npos);
    const engine::LaunchForm& sglang = launch.forms[1];
    QVERIFY(wordsInShell(sglang.command)
                .contains("--model-path\ngoogle/gemma-4-E2B-it\n--api-key\n00\n"));
    QVERIFY(says(sglang, "list of processes"));
}

void TestLaunch::countsCards() {
    const auto count = [](int64_t parameters, const engine::ServerCards& cards) {
        return remote::serverLaunch(request(), summary(parameters), plan({DeviceId::cuda(0)}),
                                    cards)
            .cards.count;
    };
    QCOMPARE(count(5'000'000'000, {}), 1);
    QCOMPARE(count(31'000'000'000, {}), 1);
    QCOMPARE(count(31'000'000'000, {0, 24 * kGiB}), 4);
    QCOMPARE(count(31'000'000'000, {0, 4 * kGiB}), 8); // too little, and the figure says so
    QCOMPARE(count(5'000'000'000, {4, 80 * kGiB}), 4);
    QCOMPARE(count(5'000'000'000, {3, 80 * kGiB}), 2); // heads do not divide by 3
    QCOMPARE(count(5'000'000'000, {5, 80 * kGiB}), 1); // nobody offers that: as few as hold it
    const auto two = remote::serverLaunch(request(), summary(31'000'000'000),
                                          plan({DeviceId::cuda(0)}), {2, 80 * kGiB});
    QVERIFY(two.bytes_each > 30 * kGiB && two.bytes_each < 36 * kGiB);
    QVERIFY(wordsInShell(two.forms[0].command).contains("--tensor-parallel-size\n2\n"));
    QVERIFY(two.forms[0].compose.find("count: 2") != std::string::npos);
}

/// Counts that tensor parallel cannot use.
void TestLaunch::cutsIntoStages() {
    engine::ModelSummary model = summary(31'000'000'000);
    model.layers.resize(60);
    auto launch = remote::serverLaunch(request(), model, plan({DeviceId::cuda(0)}), {6, 24 * kGiB});
    QCOMPARE(launch.cards.count, 6);
    QVERIFY(wordsInShell(launch.forms[0].command)
                .contains("--tensor-parallel-size\n2\n--gpu-memory-utilization\n0.90\n"
                          "--pipeline-parallel-size\n3\n"));
    QVERIFY(launch.forms[0].compose.find("count: 6") != std::string::npos);
    QVERIFY(wordsInShell(launch.forms[1].command).contains("--tp\n2\n"));
    QVERIFY(wordsInShell(launch.forms[1].command).contains("--pp-size\n3\n"));
    QVERIFY(says(launch.forms[0], "3 stages of the same size"));
    // Layers that read the cache of others stay together.
    model.layers.back().is_kv_shared = true;
    launch = remote::serverLaunch(request(), model, plan({DeviceId::cuda(0)}), {3, 80 * kGiB});
    QCOMPARE(launch.cards.count, 2);
    QVERIFY(!wordsInShell(launch.forms[0].command).contains("pipeline"));
    QVERIFY(says(launch.forms[0], "cannot be cut into stages") &&
            says(launch.forms[0], "the commands take 2"));
}

void TestLaunch::namesWhatDiffers() {
    engine::LoadRequest wanted = request();
    wanted.quant = "nf4-dq";
    wanted.limits = {{"cuda:0", kGiB}};
    wanted.is_text_only = true;
    wanted.draft = "auto";
    const auto launch = remote::serverLaunch(
        wanted, summary(), plan({DeviceId::cuda(0), DeviceId::cpu(), DeviceId::disk()}));
    for (const engine::LaunchForm& form : launch.forms) {
        for (const char* words : {"4-bit weights", "on the processor or on disk", "limits",
                                  "text only", "drafting", "copy it to the server"}) {
            QVERIFY2(says(form, words), words);
        }
        QVERIFY(form.command.find("quantization") == std::string::npos);
    }
    const auto cards =
        remote::serverLaunch(request(), summary(), plan({DeviceId::cuda(0), DeviceId::cuda(1)}));
    QVERIFY(says(cards.forms[0], "which part is on which card"));
    QVERIFY(!says(cards.forms[0], "on the processor"));
}

void TestLaunch::adapters() {
    engine::ModelSummary model = summary();
    engine::AdapterSummary one;
    one.folder = "/a/poems";
    one.rank = 20;
    engine::AdapterSummary two;
    two.folder = "/b/poems";
    two.rank = 8;
    two.vision = 3;
    model.adapters = {one, two};
    engine::LoadRequest wanted = request();
    wanted.adapters = {{"/a/poems", 1.0, true}};
    auto launch = remote::serverLaunch(wanted, model, plan({DeviceId::cuda(0)}));
    QVERIFY(wordsInShell(launch.forms[0].command)
                .contains("--enable-lora\n--max-lora-rank\n32\n--lora-modules\npoems=/a/poems\n"));
    QVERIFY(launch.forms[0].compose.find("/a/poems:/adapters/poems:ro") != std::string::npos);
    QVERIFY(launch.forms[0].compose.find("poems=/adapters/poems") != std::string::npos);
    QVERIFY(launch.merge_command.empty());
    wanted.adapters = {{"/a/poems", 0.5, true}, {"/b/poems", 1.0, true}, {"/c/off", 1.0, false}};
    launch = remote::serverLaunch(wanted, model, plan({DeviceId::cuda(0)}));
    const engine::LaunchForm& vllm = launch.forms[0];
    QVERIFY(wordsInShell(vllm.command).contains("poems=/a/poems\npoems-2=/b/poems\n"));
    QVERIFY(wordsInShell(vllm.command).contains("--enable-tower-connector-lora\n"));
    QVERIFY(!wordsInShell(vllm.command).contains("/c/off"));
    QVERIFY(says(vllm, "strength 0.5") && says(vllm, "several adapters") &&
            says(vllm, "experimental"));
    QCOMPARE(launch.merge_command,
             std::string("belfry-cli merge /models/gemma-4-E2B-it --adapter /a/poems=0.5 "
                         "--adapter /b/poems --out gemma-4-E2B-it-merged\n"));
    QCOMPARE(launch.stack_command,
             std::string("belfry-cli merge /models/gemma-4-E2B-it --adapter /a/poems=0.5 "
                         "--adapter /b/poems --stack --out gemma-4-E2B-it-adapters\n"));
    QVERIFY(says(vllm, "make one adapter of it"));
    launch = remote::serverLaunch(wanted, model, plan({DeviceId::cuda(0)}), {2, 80 * kGiB});
    QVERIFY(!wordsInShell(launch.forms[0].command).contains("tower-connector"));
    QVERIFY(says(launch.forms[0], "not applied on several cards"));
    // What is more than a sum is merged or nothing.
    for (const char* kind : {"dora", "lora+bias", "lora+tokens", "lora+saved", "lora+experts"}) {
        model.adapters[0].kind = kind;
        launch = remote::serverLaunch(wanted, model, plan({DeviceId::cuda(0)}));
        QVERIFY2(launch.stack_command.empty(), kind);
        QVERIFY(!launch.merge_command.empty() && !says(launch.forms[0], "make one adapter"));
    }
    model.adapters[0].kind = "rslora+embedding";
    wanted.adapters = {{"/a/poems", 0.5, true}};
    launch = remote::serverLaunch(wanted, model, plan({DeviceId::cuda(0)}));
    QVERIFY(!launch.stack_command.empty()); // the strength alone
}

/// Names that a shell or compose would take apart.
void TestLaunch::quotes() {
    const std::string evil = "/m/it's $(touch x) \"a\" \\ ;rm -rf ~\n#";
    const auto launch = remote::serverLaunch(request(evil), summary(), plan({DeviceId::cuda(0)}));
    const QByteArray words = wordsInShell(launch.forms[0].command);
    QVERIFY2(words.startsWith("serve\n" + QByteArray::fromStdString(evil) + "\n"), words);
    QVERIFY(launch.forms[0].compose.find("$$(touch x)") != std::string::npos);
    QVERIFY(launch.forms[0].compose.find("\\n#:/model:ro\"") != std::string::npos);
    QCOMPARE(remote::shellWord(""), std::string("''"));
    QCOMPARE(remote::shellWord("a-b_c.d/e"), std::string("a-b_c.d/e"));
}

void TestLaunch::hubNames() {
    QCOMPARE(remote::modelSource("/c/models--org--name/snapshots/1234"), std::string("org/name"));
    QCOMPARE(remote::modelSource("/c/models--org--na--me/snapshots/1"), std::string("org/na--me"));
    QCOMPARE(remote::modelSource("/c/models--org--name"), std::string("/c/models--org--name"));
    QCOMPARE(remote::modelSource("/c/xmodels--a--b/snapshots/1"),
             std::string("/c/xmodels--a--b/snapshots/1"));
    QCOMPARE(remote::modelSource("demo"), std::string("demo"));
}

TEST_CLASS_WITH(QCoreApplication, TestLaunch)
#include "tst_launch.moc"
