// SPDX-License-Identifier: Apache-2.0
// A core dump of this program would hold what was said in its chats, for whoever may read the
// system's dumps. Developers get them with BELFRY_CORE_DUMPS=1.
#pragma once

namespace app {

/// Called first of all by both programs: no core dumps of this process, and no other program of
/// the same user reads its memory. Linux; elsewhere nothing.
void keepOutOfCoreDumps();

} // namespace app
