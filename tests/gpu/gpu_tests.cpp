// SPDX-License-Identifier: Apache-2.0
// The whole engine on a graphics card: golden parity of every family in both precisions, quantized
// models, placements over cards, CPU and disk, adapters, determinism, cancelling, memory of others,
// reloads, and predicted against measured memory. Plain C++: runs on machines without Qt.
//
//   belfry_gpu_tests [--only SECTION,...] [--match TEXT] [--json FILE] [--reloads N]
//   belfry_gpu_tests --simulated 1        the checks that need no card, on simulated ones
//   belfry_gpu_tests --small-card 1       in the forms of cards with 99 KiB of shared memory (8.6)
//   belfry_emulated_tests ...              the same on cards whose kernels run on the CPU (slow)
//   belfry_gpu_tests --hold BYTES_LEFT    keep all but so many bytes of cuda:0 until stdin closes
//   belfry_gpu_tests --fault KIND         a real fault of a kernel in this process, and what it can
//   do then belfry_gpu_tests --table FILE         print a file of tests/gpu/run as tables
// Golden data: $BELFRY_GOLDEN_DIR; further adapters: $BELFRY_ADAPTERS_DIR. Ends with 77 when the
// machine has no usable card.
#include "tests/gpu/gpu_tests.h"

#include "engine/run/engine.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/launch_sizes.h"
#include "kernels/cuda/ops.h"
#include "tests/gpu/card_fault.h"
#include "tests/gpu/forum_cases.h"
#include "tests/gpu/other_program.h"
#include "tests/gpu/result_table.h"
#include "tests/gpu/shared_decoder.h"
#ifdef BELFRY_EMULATED_CARD
#include "engine/devices/gpu_access.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#endif

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

namespace {

using gpu::CheckList;

constexpr int kNoCard = 77;

} // namespace

int main(int argc, char** argv) {
    std::set<std::string> only;
    std::string json_file;
    std::string match;
    int reload_count = 200;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        const std::string value = argv[i + 1];
        if (option == "--table") {
            return gpu::printTable(value.c_str());
        }
        if (option == "--fault") {
            return gpu::faultHere(value);
        }
        if (option == "--hold") {
            return gpu::holdMemory(std::strtoull(value.c_str(), nullptr, 10));
        }
        if (option == "--json") {
            json_file = value;
        } else if (option == "--match") {
            match = value;
        } else if (option == "--simulated") {
            gpu::is_simulated = value == "1";
        } else if (option == "--small-card") {
            // The forms of compute capability 8.6, 8.9 and 12.0 on whatever card there is.
            gpu::engineOptions().cards.has_bulk_copies = value != "1";
            gpu::engineOptions().cards.shared_bytes =
                value == "1" ? kernels::cuda::kSmallSharedBytes : 0;
        } else if (option == "--reloads") {
            reload_count = std::atoi(value.c_str());
        } else if (option == "--only") {
            for (size_t at = 0; at <= value.size();) {
                const size_t comma = std::min(value.find(',', at), value.size());
                only.insert(value.substr(at, comma - at));
                at = comma + 1;
            }
        } else {
            std::fprintf(stderr, "unknown option %s\n", option.c_str());
            return 2;
        }
    }
#ifdef BELFRY_EMULATED_CARD
    // What needs a real card's memory or speed is left out.
    constexpr bool kIsReal = false;
    support::EmulatedCardOptions card_options;
    card_options.multiprocessors = 8;
    card_options.run.resident_threads = 8192;
    static support::EmulatedCard emulated(card_options);
    gpu::engineOptions().gpus = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(&emulated.fake().driver(), {}, support::FakeDriver::images()));
#else
    constexpr bool kIsReal = true;
#endif
    std::string why;
    gpu::Machine machine;
    machine.driver = kernels::cuda::systemDriver(&why);
    if (machine.driver != nullptr) {
        for (const kernels::cuda::Card& card : kernels::cuda::listCards(*machine.driver)) {
            if (card.unusable.empty()) {
                machine.cards.push_back(card);
                std::printf("cuda:%d  %s, %.1f GiB, compute capability %d.%d\n", card.ordinal,
                            card.name.c_str(), static_cast<double>(card.total_bytes) / 1073741824.0,
                            card.compute_capability / 10, card.compute_capability % 10);
            }
        }
    }
    if (kIsReal && !gpu::is_simulated &&
        (machine.cards.empty() || kernels::cuda::embeddedImages().empty())) {
        std::printf("skipped: %s\n", !why.empty()            ? why.c_str()
                                     : machine.cards.empty() ? "no usable graphics card"
                                                             : "this build has no GPU kernels");
        return kNoCard;
    }
    const bool has_second = gpu::is_simulated || machine.cards.size() > 1;
    CheckList list(only, match);
    if (list.wants("golden")) {
        gpu::golden(list);
    }
    if (list.wants("quantized")) {
        gpu::quantized(list);
    }
    if (list.wants("placement")) {
        gpu::placements(list, has_second);
    }
    if (list.wants("shared") && (kIsReal || gpu::is_simulated)) {
        gpu::sharedDecoders(list, gpu::is_simulated ? "sim:" : "cuda:", has_second);
        if (!gpu::is_simulated) {
            gpu::sharedDecoderRates(list, has_second);
        }
    }
    if (list.wants("adapter")) {
        gpu::adapters(list, has_second);
    }
    if (list.wants("twice")) {
        gpu::determinism(list);
    }
    if (list.wants("drawn")) {
        gpu::drawn(list);
    }
    if (list.wants("drafts")) {
        gpu::drafts(list);
    }
    if (list.wants("forum")) {
        if (!kIsReal || gpu::is_simulated) {
            const std::string folder = (support::goldenDir() / "e2b" / "model").string();
            gpu::forumCases(list, {{"small e2b", folder, gpu::is_simulated ? "sim:0" : "cuda:0"}});
        } else {
            gpu::forumCases(list, {{"E2B", "shape:e2b", "cuda:0"}, {"E4B", "shape:e4b", "cuda:0"}});
        }
    }
    if (list.wants("cancel") && kIsReal && !gpu::is_simulated) {
        gpu::cancel(list, machine);
    }
    if (list.wants("others") && kIsReal && !gpu::is_simulated) {
        gpu::outOfMemory(list, machine, argv[0]);
    }
    if (list.wants("fault") && kIsReal && !gpu::is_simulated) {
        gpu::cardFaults(list, argv[0]);
    }
    if (list.wants("reloads") && kIsReal && !gpu::is_simulated) {
        gpu::reloads(list, machine, reload_count);
    }
    if (list.wants("prediction") && (kIsReal || gpu::is_simulated)) {
        gpu::predictedMemory(list, machine);
    }
    if (list.wants("limits") && (kIsReal || gpu::is_simulated)) {
        gpu::limits(list, machine);
    }
#ifdef BELFRY_EMULATED_CARD
    list.run("emulator", "no kernel did anything wrong",
             [](std::string*) { return emulated.finish(); });
#endif
    std::printf("%d passed, %d failed\n", list.passed(), list.failed());
    if (!json_file.empty()) {
        std::ofstream out(json_file);
        nlohmann::ordered_json all = {{"passed", list.passed()},
                                      {"failed", list.failed()},
                                      {"left_out", list.leftOut()},
                                      {"checks", list.rows()}};
        out << all.dump(1) << "\n";
    }
    return list.failed() == 0 ? 0 : 1;
}
