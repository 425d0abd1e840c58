// SPDX-License-Identifier: Apache-2.0
// The report that a user can copy into a bug report, and the dialog that shows it beside the log.
// The report holds versions, devices, plan and ledger; never prompts, replies or attachments, and
// the home folder is written as "~".
#pragma once

#include "ui/model/session.h"

#include <QDialog>
#include <QStringList>

#include <functional>

namespace ui {

class LogBuffer;

/// Facts about program and computer, collected by app/ at start.
struct SystemFacts {
    QString version, commit, qt_version, system, processor, kernels;
    int threads = 0;
    quint64 memory_bytes = 0;
    QString home; ///< Replaced by "~" in the report.
    QString data_folder, cache_folder;
    /// What the engine says of a plan, in English, a line each.
    std::function<QStringList(const engine::PlacementPlan& plan)> plan_messages;
};

/// Plain text in English whatever the language of the window: it is read by developers.
QString diagnosticsReport(const SystemFacts& facts, const Session& session, const QString& log);

class DiagnosticsDialog : public QDialog {
    Q_OBJECT

public:
    DiagnosticsDialog(const SystemFacts& facts,
                      const Session* session,
                      LogBuffer* log,
                      QWidget* parent);
};

} // namespace ui
