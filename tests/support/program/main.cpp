// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program/test_class.h"

#include <cstdio>
#include <map>
#include <string>
#include <string_view>

namespace support {

namespace {

/// By name. A function's own object, as files register before main() in any order.
std::map<std::string, TestFile::Main>& files() {
    static std::map<std::string, TestFile::Main> all;
    return all;
}

} // namespace

TestFile::TestFile(const char* path, Main main) {
    std::string_view name = path;
    name.remove_prefix(name.find_last_of("/\\") + 1);
    name.remove_prefix(std::string_view("tst_").size());
    name.remove_suffix(std::string_view(".cpp").size());
    files().emplace(name, main);
}

} // namespace support

int main(int argc, char** argv) {
    const auto& files = support::files();
    const auto named = argc > 1 ? files.find(argv[1]) : files.end();
    if (named != files.end()) {
        argv[1] = argv[0];
        return named->second(argc - 1, argv + 1);
    }
    std::fprintf(stderr,
                 "%s: expected the name of a file of tests, then QtTest's arguments. The files:\n",
                 argv[0]);
    for (const auto& [name, main] : files) {
        std::fprintf(stderr, "  %s\n", name.c_str());
    }
    return 2;
}
