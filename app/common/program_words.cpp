// SPDX-License-Identifier: Apache-2.0
#include "app/common/program_words.h"

#include <algorithm>

#ifdef _WIN32
#include <windows.h>
// After windows.h, which it needs.
#include <shellapi.h>
#endif

namespace app {

#ifdef _WIN32

namespace {

std::string utf8OfWide(const wchar_t* text) {
    // With the zero at the end. Half a pair of surrogates becomes U+FFFD.
    const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
    std::string utf8(static_cast<size_t>(std::max(size, 1)), '\0');
    WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8.data(), size, nullptr, nullptr);
    utf8.pop_back();
    return utf8;
}

} // namespace

std::vector<std::string> programWords(int argc, char** argv) {
    int count = 0;
    wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
    if (words == nullptr) { // no memory: better than nothing
        return {argv + std::min(argc, 1), argv + argc};
    }
    std::vector<std::string> out;
    for (int i = 1; i < count; ++i) {
        out.push_back(utf8OfWide(words[i]));
    }
    LocalFree(words);
    return out;
}

#else

std::vector<std::string> programWords(int argc, char** argv) {
    return {argv + std::min(argc, 1), argv + argc};
}

#endif

} // namespace app
