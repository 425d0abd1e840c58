// SPDX-License-Identifier: Apache-2.0
// Broken GGUF files as rows: the container, parts of a split model, metadata, tokenizer, tensors,
// projectors. Each breaks one rule of a sound small model (small_gguf.h).
#pragma once

#include "tests/engine/files/small_gguf.h"

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace support {

struct MalformedGguf {
    std::string name; ///< What is special about it.
    /// Name and bytes; the first one is opened, the second, if it is "mmproj.gguf", goes with it.
    std::vector<std::pair<std::string, std::string>> files;
    std::string rule;     ///< The error's detail "rule".
    std::string expected; ///< Fragment of the message.
};

namespace gguf {

using Change = std::function<void(File&)>;
using Rows = std::vector<MalformedGguf>;

inline void addRow(Rows& rows,
                   const std::string& name,
                   File file,
                   const Change& change,
                   const std::string& rule,
                   const std::string& expected) {
    change(file);
    rows.push_back({name, {{"model.gguf", file.bytes()}}, rule, expected});
}

/// A header whose first key has these bytes behind it, and nothing more.
inline std::string oneKey(const std::string& entry, uint64_t keys = 1) {
    return "GGUF" + le(uint32_t{3}) + le(uint64_t{0}) + le(keys) + entry;
}

inline void addContainer(Rows& rows) {
    const auto bytes = [&](const std::string& name, const std::string& content,
                           const std::string& rule, const std::string& expected) {
        rows.push_back({name, {{"model.gguf", content}}, rule, expected});
    };
    const auto head = [](uint32_t version, uint64_t tensors, uint64_t keys) {
        return "GGUF" + le(version) + le(tensors) + le(keys);
    };
    bytes("empty file", "", "GgufTruncated", "ends within its first bytes");
    bytes("three bytes", "GGU", "GgufTruncated", "4 bytes are needed at byte 0 of 3");
    bytes("another magic", "GGML" + std::string(40, '\0'), "GgufMagic", "does not begin with");
    bytes("magic turned round", "FUGG" + std::string(40, '\0'), "GgufMagic", "is this a GGUF file");
    bytes("magic alone", "GGUF", "GgufTruncated", "ends within its version");
    bytes("big-endian", "GGUF" + std::string("\0\0\0\3", 4) + std::string(40, '\0'),
          "GgufByteOrder", "big-endian");
    bytes("version 0", head(0, 0, 0), "GgufByteOrder", "big-endian");
    for (const uint32_t version : {1U, 4U, 0xffffU, UINT32_MAX}) {
        bytes("version " + std::to_string(version), head(version, 0, 0), "GgufVersion",
              "has version " + std::to_string(version) + " of");
    }
    bytes("no counts", head(3, 0, 0).substr(0, 8), "GgufTruncated", "number of tensors");
    bytes("no count of keys", head(3, 0, 0).substr(0, 20), "GgufTruncated",
          "number of metadata entries");
    for (const uint64_t count : {uint64_t{1}, uint64_t{65'537}, uint64_t{1} << 32,
                                 uint64_t{1} << 63, UINT64_MAX, UINT64_MAX / 24 + 1}) {
        const std::string number = std::to_string(count);
        bytes(number + " tensors", head(3, count, 0) + std::string(12, '\0'), "GgufCount",
              "has " + number + " tensors");
        bytes(number + " keys", head(3, 0, count) + std::string(12, '\0'), "GgufCount",
              "and " + number + " metadata entries");
    }
    // Keys.
    const std::string zeros(64, '\0');
    bytes("empty key", oneKey(text("") + value(uint32_t{1}) + zeros), "GgufName",
          "a key at byte 24 is empty");
    bytes("key with a zero byte", oneKey(text({"a\0b", 3}) + value(uint32_t{1})), "GgufName",
          "a key at byte 24 is empty or not a text");
    bytes("key with a lone continuation byte", oneKey(text("a\x80") + value(uint32_t{1})),
          "GgufName", "not a text in UTF-8");
    bytes("overlong slash in a key", oneKey(text("\xc0\xaf") + value(uint32_t{1})), "GgufName",
          "not a text in UTF-8");
    for (const uint64_t length :
         {uint64_t{65'536}, uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 7}) {
        bytes("key of " + std::to_string(length) + " bytes", oneKey(le(length) + zeros),
              "GgufTextTooLong", "a key at byte 24 has a length of " + std::to_string(length));
    }
    bytes("key longer than the file", oneKey(le(uint64_t{65'535}) + zeros), "GgufTruncated",
          "ends within a key: 65535 bytes are needed at byte 32 of 96");
    for (const uint32_t type : {13U, 255U, UINT32_MAX}) {
        bytes("value of type " + std::to_string(type), oneKey(text("k") + le(type) + zeros),
              "GgufValueType", "the key \"k\" has the unknown type " + std::to_string(type));
        bytes("list of type " + std::to_string(type),
              oneKey(text("k") + le(uint32_t{9}) + le(type) + zeros), "GgufValueType",
              "the key \"k\" has the unknown type " + std::to_string(type));
    }
    bytes("list of lists", oneKey(text("k") + list(9, 1, list(4, 1, le(1))) + zeros),
          "GgufNestedList", "the key \"k\" is a list of lists");
    for (const uint64_t count : {uint64_t{65}, (uint64_t{1} << 22) + 1, uint64_t{1} << 30,
                                 uint64_t{1} << 61, uint64_t{1} << 63, UINT64_MAX}) {
        for (const uint32_t type : {0U, 4U, 7U, 8U, 12U}) {
            bytes("list of " + std::to_string(count) + " values of type " + std::to_string(type),
                  oneKey(text("k") + list(type, count, zeros)), "GgufListCount",
                  "the key \"k\" is a list of " + std::to_string(count) + " elements");
        }
    }
    for (const uint64_t length :
         {(uint64_t{64} << 20) + 1, uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 40}) {
        bytes("text of " + std::to_string(length) + " bytes",
              oneKey(text("k") + le(uint32_t{8}) + le(length) + zeros), "GgufTextTooLong",
              "a text at byte 37 has a length of " + std::to_string(length));
        bytes("text in a list of " + std::to_string(length) + " bytes",
              oneKey(text("k") + list(8, 2, text("a") + le(length) + zeros)), "GgufTextTooLong",
              "a text at byte 58 has a length of " + std::to_string(length));
    }
    bytes("text longer than the file",
          oneKey(text("k") + le(uint32_t{8}) + le(uint64_t{65}) + zeros), "GgufTruncated",
          "ends within a text: 65 bytes are needed at byte 45 of 109");
    bytes("text without a length", oneKey(text("key") + le(uint32_t{8}) + "abc"), "GgufTruncated",
          "ends within a text: 8 bytes");
    bytes("number cut short", oneKey(text("ke") + le(uint32_t{10}) + "1234567"), "GgufTruncated",
          "ends within a value: 8 bytes");
    bytes("more keys promised than there are",
          oneKey(text("k") + value(uint32_t{1}) + std::string(9, '\0'), 2), "GgufName",
          "a key at byte 41 is empty");
    bytes("key twice", oneKey(text("k") + value(uint32_t{1}) + text("k") + value(true), 2),
          "GgufKeyTwice", "the key \"k\" stands there twice");
}

inline void addTensorRows(Rows& rows) {
    const auto row = [&](const std::string& name, const Change& change, const std::string& rule,
                         const std::string& expected) {
        addRow(rows, name, llama(), change, rule, expected);
    };
    for (const auto& [name, alignment] : std::vector<std::pair<const char*, std::string>>{
             {"0", value(uint32_t{0})},
             {"1", value(uint32_t{1})},
             {"4", value(uint32_t{4})},
             {"48", value(uint32_t{48})},
             {"131072", value(uint32_t{131'072})},
             {"UINT32_MAX", value(UINT32_MAX)},
             {"of 64 bits", value(uint64_t{32})},
             {"with a sign", value(int32_t{32})},
             {"of 16 bits", value(uint16_t{32})},
             {"a fraction", value(32.0F)},
             {"true", value(true)},
             {"a text", value("32")},
             {"a list", list(std::vector<uint32_t>{32})},
             {"an empty list", list(std::vector<uint32_t>{})}}) {
        row(
            std::string("alignment ") + name,
            [&bytes = alignment](File& f) { f.set("general.alignment", bytes); }, "GgufAlignment",
            "the key \"general.alignment\" is not a power of two");
    }
    const auto first = [](File& f) -> Tensor& { return f.tensors.front(); };
    const auto renamed = [&](const char* name, const std::string& to, const std::string& rule,
                             const std::string& expected) {
        row(
            name, [&](File& f) { first(f).name = to; }, rule, expected);
    };
    renamed("tensor without a name", "", "GgufName", "a tensor's name at byte");
    renamed("tensor's name with a zero byte", std::string("a\0b", 3), "GgufName",
            "is empty or not");
    renamed("tensor's name not UTF-8", "\xed\xa0\x80", "GgufName", "not a text in UTF-8");
    renamed("tensor's name of 64 bytes", std::string(64, 'n'), "GgufTextTooLong",
            "has a length of 64 bytes, at most 63");
    renamed("tensor twice", "blk.0.attn_q.weight", "GgufTensorTwice",
            "the tensor \"blk.0.attn_q.weight\" stands there twice");
    row(
        "five dimensions",
        [&](File& f) {
            first(f).dims = {1, 1, 1, 1, 1};
        },
        "GgufRank", "\"token_embd.weight\" has 5 dimensions");
    for (const auto& dims : std::vector<std::vector<uint64_t>>{
             {0}, {4, 0}, {0, 4}, {4, 4, 0}, {4, 4, 4, 0}, {0, 0, 0, 0}}) {
        row(
            "zero in the dimensions " + std::to_string(rows.size()),
            [&](File& f) {
                first(f).dims = dims;
                first(f).offset = 0;
            },
            "GgufShape", "the tensor \"token_embd.weight\" has an impossible shape: dimension ");
    }
    for (const auto& dims :
         std::vector<std::vector<uint64_t>>{{uint64_t{1} << 32, uint64_t{1} << 32},
                                            {uint64_t{1} << 63, 2},
                                            {UINT64_MAX},
                                            {(uint64_t{1} << 48) + 1},
                                            {1, uint64_t{1} << 63},
                                            {uint64_t{1} << 24, uint64_t{1} << 24, 2},
                                            {65'536, 65'536, 65'536, 65'536}}) {
        rows.push_back({"dimensions too large " + std::to_string(rows.size()),
                        {{"model.gguf",
                          [&] {
                              File f = llama();
                              f.tensors.resize(1);
                              first(f).dims = dims;
                              return f.header();
                          }()}},
                        "GgufShape",
                        "the tensor \"token_embd.weight\" has an impossible shape"});
    }
    for (const auto& [type, name] : std::vector<std::pair<uint32_t, const char*>>{
             {4, "4"},        {5, "5"},        {9, "Q8_1"},
             {15, "Q8_K"},    {16, "IQ2_XXS"}, {17, "IQ2_XS"},
             {18, "IQ3_XXS"}, {19, "IQ1_S"},   {21, "IQ3_S"},
             {22, "IQ2_S"},   {29, "IQ1_M"},   {31, "31"},
             {33, "33"},      {34, "TQ1_0"},   {35, "TQ2_0"},
             {36, "36"},      {38, "38"},      {40, "NVFP4"},
             {41, "Q1_0"},    {43, "43"},      {UINT32_MAX, "4294967295"}}) {
        row(
            std::string("tensor of type ") + name, [&, id = type](File& f) { first(f).type = id; },
            "GgufTensorType",
            std::string("the tensor \"token_embd.weight\" is stored as ") + name + ",");
    }
    for (const uint32_t type : {2U, 3U, 6U, 7U, 8U, 10U, 11U, 12U, 13U, 14U, 20U, 23U, 39U, 42U}) {
        row(
            "rows that are no whole blocks of type " + std::to_string(type),
            [&](File& f) {
                first(f).dims = {blockOf(type).first + 16, 2};
                first(f).type = type;
            },
            "GgufRowLength",
            "\"token_embd.weight\" has rows of " + std::to_string(blockOf(type).first + 16));
    }
    row(
        "single value in blocks",
        [&](File& f) {
            first(f).dims = {};
            first(f).type = 8;
        },
        "GgufRowLength", "has rows of 1 values");
}

inline void addPlaces(Rows& rows) {
    const auto row = [&](const std::string& name, const Change& change, const std::string& rule,
                         const std::string& expected) {
        addRow(rows, name, llama(), change, rule, expected);
    };
    const auto placed = [&](const char* name, uint64_t offset, const std::string& rule,
                            const std::string& expected) {
        row(
            name, [&](File& f) { f.tensors[1].offset = offset; }, rule, expected);
    };
    placed("offset of 1", 1, "GgufOffset",
           "begins at byte 1 of the data, which is no multiple of 32");
    placed("offset of 31", 31, "GgufOffset", "\"output_norm.weight\" begins at byte 31");
    placed("offset of UINT64_MAX", UINT64_MAX, "GgufOffset", "which is no multiple of 32");
    placed("offset near UINT64_MAX", UINT64_MAX - 31, "GgufOffset", "behind the end of any file");
    placed("offset of 2^63", uint64_t{1} << 63, "GgufOffset", "\"output_norm.weight\" lies behind");
    placed("two tensors in one place", 0, "GgufOverlap", "lie in the same bytes");
    placed("tensor inside another", 32, "GgufOverlap",
           "the tensors \"token_embd.weight\" and \"output_norm.weight\" lie in the same bytes");
    row(
        "offset of the file's own alignment",
        [&](File& f) {
            f.set("general.alignment", value(uint32_t{64})).alignment = 64;
            f.tensors[1].offset = 7 * 128 + 32;
        },
        "GgufOffset", "no multiple of 64");
    const std::string whole = llama().bytes();
    const auto cut = [&](const char* name, const std::string& bytes) {
        rows.push_back({name, {{"model.gguf", bytes}}, "GgufDataTruncated", "was cut short"});
    };
    cut("last byte missing", whole.substr(0, whole.size() - 1));
    cut("half of the data missing", whole.substr(0, whole.size() / 2));
    cut("header alone", llama().header());
    row(
        "one tensor more promised", [](File& f) { f.tensor_count = f.tensors.size() + 1; },
        "GgufName", "a tensor's name");
}

inline void addSplits(Rows& rows) {
    const auto part = [](int64_t number, int64_t count, bool is_first) {
        File f = llama();
        if (!is_first) {
            f.keys.clear();
        }
        const size_t half = f.tensors.size() / 2;
        f.tensors.erase(
            is_first ? f.tensors.begin() + static_cast<std::ptrdiff_t>(half) : f.tensors.begin(),
            is_first ? f.tensors.end() : f.tensors.begin() + static_cast<std::ptrdiff_t>(half));
        f.set("split.no", value(static_cast<uint16_t>(number)))
            .set("split.count", value(static_cast<uint16_t>(count)))
            .set("split.tensors.count", value(static_cast<int32_t>(llama().tensors.size())));
        return f;
    };
    const std::string one = "m-00001-of-00002.gguf";
    const std::string two = "m-00002-of-00002.gguf";
    const auto pair = [&](const std::string& name, const Change& first, const Change& second,
                          const std::string& rule, const std::string& expected) {
        File a = part(0, 2, true);
        File b = part(1, 2, false);
        first(a);
        second(b);
        rows.push_back({name, {{one, a.bytes()}, {two, b.bytes()}}, rule, expected});
    };
    const Change nothing = [](File&) {};
    const auto set = [](const std::string& key, const std::string& bytes) {
        return Change([key, bytes](File& f) { f.set(key, bytes); });
    };
    rows.push_back({"second part missing",
                    {{one, part(0, 2, true).bytes()}},
                    "GgufPartMissing",
                    "m-00002-of-00002.gguf: is part 2 of 2"});
    rows.push_back({"first part missing",
                    {{two, part(1, 2, false).bytes()}},
                    "GgufPartMissing",
                    "m-00001-of-00002.gguf: is part 1 of 2"});
    rows.push_back({"part under another name",
                    {{"model.gguf", part(0, 2, true).bytes()}},
                    "GgufSplit",
                    "model.gguf: is part 1 of 2, but its name does not end"});
    rows.push_back({"part under another part's name",
                    {{two, part(0, 2, true).bytes()}},
                    "GgufSplit",
                    "is part 1 of 2, but its name does not end"});
    rows.push_back({"name without a stem",
                    {{"-00001-of-00002.gguf", part(0, 2, true).bytes()}},
                    "GgufSplit",
                    "its name does not end"});
    pair("second part says it is the first", nothing, set("split.no", value(uint16_t{0})),
         "GgufSplit", "m-00002-of-00002.gguf: says that it is part 1 of 2, its name says 2");
    pair("second part of three", nothing, set("split.count", value(uint16_t{3})), "GgufSplit",
         "says that it is part 2 of 3, its name says 2");
    pair(
        "second part says nothing", nothing, [](File& f) { f.keys.clear(); }, "GgufSplit",
        "says that it is part 1 of 1, its name says 2");
    rows.push_back({"first part says it is the second, opened by the second",
                    {{two, part(1, 2, false).bytes()}, {one, part(1, 2, true).bytes()}},
                    "GgufSplit",
                    "m-00001-of-00002.gguf: says that it is part 2 of 2, its name says 1"});
    for (const auto& [name, number, count] :
         std::vector<std::tuple<const char*, std::string, std::string>>{
             {"number of all parts", value(uint16_t{2}), value(uint16_t{2})},
             {"number below 0", value(int32_t{-1}), value(uint16_t{2})},
             {"number of INT64_MAX", value(INT64_MAX), value(uint16_t{2})},
             {"count below 0", value(uint16_t{0}), value(int32_t{-2})},
             {"10000 parts", value(uint16_t{0}), value(uint16_t{10'000})},
             {"2^62 parts", value(uint16_t{0}), value(int64_t{1} << 62)},
             {"number without a count", value(uint16_t{1}), value(uint16_t{0})}}) {
        pair(
            std::string("split: ") + name,
            [&number = number, &count = count](File& f) {
                f.set("split.no", number).set("split.count", count);
            },
            nothing, "GgufSplit", "m-00001-of-00002.gguf: says that it is number");
    }
    pair("split: number is a text", set("split.no", value("0")), nothing, "KeyType",
         "the key \"split.no\" is not a whole number");
    pair("split: count is a list", set("split.count", list(std::vector<uint16_t>{2})), nothing,
         "KeyType", "the key \"split.count\" is not a whole number");
    pair("split: number too large", set("split.no", value(UINT64_MAX)), nothing, "KeyType",
         "the key \"split.no\" is not a whole number");
    pair("split: more tensors promised", set("split.tensors.count", value(int32_t{1'000})), nothing,
         "GgufSplit", "says that its 2 parts hold 1000 tensors, they hold 20");
    pair("split: tensors promised below 0", set("split.tensors.count", value(int32_t{-1})), nothing,
         "GgufSplit", "hold -1 tensors");
    pair(
        "split: tensor in both parts", nothing,
        [](File& f) { f.tensors.front().name = "output_norm.weight"; }, "GgufTensorTwice",
        "the tensor \"output_norm.weight\" stands there twice");
    pair(
        "split: broken second part", nothing, [](File& f) { f.version = 1; }, "GgufVersion",
        "m-00002-of-00002.gguf: has version 1");
    pair(
        "split: second part is empty", nothing, [](File& f) { f.magic = "x"; }, "GgufMagic",
        "m-00002-of-00002.gguf: does not begin");
}

inline void addMetadata(Rows& rows) {
    const auto row = [&](const std::string& name, const Change& change, const std::string& rule,
                         const std::string& expected) {
        addRow(rows, name, gemma(), change, rule, expected);
    };
    const auto set = [](const std::string& key, const std::string& bytes) {
        return Change([key, bytes](File& f) { f.set(key, bytes); });
    };
    const auto without = [](const std::string& key) {
        return Change([key](File& f) { f.remove(key); });
    };
    row("no architecture", without("general.architecture"), "GgufArchitecture", "is not named");
    row("architecture is a number", set("general.architecture", value(uint32_t{4})), "KeyType",
        "the key \"general.architecture\" is not a text");
    row("architecture not UTF-8", set("general.architecture", value("gemma4\xff")), "KeyType",
        "the key \"general.architecture\" is not text in UTF-8");
    for (const char* name :
         {"", "gemma3", "gemma3n", "qwen3", "GEMMA4", "gemma-embedding2", "dflash", "diffusion"}) {
        row(std::string("architecture ") + name, set("general.architecture", value(name)),
            "GgufArchitecture", "its architecture is \"" + std::string(name));
    }
    row("architecture with a line break", set("general.architecture", value("gemma4\n")),
        "GgufArchitecture", "its architecture is \"gemma4?\"");
    row("long architecture", set("general.architecture", value(std::string(100'000, 'x'))),
        "GgufArchitecture", "Belfry runs gemma4 and llama");
    row("adapter", set("general.type", value("adapter")), "GgufAdapter", "is a LoRA adapter");
    row("projector in the model's place", set("general.architecture", value("clip")),
        "GgufProjector", "is a projector");
    row("general.type is a list", set("general.type", list(std::vector<std::string>{"model"})),
        "KeyType", "the key \"general.type\" is not a text");

    const std::string p = "gemma4.";
    for (const char* key :
         {"block_count", "context_length", "embedding_length", "feed_forward_length",
          "attention.head_count", "attention.sliding_window", "attention.key_length",
          "attention.key_length_swa"}) {
        const std::string quoted = "the key \"" + p + key + "\"";
        row(std::string("missing: ") + key, without(p + key), "GgufKey", quoted + " is missing");
        row(std::string("a text: ") + key, set(p + key, value("2")), "KeyType",
            quoted + " is not a whole number");
        row(std::string("a fraction: ") + key, set(p + key, value(2.0F)), "KeyType",
            quoted + " is not a whole number");
        row(std::string("true: ") + key, set(p + key, value(true)), "KeyType",
            quoted + " is not a whole number");
        row(std::string("0: ") + key, set(p + key, value(uint32_t{0})), "GgufKey",
            quoted + " is 0, expected");
        row(std::string("below 0: ") + key, set(p + key, value(int32_t{-5})), "GgufKey",
            quoted + " is -5, expected");
        row(std::string("2^31: ") + key, set(p + key, value(uint64_t{1} << 31)), "GgufKey",
            quoted + " is 2147483648, expected");
        row(std::string("UINT64_MAX: ") + key, set(p + key, value(UINT64_MAX)), "KeyType",
            quoted + " is not a whole number");
    }
    for (const char* key : {"attention.head_count_kv", "feed_forward_length",
                            "attention.head_count", "attention.sliding_window_pattern"}) {
        const std::string quoted = "the key \"" + p + key + "\"";
        row(std::string("list too short: ") + key, set(p + key, list(std::vector<int32_t>{1})),
            "GgufKey", quoted + " has 1 values for 2 layers");
        row(std::string("list too long: ") + key, set(p + key, list(std::vector<int32_t>{1, 0, 1})),
            "GgufKey", quoted + " has 3 values for 2 layers");
        row(std::string("empty list: ") + key, set(p + key, list(std::vector<int32_t>{})),
            "GgufKey", quoted + " has 0 values for 2 layers");
        row(std::string("list with a number below 0: ") + key,
            set(p + key, list(std::vector<int32_t>{1, -1})), "GgufKey", quoted);
        row(std::string("list with 2^40: ") + key,
            set(p + key, list(std::vector<int64_t>{1, int64_t{1} << 40})), "GgufKey", quoted);
        row(std::string("list of fractions: ") + key,
            set(p + key, list(std::vector<float>{1.0F, 1.0F})), "KeyType", quoted);
        row(std::string("list of texts: ") + key,
            set(p + key, list(std::vector<std::string>{"1", "1"})), "KeyType", quoted);
    }
}

inline void addContradictions(Rows& rows) {
    const auto row = [&](const std::string& name, const Change& change, const std::string& rule,
                         const std::string& expected) {
        addRow(rows, name, gemma(), change, rule, expected);
    };
    const auto set = [](const std::string& key, const std::string& bytes) {
        return Change([key, bytes](File& f) { f.set(key, bytes); });
    };
    const auto without = [](const std::string& key) {
        return Change([key](File& f) { f.remove(key); });
    };
    const std::string p = "gemma4.";
    row("one value for the pattern", set(p + "attention.sliding_window_pattern", value(true)),
        "GgufKey", "is missing or no list");
    row("no pattern", without(p + "attention.sliding_window_pattern"), "GgufKey", "no list");
    row("pattern of 2",
        set(p + "attention.sliding_window_pattern", list(std::vector<int32_t>{2, 0})), "GgufKey",
        "holds other values than true and false");
    row("513 layers", set(p + "block_count", value(uint32_t{513})), "GgufKey",
        "is 513, expected at most 512");
    for (const auto& heads : std::vector<std::vector<int32_t>>{{2, 4}, {0, 2}, {2, 0}}) {
        row("query heads " + std::to_string(heads[0]) + " and " + std::to_string(heads[1]),
            set(p + "attention.head_count", list(heads)), "GgufKey",
            "the key \"gemma4.attention.head_count\" gives layer");
    }
    row("no heads for keys in a layer",
        set(p + "attention.head_count_kv", list(std::vector<int32_t>{1, 0})), "GgufKey",
        "gives layer 1 2 heads and 0 for keys and values");
    row("MLP of another width in one layer",
        set(p + "feed_forward_length", list(std::vector<int32_t>{64, 96})), "GgufKey",
        "gives layer 1 a width of 96");
    row("MLP of width 0", set(p + "feed_forward_length", list(std::vector<int32_t>{0, 0})), "",
        "intermediate_size");
    row("more heads for keys than queries",
        set(p + "attention.head_count_kv", list(std::vector<int32_t>{3, 3})), "", "num_");
    row("odd head", set(p + "attention.key_length_swa", value(uint32_t{15})), "", "head_dim");
    row("all layers shared", set(p + "attention.shared_kv_layers", value(uint32_t{2})), "",
        "num_kv_shared_layers");
    row("more shared layers than layers", set(p + "attention.shared_kv_layers", value(uint32_t{9})),
        "", "num_kv_shared_layers");
    row("shared layers below 0", set(p + "attention.shared_kv_layers", value(int32_t{-1})),
        "GgufKey", "is -1, expected");
    for (const char* key : {"attention.layer_norm_rms_epsilon", "rope.freq_base",
                            "rope.freq_base_swa", "final_logit_softcapping"}) {
        const std::string quoted = "the key \"" + p + key + "\"";
        const float infinite = std::numeric_limits<float>::infinity();
        row(std::string("infinite: ") + key, set(p + key, value(infinite)), "KeyType",
            quoted + " is not a finite number");
        row(std::string("NaN: ") + key, set(p + key, value(infinite - infinite)), "KeyType",
            quoted + " is not a finite number");
        row(std::string("a text: ") + key, set(p + key, value("1")), "KeyType", quoted);
        row(std::string("a list: ") + key, set(p + key, list(std::vector<float>{1.0F})), "KeyType",
            quoted);
        row(std::string("below 0: ") + key, set(p + key, value(-1.0F)), "", "");
    }
    row("epsilon of 0", set(p + "attention.layer_norm_rms_epsilon", value(0.0F)), "",
        "rms_norm_eps");
    row("context of 2^30", set(p + "context_length", value(uint32_t{1} << 30)), "",
        "max_position_embeddings");
    row("last layer slides", set(p + "attention.sliding_window_pattern", bools({0, 1})), "GgufKey",
        "ends with a sliding layer");
    row("per-layer inputs without a table", without("per_layer_token_embd.weight"),
        "GgufTensorMissing", "per_layer_token_embd.weight is missing");
    row("no token table", without("token_embd.weight"), "GgufTensorMissing",
        "the tensor token_embd.weight is missing");
    row(
        "token table is a list", [](File& f) { f.tensor("token_embd.weight").dims = {32}; },
        "GgufTensorMissing", "token_embd.weight is missing or is no table");
}

inline void addFrequencies(Rows& rows) {
    const auto row = [&](const std::string& name, const Change& change, const std::string& rule,
                         const std::string& expected) {
        addRow(rows, name, gemma(), change, rule, expected);
    };
    const auto freqs = [&](const char* name, const Change& change) {
        row(name, change, "GgufRopeFreqs", "rope_freqs.weight is not a list of 16 numbers");
    };
    freqs("frequencies: another length", [](File& f) { f.tensor("rope_freqs.weight").dims = {8}; });
    freqs("frequencies: too long", [](File& f) { f.tensor("rope_freqs.weight").dims = {32}; });
    row(
        "frequencies: F16", [](File& f) { f.tensor("rope_freqs.weight").type = 1; },
        "GgufRopeFreqs", "rope_freqs.weight is no list of F32 numbers");
    freqs("frequencies: zeros", [](File& f) { f.tensor("rope_freqs.weight").data.clear(); });
    freqs("frequencies: a 2 among the ones",
          [](File& f) { f.tensor("rope_freqs.weight").data.replace(4, 4, le(2.0F)); });
    freqs("frequencies: ones behind the others",
          [](File& f) { f.tensor("rope_freqs.weight").data.replace(60, 4, le(1.0F)); });
    freqs("frequencies: NaN",
          [](File& f) { f.tensor("rope_freqs.weight").data.replace(60, 4, le(0x7fc00000U)); });
}

inline void addExperts(Rows& rows) {
    const auto set = [](const std::string& key, const std::string& bytes) {
        return Change([key, bytes](File& f) { f.set(key, bytes); });
    };
    const auto without = [](const std::string& key) {
        return Change([key](File& f) { f.remove(key); });
    };
    const std::string p = "gemma4.";
    const auto experts = [&](const std::string& name, const Change& change, const std::string& rule,
                             const std::string& expected) {
        addRow(rows, "experts: " + name, gemmaWithExperts(), change, rule, expected);
    };
    experts("none used", set(p + "expert_used_count", value(uint32_t{0})), "GgufKey", "is 0");
    experts("no number of used ones", without(p + "expert_used_count"), "GgufKey",
            "\"gemma4.expert_used_count\" is missing");
    experts("more used than there are", set(p + "expert_used_count", value(uint32_t{5})), "",
            "top_k_experts");
    experts("no width", without(p + "expert_feed_forward_length"), "GgufKey",
            "\"gemma4.expert_feed_forward_length\" is missing");
    experts("different widths",
            set(p + "expert_feed_forward_length", list(std::vector<int32_t>{32, 64})), "GgufKey",
            "gives the layers different widths");
    experts("width 0", set(p + "expert_feed_forward_length", list(std::vector<int32_t>{0, 0})), "",
            "moe_intermediate_size");
}

inline void addLlama(Rows& rows) {
    const auto row = [&](const std::string& name, const Change& change, const std::string& rule,
                         const std::string& expected) {
        addRow(rows, "llama: " + name, llama(), change, rule, expected);
    };
    const auto set = [](const std::string& key, const std::string& bytes) {
        return Change([key, bytes](File& f) { f.set(key, bytes); });
    };
    const std::string p = "llama.";
    for (const char* key : {"block_count", "context_length", "embedding_length",
                            "feed_forward_length", "attention.head_count"}) {
        const std::string quoted = "the key \"" + p + key + "\"";
        row(
            std::string("missing: ") + key, [&](File& f) { f.remove(p + key); }, "GgufKey",
            quoted + " is missing");
        row(std::string("0: ") + key, set(p + key, value(uint32_t{0})), "GgufKey",
            quoted + " is 0, expected");
    }
    row("experts", set(p + "expert_count", value(uint32_t{8})), "GgufKey", "(Mixtral)");
    row("scaled positions", set(p + "rope.scaling.type", value("yarn")), "GgufKey",
        "is \"yarn\"; only none");
    row(
        "rope_freqs",
        [](File& f) {
            f.tensors.push_back({"rope_freqs.weight", {8}});
        },
        "ConfigRange", "divisors is no list of 8 numbers above zero");
    row("kind of scaling is a number", set(p + "rope.scaling.type", value(uint32_t{1})), "KeyType",
        "the key \"llama.rope.scaling.type\" is not a text");
    row("part of a head rotates", set(p + "attention.key_length", value(uint32_t{32})), "GgufKey",
        "only whole heads of an even size rotate");
    row("odd head", set(p + "rope.dimension_count", value(uint32_t{15})), "GgufKey",
        "only whole heads of an even size rotate");
    row("head of 1", set(p + "rope.dimension_count", value(uint32_t{1})), "GgufKey", "is 1");
    row("heads differ by layer",
        set(p + "attention.head_count_kv", list(std::vector<int32_t>{1, 2})), "GgufKey",
        "gives layer 1");
    row(
        "query rows are no whole heads",
        [](File& f) {
            f.tensor("blk.0.attn_q.weight").dims = {32, 24};
        },
        "GgufTensorShape", "the tensor blk.0.attn_q.weight has a shape");
    row(
        "queries of three dimensions",
        [](File& f) {
            f.tensor("blk.1.attn_k.weight").dims = {32, 8, 2};
        },
        "GgufTensorShape", "the tensor blk.1.attn_k.weight has a shape");
    row("end is a text", set("tokenizer.ggml.eos_token_id", value("2")), "KeyType",
        "\"tokenizer.ggml.eos_token_id\" is not a whole number");
}

inline void addTokenizers(Rows& rows) {
    const auto row = [&](const std::string& name, const Change& change, const std::string& rule,
                         const std::string& expected) {
        addRow(rows, "tokenizer: " + name, gemma(), change, rule, expected);
    };
    const std::string p = "tokenizer.ggml.";
    const auto set = [&](const std::string& key, const std::string& bytes) {
        return Change([key = p + key, bytes](File& f) { f.set(key, bytes); });
    };
    const auto without = [&](const std::string& key) {
        return Change([key = p + key](File& f) { f.remove(key); });
    };
    const auto tokens = [&](const std::function<void(std::vector<std::string>&)>& change) {
        auto all = gemmaTokens();
        change(all);
        return set("tokens", list(all));
    };
    row("no tokens", without("tokens"), "GgufTextMissing",
        "holds nothing that stands for tokenizer.json");
    row("no merges", without("merges"), "GgufTokenizer", "has no tokens or no merges");
    row("no model", without("model"), "GgufTokenizer", "its tokenizer is \"\"");
    row("empty list of tokens", set("tokens", list(std::vector<std::string>{})), "GgufTokenizer",
        "has no tokens");
    row("tokens are numbers", set("tokens", list(std::vector<int32_t>{1, 2})), "KeyType",
        "\"tokenizer.ggml.tokens\" is not a list of texts");
    row("tokens are one text", set("tokens", value("a")), "KeyType", "is not a list of texts");
    row("token not UTF-8", tokens([](auto& all) { all[285] = "\xff"; }), "KeyType",
        "\"tokenizer.ggml.tokens\" is not text in UTF-8");
    row("empty token", tokens([](auto& all) { all.back().clear(); }), "TK16", "");
    row("token of 1025 bytes", tokens([](auto& all) { all.back() = std::string(1025, 'x'); }),
        "TK16", "");
    row("token twice", tokens([](auto& all) { all.back() = "a"; }), "", "");
    row("more tokens than rows", tokens([](auto& all) { all.emplace_back("more"); }),
        "GgufTokenizer", "has 289 tokens, its table has rows for 288");
    row("fewer kinds than tokens", set("token_type", list(std::vector<int32_t>(200, 1))),
        "GgufTokenizer", "has 288 tokens and 200 kinds");
    row("no kinds in the list", set("token_type", list(std::vector<int32_t>{})), "GgufTokenizer",
        "has 288 tokens and 0 kinds");
    row("kinds are texts", set("token_type", list(std::vector<std::string>{"1"})), "KeyType",
        "\"tokenizer.ggml.token_type\" is not a");
    row("kinds are one number", set("token_type", value(int32_t{1})), "KeyType",
        "\"tokenizer.ggml.token_type\" is not a list");
    const auto merges = [&](const std::vector<std::string>& all) {
        return set("merges", list(all));
    };
    row("merge without a space", merges({"a b", "ab"}), "GgufTokenizer",
        "a merge is not two tokens");
    row("empty merge", merges({""}), "GgufTokenizer", "a merge is not two tokens");
    row("merge of a space", merges({" "}), "GgufTokenizer", "a merge is not two tokens");
    row("merge without a second part", merges({"a "}), "", "");
    row("merge of unknown tokens", merges({"x y"}), "TK23", "");
    row("merge into an unknown token", merges({"b a"}), "TK24", "");
    row("merge twice", merges({"a b", "a b"}), "TK25", "");
    row("merge of three", merges({"a b c"}), "", "");
    row("merge not UTF-8", merges({"a \xff"}), "KeyType", "\"tokenizer.ggml.merges\" is not text");
    row("merges are numbers", set("merges", list(std::vector<int32_t>{1})), "KeyType",
        "is not a list of texts");
    row("no byte token", tokens([](auto& all) { all[24 + 65] = "other"; }), "TK22", "");
    row("no unknown token", tokens([](auto& all) { all[3] = "other"; }), "TK15", "<unk>");
    for (const char* model : {"llama", "bert", "t5", "rwkv", "none", "GEMMA4"}) {
        addRow(
            rows, std::string("tokenizer: model ") + model, gemma(),
            [&](File& f) {
                f.set(p + "model", value(model));
                f.remove(p + "merges");
            },
            "GgufTokenizer", "its tokenizer is \"" + std::string(model) + "\"");
    }
    row("model is a number", set("model", value(uint32_t{1})), "KeyType",
        "the key \"tokenizer.ggml.model\" is not a text");
    for (const char* pre : {"", "default", "qwen2", "tekken", "SMOLLM", "deepseek-llm"}) {
        addRow(rows, std::string("tokenizer: rules ") + pre, llama(), set("pre", value(pre)),
               "GgufTokenizer", "with the rules \"" + std::string(pre) + "\"");
    }
    row("add_bos_token is a number", set("add_bos_token", value(uint32_t{1})), "KeyType",
        "the key \"tokenizer.ggml.add_bos_token\" is not true or false");
    row("bos is a list", set("bos_token_id", list(std::vector<int32_t>{2})), "KeyType",
        "the key \"tokenizer.ggml.bos_token_id\" is not a whole number");
    addRow(
        rows, "template is a list", gemma(),
        [](File& f) { f.set("tokenizer.chat_template", list(std::vector<std::string>{"x"})); },
        "KeyType", "the key \"tokenizer.chat_template\" is not a text");
    addRow(
        rows, "template not UTF-8", gemma(),
        [](File& f) { f.set("tokenizer.chat_template", value("\xff")); }, "KeyType",
        "the key \"tokenizer.chat_template\" is not text in UTF-8");
    addRow(
        rows, "template of 2 MiB", gemma(),
        [](File& f) { f.set("tokenizer.chat_template", value(std::string(2 << 20, 'x'))); },
        "FileTooLarge", "what stands for chat_template.jinja has 2.00 MiB");
}

inline void addNames(Rows& rows) {
    const auto named = [&](const std::string& name, const std::string& stored) {
        addRow(
            rows, "unknown tensor: " + name, gemma(),
            [&](File& f) {
                f.tensors.push_back({stored, {32}});
            },
            "GgufTensorName", "the tensor " + stored + " is not one that Belfry knows");
    };
    named("a word", "something");
    named("a layer behind the last", "blk.2.attn_norm.weight");
    named("a layer of 2^63", "blk.9223372036854775808.attn_norm.weight");
    named("a layer below 0", "blk.-1.attn_norm.weight");
    named("a layer without a number", "blk..attn_norm.weight");
    named("a layer with a zero before it", "blk.01.attn_norm.weight");
    named("a layer alone", "blk.1");
    named("a layer with a dot", "blk.1.");
    named("bias", "blk.0.attn_q.bias");
    named("scale of NVFP4", "blk.0.attn_q.scale");
    named("input scale of NVFP4", "blk.0.attn_q.input_scale");
    named("of an adapter", "blk.0.attn_q.weight.lora_a");
    named("of an assistant", "nextn.pre_projection.weight");
    named("in the place of its layer", "attn_norm.weight");
    named("with another ending", "output_norm.weights");
    named("of a sub-norm", "blk.0.attn_sub_norm.weight");
    File values = gemmaWithoutTables(); // its one full layer has none
    values.set("gemma4.attention.sliding_window_pattern", bools({0, 0}))
        .set("gemma4.attention.key_length_swa", value(uint32_t{16}));
    addRow(
        rows, "values in one of two full layers", values, [](File&) {}, "GgufTensorMissing",
        "some full layers have a tensor attn_v.weight and others do not");
    named("of experts, without their number", "blk.0.ffn_gate_inp.weight");
    named("gate of experts, without their number", "blk.0.ffn_gate_exps.weight");
    named("up of experts, without their number", "blk.0.ffn_up_exps.weight");
    for (const char* stored :
         {"blk.0.attn_q_norm.weight", "blk.0.attn_qkv.weight", "blk.0.post_ffw_norm.weight",
          "blk.0.inp_gate.weight", "blk.0.ffn_down_exps.weight", "per_layer_proj_norm.weight"}) {
        addRow(
            rows, std::string("unknown tensor of llama: ") + stored, llama(),
            [&](File& f) {
                f.tensors.push_back({stored, {32}});
            },
            "GgufTensorName",
            std::string("the tensor ") + stored + " is not one that Belfry knows");
    }
    for (const char* stored : {"blk.1.proj.weight", "per_layer_model_proj.weight"}) {
        addRow(
            rows, std::string("input of layers without its width: ") + stored, gemmaWithoutTables(),
            [&](File& f) {
                f.tensors.push_back({stored, {32}});
            },
            "GgufTensorName",
            std::string("the tensor ") + stored + " is not one that Belfry knows");
    }
}

inline void addRearranged(Rows& rows) {
    const auto gemmaRow = [&](const std::string& name, const Change& change,
                              const std::string& rule, const std::string& expected) {
        addRow(rows, name, gemma(), change, rule, expected);
    };
    gemmaRow(
        "fused heads of another height",
        [](File& f) {
            f.remove("blk.0.attn_q.weight")
                .remove("blk.0.attn_k.weight")
                .remove("blk.0.attn_v.weight");
            f.tensors.push_back({"blk.0.attn_qkv.weight", {32, 65}});
        },
        "GgufTensorShape", "the tensor blk.0.attn_qkv.weight has a shape");
    gemmaRow(
        "fused heads as a list",
        [](File& f) {
            f.tensors.push_back({"blk.0.attn_qkv.weight", {2048}});
        },
        "GgufTensorShape", "the tensor blk.0.attn_qkv.weight has a shape");
    gemmaRow(
        "fused heads beside single ones",
        [](File& f) {
            f.tensors.push_back({"blk.0.attn_qkv.weight", {32, 64}});
        },
        "GgufTensorTwice", "layers.0.self_attn.k_proj.weight twice");
    const auto experts = [&](const std::string& name, const Change& change, const std::string& rule,
                             const std::string& expected) {
        addRow(rows, "experts: " + name, gemmaWithExperts(), change, rule, expected);
    };
    const auto halves = [](File& f, uint64_t up, uint32_t type, bool keeps) {
        if (!keeps) {
            f.remove("blk.0.ffn_gate_up_exps.weight");
        }
        f.tensors.push_back({"blk.0.ffn_gate_exps.weight", {32, 32, 4}});
        if (up > 0) {
            f.tensors.push_back({"blk.0.ffn_up_exps.weight", {32, up, 4}, type});
        }
    };
    experts(
        "gate without up", [&](File& f) { halves(f, 0, 0, false); }, "GgufTensorShape",
        "the tensor blk.0.ffn_gate_exps.weight has a shape");
    experts(
        "gate and up of two widths", [&](File& f) { halves(f, 64, 0, false); }, "GgufTensorShape",
        "the tensor blk.0.ffn_gate_exps.weight has a shape");
    experts(
        "gate and up of two types", [&](File& f) { halves(f, 32, 1, false); }, "GgufTensorShape",
        "the tensor blk.0.ffn_gate_exps.weight has a shape");
    experts(
        "gate and up beside both in one", [&](File& f) { halves(f, 32, 0, true); },
        "GgufTensorTwice", "experts.gate_up_proj twice");
    experts(
        "gate of two dimensions",
        [](File& f) {
            f.remove("blk.0.ffn_gate_up_exps.weight");
            f.tensors.push_back({"blk.0.ffn_gate_exps.weight", {32, 128}});
            f.tensors.push_back({"blk.0.ffn_up_exps.weight", {32, 128}});
        },
        "GgufTensorShape", "the tensor blk.0.ffn_gate_exps.weight has a shape");
    addRow(
        rows, "assistant without the width of its model", assistant(),
        [](File& f) { f.remove("gemma4-assistant.embedding_length_out"); }, "GgufKey",
        "\"gemma4-assistant.embedding_length_out\" is missing");
    addRow(
        rows, "assistant with centroids of no dimension", assistant(),
        [](File& f) {
            f.tensors.push_back({"masked_embd_centroids.weight", {}});
            f.tensors.push_back({"masked_embd_ordering", {288}, 26});
        },
        "GgufTensorMissing", "the tensor masked_embd_centroids.weight is missing or is no table");
}

inline void addProjectors(Rows& rows) {
    const auto with = [&](const std::string& name, const File& model, File file,
                          const Change& change, const std::string& rule,
                          const std::string& expected) {
        change(file);
        rows.push_back({"projector: " + name,
                        {{"model.gguf", model.bytes()}, {"mmproj.gguf", file.bytes()}},
                        rule,
                        expected});
    };
    const auto row = [&](const std::string& name, const Change& change, const std::string& rule,
                         const std::string& expected) {
        with(name, gemma(), projector(), change, rule, expected);
    };
    const auto set = [](const std::string& key, const std::string& bytes) {
        return Change([key, bytes](File& f) { f.set(key, bytes); });
    };
    const Change nothing = [](File&) {};
    row("of another width", set("clip.vision.projection_dim", value(uint32_t{64})), "GgufProjector",
        "mmproj.gguf: belongs to another model: its features are 64 wide, model.gguf is 32 wide");
    row(
        "without a width", [](File& f) { f.remove("clip.vision.projection_dim"); }, "GgufProjector",
        "mmproj.gguf: is not a projector");
    row("width is a text", set("clip.vision.projection_dim", value("32")), "GgufProjector",
        "is not a projector");
    row(
        "of no architecture", [](File& f) { f.remove("general.architecture"); }, "GgufProjector",
        "is not a projector");
    row("architecture is a number", set("general.architecture", value(uint32_t{1})),
        "GgufProjector", "is not a projector");
    with("a model", gemma(), gemma(), nothing, "GgufProjector", "mmproj.gguf: is not a projector");
    with("embedders for a model with tables", gemma(), embedders(), nothing, "GgufProjector",
         "mmproj.gguf: belongs to another model");
    with("embedders for a model with experts", gemmaWithExperts(), embedders(), nothing,
         "GgufProjector", "belongs to another model");
    with("for llama", llama(), projector(), nothing, "GgufProjector",
         "model.gguf: models of its architecture take no projector");
    row(
        "broken", [](File& f) { f.version = 1; }, "GgufVersion", "mmproj.gguf: has version 1");
    for (const char* key :
         {"embedding_length", "feed_forward_length", "block_count", "attention.head_count"}) {
        const std::string name = std::string("clip.vision.") + key;
        const std::string quoted = "mmproj.gguf: the key \"" + name + "\"";
        row(
            std::string("missing: ") + key, [&](File& f) { f.remove(name); }, "GgufKey",
            quoted + " is missing");
        row(std::string("0: ") + key, set(name, value(uint32_t{0})), "GgufKey", quoted + " is 0");
        row(std::string("a text: ") + key, set(name, value("1")), "KeyType", quoted);
    }
    row("patches of 0", set("clip.vision.patch_size", value(uint32_t{0})), "GgufKey",
        "\"clip.vision.patch_size\" is 0");
    row("pooling of 0", set("clip.vision.projector.scale_factor", value(uint32_t{0})), "GgufKey",
        "\"clip.vision.projector.scale_factor\" is 0");
    row(
        "no positions", [](File& f) { f.remove("v.position_embd.weight"); }, "",
        "position_embedding_size");
    row(
        "tower without the way out", [](File& f) { f.remove("mm.input_projection.weight"); },
        "GgufTensorMissing", "mmproj.gguf: the tensor mm.input_projection.weight is missing");
    row(
        "sound without the way out",
        [](File& f) {
            f.tensors.push_back({"a.pre_encode.out.weight", {32, 32}});
        },
        "GgufTensorMissing", "mmproj.gguf: the tensor mm.a.input_projection.weight is missing");
    row(
        "no tensors", [](File& f) { f.tensors.clear(); }, "GgufTensorMissing",
        "mmproj.gguf: the tensor mm.input_projection.weight is missing");
}

inline void addTowers(Rows& rows) {
    const auto with = [&](const std::string& name, const File& model, File file,
                          const Change& change, const std::string& rule,
                          const std::string& expected) {
        change(file);
        rows.push_back({"projector: " + name,
                        {{"model.gguf", model.bytes()}, {"mmproj.gguf", file.bytes()}},
                        rule,
                        expected});
    };
    const auto row = [&](const std::string& name, const Change& change, const std::string& rule,
                         const std::string& expected) {
        with(name, gemma(), projector(), change, rule, expected);
    };
    for (const char* name : {"v.blk.0.attn_q.bias", "v.blk.00.ln1.weight", "v.blk.0.ln3.weight",
                             "v.blk.0.attn_q", "a.blk.0.nothing.weight", "mm.other.weight",
                             "blk.0.attn_q.weight", "v.blk.99999999999999999999.ln1.weight"}) {
        row(
            std::string("unknown tensor ") + name,
            [&](File& f) {
                f.tensors.push_back({name, {32}});
            },
            "GgufTensorName", "mmproj.gguf: the tensor " + std::string(name) + " is not one");
    }
    for (const uint32_t type : {2U, 8U, 12U, 39U}) {
        row(
            "patches in blocks of type " + std::to_string(type),
            [&](File& f) {
                f.tensor("v.patch_embd.weight").dims = {256, 3, 1, 32};
                f.tensor("v.patch_embd.weight").type = type;
            },
            "GgufTensorType", "the tensor v.patch_embd.weight is stored as");
    }
    // No whole number of layers (28 bounds each), and more than any model has.
    for (const uint64_t count : {uint64_t{31}, uint64_t{28} * 513 + 4}) {
        row(
            "list of " + std::to_string(count) + " bounds",
            [&](File& f) {
                f.tensors.push_back({"v.clamp_data", {count}});
            },
            "GgufTensorShape", "the tensor v.clamp_data has a shape");
    }
    const auto patches = [&](const char* name, const std::vector<uint64_t>& dims) {
        row(
            name, [&](File& f) { f.tensor("v.patch_embd.weight").dims = dims; }, "GgufTensorShape",
            "the tensor v.patch_embd.weight has a shape");
    };
    patches("patches of no dimension", {});
    patches("patches of one value", {1});
    patches("patches that are no squares", {16, 15, 3, 32});
    patches("patches of two channels", {16, 16, 2, 32});
    with(
        "table of positions of two dimensions", gemmaWithoutTables(), embedders(),
        [](File& f) {
            f.tensor("v.position_embd.weight").dims = {16, 160};
        },
        "GgufTensorShape", "the tensor v.position_embd.weight has a shape");
    with(
        "three tables of positions", gemmaWithoutTables(), embedders(),
        [](File& f) {
            f.tensor("v.position_embd.weight").dims = {16, 80, 3};
        },
        "GgufTensorShape", "the tensor v.position_embd.weight has a shape");
    row(
        "sound's way out of no dimension",
        [](File& f) {
            f.set("clip.audio.embedding_length", value(uint32_t{32}))
                .set("clip.audio.attention.head_count", value(uint32_t{2}))
                .set("clip.audio.block_count", value(uint32_t{1}));
            f.tensors.push_back({"mm.a.input_projection.weight", {32, 32}});
            f.tensors.push_back({"a.pre_encode.out.weight", {}});
        },
        "", "output_proj_dims");
}

} // namespace gguf

inline std::vector<MalformedGguf> malformedGgufs() {
    std::vector<MalformedGguf> rows;
    gguf::addContainer(rows);
    gguf::addTensorRows(rows);
    gguf::addPlaces(rows);
    gguf::addSplits(rows);
    gguf::addMetadata(rows);
    gguf::addContradictions(rows);
    gguf::addFrequencies(rows);
    gguf::addExperts(rows);
    gguf::addLlama(rows);
    gguf::addTokenizers(rows);
    gguf::addNames(rows);
    gguf::addRearranged(rows);
    gguf::addProjectors(rows);
    gguf::addTowers(rows);
    return rows;
}

} // namespace support
