// SPDX-License-Identifier: Apache-2.0
// The merge report as JSON.
#include "engine/lora/merge.h"

#include <nlohmann/json.hpp>

namespace engine {

namespace {

using Json = nlohmann::ordered_json;

Json digestsJson(const std::vector<FileDigest>& files) {
    Json list = Json::array();
    for (const FileDigest& file : files) {
        list.push_back({{"file", file.file}, {"sha256", file.sha256}, {"bytes", file.bytes}});
    }
    return list;
}

} // namespace

std::string mergeReportJson(const MergeReport& report) {
    Json json;
    json["copied_tensors"] = report.copied_tensors;
    json["median_nf4_kept"] = report.median_nf4_kept;
    json["median_nf4_direct_kept"] = report.median_nf4_direct_kept;
    Json tensors = Json::array();
    for (const MergedTensor& t : report.tensors) {
        Json row = {{"tensor", t.tensor},
                    {"kept", t.kept},
                    {"error", t.error},
                    {"max_deviation", t.max_deviation},
                    {"delta_norm", t.delta_norm}};
        if (t.has_nf4) {
            row["nf4"] = {{"kept", t.nf4_kept},
                          {"error", t.nf4_error},
                          {"changed_codes", t.nf4_changed_codes},
                          {"direct_merge_kept", t.nf4_direct_kept}};
        }
        tensors.push_back(std::move(row));
    }
    json["tensors"] = std::move(tensors);
    json["replaced"] = report.replaced;
    json["notes"] = report.notes;
    json["inputs"] = digestsJson(report.inputs);
    json["adapters"] = digestsJson(report.adapters);
    json["outputs"] = digestsJson(report.outputs);
    return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

} // namespace engine
