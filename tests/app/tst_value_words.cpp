// SPDX-License-Identifier: Apache-2.0
// Every value that tells of a reply, an exported map, a model's or adapter's files or an error has
// its English for the command line and words in each language of the window: a kind without a row
// here fails.
#include "engine/files/oddity_english.h"
#include "engine/lora/adapter_english.h"
#include "engine/plan/export_english.h"
#include "engine/run/load_english.h"
#include "engine/run/reply_english.h"
#include "tests/app/other_languages.h"
#include "ui/common/error_words.h"
#include "ui/common/oddity_words.h"
#include "ui/common/reply_words.h"
#include "ui/common/sentence_words.h"
#include "ui/layout/export_words.h"
#include "ui/shell/adapter_words.h"
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
    void everyLoadNote_data();
    void everyLoadNote();
    void everyOddity_data();
    void everyOddity();
    void everyAdapterNote_data();
    void everyAdapterNote();
    void everyKeyReason();
    void everyCause_data();
    void everyCause();
    void sentences();
    void wholeSentences_data();
    void wholeSentences();
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
        "(1048576 bytes), 2.00 MiB too much (1.00 MiB free)",
        "This plan does not fit: Simulated GPU 0 needs 3.0 MiB but may use 1.0 MiB: 2.0 MiB too "
        "much. The largest parts: workspace 512 B");
    row("computes elsewhere", ComputesElsewhere{2, DeviceId::cuda(0)},
        "2 tensors compute on another device here: accelerate stores \"cpu\" and \"disk\" there "
        "but computes on cuda:0, copying the weights for every call",
        "2 tensors compute on another device here: accelerate stores \"cpu\" and \"disk\" there "
        "but computes on GPU 0, copying the weights for every call.");
    row("one computes elsewhere", ComputesElsewhere{1, DeviceId::cuda(0)},
        "1 tensor computes on another device here: accelerate stores \"cpu\" and \"disk\" there "
        "but computes on cuda:0, copying the weights for every call",
        "1 tensor computes on another device here: accelerate stores \"cpu\" and \"disk\" there "
        "but computes on GPU 0, copying the weights for every call.");
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
    QCOMPARE(kinds.size(), std::variant_size_v<engine::ExportLossKinds>);
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
    row("template unreadable", TemplateUnreadable{"chat_template.jinja", engine::asItIs("line 3")},
        "chat_template.jinja: its chat template cannot be compared with the prompt that is used "
        "(line 3)",
        "chat_template.jinja: its chat template cannot be compared with the prompt that is used "
        "(line 3).");
    row("another template", TemplateDiffers{"chat_template.jinja", "\"a\"", "\"b\""},
        "chat_template.jinja: its chat template would write this conversation otherwise: \"a\" "
        "where the prompt that is used has \"b\"",
        "chat_template.jinja: its chat template would write this conversation otherwise: \"a\" "
        "where the prompt that is used has \"b\".");
    row("ended by a server", EndedByServer{"content_filter"},
        "the server ended the reply: content_filter",
        "The server ended the reply: content_filter.");
    row("tool", ToolAsked{"weather", "{\"city\":\"Bern\"}"},
        "the model asks for the tool weather with {\"city\":\"Bern\"}, which nothing here runs",
        "The model asks for the tool weather with {\"city\":\"Bern\"}. Belfry does not run tools.");
    QCOMPARE(kinds.size(), std::variant_size_v<engine::ReplyNoteKinds>);
}

void TestValueWords::everyReplyNote() {
    QFETCH(engine::ReplyNote, note);
    QFETCH(QString, english);
    QFETCH(QString, words);
    QCOMPARE(ui::fromUtf8(engine::inEnglish(note)), english);
    QCOMPARE(ui::replyNoteWords(note), words);
    app_test::checkOtherLanguages(words, [&] { return ui::replyNoteWords(note); });
}

void TestValueWords::everyLoadNote_data() {
    QTest::addColumn<engine::LoadNote>("note");
    QTest::addColumn<QString>("english");
    using namespace engine::load_note;
    std::set<size_t> kinds;
    const auto row = [&kinds](const char* name, const engine::LoadNote& note, const char* english) {
        kinds.insert(note.index());
        QTest::newRow(name) << note << QString::fromUtf8(english);
    };
    engine::PlanIssue issue;
    issue.code = "DM22";
    issue.finding = engine::issue::MadeForOtherLayers{35, 30};
    issue.line = 3;
    issue.column = 7;
    row("warning", issue,
        "DM22 (line 3, column 7): the map was made for a model with 35 layers, this one has 30");
    row("note", engine::Note(engine::note::ManyConflicts{500}),
        "more than 500 pairs of keys contradict each other; only the first are listed");
    using Why = CacheUnused::Why;
    const auto unused = [&row](const char* name, Why why) {
        const std::string english =
            std::string("The weight cache a is not used and will be made again: ") + name + ".";
        row(name, CacheUnused{"a", why}, english.c_str());
    };
    unused("it cannot be opened", Why::CannotOpen);
    unused("it cannot be read", Why::CannotRead);
    unused("it is cut short", Why::CutShort);
    unused("it is of another version or model", Why::Other);
    unused("it is cut short or damaged", Why::CutOrDamaged);
    unused("its directory is damaged", Why::DirectoryDamaged);
    row("outdated", CacheOutdated{2, 9, "a.weight"},
        "The model files hold other values than when the weight cache was made, in 2 of 9 weights "
        "(first a.weight): these are made again.");
    row("one damaged", CacheDamaged{1, "a.weight"},
        "The weight cache was damaged: a.weight was made again from the model files. The cache is "
        "written anew.");
    row("two damaged", CacheDamaged{2, "a.weight"},
        "The weight cache was damaged: a.weight and one other weight were made again from the "
        "model "
        "files. The cache is written anew.");
    row("three damaged", CacheDamaged{3, "a.weight"},
        "The weight cache was damaged: a.weight and 2 other weights were made again from the model "
        "files. The cache is written anew.");
    row("rewritten", CacheRewritten{}, "The weight cache was damaged and is written anew.");
    row("not written", CacheNotWritten{engine::asItIs("the disk is full")},
        "The weight cache was not written: the disk is full");
    row("not kept", ContentsNotKept{engine::asItIs("the disk is full")},
        "Which contents the model files have could not be kept, the next load reads them all: the "
        "disk is full");
    row("state", StateMember{"a.weight", "b"},
        "a.weight: unknown member of its quantization state: b");
    row("expanded", Expanded{"a.weight", "nf4", "bf16"},
        "a.weight: stored as nf4, expanded to bf16");
    row("adapter", OfAdapter{"demo", engine::adapter_note::RuntimeConfig{}},
        "adapter demo: runtime_config is ignored, as PEFT does");
    row("left out", AdapterLeftOut{"demo", 134, 178, "a.lora_A.weight", {"no such module"}},
        "adapter demo: 134 of 178 tensors of its file are not applied, the first: a.lora_A.weight "
        "(no such module)");
    row("not used", NotUsed{"a.weight"}, "not used: a.weight (no module of this architecture)");
    row("not loaded", NotLoaded{1, "a.weight", "K/V of KV-sharing layers"},
        "not loaded: a.weight (K/V of KV-sharing layers)");
    row("many not loaded", NotLoaded{60, "a.weight", "K/V of KV-sharing layers"},
        "60 stored tensors without effect (K/V of KV-sharing layers) were not loaded");
    row("lost in use", engine::reply_note::CacheLost{1, "a.weight"},
        "The weight cache was damaged while in use: 1 weight is made from the model files "
        "(a.weight), which is slower. Load the model again to have the cache written anew.");
    QCOMPARE(kinds.size(), std::variant_size_v<engine::LoadNoteKinds>);
}

/// Told by the command line alone.
void TestValueWords::everyLoadNote() {
    QFETCH(engine::LoadNote, note);
    QFETCH(QString, english);
    QCOMPARE(ui::fromUtf8(engine::inEnglish(note)), english);
}

void TestValueWords::everyOddity_data() {
    QTest::addColumn<engine::ModelOddity>("oddity");
    QTest::addColumn<QString>("english");
    QTest::addColumn<QString>("words");
    using namespace engine::odd;
    std::set<size_t> kinds;
    const auto row = [&kinds](const char* name, const engine::ModelOddity& oddity,
                              const char* english, const char* words) {
        kinds.insert(oddity.index());
        QTest::newRow(name) << oddity << QString::fromUtf8(english) << QString::fromUtf8(words);
    };
    using Kind = ConfigMember::Kind;
    row("architecture", ConfigMember{Kind::NoArchitecture, "config.json", "architectures", "X"},
        "config.json: architectures is missing; taken as X",
        "config.json: architectures is missing and taken as X.");
    row("resize", ConfigMember{Kind::NotResized, "processor_config.json", "a.do_resize"},
        "processor_config.json: a.do_resize is false; pictures are resized all the same",
        "processor_config.json: a.do_resize is false. Pictures are resized all the same.");
    row("padding", ConfigMember{Kind::NotRight, "p.json", "padding_side"},
        "p.json: padding_side is not \"right\"; recordings are padded on the right",
        "p.json: padding_side is not \"right\". Recordings are padded on the right.");
    row("sliding", ConfigMember{Kind::EndsSliding, "config.json", "text_config.layer_types"},
        "config.json: text_config.layer_types ends with a sliding layer; the last layer is always "
        "full",
        "config.json: text_config.layer_types ends with a sliding layer. The last layer is always "
        "full.");
    row("rope", ConfigMember{Kind::OneRope, "config.json", "text_config.rope_parameters"},
        "config.json: text_config.rope_parameters has no members per layer type; it is taken for "
        "the full-attention layers",
        "config.json: text_config.rope_parameters has no members per layer type. It is taken for "
        "the full-attention layers.");
    row("left out", ConfigMember{Kind::LeftOut, "generation_config.json", "top_k", "[1]"},
        "generation_config.json: top_k is [1], which cannot be used there; it is left out",
        "generation_config.json: top_k is [1], which cannot be used there. It is left out.");
    row("taken as", ConfigMember{Kind::TakenAs, "generation_config.json", "top_p", "1"},
        "generation_config.json: top_p is out of its range; it is taken as 1",
        "generation_config.json: top_p is out of its range. It is taken as 1.");
    row("not run", ConfigMember{Kind::NotRun, "generation_config.json", "num_beams", "4"},
        "generation_config.json: num_beams is 4; this is not run here, so that replies can differ "
        "from those of transformers",
        "generation_config.json: num_beams is 4. This is not run here, so that replies can differ "
        "from those of transformers.");
    row("packed", PackedByConfig{},
        "config.json: its quantization_config tells which weights are packed in 4 bits, as the "
        "weight files are not there to say so",
        "The weights are not there; config.json says which of them are packed in 4 bits.");
    row("head is the table", HeadIsTable{"lm_head.weight"},
        "lm_head.weight: stands for the token embedding, which the files do not hold under its own "
        "name (config.json: both are one table)",
        "lm_head.weight stands for the token embedding, which the files do not hold under its own "
        "name (config.json: both are one table).");
    row("own head", OwnHead{"lm_head.weight", false},
        "lm_head.weight: the output head is a tensor of its own, not the token embedding",
        "lm_head.weight: the output head is a tensor of its own, not the token embedding.");
    row("own head, denied", OwnHead{"lm_head.weight", true},
        "lm_head.weight: is used as the output head, as its values are not those of the token "
        "embedding, although config.json says that both are one table; \"tie_word_embeddings\": "
        "false there says what the files hold",
        "lm_head.weight is used as the output head: its values are not those of the token "
        "embedding, although config.json says that both are one table. \"tie_word_embeddings\": "
        "false there says what the files hold.");
    row("template", ForeignTemplate{"chat_template.jinja", "<|im_start|>"},
        "chat_template.jinja: does not look like a Gemma 4 template; it is not used: this prompt "
        "is written with <|turn>, the template writes <|im_start|>. A model that was trained on "
        "the template's turns may answer worse",
        "chat_template.jinja does not look like a chat template of Gemma 4 and is not used: "
        "prompts are written with <|turn>, the template writes <|im_start|>. A model that was "
        "trained on its turns may answer worse.");
    row("template without turns", ForeignTemplate{"chat_template.jinja", ""},
        "chat_template.jinja: does not look like a Gemma 4 template; it is not used: this prompt "
        "is written with <|turn>, the template writes no marks of turns. A model that was trained "
        "on the template's turns may answer worse",
        "chat_template.jinja does not look like a chat template of Gemma 4 and is not used: "
        "prompts are written with <|turn>, the template writes no marks of turns. A model that was "
        "trained on its turns may answer worse.");
    row("further template", FurtherTemplate{"a.json (tools)"},
        "a.json (tools): a further chat template, chosen by name in transformers; it is not used",
        "a.json (tools) is a further chat template, chosen by name in transformers. It is not "
        "used.");
    row("template unread", TemplateUnread{engine::asItIs("a.json: bad")},
        "a.json: bad (its chat template is not known)",
        "The chat template of the model is not known: a.json: bad");
    row("no weights", NoWeights{{"a.safetensors"}, 1},
        "a.safetensors: holds only its header, no weights; download the whole file to load it",
        "a.safetensors holds only its header, no weights. Download the whole file to load it.");
    row("no weights in many", NoWeights{{"a", "b"}, 5},
        "a, b and 3 more: hold only their headers, no weights; download the whole files to load "
        "them",
        "a, b and 3 more hold only their headers, no weights. Download the whole files to load "
        "them.");
    row("weights unread", WeightsUnread{engine::asItIs("a.safetensors: is missing")},
        "a.safetensors: is missing", "The weights cannot be opened: a.safetensors: is missing");
    row("header", HeaderMember{"a.safetensors", "b", "c"},
        "a.safetensors: tensor b: unknown member \"c\" ignored (ST06)",
        "a.safetensors: the tensor b has an unknown member “c”, which is ignored.");
    row("more in the header", MoreHeaderMembers{"a.safetensors", 1200},
        "a.safetensors: 1200 more unknown members ignored (ST06)",
        "a.safetensors: 1,200 more unknown members are ignored.");
    row("type", ElementType{"a.safetensors", "b", "F8_E4M3"},
        "a.safetensors: tensor b: element type F8_E4M3 cannot be read; the tensor is skipped "
        "(ST05)",
        "a.safetensors: the tensor b has elements of the type F8_E4M3, which cannot be read. It is "
        "skipped.");
    row("no size", NoTotalSize{"i.json"},
        "i.json: metadata.total_size is not a plain whole number; it is ignored",
        "i.json: metadata.total_size is not a plain whole number and is ignored.");
    row("other size", OtherTotalSize{"i.json", 5000, 4000},
        "i.json: metadata.total_size is 5000, the tensors have 4000 bytes",
        "i.json: metadata.total_size is 5,000 bytes, the tensors have 4,000.");
    row("unnamed", UnnamedTensors{"i.json", {"a", "b"}, 5},
        "i.json: does not name these tensors of its shards, they are ignored: a, b and 3 more",
        "i.json does not name some tensors of its files, which are ignored: a, b and 3 more.");
    row("single", SingleFileUsed{},
        "both model.safetensors and model.safetensors.index.json exist; the single file is used",
        "There is one file of weights and an index of several. The single file is used.");
    row("would fail", LoadWouldFail{engine::asItIs("a: bad shape")},
        "a load would fail: a: bad shape", "Loading would fail: a: bad shape");
    row("would fail at more", LoadWouldFailAtMore{1200}, "a load would fail at 1200 more tensors",
        "Loading would fail at 1,200 more tensors.");
    row("post-processor", PostProcessor{"ByteLevel"},
        "tokenizer.json: post_processor (ByteLevel) is not applied: raw text gets no special "
        "tokens from it",
        "tokenizer.json: post_processor (ByteLevel) is not applied. Raw text gets no special "
        "tokens from it.");
    row("tokenizer's member", TokenizerMember{"\"a\""},
        "tokenizer.json: the member \"a\" is unknown and has no effect",
        "tokenizer.json: the member \"a\" is unknown and has no effect.");
    row("tokenizer refused", TokenizerRefused{engine::asItIs("tokenizer.json: bad")},
        "tokenizer.json: bad", "Loading would fail at the tokenizer: tokenizer.json: bad");
    row("no tokenizer", NoTokenizer{},
        "tokenizer.json is not in the folder: planning works, loading does not",
        "tokenizer.json is missing in the folder: layouts can be tried, loading cannot.");
    row("defaults", DefaultsUnread{engine::asItIs("g.json: bad")},
        "g.json: bad (the usual defaults of such models are used instead)",
        "The defaults of replies cannot be read (g.json: bad). The usual ones of such models are "
        "used.");
    row("spelled", SpellableToken{"\"###\""},
        "tokenizer.json: ordinary text becomes the special token \"###\"; it counts as a word and "
        "is shown in replies",
        "tokenizer.json: ordinary text becomes the special token \"###\". It counts as a word and "
        "is shown in replies.");
    QCOMPARE(kinds.size(), std::variant_size_v<engine::ModelOddityKinds>);
}

void TestValueWords::everyOddity() {
    QFETCH(engine::ModelOddity, oddity);
    QFETCH(QString, english);
    QFETCH(QString, words);
    QCOMPARE(ui::fromUtf8(engine::inEnglish(oddity)), english);
    QCOMPARE(ui::oddityWords(oddity), words);
    app_test::checkOtherLanguages(words, [&] { return ui::oddityWords(oddity); });
}

void TestValueWords::everyAdapterNote_data() {
    QTest::addColumn<engine::AdapterNote>("note");
    QTest::addColumn<QString>("english");
    QTest::addColumn<QString>("words");
    using namespace engine::adapter_note;
    std::set<size_t> kinds;
    const auto row = [&kinds](const char* name, const engine::AdapterNote& note,
                              const char* english, const char* words) {
        kinds.insert(note.index());
        QTest::newRow(name) << note << QString::fromUtf8(english) << QString::fromUtf8(words);
    };
    row("member", UnknownMember{"new_option", "3"},
        "adapter_config.json: new_option is 3, a member that is not known here; it is ignored, and "
        "the adapter may act otherwise than in PEFT",
        "new_option in adapter_config.json is 3, and is not known here. It is ignored; the adapter "
        "may act otherwise than in PEFT.");
    row("fan in", FanInFanOut{},
        "fan_in_fan_out is true; it has no meaning for linear layers and was reset",
        "fan_in_fan_out is true. It has no meaning for linear layers and was reset.");
    row("changed base", ChangedBase{"pissa"},
        "init_lora_weights is \"pissa\": accepted on request, right only on the changed base",
        "init_lora_weights is \"pissa\": the adapter is right only on the base that this changed.");
    row("runtime", RuntimeConfig{}, "runtime_config is ignored, as PEFT does",
        "runtime_config is ignored, as PEFT does.");
    row("training", TrainingOnly{"loftq_config"},
        "loftq_config concerns training only and is ignored",
        "loftq_config concerns training only and is ignored.");
    row("other base", OtherBase{"google/gemma-4-E4B-it", "e2b"},
        "made for google/gemma-4-E4B-it, loaded on e2b",
        "The adapter was made for google/gemma-4-E4B-it; this model is e2b.");
    row("unnamed", UnnamedReplacement{"a.weight"},
        "a.weight replaces a base tensor although modules_to_save does not name it",
        "a.weight replaces a tensor of the model although modules_to_save does not name it.");
    row("turned", ExpertOrder{true, "0.18.0"},
        "the experts' factors stand transposed, as PEFT before 0.19.1 stored them (the file was "
        "written by PEFT 0.18.0); they are turned round",
        "The factors of the experts stand transposed, as PEFT before 0.19.1 stored them (the file "
        "is of PEFT 0.18.0). They are turned round.");
    row("shapes count", ExpertOrder{false, ""},
        "the experts' factors have the shapes of PEFT 0.19.1 and later although the file was "
        "written without peft_version; the shapes count",
        "The factors of the experts have the shapes of PEFT 0.19.1 and later, although the file "
        "names no version. The shapes count.");
    row("pattern of modules",
        PatternUnread{engine::asItIs("target_modules: an atomic group"), false},
        "target_modules: an atomic group; the modules that have tensors in the file are taken as "
        "the targeted ones",
        "A pattern of modules cannot be read (target_modules: an atomic group). The modules that "
        "have tensors in the file are taken as the targeted ones.");
    row("pattern of ranks", PatternUnread{engine::asItIs("rank_pattern: an atomic group"), true},
        "rank_pattern: an atomic group; the ranks are taken from the shapes of the factors",
        "A pattern of ranks cannot be read (rank_pattern: an atomic group). The ranks are taken "
        "from the shapes of the factors.");
    row("template", Template{engine::odd::FurtherTemplate{"chat_template.jinja"}},
        "in its folder: chat_template.jinja: a further chat template, chosen by name in "
        "transformers; it is not used",
        "In the folder of the adapter: chat_template.jinja is a further chat template, chosen by "
        "name in transformers. It is not used.");
    row("tokens", UnknownTokens{"tokenizer.json", {"\"<A>\"", "\"<B>\""}, 5},
        "tokenizer.json in its folder has tokens that the model's tokenizer lacks: \"<A>\", "
        "\"<B>\" and 3 more. Prompts are cut with the model's tokenizer, these into several "
        "tokens, so that the adapter does not see what it was trained on; a copy of the model's "
        "folder with the adapter's tokenizer.json cuts them rightly",
        "tokenizer.json in the folder of the adapter has tokens that the tokenizer of the model "
        "lacks: \"<A>\", \"<B>\" and 3 more. Prompts are cut with that of the model, these into "
        "several tokens, so that the adapter does not see what it was trained on. A copy of the "
        "folder of the model with this tokenizer.json cuts them rightly.");
    row("tokenizer unread", TokenizerUnread{engine::asItIs("tokenizer.json: bad")},
        "in its folder: tokenizer.json: bad (whether the adapter needs further tokens is not "
        "known)",
        "The tokenizer in the folder of the adapter cannot be read (tokenizer.json: bad). Whether "
        "the adapter needs further tokens is not known.");
    QCOMPARE(kinds.size(), std::variant_size_v<engine::AdapterNoteKinds>);
}

void TestValueWords::everyAdapterNote() {
    QFETCH(engine::AdapterNote, note);
    QFETCH(QString, english);
    QFETCH(QString, words);
    QCOMPARE(ui::fromUtf8(engine::inEnglish(note)), english);
    QCOMPARE(ui::adapterNoteWords(note), words);
    app_test::checkOtherLanguages(words, [&] { return ui::adapterNoteWords(note); });
}

void TestValueWords::everyKeyReason() {
    using Why = engine::KeyReason::Why;
    std::set<QString> told;
    for (int why = static_cast<int>(Why::None) + 1; why <= static_cast<int>(Why::OtherRefused);
         ++why) {
        engine::KeyReason reason{"in English", static_cast<Why>(why), 6, 5};
        reason.name = "member";
        const QString words = ui::keyReasonWords(reason);
        QVERIFY2(!words.isEmpty() && words != QStringLiteral("in English"), qPrintable(words));
        QVERIFY2(told.insert(words).second, qPrintable(words));
        app_test::checkOtherLanguages(words, [&] { return ui::keyReasonWords(reason); });
    }
    QCOMPARE(told.size(), size_t{16});
    engine::KeyReason reason{"x", Why::NoModule};
    reason.name = "model.a";
    QCOMPARE(ui::keyReasonWords(reason), QStringLiteral("the model has no module model.a"));
    QVERIFY(ui::keyReasonWords({}).isEmpty());
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
        "names, for example \"default\": \"cuda:0\".");
    engine::PlanIssue over;
    over.code = "DM09";
    over.finding = engine::issue::LimitWithoutDevice{DeviceId::cuda(3)};
    over.suggestions = {engine::LastResort{true, false}};
    row("two of a plan", BadPlan{{over, place}},
        "There is a limit for GPU 3, which this computer does not have.\n• a device with more "
        "memory, a smaller model, or a higher limit\nLine 3, column 7: \"default\" is missing. It "
        "says where everything goes that no key names, for example \"default\": \"cuda:0\".");
    place.finding = engine::issue::KvFormatMissing{};
    place.line = 0;
    const QString line = QStringLiteral("This version keeps keys and values in bf16 and has no "
                                        "other format for them. Remove kv.format.\n");
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
    row("picture in text only", TowerLeftOut{false},
        "The model is loaded for text only, without its vision tower: it cannot see pictures. Turn "
        "off “Text only” and load it again.");
    row("sound in text only", TowerLeftOut{true},
        "The model is loaded for text only, without its audio tower: it cannot hear sounds. Turn "
        "off “Text only” and load it again.");
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

void TestValueWords::wholeSentences_data() {
    using engine::said;
    QTest::addColumn<engine::Sentence>("sentence");
    QTest::addColumn<QString>("words");
    const auto row = [](const engine::Sentence& sentence, const char* words) {
        QTest::newRow(words) << sentence << QString::fromUtf8(words);
    };
    const engine::Sentence killed = said("the engine's process crashed (%1)", "SIGSEGV");
    row(killed, "The engine's process crashed (SIGSEGV).");
    row(said("%1. Ask again", killed), "The engine's process crashed (SIGSEGV). Ask again.");
    row(said("tensor %1: is missing", "a.b"), "Tensor a.b: is missing.");
    row(said("decode-step: %1", 5), "Decode-step: 5.");
    row(said("Stopped already."), "Stopped already.");
    row(said("and so on ..."), "And so on ...");
    row(said("which?"), "Which?");
    // Names stay as they are.
    row(said("%1 is missing", "model.safetensors"), "model.safetensors is missing.");
    row(said("config.json: is empty"), "config.json: is empty.");
    row(said("--in-process has no value"), "--in-process has no value.");
    row(said("num_layers is 0"), "num_layers is 0.");
    row(said("cuda:0 is not there"), "cuda:0 is not there.");
    row(engine::asItIs("permission denied"), "permission denied.");
    row({}, "");
}

void TestValueWords::wholeSentences() {
    QFETCH(const engine::Sentence, sentence);
    QFETCH(const QString, words);
    QCOMPARE(ui::wholeSentence(sentence), words);
    const engine::Error error{engine::ErrorCode::Internal, sentence};
    QCOMPARE(ui::errorSentence(error), words);
}

void TestValueWords::sentences() {
    using engine::phrase;
    using engine::said;
    // What stands in a place may itself hold one, or be words.
    const engine::Error error{
        engine::ErrorCode::InvalidFile,
        said("%1: %2", "a %2.json",
             said("is %1, expected a whole number from %2 to %3", phrase("a list"), -7, 87307U))};
    QCOMPARE(error.message,
             std::string("a %2.json: is a list, expected a whole number from -7 to 87307"));
    const QString english =
        QStringLiteral("a %2.json: is a list, expected a whole number from -7 to 87,307");
    QCOMPARE(ui::errorWords(error), english);
    app_test::checkOtherLanguages(english, [&] { return ui::errorWords(error); });

    engine::Error longer = error;
    longer.say(said("%1; the former model could not be loaded again: %2", longer.told(),
                    engine::Error{engine::ErrorCode::Internal, "no %1"}.told()));
    QCOMPARE(longer.message, error.message + "; the former model could not be loaded again: no %1");
    QCOMPARE(ui::errorWords(longer),
             english + QStringLiteral("; the former model could not be loaded again: no %1"));

    app::initTranslationResources();
    QTranslator translator;
    QVERIFY(translator.load(QStringLiteral(":/translations/belfry_de.qm")));
    QCoreApplication::installTranslator(&translator);
    QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
    const QString german = ui::errorWords(error);
    const QString number = ui::sentenceWords(said("%1", 0.25));
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    QCoreApplication::removeTranslator(&translator);
    QCOMPARE(german,
             QStringLiteral("a %2.json: ist eine Liste, erwartet wird eine ganze Zahl von -7 bis "
                            "87.307"));
    QCOMPARE(number, QStringLiteral("0,25"));
}

void TestValueWords::otherErrorsAsTheyAre() {
    const QString text = QStringLiteral("models--google--gemma: 87307 tokens -- as it is");
    QCOMPARE(ui::errorWords({engine::ErrorCode::InvalidFile, text.toStdString()}), text);
}

QTEST_MAIN(TestValueWords)
#include "tst_value_words.moc"
