// SPDX-License-Identifier: Apache-2.0
// merge: writes a merged bf16 folder, then measures what it does to the logits: the merged model,
// and the merged model quantized again, against the adapter at run time on the same base. With
// --stack: one adapter that does what several do.
#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/cli/output.h"
#include "app/cli/row_comparison.h"

#include <span>

namespace cli {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using nlohmann::ordered_json;

namespace {

/// Logits of a fixed row of token ids under one way of loading.
Result<engine::LogitsResult> probe(engine::Engine& engine, const engine::LoadRequest& load) {
    ENGINE_TRY(engine.load(load, {}, interruptToken()));
    ENGINE_ASSIGN(const engine::WorkCounts counts, engine.countWork());
    engine::GenerateRequest request;
    request.raw_ids.resize(64);
    uint32_t state = 7U;
    for (int32_t& id : request.raw_ids) {
        state = state * 1664525U + 1013904223U;
        id = static_cast<int32_t>((state >> 8U) % static_cast<uint32_t>(counts.vocab_size));
    }
    auto result =
        engine.logits(request, static_cast<int64_t>(request.raw_ids.size()), interruptToken());
    engine.unload();
    return result;
}

ordered_json compare(const engine::LogitsResult& a, const engine::LogitsResult& b) {
    RowComparison comparison;
    const auto vocab = static_cast<size_t>(a.vocab);
    for (size_t at = 0; at < a.logits.size(); at += vocab) {
        comparison.add(std::span(a.logits).subspan(at, vocab),
                       std::span(b.logits).subspan(at, vocab));
    }
    return {{"mean_kl_nats", comparison.meanDivergence()},
            {"top1_agreement", comparison.sameTop()},
            {"positions", comparison.rows()}};
}

/// One adapter out of several.
Result<void>
stack(engine::Engine& engine, const engine::MergeOrder& order, const Arguments& arguments) {
    ENGINE_ASSIGN(const engine::StackReport report, engine.stack(order, interruptToken()));
    if (arguments.is_json) {
        printJson({{"adapters", report.adapters},
                   {"rank", report.rank},
                   {"modules", report.modules},
                   {"bytes", report.bytes},
                   {"out", arguments.out}});
        return {};
    }
    print("%s: %lld adapters as one, rank %lld on %lld modules, %.1f MiB\n", arguments.out.c_str(),
          static_cast<long long>(report.adapters), static_cast<long long>(report.rank),
          static_cast<long long>(report.modules), static_cast<double>(report.bytes) / 1048576.0);
    return {};
}

} // namespace

Result<void> runMerge(engine::Engine& engine, const Arguments& arguments) {
    engine::MergeOrder order;
    order.model = arguments.model;
    order.adapters = arguments.load.adapters;
    order.out_folder = arguments.out;
    if (arguments.is_stack) {
        return stack(engine, order, arguments);
    }
    ENGINE_ASSIGN(const engine::MergeReport report, engine.merge(order, interruptToken()));

    // Drift of logits.
    engine::LoadRequest base = arguments.load;
    base.device_map = "cpu";
    engine::LoadRequest merged = base;
    merged.model = arguments.out;
    merged.adapters.clear();
    engine::LoadRequest base_nf4 = base;
    base_nf4.quant = "nf4-dq";
    engine::LoadRequest merged_nf4 = merged;
    merged_nf4.quant = "nf4-dq";
    engine::LoadRequest plain = base;
    plain.adapters.clear();
    ENGINE_ASSIGN(const auto run_time, probe(engine, base));
    ENGINE_ASSIGN(const auto merged_logits, probe(engine, merged));
    ENGINE_ASSIGN(const auto run_time_nf4, probe(engine, base_nf4));
    ENGINE_ASSIGN(const auto merged_nf4_logits, probe(engine, merged_nf4));
    ENGINE_ASSIGN(const auto base_logits, probe(engine, plain));
    ordered_json drift = {
        {"run_time_against_base", compare(run_time, base_logits)},
        {"merged_bf16_against_run_time", compare(merged_logits, run_time)},
        {"merged_then_nf4_against_run_time_on_nf4", compare(merged_nf4_logits, run_time_nf4)},
        {"merged_then_nf4_against_run_time_bf16", compare(merged_nf4_logits, run_time)}};

    if (arguments.is_json) {
        ordered_json out = engine::Engine::mergeReportTree(report);
        out["logits"] = drift;
        out["out"] = arguments.out;
        printJson(out);
        return {};
    }
    print("%s: %lld tensors merged, %lld copied as they were\n", arguments.out.c_str(),
          static_cast<long long>(report.tensors.size()),
          static_cast<long long>(report.copied_tensors));
    print("%-70s %8s %8s %10s %10s %12s\n", "tensor", "kept", "error", "nf4 kept", "codes",
          "4-bit merge");
    for (const engine::MergedTensor& tensor : report.tensors) {
        print("%-70s %8.4f %8.4f", tensor.tensor.c_str(), tensor.kept, tensor.error);
        if (tensor.has_quantized) {
            print(" %10.3f %9.2f%% %12.3f", tensor.quantized_kept,
                  100 * tensor.quantized_changed_codes, tensor.quantized_direct_kept);
        }
        print("\n");
    }
    print("\nkept: share of the update that is in the written weights (1 = all of it). nf4 "
          "kept: after quantizing\n"
          "the merged weights. 4-bit merge: what merging into already quantized weights "
          "would keep.\n");
    for (const auto& [name, row] : drift.items()) {
        print("%-46s KL %.3e nats, same top token %.1f %%\n", name.c_str(),
              row["mean_kl_nats"].get<double>(), 100 * row["top1_agreement"].get<double>());
    }
    for (const std::string& note : report.notes) {
        print("note: %s\n", note.c_str());
    }
    return {};
}

} // namespace cli
