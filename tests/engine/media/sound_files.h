// SPDX-License-Identifier: Apache-2.0
// Makes recordings for tests: WAV bytes by hand, every other format through libsndfile's encoders.
#pragma once

#include "tests/engine/media/byte_writer.h"

#include <sndfile.h>

#include <cmath>
#include <cstdio>
#include <numbers>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BELFRY_TEST_LEAK_CHECK 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define BELFRY_TEST_LEAK_CHECK 1
#endif
#if defined(BELFRY_TEST_LEAK_CHECK)
/// libsndfile 1.2.0 keeps a Vorbis header of 6 KB for every Ogg file that it refuses to open. Ours
/// to know, not ours to fix; every other leak still fails the test.
extern "C" const char* __lsan_default_suppressions(); // NOLINT(readability-identifier-naming)
extern "C" __attribute__((used)) inline const char* __lsan_default_suppressions() { // NOLINT
    return "leak:vorbis_info_init";
}
#endif

namespace support {

struct WavOptions {
    uint16_t format = 1; ///< 1 PCM, 3 float, 6 A-law, 7 u-law
    uint16_t channels = 1;
    uint32_t rate = 16000;
    uint16_t bits = 16;
    int64_t declared_data = -1; ///< -1: the true size
};

inline ByteVector wavFile(const ByteVector& data, const WavOptions& options = {}) {
    const uint32_t align = uint32_t{options.channels} * options.bits / 8U;
    ByteVector body = fromText("WAVEfmt ");
    putLittle(body, 16, 4);
    putLittle(body, options.format, 2);
    putLittle(body, options.channels, 2);
    putLittle(body, options.rate, 4);
    putLittle(body, uint64_t{options.rate} * align, 4);
    putLittle(body, align, 2);
    putLittle(body, options.bits, 2);
    putText(body, "data");
    putLittle(
        body,
        options.declared_data < 0 ? data.size() : static_cast<uint64_t>(options.declared_data), 4);
    putBytes(body, data);
    ByteVector out = fromText("RIFF");
    putLittle(out, body.size(), 4);
    putBytes(out, body);
    return out;
}

inline ByteVector pcm16(const std::vector<int16_t>& samples) {
    ByteVector out;
    for (const int16_t s : samples) {
        putLittle(out, static_cast<uint16_t>(s), 2);
    }
    return out;
}

inline ByteVector float32(const std::vector<float>& samples) {
    ByteVector out(samples.size() * 4);
    if (!samples.empty()) {
        std::memcpy(out.data(), samples.data(), out.size());
    }
    return out;
}

inline std::vector<float> sine(double hz, double amplitude, int64_t rate, int64_t frames) {
    std::vector<float> out(static_cast<size_t>(frames));
    for (size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<float>(amplitude *
                                    std::sin(2.0 * std::numbers::pi * hz * static_cast<double>(i) /
                                             static_cast<double>(rate)));
    }
    return out;
}

/// A WAV of n samples of a quiet 16-bit ramp.
inline ByteVector smallWav(int64_t samples = 4000, uint32_t rate = 16000) {
    std::vector<int16_t> values;
    for (int64_t i = 0; i < samples; ++i) {
        values.push_back(static_cast<int16_t>((i * 37) % 8000 - 4000));
    }
    return wavFile(pcm16(values), {.rate = rate});
}

/// samples: [frames, channels], interleaved. format: SF_FORMAT_... of libsndfile. Empty when this
/// libsndfile cannot write it.
inline ByteVector
encodeSound(const std::vector<float>& samples, int channels, int rate, int format) {
    struct Memory {
        ByteVector bytes;
        size_t at = 0;
    } memory;
    SF_VIRTUAL_IO io{};
    io.get_filelen = [](void* user) {
        return static_cast<sf_count_t>(static_cast<Memory*>(user)->bytes.size());
    };
    io.tell = [](void* user) { return static_cast<sf_count_t>(static_cast<Memory*>(user)->at); };
    io.seek = [](sf_count_t offset, int whence, void* user) {
        auto* m = static_cast<Memory*>(user);
        const size_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? m->at : m->bytes.size();
        m->at = static_cast<size_t>(static_cast<sf_count_t>(from) + offset);
        return static_cast<sf_count_t>(m->at);
    };
    io.read = [](void* out, sf_count_t count, void* user) {
        auto* m = static_cast<Memory*>(user);
        const size_t size = m->at >= m->bytes.size()
                                ? 0
                                : std::min(static_cast<size_t>(count), m->bytes.size() - m->at);
        std::memcpy(out, m->bytes.data() + m->at, size);
        m->at += size;
        return static_cast<sf_count_t>(size);
    };
    io.write = [](const void* data, sf_count_t count, void* user) {
        auto* m = static_cast<Memory*>(user);
        const auto size = static_cast<size_t>(count);
        m->bytes.resize(std::max(m->bytes.size(), m->at + size));
        std::memcpy(m->bytes.data() + m->at, data, size);
        m->at += size;
        return count;
    };
    SF_INFO info{};
    info.channels = channels;
    info.samplerate = rate;
    info.format = format;
    SNDFILE* sound = sf_open_virtual(&io, SFM_WRITE, &info, &memory);
    if (sound == nullptr) {
        return {};
    }
    sf_writef_float(sound, samples.data(), static_cast<sf_count_t>(samples.size()) / channels);
    sf_close(sound);
    return memory.bytes;
}

} // namespace support
