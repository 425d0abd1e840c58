// SPDX-License-Identifier: Apache-2.0
// What is wrong in a device map, in English: for the command line, JSON and logs. The planner's
// other messages are in plan_english.h.
#pragma once

#include "engine/api/map_finding.h"

#include <string>

namespace engine {

/// "an object", "the number 1.5", "the text "gpu"": shortened.
std::string inEnglish(const issue::JsonFound& found);
/// What a word that is no map may mean; may be empty.
std::string inEnglish(const issue::MapHint& hint);

std::string inEnglish(const issue::MapTooLong& i);
std::string inEnglish(const issue::NotJson& i);
std::string inEnglish(const issue::NotAnObject& i);
std::string inEnglish(const issue::VersionMissing& i);
std::string inEnglish(const issue::DefaultMissing& i);
std::string inEnglish(const issue::BadValue& i);
std::string inEnglish(const issue::UnknownMember& i);
std::string inEnglish(const issue::WholeModelKey& i);
std::string inEnglish(const issue::BadRange& i);
std::string inEnglish(const issue::NotADevice& i);
std::string inEnglish(const issue::SizeUnitCase& i);
std::string inEnglish(const issue::UnknownKey& i);
std::string inEnglish(const issue::BelowTensor& i);
std::string inEnglish(const issue::InsideWeight& i);
std::string inEnglish(const issue::KeysDisagree& i);
std::string inEnglish(const issue::DefaultIncomplete& i);
std::string inEnglish(const issue::HeadApart& i);
std::string inEnglish(const issue::NothingSaysWhere& i);
std::string inEnglish(const issue::ComputedElsewhere& i);
std::string inEnglish(const issue::FormatRefused& i);
std::string inEnglish(const issue::FormatExpanded& i);
std::string inEnglish(const issue::KvFormatMissing& i);
std::string inEnglish(const issue::MadeForOtherLayers& i);
std::string inEnglish(const issue::MadeForOtherModel& i);
std::string inEnglish(const issue::NoPreset& i);
std::string inEnglish(const issue::PresetNeedsGpu& i);

} // namespace engine
