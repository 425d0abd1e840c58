// SPDX-License-Identifier: Apache-2.0
// The one filter for text that a terminal may show. Names out of a model folder, file names and
// replies can hold control codes, which a terminal obeys: they change its title, hide lines, answer
// as if typed. Also marks that turn the direction of text, with which a name looks like another.
#pragma once

#include <string>
#include <string_view>

namespace app {

/// Text in pieces of any size, given on with a '?' for each C0 code (but line break and tab), DEL,
/// C1 code, mark of direction and byte that is no UTF-8. A character that is cut by the end of a
/// piece waits for the next.
class TerminalFilter {
public:
    [[nodiscard]] std::string pass(std::string_view text);
    /// '?' for what still waits.
    [[nodiscard]] std::string finish();

private:
    std::string waiting_;
};

/// A whole text at once.
[[nodiscard]] std::string terminalText(std::string_view text);

} // namespace app
