// SPDX-License-Identifier: Apache-2.0
// What is odd about a model's files, in the user's language.
#pragma once

#include "engine/api/model_oddity.h"

#include <QString>

namespace ui {

/// "a, b and 3 more".
QString listedWords(const std::vector<std::string>& names, size_t all);

QString oddityWords(const engine::ModelOddity& oddity);

} // namespace ui
