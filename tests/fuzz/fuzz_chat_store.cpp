// SPDX-License-Identifier: Apache-2.0
// A chat store as a broken disk hands it back: changes to a good file or its log, or any bytes in
// their place. A start lets a new chat be saved, what it acknowledges is there at the next start,
// and chats that are missing are not missing without a word. SQLite and Qt are not instrumented;
// what reads damaged files without them (store_log, page_rows) is.
//
// Input: a byte whose lowest bits say what it is (0: changes of the file after an orderly end, 1:
// of file and log after a kill, 2: the bytes are the file, 3: the bytes are the log), then for
// changes groups of four: three of the place, one that is put there; a place's highest bit means
// the log.
#include "tests/app/store/damaged_stores.h"
#include "tests/fuzz/require.h"

#include <algorithm>
#include <cstdio>

using fuzz::require;

namespace {

constexpr int kChats = 4;
constexpr qint64 kTurns = kChats * 6;

support::StoreFiles changed(support::StoreFiles files, const uint8_t* data, size_t size) {
    constexpr uint32_t kIsLog = 0x800000;
    // Each turn of which a letter changes is another turn; more than a few say nothing new.
    const size_t most = std::min<size_t>(size, 4 * 64);
    for (size_t i = 0; i + 4 <= most; i += 4) {
        const uint32_t place =
            (uint32_t{data[i]} << 16U) | (uint32_t{data[i + 1]} << 8U) | uint32_t{data[i + 2]};
        QByteArray& bytes = (place & kIsLog) != 0 ? files.log : files.file;
        if (!bytes.isEmpty()) {
            bytes[static_cast<qsizetype>(place & ~kIsLog) % bytes.size()] =
                static_cast<char>(data[i + 3]);
        }
    }
    return files;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const support::StoreFiles kEnded = support::makeStore(kChats, false);
    static const support::StoreFiles kKilled = support::makeStore(kChats, true);
    require(!kEnded.file.isEmpty() && !kKilled.log.isEmpty());
    if (size == 0) {
        return 0;
    }
    const QByteArray rest(reinterpret_cast<const char*>(data + 1),
                          static_cast<qsizetype>(size - 1));
    const unsigned kind = data[0] % 4U;
    support::StoreFiles files = kind == 0   ? changed(kEnded, data + 1, size - 1)
                                : kind == 1 ? changed(kKilled, data + 1, size - 1)
                                : kind == 2 ? support::StoreFiles{rest, {}}
                                            : support::StoreFiles{kKilled.file, rest};
    const support::StartOutcome out = support::startOn(files);
    if (!out.problem.isEmpty()) {
        std::fprintf(stderr, "%s\n", qPrintable(out.problem));
    }
    require(out.problem.isEmpty());
    // A letter of a text may change unnoticed: one turn for each change, no chat.
    if (kind < 2 && out.is_saved && out.message.isEmpty()) {
        require(out.chats == kChats && out.turns + static_cast<qint64>(size / 4) >= kTurns);
    }
    return 0;
}
