// SPDX-License-Identifier: Apache-2.0
#include "ui/window/status_strip.h"

#include "engine/api/model_address.h"
#include "ui/dialogs/serving_state.h"
#include "ui/model/session.h"
#include "ui/style/elided_label.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>

#include <cmath>
#include <utility>

namespace ui {

namespace {

/// The engine names its stages in English for logs; people read their own language.
QString stageName(const std::string& stage) {
    if (stage == "check") {
        return StatusStrip::tr("Checking");
    }
    if (stage == "allocate") {
        return StatusStrip::tr("Reserving memory");
    }
    if (stage == "read") {
        return StatusStrip::tr("Reading");
    }
    if (stage == "move") {
        return StatusStrip::tr("Moving");
    }
    return StatusStrip::tr("Loading");
}

struct StateWords {
    TextRole role;
    QString text;
};

/// Nothing of a server is loaded here: it is there, or it is not.
StateWords wordsOf(ServerState::Kind kind) {
    switch (kind) {
    case ServerState::Kind::Loading:
        return {TextRole::Muted, StatusStrip::tr("Loads its model")};
    case ServerState::Kind::Refused:
        return {TextRole::Danger, StatusStrip::tr("Refuses")};
    case ServerState::Kind::Gone:
        return {TextRole::Danger, StatusStrip::tr("Does not answer")};
    case ServerState::Kind::Forbidden:
        return {TextRole::Danger, StatusStrip::tr("Network forbidden")};
    case ServerState::Kind::None:
    case ServerState::Kind::Reachable:
        break;
    }
    return {TextRole::Success, StatusStrip::tr("Connected")};
}

} // namespace

StatusStrip::StatusStrip(Session* session, QWidget* parent) : QWidget(parent), session_(session) {
    setObjectName(QStringLiteral("statusStrip"));
    state_label_ = named("engineState", new QLabel(this));
    setTextSize(state_label_, 95, true);
    why_button_ = pushButton("whyButton", tr("Cannot be used"), this, "alert", ButtonKind::Flat);
    why_button_->setToolTip(tr("Say why"));
    detail_label_ = named("engineStateDetail", new ElidedLabel(this));
    detail_label_->setMinimumCharacters(0);
    setTextRole(detail_label_, TextRole::Muted);
    setTextSize(detail_label_, 95);
    progress_ = named("loadProgress", new QProgressBar(this));
    progress_->setAccessibleName(tr("Progress"));
    progress_->setTextVisible(false);
    progress_->setFixedWidth(140);
    serving_button_ = pushButton("servingButton", QString(), this, "server", ButtonKind::Flat);
    serving_button_->hide();
    cancel_button_ = pushButton("cancelButton", tr("Cancel"), this);
    cancel_button_->setToolTip(tr("Stop loading or moving; what was there before stays"));
    load_button_ = pushButton("topLoadButton", tr("Load"), this, nullptr, ButtonKind::Primary);
    load_button_->setToolTip(tr("Load the chosen model"));
    eject_button_ = pushButton("ejectButton", tr("Eject"), this, "eject");
    eject_button_->setToolTip(tr("Remove the model from memory"));
    auto* row = rowIn(this, {16, 0, 0, 0}, Theme::kGap);
    row->addWidget(state_label_);
    row->addWidget(why_button_);
    row->addWidget(detail_label_);
    row->addWidget(progress_);
    row->addWidget(serving_button_);
    row->addWidget(cancel_button_);
    row->addWidget(load_button_);
    row->addWidget(eject_button_);
    connect(why_button_, &QPushButton::clicked, this, &StatusStrip::whyRequested);
    connect(serving_button_, &QPushButton::clicked, this, &StatusStrip::servingRequested);
    connect(cancel_button_, &QPushButton::clicked, session_, &Session::cancel);
    connect(load_button_, &QPushButton::clicked, session_, &Session::load);
    connect(eject_button_, &QPushButton::clicked, session_, &Session::eject);
    connect(session_, &Session::changed, this, &StatusStrip::refresh);
    connect(session_, &Session::snapshotChanged, this, &StatusStrip::refreshProgress);
    refresh();
}

void StatusStrip::refresh() {
    const Session::State state = session_->state();
    const bool is_moving = state == Session::State::Loading || state == Session::State::Applying;
    progress_->setVisible(is_moving || is_returning_);
    cancel_button_->setVisible(is_moving);
    if (is_moving || is_returning_) {
        progress_->setRange(0, 0);
    } else {
        pace_.restart();
        detail_label_->setToolTip(QString());
    }
    const bool is_unusable = state == Session::State::Chosen && session_->modelError() != nullptr;
    why_button_->setVisible(is_unusable);
    state_label_->setVisible(!is_unusable);
    load_button_->setVisible(state == Session::State::Chosen && !is_unusable);
    load_button_->setEnabled(session_->summary() != nullptr &&
                             !session_->summary()->is_header_only);
    eject_button_->setVisible(session_->isLoaded() && !is_moving);
    eject_button_->setEnabled(state == Session::State::Ready);
    const bool is_server = isServer();
    eject_button_->setText(is_server ? tr("Disconnect") : tr("Eject"));
    eject_button_->setToolTip(state == Session::State::Generating
                                  ? tr("A reply is being written: stop it first (Esc)")
                              : is_server ? tr("Ask this server nothing more")
                                          : tr("Remove the model from memory"));
    load_button_->setText(is_server            ? tr("Connect")
                          : is_beside_what_if_ ? tr("Load here")
                                               : tr("Load"));
    load_button_->setToolTip(
        is_server                      ? tr("Let this server answer")
        : !why_not_loadable_.isEmpty() ? toolTipText(why_not_loadable_)
        : is_beside_what_if_
            ? toolTipText(tr("Loads the chosen model on this computer, not on the one that the "
                             "layout looks at"))
            : tr("Load the chosen model"));
    detail_label_->clear();
    switch (state) {
    case Session::State::Empty:
        state_label_->setText(QString());
        break;
    case Session::State::Chosen:
        setTextRole(state_label_, TextRole::Muted);
        state_label_->setText(
            is_server ? (session_->isInspecting() ? tr("Asking …") : tr("Not connected"))
            : session_->isInspecting() ? tr("Reading …")
                                       : tr("Not loaded"));
        break;
    case Session::State::Loading:
    case Session::State::Applying:
        setTextRole(state_label_, TextRole::Normal);
        state_label_->setText(is_server                          ? tr("Connecting")
                              : state == Session::State::Loading ? tr("Loading")
                                                                 : tr("Moving"));
        break;
    case Session::State::Ready:
    case Session::State::Generating:
        showReady();
        break;
    }
    refreshProgress();
    update();
}

void StatusStrip::showReady() {
    QStringList facts;
    if (isServer()) {
        const StateWords words = wordsOf(server_.kind);
        setTextRole(state_label_, words.role);
        state_label_->setText(words.text);
        facts.append(fromUtf8(engine::serverHost(session_->loadedRequest().model)));
        const auto summary = session_->shownSummary();
        if (summary != nullptr && summary->max_context > 0) {
            facts.append(tr("%1 tokens").arg(formatCount(summary->max_context)));
        }
        detail_label_->setToolTip(server_.words);
    } else {
        setTextRole(state_label_, TextRole::Success);
        state_label_->setText(tr("Loaded"));
        facts.append(quantName(fromUtf8(session_->loadedRequest().quant)));
        if (session_->loadSeconds() > 0) {
            facts.append(formatSeconds(session_->loadSeconds()));
        }
    }
    detail_label_->setParts(facts);
}

bool StatusStrip::isServer() const {
    return engine::isServerModel(session_->shownModel().toStdString());
}

void StatusStrip::showServerState(const ServerState& state) {
    server_ = state;
    refresh();
}

void StatusStrip::setBesideWhatIf(bool is_beside) {
    if (std::exchange(is_beside_what_if_, is_beside) != is_beside) {
        refresh();
    }
}

void StatusStrip::setWhyNotLoadable(const QString& why) {
    if (std::exchange(why_not_loadable_, why) != why) {
        refresh();
    }
}

void StatusStrip::showServing(const ServingState& state) {
    const bool is_used = state.kind == ServingState::Kind::Answering;
    serving_button_->setVisible(state.kind != ServingState::Kind::Off);
    serving_button_->setText(is_used ? tr("In use") : tr("Shared"));
    serving_button_->setAccessibleName(is_used ? tr("Another program is using the model")
                                               : tr("Other programs may use the model"));
    serving_button_->setToolTip(
        toolTipText(serving_button_->accessibleName() + QLatin1Char('\n') + state.address));
    updateGeometry();
}

bool StatusStrip::isReturning() const {
    using State = engine::EngineSnapshot::State;
    const auto& snapshot = session_->snapshot();
    const Session::State state = session_->state();
    return snapshot != nullptr && snapshot->bytes_total > 0 && !isServer() &&
           (snapshot->state == State::Ready || snapshot->state == State::Generating) &&
           (state == Session::State::Ready || state == Session::State::Generating);
}

void StatusStrip::refreshProgress() {
    const auto& snapshot = session_->snapshot();
    const Session::State state = session_->state();
    const bool is_moving = state == Session::State::Loading || state == Session::State::Applying;
    const bool is_returning = isReturning();
    if (std::exchange(is_returning_, is_returning) != is_returning) {
        refresh(); // comes here again
        return;
    }
    if (snapshot == nullptr || (!is_moving && !is_returning)) {
        return;
    }
    if (snapshot->bytes_total > 0) {
        const double part =
            static_cast<double>(snapshot->bytes_done) / static_cast<double>(snapshot->bytes_total);
        progress_->setRange(0, 1000);
        progress_->setValue(static_cast<int>(1000.0 * part));
        if (is_returning) {
            setTextRole(state_label_, TextRole::Normal);
        }
        state_label_->setText(is_returning ? tr("Loading again") : stageName(snapshot->stage));
        if (snapshot->stage != stage_) {
            stage_ = snapshot->stage;
            pace_.restart();
        }
        pace_.add(QDateTime::currentMSecsSinceEpoch(), snapshot->bytes_done, snapshot->bytes_total);
        // What matters most first: the end is left out where the room is small.
        QStringList facts = {tr("%1 %").arg(static_cast<int>(100.0 * part))};
        if (const double left = pace_.secondsLeft(); left >= 0.0) {
            facts.append(left < 1.0     ? tr("nearly done")
                         : left < 119.5 ? tr("%1 s left").arg(std::lround(left))
                                        : tr("%1 left").arg(formatSeconds(left)));
            facts.append(tr("%1/s").arg(formatBytes(static_cast<quint64>(pace_.rate()))));
        }
        facts.append(
            tr("%1 of %2")
                .arg(formatBytes(snapshot->bytes_done), formatBytes(snapshot->bytes_total)));
        detail_label_->setParts(facts);
        detail_label_->setToolTip(detail_label_->text());
        progress_->setAccessibleDescription(detail_label_->text());
    }
}

void StatusStrip::paintEvent(QPaintEvent* /*event*/) {
    const Session::State state = session_->state();
    if (state == Session::State::Ready || state == Session::State::Generating) {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        const TextRole role = isServer()      ? wordsOf(server_.kind).role
                              : is_returning_ ? TextRole::Normal
                                              : TextRole::Success;
        const Theme& theme = Theme::current();
        painter.setBrush(role == TextRole::Success  ? theme.success
                         : role == TextRole::Danger ? theme.danger
                                                    : theme.warning);
        painter.drawEllipse(QPointF(8, height() / 2.0), 4, 4);
    }
}

} // namespace ui
