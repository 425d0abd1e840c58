// SPDX-License-Identifier: Apache-2.0
// Models and adapters by name: what is given where a folder is meant is looked up in the library.
#pragma once

#include "app/cli/arguments.h"
#include "engine/base/result.h"

#include <string>

#include "models/scanner.h"

namespace cli {

/// Puts folders in the place of names in `arguments`: of the model and of adapters. What is there
/// as a path, "demo", shapes and what cannot be a name stay as they are. Errors: InvalidFile (no
/// such folder and no such name; of a hub id: how to get it), InvalidRequest (several of this
/// name), Cancelled.
engine::Result<void> resolveNames(Arguments& arguments);

/// Looks below these roots until all are told of, or the program is interrupted.
engine::Result<models::ScanResult> scanLibrary(models::ScanOptions options,
                                               models::ScanListener listener = {});

} // namespace cli
