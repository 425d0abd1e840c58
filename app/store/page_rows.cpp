// SPDX-License-Identifier: Apache-2.0
#include "app/store/page_rows.h"

#include <QtEndian>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace app {

namespace {

constexpr qsizetype kHeaderBytes = 100;
constexpr qsizetype kUsualPageBytes = 4096; ///< What SQLite takes unless told otherwise.
constexpr qint64 kMaxRowBytes = qint64{256} << 20U;

constexpr char kTableLeaf = 13, kIndexLeaf = 10, kIndexInterior = 2;

bool isOfRows(char type) {
    return type == kTableLeaf || type == kIndexLeaf || type == kIndexInterior;
}

struct Value {
    enum class Kind { Null = 1, Integer, Text, Other };
    Kind kind = Kind::Null;
    qint64 integer = 0;
    QByteArray text;
};

/// A variable-length integer at `at`, which is moved behind it; nothing at the end of the bytes.
std::optional<quint64> varint(QByteArrayView bytes, qsizetype& at) {
    quint64 value = 0;
    for (int i = 0; i < 9; ++i) {
        if (at >= bytes.size()) {
            return std::nullopt;
        }
        const auto byte = static_cast<unsigned char>(bytes.at(at++));
        if (i == 8) {
            return (value << 8U) | byte;
        }
        value = (value << 7U) | (byte & 0x7fU);
        if ((byte & 0x80U) == 0) {
            break;
        }
    }
    return value;
}

qint64 bytesOfType(quint64 type) {
    constexpr std::array<qint64, 12> kBytes = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return type < kBytes.size() ? kBytes.at(type)
                                : static_cast<qint64>(std::min<quint64>(
                                      (type - 12) / 2, static_cast<quint64>(kMaxRowBytes) + 1));
}

/// The columns of a record; empty where its bytes are none.
std::vector<Value> columnsOf(QByteArrayView record) {
    qsizetype at = 0;
    const auto head = varint(record, at);
    if (!head.has_value() || *head > static_cast<quint64>(record.size())) {
        return {};
    }
    const auto end = static_cast<qsizetype>(*head);
    qsizetype content = end;
    std::vector<Value> columns;
    while (at < end) {
        const auto type = varint(record.first(end), at);
        if (!type.has_value()) {
            return {};
        }
        const qint64 bytes = bytesOfType(*type);
        if (bytes > record.size() - content) {
            return {};
        }
        const QByteArrayView raw = record.sliced(content, bytes);
        content += bytes;
        Value value;
        if (*type >= 12) {
            value.kind = *type % 2 == 1 ? Value::Kind::Text : Value::Kind::Other;
            value.text = raw.toByteArray();
        } else if (*type != 0) {
            value.kind = *type == 7 ? Value::Kind::Other : Value::Kind::Integer;
            quint64 integer = *type == 9 ? 1 : 0;
            if (!raw.isEmpty() && static_cast<signed char>(raw.front()) < 0) {
                integer = ~quint64{0};
            }
            for (const char byte : raw) {
                integer = (integer << 8U) | static_cast<unsigned char>(byte);
            }
            value.integer = static_cast<qint64>(integer);
        }
        columns.push_back(std::move(value));
    }
    return content == record.size() ? columns : std::vector<Value>();
}

/// "i" an integer, "t" text, "n" an integer or nothing.
bool isOfShape(const std::vector<Value>& columns, std::string_view shape) {
    return std::equal(columns.begin(), columns.end(), shape.begin(), shape.end(),
                      [](const Value& value, char kind) {
                          const bool is_integer = value.kind == Value::Kind::Integer;
                          return kind == 't'   ? value.kind == Value::Kind::Text
                                 : kind == 'i' ? is_integer
                                               : is_integer || value.kind == Value::Kind::Null;
                      });
}

class RowReader {
public:
    explicit RowReader(const StoreImage& image) : image_(image) {}

    void readPage(QByteArrayView page, bool is_first, qsizetype age) {
        const qsizetype begin = is_first ? kHeaderBytes : 0;
        if (page.size() < begin + 12) {
            return;
        }
        const char type = page.at(begin);
        if (!isOfRows(type)) {
            return;
        }
        const qsizetype cells = qFromBigEndian<quint16>(page.data() + begin + 3);
        const qsizetype pointers = begin + (type == kIndexInterior ? 12 : 8);
        for (qsizetype i = 0; i < cells && pointers + 2 * i + 2 <= page.size(); ++i) {
            const qsizetype at = qFromBigEndian<quint16>(page.data() + pointers + 2 * i);
            if (at < page.size()) {
                readCell(page, at, type, age);
            }
        }
    }

    QHash<QString, ChatRows> takeRows() { return std::move(rows_); }

private:
    void readCell(QByteArrayView page, qsizetype at, char type, qsizetype age) {
        at += type == kIndexInterior ? 4 : 0;
        const auto bytes = varint(page, at);
        if (!bytes.has_value() || *bytes > static_cast<quint64>(kMaxRowBytes) ||
            (type == kTableLeaf && !varint(page, at).has_value())) {
            return;
        }
        const QByteArray record = payload(page, at, static_cast<qsizetype>(*bytes), type);
        const std::vector<Value> columns = columnsOf(record);
        if (columns.empty() || columns.front().kind != Value::Kind::Text ||
            columns.front().text.isEmpty()) {
            return;
        }
        const QString id = QString::fromUtf8(columns.front().text);
        if (type == kTableLeaf) {
            if (isOfShape(columns, "titt") && isNewer(id, columns[1].integer, -1, age)) {
                TurnRow& turn = rows_[id].turns[columns[1].integer];
                turn.folded = columns[2].text;
                turn.data = columns[3].text;
            }
        } else if (isOfShape(columns, "tttiiittn")) {
            if (isNewer(id, -1, -1, age)) {
                rows_[id].chat = {QString::fromUtf8(columns[1].text),
                                  columns[3].integer != 0,
                                  columns[8].integer > kEarliestDeletion,
                                  columns[4].integer,
                                  columns[5].integer,
                                  columns[7].text};
            }
        } else if (isOfShape(columns, "tiit") &&
                   isNewer(id, columns[1].integer, columns[2].integer, age)) {
            rows_[id].turns[columns[1].integer].versions[columns[2].integer] = columns[3].text;
        }
    }

    /// Notes who wrote a row; false where a later change did.
    bool isNewer(const QString& id, qint64 position, qint64 number, qsizetype age) {
        const auto [entry, is_new] = ages_.try_emplace({id, position, number}, age);
        const bool is_newer = is_new || entry->second < age;
        entry->second = std::max(entry->second, age);
        return is_newer;
    }

    /// The bytes of a row: those in its page, and those in pages of its own.
    QByteArray payload(QByteArrayView page, qsizetype at, qsizetype bytes, char type) const {
        const qsizetype usable = image_.page_bytes;
        const qsizetype most = type == kTableLeaf ? usable - 35 : (usable - 12) * 64 / 255 - 23;
        qsizetype local = bytes;
        if (bytes > most) {
            const qsizetype least = (usable - 12) * 32 / 255 - 23;
            const qsizetype fitting = least + (bytes - least) % (usable - 4);
            local = fitting <= most ? fitting : least;
        }
        if (local + (local < bytes ? 4 : 0) > page.size() - at) {
            return {};
        }
        QByteArray record = page.sliced(at, local).toByteArray();
        quint32 next = local < bytes ? qFromBigEndian<quint32>(page.data() + at + local) : 0;
        while (record.size() < bytes) {
            const qsizetype begin = (static_cast<qsizetype>(next) - 1) * usable;
            if (next < 2 || begin + usable > image_.bytes.size()) {
                return {};
            }
            const qsizetype part = std::min(usable - 4, bytes - record.size());
            record.append(image_.bytes.constData() + begin + 4, part);
            next = qFromBigEndian<quint32>(image_.bytes.constData() + begin);
        }
        return record;
    }

    const StoreImage& image_;
    QHash<QString, ChatRows> rows_;
    std::map<std::tuple<QString, qint64, qint64>, qsizetype> ages_;
};

bool hasRows(const LogPage& page) {
    const qsizetype at = page.number == 1 ? kHeaderBytes : 0;
    return page.bytes.size() > at && isOfRows(page.bytes.at(at));
}

/// What the header says, where that can be.
qsizetype pageBytesIn(const QByteArray& file) {
    const qsizetype bytes = file.size() < 18 ? 0 : qFromBigEndian<quint16>(file.constData() + 16);
    const bool is_possible = bytes >= 512 && (bytes & (bytes - 1)) == 0;
    return bytes == 1 ? 65536 : is_possible ? bytes : 0;
}

} // namespace

StoreImage makeStoreImage(QByteArray file, const StoreLog& log) {
    StoreImage image;
    image.bytes = std::move(file);
    image.is_log_damaged = log.is_damaged;
    image.page_bytes = log.page_bytes != 0 ? log.page_bytes : pageBytesIn(image.bytes);
    // A file that is cut keeps the pages of its log.
    if (image.page_bytes == 0 ||
        (log.page_bytes == 0 && image.bytes.size() % image.page_bytes != 0)) {
        image.page_bytes = kUsualPageBytes;
    }
    // A page number that damage made up must not make the image endless.
    const auto most =
        image.bytes.size() / image.page_bytes + static_cast<qsizetype>(log.pages.size()) + 1;
    qsizetype age = 0;
    for (const LogPage& page : log.pages) {
        ++age;
        const bool is_doubtful = page.state == LogPage::State::Doubtful;
        if (page.state == LogPage::State::Broken || (is_doubtful && hasRows(page))) {
            // What stood there before counts too: behind it where too much is wrong.
            image.odd.emplace_back(page, is_doubtful ? age : -1);
            continue;
        }
        if (page.number > most || page.bytes.size() != image.page_bytes) {
            continue;
        }
        const qsizetype begin = (static_cast<qsizetype>(page.number) - 1) * image.page_bytes;
        if (image.bytes.size() < begin + image.page_bytes) {
            image.bytes.append(begin + image.page_bytes - image.bytes.size(), '\0');
        }
        std::copy(page.bytes.begin(), page.bytes.end(), image.bytes.begin() + begin);
        image.ages.insert(page.number, age);
    }
    const qsizetype whole = log.store_pages * image.page_bytes;
    if (!log.is_damaged && whole > 0 && image.bytes.size() > whole) {
        image.bytes.truncate(whole);
    }
    return image;
}

void rebuildHeader(StoreImage& image) {
    if (image.bytes.size() < kHeaderBytes) {
        return;
    }
    char* header = image.bytes.data();
    const auto put = [header](qsizetype at, quint32 value) { qToBigEndian(value, header + at); };
    constexpr std::string_view kMagic("SQLite format 3\0", 16);
    std::copy(kMagic.begin(), kMagic.end(), header);
    qToBigEndian(static_cast<quint16>(image.page_bytes == 65536 ? 1 : image.page_bytes),
                 header + 16);
    put(18, 0x01010040);          // no log for writing and reading, nothing reserved, fraction
    header[22] = header[23] = 32; // fractions
    put(24, 1);                   // changes, the same as at 92: the size that follows counts
    put(28, static_cast<quint32>(image.bytes.size() / image.page_bytes));
    put(32, 0); // free pages: whoever only reads needs none
    put(36, 0);
    put(44, 4); // form of the schema
    put(48, 0);
    put(52, 0); // no automatic vacuum
    put(56, 1); // UTF-8
    put(64, 0);
    put(68, 0);
    std::fill(header + 72, header + 92, '\0');
    put(92, 1);
}

namespace {

QHash<QString, ChatRows> rowsOf(const StoreImage& image) {
    RowReader reader(image);
    for (qsizetype begin = 0; begin < image.bytes.size(); begin += image.page_bytes) {
        const auto number = static_cast<quint32>(begin / image.page_bytes + 1);
        const qsizetype bytes = std::min(image.page_bytes, image.bytes.size() - begin);
        reader.readPage(QByteArrayView(image.bytes).sliced(begin, bytes), number == 1,
                        image.ages.value(number));
    }
    for (const auto& [page, age] : image.odd) {
        reader.readPage(page.bytes, page.number == 1, age);
    }
    return reader.takeRows();
}

} // namespace

QHash<QString, ChatRows> readRows(const StoreImage& image) {
    QHash<QString, ChatRows> rows = rowsOf(image);
    if (image.page_bytes != kUsualPageBytes && image.ages.isEmpty()) {
        // The size stood in a header that may be what is damaged.
        StoreImage usual;
        usual.bytes = image.bytes;
        usual.page_bytes = kUsualPageBytes;
        QHash<QString, ChatRows> others = rowsOf(usual);
        if (others.size() > rows.size()) {
            return others;
        }
    }
    return rows;
}

} // namespace app
