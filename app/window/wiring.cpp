// SPDX-License-Identifier: Apache-2.0
#include "app/window/wiring.h"

#include "app/start/log_bridge.h"
#include "app/window/load_json.h"
#include "app/window/sound_files.h"
#include "engine/api/model_address.h"
#include "ui/chat/chat_json.h"
#include "ui/chat/chat_view.h"
#include "ui/common/error_words.h"
#include "ui/common/shortcuts.h"
#include "ui/compare/compare_pane.h"
#include "ui/history/history_pane.h"
#include "ui/model/model_panel.h"
#include "ui/model/profile_menu.h"
#include "ui/model/recent_models.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/window/notice_strip.h"

#include <QDir>
#include <QFileInfo>
#include <QMetaObject>

#include <utility>

namespace app {

namespace {

/// Whose options are remembered: a folder with maps of its own takes some KiB.
constexpr qsizetype kMostModels = 64;

} // namespace

Wiring::Wiring(ui::MainWindow* window,
               EngineThread* engine,
               PlannerThread* planner,
               ChatStore* store,
               const SettingsStore* settings,
               QObject* parent)
    : QObject(parent), window_(window), engine_(engine), planner_(planner), store_(store),
      settings_(settings) {
    connectEngine();
    connectLayout(*window_->layoutView(), *planner_, *engine_->worker());
    connectLoadForm(*window_, *planner_);
    connectFit(*window_->fitPage(), *planner_);
    connectRecent();
    connectReplies();
    connectMedia();
    connectCompare();
    if (store_ != nullptr) {
        connectHistory();
        connectStore();
    }
    connect(window_, &ui::MainWindow::newChatRequested, this, &Wiring::newChat);
    connect(window_, &ui::MainWindow::closing, this, &Wiring::finishSession);
    // Before the program closes its window.
    connect(window_, &ui::MainWindow::restartRequested, this,
            [this] { session_state_.resumes = true; });
    if (settings_ != nullptr) {
        connect(window_, &ui::MainWindow::settingsEdited, this,
                [this](const ui::Settings& values) { settings_->write(values); });
        ui::ProfileMenu* profiles = window_->modelPanel()->profileMenu();
        profiles->setProfiles(settings_->readProfiles());
        connect(profiles, &ui::ProfileMenu::profilesEdited, this,
                [this](const ui::LoadProfiles& values) { settings_->writeProfiles(values); });
        model_options_ = settings_->readModelOptions();
        window_->session()->setRemembered(model_options_);
        connect(window_->session(), &ui::Session::optionsRemembered, this,
                [this](const QString& folder, const engine::LoadRequest& options) {
                    if (model_options_.size() >= kMostModels && !model_options_.contains(folder)) {
                        model_options_.erase(model_options_.begin());
                    }
                    model_options_.insert(folder, options);
                    settings_->writeModelOptions(model_options_);
                });
        ui::ChatView* chat_view = window_->chatView();
        chat_view->setSettings(settings_->readChat());
        connect(chat_view, &ui::ChatView::settingsChanged, this,
                [this](const ui::ChatSettings& values) { settings_->writeChat(values); });
    }
}

void Wiring::connectEngine() {
    EngineWorker* worker = engine_->worker();
    ui::Session* session = window_->session();
    connect(session, &ui::Session::inspectRequested, worker, &EngineWorker::inspect);
    connect(session, &ui::Session::unloadRequested, worker, &EngineWorker::unload);
    // Stop tokens are made on the GUI side, before the request is queued.
    connect(session, &ui::Session::loadRequested, this, [this, worker](auto request) {
        qCInfo(logEngine).noquote() << "load" << QFileInfo(ui::fromUtf8(request.model)).fileName()
                                    << "quant" << ui::fromUtf8(request.quant);
        session_state_.loading = ui::fromUtf8(request.model);
        saveSession(false);
        QMetaObject::invokeMethod(
            worker, [worker, request, stop = engine_->begin()] { worker->load(request, stop); });
    });
    connect(session, &ui::Session::applyMapRequested, this, [this, worker](const QString& map) {
        qCInfo(logEngine) << "apply a layout";
        QMetaObject::invokeMethod(
            worker, [worker, map, stop = engine_->begin()] { worker->applyMap(map, stop); });
    });
    connect(session, &ui::Session::adaptersRequested, worker,
            [worker](const std::vector<engine::AdapterChoice>& adapters) {
                // Not begin(): a reply that runs keeps its own way to be stopped.
                worker->setAdapters(adapters, {});
            });
    connect(session, &ui::Session::adaptersRequested, window_->chatView(),
            &ui::ChatView::showAdaptersPending);
    connect(session, &ui::Session::effectRequested, this, [this, worker](const QString& folder) {
        QMetaObject::invokeMethod(worker, [worker, folder, stop = engine_->begin()] {
            worker->measureEffect(folder, stop);
        });
    });
    connect(worker, &EngineWorker::effectMeasured, session, &ui::Session::showEffect);
    connect(worker, &EngineWorker::effectFailed, session, &ui::Session::showEffectError);
    connect(session, &ui::Session::cancelRequested, engine_, &EngineThread::cancel);

    connect(worker, &EngineWorker::snapshotChanged, session, &ui::Session::showSnapshot);
    connect(worker, &EngineWorker::inspected, session, &ui::Session::showModel);
    connect(worker, &EngineWorker::inspectFailed, session, &ui::Session::showModelError);
    connect(worker, &EngineWorker::loaded, session, &ui::Session::showLoaded);
    connect(worker, &EngineWorker::loadFailed, session, &ui::Session::showLoadError);
    connect(worker, &EngineWorker::mapApplied, session, &ui::Session::showMapApplied);
    connect(worker, &EngineWorker::mapFailed, session, &ui::Session::showMapError);
    connect(worker, &EngineWorker::adaptersChanged, session, &ui::Session::showAdaptersChanged);
    connect(worker, &EngineWorker::adaptersFailed, session, &ui::Session::showAdaptersError);

    connect(worker, &EngineWorker::loaded, this, [this, session] {
        qCInfo(logEngine) << "loaded in" << session->loadSeconds() << "s";
        session_state_.loaded = session_state_.loading;
        session_state_.loading.clear();
        session_state_.options = loadOptionsToJson(session->restartRequest());
        saveSession(false);
    });
    for (const auto done : {&EngineWorker::mapApplied, &EngineWorker::adaptersChanged}) {
        connect(worker, done, this, [this, session] {
            session_state_.options = loadOptionsToJson(session->restartRequest());
            saveSession(false);
        });
    }
    connect(worker, &EngineWorker::loadFailed, this, [this](const engine::Error& error) {
        qCWarning(logEngine).noquote() << "load failed:" << ui::fromUtf8(error.message);
        session_state_.loading.clear();
        saveSession(false);
    });
    const auto log_failure = [](const char* what) {
        return [what](const engine::Error& error) {
            qCWarning(logEngine).noquote() << what << "failed:" << ui::fromUtf8(error.message);
        };
    };
    connect(worker, &EngineWorker::endedAtRest, this, [this](const engine::Error& why) {
        qCWarning(logEngine).noquote() << "ended at rest:" << ui::fromUtf8(why.message);
        window_->notice()->showNotice(
            tr("The engine ended and was started again"),
            tr("The model is loaded again, to the same places. The chat is as it was.") +
                QLatin1Char('\n') + ui::errorSentence(why));
    });
    connect(worker, &EngineWorker::mapFailed, this, log_failure("layout"));
    connect(worker, &EngineWorker::adaptersFailed, this, log_failure("adapters"));
}

void Wiring::connectRecent() {
    ui::RecentModels* recent = window_->recentModels();
    PlannerWorker* files = planner_->worker();
    connect(recent, &ui::RecentModels::checkRequested, files, &PlannerWorker::checkFolders);
    connect(files, &PlannerWorker::foldersChecked, recent, &ui::RecentModels::showFacts);
    recent->check(); // the list was filled before anybody could answer
}

void Wiring::connectReplies() {
    EngineWorker* worker = engine_->worker();
    ui::ChatView* chat = window_->chatView();
    ui::Session* session = window_->session();
    const auto generate = [this, worker](const engine::GenerateRequest& request) {
        QMetaObject::invokeMethod(worker, [worker, request, stop = engine_->begin()] {
            worker->generate(request, stop);
        });
    };
    if (store_ != nullptr) {
        gate_ = new TurnGate(store_, this);
        connect(chat, &ui::ChatView::generateRequested, gate_, &TurnGate::generate);
        connect(gate_, &TurnGate::released, this, generate);
        connect(gate_, &TurnGate::dropped, this,
                [chat, session](quint64 id, const engine::Reply& reply) {
                    chat->showReply(id, reply);
                    session->showReplyDone();
                });
        connect(chat, &ui::ChatView::cancelRequested, gate_, &TurnGate::cancel);
        connect(worker, &EngineWorker::replyUpdated, gate_, &TurnGate::update);
        connect(chat, &ui::ChatView::turnFinished, gate_, &TurnGate::save);
        connect(chat, &ui::ChatView::chatChanged, gate_, &TurnGate::save);
    } else {
        connect(chat, &ui::ChatView::generateRequested, this, generate);
    }
    connect(chat, &ui::ChatView::cancelRequested, engine_, &EngineThread::cancel);
    connect(worker, &EngineWorker::replyUpdated, chat, &ui::ChatView::showReplyUpdate);
    connect(worker, &EngineWorker::replyFinished, chat, &ui::ChatView::showReply);
    connect(worker, &EngineWorker::replyFailed, chat, &ui::ChatView::showReplyError);
    connect(worker, &EngineWorker::replyFinished, session, &ui::Session::showReplyDone);
    connect(worker, &EngineWorker::replyFailed, session, &ui::Session::showReplyDone);
    connect(
        worker, &EngineWorker::replyFailed, session,
        [session](quint64 /*id*/, const engine::Error& error) { session->showDeviceError(error); });
    connect(worker, &EngineWorker::replyFinished, this,
            [](quint64 /*id*/, const engine::Reply& reply) {
                // Figures only: nothing of what was said.
                qCInfo(logEngine).noquote()
                    << "reply:" << ui::fromUtf8(reply.finish_reason) << reply.timing.prefill_tokens
                    << "tokens read," << reply.timing.decode_tokens << "written in"
                    << reply.timing.decode_s << "s";
            });
    connect(
        worker, &EngineWorker::replyFailed, this, [](quint64 /*id*/, const engine::Error& error) {
            qCWarning(logEngine).noquote()
                << "reply failed:" << QString::fromLatin1(engine::errorCodeName(error.code).data());
        });
}

void Wiring::connectMedia() {
    EngineWorker* worker = engine_->worker();
    ui::ChatView* chat = window_->chatView();
    chat->setSoundDecoder(std::make_shared<const SoundFiles>());
    connect(chat, &ui::ChatView::mediaCostRequested, this,
            [this, worker](const engine::MessagePart& part, qint64 tokens) {
                const quint64 ticket = next_ticket_++;
                cost_files_[ticket] = ui::fromUtf8(part.text);
                QMetaObject::invokeMethod(worker, [worker, part, tokens, ticket] {
                    worker->measureCost(part, tokens, ticket);
                });
            });
    connect(worker, &EngineWorker::costMeasured, this,
            [this, chat](quint64 ticket, const engine::MediaCost& cost) {
                if (const auto found = cost_files_.extract(ticket)) {
                    chat->showMediaCost(found.mapped(), cost);
                }
            });
    connect(worker, &EngineWorker::costFailed, this,
            [this, chat](quint64 ticket, const engine::Error& error) {
                if (const auto found = cost_files_.extract(ticket)) {
                    chat->showMediaError(found.mapped(), error);
                }
            });
    connect(chat, &ui::ChatView::encodeAheadRequested, this,
            [this, worker](const engine::MessagePart& part, qint64 tokens) {
                QMetaObject::invokeMethod(worker,
                                          [worker, part, tokens, stop = engine_->beginAhead(part)] {
                                              worker->encodeAhead(part, tokens, stop);
                                          });
            });
    connect(chat, &ui::ChatView::encodeAheadCancelled, engine_, &EngineThread::cancelAhead);
}

void Wiring::connectCompare() {
    EngineWorker* worker = engine_->worker();
    ui::ComparePane* pane = window_->comparePane();
    ui::Session* session = window_->session();
    connect(
        pane, &ui::ComparePane::compareRequested, this,
        [this, worker, session](quint64 id, const engine::GenerateRequest& request,
                                const std::vector<std::vector<engine::AdapterChoice>>& adapter_sets,
                                const std::vector<engine::LoadRequest>& loads) {
            session->noteGenerating();
            QMetaObject::invokeMethod(
                worker, [worker, id, request, adapter_sets, loads, stop = engine_->begin()] {
                    worker->compare(id, request, adapter_sets, stop, loads);
                });
        });
    connect(pane, &ui::ComparePane::cancelRequested, engine_, &EngineThread::cancel);
    connect(worker, &EngineWorker::compareStarted, pane, &ui::ComparePane::showStarted);
    connect(worker, &EngineWorker::compareLoading, pane, &ui::ComparePane::showLoading);
    connect(worker, &EngineWorker::compareUpdated, pane, &ui::ComparePane::showUpdate);
    connect(worker, &EngineWorker::compareReplied, pane, &ui::ComparePane::showReply);
    connect(worker, &EngineWorker::compareFailed, pane, &ui::ComparePane::showError);
    connect(worker, &EngineWorker::compareFinished, pane, &ui::ComparePane::showFinished);
    connect(worker, &EngineWorker::compareFailed, session,
            [session](quint64 /*id*/, int /*column*/, const engine::Error& error) {
                session->showDeviceError(error);
            });
    connect(worker, &EngineWorker::compareFinished, session, &ui::Session::showReplyDone);
}

void Wiring::connectHistory() {
    ui::HistoryPane* history = window_->historyPane();
    connect(history, &ui::HistoryPane::chatChosen, this,
            [this](const QString& id, const QString& found) {
                found_ = {id, found};
                openChat(id);
            });
    connect(history, &ui::HistoryPane::searchRequested, store_, &ChatStore::list);
    connect(history, &ui::HistoryPane::renameRequested, store_, &ChatStore::rename);
    connect(history, &ui::HistoryPane::removeRequested, store_, &ChatStore::remove);
    connect(history, &ui::HistoryPane::restoreRequested, store_, &ChatStore::restore);
    connect(history, &ui::HistoryPane::pinRequested, store_, &ChatStore::pin);
    connect(history, &ui::HistoryPane::copyRequested, store_, &ChatStore::copy);
    connect(store_, &ChatStore::copied, this, [this](const QString& id) {
        if (!window_->chatView()->isGenerating()) {
            openChat(id); // which would end the reply
        }
    });
    connect(history, &ui::HistoryPane::exportRequested, store_, &ChatStore::exportChat);
    connect(history, &ui::HistoryPane::retryRequested, store_, &ChatStore::retry);
    connect(store_, &ChatStore::listed, history, &ui::HistoryPane::showChats);
    connect(history, &ui::HistoryPane::renameRequested, window_->chatView(),
            [this](const QString& id, const QString& title) {
                if (window_->chatView()->chat().id == id) {
                    window_->chatView()->setChatTitle(title);
                }
            });
    connect(history, &ui::HistoryPane::removeRequested, this, [this](const QString& id) {
        if (window_->chatView()->chat().id == id) {
            newChat();
        }
        removed_draft_ = window_->chatView()->takeDraft(id); // comes back with the chat
    });
    connect(history, &ui::HistoryPane::restoreRequested, this, [this](const QString& id) {
        if (!removed_draft_.isEmpty()) {
            window_->chatView()->addDrafts({{id, std::exchange(removed_draft_, {})}});
        }
    });
    const auto failed = [this](const QString& /*id*/, const QString& why) {
        window_->notice()->showNotice(tr("The change was not kept"), why,
                                      ui::NoticeStrip::Kind::Error);
    };
    connect(store_, &ChatStore::changeFailed, this, failed);
    connect(store_, &ChatStore::exported, this, [this](const QString& file) {
        window_->notice()->showPassing(tr("Exported"), QDir::toNativeSeparators(file));
    });
    connect(history, &ui::HistoryPane::importRequested, store_, &ChatStore::importChat);
    connect(store_, &ChatStore::imported, this, [this](const QString& file, const QString& id) {
        window_->notice()->showPassing(tr("Imported"), QDir::toNativeSeparators(file));
        openChat(id);
    });
    connect(store_, &ChatStore::importFailed, this,
            [this](const QString& /*file*/, const QString& why) {
                window_->notice()->showNotice(tr("The chat was not imported"), why,
                                              ui::NoticeStrip::Kind::Error);
            });
    connect(store_, &ChatStore::exportFailed, this,
            [this](const QString& file, const QString& why) {
                window_->notice()->showNotice(
                    tr("%1 was not written").arg(QDir::toNativeSeparators(file)), why,
                    ui::NoticeStrip::Kind::Error);
            });
}

void Wiring::connectStore() {
    ui::ChatView* chat = window_->chatView();
    connect(store_, &ChatStore::sessionRead, this, &Wiring::showPrevious);
    connect(chat, &ui::ChatView::draftsChanged, this, [this] {
        if (!session_state_.is_over) {
            saveSession(false);
        }
    });
    connect(store_, &ChatStore::loaded, this, [this, chat](const ui::ChatDocument& document) {
        chat->setChat(document);
        window_->historyPane()->setCurrentChat(document.id);
        window_->setComparing(false);
        session_state_.chat = document.id;
        saveSession(false);
        window_->refreshEmptyState();
        if (const auto [id, words] = std::exchange(found_, {});
            id == document.id && !words.isEmpty()) {
            chat->showFound(words);
        }
    });
    connect(store_, &ChatStore::loadFailed, this,
            [this](const QString& /*id*/, const QString& why) {
                window_->notice()->showNotice(tr("The chat could not be opened"), why,
                                              ui::NoticeStrip::Kind::Error);
            });
    connect(store_, &ChatStore::attachmentsStored, chat, &ui::ChatView::showAttachmentsStored);
    connect(store_, &ChatStore::saved, chat,
            [chat](const QString& id, quint64 /*serial*/) { chat->showSaved(id); });
    connect(store_, &ChatStore::saveFailed, chat,
            [chat](const QString& id, quint64 /*serial*/, const QString& why) {
                chat->showSaveError(id, why);
            });
    connect(store_, &ChatStore::problemChanged, this, [this](const QString& problem) {
        if (!problem.isEmpty()) {
            qCWarning(logApp).noquote() << "store:" << problem;
        }
        window_->historyPane()->showSaveProblem(problem);
    });
    connect(store_, &ChatStore::noteRaised, this,
            [this](const QString& note) { window_->notice()->showNotice(note, QString()); });
    connect(chat, &ui::ChatView::turnFinished, this, [this](const ui::ChatDocument& document) {
        window_->historyPane()->setCurrentChat(document.id);
        if (session_state_.chat != document.id) {
            session_state_.chat = document.id;
            saveSession(false);
        }
    });
    QMetaObject::invokeMethod(store_, &ChatStore::open);
}

void Wiring::showPrevious(const PreviousSession& previous) {
    if (!previous.exists) {
        return;
    }
    window_->chatView()->addDrafts(ui::draftsFromJson(previous.state.drafts));
    const QString crashed = previous.crashedWhileLoading();
    const bool reopens_chat = window_->settings().reopens_chat || previous.state.resumes;
    if (reopens_chat && !previous.state.chat.isEmpty()) {
        openChat(previous.state.chat);
    }
    if (!crashed.isEmpty()) {
        // What crashed is not chosen again by itself: the user decides.
        window_->notice()->showAction(
            tr("Belfry ended unexpectedly while it was loading %1")
                .arg(QFileInfo(crashed).fileName()),
            tr("It was not loaded again. Your chats are as they were."), tr("Choose it again"),
            [session = window_->session(), crashed] { session->chooseModel(crashed); });
    } else {
        const bool is_server = engine::isServerModel(previous.state.loaded.toStdString());
        if (is_server && !previous.state.resumes && window_->session()->model().isEmpty()) {
            // To choose it is to ask it, and nobody is asked before a click.
            const QString model = previous.state.loaded;
            window_->notice()->showAction(
                tr("%1 on %2 answered last time")
                    .arg(ui::Session::nameOf(model),
                         ui::fromUtf8(engine::serverHost(model.toStdString()))),
                tr("Nothing was asked of it since Belfry started."), tr("Connect"),
                [session = window_->session(), model] { session->chooseAndLoad(model); });
        } else if (!previous.state.loaded.isEmpty() && window_->session()->model().isEmpty()) {
            // With the layout and the adapters it had, but not loaded: that stays a wish.
            // Only a restart that the user asked for goes on at once.
            ui::Session* session = window_->session();
            session->chooseAgain(previous.state.loaded,
                                 loadOptionsFromJson(previous.state.options, session->request()));
            if (previous.state.resumes && previous.state.is_over) {
                session->loadWhenRead();
            }
        }
        if (previous.hasCrashed()) {
            window_->notice()->showNotice(
                tr("Belfry ended unexpectedly last time"),
                tr("Your chats are as they were. The log may tell why: %1")
                    .arg(ui::withKeys(tr("Log and report"), QStringLiteral("diagnostics"))));
        }
    }
}

void Wiring::openChat(const QString& id) {
    if (window_->chatView()->isGenerating()) {
        window_->chatView()->stop();
    }
    if (id.isEmpty()) {
        newChat();
    } else {
        QMetaObject::invokeMethod(store_, [store = store_, id] { store->load(id); });
    }
}

void Wiring::newChat() {
    ui::ChatView* chat = window_->chatView();
    if (chat->isGenerating()) {
        chat->stop();
    }
    ui::ChatDocument document;
    document.model = window_->session()->model();
    document.adapters = window_->session()->adapters();
    chat->setChat(document);
    window_->historyPane()->setCurrentChat(QString());
    window_->setComparing(false);
    window_->refreshEmptyState();
    session_state_.chat.clear();
    saveSession(false);
    chat->focusComposer();
}

void Wiring::saveSession(bool is_over) {
    session_state_.is_over = is_over;
    session_state_.drafts = ui::draftsToJson(window_->chatView()->drafts());
    if (store_ != nullptr) {
        QMetaObject::invokeMethod(
            store_, [store = store_, state = session_state_] { store->saveSession(state); });
    }
}

void Wiring::finishSession() {
    session_state_.loading.clear();
    const ui::Session* session = window_->session();
    if (!session->model().isEmpty() && session->summary() != nullptr) {
        session_state_.loaded = session->model();
        session_state_.options = loadOptionsToJson(session->restartRequest());
    }
    saveSession(true);
    if (settings_ != nullptr) {
        settings_->writePlace(
            {window_->normalGeometry(), window_->isMaximized(), window_->splitterSizes()});
    }
}

} // namespace app
