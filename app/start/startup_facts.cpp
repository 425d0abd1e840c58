// SPDX-License-Identifier: Apache-2.0
#include "app/start/startup_facts.h"

#include "app/common/version.h"
#include "engine/run/engine.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSysInfo>
#include <QThread>

namespace app {

QStringList planMessages(const engine::PlacementPlan& plan) {
    QStringList lines;
    const auto add = [&lines](const char* kind, const engine::PlanIssue& issue) {
        lines << QStringLiteral("%1 %2: %3")
                     .arg(QString::fromLatin1(kind), QString::fromStdString(issue.code),
                          QString::fromStdString(engine::inEnglish(issue)));
    };
    for (const engine::PlanIssue& issue : plan.errors) {
        add("error", issue);
    }
    for (const engine::PlanIssue& issue : plan.warnings) {
        add("warning", issue);
    }
    for (const std::string& note : engine::inEnglish(plan.notes)) {
        lines << QStringLiteral("note: %1").arg(QString::fromStdString(note));
    }
    return lines;
}

StartupFacts readStartupFacts(const std::string& demo_folder,
                              const QString& data_folder,
                              const QString& cache_folder) {
    StartupFacts facts;
    ui::SystemFacts& system = facts.system;
    system.version = QString::fromStdString(version());
    system.commit = QString::fromStdString(commit());
    system.qt_version = QString::fromLatin1(qVersion());
    system.system =
        QStringLiteral("%1, %2 %3")
            .arg(QSysInfo::prettyProductName(), QSysInfo::kernelType(), QSysInfo::kernelVersion());
    const engine::ComputerFacts computer = engine::examineComputer({}); // no card is asked
    system.processor = QString::fromStdString(computer.processor);
    if (system.processor.isEmpty()) {
        system.processor = QSysInfo::currentCpuArchitecture();
    }
    system.memory_bytes = computer.memory_total;
    system.kernels = QString::fromStdString(engine::Engine::processorKernels());
    system.threads = QThread::idealThreadCount();
    system.home = QDir::homePath();
    system.data_folder = data_folder;
    system.cache_folder = cache_folder;
    system.plan_messages = planMessages;

    const QDir samples(QString::fromStdString(demo_folder) + QStringLiteral("/samples"));
    QFile file(samples.filePath(QStringLiteral("samples.json")));
    if (demo_folder.empty() || !file.open(QIODevice::ReadOnly)) {
        return facts;
    }
    const QJsonArray questions = QJsonDocument::fromJson(file.readAll())
                                     .object()
                                     .value(QStringLiteral("questions"))
                                     .toArray();
    for (const auto& value : questions) {
        const QJsonObject entry = value.toObject();
        const auto path = [&](const QString& key) {
            const QString name = entry.value(key).toString();
            return name.isEmpty() ? QString() : samples.absoluteFilePath(name);
        };
        ui::Sample sample;
        sample.title = entry.value(QStringLiteral("title")).toString();
        sample.question = entry.value(QStringLiteral("question")).toString();
        sample.image = path(QStringLiteral("image"));
        sample.audio = path(QStringLiteral("audio"));
        QImage thumbnail;
        if (!sample.image.isEmpty()) {
            thumbnail.load(sample.image);
            thumbnail = thumbnail.scaled(128, 128, Qt::KeepAspectRatioByExpanding,
                                         Qt::SmoothTransformation);
        }
        facts.samples.push_back(sample);
        facts.thumbnails.push_back(thumbnail);
    }
    return facts;
}

} // namespace app
