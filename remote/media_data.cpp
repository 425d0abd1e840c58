// SPDX-License-Identifier: Apache-2.0
#include "remote/media_data.h"

#include "engine/base/paths.h"
#include "engine/media/audio.h"
#include "engine/media/image.h"

#include <jpeglib.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace remote {

using engine::DecodedImage;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;

namespace {

constexpr int64_t kMostPixels = int64_t{2} * 1120 * 48 * 48;
constexpr size_t kLargestPng = size_t{2} << 20;
constexpr int kQuality = 95;

using Bytes = std::vector<std::byte>;

/// Empty when libpng could not.
Bytes asPng(const DecodedImage& image) {
    png_image png;
    std::memset(&png, 0, sizeof(png));
    png.version = PNG_IMAGE_VERSION;
    png.width = static_cast<png_uint_32>(image.width);
    png.height = static_cast<png_uint_32>(image.height);
    png.format = PNG_FORMAT_RGB;
    png_alloc_size_t size = 0;
    if (png_image_write_to_memory(&png, nullptr, &size, 0, image.rgb.data(), 0, nullptr) == 0) {
        return {};
    }
    Bytes out(size);
    if (png_image_write_to_memory(&png, out.data(), &size, 0, image.rgb.data(), 0, nullptr) == 0) {
        return {};
    }
    out.resize(size);
    return out;
}

struct JpegFailure {
    jpeg_error_mgr manager; // first: libjpeg sees only this
    std::jmp_buf back;
};

[[noreturn]] void leaveJpeg(j_common_ptr info) {
    std::longjmp(reinterpret_cast<JpegFailure*>(info->err)->back, 1);
}

/// libjpeg's own buffer in `out`; nothing with a destructor lives here, because a failure jumps
/// out. False when it could not.
bool compressJpeg(const DecodedImage& image, unsigned char*& out, unsigned long& size) {
    jpeg_compress_struct info{};
    JpegFailure failure{};
    info.err = jpeg_std_error(&failure.manager);
    failure.manager.error_exit = leaveJpeg;
    if (setjmp(failure.back) != 0) {
        jpeg_destroy_compress(&info);
        return false;
    }
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &out, &size);
    info.image_width = static_cast<JDIMENSION>(image.width);
    info.image_height = static_cast<JDIMENSION>(image.height);
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, kQuality, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        const size_t row = size_t{info.next_scanline} * static_cast<size_t>(image.width) * 3;
        JSAMPROW line = const_cast<JSAMPROW>(image.rgb.data() + row);
        jpeg_write_scanlines(&info, &line, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return true;
}

Bytes asJpeg(const DecodedImage& image) {
    unsigned char* buffer = nullptr;
    unsigned long size = 0;
    Bytes out;
    if (compressJpeg(image, buffer, size)) {
        const auto* const begin = reinterpret_cast<const std::byte*>(buffer);
        out.assign(begin, begin + size);
    }
    std::free(buffer);
    return out;
}

void put(Bytes& out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
        out.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xffU));
    }
}

void put(Bytes& out, const char* word) {
    for (; *word != '\0'; ++word) {
        out.push_back(static_cast<std::byte>(*word));
    }
}

} // namespace

std::string base64(std::span<const std::byte> bytes) {
    constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t at = 0; at < bytes.size(); at += 3) {
        const size_t n = std::min<size_t>(3, bytes.size() - at);
        uint32_t group = 0;
        for (size_t i = 0; i < 3; ++i) {
            group = group << 8U | (i < n ? std::to_integer<uint32_t>(bytes[at + i]) : 0U);
        }
        for (size_t i = 0; i < 4; ++i) {
            out += i <= n ? kDigits[group >> (18U - 6U * i) & 63U] : '=';
        }
    }
    return out;
}

Result<std::string> pictureUrl(const std::string& path) {
    ENGINE_ASSIGN(DecodedImage image, engine::readImageFile(engine::pathFromUtf8(path)));
    if (const int64_t pixels = image.width * image.height; pixels > kMostPixels) {
        const double scale =
            std::sqrt(static_cast<double>(kMostPixels) / static_cast<double>(pixels));
        const auto side = [scale](int64_t length) {
            return std::max<int64_t>(
                1, static_cast<int64_t>(std::floor(static_cast<double>(length) * scale)));
        };
        ENGINE_ASSIGN(image,
                      engine::resizeToTarget(image, {side(image.width), side(image.height)}));
    }
    Bytes bytes = asPng(image);
    const char* type = "png";
    if (bytes.empty() || bytes.size() > kLargestPng) {
        bytes = asJpeg(image);
        type = "jpeg";
    }
    if (bytes.empty()) {
        return Error{ErrorCode::OutOfMemory,
                     said("%1: the picture could not be written for sending; close other programs "
                          "and try again",
                          path)};
    }
    return "data:image/" + std::string(type) + ";base64," + base64(bytes);
}

Result<std::string> soundData(const engine::MessagePart& part) {
    std::optional<engine::AudioCut> cut;
    if (part.cut_length_s > 0.0) {
        cut = engine::AudioCut{part.cut_start_s, part.cut_length_s};
    }
    ENGINE_ASSIGN(const engine::DecodedAudio sound,
                  engine::readAudioFile(engine::pathFromUtf8(part.text), cut));
    constexpr uint32_t kRate = engine::kAudioSampleRate;
    const uint64_t size = sound.samples.size() * 2;
    Bytes wav;
    wav.reserve(size + 44);
    put(wav, "RIFF");
    put(wav, 36 + size, 4);
    put(wav, "WAVEfmt ");
    put(wav, 16, 4);                  // bytes of the format
    put(wav, 1, 2);                   // PCM
    put(wav, 1, 2);                   // channels
    put(wav, kRate, 4);               //
    put(wav, uint64_t{2} * kRate, 4); // bytes a second
    put(wav, 2, 2);                   // bytes of a frame
    put(wav, 16, 2);                  // bits of a sample
    put(wav, "data");
    put(wav, size, 4);
    for (const float sample : sound.samples) {
        const float scaled = std::round(std::clamp(sample, -1.0F, 1.0F) * 32768.0F);
        const auto value = static_cast<int16_t>(std::clamp(scaled, -32768.0F, 32767.0F));
        put(wav, static_cast<uint16_t>(value), 2);
    }
    return base64(wav);
}

} // namespace remote
