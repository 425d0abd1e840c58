// SPDX-License-Identifier: Apache-2.0
// An SQLite file system in front of the real one that fails when a test says so: the n-th write,
// sync or truncation, once or from then on. One instance for the process; reset() between cases.
#pragma once

#include <QByteArray>

namespace support {

struct FaultPlan {
    enum class Kind { None = 1, DiskFull, ReadOnly, IoError };
    Kind kind = Kind::None;
    int first = 0;           ///< Which call fails, counted from 1 after set().
    bool is_lasting = false; ///< All calls after it fail as well.
};

/// Registers the file system at the first call; its name for StoreOptions::vfs.
QByteArray faultVfs();
/// Sets what fails and starts counting anew. ReadOnly also refuses to create files.
void setFaults(const FaultPlan& plan);
/// Calls that write, since setFaults().
int writeCalls();
/// Calls that failed, since setFaults().
int failedCalls();

} // namespace support
