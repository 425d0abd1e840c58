// SPDX-License-Identifier: Apache-2.0
// Every value that tells of a reply, an exported map or an error has its English for the command
// line and words in each language of the window: a kind without a row here fails.
#include "engine/plan/export_english.h"
#include "engine/run/reply_english.h"
#include "tests/app/other_languages.h"
#include "ui/common/error_words.h"
#include "ui/common/reply_words.h"
#include "ui/layout/export_words.h"
#include "ui/style/format.h"

#include <QLocale>
#include <QTest>

#include <set>
#include <variant>

using engine::DeviceId;

class TestValueWords : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }
    void everyLoss_data();
    void everyLoss();
    void everyReplyNote_data();
    void everyReplyNote();
    void everyCause_data();
    void everyCause();
    void otherErrorsAsTheyAre();
};

void TestValueWords::everyLoss_data() {
    QTest::addColumn<engine::ExportLoss>("loss");
    QTest::addColumn<QString>("english");
    QTest::addColumn<QString>("words");
    using namespace engine::loss;
    std::set<size_t> kinds;
    const auto row = [&kinds](const char* name, const engine::ExportLoss& loss, const char* english,
                              const char* words) {
        kinds.insert(loss.index());
        QTest::newRow(name) << loss << QString::fromUtf8(english) << QString::fromUtf8(words);
    };
    row("shortage",
        Shortage{engine::issue::OverLimit{DeviceId::sim(0),
                                          3 << 20U,
                                          1 << 20U,
                                          {engine::MemoryBound::By::Free, 1 << 20U},
                                          {{{engine::PlanPart::Kind::Workspace}, 512}}}},
        "this plan does not fit: sim:0 needs 3.00 MiB (3145728 bytes) but may use 1.00 MiB "
        "(1048576 "
        "bytes), 2.00 MiB too much (1.00 MiB free)",
        "This plan does not fit: Simulated GPU 0 needs 3.0 MiB but may use 1.0 MiB: 2.0 MiB too "
        "much. The largest parts: workspace 512 B");
    row("computes elsewhere", ComputesElsewhere{2, DeviceId::cuda(0)},
        "2 tensors compute on another device here: accelerate stores \"cpu\" and \"disk\" there "
        "but "
        "computes on cuda:0, copying the weights for every call",
        "2 tensors compute on another device here: accelerate stores \"cpu\" and \"disk\" there "
        "but "
        "computes on GPU 0, copying the weights for every call.");
    row("one computes elsewhere", ComputesElsewhere{1, DeviceId::cuda(0)},
        "1 tensor computes on another device here: accelerate stores \"cpu\" and \"disk\" there "
        "but "
        "computes on cuda:0, copying the weights for every call",
        "1 tensor computes on another device here: accelerate stores \"cpu\" and \"disk\" there "
        "but "
        "computes on GPU 0, copying the weights for every call.");
    row("computes elsewhere, no GPU", ComputesElsewhere{2},
        "2 tensors compute on another device here: where nothing is stored on a GPU, accelerate "
        "computes on cpu",
        "2 tensors compute on another device here: where nothing is stored on a GPU, accelerate "
        "computes on the CPU.");
    row("one computes elsewhere, no GPU", ComputesElsewhere{1},
        "1 tensor computes on another device here: where nothing is stored on a GPU, accelerate "
        "computes on cpu",
        "1 tensor computes on another device here: where nothing is stored on a GPU, accelerate "
        "computes on the CPU.");
    row("copies", KeepsCopy{2},
        "2 tensors keep a copy on their computing device here; accelerate copies them for every "
        "call",
        "2 tensors keep a copy on their computing device here; accelerate copies them for every "
        "call.");
    row("copy", KeepsCopy{1},
        "1 tensor keeps a copy on its computing device here; accelerate copies it for every call",
        "1 tensor keeps a copy on its computing device here; accelerate copies it for every call.");
    row("table", TableInFormat{"a.weight", "nf4"},
        "a.weight in nf4: embedding tables and the head stay unquantized there",
        "a.weight in nf4: embedding tables and the head stay unquantized there.");
    row("head in 8 bits", HeadInt8{}, "int8 per row (head) does not exist there",
        "The head in 8 bits does not exist there.");
    row("host", HostUnquantized{2, 4 << 20U, 1 << 20U},
        "2 weights on cpu or disk have 4 bits here: transformers leaves what lies there in "
        "bfloat16, 4.00 MiB instead of 1.00 MiB",
        "2 weights on CPU or disk have 4 bits here: transformers leaves what lies there in "
        "bfloat16, 4.0 MiB instead of 1.0 MiB.");
    row("one on the host", HostUnquantized{1, 4 << 20U, 1 << 20U},
        "1 weight on cpu or disk has 4 bits here: transformers leaves what lies there in bfloat16, "
        "4.00 MiB instead of 1.00 MiB",
        "1 weight on CPU or disk has 4 bits here: transformers leaves what lies there in bfloat16, "
        "4.0 MiB instead of 1.0 MiB.");
    row("types", DenseFormat{2, "f32"},
        "2 tensors in f32: there what is not quantized has one dtype, bfloat16 in the script",
        "2 tensors in f32: there what is not quantized has one type, bfloat16 in the script.");
    row("type", DenseFormat{1, "f32"},
        "1 tensor in f32: there what is not quantized has one dtype, bfloat16 in the script",
        "1 tensor in f32: there what is not quantized has one type, bfloat16 in the script.");
    row("simulated", NoSimulatedGpus{}, "simulated GPUs exist only in Belfry",
        "Simulated GPUs exist only in Belfry.");
    row("tied", TiedCopies{}, "two copies of the tied table: accelerate may move both together",
        "Head and token embedding are two copies here; accelerate may move both together.");
    row("second format", SecondFormat{2, "fp4"},
        "2 weights in fp4: bitsandbytes has one 4-bit format per model",
        "2 weights in fp4: bitsandbytes has one 4-bit format per model.");
    row("one in a second format", SecondFormat{1, "fp4"},
        "1 weight in fp4: bitsandbytes has one 4-bit format per model",
        "1 weight in fp4: bitsandbytes has one 4-bit format per model.");
    row("blocks", OtherBlocks{64},
        "blocks of other than 64 weights: BitsAndBytesConfig has no such option",
        "Blocks of other than 64 weights: BitsAndBytesConfig has no such option.");
    row("split", SplitLayers{{3, 4, 7}},
        "layers split between devices (3-4, 7) go whole where their queries go; an -ot rule per "
        "tensor can split them there",
        "Layers split between devices (3–4, 7) go whole where their queries go; an -ot rule per "
        "tensor can split them there.");
    row("head", HeadElsewhere{"CUDA1", "CUDA0"},
        "the head computes on CUDA1 there, behind the last layers, not on CUDA0",
        "The head computes on CUDA1 there, behind the last layers, not on CUDA0.");
    row("caches", CacheElsewhere{{3, 4}},
        "the KV cache of layers 3-4 stays on the device that -ngl and -ts give them there",
        "The KV cache of layers 3–4 stays on the device that -ngl and -ts give them there.");
    row("cache", CacheElsewhere{{3}},
        "the KV cache of layer 3 stays on the device that -ngl and -ts give it there",
        "The KV cache of layer 3 stays on the device that -ngl and -ts give it there.");
    row("towers", TowersTogether{false, "CUDA0"},
        "vision and audio tower go together there: on the main GPU (CUDA0), or on the CPU with "
        "--no-mmproj-offload",
        "Vision and audio tower go together there: on the main GPU (CUDA0), or on the CPU with "
        "--no-mmproj-offload.");
    row("towers on the CPU", TowersTogether{true, "CUDA0"},
        "vision and audio tower go together there: on the CPU, or on the main GPU (CUDA0) without "
        "--no-mmproj-offload",
        "Vision and audio tower go together there: on the CPU, or on the main GPU (CUDA0) without "
        "--no-mmproj-offload.");
    row("per-layer table", PerLayerTableOnCpu{},
        "the per-layer embedding table is always on the CPU there",
        "The per-layer embeddings are always on the CPU there.");
    row("token table", TokenTableOnCpu{},
        "the token embedding is read on the CPU there; the head is a copy",
        "The token embedding is read on the CPU there; the head is a copy.");
    row("simulated as cards", SimulatedAsCards{},
        "simulated GPUs exist only in Belfry: they are named as cards",
        "Simulated GPUs exist only in Belfry: they are named as cards.");
    row("visitors", VisitorsOnCpu{2}, "2 weights that visit the GPU here compute on the CPU there",
        "2 weights that visit the GPU here compute on the CPU there.");
    row("visitor", VisitorsOnCpu{1}, "1 weight that visits the GPU here computes on the CPU there",
        "1 weight that visits the GPU here computes on the CPU there.");
    row("disk", WholeFileMapped{},
        "disk: there the whole file is memory-mapped (--mmap is the default)",
        "Disk: there the whole file is memory-mapped (--mmap is the default).");
    row("formats", FormatsOfFile{{"nf4", "as_stored"}},
        "formats (nf4, as_stored) are those of the GGUF file; there is no NF4, Q4_0 has the same "
        "size",
        "Formats (nf4, as_stored) are those of the GGUF file; there is no NF4, Q4_0 has the same "
        "size.");
    QCOMPARE(kinds.size(), std::variant_size_v<engine::ExportLoss>);
}

void TestValueWords::everyLoss() {
    QFETCH(engine::ExportLoss, loss);
    QFETCH(QString, english);
    QFETCH(QString, words);
    QCOMPARE(ui::fromUtf8(engine::inEnglish(loss)), english);
    QCOMPARE(ui::lossWords(loss), words);
    app_test::checkOtherLanguages(words, [&] { return ui::lossWords(loss); });
}

void TestValueWords::everyReplyNote_data() {
    QTest::addColumn<engine::ReplyNote>("note");
    QTest::addColumn<QString>("english");
    QTest::addColumn<QString>("words");
    using namespace engine::reply_note;
    std::set<size_t> kinds;
    const auto row = [&kinds](const char* name, const engine::ReplyNote& note, const char* english,
                              const char* words) {
        kinds.insert(note.index());
        QTest::newRow(name) << note << QString::fromUtf8(english) << QString::fromUtf8(words);
    };
    row("cut short", SoundCutShort{"WAV", 4096, 1024},
        "the WAV recording declares 4096 bytes of sound and has 1024: it was cut short or written "
        "without knowing its length; what is there is played",
        "The WAV recording declares 4.0 KiB of sound and has 1.0 KiB: it was cut short, or written "
        "without knowing its length. What is there is played.");
    row("ends early", SoundEndsEarly{"FLAC", 12.346, 3},
        "the FLAC recording declares 12.35 seconds and has 3.00: it was cut short or is damaged "
        "behind; what is there is played",
        "The FLAC recording declares 12.35 seconds and has 3.00: it was cut short, or is damaged "
        "behind. What is there is played.");
    row("Ogg", OggCutShort{},
        "the Ogg recording ends inside a page: it was cut short; what is there is played",
        "The Ogg recording was cut short. What is there is played.");
    row("flaw", PictureFlaw{"Corrupt JPEG data: 3 extraneous bytes"},
        "Corrupt JPEG data: 3 extraneous bytes",
        "The picture has a flaw (Corrupt JPEG data: 3 extraneous bytes) and may look wrong.");
    row("one weight lost", CacheLost{1, "a.weight"},
        "The weight cache was damaged while in use: 1 weight is made from the model files "
        "(a.weight), which is slower. Load the model again to have the cache written anew.",
        "A quantized copy was damaged while in use: 1 weight is made from the model files "
        "(a.weight), which is slower. Load the model again to have the copy written anew.");
    row("weights lost", CacheLost{2, "a.weight"},
        "The weight cache was damaged while in use: 2 weights are made from the model files "
        "(a.weight the last), which is slower. Load the model again to have the cache written "
        "anew.",
        "A quantized copy was damaged while in use: 2 weights are made from the model files "
        "(a.weight the last), which is slower. Load the model again to have the copy written "
        "anew.");
    row("template unreadable", TemplateUnreadable{"chat_template.jinja", "line 3"},
        "chat_template.jinja: its chat template cannot be compared with the prompt that is used "
        "(line 3)",
        "chat_template.jinja: its chat template cannot be compared with the prompt that is used "
        "(line 3).");
    row("another template", TemplateDiffers{"chat_template.jinja", "\"a\"", "\"b\""},
        "chat_template.jinja: its chat template would write this conversation otherwise: \"a\" "
        "where the prompt that is used has \"b\"",
        "chat_template.jinja: its chat template would write this conversation otherwise: \"a\" "
        "where the prompt that is used has \"b\".");
    QCOMPARE(kinds.size(), std::variant_size_v<engine::ReplyNote>);
}

void TestValueWords::everyReplyNote() {
    QFETCH(engine::ReplyNote, note);
    QFETCH(QString, english);
    QFETCH(QString, words);
    QCOMPARE(ui::fromUtf8(engine::inEnglish(note)), english);
    QCOMPARE(ui::replyNoteWords(note), words);
    app_test::checkOtherLanguages(words, [&] { return ui::replyNoteWords(note); });
}

void TestValueWords::everyCause_data() {
    QTest::addColumn<std::shared_ptr<const engine::ErrorCause>>("cause");
    QTest::addColumn<QString>("words");
    using namespace engine::cause;
    std::set<size_t> kinds;
    const auto row = [&kinds](const char* name, const auto& what, const char* words) {
        const auto cause = engine::causeOf(what);
        kinds.insert(cause->what.index());
        QTest::newRow(name) << cause << QString::fromUtf8(words);
    };
    engine::PlanIssue place;
    place.code = "DM01";
    place.finding = engine::issue::DefaultMissing{};
    place.line = 3;
    place.column = 7;
    row("map", BadPlan{{place}},
        "Line 3, column 7: \"default\" is missing. It says where everything goes that no key "
        "names, "
        "for example \"default\": \"cuda:0\".");
    engine::PlanIssue over;
    over.code = "DM09";
    over.finding = engine::issue::LimitWithoutDevice{DeviceId::cuda(3)};
    over.suggestions = {engine::LastResort{true, false}};
    row("two of a plan", BadPlan{{over, place}},
        "There is a limit for GPU 3, which this computer does not have.\n"
        "• a device with more memory, a smaller model, or a higher limit\n"
        "Line 3, column 7: \"default\" is missing. It says where everything goes that no key "
        "names, "
        "for example \"default\": \"cuda:0\".");
    place.finding = engine::issue::KvFormatMissing{};
    place.line = 0;
    const QString line = QStringLiteral(
        "This version keeps keys and values in bf16 and has no other format for them. Remove "
        "kv.format.\n");
    row("many", BadPlan{std::vector<engine::PlanIssue>(11, place)},
        qPrintable(line.repeated(8) + QStringLiteral("(and 3 more)")));
    row("prompt", PromptTooLong{87307, 4096},
        "The prompt has 87,307 tokens, the context holds 4,096. Shorten the conversation, or load "
        "with a larger “Context”.");
    row("context", ContextFull{4000, 97, 4096},
        "The context is full: 4,000 tokens are held, 97 more do not fit into 4,096. Start a new "
        "chat, or load with a larger “Context”.");
    row("image tokens", TooManyImageTokens{1120, 280},
        "1,120 tokens per picture were asked for; the model was loaded for at most 280. Load it "
        "again for that many.");
    row("picture", PictureTooLarge{70, 36},
        "The picture has 70 × 36 patches, more than the model was loaded for. Load it with more "
        "tokens per picture.");
    row("call", PictureOverCall{512},
        "A picture has more tokens than are read at once (512). Load the model with more tokens "
        "per picture.");
    using Option = BadOption::Option;
    row("weights", BadOption{Option::Weights, "nf5", {"none", "nf4"}},
        "“Weights” cannot be nf5: possible are none, nf4.");
    row("head", BadOption{Option::Head, "nf5", {"auto", "nf4"}},
        "the format of the head cannot be nf5: possible are auto, nf4.");
    row("blocks", BadOption{Option::BlockSize, "7"},
        "the size of blocks cannot be 7: a power of two from 32 to 4096 is possible.");
    row("not finite", NotFiniteOnce{},
        "Values that are not finite came out; computed once more, every layer gave finite ones. A "
        "device or its memory may be failing. Try again, or with everything on the CPU.");
    QCOMPARE(kinds.size(), std::variant_size_v<decltype(engine::ErrorCause::what)>);
}

void TestValueWords::everyCause() {
    QFETCH(std::shared_ptr<const engine::ErrorCause>, cause);
    QFETCH(QString, words);
    const engine::Error error{
        engine::ErrorCode::InvalidRequest, "load with a larger --context", {}, cause};
    QCOMPARE(ui::errorWords(error), words);
    QVERIFY(!words.contains(QStringLiteral("--")));
    app_test::checkOtherLanguages(words, [&] { return ui::errorWords(error); });
}

void TestValueWords::otherErrorsAsTheyAre() {
    const QString text = QStringLiteral("models--google--gemma: 87307 tokens -- as it is");
    QCOMPARE(ui::errorWords({engine::ErrorCode::InvalidFile, text.toStdString()}), text);
}

QTEST_MAIN(TestValueWords)
#include "tst_value_words.moc"
