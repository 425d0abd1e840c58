// SPDX-License-Identifier: Apache-2.0
// What both programs do before anything else: the three standard streams are open, and a full disk
// or a reader that went away is an error of the write, not the end of the program. On Windows:
// libraries that are opened by name come from the system's folder and the program's own.
#pragma once

namespace app {

/// Call first in main(), before any file is opened. A standard stream that came closed is opened on
/// nothing: reading gives the end, writing fails, so that a file opened later never takes its
/// number and lost output is noticed. SIGPIPE and SIGXFSZ (a file-size limit) end nobody any more;
/// programs started from here get the usual ones back. A stack limit under 1 MiB is raised for all
/// threads; where it cannot be, the program ends with a message and code 1. Windows: libraries come
/// from system32 and our own folder alone, and Qt compiles no patterns (the .cpp says why).
void prepareProcess();

/// Before the window: raises a low limit of open files as far as it can be. GLib, on which the
/// window rests, ends the process by SIGABRT where it gets no descriptor; so where fewer than 64
/// can be had the program ends with a message and code 1.
void prepareWindow();

} // namespace app
