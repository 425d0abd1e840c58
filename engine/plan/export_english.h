// SPDX-License-Identifier: Apache-2.0
// What an exported map loses, in English: a line for the command line, JSON and the comments of the
// exported text.
#pragma once

#include "engine/api/export_loss.h"
#include "engine/plan/plan_english.h"

#include <string>
#include <vector>

namespace engine {

std::string inEnglish(const ExportLoss& loss);
std::vector<std::string> inEnglish(const std::vector<ExportLoss>& losses);

} // namespace engine
