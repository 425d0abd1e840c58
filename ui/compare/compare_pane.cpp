// SPDX-License-Identifier: Apache-2.0
#include "ui/compare/compare_pane.h"

#include "engine/api/model_address.h"
#include "ui/chat/chat_notice.h"
#include "ui/chat/chat_view.h"
#include "ui/compare/compare_column.h"
#include "ui/compare/word_diff.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QCheckBox>
#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRandomGenerator>
#include <QSpinBox>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace ui {

namespace {

using Kind = engine::MessagePart::Kind;

engine::Message* lastQuestion(engine::GenerateRequest& request) {
    const auto found = std::find_if(
        request.messages.rbegin(), request.messages.rend(),
        [](const engine::Message& message) { return message.role == engine::Message::Role::User; });
    return found == request.messages.rend() ? nullptr : &*found;
}

QLabel* caption(const QString& text, QWidget* buddy) {
    auto* label = new QLabel(text);
    label->setBuddy(buddy);
    setTextRole(label, TextRole::Muted);
    return label;
}

bool isAnyEnabled(const std::vector<engine::AdapterChoice>& adapters) {
    return std::any_of(adapters.begin(), adapters.end(),
                       [](const engine::AdapterChoice& adapter) { return adapter.is_enabled; });
}

} // namespace

ComparePane::ComparePane(QWidget* parent)
    : QFrame(parent), prompt_(new QPlainTextEdit), notice_(new ChatNotice(this)),
      verdict_(selectableLabel("compareVerdict", this)), media_(new QLabel), seed_(new QSpinBox),
      tokens_(new QSpinBox), run_(new QPushButton), add_(new QPushButton(tr("Column"))),
      copy_(new QPushButton(tr("Copy all"))), mark_(new QCheckBox(tr("Mark differences"))),
      hint_(new QLabel), splitter_(new QSplitter(Qt::Horizontal)) {
    setObjectName(QStringLiteral("comparePane"));
    setAccessibleName(tr("Compare"));
    setArea(this, Area::Window);
    splitter_->setObjectName(QStringLiteral("compareColumns"));
    splitter_->setChildrenCollapsible(false);
    splitter_->setHandleWidth(1);
    auto* column = columnIn(this, {16, 12, 16, 16}, 12);
    column->addWidget(buildHead());
    column->addWidget(notice_);
    column->addWidget(verdict_);
    column->addWidget(splitter_, 1);
    column->addWidget(buildFoot());
    verdict_->hide();
    setTextSize(verdict_, 110, true);
    connect(notice_, &ChatNotice::changed, this, &ComparePane::fitNotice);
    setAdapters({});
    updateState();
}

void ComparePane::fitNotice() {
    const QMargins around = layout()->contentsMargins();
    notice_->setFixedHeight(std::max(1, notice_->fitTo(width() - around.left() - around.right())));
}

void ComparePane::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    fitNotice();
    // In a low window the answers have the room.
    const int lines = height() < 32 * fontMetrics().lineSpacing() ? 1 : 3;
    prompt_->setFixedHeight(fontMetrics().lineSpacing() * lines + 20);
}

QWidget* ComparePane::buildHead() {
    auto* head = new QWidget;
    auto* title = new QLabel(tr("Compare"));
    setTextSize(title, 120, true);
    auto* about = new QLabel(tr("One prompt and one seed for all columns."));
    about->setWordWrap(true);
    setTextRole(about, TextRole::Muted);
    auto* close = named("compareClose", new QPushButton);
    close->setIcon(icon(QStringLiteral("close")));
    close->setAccessibleName(tr("Close the comparison"));
    close->setToolTip(tr("Back to the chat (Esc)"));
    close->setFixedSize(28, 28);
    setButtonKind(close, ButtonKind::Flat);
    connect(close, &QPushButton::clicked, this, &ComparePane::closeRequested);
    auto* top = new QHBoxLayout;
    top->setSpacing(12);
    top->addWidget(title);
    top->addWidget(about, 1);
    top->addWidget(close);

    prompt_->setObjectName(QStringLiteral("comparePrompt"));
    prompt_->setAccessibleName(tr("Prompt for all columns"));
    prompt_->setPlaceholderText(tr("What should all columns answer?"));
    prompt_->setTabChangesFocus(true);
    connect(prompt_, &QPlainTextEdit::textChanged, this, &ComparePane::updateState);
    media_->setObjectName(QStringLiteral("compareMedia"));
    media_->setTextFormat(Qt::PlainText);
    media_->setWordWrap(true);
    setTextRole(media_, TextRole::Muted);

    seed_->setObjectName(QStringLiteral("compareSeed"));
    seed_->setAccessibleName(tr("Seed"));
    seed_->setRange(0, 999'999'999);
    seed_->setToolTip(tr("The same number gives the same answer again"));
    tokens_->setObjectName(QStringLiteral("compareTokens"));
    tokens_->setAccessibleName(tr("Longest answer, in tokens"));
    tokens_->setRange(16, 8192);
    tokens_->setSingleStep(64);
    tokens_->setValue(256);
    run_->setObjectName(QStringLiteral("compareRun"));
    connect(run_, &QPushButton::clicked, this, [this] { isRunning() ? stop() : run(); });
    sampling_ = new QWidget;
    auto* sampling = rowIn(sampling_, {0, 0, 0, 0}, 8);
    sampling->addWidget(caption(tr("Seed"), seed_));
    sampling->addWidget(seed_);
    sampling->addSpacing(8);
    sampling->addWidget(caption(tr("Longest answer"), tokens_));
    sampling->addWidget(tokens_);
    auto* options = new QHBoxLayout;
    options->setSpacing(8);
    options->addWidget(sampling_);
    options->addStretch(1);
    options->addWidget(run_);

    auto* column = columnIn(head, {0, 0, 0, 0}, 8);
    column->addLayout(top);
    column->addWidget(prompt_);
    column->addWidget(media_);
    column->addLayout(options);
    for (QSpinBox* box : {seed_, tokens_}) {
        box->setMaximumHeight(std::max(Theme::kControlHeight, fontMetrics().height() + 12));
    }
    seed_->setValue(static_cast<int>(QRandomGenerator::global()->bounded(1'000'000)));
    return head;
}

QWidget* ComparePane::buildFoot() {
    auto* foot = new QWidget;
    hint_->setObjectName(QStringLiteral("compareHint"));
    hint_->setTextFormat(Qt::PlainText);
    hint_->setWordWrap(true);
    setTextRole(hint_, TextRole::Muted);
    add_->setObjectName(QStringLiteral("compareAdd"));
    add_->setIcon(icon(QStringLiteral("plus")));
    add_->setAccessibleName(tr("Add a column"));
    add_->setToolTip(tr("Another set of adapters, up to four columns"));
    connect(add_, &QPushButton::clicked, this, [this] {
        const auto sets = usualSets();
        // One that no column has yet, else what can be changed into it.
        const auto is_new = [this](const std::vector<engine::AdapterChoice>& set) {
            return std::none_of(columns_.begin(), columns_.end(), [&](const CompareColumn* column) {
                return column->name() == adapterSetName(set);
            });
        };
        const auto next = std::find_if(sets.begin(), sets.end(), is_new);
        addColumn(next == sets.end() ? sets.front() : *next);
        updateState();
    });
    mark_->setObjectName(QStringLiteral("compareMark"));
    mark_->setChecked(true);
    connect(mark_, &QCheckBox::toggled, this, &ComparePane::mark);
    copy_->setObjectName(QStringLiteral("compareCopy"));
    copy_->setIcon(icon(QStringLiteral("copy")));
    copy_->setToolTip(tr("Prompt, seed and all answers as Markdown"));
    connect(copy_, &QPushButton::clicked, this, &ComparePane::copyAll);
    auto* row = rowIn(foot, {0, 0, 0, 0}, 12);
    row->addWidget(add_);
    row->addWidget(mark_);
    row->addWidget(hint_, 1);
    row->addWidget(copy_);
    return foot;
}

void ComparePane::setRequest(const engine::GenerateRequest& request,
                             const QHash<QString, QString>& media_names,
                             const QString& chat_id) {
    if (isRunning()) {
        return;
    }
    notice_->clear();
    if (chat_id_ != chat_id) {
        chat_id_ = chat_id;
        agreed_hosts_.clear();
    }
    request_ = request;
    QStringList texts;
    QStringList names;
    if (const engine::Message* question = lastQuestion(request_)) {
        for (const engine::MessagePart& part : question->parts) {
            if (part.kind == Kind::Text) {
                texts.append(fromUtf8(part.text));
            } else {
                const QString file = fromUtf8(part.text);
                names.append(media_names.value(file, QFileInfo(file).fileName()));
            }
        }
    }
    prompt_->setPlainText(texts.join(QLatin1Char('\n')));
    media_->setText(tr("With %1").arg(names.join(QStringLiteral(", "))));
    media_->setVisible(!names.isEmpty());
    if (request.sampling.seed >= 0 && request.sampling.seed <= seed_->maximum()) {
        seed_->setValue(static_cast<int>(request.sampling.seed));
    }
    if (request.sampling.max_tokens > 0) {
        tokens_->setValue(
            static_cast<int>(std::min<int64_t>(request.sampling.max_tokens, tokens_->maximum())));
    }
    if (before_.has_value()) {
        before_.reset();
        verdict_->hide();
        removeColumns();
    }
    for (CompareColumn* column : columns_) {
        column->clear();
    }
    updateState();
}

void ComparePane::removeColumns() {
    for (CompareColumn* column : std::exchange(columns_, {})) {
        column->setParent(nullptr);
        column->deleteLater();
    }
}

void ComparePane::setLoads(const engine::LoadRequest& loaded, const NamedModels& models) {
    loaded_ = loaded;
    models_ = models;
    for (CompareColumn* column : columns_) {
        column->setLoads(loaded_, models_);
    }
    updateState();
}

void ComparePane::askAgain(const Before& before,
                           const std::shared_ptr<const engine::PlacementPlan>& now) {
    if (isRunning()) {
        return;
    }
    removeColumns();
    before_ = before;
    now_ = now;
    adapters_ = loaded_.adapters;
    addColumn(adapters_)->setKept(tr("As it was placed before"));
    addColumn(adapters_)->setKept(tr("As it is placed now"));
    columns_.front()->showReply(before.reply);
    verdict_->hide();
    updateState();
    run();
}

void ComparePane::tellVerdict() {
    const QString was = columns_.front()->text();
    const QString is = columns_.back()->text();
    QStringList words;
    const WordDiff diff = compareWords(was, is);
    words.append(
        was == is ? tr("Identical")
        : diff.is_same
            ? tr("The same words")
            : tr("Another answer from word %1 on").arg(QLocale().toString(diff.common_words + 1)));
    const auto bytes_of = [](const engine::PlacementPlan& plan, bool is_gpu) {
        qint64 bytes = 0;
        for (const engine::DevicePlan& device : plan.devices) {
            const bool counts = is_gpu ? device.id.isGpu() : device.id == engine::DeviceId::cpu();
            bytes += counts ? static_cast<qint64>(device.parts.total()) : 0;
        }
        return bytes;
    };
    for (const bool is_gpu : {true, false}) {
        const qint64 freed = bytes_of(*before_->plan, is_gpu) - bytes_of(*now_, is_gpu);
        const QString amount = formatBytes(static_cast<quint64>(std::abs(freed)));
        if (std::abs(freed) >= 1 << 20) {
            words.append(
                is_gpu ? (freed > 0 ? tr("%1 of VRAM freed") : tr("%1 more VRAM")).arg(amount)
                       : (freed > 0 ? tr("%1 of main memory freed") : tr("%1 more main memory"))
                             .arg(amount));
        }
    }
    // Measured where both encoded the pictures, else as the plans estimate it.
    const bool is_measured = before_->reply.timing.image_s > 0 && reply_now_.timing.image_s > 0;
    const double picture = is_measured ? reply_now_.timing.image_s - before_->reply.timing.image_s
                                       : now_->estimate.image_s - before_->plan->estimate.image_s;
    if (std::abs(picture) >= 0.005) {
        const QString time = formatDuration(std::abs(picture));
        words.append(
            picture > 0
                ? (is_measured ? tr("pictures %1 slower") : tr("each picture about %1 slower"))
                      .arg(time)
                : (is_measured ? tr("pictures %1 faster") : tr("each picture about %1 faster"))
                      .arg(time));
    }
    const auto rate = [](const engine::Reply& reply) {
        return reply.timing.decode_s > 0
                   ? static_cast<double>(reply.timing.decode_tokens) / reply.timing.decode_s
                   : 0.0;
    };
    if (rate(before_->reply) > 0 && rate(reply_now_) > 0) {
        words.append(tr("%1 tokens/s, before %2")
                         .arg(formatRate(rate(reply_now_)), formatRate(rate(before_->reply))));
    }
    verdict_->setText(words.join(QStringLiteral(" · ")));
    setTextRole(verdict_, was == is ? TextRole::Success : TextRole::Normal);
    verdict_->show();
}

void ComparePane::setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                              const std::vector<std::string>& server_models) {
    std::vector<engine::AdapterChoice> choices = adapters;
    for (const std::string& model : server_models) {
        choices.push_back({model, 1.0, false});
    }
    const bool is_same_list =
        !columns_.empty() &&
        std::equal(choices.begin(), choices.end(), adapters_.begin(), adapters_.end(),
                   [](const engine::AdapterChoice& a, const engine::AdapterChoice& b) {
                       return a.folder == b.folder;
                   });
    if (isRunning() || is_same_list) {
        return; // what the user has set up in the columns stays
    }
    adapters_ = choices;
    removeColumns();
    for (const std::vector<engine::AdapterChoice>& set : usualSets()) {
        if (columns_.size() < kMaxColumns) {
            addColumn(set);
        }
    }
    updateState();
}

std::vector<std::vector<engine::AdapterChoice>> ComparePane::usualSets() const {
    std::vector<engine::AdapterChoice> off = adapters_;
    for (engine::AdapterChoice& adapter : off) {
        adapter.is_enabled = false;
    }
    std::vector<std::vector<engine::AdapterChoice>> sets = {off};
    const auto add = [&sets](const std::vector<engine::AdapterChoice>& set) {
        if (std::none_of(sets.begin(), sets.end(), [&set](const auto& other) {
                return adapterSetName(other) == adapterSetName(set);
            })) {
            sets.push_back(set);
        }
    };
    std::vector<engine::AdapterChoice> all = adapters_;
    if (!isAnyEnabled(all)) {
        for (engine::AdapterChoice& adapter : all) {
            adapter.is_enabled = !engine::isServerModel(adapter.folder);
        }
    }
    add(all);
    for (size_t i = 0; i < adapters_.size(); ++i) {
        if (!engine::isServerModel(adapters_[i].folder)) {
            std::vector<engine::AdapterChoice> one = off;
            one[i].is_enabled = true;
            add(one);
        }
    }
    return sets;
}

CompareColumn* ComparePane::addColumn(const std::vector<engine::AdapterChoice>& adapters) {
    auto* column = new CompareColumn;
    column->setAdapters(adapters);
    column->setLoads(loaded_, models_);
    splitter_->addWidget(column);
    columns_.push_back(column);
    connect(column, &CompareColumn::removeRequested, this,
            [this, column] { removeColumn(column); });
    // What stands in a column was answered with other adapters: it would mislead.
    connect(column, &CompareColumn::adaptersEdited, this, [this, column] {
        notice_->clear();
        column->clear();
        mark();
        updateState();
    });
    renumber();
    return column;
}

void ComparePane::removeColumn(CompareColumn* column) {
    columns_.erase(std::remove(columns_.begin(), columns_.end(), column), columns_.end());
    column->setParent(nullptr);
    column->deleteLater();
    renumber();
    mark();
    updateState();
}

void ComparePane::renumber() {
    int number = 0;
    for (CompareColumn* column : columns_) {
        column->setNumber(++number);
        column->setRemovable(columns_.size() > 1 && !before_.has_value());
    }
}

void ComparePane::setReady(bool is_ready) {
    is_ready_ = is_ready;
    updateState();
}

void ComparePane::updateState() {
    const bool has_prompt =
        !prompt_->toPlainText().trimmed().isEmpty() || media_->isVisibleTo(this);
    run_->setText(isRunning() ? tr("Stop") : tr("Run"));
    run_->setToolTip(isRunning() ? tr("Stops the column that answers and drops the rest (Esc)")
                                 : tr("Answers column by column (Ctrl+Enter)"));
    setButtonKind(run_, isRunning() ? ButtonKind::Danger : ButtonKind::Primary);
    run_->setEnabled(isRunning() || (is_ready_ && has_prompt));
    const bool is_fixed = isRunning() || before_.has_value(); // the question is that of before
    prompt_->setReadOnly(is_fixed);
    sampling_->setEnabled(!is_fixed);
    sampling_->setVisible(!before_.has_value()); // as they were for the reply of before
    const bool has_choice = !adapters_.empty() || !loaded_.model.empty();
    add_->setEnabled(!is_fixed && has_choice && columns_.size() < kMaxColumns);
    int loads = 0;
    for (CompareColumn* column : columns_) {
        column->setEditable(!is_fixed);
        loads += column->load().model.empty() ? 0 : 1;
    }
    copy_->setEnabled(
        std::any_of(columns_.begin(), columns_.end(),
                    [](const CompareColumn* column) { return !column->text().isEmpty(); }));
    if (loads > 0) {
        hint_->setText(tr("Columns with another load are loaded first, one after the other; what "
                          "is loaded now comes back at the end."));
    } else if (!before_.has_value() && adapters_.empty() && loaded_.model.empty()) {
        hint_->setText(tr("No adapter is loaded, so there is only the base to answer. Add "
                          "adapters in the bar at the top."));
    } else if (!before_.has_value() && !is_ready_ && !isRunning()) {
        hint_->setText(tr("Load a model to run the comparison."));
    } else {
        hint_->clear();
    }
}

engine::GenerateRequest ComparePane::editedRequest() const {
    engine::GenerateRequest request = request_;
    engine::Message* question = lastQuestion(request);
    if (question == nullptr) {
        request.messages.push_back({engine::Message::Role::User, {}});
        question = &request.messages.back();
    }
    // What came after the question is not part of the prompt.
    request.messages.resize(static_cast<size_t>(question - request.messages.data()) + 1);
    question = &request.messages.back();
    std::erase_if(question->parts,
                  [](const engine::MessagePart& part) { return part.kind == Kind::Text; });
    const std::string text = prompt_->toPlainText().toStdString();
    if (!text.empty()) {
        engine::MessagePart part;
        part.text = text;
        question->parts.push_back(part);
    }
    request.sampling.seed = seed_->value();
    request.sampling.max_tokens = tokens_->value();
    return request;
}

void ComparePane::run() {
    if (isRunning() || !run_->isEnabled() || asksWhetherToSend()) {
        return;
    }
    notice_->clear();
    std::vector<std::vector<engine::AdapterChoice>> sets;
    std::vector<engine::LoadRequest> loads;
    engine::GenerateRequest request = before_.has_value() ? request_ : editedRequest();
    if (before_.has_value()) {
        request.sampling.seed = static_cast<int64_t>(before_->reply.seed);
    }
    for (size_t i = before_.has_value() ? 1 : 0; i < columns_.size(); ++i) {
        sets.push_back(columns_[i]->adapters());
        loads.push_back(columns_[i]->load());
        columns_[i]->showWaiting();
    }
    running_ = ++last_id_;
    request.id = running_;
    updateState();
    Q_EMIT compareRequested(running_, request, sets, loads);
}

bool ComparePane::asksWhetherToSend() {
    for (const CompareColumn* column : columns_) {
        for (const engine::AdapterChoice& choice : column->adapters()) {
            const QString host = fromUtf8(engine::serverHost(choice.folder));
            if (!choice.is_enabled || host.isEmpty() || agreed_hosts_.contains(host)) {
                continue;
            }
            notice_->showNotice(ChatNotice::Tone::Warning, ChatView::wholeConversationWords(host),
                                {{ChatView::sendThereWords(), [this, host] {
                                      agreed_hosts_.append(host);
                                      run();
                                  }}});
            return true;
        }
    }
    return false;
}

void ComparePane::stop() {
    if (isRunning()) {
        Q_EMIT cancelRequested();
    }
}

CompareColumn* ComparePane::column(quint64 id, int index) const {
    const bool is_ours = id == running_ && running_ != 0;
    index += before_.has_value() && index >= 0 ? 1 : 0; // the first one is not asked
    return is_ours && index >= 0 && index < static_cast<int>(columns_.size())
               ? columns_[static_cast<size_t>(index)]
               : nullptr;
}

void ComparePane::showStarted(quint64 id, int index) {
    if (CompareColumn* target = column(id, index)) {
        target->showStarted();
    }
}

void ComparePane::showLoading(quint64 id, int index, quint64 done, quint64 total) {
    if (CompareColumn* target = column(id, index)) {
        target->showLoading(done, total);
    } else if (id == running_) {
        hint_->setText(tr("What was loaded before comes back: %1 of %2")
                           .arg(formatBytes(done), formatBytes(total)));
    }
}

void ComparePane::showUpdate(quint64 id, int index, const engine::ReplyUpdate& update) {
    if (CompareColumn* target = column(id, index)) {
        target->append(update);
    }
}

void ComparePane::showReply(quint64 id, int index, const engine::Reply& reply) {
    if (CompareColumn* target = column(id, index)) {
        target->showReply(reply);
        if (before_.has_value() && reply.finish_reason != "cancelled") {
            reply_now_ = reply;
            tellVerdict();
        }
        mark();
        updateState();
    }
}

void ComparePane::showError(quint64 id, int index, const engine::Error& error) {
    if (CompareColumn* target = column(id, index)) {
        target->showError(error);
    }
}

void ComparePane::showFinished(quint64 id) {
    if (id != running_) {
        return;
    }
    running_ = 0;
    for (CompareColumn* column : columns_) {
        if (!column->isFinished() && column->isWaiting()) {
            column->showStopped();
        }
    }
    mark();
    updateState();
}

void ComparePane::mark() {
    for (size_t i = 1; i < columns_.size(); ++i) {
        const CompareColumn* first = columns_.front();
        columns_[i]->markAgainst(first->isFinished() ? first->text() : QString(),
                                 mark_->isChecked());
    }
    if (!columns_.empty()) {
        columns_.front()->markAgainst({}, false);
    }
}

void ComparePane::copyAll() {
    QString out =
        QStringLiteral("**%1** (%2)\n\n> %3\n\n")
            .arg(tr("Prompt"), tr("seed %1").arg(seed_->value()),
                 prompt_->toPlainText().replace(QLatin1Char('\n'), QStringLiteral("\n> ")));
    if (verdict_->isVisibleTo(this)) {
        out += QStringLiteral("**%1**\n\n").arg(verdict_->text());
    }
    for (const CompareColumn* column : columns_) {
        out += QStringLiteral("## %1\n\n%2\n\n").arg(column->name(), column->text().trimmed());
        if (!column->figures().isEmpty()) {
            out += QStringLiteral("*%1*\n\n").arg(column->figures());
        }
    }
    QGuiApplication::clipboard()->setText(out.trimmed() + QLatin1Char('\n'));
}

void ComparePane::keyPressEvent(QKeyEvent* event) {
    const bool is_enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (is_enter && event->modifiers().testFlag(Qt::ControlModifier)) {
        run();
    } else if (event->key() == Qt::Key_Escape) {
        if (isRunning()) {
            stop();
        } else {
            Q_EMIT closeRequested();
        }
    } else {
        QFrame::keyPressEvent(event);
    }
}

} // namespace ui
