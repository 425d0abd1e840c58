// SPDX-License-Identifier: Apache-2.0
#include "engine/media/media_libraries.h"

#include <jpeglib.h>
#include <png.h>
#include <sndfile.h>
#include <soxr.h>
#include <zlib.h>

#include <cstddef>
#include <cstdio> // jpeglib.h needs it
#if BELFRY_HAS_WEBP
#include <webp/decode.h>
#endif

namespace engine {

namespace {

template <typename Function>
const void* symbolOf(Function* function) {
    return reinterpret_cast<const void*>(function);
}

/// "libsndfile-1.2.0" without what stands before the dash.
std::string withoutName(const std::string& text) {
    const size_t dash = text.find('-');
    return dash == std::string::npos ? text : text.substr(dash + 1);
}

#define BELFRY_TEXT_OF(value) #value
#define BELFRY_TEXT(value) BELFRY_TEXT_OF(value)

} // namespace

std::vector<MediaLibrary> mediaLibraries() {
    std::vector<MediaLibrary> all;
    all.push_back({"libpng", png_get_libpng_ver(nullptr), true, symbolOf(&png_get_libpng_ver)});
#ifdef LIBJPEG_TURBO_VERSION
    all.push_back(
        {"libjpeg-turbo", BELFRY_TEXT(LIBJPEG_TURBO_VERSION), false, symbolOf(&jpeg_std_error)});
#else
    all.push_back({"libjpeg", BELFRY_TEXT(JPEG_LIB_VERSION), false, symbolOf(&jpeg_std_error)});
#endif
#if BELFRY_HAS_WEBP
    const int webp = WebPGetDecoderVersion(); // 0xMMmmrr
    all.push_back({"libwebp",
                   std::to_string(webp >> 16) + "." + std::to_string((webp >> 8) & 0xff) + "." +
                       std::to_string(webp & 0xff),
                   true, symbolOf(&WebPGetDecoderVersion)});
#endif
    all.push_back({"zlib", zlibVersion(), true, symbolOf(&zlibVersion)});
    all.push_back(
        {"libsndfile", withoutName(sf_version_string()), true, symbolOf(&sf_version_string)});
    all.push_back({"soxr", withoutName(soxr_version()), true, symbolOf(&soxr_version)});
    return all;
}

} // namespace engine
