// SPDX-License-Identifier: Apache-2.0
// A program run to its end, and what it said.
#pragma once

#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QString>
#include <QStringList>

namespace support {

struct ProgramOutcome {
    int code = -1; ///< -1 where the program did not end in time.
    QString out, err;

    [[nodiscard]] QString text() const { return out + err; }
    /// What it printed, as JSON.
    [[nodiscard]] QJsonObject json() const {
        return QJsonDocument::fromJson(out.toUtf8()).object();
    }
};

/// Waits until the started program ends, `ms` milliseconds at most.
inline ProgramOutcome outcomeOf(QProcess& process, int ms = 120'000) {
    ProgramOutcome outcome;
    if (process.waitForFinished(ms)) {
        outcome.code = process.exitCode();
        outcome.out = QString::fromUtf8(process.readAllStandardOutput());
        outcome.err = QString::fromUtf8(process.readAllStandardError());
    }
    return outcome;
}

/// Runs a program to which somebody types `typed`.
inline ProgramOutcome
runProgram(const QString& program, const QStringList& words, const QByteArray& typed = {}) {
    QProcess process;
    process.start(program, words);
    process.write(typed);
    process.closeWriteChannel();
    return outcomeOf(process);
}

/// The same of belfry-cli.
inline ProgramOutcome runCli(const QStringList& words, const QByteArray& typed = {}) {
    return runProgram(qEnvironmentVariable("BELFRY_CLI"), words, typed);
}

} // namespace support
