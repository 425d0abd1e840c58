// SPDX-License-Identifier: Apache-2.0
// hub_standin ID FOLDER [BYTES_PER_SECOND [TOKEN]]: the files of FOLDER (and those below) as the
// model ID, on a port of the loopback interface. Prints "HF_ENDPOINT=..." and serves until its
// standard input ends; then how many bytes of files it sent.
#include "tests/support/hub/fetching.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "hub_standin ID FOLDER [BYTES_PER_SECOND [TOKEN]]\n");
        return 2;
    }
    support::HubContent content;
    content.id = argv[1];
    const std::filesystem::path folder = argv[2];
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) {
            content.files[entry.path().lexically_relative(folder).generic_string()] =
                support::textOf(entry.path());
        }
    }
    content.bytes_per_second = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
    content.token = argc > 4 ? argv[4] : "";
    const support::HubStandin hub(content);
    std::printf("HF_ENDPOINT=%s\n", hub.endpoint().c_str());
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    size_t abroad = 0;
    for (const support::HubRequest& request : hub.requests()) {
        abroad += request.is_other_host && request.headers.count("authorization") > 0 ? 1 : 0;
    }
    std::printf("bytes_sent=%llu requests=%zu tokens_to_the_other_host=%zu\n",
                static_cast<unsigned long long>(hub.bytesSent()), hub.requests().size(), abroad);
    return 0;
}
