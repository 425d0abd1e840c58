// SPDX-License-Identifier: Apache-2.0
// Why a model's or an adapter's folder cannot be used, in the user's language, for what happens
// often: no model in it, a model of another kind, a file that is missing, a folder that is gone.
#pragma once

#include "engine/api/error.h"

#include <QString>

namespace ui {

/// What is not known here stays as the engine wrote it. `is_gone`: the folder itself is not there.
QString folderProblem(const engine::Error& error, bool is_gone);

/// Why an adapter was refused in one plain sentence; empty where only its message tells.
QString adapterProblem(const engine::Error& error);

} // namespace ui
