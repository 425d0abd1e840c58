// SPDX-License-Identifier: Apache-2.0
#include "tests/app/store/fault_vfs.h"

#include <sqlite3.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace support {

namespace {

constexpr const char* kName = "belfry-faults";

FaultPlan plan;
std::atomic<int> calls{0}, failures{0};
sqlite3_vfs* real = nullptr;

/// SQLITE_OK, or the code that this call fails with.
int fault(int sync_code) {
    const int call = ++calls;
    if (plan.kind == FaultPlan::Kind::None || call < plan.first ||
        (call > plan.first && !plan.is_lasting)) {
        return SQLITE_OK;
    }
    ++failures;
    switch (plan.kind) {
    case FaultPlan::Kind::DiskFull:
        return SQLITE_FULL;
    case FaultPlan::Kind::ReadOnly:
        return SQLITE_READONLY;
    default:
        return sync_code;
    }
}

struct File {
    sqlite3_file base;
    sqlite3_file* real;
};

sqlite3_file* inner(sqlite3_file* file) {
    return reinterpret_cast<File*>(file)->real;
}

int fileClose(sqlite3_file* file) {
    sqlite3_file* wrapped = inner(file);
    const int code = wrapped->pMethods != nullptr ? wrapped->pMethods->xClose(wrapped) : SQLITE_OK;
    std::free(wrapped);
    return code;
}
int fileRead(sqlite3_file* file, void* data, int amount, sqlite3_int64 offset) {
    return inner(file)->pMethods->xRead(inner(file), data, amount, offset);
}
int fileWrite(sqlite3_file* file, const void* data, int amount, sqlite3_int64 offset) {
    if (const int code = fault(SQLITE_IOERR_WRITE); code != SQLITE_OK) {
        // A full disk takes a part of what it is given.
        inner(file)->pMethods->xWrite(inner(file), data, amount / 2, offset);
        return code;
    }
    return inner(file)->pMethods->xWrite(inner(file), data, amount, offset);
}
int fileTruncate(sqlite3_file* file, sqlite3_int64 size) {
    const int code = fault(SQLITE_IOERR_TRUNCATE);
    return code != SQLITE_OK ? code : inner(file)->pMethods->xTruncate(inner(file), size);
}
int fileSync(sqlite3_file* file, int flags) {
    // The system of a test does not crash: a real sync would only take time on a busy disk.
    (void)file;
    (void)flags;
    return fault(SQLITE_IOERR_FSYNC);
}
int fileSize(sqlite3_file* file, sqlite3_int64* size) {
    return inner(file)->pMethods->xFileSize(inner(file), size);
}
int fileLock(sqlite3_file* file, int level) {
    return inner(file)->pMethods->xLock(inner(file), level);
}
int fileUnlock(sqlite3_file* file, int level) {
    return inner(file)->pMethods->xUnlock(inner(file), level);
}
int fileCheckLock(sqlite3_file* file, int* result) {
    return inner(file)->pMethods->xCheckReservedLock(inner(file), result);
}
int fileControl(sqlite3_file* file, int operation, void* argument) {
    return inner(file)->pMethods->xFileControl(inner(file), operation, argument);
}
int fileSector(sqlite3_file* file) {
    return inner(file)->pMethods->xSectorSize(inner(file));
}
int fileDevice(sqlite3_file* file) {
    return inner(file)->pMethods->xDeviceCharacteristics(inner(file));
}

// Version 1: no shared memory; the store holds its file alone and does not need any.
const sqlite3_io_methods kMethods = {1,           fileClose,  fileRead,   fileWrite,  fileTruncate,
                                     fileSync,    fileSize,   fileLock,   fileUnlock, fileCheckLock,
                                     fileControl, fileSector, fileDevice, nullptr,    nullptr,
                                     nullptr,     nullptr,    nullptr,    nullptr};

int openFile(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    auto* wrapper = reinterpret_cast<File*>(file);
    wrapper->base.pMethods = nullptr;
    if (plan.kind == FaultPlan::Kind::ReadOnly && plan.is_lasting &&
        (flags & SQLITE_OPEN_READWRITE) != 0) {
        ++failures;
        return SQLITE_CANTOPEN;
    }
    wrapper->real = static_cast<sqlite3_file*>(std::calloc(1, static_cast<size_t>(real->szOsFile)));
    const int code = real->xOpen(real, name, wrapper->real, flags, out_flags);
    if (code != SQLITE_OK) {
        std::free(wrapper->real);
        return code;
    }
    wrapper->base.pMethods = &kMethods;
    return SQLITE_OK;
}

} // namespace

QByteArray faultVfs() {
    static sqlite3_vfs vfs = [] {
        real = sqlite3_vfs_find(nullptr);
        sqlite3_vfs copy = *real;
        copy.zName = kName;
        copy.szOsFile = sizeof(File);
        copy.pNext = nullptr;
        copy.xOpen = openFile;
        return copy;
    }();
    static const int registered = sqlite3_vfs_register(&vfs, 0);
    (void)registered;
    return kName;
}

void setFaults(const FaultPlan& new_plan) {
    plan = new_plan;
    calls = 0;
    failures = 0;
}

int writeCalls() {
    return calls;
}

int failedCalls() {
    return failures;
}

} // namespace support
