// SPDX-License-Identifier: Apache-2.0
// The largest of the errors that a test program measures, printed at its end: what
// tests/support/tolerances.md says beside the bound.
#pragma once

#include <QTest>

#include <string>

namespace support {

class WorstError {
public:
    /// Adds an error of the data row that runs now, or of a case of it. Returns `error`.
    double add(double error, const std::string& of_case = {}) {
        ++count_;
        if (!(error <= error_)) { // NaN is worse than anything
            error_ = error;
            where_ = std::string(QTest::currentDataTag() != nullptr ? QTest::currentDataTag()
                                                                    : QTest::currentTestFunction());
            where_ += of_case.empty() ? "" : ", " + of_case;
        }
        return error;
    }
    void print(const char* what) const {
        qInfo("%s: largest of %d errors %.1e%s%s%s", what, count_, error_ > 0.0 ? error_ : 0.0,
              error_ > 0.0 ? " (" : "", error_ > 0.0 ? where_.c_str() : "",
              error_ > 0.0 ? ")" : "");
    }

private:
    double error_ = -1.0;
    int count_ = 0;
    std::string where_;
};

} // namespace support
