// SPDX-License-Identifier: Apache-2.0
// Broken model.safetensors files: at least one per rule of engine/files/SAFETENSORS.md.
#pragma once

#include "tests/engine/files/malformed_case.h"
#include "tests/engine/files/raw_safetensors.h"

#include <string>
#include <vector>

namespace support {

inline std::vector<MalformedCase> malformedSafetensors() {
    std::vector<MalformedCase> cases;
    const std::string file = "model.safetensors";
    const auto bytes = [&](const std::string& name, const std::string& content,
                           const std::string& rule, const std::string& expected) {
        cases.push_back({name, {{file, content}}, expected, rule});
    };
    // A header text with `data` bytes behind it.
    const auto header = [&](const std::string& name, const std::string& text, size_t data,
                            const std::string& rule, const std::string& expected) {
        bytes(name, rawSafetensors(text, data), rule, expected);
    };
    const auto entry = headerEntry;
    const std::string good = entry("a", "F32", "2", "0,8");
    const std::string json_rule = "InvalidHeaderDeserialization";

    // Rules 1 to 3 of the format: the length prefix.
    bytes("empty file", "", "HeaderTooSmall", "has only 0 bytes");
    bytes("seven bytes", std::string(7, '\0'), "HeaderTooSmall", "has only 7 bytes");
    bytes("length one over the limit", lengthPrefix(100'000'001) + "{}", "HeaderTooLarge",
          "its header length is 100000001 bytes");
    bytes("length of all ones", std::string(8, '\xff'), "HeaderTooLarge",
          "its header length is 18446744073709551615 bytes");
    bytes("length at the limit in a short file", lengthPrefix(100'000'000) + "{}",
          "InvalidHeaderLength", "should have 100000000 bytes");
    bytes("length one over the file", lengthPrefix(3) + "{}", "InvalidHeaderLength",
          "should have 3 bytes");
    bytes("length prefix alone", lengthPrefix(2), "InvalidHeaderLength",
          "but the file has 8 in all");

    // Rule 4: UTF-8.
    header("lone continuation byte", "{\"\x80\":1}", 0, "InvalidHeader", "header is not UTF-8");
    header("overlong slash in a name", "{\"\xc0\xaf\":{}}", 0, "InvalidHeader",
           "model.safetensors: the header is not UTF-8");
    header("surrogate in UTF-8", "{\"\xed\xa0\x80\":{}}", 0, "InvalidHeader", "not UTF-8");
    header("character beyond U+10FFFF", "{\"\xf4\x90\x80\x80\":{}}", 0, "InvalidHeader",
           "the header is not UTF-8");

    // Rule 5: JSON and types.
    header("header of length zero", "", 0, json_rule,
           "ends in the middle of a JSON value (at byte 0)");
    header("header of zeros", std::string(16, '\0'), 0, json_rule, "expected a value (at byte 0)");
    header("cut in the middle", "{" + good, 8, json_rule,
           "ends in the middle of a JSON value (at byte");
    header("cut inside a string", "{\"a", 0, json_rule, "ends inside a string");
    header("text after the object", "{}x", 0, json_rule, "text after the end of the JSON value");
    header("two objects", "{}{}", 0, json_rule, "text after the end of the JSON value (at byte 2)");
    header("byte-order mark", "\xef\xbb\xbf{}", 0, json_rule, "expected a value");
    header("comment", "/* */{}", 0, json_rule, "not valid JSON: expected a value");
    header("trailing comma", "{" + good + ",}", 8, json_rule, "expected a member name");
    header("missing comma", "{" + good + good + "}", 8, json_rule, "expected ',' or '}'");
    header("missing colon", "{\"a\" 1}", 0, json_rule, "expected ':'");
    header("single quotes", "{'a':1}", 0, json_rule, "expected a member name or '}'");
    header("control character in a name", "{\"a\nb\":1}", 0, json_rule,
           "control character in a string");
    header("unknown escape", R"({"\x":1})", 0, json_rule, "unknown escape");
    header("cut unicode escape", R"({"\u12":1})", 0, json_rule, "malformed \\u escape");
    header("lone high surrogate", R"({"\ud800":1})", 0, json_rule, "lone surrogate");
    header("lone low surrogate", R"({"\udc00x":1})", 0, json_rule, "surrogate in a \\u escape");
    header("number with a leading zero", "{\"a\":{\"shape\":[01]}}", 0, json_rule,
           "malformed number");
    header("NaN", "{\"a\":{\"shape\":[NaN]}}", 0, json_rule, "expected a value (at byte 15)");
    header("header is a list", "[]", 0, json_rule, "the header is a list, expected an object");
    header("header is a text", "\"a\"", 0, json_rule, "the header is a text, expected an object");
    header("header is a number", "8", 0, json_rule, "the header is a number, expected an object");
    header("header is null", "null", 0, json_rule, "the header is null, expected an object");
    header("header is true", "true", 0, json_rule, "the header is true or false");
    header("tensor is a number", "{\"a\":1}", 0, json_rule, "tensor a is described by a number");
    header("tensor is a list", "{\"a\":[]}", 0, json_rule, "tensor a is described by a list");
    header("tensor is null", "{\"a\":null}", 0, json_rule, "tensor a is described by null");
    header("dtype missing", R"({"a":{"shape":[2],"data_offsets":[0,8]}})", 8, json_rule,
           "tensor a: the member dtype is missing");
    header("shape missing", R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", 8, json_rule,
           "tensor a: the member shape is missing");
    header("data_offsets missing", R"({"a":{"dtype":"F32","shape":[2]}})", 0, json_rule,
           "tensor a: the member data_offsets is missing");
    header("empty entry", R"({"a":{}})", 0, json_rule, "the member dtype is missing");
    header("dtype is a number", R"({"a":{"dtype":7,"shape":[2],"data_offsets":[0,8]}})", 8,
           json_rule, "dtype is a number, expected a text");
    header("dtype is a list", R"({"a":{"dtype":[],"shape":[2],"data_offsets":[0,8]}})", 8,
           json_rule, "dtype is a list, expected a text");
    header("shape is a number", R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", 8,
           json_rule, "shape is a number, expected a list");
    header("shape is null", R"({"a":{"dtype":"F32","shape":null,"data_offsets":[0,8]}})", 8,
           json_rule, "shape is null, expected a list");
    header("shape holds a text", R"({"a":{"dtype":"F32","shape":["2"],"data_offsets":[0,8]}})", 8,
           json_rule, "a list of numbers holds a text");
    header("shape holds a list", R"({"a":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]}})", 8,
           json_rule, "a list of numbers holds a list");
    header("shape holds null", R"({"a":{"dtype":"F32","shape":[null],"data_offsets":[0,8]}})", 8,
           json_rule, "a list of numbers holds null");
    header("data_offsets is a text", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":"0,8"}})", 8,
           json_rule, "data_offsets is a text, expected a list");
    header("one offset", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", 8, json_rule,
           "data_offsets has 1 numbers");
    header("three offsets", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})", 8,
           json_rule, "data_offsets has more than 2 numbers");
    header("metadata is a list", R"({"__metadata__":[]})", 0, json_rule,
           "__metadata__ is a list, expected an object");
    header("metadata is a text", R"({"__metadata__":"pt"})", 0, json_rule,
           "__metadata__ is a text, expected an object");
    header("metadata holds a number", R"({"__metadata__":{"step":3}})", 0, json_rule,
           "__metadata__ member \"step\" is a number");
    header("metadata holds null", R"({"__metadata__":{"format":null}})", 0, json_rule,
           "__metadata__ member \"format\" is null");
    header("metadata holds an object", R"({"__metadata__":{"x":{}}})", 0, json_rule,
           "__metadata__ member \"x\" is an object");

    // Rule 6: contiguous offsets.
    header("data starts with a hole", "{" + entry("a", "U8", "4", "2,6") + "}", 6, "InvalidOffset",
           "data_offsets are 2 to 6, expected a range that begins at 0");
    header("hole between tensors",
           "{" + entry("a", "U8", "4", "0,4") + "," + entry("b", "U8", "2", "5,7") + "}", 7,
           "InvalidOffset", "data_offsets are 5 to 7, expected a range that begins at 4");
    header("tensors overlap",
           "{" + entry("a", "U8", "4", "0,4") + "," + entry("b", "U8", "4", "3,7") + "}", 7,
           "InvalidOffset", "data_offsets are 3 to 7, expected");
    header("two tensors share their bytes",
           "{" + entry("a", "U8", "4", "0,4") + "," + entry("b", "U8", "4", "0,4") + "}", 4,
           "InvalidOffset", "tensor b: its data_offsets are 0 to 4");
    header("end before begin", "{" + entry("a", "U8", "4", "4,0") + "}", 4, "InvalidOffset",
           "data_offsets are 4 to 0");

    // Rules 7 to 9: sizes.
    header("shape product overflows",
           "{" + entry("a", "F32", "281474976710656,281474976710656", "0,0") + "}", 0,
           "ValidationOverflow", "its size does not fit 64 bits");
    header("bit count overflows", "{" + entry("a", "F64", "281474976710656,4096", "0,0") + "}", 0,
           "ValidationOverflow", "tensor a: its size does not fit 64 bits");
    header("half a byte", "{" + entry("a", "F4", "3", "0,1") + "}", 1, "MisalignedSlice",
           "its 12 bits do not fill whole bytes");
    header("six-bit values that end inside a byte", "{" + entry("a", "F6_E2M3", "2", "0,2") + "}",
           2, "MisalignedSlice", "its 12 bits do not fill");
    header("too few bytes for the shape", "{" + entry("a", "F32", "3", "0,8") + "}", 8,
           "TensorInvalidInfo", "need 12 bytes, data_offsets 0 to 8 give 8");
    header("too many bytes for the shape", "{" + entry("a", "BF16", "3", "0,8") + "}", 8,
           "TensorInvalidInfo", "need 6 bytes, data_offsets 0 to 8 give 8");
    header("scalar without bytes", "{" + entry("a", "F32", "", "0,0") + "}", 0, "TensorInvalidInfo",
           "need 4 bytes, data_offsets 0 to 0 give 0");
    header("bytes for an empty shape", "{" + entry("a", "F32", "0,5", "0,4") + "}", 4,
           "TensorInvalidInfo", "need 0 bytes, data_offsets 0 to 4 give 4");
    header("eight-bit float with wrong bytes", "{" + entry("a", "F8_E4M3", "4", "0,8") + "}", 8,
           "TensorInvalidInfo", "need 4 bytes, data_offsets 0 to 8");

    // Rule 10: file length.
    header("one byte short", "{" + good + "}", 7, "MetadataIncompleteBuffer",
           "describes 8 bytes of data, the file holds 7; it was cut short");
    header("no data at all", "{" + good + "}", 0, "MetadataIncompleteBuffer",
           "describes 8 bytes of data, the file holds 0");
    header("one byte too many", "{" + good + "}", 9, "MetadataIncompleteBuffer",
           "the file holds 9; there are surplus bytes");
    header("data behind an empty header", "{}", 4, "MetadataIncompleteBuffer",
           "describes 0 bytes of data, the file holds 4");
    header("offsets far beyond the file", "{" + entry("a", "U8", "1000000", "0,1000000") + "}", 10,
           "MetadataIncompleteBuffer", "describes 1000000 bytes of data, the file holds 10");

    // ST01: duplicates.
    header("tensor name twice, one without bytes",
           "{" + good + "," + entry("a", "F32", "0", "8,8") + "}", 8, "ST01",
           "the tensor name a occurs twice");
    header("tensor name twice in two spellings",
           "{" + good + "," + entry("\\u0061", "F32", "0", "0,0") + "}", 8, "ST01",
           "tensor name a occurs twice");
    header("metadata twice", R"({"__metadata__":{},"__metadata__":{}})", 0, "ST01",
           "__metadata__ occurs twice");
    header("metadata member twice", R"({"__metadata__":{"x":"1","x":"2"}})", 0, "ST01",
           "__metadata__: the member \"x\" occurs twice");
    header("dtype twice", R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
           8, "ST01", "tensor a: the member \"dtype\" occurs twice");
    header("shape twice", R"({"a":{"dtype":"F32","shape":[],"shape":[2],"data_offsets":[0,8]}})", 8,
           "ST01", "tensor a: the member \"shape\" occurs twice");
    header("offsets twice",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"data_offsets":[0,8]}})", 8,
           "ST01", "the member \"data_offsets\" occurs twice");
    header("unknown member twice",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1,"x":2}})", 8, "ST01",
           "tensor a: the member \"x\" occurs twice");
    header("duplicate inside an unknown member",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":{"y":1,"y":2}}})", 8, "ST01",
           "the member \"y\" occurs twice");

    // ST02: depth, names, rank.
    header("nested five deep", R"({"a":{"x":{"y":{"z":{}}}}})", 0, "ST02",
           "nested deeper than 4 levels");
    header("a hundred thousand open lists", "{\"a\":{\"x\":" + std::string(100'000, '['), 0, "ST02",
           "nested deeper than 4 levels (at byte 12)");
    header("name of 1025 bytes", "{" + entry(std::string(1025, 'n'), "U8", "1", "0,1") + "}", 1,
           "ST02", "a tensor name has 1025 bytes");
    header("empty name", "{" + entry("", "U8", "1", "0,1") + "}", 1, "ST02",
           "a tensor has an empty name");
    header("NUL in a name", "{" + entry("a\\u0000b", "U8", "1", "0,1") + "}", 1, "ST02",
           "the tensor name a?b holds a control character");
    header("line break in a name", "{" + entry("x\\ny", "U8", "1", "0,1") + "}", 1, "ST02",
           "the tensor name x?y holds a control character");
    header("delete character in a name", "{" + entry("p\x7fq", "U8", "1", "0,1") + "}", 1, "ST02",
           "the tensor name p?q holds");
    header("nine dimensions", "{" + entry("a", "U8", "1,1,1,1,1,1,1,1,1", "0,1") + "}", 1, "ST02",
           "the shape has more than 8 dimensions");

    std::string members;
    for (int i = 0; i < 4097; ++i) {
        members += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"\"";
    }
    header("4097 members of metadata", "{\"__metadata__\":{" + members + "}}", 0, "ST02",
           "__metadata__ has more than 4096 members");

    // ST03: numbers.
    const std::vector<std::pair<std::string, std::string>> numbers = {
        {"negative size", "-1"},
        {"minus zero", "-0"},
        {"fraction", "2.0"},
        {"exponent", "2e0"},
        {"capital exponent", "2E+0"},
        {"2^48 + 1", "281474976710657"},
        {"2^64", "18446744073709551616"},
        {"forty digits", std::string(40, '9')}};
    for (const auto& [name, literal] : numbers) {
        header(name + " in a shape", "{" + entry("s", "F32", literal, "0,8") + "}", 8, "ST03",
               "tensor s: the number " + literal + " is not a plain whole number");
    }
    header("negative offset", "{" + entry("o", "F32", "2", "-8,0") + "}", 8, "ST03",
           "tensor o: the number -8 is not");
    header("fractional offset", "{" + entry("o", "F32", "2", "0,8.5") + "}", 8, "ST03",
           "tensor o: the number 8.5 is not");
    header("offset beyond 2^48", "{" + entry("o", "F32", "2", "0,999999999999999") + "}", 8, "ST03",
           "tensor o: the number 999999999999999 is not");

    // Something else under the name of a safetensors file, refused by content.
    bytes("pickle, protocol 2", "\x80\x02}q\x01(X\x05", "PickleFile", "is a Python pickle");
    bytes("pickle, protocol 4", std::string("\x80\x04\x95\x1a\0\0\0\0\0\0\0}\x94.", 14),
          "PickleFile", "model.safetensors: is a Python pickle");
    bytes("pickle, protocol 5", std::string("\x80\x05\x95\x1a\0\0\0\0\0\0\0}\x94.", 14),
          "PickleFile", "which can run code when it is opened");
    bytes("pickle shorter than a length prefix", "\x80\x04N.", "PickleFile",
          "Belfry never opens one");
    bytes("pickle that imitates a length of 642",
          std::string("\x80\x02\0\0\0\0\0\0", 8) + std::string(642, 'N'), "PickleFile",
          "is a Python pickle, which");
    bytes("PyTorch's legacy magic number",
          std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15), "PickleFile",
          "Python pickle");
    bytes("pickle, protocol 0 that runs a command", "cposix\nsystem\n(S'true'\ntR.", "PickleFile",
          "pickle, which can run code");
    bytes("pickle, protocol 0 dictionary", "(dp0\nS'a'\nI1\ns.", "PickleFile",
          "get the safetensors version of the model or convert it");
    bytes("zip archive as PyTorch writes it", "PK\x03\x04" + std::string(60, '\0'), "ZipFile",
          "is a zip archive");
    bytes("empty zip archive", "PK\x05\x06" + std::string(18, '\0'), "ZipFile",
          "PyTorch saves pickles this way");
    bytes("GGUF", std::string("GGUF\x03\0\0\0", 8) + std::string(32, '\0'), "GgufFile",
          "is a GGUF file");
    bytes("old GGML", "ggjt" + std::string(32, '\0'), "GgufFile", "is an old GGML file");
    bytes("Git LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n",
          "LfsPointer", "is a Git LFS pointer");
    bytes("web page", "<!DOCTYPE html><html></html>", "HtmlFile", "is a web page");
    bytes("HDF5", "\x89HDF\r\n\x1a\n" + std::string(32, '\0'), "Hdf5File", "is an HDF5 file");
    bytes("NumPy", std::string("\x93NUMPY\x01\0", 8) + std::string(32, ' '), "NumpyFile",
          "is a NumPy file");
    bytes("gzip", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10), "ArchiveFile",
          "is compressed (gzip)");
    bytes("plain text", "hello, this is not a model\n", "HeaderTooLarge",
          "is this a safetensors file?");
    return cases;
}

} // namespace support
