// SPDX-License-Identifier: Apache-2.0
// Building and state of the chat view; what a reply and the user do to the conversation is in
// chat_view_actions.cpp.
#include "ui/chat/chat_view.h"

#include "engine/api/model_address.h"
#include "ui/chat/chat_model.h"
#include "ui/chat/chat_notice.h"
#include "ui/chat/chat_panels.h"
#include "ui/chat/chat_request.h"
#include "ui/chat/composer.h"
#include "ui/chat/context_gauge.h"
#include "ui/chat/find_bar.h"
#include "ui/chat/message_list.h"
#include "ui/media/media_cache.h"
#include "ui/media/sound_player.h"
#include "ui/style/format.h"
#include "ui/style/page_stack.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QAction>
#include <QClipboard>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMimeData>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QStringList>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {
constexpr int kWidestColumn = 780; ///< As the messages above it.
constexpr qsizetype kMostDrafts = 200;

/// Dashed frame over everything while files hang over the view.
class DropOverlay : public QLabel {
public:
    explicit DropOverlay(QWidget* parent) : QLabel(parent) {
        setAlignment(Qt::AlignCenter);
        setAttribute(Qt::WA_TransparentForMouseEvents);
        hide();
    }

protected:
    void paintEvent(QPaintEvent* event) override;
};

void DropOverlay::paintEvent(QPaintEvent* event) {
    Q_UNUSED(event);
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor veil = theme.window;
    veil.setAlphaF(0.85F);
    painter.fillRect(rect(), veil);
    painter.setPen(QPen(theme.accent, 2.0, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(16, 16, -16, -16), 12.0, 12.0);
    painter.drawPixmap(QPointF(width() / 2.0 - 16.0, height() / 2.0 - 48.0),
                       iconPixmap(QStringLiteral("attach"), 32, theme.accent, devicePixelRatioF()));
    painter.setPen(theme.text);
    painter.setFont(scaledFont(115, true));
    painter.drawText(rect(), Qt::AlignCenter, text());
}

/// The first of many lines, and how many more there are: a notice is no list.
QString fewLines(const QStringList& lines) {
    constexpr qsizetype kMost = 4;
    if (lines.size() <= kMost + 1) {
        return lines.join(QLatin1Char('\n'));
    }
    return lines.mid(0, kMost).join(QLatin1Char('\n')) + QLatin1Char('\n') +
           ChatView::tr("and %1 more").arg(formatCount(lines.size() - kMost));
}

QToolButton* headerButton(const QString& name, const QString& text, QWidget* parent) {
    auto* button = new QToolButton(parent);
    button->setObjectName(name);
    button->setText(text);
    button->setAccessibleName(text);
    button->setMinimumHeight(Theme::kControlHeight);
    button->setCheckable(true);
    return button;
}

bool isSamePart(const engine::MessagePart& a, const engine::MessagePart& b) {
    return a.kind == b.kind && a.text == b.text && a.cut_start_s == b.cut_start_s &&
           a.cut_length_s == b.cut_length_s;
}

/// What was encoded ahead may be stale: another model, another layout, other adapters, or a job in
/// between that was stopped together with it.
bool mayNeedEncoding(const engine::EngineSnapshot* before, const engine::EngineSnapshot* now) {
    const auto is_ready = [](const engine::EngineSnapshot* snapshot) {
        return snapshot != nullptr && snapshot->state == engine::EngineSnapshot::State::Ready;
    };
    const auto is_same = [](const engine::AdapterChoice& a, const engine::AdapterChoice& b) {
        return a.folder == b.folder && a.strength == b.strength && a.is_enabled == b.is_enabled;
    };
    return is_ready(now) && (!is_ready(before) || before->plan != now->plan ||
                             !std::equal(before->adapters.begin(), before->adapters.end(),
                                         now->adapters.begin(), now->adapters.end(), is_same));
}

} // namespace

ChatView::ChatView(QWidget* parent)
    : QWidget(parent), model_(new ChatModel(this)), media_(new MediaCache(this)),
      player_(new SoundPlayer(this)) {
    setObjectName(QStringLiteral("chatView"));
    setAcceptDrops(true);
    setArea(this, Area::Window);
    settings_.prompts = defaultPrompts();
    columnIn(this, {0, 0, 0, 0}, 0);
    buildHeader();
    buildBody();
    connectHeader();
    connectComposer();
    connectMessages();
    setLoadState(false, {});
    addShortcuts();
    flush_timer_.setSingleShot(true);
    connect(&flush_timer_, &QTimer::timeout, this, &ChatView::flush);
    setChat({});
}

ChatView::~ChatView() = default;

void ChatView::buildHeader() {
    header_ = named("chatHeader", new QWidget(this));
    auto* row = rowIn(header_, {16, 4, 16, 4}, 8);
    gauge_ = new ContextGauge(header_);
    prompt_button_ =
        headerButton(QStringLiteral("systemPromptButton"), tr("System prompt"), header_);
    sampling_button_ = headerButton(QStringLiteral("samplingButton"), tr("Sampling"), header_);
    compare_button_ = headerButton(QStringLiteral("compareButton"), tr("Compare"), header_);
    compare_button_->setCheckable(false);
    compare_button_->setToolTip(
        tr("Ask the last question again, without and with adapters, side by side"));
    row->addWidget(gauge_);
    row->addStretch(1);
    row->addWidget(prompt_button_);
    row->addWidget(sampling_button_);
    row->addWidget(compare_button_);
    layout()->addWidget(header_);
    prompt_panel_ = new SystemPromptPanel(this);
    prompt_panel_->hide();
    layout()->addWidget(prompt_panel_);
    sampling_panel_ = new SamplingPanel(this);
    sampling_panel_->hide();
    layout()->addWidget(sampling_panel_);
}

void ChatView::buildBody() {
    stack_ = new PageStack(this);
    list_ = new MessageList(model_, media_, player_, stack_);
    stack_->addWidget(list_);
    auto* empty = new QWidget(stack_);
    auto* words = new QVBoxLayout(empty);
    auto* title = new QLabel(tr("What would you like to know?"), empty);
    setTextSize(title, 150, true);
    title->setAlignment(Qt::AlignCenter);
    empty_hint_ = wrappedLabel("chatEmptyHint", empty);
    setTextRole(empty_hint_, TextRole::Muted);
    empty_hint_->setAlignment(Qt::AlignCenter);
    words->addStretch();
    words->addWidget(title);
    words->addWidget(empty_hint_);
    words->addStretch();
    empty_ = empty;
    stack_->addWidget(empty_);
    qobject_cast<QVBoxLayout*>(layout())->addWidget(stack_, 1);

    to_end_ = pushButton("toEndButton", tr("To the end"), stack_, "arrow-down");
    to_end_->setAccessibleName(tr("Scroll to the end of the conversation"));
    to_end_->hide();

    bottom_ = new QWidget(this);
    auto* outer = rowIn(bottom_, {24, 4, 24, 16});
    auto* column = new QWidget(bottom_);
    column->setMaximumWidth(kWidestColumn);
    auto* inner = columnIn(column, {0, 0, 0, 0}, 4);
    composer_ = new Composer(media_, player_, column);
    host_label_ = wrappedLabel("hostBadge", column);
    setTextRole(host_label_, TextRole::Accent);
    setTextSize(host_label_, 90);
    host_label_->hide();
    inner->addWidget(host_label_);
    inner->addWidget(composer_);
    outer->addWidget(column); // centred when it is narrower than its place
    layout()->addWidget(bottom_);
    notice_ = new ChatNotice(this);
    find_ = new FindBar(model_, list_, this);
    composer_->showPromptsIn(this);
    for (QWidget* part : {bottom_, static_cast<QWidget*>(composer_)}) {
        part->installEventFilter(this);
    }

    drop_overlay_ = new DropOverlay(this);
    drop_overlay_->setText(tr("Drop pictures and sounds to ask about them"));
    setTabOrder(gauge_, prompt_button_);
    setTabOrder(prompt_button_, sampling_button_);
    setTabOrder(sampling_button_, compare_button_);
    setTabOrder(compare_button_, list_);
    setFocusProxy(composer_);
}

void ChatView::connectHeader() {
    connect(prompt_button_, &QToolButton::toggled, this, [this](bool is_open) {
        prompt_panel_->setVisible(is_open);
        if (is_open) {
            sampling_button_->setChecked(false);
            prompt_panel_->editor()->setFocus();
        }
    });
    connect(sampling_button_, &QToolButton::toggled, this, [this](bool is_open) {
        sampling_panel_->setVisible(is_open);
        if (is_open) {
            prompt_button_->setChecked(false);
        }
    });
    connect(compare_button_, &QToolButton::clicked, this, &ChatView::requestComparison);
    connect(prompt_panel_, &SystemPromptPanel::promptChanged, this, [this](const QString& prompt) {
        model_->changeSettings([&](ChatDocument& chat) { chat.system_prompt = prompt; });
        changed(false);
    });
    connect(
        sampling_panel_, &SamplingPanel::valuesChanged, this,
        [this](const engine::SamplingParameters& sampling, bool is_thinking, qint64 image_tokens) {
            const bool costs_change = model_->document().image_tokens != image_tokens;
            model_->changeSettings([&](ChatDocument& chat) {
                chat.sampling = sampling;
                chat.is_thinking = is_thinking;
                chat.image_tokens = image_tokens;
            });
            if (costs_change) {
                forgetAhead(); // an image in more or fewer tokens is another one
                requestCosts();
            }
            changed(false);
        });
    connect(sampling_panel_, &SamplingPanel::draftsSwitched, this, [this](bool is_on) {
        model_->changeSettings([&](ChatDocument& chat) { chat.uses_drafts = is_on; });
        changed(false);
    });
    connect(sampling_panel_, &SamplingPanel::presetsChanged, this,
            [this](const std::vector<SamplingPreset>& own) {
                settings_.presets = own;
                Q_EMIT settingsChanged(settings_);
            });
    connect(gauge_, &ContextGauge::cutOldestRequested, this, [this] { cutOldest(0, false); });
    connect(gauge_, &ContextGauge::restoreAllRequested, this, [this] {
        model_->setCut(0);
        changed(false);
    });
    connect(gauge_, &ContextGauge::largerRequested, this,
            [this] { Q_EMIT largerContextRequested(gauge_->size() * 2); });
}

void ChatView::setSampling(const engine::SamplingParameters& sampling) {
    model_->changeSettings([&](ChatDocument& chat) {
        chat.sampling.temperature = sampling.temperature;
        chat.sampling.top_k = sampling.top_k;
        chat.sampling.top_p = sampling.top_p;
        chat.sampling.min_p = sampling.min_p;
        chat.sampling.repetition_penalty = sampling.repetition_penalty;
    });
    sampling_panel_->setValues(model_->document());
    changed(false);
}

void ChatView::requestComparison() {
    ChatDocument chat = model_->document();
    while (!chat.turns.empty() && chat.turns.back().role == engine::Message::Role::Assistant) {
        chat.turns.pop_back();
    }
    if (!composer_->isEmpty()) {
        chat = model_->document();
        ChatTurn question;
        question.text = composer_->text();
        question.attachments = composer_->attachments();
        chat.turns.push_back(question);
    }
    if (chat.turns.empty()) {
        notice_->showNotice(ChatNotice::Tone::Info,
                            tr("Write a question first; Compare asks it of the model with and "
                               "without its adapters."),
                            {}, 8000);
        return;
    }
    Q_EMIT compareRequested(makeRequest(chat, chat.turns.size()));
}

void ChatView::connectComposer() {
    connect(composer_, &Composer::promptsChanged, this,
            [this](const std::vector<PromptShortcut>& prompts) {
                settings_.prompts = prompts;
                Q_EMIT settingsChanged(settings_);
            });
    connect(composer_, &Composer::pictureActivated, this, &ChatView::openDraftPicture);
    connect(composer_, &Composer::sendRequested, this, &ChatView::send);
    connect(composer_, &Composer::queueRequested, this, [this] {
        is_queued_ = isGenerating() && !composer_->isEmpty();
        if (!is_queued_) {
            send();
        }
        updateState();
    });
    connect(composer_, &Composer::stopRequested, this, &ChatView::stop);
    connect(composer_, &Composer::cancelEditRequested, this, &ChatView::cancelEdit);
    connect(composer_, &Composer::chooseRequested, this, &ChatView::chooseFiles);
    connect(composer_, &Composer::changed, this, &ChatView::updateGauge);
    connect(composer_, &Composer::costRequested, this, [this](const engine::MessagePart& part) {
        Q_EMIT mediaCostRequested(part, model_->document().image_tokens);
    });
    connect(composer_, &Composer::changed, this, &ChatView::stopForgottenSound);
    connect(composer_, &Composer::changed, this, &ChatView::forgetRemoved);
    draft_timer_.setSingleShot(true);
    draft_timer_.setInterval(2000);
    connect(&draft_timer_, &QTimer::timeout, this, &ChatView::draftsChanged);
    connect(composer_, &Composer::changed, this, [this] {
        if (!draft_timer_.isActive()) {
            draft_timer_.start();
        }
    });
    connect(composer_, &Composer::refused, this,
            [this](const QString& message) { showRefused(message.split(QLatin1Char('\n'))); });
    connect(composer_, &Composer::allRemoved, this, [this](const std::vector<Attachment>& removed) {
        notice_->showNotice(ChatNotice::Tone::Info,
                            tr("All attachments were removed from the message."),
                            {{tr("Undo"),
                              [this, removed] {
                                  std::vector<Attachment> all = removed;
                                  for (const Attachment& since : composer_->attachments()) {
                                      all.push_back(since);
                                  }
                                  composer_->setAttachments(all);
                              }}},
                            12000);
    });
}

void ChatView::connectMessages() {
    connect(notice_, &ChatNotice::changed, this, &ChatView::placeOverlays);
    connect(list_, &MessageList::textTyped, this, [this](const QString& text) {
        focusComposer();
        composer_->input()->insertPlainText(text);
    });
    connect(player_, &SoundPlayer::failed, this,
            [this](const QString& /*file*/, const QString& why) {
                notice_->showNotice(ChatNotice::Tone::Warning, why, {}, 12000);
            });

    connect(list_, &MessageList::copyRequested, this, &ChatView::copyRow);
    connect(list_, &MessageList::copyTextRequested, this,
            [](const QString& text) { QGuiApplication::clipboard()->setText(text); });
    connect(list_, &MessageList::regenerateRequested, this, &ChatView::regenerate);
    connect(list_, &MessageList::editRequested, this, &ChatView::edit);
    connect(list_, &MessageList::deleteRequested, this, &ChatView::remove);
    connect(list_, &MessageList::forkRequested, this, &ChatView::fork);
    connect(list_, &MessageList::continueRequested, this, &ChatView::continueReply);
    connect(list_, &MessageList::versionRequested, this, &ChatView::showVersion);
    connect(list_, &MessageList::attachmentActivated, this, &ChatView::openAttachment);
    connect(list_, &MessageList::soundMoveRequested, this, &ChatView::moveInSound);
    connect(list_, &MessageList::linkActivated, this, [this](const QString& url) {
        // Only the user opens an address, and sees it first.
        notice_->showNotice(ChatNotice::Tone::Info,
                            tr("Open this address in the browser?\n%1").arg(url),
                            {{tr("Open"), [url] { openExternally(url); }},
                             {tr("Copy"), [url] { QGuiApplication::clipboard()->setText(url); }}});
    });
    connect(list_, &MessageList::atEndChanged, this, [this](bool is_at_end) {
        to_end_->setVisible(!is_at_end && stack_->currentWidget() == list_);
        to_end_->raise(); // the stack puts its page above it
    });
    connect(to_end_, &QPushButton::clicked, list_, &MessageList::scrollToEnd);
    const auto follow = [this] {
        stack_->setCurrentWidget(model_->rowCount() > 0 ? static_cast<QWidget*>(list_) : empty_);
        to_end_->raise();
    };
    connect(model_, &QAbstractItemModel::rowsInserted, this, follow);
    connect(model_, &QAbstractItemModel::rowsRemoved, this, follow);
    connect(model_, &QAbstractItemModel::modelReset, this, follow);
    connect(model_, &QAbstractItemModel::rowsRemoved, this, &ChatView::stopForgottenSound);
    connect(model_, &QAbstractItemModel::modelReset, this, &ChatView::stopForgottenSound);
    connect(model_, &QAbstractItemModel::dataChanged, this, &ChatView::stopForgottenSound);
}

void ChatView::addShortcuts() {
    // Named, so that the window can give them the user's own keys.
    const auto shortcut = [this](const char* name, const QKeySequence& keys, auto slot) {
        auto* action = new QShortcut(keys, this);
        action->setObjectName(QStringLiteral("shortcut_") + QString::fromLatin1(name));
        action->setContext(Qt::WindowShortcut); // wherever the focus is
        connect(action, &QShortcut::activated, this, slot);
    };
    shortcut("regenerate", QKeySequence(Qt::CTRL | Qt::Key_R), &ChatView::regenerateLast);
    shortcut("continueReply", QKeySequence(Qt::ALT | Qt::Key_Return), &ChatView::continueLast);
    shortcut("versionBefore", QKeySequence(Qt::ALT | Qt::Key_Left), [this] { stepVersion(-1); });
    shortcut("versionAfter", QKeySequence(Qt::ALT | Qt::Key_Right), [this] { stepVersion(1); });
    shortcut("attach", QKeySequence(Qt::CTRL | Qt::Key_U), &ChatView::chooseFiles);
    shortcut("record", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R), &ChatView::toggleRecording);
    shortcut("find", QKeySequence(Qt::CTRL | Qt::Key_F), [this] { find_->open(); });
    shortcut("findNext", QKeySequence(Qt::Key_F3), [this] { find_->step(1); });
    shortcut("findPrevious", QKeySequence(Qt::SHIFT | Qt::Key_F3), [this] { find_->step(-1); });
    shortcut("copyCode", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), &ChatView::copyLastCode);
}

void ChatView::stepVersion(int by) {
    list_->stepVersion(by);
}

void ChatView::toggleRecording() {
    composer_->toggleRecording();
}

void ChatView::copyLastCode() {
    if (const QString code = list_->lastCode(); !code.isEmpty()) {
        QGuiApplication::clipboard()->setText(code);
    }
}

void ChatView::showFound(const QString& words) {
    find_->showWords(words);
}

void ChatView::setSoundDecoder(std::shared_ptr<const SoundDecoder> decoder) {
    player_->setDecoder(decoder);
    media_->setDecoder(std::move(decoder));
}

const ChatDocument& ChatView::chat() const {
    return model_->document();
}

Draft ChatView::composerDraft() const {
    return {composer_->text(), composer_->attachments()};
}

void ChatView::showDraft(const Draft& draft) {
    composer_->setText(draft.text);
    composer_->setAttachments(draft.attachments);
}

ChatDraft ChatView::currentDraft() const {
    ChatDraft draft;
    draft.message = editing_row_ >= 0 ? before_edit_ : composerDraft();
    if (editing_row_ >= 0) {
        draft.edited_turn = model_->turn(editing_row_).id;
        draft.edit = composerDraft();
    }
    draft.changed_ms = QDateTime::currentMSecsSinceEpoch();
    return draft;
}

ChatDrafts ChatView::drafts() const {
    ChatDrafts all = drafts_;
    if (const ChatDraft shown = currentDraft(); !shown.isEmpty()) {
        all.insert(model_->document().id, shown);
    }
    while (all.size() > kMostDrafts) {
        all.erase(std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
            return a.changed_ms < b.changed_ms;
        }));
    }
    return all;
}

ChatDraft ChatView::takeDraft(const QString& chat_id) {
    return drafts_.take(chat_id);
}

void ChatView::addDrafts(const ChatDrafts& drafts) {
    for (auto draft = drafts.begin(); draft != drafts.end(); ++draft) {
        if (!drafts_.contains(draft.key())) {
            drafts_.insert(draft.key(), draft.value());
        }
    }
    if (currentDraft().isEmpty()) {
        showDraftOfChat();
    } else {
        drafts_.remove(model_->document().id);
    }
}

void ChatView::showDraftOfChat() {
    ChatDraft draft = drafts_.take(model_->document().id);
    editing_row_ = -1;
    before_edit_ = {};
    for (int row = 0; row < model_->rowCount() && !draft.edited_turn.isEmpty(); ++row) {
        if (model_->turn(row).id == draft.edited_turn) {
            editing_row_ = row;
            before_edit_ = std::exchange(draft.message, draft.edit);
            break;
        }
    }
    showEditing();
    showDraft(draft.message);
}

void ChatView::setChat(const ChatDocument& chat) {
    if (isGenerating()) {
        // The engine stops when the shell cancels it; what is written so far belongs to the chat
        // that is left, and is kept there.
        abandonReply();
    }
    if (const ChatDraft left = currentDraft(); left.isEmpty()) {
        drafts_.remove(model_->document().id);
    } else {
        drafts_.insert(model_->document().id, left);
    }
    is_queued_ = false;
    is_stopping_ = false;
    version_row_ = -1;
    agreed_host_.clear();
    notice_->clear();
    find_->leave();
    editing_row_ = -1;
    model_->setDocument(chat);
    showDraftOfChat();
    prompt_panel_->setPrompt(chat.system_prompt);
    sampling_panel_->setValues(chat);
    list_->scrollToEnd();
    updateState();
}

void ChatView::setChatTitle(const QString& title) {
    model_->changeSettings([&](ChatDocument& chat) { chat.title = title; });
}

void ChatView::setSettings(const ChatSettings& settings) {
    settings_ = settings;
    composer_->setPrompts(settings_.prompts);
    sampling_panel_->setPresets(settings_.presets);
    updateHeaderTexts();
}

void ChatView::setModel(std::shared_ptr<const engine::ModelSummary> model, bool is_loaded) {
    summary_ = std::move(model);
    is_loaded_ = is_loaded;
    composer_->setModel(summary_.get(), is_loaded_);
    sampling_panel_->setDefaults(summary_ != nullptr ? summary_->sampling
                                                     : engine::SamplingParameters(),
                                 summary_ != nullptr ? summary_->image_tokens : 0);
    refreshHost();
    updateState();
}

QString ChatView::host() const {
    if (is_loaded_ && snapshot_ != nullptr) {
        return fromUtf8(snapshot_->capabilities.host);
    }
    return summary_ == nullptr ? QString() : fromUtf8(summary_->capabilities.host);
}

void ChatView::refreshHost() {
    const engine::Capabilities can = is_loaded_ && snapshot_ != nullptr ? snapshot_->capabilities
                                     : summary_ != nullptr              ? summary_->capabilities
                                                                        : engine::Capabilities();
    compare_button_->setVisible(can.takes_adapters);
    sampling_panel_->setCapabilities(can.samples_freely, can.sets_image_tokens);
    sampling_panel_->setHasAssistant(
        is_loaded_ && snapshot_ != nullptr && snapshot_->plan != nullptr &&
        snapshot_->plan->findModule({engine::PartRole::Assistant}) != nullptr);
    QString words = can.host.empty()
                        ? QString()
                        : tr("What you write and attach is sent to %1").arg(fromUtf8(can.host));
    // Only this host's server counts: another one may be looked at beside it.
    const bool is_its = engine::serverHost(server_.model.toStdString()) == can.host;
    const bool is_lost = !words.isEmpty() && is_its && !server_.words.isEmpty();
    if (is_lost) {
        words += QLatin1Char('\n') + server_.words;
        if (server_.kind == ServerState::Kind::Gone || server_.kind == ServerState::Kind::Loading) {
            words += QLatin1Char(' ') + tr("It is asked again by itself.");
        }
    }
    setTextRole(host_label_, is_lost && server_.kind != ServerState::Kind::Loading
                                 ? TextRole::Danger
                                 : TextRole::Accent);
    host_label_->setText(words);
    host_label_->setAccessibleName(words);
    host_label_->setVisible(!words.isEmpty());
}

void ChatView::showServerState(const ServerState& state) {
    server_ = state;
    refreshHost();
}

void ChatView::setAnswerer(const QString& name) {
    composer_->setAnswerer(name);
}

void ChatView::showSnapshot(std::shared_ptr<const engine::EngineSnapshot> snapshot) {
    const bool asks_again = mayNeedEncoding(snapshot_.get(), snapshot.get());
    snapshot_ = std::move(snapshot);
    refreshHost();
    if (asks_again) {
        forgetAhead();
        encodeAhead();
    }
    if (isGenerating() && model_->streamingRow() >= 0 && snapshot_ != nullptr &&
        snapshot_->state == engine::EngineSnapshot::State::Generating) {
        // What the reply is really made with: a change may have been on its way when it was asked.
        model_->setStreamingAdapters(snapshot_->adapters);
    }
    refreshLoading();
    updateGauge();
}

void ChatView::refreshLoading() {
    composer_->setLoading(
        is_load_awaited_ ||
        (snapshot_ != nullptr && snapshot_->state == engine::EngineSnapshot::State::Loading));
}

void ChatView::setLoadState(bool is_loading, const QString& why_not) {
    is_load_awaited_ = is_loading;
    refreshLoading();
    composer_->setUnloadable(!why_not.isEmpty());
    empty_hint_->setText(
        why_not.isEmpty() ? tr("Write below. Drop a picture or a sound to ask about it; its cost "
                               "is shown before you send.")
                          : why_not);
}

void ChatView::updateState() {
    composer_->setPrompts(settings_.prompts);
    composer_->setBusy(isGenerating(), is_stopping_, is_queued_);
    list_->setBusy(isGenerating());
    compare_button_->setEnabled(is_loaded_ && !isGenerating());
    updateHeaderTexts();
    updateGauge();
}

void ChatView::updateHeaderTexts() {
    const ChatDocument& chat = model_->document();
    const bool has_prompt = !chat.system_prompt.trimmed().isEmpty();
    prompt_button_->setText(has_prompt ? tr("System prompt: set") : tr("System prompt"));
    prompt_button_->setAccessibleName(prompt_button_->text());
    prompt_button_->setToolTip(has_prompt ? toolTipText(chat.system_prompt.left(400))
                                          : tr("What the model is told before the first message"));
    sampling_button_->setText(tr("Sampling: %1").arg(sampling_panel_->presetName(chat.sampling)));
    sampling_button_->setAccessibleName(sampling_button_->text());
    sampling_button_->setToolTip(tr("How the next words are chosen; per chat"));
}

void ChatView::updateGauge() {
    const qint64 size = snapshot_ != nullptr && is_loaded_ ? snapshot_->context_size : 0;
    qint64 used = contextTokens(model_->document());
    bool is_estimate = true;
    if (!model_->document().turns.empty()) {
        const engine::GenerateTiming& timing = model_->document().turns.back().timing;
        is_estimate = timing.prefill_tokens + timing.reused_tokens == 0;
    }
    if (isGenerating() && snapshot_ != nullptr &&
        snapshot_->state == engine::EngineSnapshot::State::Generating &&
        snapshot_->context_used > 0) {
        used = snapshot_->context_used;
        is_estimate = false;
    }
    gauge_->setHasCut(model_->cutCount() > 0);
    gauge_->setValues(used, isGenerating() ? 0 : composer_->draftTokens(), size,
                      is_estimate && used > 0);
}

void ChatView::focusComposer() {
    composer_->input()->setFocus();
}

void ChatView::chooseFiles() {
    auto* dialog = new QFileDialog(this, tr("Add pictures or sounds"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    dialog->setNameFilter(tr("Pictures and sounds (*.png *.jpg *.jpeg *.webp *.wav *.flac *.ogg "
                             "*.opus *.mp3 *.aiff *.aif)"));
    connect(dialog, &QFileDialog::filesSelected, this, &ChatView::attachFiles);
    dialog->open();
}

void ChatView::attachFiles(const QStringList& files) {
    const QStringList problems = composer_->attach(files);
    if (!problems.isEmpty()) {
        showRefused(problems);
    }
    focusComposer();
}

void ChatView::showRefused(const QStringList& problems) {
    std::vector<ChatNotice::Choice> choices;
    if (composer_->lacksTowerForLast()) {
        choices.emplace_back(tr("Load with pictures and sounds"),
                             [this] { Q_EMIT towersRequested(); });
    }
    notice_->showNotice(ChatNotice::Tone::Warning, fewLines(problems), choices, 12000);
}

void ChatView::requestCosts() {
    for (const engine::MessagePart& part : composer_->mediaParts()) {
        Q_EMIT mediaCostRequested(part, model_->document().image_tokens);
    }
}

void ChatView::showMediaCost(const QString& file, const engine::MediaCost& cost) {
    composer_->showCost(file, cost);
    // A message that was sent before its costs were known.
    for (int row = model_->rowCount() - 1; row >= std::max(model_->rowCount() - 2, 0); --row) {
        ChatTurn turn = model_->turn(row);
        bool is_changed = false;
        for (Attachment& attachment : turn.attachments) {
            if (attachment.file == file && attachment.tokens == 0 &&
                attachment.cut_length_s <= 0.0) {
                attachment.tokens = cost.tokens;
                is_changed = true;
            }
        }
        if (is_changed) {
            model_->replace(row, turn);
        }
    }
    encodeAhead();
}

void ChatView::encodeAhead() {
    if (isGenerating()) {
        return; // the engine writes; finishReply() asks again
    }
    for (const engine::MessagePart& part : composer_->knownParts()) {
        const bool is_asked =
            std::any_of(ahead_.begin(), ahead_.end(),
                        [&](const engine::MessagePart& one) { return isSamePart(one, part); });
        if (!is_asked) {
            ahead_.push_back(part);
            Q_EMIT encodeAheadRequested(part, model_->document().image_tokens);
        }
    }
}

/// What was asked for is not what is wanted now.
void ChatView::forgetAhead() {
    for (const engine::MessagePart& part : std::exchange(ahead_, {})) {
        Q_EMIT encodeAheadCancelled(part);
    }
}

void ChatView::forgetRemoved() {
    const std::vector<engine::MessagePart> parts = composer_->mediaParts();
    std::erase_if(ahead_, [&](const engine::MessagePart& one) {
        const bool is_removed = std::none_of(
            parts.begin(), parts.end(), [&](const auto& part) { return isSamePart(one, part); });
        if (is_removed) {
            Q_EMIT encodeAheadCancelled(one);
        }
        return is_removed;
    });
}

void ChatView::showMediaError(const QString& file, const engine::Error& error) {
    composer_->showCostError(file, error);
}

void ChatView::dragEnterEvent(QDragEnterEvent* event) {
    if (Composer::canTake(event->mimeData())) {
        event->acceptProposedAction();
        drop_overlay_->setGeometry(rect());
        drop_overlay_->raise();
        drop_overlay_->show();
    }
}

void ChatView::dragLeaveEvent(QDragLeaveEvent* event) {
    QWidget::dragLeaveEvent(event);
    drop_overlay_->hide();
}

void ChatView::dropEvent(QDropEvent* event) {
    drop_overlay_->hide();
    if (composer_->takeMime(event->mimeData())) {
        event->acceptProposedAction();
        focusComposer();
    }
}

void ChatView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    drop_overlay_->setGeometry(rect());
    placeOverlays();
}

bool ChatView::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize || event->type() == QEvent::Move) {
        placeOverlays();
    }
    return QWidget::eventFilter(watched, event);
}

int ChatView::overlayFloor() const {
    // Where words go stays in sight.
    const QWidget* top = host_label_->isHidden() ? static_cast<QWidget*>(composer_) : host_label_;
    return notice_->isHidden() ? top->mapTo(this, QPoint(0, 0)).y() : notice_->y();
}

void ChatView::setCovered(int pixels) {
    if (covered_ != pixels) {
        covered_ = pixels;
        placeOverlays();
    }
}

void ChatView::placeOverlays() {
    QRect composer(composer_->mapTo(this, QPoint(0, 0)), composer_->size());
    if (!host_label_->isHidden()) {
        composer.setTop(host_label_->mapTo(this, QPoint(0, 0)).y());
    }
    if (!notice_->isHidden()) {
        const int room = composer.top() - stack_->y() - 2 * Theme::kGap;
        const int height = std::min(notice_->fitTo(composer.width()), std::max(room, 0));
        notice_->setGeometry(composer.left(), composer.top() - Theme::kGap - height,
                             composer.width(), height);
        notice_->raise();
    }
    composer_->placePrompts();
    find_->placeIn({composer.left(), stack_->y() + Theme::kGap, composer.width(), 0});
    const int floor = overlayFloor() - covered_;
    // From the messages' own lower end: the composer's margin above it covers nothing.
    const int covered = std::max(0, stack_->geometry().bottom() + 1 - floor);
    list_->setCovered(floor < composer.top() ? covered : 0);
    const QSize size = to_end_->sizeHint();
    to_end_->setGeometry((stack_->width() - size.width()) / 2,
                         std::min(stack_->height(), floor - stack_->y()) - size.height() - 8,
                         size.width(), size.height());
    to_end_->raise();
    if (told_floor_ != overlayFloor()) {
        told_floor_ = overlayFloor();
        Q_EMIT overlaysPlaced();
    }
}

bool ChatView::takeKey(const QKeyEvent* event) {
    const Qt::KeyboardModifiers held =
        event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier);
    // AltGr is Ctrl and Alt together where it has no modifier of its own.
    const bool is_plain = held == Qt::NoModifier || held == (Qt::ControlModifier | Qt::AltModifier);
    const bool is_letter = is_plain && !event->text().isEmpty() && event->text().at(0).isPrint() &&
                           !event->text().at(0).isSpace();
    const bool is_paste = event->matches(QKeySequence::Paste);
    if (!isVisible() || !(is_letter || is_paste)) {
        return false;
    }
    composer_->takeKey(event);
    return true;
}

void ChatView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    // Ready to write, unless the focus is somewhere on purpose.
    const QWidget* focused = window()->focusWidget();
    if (focused == nullptr || focused == gauge_) {
        focusComposer();
    }
}

void ChatView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) {
        if (isGenerating()) {
            stop();
            return;
        }
        if (editing_row_ >= 0) {
            cancelEdit();
            return;
        }
    }
    if (event == QKeySequence::Undo && model_->canUndo()) {
        undo();
        return;
    }
    // What is typed while a message, a button or a file has the focus is the next message; the
    // fields of the panels keep theirs.
    const QWidget* focused = window()->focusWidget();
    const bool is_in_panel = focused != nullptr && (prompt_panel_->isAncestorOf(focused) ||
                                                    sampling_panel_->isAncestorOf(focused));
    if (!is_in_panel) {
        const bool is_enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
        if (takeKey(event)) {
            return;
        }
        if (is_enter && focused == list_ && event->modifiers() == Qt::NoModifier) {
            focusComposer();
            return;
        }
    }
    QWidget::keyPressEvent(event);
}

} // namespace ui
