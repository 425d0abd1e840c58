// SPDX-License-Identifier: Apache-2.0
// What is wrong in the text of a device map, in the user's language. Keys, members and values are
// named as they stand in the text.
#pragma once

#include "engine/api/map_finding.h"

#include <QString>

namespace ui {

QString mapWords(const engine::issue::MapTooLong& i);
QString mapWords(const engine::issue::NotJson& i);
QString mapWords(const engine::issue::NotAnObject& i);
QString mapWords(const engine::issue::VersionMissing& i);
QString mapWords(const engine::issue::DefaultMissing& i);
QString mapWords(const engine::issue::BadValue& i);
QString mapWords(const engine::issue::UnknownMember& i);
QString mapWords(const engine::issue::WholeModelKey& i);
QString mapWords(const engine::issue::BadRange& i);
QString mapWords(const engine::issue::NotADevice& i);
QString mapWords(const engine::issue::SizeUnitCase& i);
QString mapWords(const engine::issue::UnknownKey& i);
QString mapWords(const engine::issue::BelowTensor& i);
QString mapWords(const engine::issue::InsideWeight& i);
QString mapWords(const engine::issue::KeysDisagree& i);
QString mapWords(const engine::issue::DefaultIncomplete& i);
QString mapWords(const engine::issue::HeadApart& i);
QString mapWords(const engine::issue::NothingSaysWhere& i);
QString mapWords(const engine::issue::ComputedElsewhere& i);
QString mapWords(const engine::issue::FormatRefused& i);
QString mapWords(const engine::issue::FormatExpanded& i);
QString mapWords(const engine::issue::KvFormatMissing& i);
QString mapWords(const engine::issue::MadeForOtherLayers& i);
QString mapWords(const engine::issue::MadeForOtherModel& i);
QString mapWords(const engine::issue::NoPreset& i);
QString mapWords(const engine::issue::PresetNeedsGpu& i);

/// Behind the first of them, where the text is a Python dictionary.
QString pythonMapWords();

} // namespace ui
