// SPDX-License-Identifier: Apache-2.0
// Table of first bytes. Source: the formats' own descriptions (pickle opcodes: Python's
// Lib/pickletools; zip: APPNOTE 4.3; GGUF: magic "GGUF").
#include "engine/files/foreign_format.h"

#include <algorithm>
#include <array>

namespace engine {

namespace {

constexpr Phrase kPickleAdvice = phrase(
    "is a Python pickle, which can run code when it is opened, so Belfry never opens one; get the "
    "safetensors version of the model or convert it with its maker's tools");
constexpr Phrase kZipAdvice = phrase(
    "is a zip archive (PyTorch saves pickles this way), which can run code when it is opened, so "
    "Belfry never opens one; get the safetensors version of the model");
constexpr Phrase kLfsAdvice = phrase(
    "is a Git LFS pointer, not the file itself; fetch the large files (git lfs pull) or download "
    "the model again");
constexpr Phrase kHtmlAdvice = phrase(
    "is a web page, not a model file; the download probably failed (a login page?), try it again");

struct Signature {
    std::string_view head;
    ForeignFormat format;
    bool is_certain; ///< As a length prefix it would exceed every limit.
};

using std::string_view_literals::operator""sv;

constexpr auto kSignatures = std::to_array<Signature>({
    {"PK\x03\x04"sv, {"ZipFile", kZipAdvice}, true},
    {"PK\x05\x06"sv, {"ZipFile", kZipAdvice}, true},
    {"PK\x07\x08"sv, {"ZipFile", kZipAdvice}, true},
    {"GGUF"sv, {"GgufFile", kGgufAdvice}, true},
    {"GGML"sv,
     {"GgufFile", phrase("is an old GGML file; get the model as safetensors or GGUF")},
     true},
    {"ggjt"sv,
     {"GgufFile", phrase("is an old GGML file; get the model as safetensors or GGUF")},
     true},
    {"version https://"sv, {"LfsPointer", kLfsAdvice}, true},
    {"<!DOCTYPE"sv, {"HtmlFile", kHtmlAdvice}, true},
    {"<!doctype"sv, {"HtmlFile", kHtmlAdvice}, true},
    {"<html"sv, {"HtmlFile", kHtmlAdvice}, true},
    {"<HTML"sv, {"HtmlFile", kHtmlAdvice}, true},
    {"<?xml"sv, {"HtmlFile", kHtmlAdvice}, true}, // a store's answer that there is no such file
    {"\x89HDF\r\n\x1a\n"sv,
     {"Hdf5File", phrase("is an HDF5 file (Keras); Belfry opens safetensors models")},
     true},
    {"\x93NUMPY"sv,
     {"NumpyFile", phrase("is a NumPy file; Belfry opens safetensors models")},
     true},
    {"\x1f\x8b\x08"sv, {"ArchiveFile", phrase("is compressed (gzip); unpack it first")}, false},
    {"7z\xbc\xaf\x27\x1c"sv, {"ArchiveFile", phrase("is a 7-Zip archive; unpack it first")}, true},
    {"\xfd"
     "7zXZ"sv,
     {"ArchiveFile", phrase("is compressed (xz); unpack it first")},
     true},
    {"\x28\xb5\x2f\xfd"sv, {"ArchiveFile", phrase("is compressed (zstd); unpack it first")}, true},
    {"\x80\x01"sv, {"PickleFile", kPickleAdvice}, false},
    {"\x80\x02"sv, {"PickleFile", kPickleAdvice}, false},
    {"\x80\x03"sv, {"PickleFile", kPickleAdvice}, false},
    {"\x80\x04"sv, {"PickleFile", kPickleAdvice}, false},
    {"\x80\x05"sv, {"PickleFile", kPickleAdvice}, false},
    // Protocol 0: a mark and a container, or a global.
    {"(dp"sv, {"PickleFile", kPickleAdvice}, true},
    {"(lp"sv, {"PickleFile", kPickleAdvice}, true},
    {"(ip"sv, {"PickleFile", kPickleAdvice}, true},
    {"cos\n"sv, {"PickleFile", kPickleAdvice}, true},
    {"cposix\n"sv, {"PickleFile", kPickleAdvice}, true},
    {"cnt\n"sv, {"PickleFile", kPickleAdvice}, true},
    {"ctorch"sv, {"PickleFile", kPickleAdvice}, true},
    {"ccollections"sv, {"PickleFile", kPickleAdvice}, true},
    {"c__builtin__"sv, {"PickleFile", kPickleAdvice}, true},
    {"cbuiltins"sv, {"PickleFile", kPickleAdvice}, true},
});

} // namespace

std::optional<ForeignFormat> recogniseForeignFormat(std::span<const std::byte> head,
                                                    bool is_certain_only) {
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    for (const Signature& signature : kSignatures) {
        if ((signature.is_certain || !is_certain_only) && text.starts_with(signature.head)) {
            return signature.format;
        }
    }
    return std::nullopt;
}

std::optional<ForeignFormat> recogniseStandIn(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text.starts_with(kByteOrderMark)) {
        text.remove_prefix(kByteOrderMark.size());
    }
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
    const auto format = recogniseForeignFormat(std::as_bytes(std::span(text)), true);
    const bool is_stand_in = format && (format->rule == "LfsPointer" || format->rule == "HtmlFile");
    return is_stand_in ? format : std::nullopt;
}

} // namespace engine
