// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/diagnostics.h"

#include "ui/dialogs/log_buffer.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLabel>
#include <QListView>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

namespace ui {

namespace {

QString mib(uint64_t bytes) {
    return QString::number(static_cast<double>(bytes) / (1024.0 * 1024.0), 'f', 1) +
           QStringLiteral(" MiB");
}

QString parts(const engine::PartBytes& bytes) {
    QStringList out;
    for (const engine::MemoryPart part : engine::kMemoryParts) {
        out.append(QStringLiteral("%1 %2").arg(QString::fromLatin1(engine::memoryPartName(part)),
                                               mib(bytes[part])));
    }
    return out.join(QStringLiteral(", "));
}

QString planText(const engine::PlacementPlan& plan) {
    QString text = QStringLiteral("plan: %1, context %2\n")
                       .arg(plan.fits ? QStringLiteral("fits") : QStringLiteral("does not fit"))
                       .arg(plan.context);
    for (const engine::DevicePlan& device : plan.devices) {
        text += QStringLiteral("  %1 (%2): capacity %3, free %4, limit %5, predicted %6 (%7)\n")
                    .arg(fromUtf8(device.id.toString()), fromUtf8(device.description),
                         mib(device.capacity), mib(device.free), mib(device.limit),
                         mib(device.parts.total()), parts(device.parts));
    }
    for (const engine::ModulePlacement& module : plan.modules) {
        text +=
            QStringLiteral("  %1: store %2, compute %3%4, %5\n")
                .arg(fromUtf8(module.name), fromUtf8(module.store.toString()),
                     fromUtf8(module.compute.toString()),
                     module.is_mixed ? QStringLiteral(" (mixed)") : QString(), mib(module.bytes));
    }
    return text;
}

} // namespace

QString diagnosticsReport(const SystemFacts& facts, const Session& session, const QString& log) {
    QString text = QStringLiteral("Belfry %1, Qt %2\nsystem: %3\nprocessor: %4, %5 threads, "
                                  "kernels %6\nmemory: %7\n")
                       .arg(facts.commit.isEmpty()
                                ? facts.version
                                : QStringLiteral("%1 (commit %2)").arg(facts.version, facts.commit),
                            facts.qt_version, facts.system, facts.processor)
                       .arg(facts.threads)
                       .arg(facts.kernels, mib(facts.memory_bytes));
    if (const auto& summary = session.summary()) {
        text += QStringLiteral("model: %1, %2 %3, %4 parameters, %5, %6, quantization %7\n")
                    .arg(session.modelName(), fromUtf8(summary->architecture),
                         fromUtf8(summary->variant))
                    .arg(summary->parameters)
                    .arg(fromUtf8(summary->dtype), mib(summary->bytes),
                         fromUtf8(summary->quantization));
    } else if (const engine::Error* error = session.modelError()) {
        text +=
            QStringLiteral("model: %1: %2\n").arg(session.modelName(), fromUtf8(error->message));
    } else {
        text += QStringLiteral("model: none\n");
    }
    const engine::LoadRequest request = session.request();
    text += QStringLiteral("options: quant %1, head %2, context %3, threads %4\n")
                .arg(fromUtf8(request.quant), fromUtf8(request.head))
                .arg(request.context)
                .arg(request.threads);
    text += QStringLiteral("map: %1\n").arg(fromUtf8(request.device_map));
    for (const engine::AdapterChoice& adapter : session.adapters()) {
        text += QStringLiteral("adapter: %1, strength %2, %3\n")
                    .arg(QFileInfo(fromUtf8(adapter.folder)).fileName())
                    .arg(adapter.strength)
                    .arg(adapter.is_enabled ? QStringLiteral("on") : QStringLiteral("off"));
    }
    if (const auto& snapshot = session.snapshot()) {
        if (snapshot->plan != nullptr) {
            text += planText(*snapshot->plan);
            const QStringList said =
                facts.plan_messages ? facts.plan_messages(*snapshot->plan) : QStringList();
            for (const QString& line : said) {
                text += QStringLiteral("  %1\n").arg(line);
            }
        }
        text += QStringLiteral("ledger:\n");
        for (const engine::DeviceMemory& device : snapshot->memory) {
            text += QStringLiteral("  %1: measured %2 (%3), predicted %4\n")
                        .arg(fromUtf8(device.id.toString()), mib(device.measured.total()),
                             parts(device.measured), mib(device.predicted.total()));
        }
    }
    text += QStringLiteral("log:\n") + log;
    if (!facts.home.isEmpty()) {
        text.replace(facts.home, QStringLiteral("~"));
    }
    return text;
}

DiagnosticsDialog::DiagnosticsDialog(const SystemFacts& facts,
                                     const Session* session,
                                     LogBuffer* log,
                                     QWidget* parent)
    : QDialog(parent) {
    setObjectName(QStringLiteral("diagnosticsDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Log and report"));
    resize(760, 560);
    auto* column = columnIn(this, {16, 16, 16, 16});
    auto* intro =
        new QLabel(tr("For a bug report: versions, devices, plan, measured memory and the "
                      "log. Prompts, replies and attachments are never part of it."),
                   this);
    intro->setWordWrap(true);
    setTextRole(intro, TextRole::Muted);
    column->addWidget(intro);
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    splitter->setHandleWidth(Theme::kGap);
    auto* report = named("reportText", new QPlainTextEdit(splitter));
    report->setAccessibleName(tr("Report"));
    report->setReadOnly(true);
    report->setTabChangesFocus(true);
    report->setLineWrapMode(QPlainTextEdit::NoWrap);
    report->setFont(codeFont(90));
    report->setPlainText(diagnosticsReport(facts, *session, QString()));
    auto* view = named("logView", new QListView(splitter));
    view->setAccessibleName(tr("Log"));
    view->setModel(log);
    view->setFont(codeFont(90));
    view->setUniformItemSizes(true);
    view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    view->scrollToBottom();
    column->addWidget(splitter, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)->setText(tr("Close"));
    QPushButton* copy = buttons->addButton(tr("Copy report"), QDialogButtonBox::ActionRole);
    copy->setObjectName(QStringLiteral("copyReport"));
    copy->setIcon(icon(QStringLiteral("copy")));
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(copy, &QPushButton::clicked, this, [facts, session, log] {
        QGuiApplication::clipboard()->setText(diagnosticsReport(facts, *session, log->text()));
    });
}

} // namespace ui
