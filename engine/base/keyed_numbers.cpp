// SPDX-License-Identifier: Apache-2.0
#include "engine/base/keyed_numbers.h"

#include "engine/base/file_writer.h"
#include "engine/base/small_file.h"

#include <limits>
#include <locale>
#include <span>
#include <sstream>
#include <system_error>

namespace engine {

namespace {

constexpr size_t kMaxFileBytes = 16384;
constexpr size_t kMaxEntries = 32; ///< Beyond these, the oldest entries go.

} // namespace

KeyedNumbers::Entries KeyedNumbers::entries() const {
    Entries entries;
    const auto text = readSmallFile(file_, kMaxFileBytes);
    std::istringstream in(text ? *text : std::string());
    in.imbue(std::locale::classic());
    std::string line;
    if (!std::getline(in, line) || line != first_line_) {
        return entries;
    }
    Pair numbers{};
    while (std::getline(in, line) && in >> numbers[0] >> numbers[1]) {
        if (is_likely_(numbers)) {
            entries.emplace_back(line, numbers);
        }
        std::getline(in, line); // the end of the numbers' line
    }
    return entries;
}

std::optional<KeyedNumbers::Pair> KeyedNumbers::of(const std::string& key) const {
    for (const auto& [known, numbers] : entries()) {
        if (known == key) {
            return numbers;
        }
    }
    return std::nullopt;
}

void KeyedNumbers::keep(const std::string& key, const std::optional<Pair>& numbers) const {
    if (file_.empty() || key.find('\n') != std::string::npos) {
        return;
    }
    Entries all = entries();
    std::erase_if(all, [&key](const auto& entry) { return entry.first == key; });
    if (numbers.has_value()) {
        all.emplace_back(key, *numbers);
    }
    if (all.size() > kMaxEntries) {
        all.erase(all.begin(), all.end() - static_cast<ptrdiff_t>(kMaxEntries));
    }
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out.precision(std::numeric_limits<double>::max_digits10);
    out << first_line_ << "\n";
    for (const auto& [known, pair] : all) {
        out << known << "\n" << pair[0] << " " << pair[1] << "\n";
    }
    const std::string text = out.str();
    std::error_code failure;
    std::filesystem::create_directories(file_.parent_path(), failure);
    auto writer = FileWriter::create(file_, true);
    if (writer.has_value() && (*writer)->write(std::as_bytes(std::span(text))).has_value()) {
        (*writer)->makePrivate();
        static_cast<void>((*writer)->commit(/*is_flushing=*/false));
    }
}

} // namespace engine
