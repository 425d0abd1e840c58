// SPDX-License-Identifier: Apache-2.0
// Sentences of the engine that end in a step for the terminal, as the window says them: its own
// buttons and dialogs in the place of variables and options.
#pragma once

namespace ui {

/// The window's pattern for an engine's, with the same places or fewer; nullptr: it needs none of
/// its own.
const char* windowPattern(const char* pattern);

} // namespace ui
