// SPDX-License-Identifier: Apache-2.0
#include "engine/media/media_file.h"

#include "engine/base/file_opening.h"
#include "engine/base/paths.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <span>
#include <system_error>

#ifdef _WIN32
#include <fstream>
#else
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#endif

namespace engine::media {

namespace {

std::string fileName(const std::filesystem::path& path) {
    return utf8Of(path.filename());
}

struct Signature {
    size_t offset;
    std::string_view bytes;
    Phrase name;
};

using namespace std::string_view_literals;

// First match wins, so longer signatures of one family stand before shorter ones.
constexpr std::array kSignatures = {
    Signature{0, "\x89PNG\r\n\x1a\n"sv, phrase("a PNG picture")},
    Signature{0, "\x8aMNG\r\n\x1a\n"sv, phrase("an MNG animation")},
    Signature{0, "\xff\xd8\xff"sv, phrase("a JPEG picture")},
    Signature{8, "WEBP"sv, phrase("a WebP picture")},
    Signature{0, "GIF8"sv, phrase("a GIF picture")},
    Signature{4, "ftypavif"sv, phrase("an AVIF picture")},
    Signature{4, "ftypavis"sv, phrase("an AVIF picture")},
    Signature{4, "ftyphei"sv, phrase("a HEIC picture")},
    Signature{4, "ftyphev"sv, phrase("a HEIC picture")},
    Signature{4, "ftypmif1"sv, phrase("a HEIF picture")},
    Signature{4, "ftypmsf1"sv, phrase("a HEIF picture")},
    Signature{4, "ftypM4A"sv, phrase("an M4A recording")},
    Signature{4, "ftypM4B"sv, phrase("an M4A recording")},
    Signature{4, "ftypcrx"sv, phrase("a camera raw picture")},
    Signature{4, "ftypqt"sv, phrase("a QuickTime video")},
    Signature{4, "ftyp"sv, phrase("an MP4 video")},
    Signature{4, "moov"sv, phrase("a QuickTime video")},
    Signature{0, "II*\0"sv, phrase("a TIFF or camera raw picture")},
    Signature{0, "MM\0*"sv, phrase("a TIFF picture")},
    Signature{0, "II+\0"sv, phrase("a BigTIFF picture")},
    Signature{0, "MM\0+"sv, phrase("a BigTIFF picture")},
    Signature{0, "\0\0\0\x0cJXL \r\n\x87\n"sv, phrase("a JPEG XL picture")},
    Signature{0, "\xff\x0a"sv, phrase("a JPEG XL picture")},
    Signature{0, "\0\0\0\x0cjP  \r\n\x87\n"sv, phrase("a JPEG 2000 picture")},
    Signature{0, "\xff\x4f\xff\x51"sv, phrase("a JPEG 2000 picture")},
    Signature{0, "\0\0\x01\0"sv, phrase("a Windows icon")},
    Signature{0, "\0\0\x02\0"sv, phrase("a Windows cursor")},
    Signature{0, "8BPS"sv, phrase("a Photoshop document")},
    Signature{0, "qoif"sv, phrase("a QOI picture")},
    Signature{0, "DDS "sv, phrase("a DDS texture")},
    Signature{0, "v/1\x01"sv, phrase("an OpenEXR picture")},
    Signature{0, "#?RADIANCE"sv, phrase("a Radiance HDR picture")},
    Signature{0, "\xd7\xcd\xc6\x9a"sv, phrase("a WMF drawing")},
    Signature{40, " EMF"sv, phrase("an EMF drawing")},
    Signature{0, "gimp xcf"sv, phrase("a GIMP document")},
    Signature{8, "WAVE"sv, phrase("a WAV recording")},
    Signature{8, "AIFF"sv, phrase("an AIFF recording")},
    Signature{8, "AIFC"sv, phrase("an AIFF recording")},
    Signature{8, "AVI "sv, phrase("an AVI video")},
    Signature{0, "fLaC"sv, phrase("a FLAC recording")},
    Signature{0, "OggS"sv, phrase("an Ogg recording")},
    Signature{0, "ID3"sv, phrase("an MP3 recording")},
    Signature{0, "caff"sv, phrase("a CAF recording")},
    Signature{0, ".snd"sv, phrase("an AU recording")},
    Signature{0, "dns."sv, phrase("an AU recording")},
    Signature{0, "#!AMR"sv, phrase("an AMR recording")},
    Signature{0, "MAC "sv, phrase("a Monkey's Audio recording")},
    Signature{0, "wvpk"sv, phrase("a WavPack recording")},
    Signature{0, "TTA1"sv, phrase("a TTA recording")},
    Signature{0, "MPCK"sv, phrase("a Musepack recording")},
    Signature{0, "MThd"sv, phrase("a MIDI file")},
    Signature{0, "Creative Voice File"sv, phrase("a VOC recording")},
    Signature{0, "riff\x2e\x91\xcf\x11"sv, phrase("a Sony Wave64 recording")},
    Signature{0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11"sv, phrase("a Windows Media file")},
    Signature{0, "\x1a\x45\xdf\xa3"sv, phrase("a Matroska or WebM video")},
    Signature{0, "FLV\x01"sv, phrase("a Flash video")},
    Signature{0, "\0\0\x01\xba"sv, phrase("an MPEG video")},
    Signature{0, "%PDF-"sv, phrase("a PDF document")},
    Signature{0, "%!PS"sv, phrase("a PostScript document")},
    Signature{0, "PK\x03\x04"sv, phrase("a ZIP archive or office document")},
    Signature{0, "\x1f\x8b"sv, phrase("a gzip archive")},
    Signature{0, "7z\xbc\xaf\x27\x1c"sv, phrase("a 7z archive")},
    Signature{0,
              "\xfd"
              "7zXZ"sv,
              phrase("an xz archive")},
    Signature{0, "Rar!"sv, phrase("a RAR archive")},
    Signature{0,
              "\x7f"
              "ELF"sv,
              phrase("a program")},
    Signature{0, "RIFF"sv, phrase("an unknown RIFF file")},
    Signature{0, "FORM"sv, phrase("an unknown IFF file")},
};

/// MPEG audio and AAC have no signature, only a frame header that starts with 11 or 12 set bits.
std::optional<Phrase> describeFrameSync(Bytes bytes) {
    const uint64_t head = readBig(bytes, 0, 4).value_or(0);
    if (((head >> 16U) & 0xfff6U) == 0xfff0U) {
        return phrase("an AAC recording");
    }
    const bool has_sync = (head >> 21U) == 0x7ffU;
    const bool is_version_valid = ((head >> 19U) & 3U) != 1U;
    const bool is_layer_valid = ((head >> 17U) & 3U) != 0U;
    const uint64_t bit_rate = (head >> 12U) & 15U; // 0 is "free", 15 forbidden
    const bool is_rate_valid = bit_rate != 0 && bit_rate != 15 && ((head >> 10U) & 3U) != 3U;
    const bool is_mpeg = has_sync && is_version_valid && is_layer_valid && is_rate_valid;
    return is_mpeg ? std::optional(phrase("an MP3 recording")) : std::nullopt;
}

/// True for an MP4 file whose track handlers name sound and no pictures. Recorders of phones write
/// such files under a brand that does not say so.
bool hasSoundAlone(Bytes bytes) {
    size_t at = 0;
    while (true) {
        const auto size = readBig(bytes, at, 4);
        if (!size) {
            return false;
        }
        const uint64_t left = bytes.size() - at;
        const uint64_t whole = *size == 0   ? left
                               : *size == 1 ? readBig(bytes, at + 8, 8).value_or(0)
                                            : *size;
        if (hasText(bytes, at + 4, "moov")) {
            bytes = bytes.subspan(at, static_cast<size_t>(std::min(whole, left)));
            break;
        }
        if (whole < 8 || whole >= left) {
            return false;
        }
        at += static_cast<size_t>(whole);
    }
    bool has_sound = false;
    for (size_t i = 0; i + 16 <= bytes.size(); ++i) {
        if (hasText(bytes, i, "hdlr")) {
            if (hasText(bytes, i + 12, "vide")) {
                return false;
            }
            has_sound = has_sound || hasText(bytes, i + 12, "soun");
        }
    }
    return has_sound;
}

/// Text, with XML and HTML looked at a little closer because people drop SVG files.
Phrase describeText(Bytes bytes) {
    const Bytes head = bytes.first(std::min<size_t>(bytes.size(), 1024));
    std::string text;
    for (const std::byte b : head) {
        const auto c = std::to_integer<unsigned char>(b);
        const bool is_control = c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f';
        const bool is_outside_utf8 = c == 0xc0 || c == 0xc1 || c > 0xf4;
        if (is_control || is_outside_utf8) {
            return phrase("unknown data");
        }
        text.push_back(static_cast<char>(c));
    }
    if (text.find("<svg") != std::string::npos) {
        return phrase("an SVG drawing");
    }
    if (text.find("<!DOCTYPE html") != std::string::npos ||
        text.find("<html") != std::string::npos) {
        return phrase("an HTML page");
    }
    return phrase("text");
}

/// An address where a path belongs. Looked for only where no such file is: "data:" may begin a
/// name. A data: address can be megabytes long, so that its beginning stands for it.
std::optional<Error> addressForPath(const std::filesystem::path& path) {
    constexpr size_t kShown = 60;
    const std::string text = utf8Of(path);
    const size_t colon = text.find(':');
    if (colon == std::string::npos || colon < 2) { // one letter is a drive
        return std::nullopt;
    }
    std::string scheme = text.substr(0, colon);
    std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const std::string start = text.substr(0, text.find_first_of(",?", colon));
    const std::string shown = start.size() > kShown ? start.substr(0, colon + 1) : start;
    if (scheme == "data") {
        return Error{ErrorCode::InvalidFile,
                     said("%1: is a data: address, expected the path of a file; save what it "
                          "holds as a file and give its path",
                          shown)};
    }
    if (scheme == "http" || scheme == "https" || scheme == "ftp" || scheme == "file") {
        return Error{ErrorCode::InvalidFile, said("%1: is an address, expected the path of a file; "
                                                  "give the path of a copy on this computer",
                                                  shown)};
    }
    return std::nullopt;
}

/// Named whole: which folder was looked in is what the reader has to see.
Error notFound(const std::filesystem::path& path) {
    std::error_code failure;
    const std::filesystem::path whole = std::filesystem::absolute(path, failure);
    const std::string file = utf8Of(failure ? path : whole);
    return {ErrorCode::InvalidFile,
            said("%1: cannot be opened: no such file; check the folder and the spelling", file),
            {{"file", file}}};
}

} // namespace

Phrase describeContent(Bytes bytes) {
    if (bytes.empty()) {
        return phrase("an empty file");
    }
    for (const Signature& signature : kSignatures) {
        if (hasText(bytes, signature.offset, signature.bytes)) {
            const bool is_movie =
                signature.bytes.starts_with("ftyp") || signature.bytes == "moov"sv;
            return is_movie && hasSoundAlone(bytes) ? phrase("an M4A recording") : signature.name;
        }
    }
    if (const auto name = describeFrameSync(bytes)) {
        return *name;
    }
    // Two letters are a weak signature: ask for the header size that every BMP has, too.
    if (hasText(bytes, 0, "BM") && readLittle(bytes, 14, 4).value_or(0) - 12 <= 124 - 12) {
        return phrase("a BMP picture");
    }
    if (bytes.size() > 3 && hasText(bytes, 0, "P") && readU8(bytes, 1).value_or(0) >= '1' &&
        readU8(bytes, 1).value_or(0) <= '7' && readU8(bytes, 2).value_or(0) <= ' ') {
        return phrase("a Netpbm picture");
    }
    return describeText(bytes);
}

std::string humanBytes(size_t bytes) {
    std::array<char, 48> text{};
    if (bytes < 1024) {
        std::snprintf(text.data(), text.size(), "%zu bytes", bytes);
    } else if (bytes < (1U << 20U)) {
        std::snprintf(text.data(), text.size(), "%.1f KiB", static_cast<double>(bytes) / 1024);
    } else {
        std::snprintf(text.data(), text.size(), "%.1f MiB",
                      static_cast<double>(bytes) / 1024 / 1024);
    }
    return text.data();
}

Error withFileName(Error error, const std::filesystem::path& path) {
    error.say(said("%1: %2", fileName(path), error.told()));
    error.details.emplace_back("file", utf8Of(path));
    return error;
}

namespace {

/// Fills `bytes` from the beginning of a file; how many it had. nullopt: it cannot be opened.
std::optional<size_t> readBeginning(const std::filesystem::path& path, std::span<std::byte> bytes) {
#ifdef _WIN32
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        return std::nullopt;
    }
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return static_cast<size_t>(in.gcount());
#else
    const int handle = openToRead(path, 0);
    if (handle < 0) {
        return std::nullopt;
    }
    struct stat info {};
    // What has taken the file's place since it was looked at could block for ever.
    const bool is_plain = ::fstat(handle, &info) == 0 && S_ISREG(info.st_mode);
    size_t done = 0;
    while (is_plain && done < bytes.size()) {
        const ssize_t got = ::read(handle, bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        done += static_cast<size_t>(got);
    }
    ::close(handle);
    return is_plain ? std::optional(done) : std::nullopt;
#endif
}

} // namespace

Result<std::vector<std::byte>> readMediaFile(const std::filesystem::path& path, size_t max_bytes) {
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    if (code || status.type() == std::filesystem::file_type::not_found) {
        const auto address = addressForPath(path);
        return address ? *address : notFound(path);
    }
    if (status.type() != std::filesystem::file_type::regular) {
        // A pipe or device could block for ever or never end.
        return withFileName({ErrorCode::InvalidFile, said("is not a regular file")}, path);
    }
    const uintmax_t size = std::filesystem::file_size(path, code);
    if (code) {
        return withFileName({ErrorCode::InvalidFile, said("cannot be read: %1", code.message())},
                            path);
    }
    if (size > max_bytes) {
        return withFileName(
            {ErrorCode::Unsupported,
             said("the file has %1, at most %2 are read; give a smaller version of it",
                  humanBytes(static_cast<size_t>(size)), humanBytes(max_bytes))},
            path);
    }
    std::vector<std::byte> bytes(static_cast<size_t>(size));
    const std::optional<size_t> got = readBeginning(path, bytes);
    if (!got.has_value()) {
        return withFileName(
            {ErrorCode::InvalidFile, said("cannot be opened; check that you may read it")}, path);
    }
    if (*got != bytes.size()) {
        return withFileName(
            {ErrorCode::InvalidFile,
             said("reading stopped after %1 of %2", humanBytes(*got), humanBytes(bytes.size()))},
            path);
    }
    return bytes;
}

} // namespace engine::media
