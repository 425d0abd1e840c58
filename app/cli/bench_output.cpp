// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench.h"
#include "app/cli/console.h"

namespace cli {

using nlohmann::ordered_json;

namespace {

double number(const ordered_json& row, const char* name) {
    return row.at(name).get<double>();
}

std::string text(const ordered_json& row, const char* name) {
    return row.at(name).get<std::string>();
}

void printRate(const ordered_json& row, const char* name, const char* at) {
    print("%-8s %s %6.0f   %9.2f tokens/s (median of %.0f, %.2f to %.2f)", name, at,
          number(row, at), number(row, "tokens_per_s"), number(row, "runs"),
          number(row, "min_tokens_per_s"), number(row, "max_tokens_per_s"));
}

/// In percent, and the line's end; nothing where it was not measured.
void printShare(const ordered_json& row, const char* share, const char* of) {
    if (row.contains(share)) {
        print(", %.1f %% of %s", 100 * number(row, share), of);
    }
    print("\n");
}

void printDrafts(const ordered_json& row) {
    const ordered_json& drafts = row.at("drafts");
    const double rate = number(drafts, "tokens_per_s");
    print("         with drafts   %9.2f tokens/s, %.2f times; %.2f tokens a round; a draft %.2f "
          "ms, a check %.2f ms%s\n",
          rate, rate / number(row, "tokens_per_s"), number(drafts, "tokens_per_round"),
          number(drafts, "draft_ms"), number(drafts, "check_ms"),
          drafts.at("is_off").get<bool>() ? "; off, as they do not pay" : "");
}

} // namespace

void printBench(const ordered_json& report) {
    const ordered_json& machine = report.at("machine");
    print("machine  %.0f threads, %s, read %.1f GB/s, fp32 %.0f GFLOP/s, bf16 %.0f GFLOP/s "
          "(measured now)\n",
          number(machine, "threads"), text(machine, "kernels").c_str(),
          number(machine, "read_gb_per_s"), number(machine, "fp32_gflops"),
          number(machine, "bf16_gflops"));
    for (const ordered_json& card : report.at("cards")) {
        print("card     %s, read %.0f GB/s, tensor cores %.0f TFLOP/s in bf16 (measured now)\n",
              text(card, "device").c_str(), number(card, "read_gb_per_s"),
              number(card, "bf16_gflops") / 1000);
    }
    print("load     %.2f s\n", number(report, "load_s"));
    if (report.contains("adapter")) {
        const ordered_json& adapter = report.at("adapter");
        print("adapter  random, rank %.0f on %s\n", number(adapter, "rank"),
              text(adapter, "targets").c_str());
    }
    for (const ordered_json& row : report.at("prefill")) {
        printRate(row, "prefill", "tokens");
        print(", %.1f GFLOP/s", number(row, "gflops"));
        printShare(row, "share_of_peak", "the peak");
    }
    for (const ordered_json& row : report.at("decode")) {
        printRate(row, "decode", "depth");
        print(", %.2f GB/s of weights", number(row, "weight_gb_per_s"));
        printShare(row, "share_of_read_bandwidth", "the read bandwidth");
        if (row.contains("drafts")) {
            printDrafts(row);
        }
    }
    for (const char* name : {"image", "audio"}) {
        if (report.contains(name)) {
            const ordered_json& row = report.at(name);
            print("%-8s %.3f s from the request to the first token; preparing and encoding %.3f "
                  "s, preparing alone %.3f s\n",
                  name, number(row, "first_token_s"), number(row, "encode_s"),
                  number(row, "prepare_s"));
        }
    }
    for (const auto& [device, parts] : report.at("memory").items()) {
        print("memory   %s %.0f MiB\n", device.c_str(), number(parts, "total") / 1048576.0);
        if (parts.contains("experts") && number(parts.at("experts"), "asked") > 0) {
            const ordered_json& experts = parts.at("experts");
            const double asked = number(experts, "asked") / 100.0;
            print(
                "experts  %.0f of %.0f have copies there, which took %.0f %% of the choices; %.0f "
                "%% with a GiB more\n",
                number(experts, "copies"), number(experts, "of"), number(experts, "hits") / asked,
                number(experts, "hits_with_a_gib_more") / asked);
        }
    }
}

} // namespace cli
