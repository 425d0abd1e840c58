// SPDX-License-Identifier: Apache-2.0
// Any bytes as a device map: complaints with a place in the text, or a map that can be applied to a
// model, written, read and shortened without meaning something else.
#include "engine/plan/device_map.h"
#include "engine/plan/map_resolve.h"
#include "engine/plan/map_write.h"
#include "engine/plan/plan_english.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/small_model.h"

using engine::DeviceId;
using fuzz::require;
using fuzz::smallModel;

namespace {

engine::ResolveInput input() {
    engine::ResolveInput in;
    in.config = &smallModel().config;
    in.tensors = &smallModel().tensors;
    in.devices = {DeviceId::cuda(0), DeviceId::cuda(1)};
    return in;
}

/// Without what names keys: a shorter map says the same with others.
bool isSameMeaning(const engine::Resolution& a, const engine::Resolution& b) {
    if (a.tensors.size() != b.tensors.size() || a.has_own_head != b.has_own_head) {
        return false;
    }
    for (size_t i = 0; i < a.tensors.size(); ++i) {
        const engine::ResolvedTensor& x = a.tensors[i];
        const engine::ResolvedTensor& y = b.tensors[i];
        if (x.index != y.index || x.store != y.store || x.compute != y.compute ||
            x.residency != y.residency || x.format != y.format || x.pin != y.pin) {
            return false;
        }
    }
    return true;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::vector<engine::PlanIssue> issues;
    const auto map = engine::parseDeviceMap(text, {}, &issues);
    require(map.has_value() == issues.empty());
    for (const engine::PlanIssue& issue : issues) {
        require(issue.line > 0 && issue.column > 0 && !engine::inEnglish(issue).empty());
    }
    if (!map) {
        require(!map.error().message.empty());
        return 0;
    }
    const engine::Resolution meant = engine::resolveDeviceMap(*map, input());
    require(!meant.tensors.empty() || !meant.errors.empty());
    for (const engine::PlanIssue& issue : meant.errors) {
        require(!issue.code.empty() && !engine::inEnglish(issue).empty());
    }
    const std::string written = engine::writeDeviceMap(*map);
    const auto again = engine::parseDeviceMap(written, {});
    if (!meant.errors.empty()) {
        return 0; // an unknown key of accelerate's form may be none of ours
    }
    require(again.has_value());
    require(engine::writeDeviceMap(*again) == written);
    require(isSameMeaning(meant, engine::resolveDeviceMap(*again, input())));
    const engine::DeviceMap brief = engine::canonicalMap(*map, input());
    require(isSameMeaning(meant, engine::resolveDeviceMap(brief, input())));
    const std::string brief_text = engine::writeDeviceMap(brief);
    const auto brief_again = engine::parseDeviceMap(brief_text, {});
    require(brief_again.has_value() && engine::writeDeviceMap(*brief_again) == brief_text);
    return 0;
}
