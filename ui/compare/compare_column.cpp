// SPDX-License-Identifier: Apache-2.0
#include "ui/compare/compare_column.h"

#include "engine/api/model_address.h"
#include "ui/common/error_words.h"
#include "ui/common/reply_words.h"
#include "ui/common/sentence_words.h"
#include "ui/compare/word_diff.h"
#include "ui/style/elided_label.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QTextEdit>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr int kLeastWidth = 140; ///< Four beside each other squeeze no pane of the window.
constexpr int kBoxWidth = 32;    ///< A check box without its text.

QString adapterName(const std::string& folder) {
    return QFileInfo(fromUtf8(folder)).fileName();
}

} // namespace

/// Name of an adapter, or of a model on a server.
static QString choiceName(const std::string& folder) {
    return engine::isServerModel(folder) ? CompareColumn::tr("%1 on %2")
                                               .arg(fromUtf8(engine::serverModelName(folder)),
                                                    fromUtf8(engine::serverHost(folder)))
                                         : adapterName(folder);
}

QString adapterSetName(const std::vector<engine::AdapterChoice>& adapters) {
    QStringList names;
    for (const engine::AdapterChoice& adapter : adapters) {
        if (adapter.is_enabled && engine::isServerModel(adapter.folder)) {
            return choiceName(adapter.folder); // answers in place of all others
        }
        if (adapter.is_enabled) {
            names.append(QStringLiteral("%1 × %2").arg(
                adapterName(adapter.folder), QLocale().toString(adapter.strength, 'f', 2)));
        }
    }
    return names.isEmpty() ? CompareColumn::tr("Base model") : names.join(QStringLiteral(" + "));
}

CompareColumn::CompareColumn(QWidget* parent)
    : QFrame(parent), title_(new ElidedLabel), remove_(new QPushButton),
      load_button_(new QPushButton), loads_(new QMenu(this)), choices_(new QGridLayout),
      body_(new QPlainTextEdit), status_(new QLabel), difference_(new QLabel) {
    setObjectName(QStringLiteral("compareColumn"));
    setArea(this, Area::Surface);
    setMinimumWidth(kLeastWidth);
    title_->setObjectName(QStringLiteral("compareTitle"));
    setTextSize(title_, 105, true);
    remove_->setObjectName(QStringLiteral("compareRemove"));
    remove_->setIcon(icon(QStringLiteral("close")));
    remove_->setFixedSize(28, 28);
    setButtonKind(remove_, ButtonKind::Flat);
    connect(remove_, &QPushButton::clicked, this, &CompareColumn::removeRequested);
    load_button_->setObjectName(QStringLiteral("compareLoad"));
    load_button_->setIcon(icon(QStringLiteral("chip")));
    load_button_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    loads_->setObjectName(QStringLiteral("compareLoads"));
    connect(loads_, &QMenu::aboutToShow, this, &CompareColumn::fillLoads);
    connect(load_button_, &QPushButton::clicked, this, [this] {
        loads_->popup(load_button_->mapToGlobal(QPoint(0, load_button_->height() + 4)));
    });
    body_->setObjectName(QStringLiteral("compareText"));
    body_->setReadOnly(true);
    body_->setFrameShape(QFrame::NoFrame);
    body_->setMinimumHeight(20);             // a line: what stands below is not cut before that
    body_->document()->setDocumentMargin(0); // in line with the title above it
    body_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    status_->setObjectName(QStringLiteral("compareStatus"));
    difference_->setObjectName(QStringLiteral("compareDifference"));
    for (QLabel* label : {status_, difference_}) {
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        setTextRole(label, TextRole::Muted);
        setTextSize(label, 92);
    }
    choices_->setHorizontalSpacing(8);
    choices_->setVerticalSpacing(4);
    choices_->setColumnStretch(0, 1);

    auto* head = new QHBoxLayout;
    head->addWidget(title_, 1);
    head->addWidget(remove_);
    auto* column = columnIn(this, {12, 8, 12, 12}, 8);
    column->addLayout(head);
    column->addWidget(load_button_);
    column->addLayout(choices_);
    column->addWidget(body_, 1);
    column->addWidget(difference_);
    column->addWidget(status_);
    setNumber(1);
    setLoads({}, {});
    clear();
}

void CompareColumn::setLoads(const engine::LoadRequest& loaded, const NamedModels& models) {
    engine::LoadRequest wanted = loaded;
    wanted.adapters.clear();
    if (loaded.model == loaded_.model) { // what was chosen here stays chosen
        for (const auto field : {&engine::LoadRequest::model, &engine::LoadRequest::device_map,
                                 &engine::LoadRequest::quant, &engine::LoadRequest::kv}) {
            wanted.*field = wanted_.*field != loaded_.*field ? wanted_.*field : wanted.*field;
        }
        if (wanted.model != loaded.model) { // these belong to another model's files
            wanted.projector = wanted_.projector;
            wanted.draft = wanted_.draft;
        }
    }
    loaded_ = loaded;
    loaded_.adapters.clear();
    wanted_ = std::move(wanted);
    models_ = models;
    load_button_->setVisible(!loaded_.model.empty() && kept_name_.isEmpty());
    updateName();
    fitNames();
}

void CompareColumn::setKept(const QString& name) {
    kept_name_ = name;
    load_button_->hide();
    for (const Choice& row : rows_) { // those of the chat
        row.box->hide();
        row.strength->hide();
    }
    updateName();
}

engine::LoadRequest CompareColumn::load() const {
    return loadWords().isEmpty() ? engine::LoadRequest() : wanted_;
}

QString CompareColumn::name() const {
    const QString words = loadWords();
    const QString adapters_name = adapterSetName(adapters());
    return !kept_name_.isEmpty() ? kept_name_
           : words.isEmpty()     ? adapters_name
                                 : QStringLiteral("%1 · %2").arg(adapters_name, words);
}

QString CompareColumn::loadWords() const {
    QStringList words;
    if (wanted_.model != loaded_.model) {
        const QString path = fromUtf8(wanted_.model);
        const auto named = std::find_if(models_.begin(), models_.end(),
                                        [&](const auto& one) { return one.second == path; });
        words.append(named == models_.end() ? path : named->first);
    }
    if (wanted_.device_map != loaded_.device_map && wanted_.model == loaded_.model) {
        words.append(presetName(fromUtf8(wanted_.device_map)));
    }
    if (wanted_.quant != loaded_.quant) {
        words.append(quantName(fromUtf8(wanted_.quant)));
    }
    if (wanted_.kv != loaded_.kv) {
        words.append(wanted_.kv == "q8" ? tr("KV cache in 8 bits") : tr("KV cache in 16 bits"));
    }
    return words.join(QStringLiteral(" · "));
}

void CompareColumn::fillLoads() {
    loads_->clear();
    const auto add = [this](const QString& text, std::string engine::LoadRequest::*field,
                            const QString& value) {
        const std::string wanted = value.toStdString();
        QAction* action = loads_->addAction(text);
        action->setCheckable(true);
        action->setChecked(wanted_.*field == wanted);
        connect(action, &QAction::triggered, this, [this, field, wanted] {
            wanted_.*field = wanted;
            if (field == &engine::LoadRequest::model) {
                const bool is_loaded = wanted == loaded_.model;
                // A map names the parts of the model that it was made for.
                wanted_.device_map = is_loaded ? loaded_.device_map : "fit";
                wanted_.projector = is_loaded ? loaded_.projector : std::string();
                wanted_.draft = is_loaded || loaded_.draft == "auto" ? loaded_.draft : "";
            }
            updateName();
            fitNames();
            Q_EMIT adaptersEdited();
        });
    };
    QAction* back = loads_->addAction(tr("As it is loaded"));
    back->setObjectName(QStringLiteral("compareAsLoaded"));
    back->setCheckable(true);
    back->setChecked(loadWords().isEmpty());
    connect(back, &QAction::triggered, this, [this] {
        wanted_ = loaded_;
        updateName();
        fitNames();
        Q_EMIT adaptersEdited();
    });
    using Request = engine::LoadRequest;
    loads_->addSection(tr("Placement"));
    for (const char* preset : {"fit", "gpu", "towers-cpu", "ple-cpu", "lean", "cpu"}) {
        add(presetName(QString::fromLatin1(preset)), &Request::device_map,
            QString::fromLatin1(preset));
    }
    loads_->addSection(tr("Weights"));
    for (const QString& quant : quantOptions(false)) {
        add(quantName(quant), &Request::quant, quant);
    }
    loads_->addSection(tr("KV cache"));
    add(tr("16 bits"), &Request::kv, QStringLiteral("auto"));
    add(tr("8 bits"), &Request::kv, QStringLiteral("q8"));
    if (!models_.isEmpty()) {
        loads_->addSection(tr("Another file or folder"));
    }
    for (const auto& [name, path] : models_) {
        add(name, &Request::model, path);
    }
}

void CompareColumn::setNumber(int number) {
    number_ = number;
    setAccessibleName(tr("Column %1").arg(number));
    remove_->setAccessibleName(tr("Remove column %1").arg(number));
    remove_->setToolTip(remove_->accessibleName());
    body_->setAccessibleName(tr("Answer in column %1").arg(number));
    for (const Choice& row : rows_) {
        row.strength->setAccessibleName(
            tr("Strength of %1 in column %2").arg(choiceName(row.folder)).arg(number));
        row.box->setAccessibleName(tr("%1 in column %2").arg(choiceName(row.folder)).arg(number));
    }
}

void CompareColumn::setRemovable(bool is_removable) {
    remove_->setVisible(is_removable);
}

void CompareColumn::setEditable(bool is_editable) {
    remove_->setEnabled(is_editable);
    load_button_->setEnabled(is_editable);
    for (const Choice& row : rows_) {
        row.box->setEnabled(is_editable);
        row.strength->setEnabled(is_editable && row.box->isChecked());
    }
}

void CompareColumn::setAdapters(const std::vector<engine::AdapterChoice>& adapters) {
    for (const Choice& row : rows_) {
        delete row.box;
        delete row.strength;
    }
    rows_.clear();
    for (const engine::AdapterChoice& adapter : adapters) {
        Choice row{adapter.folder, new QCheckBox(choiceName(adapter.folder), this),
                   new QDoubleSpinBox(this)};
        row.box->setObjectName(QStringLiteral("compareAdapter"));
        row.box->setChecked(adapter.is_enabled);
        row.box->setToolTip(choiceName(adapter.folder) + QLatin1Char('\n') +
                            fromUtf8(adapter.folder));
        // As wide as the column leaves it: fitNames() writes what has room.
        row.box->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        row.strength->setObjectName(QStringLiteral("compareStrength"));
        row.strength->setRange(0.0, 2.0);
        row.strength->setSingleStep(0.05);
        row.strength->setDecimals(2);
        row.strength->setValue(adapter.strength);
        row.strength->setEnabled(adapter.is_enabled);
        row.strength->setVisible(!engine::isServerModel(adapter.folder));
        row.strength->setMinimumWidth(
            fontMetrics().horizontalAdvance(QLocale().toString(2.0, 'f', 2)) + 56);
        row.strength->setMaximumHeight(
            std::max(Theme::kControlHeight, fontMetrics().height() + 12));
        const int line = static_cast<int>(rows_.size());
        choices_->addWidget(row.box, line, 0);
        choices_->addWidget(row.strength, line, 1);
        connect(row.box, &QCheckBox::toggled, this, [this, strength = row.strength](bool is_on) {
            strength->setEnabled(is_on);
            updateName();
            Q_EMIT adaptersEdited();
        });
        connect(row.strength, &QDoubleSpinBox::valueChanged, this, [this] {
            updateName();
            Q_EMIT adaptersEdited();
        });
        rows_.push_back(row);
    }
    setNumber(number_);
    updateName();
    fitNames();
}

void CompareColumn::fitNames() {
    const QMargins around = layout()->contentsMargins();
    for (const Choice& row : rows_) {
        const int beside = row.strength->isHidden()
                               ? 0
                               : row.strength->minimumWidth() + choices_->horizontalSpacing();
        const int room = width() - around.left() - around.right() - beside - kBoxWidth;
        row.box->setText(
            row.box->fontMetrics().elidedText(choiceName(row.folder), Qt::ElideRight, room));
    }
    const QString words = loadWords();
    const QString load = words.isEmpty() ? tr("As it is loaded") : words;
    load_button_->setText(
        load_button_->fontMetrics().elidedText(
            load, Qt::ElideRight, width() - around.left() - around.right() - 3 * kBoxWidth) +
        QStringLiteral(" ▾"));
    load_button_->setToolTip(load);
    load_button_->setAccessibleName(tr("Load of column %1: %2").arg(number_).arg(load));
}

void CompareColumn::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    fitNames();
}

std::vector<engine::AdapterChoice> CompareColumn::adapters() const {
    std::vector<engine::AdapterChoice> adapters;
    adapters.reserve(rows_.size());
    for (const Choice& row : rows_) {
        adapters.push_back({row.folder, row.strength->value(), row.box->isChecked()});
    }
    return adapters;
}

void CompareColumn::updateName() {
    title_->setText(name());
    setAccessibleDescription(name());
}

void CompareColumn::setStatus(const QString& status, bool is_error) {
    status_->setText(status);
    setTextRole(status_, is_error ? TextRole::Danger : TextRole::Muted);
}

void CompareColumn::clear() {
    body_->clear();
    body_->setExtraSelections({});
    difference_->clear();
    difference_->hide();
    figures_.clear();
    is_finished_ = false;
    is_waiting_ = false;
    setStatus({});
}

void CompareColumn::showWaiting() {
    clear();
    is_waiting_ = true;
    setStatus(tr("Waits for its turn"));
}

void CompareColumn::showStarted() {
    clear();
    setStatus(tr("Reads the prompt"));
}

void CompareColumn::showLoading(quint64 done, quint64 total) {
    clear();
    setStatus(total > 0
                  ? tr("Loads for this column: %1 of %2").arg(formatBytes(done), formatBytes(total))
                  : tr("Loads for this column"));
}

void CompareColumn::append(const engine::ReplyUpdate& update) {
    const bool was_at_end =
        body_->verticalScrollBar()->value() >= body_->verticalScrollBar()->maximum() - 4;
    QTextCursor cursor(body_->document());
    cursor.movePosition(QTextCursor::End);
    cursor.insertText(fromUtf8(update.text));
    if (was_at_end) {
        body_->verticalScrollBar()->setValue(body_->verticalScrollBar()->maximum());
    }
    setStatus(update.text.empty() && !update.thinking.empty()
                  ? tr("Thinks, %n tokens", nullptr, static_cast<int>(update.tokens))
                  : tr("Answers, %n tokens", nullptr, static_cast<int>(update.tokens)));
}

void CompareColumn::showReply(const engine::Reply& reply) {
    // The reply is the truth: what was streamed may lack its last characters.
    const QString answer = fromUtf8(reply.text);
    if (answer != body_->toPlainText()) {
        body_->setPlainText(answer);
    }
    QStringList parts{tr("%n tokens", nullptr, static_cast<int>(reply.timing.decode_tokens))};
    if (reply.timing.decode_s > 0.0 && reply.timing.decode_tokens > 0) {
        parts.append(tr("%1 tokens/s")
                         .arg(formatRate(static_cast<double>(reply.timing.decode_tokens) /
                                         reply.timing.decode_s)));
    }
    parts.append(tr("first token after %1").arg(formatSeconds(reply.timing.time_to_first_token_s)));
    if (const QString drafts = reply.drafts.has_value() ? draftWords(*reply.drafts) : QString();
        !drafts.isEmpty()) {
        parts.append(drafts);
    }
    parts.append(tr("seed %1").arg(reply.seed));
    if (!reply.thinking.empty()) {
        parts.append(
            tr("%n words of thought, not shown", nullptr,
               static_cast<int>(
                   fromUtf8(reply.thinking).split(QLatin1Char(' '), Qt::SkipEmptyParts).size())));
    }
    if (reply.finish_reason == "cancelled") {
        parts.append(tr("stopped"));
    } else if (reply.finish_reason == "context") {
        parts.append(tr("context full"));
    } else if (reply.finish_reason == "length") {
        parts.append(tr("length limit reached"));
    }
    figures_ = parts.join(QStringLiteral(" · "));
    for (const engine::Sentence& note : reply.notes) {
        parts.append(wholeSentence(note));
    }
    is_finished_ = true;
    setStatus(parts.join(QStringLiteral(" · ")));
}

void CompareColumn::showError(const engine::Error& error) {
    is_waiting_ = false;
    is_finished_ = false;
    setStatus(errorSentence(error), true);
}

void CompareColumn::showStopped() {
    setStatus(tr("Stopped before its turn"));
}

void CompareColumn::markAgainst(const QString& reference, bool is_marking) {
    QList<QTextEdit::ExtraSelection> marks;
    if (!is_finished_ || reference.isEmpty() || !is_marking) {
        body_->setExtraSelections(marks);
        difference_->hide();
        return;
    }
    const WordDiff diff = compareWords(reference, body_->toPlainText());
    QColor background = Theme::current().warning;
    background.setAlphaF(Theme::current().is_dark ? 0.30F : 0.24F);
    for (const TextRange& range : diff.changed) {
        QTextEdit::ExtraSelection mark;
        mark.cursor = QTextCursor(body_->document());
        mark.cursor.setPosition(static_cast<int>(range.start));
        mark.cursor.setPosition(static_cast<int>(range.start + range.length),
                                QTextCursor::KeepAnchor);
        mark.format.setBackground(background);
        marks.append(mark);
    }
    body_->setExtraSelections(marks);
    difference_->setText(diff.is_same ? tr("Same words as column 1")
                                      : tr("Differs from column 1 from word %1 on")
                                            .arg(QLocale().toString(diff.common_words + 1)));
    difference_->show();
}

QString CompareColumn::text() const {
    return body_->toPlainText();
}

QString CompareColumn::figures() const {
    return figures_;
}

} // namespace ui
