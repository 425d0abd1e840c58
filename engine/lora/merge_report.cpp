// SPDX-License-Identifier: Apache-2.0
// The merge report as JSON.
#include "engine/lora/merge.h"

#include <nlohmann/json.hpp>

namespace engine {

namespace {

using nlohmann::ordered_json;

ordered_json digestsJson(const std::vector<FileDigest>& files) {
    ordered_json list = ordered_json::array();
    for (const FileDigest& file : files) {
        list.push_back({{"file", file.file}, {"sha256", file.sha256}, {"bytes", file.bytes}});
    }
    return list;
}

} // namespace

ordered_json mergeReportTree(const MergeReport& report) {
    ordered_json json;
    json["copied_tensors"] = report.copied_tensors;
    json["median_nf4_kept"] = report.median_quantized_kept;
    json["median_nf4_direct_kept"] = report.median_quantized_direct_kept;
    ordered_json tensors = ordered_json::array();
    for (const MergedTensor& t : report.tensors) {
        ordered_json row = {{"tensor", t.tensor},
                            {"kept", t.kept},
                            {"error", t.error},
                            {"max_deviation", t.max_deviation},
                            {"delta_norm", t.delta_norm}};
        if (t.has_quantized) {
            row["nf4"] = {{"kept", t.quantized_kept},
                          {"error", t.quantized_error},
                          {"changed_codes", t.quantized_changed_codes},
                          {"direct_merge_kept", t.quantized_direct_kept}};
        }
        tensors.push_back(std::move(row));
    }
    json["tensors"] = std::move(tensors);
    json["replaced"] = report.replaced;
    json["notes"] = report.notes;
    json["inputs"] = digestsJson(report.inputs);
    json["adapters"] = digestsJson(report.adapters);
    json["outputs"] = digestsJson(report.outputs);
    return json;
}

std::string mergeReportJson(const MergeReport& report) {
    return mergeReportTree(report).dump(1, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace engine
