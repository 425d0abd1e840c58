// SPDX-License-Identifier: Apache-2.0
#include "app/store/store_log.h"

#include <QtEndian>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

namespace app {

namespace {

constexpr qsizetype kLogHeaderBytes = 32, kFrameHeaderBytes = 24;
constexpr qsizetype kSummedHeaderBytes = 24, kSummedFrameBytes = 8;
constexpr quint32 kMagic = 0x377f0682; ///< The lowest bit tells the byte order of checksums.
constexpr qsizetype kLogPageBytes = 4096;

struct Sum {
    quint32 first = 0, second = 0;
    bool operator==(const Sum& other) const {
        return first == other.first && second == other.second;
    }
};

quint32 bigWord(const QByteArray& bytes, qsizetype at) {
    return qFromBigEndian<quint32>(bytes.constData() + at);
}

quint32 word(const QByteArray& bytes, qsizetype at, bool is_big) {
    return is_big ? bigWord(bytes, at) : qFromLittleEndian<quint32>(bytes.constData() + at);
}

Sum sumOf(const QByteArray& summed, Sum sum, bool is_big) {
    for (qsizetype at = 0; at + 8 <= summed.size(); at += 8) {
        sum.first += word(summed, at, is_big) + sum.second;
        sum.second += word(summed, at + 4, is_big) + sum.first;
    }
    return sum;
}

/// The inverse of an odd number, modulo 2^32.
quint32 inverse(quint32 odd) {
    quint32 found = odd;
    for (int step = 0; step < 5; ++step) { // each doubles the bits that are right
        found *= 2U - odd * found;
    }
    return found;
}

/// How many words can each be what made the checksum wrong. A single one is mended in place.
int mendWord(QByteArray& summed, Sum is, Sum should, bool is_big) {
    const Sum wrong{should.first - is.first, should.second - is.second};
    // What 1 in the pair at hand, in its first and in its second word, adds to the sums at the end.
    Sum by_first{1, 1}, by_second{0, 1};
    const auto next = [](Sum sum) {
        return Sum{sum.first + sum.second, sum.first + 2 * sum.second};
    };
    int count = 0;
    qsizetype place = 0;
    quint32 right = 0;
    for (qsizetype pair = summed.size() - 8; pair >= 0; pair -= 8) {
        for (const auto& [by, at] : {std::pair(by_second, pair + 4), std::pair(by_first, pair)}) {
            const quint32 change = (by.first & 1U) != 0 ? wrong.first * inverse(by.first)
                                                        : wrong.second * inverse(by.second);
            if (by.first * change == wrong.first && by.second * change == wrong.second) {
                ++count;
                place = at;
                right = word(summed, at, is_big) + change;
            }
        }
        by_first = next(by_first);
        by_second = next(by_second);
    }
    if (count == 1 && is_big) {
        qToBigEndian(right, summed.data() + place);
    } else if (count == 1) {
        qToLittleEndian(right, summed.data() + place);
    }
    return count;
}

enum class State { Plain = 1, Mended, Doubtful, Broken };

QByteArray summedOf(QByteArrayView frame) {
    return frame.first(kSummedFrameBytes).toByteArray().append(frame.sliced(kFrameHeaderBytes));
}

Sum storedSum(QByteArrayView bytes) {
    return {qFromBigEndian<quint32>(bytes.data()), qFromBigEndian<quint32>(bytes.data() + 4)};
}

/// Compares with the checksum that was stored, mends `summed`, and leaves in `sum` what the frame
/// behind goes on from. `next` is that frame, or empty.
State examine(QByteArray& summed, Sum& sum, Sum stored, bool is_big, QByteArrayView next) {
    const Sum is = sumOf(summed, sum, is_big);
    sum = stored;
    if (is == stored) {
        return State::Plain;
    }
    // It may be one word of the checksum itself that is wrong.
    const bool is_half = is.first == stored.first || is.second == stored.second;
    if (is_half && !next.isEmpty() &&
        sumOf(summedOf(next), is, is_big) == storedSum(next.sliced(16))) {
        sum = is;
        return State::Mended;
    }
    const int count = mendWord(summed, is, stored, is_big) + (is_half && next.isEmpty() ? 1 : 0);
    return count == 0 ? State::Broken : count == 1 ? State::Mended : State::Doubtful;
}

struct Frame {
    quint32 page = 0, commit = 0; ///< `commit` is not 0 where a change is complete.
    QByteArray content;
    State state = State::Plain;
    bool is_ours = false; ///< It has the salt of the log: not a rest of an earlier one.

    [[nodiscard]] bool isPlain() const { return is_ours && state == State::Plain; }
};

bool isPageSize(quint32 bytes) {
    return bytes >= 512 && bytes <= 65536 && (bytes & (bytes - 1)) == 0;
}

/// What stands at the beginning of a log.
struct Head {
    State state = State::Plain;
    bool is_big = false;
    qsizetype page_bytes = kLogPageBytes;
    QByteArray salt;
    Sum sum; ///< What the first frame goes on from.
};

/// In how many bytes two texts of one length differ.
qsizetype differences(const QByteArray& one, const QByteArray& other) {
    return std::inner_product(one.begin(), one.end(), other.begin(), qsizetype{0}, std::plus<>(),
                              std::not_equal_to<>());
}

Head readHead(QByteArrayView log) {
    const QByteArray raw = log.first(kLogHeaderBytes).toByteArray();
    const Sum stored = storedSum(log.sliced(24));
    const qsizetype step = kFrameHeaderBytes + kLogPageBytes;
    const QByteArrayView first =
        log.size() < kLogHeaderBytes + step ? QByteArrayView() : log.sliced(kLogHeaderBytes, step);
    // The frames have the salt too: those of one log all have the same.
    const auto salt_of = [&](qsizetype frame) {
        return log.sliced(kLogHeaderBytes + frame * step + 8, 8).toByteArray();
    };
    const qsizetype count = (log.size() - kLogHeaderBytes) / step;
    QByteArray salt;
    if (count >= 2 && salt_of(0) == salt_of(1)) {
        salt = salt_of(0);
    } else if (count >= 3 && (salt_of(2) == salt_of(0) || salt_of(2) == salt_of(1)) &&
               differences(salt_of(0), salt_of(1)) == 1) {
        salt = salt_of(2); // a wrong byte; another log's would differ in more than that
    }
    Head head;
    head.state = State::Broken;
    for (const bool is_big : {(bigWord(raw, 0) & 1U) != 0, (bigWord(raw, 0) & 1U) == 0}) {
        QByteArray summed = raw.first(kSummedHeaderBytes);
        Sum sum;
        const State state = examine(summed, sum, stored, is_big, first);
        if (state == State::Broken || state == State::Doubtful ||
            bigWord(summed, 0) != (kMagic | (is_big ? 1U : 0U)) ||
            !isPageSize(bigWord(summed, 8))) {
            continue;
        }
        // It was the checksum that was wrong, and not the salt that was mended.
        if (state == State::Mended && !salt.isEmpty() && salt != summed.mid(16, 8)) {
            continue;
        }
        return {state, is_big, static_cast<qsizetype>(bigWord(summed, 8)), summed.mid(16, 8), sum};
    }
    head.salt = salt;
    return head;
}

std::vector<Frame> readFrames(QByteArrayView log, const Head& head) {
    const qsizetype step = kFrameHeaderBytes + head.page_bytes;
    const qsizetype count = (log.size() - kLogHeaderBytes) / step;
    const auto at = [&](qsizetype frame) {
        return log.sliced(kLogHeaderBytes + frame * step, step);
    };
    qsizetype ours = 0; // behind the last frame of this log
    for (qsizetype i = count; i-- > 0 && ours == 0;) {
        ours = at(i).sliced(8, 8) == head.salt ? i + 1 : 0;
    }
    std::vector<Frame> frames;
    Sum sum = head.sum;
    for (qsizetype i = 0; i < count; ++i) {
        QByteArray summed = summedOf(at(i));
        Frame frame;
        frame.is_ours = at(i).sliced(8, 8) == head.salt;
        frame.state = examine(summed, sum, storedSum(at(i).sliced(16)), head.is_big,
                              i + 1 < ours ? at(i + 1) : QByteArrayView());
        if (i >= ours && frame.state != State::Plain) {
            break;
        }
        frame.page = bigWord(summed, 0);
        frame.commit = bigWord(summed, 4);
        frame.content = summed.sliced(kSummedFrameBytes);
        frames.push_back(std::move(frame));
    }
    return frames;
}

/// Behind the last change that is complete, looking at the first `count` frames.
size_t endOfChanges(const std::vector<Frame>& frames, size_t count) {
    while (count > 0 && frames[count - 1].commit == 0) {
        --count;
    }
    return count;
}

/// How many frames hold changes that were acknowledged, or may have been.
size_t acknowledged(const std::vector<Frame>& frames) {
    const auto broken = static_cast<size_t>(
        std::find_if(frames.begin(), frames.end(),
                     [](const Frame& frame) { return frame.state == State::Broken; }) -
        frames.begin());
    const size_t end = endOfChanges(frames, frames.size());
    if (broken >= end) {
        return end;
    }
    // Each change is on disk before the next one begins. So the last one may be what a power cut
    // tore; one that others stand behind was whole once.
    size_t change_end = broken + 1;
    while (change_end < end &&
           (frames[change_end - 1].commit == 0 || !frames[change_end - 1].is_ours)) {
        ++change_end;
    }
    return change_end < frames.size() ? end : endOfChanges(frames, broken);
}

} // namespace

StoreLog readStoreLog(QByteArrayView log) {
    StoreLog out;
    if (log.size() < kLogHeaderBytes + kFrameHeaderBytes + 512) {
        return out;
    }
    const Head head = readHead(log);
    if (head.salt.isEmpty()) {
        return out;
    }
    const std::vector<Frame> frames = readFrames(log, head);
    if (head.state == State::Broken) {
        // Only frames that follow from each other are believed without it.
        const bool is_log = std::any_of(frames.begin(), frames.end(),
                                        [](const Frame& frame) { return frame.isPlain(); });
        if (!is_log) {
            return out;
        }
    }
    const size_t end = acknowledged(frames);
    const auto odd =
        static_cast<size_t>(std::find_if(frames.begin(), frames.end(),
                                         [](const Frame& frame) { return !frame.isPlain(); }) -
                            frames.begin());
    out.is_damaged = end > 0 && (head.state != State::Plain || odd < end);
    out.page_bytes = end > 0 ? head.page_bytes : 0;
    const auto most_pages = static_cast<quint64>(1U) << 31U;
    for (size_t i = 0; i < end; ++i) {
        const Frame& frame = frames[i];
        if (frame.page != 0 && frame.page < most_pages) {
            out.pages.push_back({frame.page, frame.content,
                                 frame.state == State::Broken     ? LogPage::State::Broken
                                 : frame.state == State::Doubtful ? LogPage::State::Doubtful
                                                                  : LogPage::State::Whole});
        }
        if (frame.commit != 0 && frame.state <= State::Mended) {
            out.store_pages = frame.commit;
        }
    }
    return out;
}

} // namespace app
