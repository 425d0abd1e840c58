// SPDX-License-Identifier: Apache-2.0
// Log-mel frames of the Gemma 4 audio feature extractor (spec: gemma4, section 5.1). Own FFT: a
// real transform of 512 through a complex one of 256, in double; the tower only ever needs this
// one size.
#include "engine/media/audio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

namespace engine {

namespace {

constexpr int64_t kFrameLength = 320; ///< samples
constexpr int64_t kHopLength = 160;   ///< samples, also the zeros in front of the first frame
constexpr size_t kFftLength = 512;
constexpr size_t kHalf = kFftLength / 2;
constexpr size_t kBins = kHalf + 1;
constexpr double kMaxHz = 8000.0;
constexpr double kFloor = 0.001; ///< added before the logarithm, not a lower bound

double hzToMel(double hz) {
    return 2595.0 * std::log10(1.0 + hz / 700.0);
}
double melToHz(double mel) {
    return 700.0 * (std::pow(10.0, mel / 2595.0) - 1.0);
}

/// exp(-2 pi i k / 512).
std::complex<double> root(size_t k) {
    return std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(k) /
                               static_cast<double>(kFftLength));
}

/// Magnitudes of the real FFT of 512 values.
class RealFft {
public:
    RealFft() {
        for (size_t k = 0; k < kBins; ++k) {
            roots_[k] = root(k);
        }
        for (size_t i = 0; i < kHalf; ++i) {
            size_t reversed = 0;
            for (size_t bit = 1, mirror = kHalf / 2; bit < kHalf; bit <<= 1U, mirror >>= 1U) {
                reversed |= (i & bit) != 0 ? mirror : 0;
            }
            reversed_[i] = reversed;
        }
    }

    void magnitudes(const std::array<double, kFftLength>& in, std::array<double, kBins>& out) {
        // Even samples as real parts, odd ones as imaginary parts of a transform of half the size.
        for (size_t i = 0; i < kHalf; ++i) {
            work_[reversed_[i]] = {in[2 * i], in[2 * i + 1]};
        }
        for (size_t size = 2; size <= kHalf; size *= 2) {
            const size_t step = kFftLength / size;
            for (size_t start = 0; start < kHalf; start += size) {
                for (size_t k = 0; k < size / 2; ++k) {
                    std::complex<double>& a = work_[start + k];
                    std::complex<double>& b = work_[start + k + size / 2];
                    const std::complex<double> turned = multiply(b, roots_[k * step]);
                    b = a - turned;
                    a += turned;
                }
            }
        }
        for (size_t k = 0; k < kBins; ++k) {
            const std::complex<double> z = work_[k % kHalf];
            const std::complex<double> mirrored = std::conj(work_[(kHalf - k) % kHalf]);
            const std::complex<double> even = 0.5 * (z + mirrored);
            const std::complex<double> odd = 0.5 * (z - mirrored);
            // X = even - i * root * odd
            const std::complex<double> turned = multiply(odd, roots_[k]);
            const double re = even.real() + turned.imag();
            const double im = even.imag() - turned.real();
            out[k] = std::sqrt(re * re + im * im);
        }
    }

private:
    /// Without the NaN recovery of the standard's operator, which costs most of the time.
    static std::complex<double> multiply(std::complex<double> a, std::complex<double> b) {
        return {a.real() * b.real() - a.imag() * b.imag(),
                a.real() * b.imag() + a.imag() * b.real()};
    }

    std::array<std::complex<double>, kBins> roots_{};
    std::array<std::complex<double>, kHalf> work_{};
    std::array<size_t, kHalf> reversed_{};
};

/// One triangle of the filter bank: weights of the bins first .. first + weights.size() - 1.
struct MelFilter {
    size_t first = 0;
    std::vector<double> weights;
};

/// 128 triangles, HTK mel scale, 0 to 8000 Hz, not normalised by area. The first is narrower than
/// a bin and stays empty, so channel 0 is always ln(0.001); the reference has it so, too.
std::vector<MelFilter> makeFilters() {
    std::array<double, static_cast<size_t>(kMelBins) + 2> edges{};
    const double top = hzToMel(kMaxHz);
    for (size_t i = 0; i < edges.size(); ++i) {
        edges[i] = melToHz(top * static_cast<double>(i) / static_cast<double>(edges.size() - 1));
    }
    constexpr double kHzPerBin = static_cast<double>(kAudioSampleRate) / kFftLength;
    std::vector<MelFilter> filters(static_cast<size_t>(kMelBins));
    for (size_t j = 0; j < filters.size(); ++j) {
        for (size_t k = 0; k < kBins; ++k) {
            const double hz = static_cast<double>(k) * kHzPerBin;
            const double rising = (hz - edges[j]) / (edges[j + 1] - edges[j]);
            const double falling = (edges[j + 2] - hz) / (edges[j + 2] - edges[j + 1]);
            const double weight = std::max(0.0, std::min(rising, falling));
            if (weight > 0.0) {
                if (filters[j].weights.empty()) {
                    filters[j].first = k;
                }
                filters[j].weights.push_back(weight);
            }
        }
    }
    return filters;
}

/// Periodic Hann window, rounded to float as the reference stores it.
std::array<float, static_cast<size_t>(kFrameLength)> makeWindow() {
    std::array<float, static_cast<size_t>(kFrameLength)> window{};
    for (size_t m = 0; m < window.size(); ++m) {
        const double angle =
            2.0 * std::numbers::pi * static_cast<double>(m) / static_cast<double>(kFrameLength);
        window[m] = static_cast<float>(0.5 - 0.5 * std::cos(angle));
    }
    return window;
}

} // namespace

int64_t audioFrames(int64_t samples_16k) {
    return samples_16k < kMinAudioSamples ? 0 : (samples_16k - kMinAudioSamples) / kHopLength + 1;
}

int64_t audioTokens(int64_t samples_16k) {
    const int64_t half = (audioFrames(samples_16k) + 1) / 2;
    return std::min((half + 1) / 2, kMaxAudioTokens);
}

Result<LogMel> logMel(std::span<const float> samples_16k) {
    const auto count = static_cast<int64_t>(samples_16k.size());
    if (count < kMinAudioSamples || count > kMaxAudioSamples) {
        return Error{ErrorCode::InvalidRequest,
                     said("a clip of %1 samples at 16 kHz: expected from %2 to %3", count,
                          kMinAudioSamples, kMaxAudioSamples)};
    }
    const auto bad = std::find_if_not(samples_16k.begin(), samples_16k.end(),
                                      [](float sample) { return std::isfinite(sample); });
    if (bad != samples_16k.end()) {
        return Error{ErrorCode::InvalidRequest,
                     said("sample %1 of the clip is not a number", bad - samples_16k.begin())};
    }
    const auto window = makeWindow();
    const std::vector<MelFilter> filters = makeFilters();
    RealFft fft;
    LogMel mel;
    mel.frames = audioFrames(count);
    mel.values.reserve(static_cast<size_t>(mel.frames * kMelBins));
    std::array<double, kFftLength> frame{};
    std::array<double, kBins> magnitude{};
    for (int64_t i = 0; i < mel.frames; ++i) {
        for (int64_t m = 0; m < kFrameLength; ++m) {
            const int64_t at = (i - 1) * kHopLength + m; // the padding stands in front
            const float sample = at < 0 ? 0.0F : samples_16k[static_cast<size_t>(at)];
            // A float product, as the reference has it; everything after it is double.
            frame[static_cast<size_t>(m)] =
                static_cast<double>(sample * window[static_cast<size_t>(m)]);
        }
        fft.magnitudes(frame, magnitude);
        for (const MelFilter& filter : filters) {
            double sum = 0.0;
            for (size_t k = 0; k < filter.weights.size(); ++k) {
                sum += filter.weights[k] * magnitude[filter.first + k];
            }
            mel.values.push_back(static_cast<float>(std::log(sum + kFloor)));
        }
    }
    return mel;
}

} // namespace engine
