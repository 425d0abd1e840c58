// SPDX-License-Identifier: Apache-2.0
#include "app/wiring.h"

#include <QMetaObject>

namespace app {

void connectWindow(ui::MainWindow& window, EngineThread& engine_thread) {
    EngineWorker* worker = engine_thread.worker();
    EngineThread* thread = &engine_thread;
    QObject::connect(&window, &ui::MainWindow::inspectRequested, worker,
                     [worker](const QString& model) { worker->inspect(model, {}); });
    // The stop token is made on the GUI side, before the request is queued.
    QObject::connect(&window, &ui::MainWindow::loadRequested, thread,
                     [worker, thread](const engine::LoadRequest& request) {
                         QMetaObject::invokeMethod(worker,
                                                   [worker, request, stop = thread->begin()] {
                                                       worker->load(request, stop);
                                                   });
                     });
    QObject::connect(&window, &ui::MainWindow::generateRequested, thread,
                     [worker, thread](const engine::GenerateRequest& request) {
                         QMetaObject::invokeMethod(worker,
                                                   [worker, request, stop = thread->begin()] {
                                                       worker->generate(request, stop);
                                                   });
                     });
    QObject::connect(&window, &ui::MainWindow::cancelRequested, thread, &EngineThread::cancel);
    QObject::connect(worker, &EngineWorker::snapshotChanged, &window,
                     &ui::MainWindow::showSnapshot);
    QObject::connect(worker, &EngineWorker::inspected, &window, &ui::MainWindow::showModel);
    QObject::connect(worker, &EngineWorker::inspectFailed, &window,
                     &ui::MainWindow::showModelError);
    QObject::connect(worker, &EngineWorker::loadFailed, &window, &ui::MainWindow::showError);
    QObject::connect(worker, &EngineWorker::replyUpdated, &window,
                     &ui::MainWindow::showReplyUpdate);
    QObject::connect(worker, &EngineWorker::replyFinished, &window, &ui::MainWindow::showReply);
    QObject::connect(worker, &EngineWorker::replyFailed, &window, &ui::MainWindow::showReplyError);
}

} // namespace app
