// SPDX-License-Identifier: Apache-2.0
// Broken model.safetensors.index.json files and shards that disagree with their index.
#pragma once

#include "tests/engine/files/malformed_case.h"
#include "tests/engine/files/raw_safetensors.h"

#include <string>
#include <utility>
#include <vector>

namespace support {

/// A shard with one U8 tensor of two bytes.
inline std::string smallShard(const std::string& tensor) {
    return rawSafetensors("{" + headerEntry(tensor, "U8", "2", "0,2") + "}", 2);
}

inline std::vector<MalformedCase> malformedIndexes() {
    std::vector<MalformedCase> cases;
    const std::string index = "model.safetensors.index.json";
    const std::string first = "model-00001-of-00002.safetensors";
    const std::string second = "model-00002-of-00002.safetensors";
    using Files = std::vector<std::pair<std::string, std::string>>;
    const auto add = [&](const std::string& name, Files files, const std::string& rule,
                         const std::string& expected) {
        files.emplace_back("model.safetensors", kRemoved);
        cases.push_back({name, std::move(files), expected, rule});
    };
    // The index text alone is wrong; the shards would be sound.
    const auto text = [&](const std::string& name, const std::string& content,
                          const std::string& rule, const std::string& expected) {
        add(name, {{index, content}, {first, smallShard("a")}, {second, smallShard("b")}}, rule,
            expected);
    };
    const auto map = [](const std::string& members) {
        return "{\"weight_map\":{" + members + "}}";
    };
    const std::string a = "\"a\":\"" + first + "\"";

    text("empty index", "", "IndexFormat",
         "index.json: not valid JSON: the text ends in the middle");
    text("index is not JSON", "weights", "IndexFormat",
         "index.json: not valid JSON: expected a value");
    text("index is not UTF-8", "{\"\xff\":1}", "IndexFormat", "index.json: the text is not UTF-8");
    text("index is a list", "[]", "IndexFormat", "index.json: is a list, expected an object");
    text("index is a text", "\"x\"", "IndexFormat", "index.json: is a text, expected an object");
    text("index is null", "null", "IndexFormat", "index.json: is null, expected an object");
    text("index without weight_map", "{\"metadata\":{}}", "IndexFormat",
         "index.json: has no weight_map with tensors");
    text("empty weight_map", map(""), "IndexFormat", "has no weight_map with tensors in it");
    text("weight_map is a list", "{\"weight_map\":[]}", "IndexFormat", "weight_map is a list");
    text("weight_map is a number", "{\"weight_map\":3}", "IndexFormat", "weight_map is a number");
    text("weight_map is null", "{\"weight_map\":null}", "IndexFormat", "weight_map is null");
    text("shard is a number", map("\"a\":1"), "IndexFormat", "weight_map gives a a number");
    text("shard is a list", map("\"a\":[\"x\"]"), "IndexFormat", "weight_map gives a a list");
    text("shard is an object", map("\"a\":{}"), "IndexFormat", "weight_map gives a an object");
    text("shard is null", map("\"a\":null"), "IndexFormat", "weight_map gives a null");
    text("tensor twice in the index", map(a + "," + a), "ST01",
         "index.json: the member \"a\" occurs twice");
    text("weight_map twice", "{\"weight_map\":{" + a + "},\"weight_map\":{" + a + "}}", "ST01",
         "the member \"weight_map\" occurs twice");
    text("metadata of the index twice",
         "{\"metadata\":{\"x\":1,\"x\":2},\"weight_map\":{" + a + "}}", "ST01",
         "index.json: the member \"x\" occurs twice");
    text("index nested too deep", "{\"metadata\":" + std::string(50'000, '['), "ST02",
         "index.json: nested deeper than 8 levels");
    text("empty tensor name in the index", map("\"\":\"" + first + "\""), "ST02",
         "a tensor name in weight_map is empty");
    text("control character in a tensor name", map("\"a\\tb\":\"" + first + "\""), "ST02",
         "tensor name a?b in weight_map holds a control character");

    struct BadName {
        const char* what;
        const char* json; ///< As written in the index, escapes included.
        const char* expected;
    };
    const BadName names[] = {
        {"empty", "", "the shard name \"\" is refused: the file name is empty"},
        {"absolute", "/etc/passwd.safetensors", "\"/etc/passwd.safetensors\" is refused"},
        {"one folder up", "../model-00001-of-00002.safetensors",
         "\"../model-00001-of-00002.safetensors\" is refused: the file name holds a folder "
         "separator"},
        {"many folders up", "../../../../../../tmp/x.safetensors",
         "\"../../../../../../tmp/x.safetensors\" is refused"},
        {"subfolder", "sub/x.safetensors", "\"sub/x.safetensors\" is refused"},
        {"own folder", "./x.safetensors", "\"./x.safetensors\" is refused"},
        {"up with a backslash", "..\\\\x.safetensors", "\"..\\x.safetensors\" is refused"},
        {"network share", "\\\\\\\\server\\\\share\\\\x.safetensors",
         "\"\\\\server\\share\\x.safetensors\" is refused"},
        {"drive letter", "C:x.safetensors",
         "\"C:x.safetensors\" is refused: the file name holds ':'"},
        {"drive and folder", "C:\\\\x.safetensors", "\"C:\\x.safetensors\" is refused"},
        {"alternate stream", "x.bin:y.safetensors",
         "\"x.bin:y.safetensors\" is refused: the file name holds ':'"},
        {"file URL", "file:///tmp/x.safetensors", "\"file:///tmp/x.safetensors\" is refused"},
        {"home folder", "~/x.safetensors", "\"~/x.safetensors\" is refused"},
        {"device NUL", "NUL.safetensors",
         "\"NUL.safetensors\" is refused: the file name is a device name"},
        {"device con in lower case", "con.safetensors",
         "\"con.safetensors\" is refused: the file name is a device name"},
        {"device COM1", "COM1.safetensors", "\"COM1.safetensors\" is refused"},
        {"device lpt9 with two endings", "lpt9.a.safetensors", "\"lpt9.a.safetensors\" is refused"},
        {"NUL character", "x\\u0000.safetensors",
         "\"x?.safetensors\" is refused: the file name holds a control character"},
        {"line break", "x\\n.safetensors", "x?.safetensors\" is refused"},
        {"pickle", "pytorch_model.bin", "\"pytorch_model.bin\" does not end in .safetensors"},
        {"two dots", "..", "\"..\" is refused: the file name is a folder reference"},
        {"ending in capitals", "x.SAFETENSORS", "\"x.SAFETENSORS\" does not end in .safetensors"},
        {"safetensors then bin", "x.safetensors.bin", "\"x.safetensors.bin\" does not end"},
        {"trailing space", "x.safetensors ",
         "\"x.safetensors \" is refused: the file name ends in a dot or a blank"},
        // Windows' own ways out of a folder, and names that mean another file there.
        {"trailing dot", "x.safetensors.", "\"x.safetensors.\" is refused: the file name ends in"},
        {"trailing dots and blanks", "x.safetensors. . ",
         "is refused: the file name ends in a dot"},
        {"three dots", "...", "\"...\" is refused: the file name ends in a dot"},
        {"two dots and a blank", ".. ", "\".. \" is refused: the file name ends in a dot"},
        {"verbatim path", R"(\\\\?\\C:\\x.safetensors)", "holds a folder separator"},
        {"verbatim share", R"(\\\\?\\UNC\\server\\share\\x.safetensors)",
         "holds a folder separator"},
        {"device namespace", R"(\\\\.\\NUL)", "holds a folder separator"},
        {"raw disk", R"(\\\\.\\PhysicalDrive0)", "holds a folder separator"},
        {"named pipe", R"(\\\\.\\pipe\\x.safetensors)", "holds a folder separator"},
        {"volume by number", R"(\\\\?\\GLOBALROOT\\Device\\HarddiskVolume1\\x.safetensors)",
         "holds a folder separator"},
        {"share with slashes", "//server/share/x.safetensors", "holds a folder separator"},
        {"verbatim with slashes", "//?/C:/x.safetensors", "holds a folder separator"},
        {"root of the drive", R"(\\x.safetensors)", "holds a folder separator"},
        {"drive with a slash", "C:/x.safetensors", "holds a folder separator"},
        {"folder of another drive", R"(d:..\\x.safetensors)", "holds a folder separator"},
        {"small drive letter", "c:x.safetensors", "is refused: the file name holds ':'"},
        {"subfolder and back", R"(sub\\..\\..\\x.safetensors)", "holds a folder separator"},
        {"both separators", R"(..\\../x.safetensors)", "holds a folder separator"},
        {"folder of a variable", R"(%TEMP%\\x.safetensors)", "holds a folder separator"},
        {"the data stream itself", "x.safetensors::$DATA", "is refused: the file name holds ':'"},
        {"stream of a folder", ".::$INDEX_ALLOCATION", "is refused: the file name holds ':'"},
        {"stream named as a shard", "config.json:x.safetensors", "the file name holds ':'"},
        {"any file", "*.safetensors", "holds a character that Windows allows in none"},
        {"any letter", "model-0000?.safetensors", "holds a character that Windows allows in none"},
        {"any letters, as DOS had it", "model<.safetensors", "a character that Windows allows"},
        {"any letter, as DOS had it", "model>.safetensors", "a character that Windows allows"},
        {"any dot, as DOS had it", R"(model\"safetensors.safetensors)", "a character that Windows"},
        {"pipe of a shell", "|sh.safetensors", "holds a character that Windows allows in none"},
        {"device AUX", "AUX.safetensors", "the file name is a device name"},
        {"device PRN", "prn.safetensors", "the file name is a device name"},
        {"device without an ending", "NUL", "\"NUL\" is refused: the file name is a device name"},
        {"device and blanks", "nul  .safetensors", "the file name is a device name"},
        {"console's input", "CONIN$.safetensors", "the file name is a device name"},
        {"console's output", "conout$.safetensors", "the file name is a device name"},
        {"device COM0", "com0.safetensors", "the file name is a device name"},
        {"raised digit", "COM\xc2\xb9.safetensors", "the file name is a device name"},
        {"raised digit, printer", "lpt\xc2\xb3.x.safetensors", "the file name is a device name"},
        // And anybody's.
        {"root", "/", "\"/\" is refused: the file name holds a folder separator"},
        {"one dot", ".", "\".\" is refused: the file name is a folder reference"},
        {"folder", "x.safetensors/", "holds a folder separator"},
        {"over a file", "x.safetensors/../../y.safetensors", "holds a folder separator"},
        {"two slashes", "..//x.safetensors", "holds a folder separator"},
        {"processes' files", "/proc/self/environ", "holds a folder separator"},
        {"tab", "x\\t.safetensors", "\"x?.safetensors\" is refused: the file name holds a control"},
        {"escape", "x\\u001b[2J.safetensors", "the file name holds a control character"},
        {"delete", "x\\u007f.safetensors", "the file name holds a control character"},
    };
    for (const BadName& bad : names) {
        text(std::string("shard name: ") + bad.what, map("\"a\":\"" + std::string(bad.json) + "\""),
             "ShardName", bad.expected);
    }
    text("shard names that differ in capitals",
         map("\"a\":\"Model.safetensors\",\"b\":\"model.safetensors\""), "ShardName",
         "\"model.safetensors\" is refused: it differs from \"Model.safetensors\" in capitals");
    text("shard name of 256 bytes", map("\"a\":\"" + std::string(244, 'x') + ".safetensors\""),
         "ShardName", "the file name is longer than 255 bytes");
    std::string many;
    for (int i = 0; i < 501; ++i) {
        many += (i == 0 ? "" : ",") + ("\"t" + std::to_string(i)) + "\":\"s" + std::to_string(i) +
                ".safetensors\"";
    }
    text("501 shards", map(many), "ShardCount", "names more than 500 shards");

    // Sound index, wrong shards.
    const std::string both = map(a + ",\"b\":\"" + second + "\"");
    add("shard missing", {{index, both}, {first, smallShard("a")}}, "ShardMissing",
        second + ": is named in model.safetensors.index.json but is not in the folder; download "
                 "it. It holds b");
    add("all shards missing", {{index, both}}, "ShardMissing", "download it. It holds a");
    add("shard without its tensor",
        {{index, both}, {first, smallShard("a")}, {second, smallShard("c")}}, "ShardKeyMissing",
        "puts the tensor b into " + second + ", but that file does not hold it");
    add("tensor in the other shard",
        {{index, map("\"a\":\"" + second + "\",\"b\":\"" + first + "\"")},
         {first, smallShard("a")},
         {second, smallShard("b")}},
        "ShardKeyMissing", "puts the tensor a into " + second);
    add("tensor missing after the last one",
        {{index, map(a + ",\"z\":\"" + first + "\"")}, {first, smallShard("a")}}, "ShardKeyMissing",
        "puts the tensor z into " + first);
    add("tensor in two shards",
        {{index, both},
         {first, smallShard("a")},
         {second, rawSafetensors("{" + headerEntry("b", "U8", "2", "0,2") + "," +
                                     headerEntry("a", "U8", "1", "2,3") + "}",
                                 3)}},
        "ShardTensorTwice", "the tensor a lies in two shards, " + first + " and " + second);
    add("shard cut short",
        {{index, both}, {first, smallShard("a")}, {second, smallShard("b").substr(0, 20)}},
        "InvalidHeaderLength", second + ": its header should have");
    add("shard without its data",
        {{index, both},
         {first, smallShard("a")},
         {second, smallShard("b").substr(0, smallShard("b").size() - 1)}},
        "MetadataIncompleteBuffer", second + ": the header describes 2 bytes of data");
    add("shard is a pickle", {{index, both}, {first, smallShard("a")}, {second, "\x80\x04N."}},
        "PickleFile", second + ": is a Python pickle");
    add("shard is a zip archive",
        {{index, both}, {first, "PK\x03\x04" + std::string(40, ' ')}, {second, smallShard("b")}},
        "ZipFile", first + ": is a zip archive");
    add("shard is a Git LFS pointer",
        {{index, both},
         {first, "version https://git-lfs.github.com/spec/v1\n"},
         {second, smallShard("b")}},
        "LfsPointer", first + ": is a Git LFS pointer");

    // No weights at all, and what lies there instead.
    add("no weights", {}, "WeightsMissing", "neither is model.safetensors.index.json");
    add("shards without an index", {{first, smallShard("a")}, {second, smallShard("b")}},
        "WeightsUnnamed", "is not in the folder, but 2 weight files are (" + first);
    add("one shard of one without an index",
        {{"model-00001-of-00001.safetensors", smallShard("a")}}, "WeightsUnnamed",
        "model-00001-of-00001.safetensors is; if it holds the whole model, rename it");
    add("pickle instead of safetensors",
        {{"pytorch_model.bin", std::string("\x80\x02}q\x01.", 6) + std::string(20, ' ')}},
        "PickleFile", "pytorch_model.bin: is a Python pickle");
    add("PyTorch zip instead of safetensors",
        {{"consolidated.00.pth", "PK\x03\x04" + std::string(40, ' ')}}, "ZipFile",
        "consolidated.00.pth: is a zip archive");
    add("GGUF instead of safetensors", {{"model-q4.gguf", "GGUF\x03" + std::string(40, ' ')}},
        "GgufFile", "model-q4.gguf: is a GGUF file");
    add("adapter instead of a model", {{"adapter_config.json", "{}"}}, "AdapterFolder",
        "this is an adapter; open its base model");
    return cases;
}

} // namespace support
