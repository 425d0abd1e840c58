// SPDX-License-Identifier: Apache-2.0
#include "app/cli/word_values.h"

#include "engine/api/device_id.h"
#include "engine/run/engine.h"

#include <charconv>
#include <sstream>

namespace cli {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

Error wrongUsage(const std::string& message) {
    return Error{ErrorCode::InvalidRequest, message, {{"usage", "belfry-cli --help"}}};
}

Result<int64_t>
toInteger(const std::string& option, const std::string& word, int64_t least, int64_t most) {
    int64_t value = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc() || end != word.data() + word.size() || value < least || value > most) {
        return wrongUsage(option + " " + word + ": expected a whole number from " +
                          std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
}

Result<double>
toNumber(const std::string& option, const std::string& word, double least, double most) {
    double value = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc() || end != word.data() + word.size() ||
        !(value >= least && value <= most)) {
        std::ostringstream text;
        text << option << " " << word << ": expected a number from " << least << " to " << most;
        return wrongUsage(text.str());
    }
    return value;
}

std::vector<std::string> pieces(const std::string& word) {
    std::vector<std::string> out;
    size_t begin = 0;
    for (size_t comma = word.find(','); comma != std::string::npos; comma = word.find(',', begin)) {
        out.push_back(word.substr(begin, comma - begin));
        begin = comma + 1;
    }
    out.push_back(word.substr(begin));
    return out;
}

Result<std::vector<int64_t>>
toIntegers(const std::string& option, const std::string& word, int64_t least, int64_t most) {
    std::vector<int64_t> values;
    if (word.empty()) {
        return wrongUsage(option + ": expected numbers separated by commas");
    }
    for (const std::string& piece : pieces(word)) {
        ENGINE_ASSIGN(const int64_t value, toInteger(option, piece, least, most));
        values.push_back(value);
    }
    return values;
}

Result<uint64_t> toBytes(const std::string& option, const std::string& word) {
    // Far more than a computer has, and so little that sums of sizes do not wrap.
    constexpr uint64_t kLargestSize = uint64_t{1} << 50U;
    const std::string found = word.empty() ? "a size is missing" : word;
    const auto bytes = engine::Engine::parseByteSize(word);
    if (!bytes.has_value() || *bytes == 0) {
        return wrongUsage(option + ": " + found + ": expected a size such as 8GiB or 512MiB");
    }
    if (*bytes > kLargestSize) {
        return wrongUsage(option + ": " + found +
                          " is more memory than there is: expected at most " +
                          std::to_string(kLargestSize >> 30U) + "GiB");
    }
    return *bytes;
}

Result<std::pair<std::string, uint64_t>> toLimit(const std::string& option,
                                                 const std::string& word) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
        return wrongUsage(option + " " + word + ": expected DEVICE=SIZE, for example cuda:0=8GiB");
    }
    const auto device = engine::DeviceId::parse(word.substr(0, equals));
    if (!device.has_value() || *device == engine::DeviceId::disk()) {
        return wrongUsage(option + " " + word + ": expected cpu, cuda:N or sim:N before the size");
    }
    ENGINE_ASSIGN(const uint64_t bytes, toBytes(option, word.substr(equals + 1)));
    return std::pair(word.substr(0, equals), bytes);
}

} // namespace cli
