// SPDX-License-Identifier: Apache-2.0
#include "app/store/save_file.h"

#include "engine/base/small_file.h"

#include <QFile>

#include <filesystem>
#include <span>
#include <system_error>

namespace app {

namespace {

std::filesystem::path pathOf(const QString& file) {
#ifdef Q_OS_WIN
    return file.toStdWString();
#else
    return QFile::encodeName(file).toStdString();
#endif
}

} // namespace

engine::Result<void>
saveFile(const QString& file, const QByteArray& content, engine::NoPlainFile no_plain_file) {
    ENGINE_ASSIGN(const auto writer, engine::FileWriter::create(pathOf(file), true, no_plain_file));
    ENGINE_TRY(writer->write(
        std::as_bytes(std::span(content.constData(), static_cast<size_t>(content.size())))));
    return writer->commit();
}

engine::Result<QByteArray> readFile(const QString& file, qint64 max_bytes) {
    ENGINE_ASSIGN(const std::string text,
                  engine::readSmallFile(pathOf(file), static_cast<size_t>(max_bytes)));
    return QByteArray::fromStdString(text);
}

bool isPlainOrMissing(const QString& file, qint64 max_bytes) {
    std::error_code failure;
    const std::filesystem::file_status status = std::filesystem::status(pathOf(file), failure);
    if (status.type() == std::filesystem::file_type::not_found) {
        return true;
    }
    return std::filesystem::is_regular_file(status) &&
           std::filesystem::file_size(pathOf(file), failure) <= static_cast<uintmax_t>(max_bytes) &&
           !failure;
}

} // namespace app
