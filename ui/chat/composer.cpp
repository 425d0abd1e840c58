// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/composer.h"

#include "ui/chat/chat_request.h"
#include "ui/chat/chat_words.h"
#include "ui/chat/flow_layout.h"
#include "ui/chat/record_strip.h"
#include "ui/common/private_files.h"
#include "ui/common/shortcuts.h"
#include "ui/common/unique_id.h"
#include "ui/media/media_cache.h"
#include "ui/style/elided_label.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QAbstractTextDocumentLayout>
#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QImage>
#include <QKeyEvent>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QMimeData>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStandardPaths>
#include <QThreadPool>
#include <QTime>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kMostLines = 9;
constexpr int kMostPrompts = 7; ///< Rows of the list of shortcuts before it scrolls.
constexpr int kPromptGap = 4;
constexpr int kPromptPadding = 12; ///< As the rows of a menu.
constexpr int kMostAttachments = 32;
constexpr size_t kManyAttachments = 4; ///< From here on they are counted and removed at once.
constexpr int kChipGap = 8;

/// "30 pictures", "2 pictures and 1 sound".
QString attachmentWords(const std::vector<AttachmentChip*>& chips) {
    const auto sounds = std::count_if(chips.begin(), chips.end(), [](const AttachmentChip* chip) {
        return chip->attachment().kind == engine::MessagePart::Kind::Audio;
    });
    const auto pictures = static_cast<qint64>(chips.size()) - sounds;
    const QString seen = pictures == 1 ? Composer::tr("1 picture")
                                       : Composer::tr("%1 pictures").arg(formatCount(pictures));
    const QString heard =
        sounds == 1 ? Composer::tr("1 sound") : Composer::tr("%1 sounds").arg(formatCount(sounds));
    return sounds == 0 ? seen : pictures == 0 ? heard : Composer::tr("%1 and %2").arg(seen, heard);
}

/// The input box: what is pasted goes to the composer first, so that pictures and files become
/// attachments and only text is inserted.
class MessageInput : public QPlainTextEdit {
public:
    explicit MessageInput(Composer* composer) : QPlainTextEdit(composer), composer_(composer) {}

protected:
    bool canInsertFromMimeData(const QMimeData* source) const override {
        return Composer::canTake(source) || QPlainTextEdit::canInsertFromMimeData(source);
    }
    void insertFromMimeData(const QMimeData* source) override {
        // Some programs put a picture of the text beside the text: then the text is meant.
        const bool is_text = source->hasText() && source->urls().isEmpty();
        if (is_text || !composer_->takeMime(source)) {
            QPlainTextEdit::insertFromMimeData(source);
        }
    }

private:
    Composer* composer_;
};

QToolButton* toolButton(const QString& symbol, const QString& text, QWidget* parent) {
    auto* button = new QToolButton(parent);
    button->setIcon(icon(symbol));
    setIconButton(button, 20, Theme::kControlHeight);
    button->setAccessibleName(text);
    button->setToolTip(text);
    setButtonKind(button, ButtonKind::Flat);
    return button;
}

} // namespace

Composer::Composer(MediaCache* media, SoundPlayer* player, QWidget* parent)
    : QFrame(parent), media_(media), player_(player), edit_strip_(new QWidget(this)),
      edit_words_(new QLabel(edit_strip_)), record_strip_(new RecordStrip(player, this)),
      chips_part_(new QWidget(this)), chips_line_(new QWidget(chips_part_)),
      chips_count_(new QLabel(chips_line_)), chip_area_(new QScrollArea(chips_part_)),
      chip_row_(new QWidget), chip_layout_(new FlowLayout(chip_row_, kChipGap)),
      input_(new MessageInput(this)),
      attach_(toolButton(QStringLiteral("attach"), tr("Attach a picture or a sound"), this)),
      record_(toolButton(QStringLiteral("mic"), tr("Record from the microphone"), this)),
      prompts_button_(
          toolButton(QStringLiteral("spark"), tr("Prompt shortcuts (type / at the start)"), this)),
      hint_(new ElidedLabel(this)), send_(new QPushButton(tr("Send"), this)),
      stop_(new QPushButton(tr("Stop"), this)), prompt_list_(new QListWidget(this)) {
    setObjectName(QStringLiteral("composer"));
    setKeyToolTip(attach_, attach_->accessibleName(), QStringLiteral("attach"));
    setKeyToolTip(record_, record_->accessibleName(), QStringLiteral("record"));
    auto* layout = columnIn(this, {12, 8, 8, 8}, 4);

    buildEditStrip();
    edit_strip_->hide();
    layout->addWidget(edit_strip_);

    record_strip_->hide();
    layout->addWidget(record_strip_);
    buildChips();
    layout->addWidget(chips_part_);

    input_->setObjectName(QStringLiteral("messageInput"));
    input_->setAccessibleName(tr("Message"));
    input_->setFrameShape(QFrame::NoFrame);
    input_->setTabChangesFocus(true);
    input_->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    input_->document()->setDocumentMargin(4);
    input_->installEventFilter(this);
    input_->viewport()->installEventFilter(this);
    input_->setAcceptDrops(false); // the whole view takes drops
    layout->addWidget(input_);

    layout->addLayout(buildButtons());

    prompt_list_->setObjectName(QStringLiteral("promptList"));
    prompt_list_->setAccessibleName(tr("Prompt shortcuts"));
    prompt_list_->setFocusPolicy(Qt::NoFocus);
    prompt_list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    prompt_list_->setTextElideMode(Qt::ElideRight);
    prompt_list_->hide();

    connectParts();
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this, &Composer::fitHeight);
    setFocusProxy(input_);
    fitHeight();
    updateHint();
}

void Composer::buildEditStrip() {
    auto* strip = rowIn(edit_strip_, {0, 0, 0, 0});
    setTextRole(edit_words_, TextRole::Accent);
    strip->addWidget(edit_words_, 1);
    auto* cancel = pushButton("cancelEdit", tr("Cancel (Esc)"), edit_strip_);
    cancel->setAccessibleName(tr("Cancel editing"));
    strip->addWidget(cancel);
    connect(cancel, &QPushButton::clicked, this, &Composer::cancelEditRequested);
}

QLayout* Composer::buildButtons() {
    auto* row = new QHBoxLayout();
    row->setSpacing(4);
    attach_->setObjectName(QStringLiteral("attachButton"));
    prompts_button_->setObjectName(QStringLiteral("promptsButton"));
    record_->setObjectName(QStringLiteral("recordButton"));
    row->addWidget(attach_);
    row->addWidget(record_);
    row->addWidget(prompts_button_);
    setTextRole(hint_, TextRole::Muted);
    setTextSize(hint_, 85);
    hint_->setObjectName(QStringLiteral("composerHint"));
    hint_->setMinimumCharacters(3);
    row->addWidget(hint_, 1);
    send_->setObjectName(QStringLiteral("sendButton"));
    send_->setIcon(icon(QStringLiteral("send")));
    send_->setAccessibleName(tr("Send"));
    send_->setToolTip(tr("Send the message (Enter)"));
    setButtonKind(send_, ButtonKind::Primary);
    stop_->setObjectName(QStringLiteral("stopButton"));
    stop_->setIcon(icon(QStringLiteral("stop")));
    stop_->setAccessibleName(tr("Stop"));
    stop_->setToolTip(tr("Stop the reply (Esc); what is written stays"));
    setButtonKind(stop_, ButtonKind::Danger);
    stop_->hide();
    row->addWidget(stop_);
    row->addWidget(send_);
    return row;
}

void Composer::connectParts() {
    connect(input_, &QPlainTextEdit::textChanged, this, [this] {
        fitHeight();
        updatePrompts();
        updateHint();
        Q_EMIT changed();
    });
    connect(input_->document()->documentLayout(), &QAbstractTextDocumentLayout::documentSizeChanged,
            this, &Composer::fitHeight);
    connect(send_, &QPushButton::clicked, this, &Composer::sendRequested);
    connect(stop_, &QPushButton::clicked, this, &Composer::stopRequested);
    connect(attach_, &QToolButton::clicked, this, &Composer::chooseRequested);
    connect(record_, &QToolButton::clicked, this, &Composer::toggleRecording);
    connect(record_strip_, &RecordStrip::recorded, this, [this](const QString& file) {
        Attachment attachment;
        attachment.kind = engine::MessagePart::Kind::Audio;
        attachment.file = file;
        attachment.name =
            tr("recording %1").arg(QTime::currentTime().toString(QStringLiteral("hh-mm-ss"))) +
            QStringLiteral(".wav");
        addChip(attachment);
        Q_EMIT changed();
    });
    connect(record_strip_, &RecordStrip::closed, this, [this] {
        record_strip_->hide();
        input_->setFocus();
    });
    cost_timer_.setSingleShot(true);
    cost_timer_.setInterval(300);
    connect(&cost_timer_, &QTimer::timeout, this, [this] {
        for (const AttachmentChip* chip : chips_) {
            if (is_loaded_ && chip->attachment().cut_length_s > 0.0) {
                Q_EMIT costRequested(chip->part());
            }
        }
    });
    connect(prompt_list_, &QListWidget::itemClicked, this, &Composer::acceptPrompt);
    connect(prompts_button_, &QToolButton::clicked, this, &Composer::openPrompts);
}

void Composer::openPrompts() {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (const PromptShortcut& prompt : prompts_) {
        menu->addAction(QLatin1Char('/') + prompt.name, this, [this, prompt] {
            input_->setPlainText(prompt.text + text());
            input_->moveCursor(QTextCursor::End);
            input_->setFocus();
        });
    }
    menu->addSeparator();
    menu->addAction(tr("Save this message as a shortcut"), this, &Composer::savePrompt)
        ->setEnabled(!text().isEmpty());
    QMenu* forget = menu->addMenu(tr("Forget a shortcut"));
    for (const PromptShortcut& prompt : prompts_) {
        forget->addAction(QLatin1Char('/') + prompt.name, this, [this, name = prompt.name] {
            std::erase_if(prompts_, [&](const PromptShortcut& p) { return p.name == name; });
            Q_EMIT promptsChanged(prompts_);
        });
    }
    menu->popup(prompts_button_->mapToGlobal(QPoint(0, -menu->sizeHint().height())));
}

QString Composer::text() const {
    return input_->toPlainText();
}

void Composer::setText(const QString& text) {
    input_->setPlainText(text);
    input_->moveCursor(QTextCursor::End);
}

void Composer::clear() {
    input_->clear();
    setAttachments({});
}

bool Composer::isEmpty() const {
    return text().trimmed().isEmpty() && chips_.empty();
}

std::vector<Attachment> Composer::attachments() const {
    std::vector<Attachment> result;
    result.reserve(chips_.size());
    for (const AttachmentChip* chip : chips_) {
        result.push_back(chip->attachment());
    }
    return result;
}

void Composer::setAttachments(const std::vector<Attachment>& attachments) {
    for (AttachmentChip* chip : chips_) {
        chip_layout_->removeWidget(chip);
        chip->hide();
        chip->deleteLater();
    }
    chips_.clear();
    for (const Attachment& attachment : attachments) {
        addChip(attachment);
    }
    fitChips();
    updateHint();
    Q_EMIT changed();
}

void Composer::buildChips() {
    auto* column = columnIn(chips_part_, {0, 0, 4, 4}, 4);
    auto* line = rowIn(chips_line_, {4, 0, 0, 0}, 8);
    chips_count_->setObjectName(QStringLiteral("attachmentCount"));
    setTextRole(chips_count_, TextRole::Muted);
    auto* remove = pushButton("removeAllAttachments", tr("Remove all"), chips_line_, nullptr,
                              ButtonKind::Flat);
    remove->setAccessibleName(tr("Remove all attachments"));
    line->addWidget(chips_count_);
    line->addWidget(remove);
    line->addStretch(1);
    connect(remove, &QPushButton::clicked, this, &Composer::removeAll);
    chip_area_->setObjectName(QStringLiteral("attachmentArea"));
    chip_area_->setFrameShape(QFrame::NoFrame);
    chip_area_->setWidgetResizable(true);
    chip_area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    chip_area_->setFocusPolicy(Qt::NoFocus); // Tab goes to what it holds
    chip_area_->setWidget(chip_row_);
    chip_row_->setAutoFillBackground(false);
    chip_area_->viewport()->setAutoFillBackground(false);
    column->addWidget(chips_line_);
    column->addWidget(chip_area_);
    chips_part_->hide();
}

void Composer::removeAll() {
    const std::vector<Attachment> removed = attachments();
    setAttachments({});
    input_->setFocus();
    Q_EMIT allRemoved(removed);
}

void Composer::fitChips() {
    chips_part_->setVisible(!chips_.empty());
    if (chips_.empty()) {
        return;
    }
    chips_count_->setText(attachmentWords(chips_));
    chips_line_->setVisible(chips_.size() >= kManyAttachments);
    // The composer's own width: that of the area follows only later.
    const QMargins around = layout()->contentsMargins() + chips_part_->layout()->contentsMargins();
    const int room = width() - around.left() - around.right();
    int tallest = 0, shortest = QWIDGETSIZE_MAX;
    for (const AttachmentChip* chip : chips_) {
        const int width = std::min(chip->sizeHint().width(), room);
        const int height =
            chip->hasHeightForWidth() ? chip->heightForWidth(width) : chip->sizeHint().height();
        tallest = std::max(tallest, height);
        shortest = std::min(shortest, height);
    }
    // Half a row tells that there is more; a few, some of them tall, are all shown where they can.
    const int most = chips_.size() < kManyAttachments
                         ? std::max(tallest, window()->height() * 2 / 5)
                         : std::max(tallest, shortest * 5 / 2 + 2 * kChipGap);
    int wanted = chip_layout_->heightForWidth(room);
    if (wanted > most) {
        const int bar = chip_area_->verticalScrollBar()->sizeHint().width();
        wanted = std::min(chip_layout_->heightForWidth(room - bar), most);
    }
    chip_area_->setFixedHeight(wanted);
    chip_row_->setMinimumHeight(0);
}

void Composer::addChip(const Attachment& attachment) {
    auto* chip = new AttachmentChip(attachment, media_, player_, chip_row_);
    chip->setLongest(longest_sound_s_);
    chips_.push_back(chip);
    chip_layout_->addWidget(chip);
    chip->show();
    connect(chip, &AttachmentChip::removeRequested, this, [this, chip] {
        std::erase(chips_, chip);
        chip_layout_->removeWidget(chip);
        chip->hide();
        chip->deleteLater();
        fitChips();
        input_->setFocus();
        updateHint();
        Q_EMIT changed();
    });
    connect(chip, &AttachmentChip::activated, this,
            [this, chip] { Q_EMIT pictureActivated(chip->attachment().file); });
    connect(chip, &AttachmentChip::attachmentChanged, this, [this] {
        cost_timer_.start();
        updateHint();
        Q_EMIT changed();
    });
    connect(chip, &AttachmentChip::heightChanged, this, &Composer::fitChips, Qt::QueuedConnection);
    fitChips();
    // Seen once it has its place.
    QMetaObject::invokeMethod(
        chip, [this, chip] { chip_area_->ensureWidgetVisible(chip, 0, kChipGap); },
        Qt::QueuedConnection);
    if (is_loaded_) {
        Q_EMIT costRequested(chip->part());
    } else {
        chip->showUnknown(tr("cost known once a model is loaded"));
    }
    updateHint();
}

void Composer::toggleRecording() {
    if (!can_hear_) {
        lacks_tower_for_last_ = is_text_only_;
        Q_EMIT refused(is_text_only_
                           ? tr("The model is loaded for text only and cannot hear sounds.")
                           : tr("This model has no audio tower and cannot hear sounds."));
        return;
    }
    record_strip_->show();
    record_strip_->toggle();
}

std::vector<engine::MessagePart> Composer::mediaParts() const {
    std::vector<engine::MessagePart> parts;
    parts.reserve(chips_.size());
    for (const AttachmentChip* chip : chips_) {
        parts.push_back(chip->part());
    }
    return parts;
}

std::vector<engine::MessagePart> Composer::knownParts() const {
    std::vector<engine::MessagePart> parts;
    for (const AttachmentChip* chip : chips_) {
        if (chip->hasCost()) {
            parts.push_back(chip->part());
        }
    }
    return parts;
}

QStringList Composer::attach(const QStringList& files) {
    QStringList problems;
    lacks_tower_for_last_ = false;
    for (const QString& file : files) {
        const QString name = QFileInfo(file).fileName();
        const bool is_picture = isPictureFile(file);
        if (!is_picture && !isSoundFile(file)) {
            problems.append(tr("%1 is neither a picture (PNG, JPEG, WebP) nor a sound (WAV, FLAC, "
                               "Ogg, MP3, AIFF).")
                                .arg(name));
        } else if (has_model_ && is_text_only_ && !(is_picture ? can_see_ : can_hear_)) {
            lacks_tower_for_last_ = true;
            problems.append(tr("%1 was not added: the model is loaded for text only.").arg(name));
        } else if (has_model_ && is_picture && !can_see_) {
            problems.append(
                tr("%1 was not added: this model has no vision tower and cannot see pictures.")
                    .arg(name));
        } else if (has_model_ && !is_picture && !can_hear_) {
            problems.append(
                tr("%1 was not added: this model has no audio tower and cannot hear sounds.")
                    .arg(name));
        } else if (chips_.size() >= kMostAttachments) {
            problems.append(tr("%1 was not added: a message takes at most %2 files.")
                                .arg(name)
                                .arg(kMostAttachments));
        } else {
            Attachment attachment;
            attachment.kind =
                is_picture ? engine::MessagePart::Kind::Image : engine::MessagePart::Kind::Audio;
            attachment.file = file;
            attachment.name = name;
            addChip(attachment);
        }
    }
    Q_EMIT changed();
    return problems;
}

bool Composer::canTake(const QMimeData* mime) {
    if (mime->hasImage()) {
        return true;
    }
    const QList<QUrl> urls = mime->urls();
    return std::any_of(urls.begin(), urls.end(), [](const QUrl& url) {
        return url.isLocalFile() &&
               (isPictureFile(url.toLocalFile()) || isSoundFile(url.toLocalFile()));
    });
}

bool Composer::takeMime(const QMimeData* mime) {
    QStringList files;
    for (const QUrl& url : mime->urls()) {
        if (url.isLocalFile()) {
            files.append(url.toLocalFile());
        }
    }
    if (!files.isEmpty()) {
        const QStringList problems = attach(files);
        if (!problems.isEmpty()) {
            Q_EMIT refused(problems.join(QLatin1Char('\n')));
        }
        return true;
    }
    if (!mime->hasImage()) {
        return false;
    }
    // A picture without a file: written as PNG beside the program's other temporary files, on the
    // pool, because packing a screenshot takes longer than a frame.
    const QImage image = qvariant_cast<QImage>(mime->imageData());
    if (image.isNull()) {
        return false;
    }
    const QString folder = privateTemporaryFolder(QStringLiteral("belfry-pasted"));
    const QString file = QStringLiteral("%1/%2.png").arg(folder, makeUniqueId());
    QThreadPool::globalInstance()->start([image, folder, file, self = QPointer(this)] {
        const bool is_written = makePrivateFolder(folder) && image.save(file, "PNG");
        QMetaObject::invokeMethod(
            QCoreApplication::instance(),
            [self, file, folder, is_written] {
                if (self == nullptr) {
                    return;
                }
                if (is_written) {
                    Attachment attachment;
                    attachment.kind = engine::MessagePart::Kind::Image;
                    attachment.file = file;
                    attachment.name = tr("pasted picture");
                    self->addChip(attachment);
                    Q_EMIT self->changed();
                } else {
                    Q_EMIT self->refused(tr("The pasted picture could not be written to %1; check "
                                            "that there is room and the folder can be written.")
                                             .arg(folder));
                }
            },
            Qt::QueuedConnection);
    });
    return true;
}

void Composer::showCost(const QString& file, const engine::MediaCost& cost) {
    for (AttachmentChip* chip : chips_) {
        if (chip->attachment().file == file) {
            chip->showCost(cost);
        }
    }
    updateHint();
    Q_EMIT changed();
}

void Composer::showCostError(const QString& file, const engine::Error& error) {
    for (AttachmentChip* chip : chips_) {
        if (chip->attachment().file == file) {
            chip->showError(error);
        }
    }
    updateHint();
    Q_EMIT changed();
}

qint64 Composer::draftTokens() const {
    if (isEmpty()) {
        return 0;
    }
    ChatTurn turn;
    turn.text = text();
    for (const AttachmentChip* chip : chips_) {
        if (!chip->hasError()) { // what cannot be read is not sent
            turn.attachments.push_back(chip->attachment());
        }
    }
    return estimateTokens(turn);
}

QString Composer::attachmentError() const {
    for (const AttachmentChip* chip : chips_) {
        if (chip->hasError()) {
            return chip->error();
        }
    }
    return {};
}

void Composer::setLoading(bool is_loading) {
    if (is_loading_ != is_loading) {
        is_loading_ = is_loading;
        updateHint();
    }
}

void Composer::setModel(const engine::ModelSummary* model, bool is_loaded) {
    has_model_ = model != nullptr;
    can_see_ = model == nullptr || model->has_vision;
    can_hear_ = model == nullptr || model->has_audio;
    is_text_only_ = model != nullptr && (model->lacks_vision_by_wish || model->lacks_audio_by_wish);
    is_loaded_ = is_loaded;
    longest_sound_s_ = model != nullptr ? model->longest_sound_s : 0.0;
    record_strip_->setLongest(longest_sound_s_);
    // What a text-only load left out can be had: the buttons say how.
    record_->setEnabled(can_hear_ || (model != nullptr && model->lacks_audio_by_wish));
    fitPlaceholder();
    for (AttachmentChip* chip : chips_) {
        chip->setLongest(longest_sound_s_);
        if (is_loaded) {
            Q_EMIT costRequested(chip->part());
        }
    }
    attach_->setEnabled(can_see_ || can_hear_ || is_text_only_);
    updateHint();
}

void Composer::setUnloadable(bool is_unloadable) {
    if (is_unloadable_ != is_unloadable) {
        is_unloadable_ = is_unloadable;
        updateHint();
    }
}

void Composer::setAnswerer(const QString& name) {
    if (answerer_ != name) {
        answerer_ = name;
        updateHint();
    }
}

void Composer::setBusy(bool is_generating, bool is_stopping, bool is_queued) {
    is_generating_ = is_generating;
    is_queued_ = is_queued;
    const bool had_focus = stop_->hasFocus() || send_->hasFocus();
    stop_->setVisible(is_generating);
    stop_->setEnabled(!is_stopping);
    stop_->setText(is_stopping ? tr("Stopping…") : tr("Stop"));
    send_->setVisible(!is_generating);
    if (had_focus) {
        input_->setFocus();
    }
    updateHint();
}

void Composer::setEditing(Editing editing) {
    editing_ = editing;
    const bool is_reply = editing == Editing::Reply;
    edit_words_->setText(
        is_reply ? tr("Editing a reply: what follows it stays")
                 : tr("Editing: the message and what follows it are kept as an earlier version"));
    edit_strip_->setVisible(editing != Editing::Nothing);
    send_->setText(is_reply                       ? tr("Save")
                   : editing == Editing::Question ? tr("Resend")
                                                  : tr("Send"));
    updateHint();
}

void Composer::updateHint() {
    const bool is_reply = editing_ == Editing::Reply;
    send_->setEnabled((is_loaded_ || is_reply) && !isEmpty() && attachmentError().isEmpty());
    if (is_reply) {
        hint_->setText(tr("Enter saves · Shift+Enter starts a new line"));
        return;
    }
    if (is_queued_) {
        hint_->setText(tr("Will be sent when the reply is finished"));
        return;
    }
    if (!is_loaded_) {
        hint_->setText(is_loading_      ? tr("The model is being loaded; write meanwhile")
                       : is_unloadable_ ? tr("This model cannot be loaded: its weights are missing")
                                        : tr("Load a model to send"));
        return;
    }
    if (isEmpty()) {
        hint_->setText(is_generating_         ? tr("Esc stops")
                       : !answerer_.isEmpty() ? tr("%1 answers").arg(answerer_)
                                              : tr("Enter sends · Shift+Enter starts a new line"));
        return;
    }
    double seconds = 0.0;
    for (const AttachmentChip* chip : chips_) {
        seconds += chip->hasCost() ? chip->cost().seconds : 0.0;
    }
    QString words = tr("about %1").arg(tokensWords(draftTokens()));
    if (seconds > 0.0) {
        words += QStringLiteral(" · ") + tr("%1 to encode").arg(formatSeconds(seconds));
    }
    if (!answerer_.isEmpty()) {
        words.prepend(tr("%1 answers").arg(answerer_) + QStringLiteral(" · "));
    }
    if (is_generating_) {
        words += QStringLiteral(" · ") + tr("Ctrl+Enter sends after the reply");
    }
    hint_->setText(words);
}

void Composer::fitHeight() {
    const int line = input_->fontMetrics().lineSpacing();
    // A plain text document measures its height in lines.
    const int lines = static_cast<int>(input_->document()->size().height());
    input_->setFixedHeight(std::clamp(lines, 1, kMostLines) * line + 12);
    updateGeometry();
}

void Composer::fitPlaceholder() {
    QString text = can_see_ && can_hear_
                       ? tr("Ask about text, a picture or a sound… drop files here or paste them")
                   : can_see_ ? tr("Ask about text or a picture… drop files here or paste them")
                              : tr("Write a message");
    const qreal room = input_->viewport()->width() - 2 * input_->document()->documentMargin();
    if (input_->fontMetrics().horizontalAdvance(text) > room) {
        text = tr("Write a message"); // half a sentence says less
    }
    input_->setPlaceholderText(text);
}

void Composer::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    fitHeight();
    fitChips();
    placePrompts();
}

void Composer::paintEvent(QPaintEvent* event) {
    Q_UNUSED(event);
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(
        QPen(input_->hasFocus() ? theme.accent : theme.border, input_->hasFocus() ? 1.5 : 1.0));
    painter.setBrush(theme.surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 12.0, 12.0);
}

bool Composer::eventFilter(QObject* watched, QEvent* event) {
    if (watched == input_->viewport() && event->type() == QEvent::Resize) {
        fitPlaceholder();
    }
    if (watched != input_) {
        return QFrame::eventFilter(watched, event);
    }
    if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) {
        update();
        if (event->type() == QEvent::FocusOut) {
            prompt_list_->hide();
        }
        return false;
    }
    if (event->type() != QEvent::KeyPress && event->type() != QEvent::ShortcutOverride) {
        return QFrame::eventFilter(watched, event);
    }
    auto* key = static_cast<QKeyEvent*>(event);
    if (event->type() == QEvent::ShortcutOverride) {
        if (key->key() == Qt::Key_Escape && prompt_list_->isVisible()) {
            event->accept();
        }
        return false;
    }
    if (prompt_list_->isVisible()) {
        const int count = prompt_list_->count();
        switch (key->key()) {
        case Qt::Key_Up:
        case Qt::Key_Down: {
            const int by = key->key() == Qt::Key_Down ? 1 : count - 1;
            prompt_list_->setCurrentRow((prompt_list_->currentRow() + by) % count);
            return true;
        }
        case Qt::Key_Return:
        case Qt::Key_Enter:
        case Qt::Key_Tab:
            acceptPrompt();
            return true;
        case Qt::Key_Escape:
            prompt_list_->hide();
            return true;
        default:
            break;
        }
    }
    if (key->matches(QKeySequence::Undo) && !input_->document()->isUndoAvailable()) {
        event->ignore(); // the window may have something to undo: a deleted chat
        return true;
    }
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
        if ((key->modifiers() & Qt::ControlModifier) != 0) {
            Q_EMIT queueRequested();
            return true;
        }
        if ((key->modifiers() & (Qt::ShiftModifier | Qt::AltModifier)) == 0) {
            Q_EMIT sendRequested();
            return true;
        }
    }
    return false;
}

void Composer::setPrompts(const std::vector<PromptShortcut>& prompts) {
    prompts_ = prompts;
}

void Composer::updatePrompts() {
    const QString typed = text();
    prompt_list_->clear();
    if (typed.startsWith(QLatin1Char('/')) && !typed.contains(QLatin1Char('\n')) &&
        typed.size() < 40) {
        const QString wanted = typed.mid(1).toLower();
        for (const PromptShortcut& prompt : prompts_) {
            if (prompt.name.toLower().startsWith(wanted)) {
                auto* item = new QListWidgetItem(
                    QStringLiteral("/%1    %2").arg(prompt.name, prompt.text.simplified()));
                item->setData(Qt::UserRole, prompt.text);
                item->setSizeHint({0, prompt_list_->fontMetrics().height() + kPromptPadding});
                prompt_list_->addItem(item);
            }
        }
    }
    if (prompt_list_->count() == 0) {
        prompt_list_->hide();
        return;
    }
    prompt_list_->setCurrentRow(0);
    placePrompts();
    prompt_list_->show();
    prompt_list_->raise();
}

void Composer::showPromptsIn(QWidget* area) {
    prompt_list_->setParent(area);
}

void Composer::placePrompts() {
    const QWidget* area = prompt_list_->parentWidget();
    if (prompt_list_->count() == 0 || area == this) {
        return;
    }
    const QPoint place = mapTo(area, QPoint(0, 0));
    const int row = prompt_list_->sizeHintForRow(0);
    const int frame = 2 * prompt_list_->frameWidth();
    // As many rows as fit above; the others scroll.
    const int rows = std::min(prompt_list_->count(), kMostPrompts);
    const int height =
        std::min(rows * row + frame, std::max(place.y() - 2 * kPromptGap, row + frame));
    prompt_list_->setGeometry(place.x(), place.y() - height - kPromptGap, std::min(width(), 520),
                              height);
}

void Composer::takeKey(const QKeyEvent* event) {
    input_->setFocus();
    QKeyEvent again(event->type(), event->key(), event->modifiers(), event->text(),
                    event->isAutoRepeat());
    QCoreApplication::sendEvent(input_, &again);
}

void Composer::acceptPrompt() {
    const QListWidgetItem* item = prompt_list_->currentItem();
    if (item != nullptr) {
        const QString prompt = item->data(Qt::UserRole).toString();
        prompt_list_->hide();
        setText(prompt);
        input_->setFocus();
    }
}

void Composer::savePrompt() {
    // Named after its first words; a shortcut of the same name is replaced.
    const QString content = text().trimmed();
    QString name = content.simplified().section(QLatin1Char(' '), 0, 2).toLower();
    name.replace(QLatin1Char(' '), QLatin1Char('-'));
    name.remove(QLatin1Char('/'));
    name.truncate(24);
    if (name.isEmpty()) {
        return;
    }
    std::erase_if(prompts_, [&](const PromptShortcut& prompt) { return prompt.name == name; });
    prompts_.push_back({name, content});
    Q_EMIT promptsChanged(prompts_);
    Q_EMIT refused(tr("Saved: type /%1 to use it again.").arg(name));
}

} // namespace ui
