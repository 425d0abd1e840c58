// SPDX-License-Identifier: Apache-2.0
#include "ui/main_window.h"

#include <QComboBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollBar>
#include <QStatusBar>
#include <QTextBrowser>
#include <QTextDocument>
#include <QUrl>
#include <QVBoxLayout>

namespace ui {

namespace {

QString text(const std::string& value) {
    return QString::fromStdString(value);
}

QString bytesText(uint64_t bytes) {
    return QLocale().formattedDataSize(static_cast<qint64>(bytes), 1, QLocale::DataSizeIecFormat);
}

bool isImage(const QString& file) {
    static const QStringList kSuffixes = {QStringLiteral("png"), QStringLiteral("jpg"),
                                          QStringLiteral("jpeg"), QStringLiteral("webp")};
    return kSuffixes.contains(QFileInfo(file).suffix().toLower());
}

bool isAudio(const QString& file) {
    static const QStringList kSuffixes = {QStringLiteral("wav"), QStringLiteral("flac"),
                                          QStringLiteral("ogg"), QStringLiteral("opus"),
                                          QStringLiteral("mp3"), QStringLiteral("aiff")};
    return kSuffixes.contains(QFileInfo(file).suffix().toLower());
}

/// Markdown to an HTML fragment, without the document around it.
QString markdownHtml(const QString& markdown) {
    QTextDocument document;
    document.setMarkdown(markdown, QTextDocument::MarkdownNoHTML);
    const QString html = document.toHtml();
    const auto body = html.indexOf(QStringLiteral("<body"));
    const auto begin = html.indexOf(QLatin1Char('>'), body) + 1;
    return html.mid(begin, html.indexOf(QStringLiteral("</body>")) - begin);
}

QPushButton* button(const QString& label, const QString& description, QWidget* parent) {
    auto* result = new QPushButton(label, parent);
    result->setAccessibleName(label);
    result->setAccessibleDescription(description);
    result->setToolTip(description);
    return result;
}

} // namespace

MainWindow::MainWindow(bool has_demo_model, QWidget* parent)
    : QMainWindow(parent), has_demo_model_(has_demo_model) {
    setWindowTitle(tr("Belfry"));
    setAcceptDrops(true);
    resize(1000, 720);
    auto* central = new QWidget(this);
    auto* layout = new QVBoxLayout(central);
    layout->setContentsMargins(16, 12, 16, 12);
    layout->setSpacing(10);
    setCentralWidget(central);
    buildToolbar();
    buildChat();
    refreshAttachments();
    setActivity(Activity::Idle);
    render();
    choose_button_->setFocus();
}

void MainWindow::buildToolbar() {
    auto* layout = qobject_cast<QVBoxLayout*>(centralWidget()->layout());
    auto* row = new QHBoxLayout();
    row->setSpacing(8);
    choose_button_ =
        button(tr("Choose model…"), tr("Choose a Gemma 4 model folder (Ctrl+O)"), this);
    choose_button_->setShortcut(QKeySequence::Open);
    demo_button_ = button(tr("Demo model"), tr("Use the small model that comes with Belfry"), this);
    demo_button_->setVisible(has_demo_model_);
    placement_box_ = new QComboBox(this);
    placement_box_->setAccessibleName(tr("Placement"));
    placement_box_->setToolTip(tr("Where the parts of the model go"));
    placement_box_->addItem(tr("Everything on the CPU"), QStringLiteral("cpu"));
    placement_box_->addItem(tr("Simulated 8 GiB GPU, towers on the CPU"),
                            QStringLiteral("towers-cpu"));
    placement_box_->addItem(tr("Simulated 8 GiB GPU, best fit"), QStringLiteral("fit"));
    format_box_ = new QComboBox(this);
    format_box_->setAccessibleName(tr("Format of the weights"));
    format_box_->setToolTip(tr("Format in which linear weights are held in memory"));
    format_box_->addItem(tr("As stored"), QStringLiteral("none"));
    format_box_->addItem(tr("4 bits (NF4, double quantization)"), QStringLiteral("nf4-dq"));
    format_box_->addItem(tr("4 bits (NF4)"), QStringLiteral("nf4"));
    load_button_ = button(tr("Load"), tr("Load the chosen model"), this);
    cancel_button_ = button(tr("Stop"), tr("Stop loading or the reply (Esc)"), this);
    cancel_button_->setShortcut(QKeySequence(Qt::Key_Escape));
    new_button_ = button(tr("New chat"), tr("Start an empty conversation (Ctrl+N)"), this);
    new_button_->setShortcut(QKeySequence::New);
    for (QWidget* widget : std::initializer_list<QWidget*>{
             choose_button_, demo_button_, placement_box_, format_box_, load_button_}) {
        row->addWidget(widget);
    }
    row->addStretch();
    row->addWidget(new_button_);
    layout->addLayout(row);

    model_label_ = new QLabel(this);
    model_label_->setWordWrap(true);
    model_label_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    model_label_->setAccessibleName(tr("Chosen model"));
    layout->addWidget(model_label_);
    progress_ = new QProgressBar(this);
    progress_->setAccessibleName(tr("Progress of loading"));
    progress_->setVisible(false);
    layout->addWidget(progress_);

    connect(choose_button_, &QPushButton::clicked, this, &MainWindow::chooseFolder);
    connect(demo_button_, &QPushButton::clicked, this,
            [this] { chooseModel(QStringLiteral("demo")); });
    connect(load_button_, &QPushButton::clicked, this, [this] {
        setActivity(Activity::Loading);
        Q_EMIT loadRequested(loadRequest());
    });
    connect(cancel_button_, &QPushButton::clicked, this, &MainWindow::cancelRequested);
    connect(new_button_, &QPushButton::clicked, this, &MainWindow::newChat);
}

void MainWindow::buildChat() {
    auto* layout = qobject_cast<QVBoxLayout*>(centralWidget()->layout());
    transcript_ = new QTextBrowser(this);
    transcript_->setAccessibleName(tr("Conversation"));
    transcript_->setOpenLinks(false);
    transcript_->document()->setDocumentMargin(14);
    layout->addWidget(transcript_, 1);
    attachment_label_ = new QLabel(this);
    attachment_label_->setAccessibleName(tr("Attachments of the next message"));
    attachment_label_->setWordWrap(true);
    layout->addWidget(attachment_label_);
    auto* row = new QHBoxLayout();
    row->setSpacing(8);
    attach_button_ = button(tr("Attach…"), tr("Add a picture or a recording (Ctrl+Shift+A)"), this);
    attach_button_->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_A));
    input_ = new QPlainTextEdit(this);
    input_->setAccessibleName(tr("Message"));
    input_->setPlaceholderText(tr("Write a message. Enter sends, Shift+Enter starts a new line."));
    input_->setFixedHeight(84);
    input_->setTabChangesFocus(true);
    input_->installEventFilter(this);
    input_->setAcceptDrops(false);
    send_button_ = button(tr("Send"), tr("Send the message (Enter)"), this);
    row->addWidget(attach_button_, 0, Qt::AlignBottom);
    row->addWidget(input_, 1);
    auto* column = new QVBoxLayout();
    column->addStretch();
    column->addWidget(cancel_button_);
    column->addWidget(send_button_);
    row->addLayout(column);
    layout->addLayout(row);
    memory_label_ = new QLabel(this);
    memory_label_->setAccessibleName(tr("Memory in use"));
    status_label_ = new QLabel(this);
    status_label_->setAccessibleName(tr("Last reply"));
    statusBar()->setContentsMargins(14, 0, 14, 4);
    statusBar()->addWidget(memory_label_, 1);
    statusBar()->addPermanentWidget(status_label_);
    connect(attach_button_, &QPushButton::clicked, this, &MainWindow::chooseAttachment);
    connect(send_button_, &QPushButton::clicked, this, &MainWindow::send);
}

engine::LoadRequest MainWindow::loadRequest() const {
    engine::LoadRequest request;
    request.model = model_.toStdString();
    request.device_map = placement_box_->currentData().toString().toStdString();
    request.quant = format_box_->currentData().toString().toStdString();
    if (request.device_map != "cpu") {
        request.sim_gpus = {uint64_t{8} << 30U};
    }
    return request;
}

void MainWindow::chooseFolder() {
    const QString folder =
        QFileDialog::getExistingDirectory(this, tr("Choose a Gemma 4 model folder"));
    if (!folder.isEmpty()) {
        chooseModel(folder);
    }
}

void MainWindow::chooseModel(const QString& folder) {
    model_ = folder;
    summary_.reset();
    model_label_->setText(tr("Reading %1 …").arg(folder));
    setActivity(activity_);
    Q_EMIT inspectRequested(folder);
}

void MainWindow::chooseAttachment() {
    const QStringList files =
        QFileDialog::getOpenFileNames(this, tr("Add pictures or recordings"), QString(),
                                      tr("Pictures and recordings (*.png *.jpg *.jpeg *.webp *.wav "
                                         "*.flac *.ogg *.opus *.mp3 *.aiff)"));
    for (const QString& file : files) {
        attach(file);
    }
}

bool MainWindow::attach(const QString& file) {
    if (!isImage(file) && !isAudio(file)) {
        notices_ = QStringList{
            tr("%1 is neither a picture (PNG, JPEG, WebP) nor a recording (WAV, FLAC, Ogg, MP3).")
                .arg(QFileInfo(file).fileName())};
        render();
        return false;
    }
    attachments_.append(file);
    refreshAttachments();
    return true;
}

void MainWindow::refreshAttachments() {
    QStringList names;
    for (const QString& file : attachments_) {
        names.append((isImage(file) ? tr("picture %1") : tr("recording %1"))
                         .arg(QFileInfo(file).fileName()));
    }
    attachment_label_->setText(
        names.isEmpty() ? QString() : tr("Attached: %1").arg(names.join(QStringLiteral(", "))));
    attachment_label_->setVisible(!names.isEmpty());
}

void MainWindow::send() {
    const QString typed = input_->toPlainText().trimmed();
    if (activity_ != Activity::Idle || snapshot_ == nullptr || snapshot_->model == nullptr ||
        (typed.isEmpty() && attachments_.isEmpty())) {
        return;
    }
    engine::Message message;
    message.role = engine::Message::Role::User;
    for (const QString& file : attachments_) {
        engine::MessagePart part;
        part.kind =
            isImage(file) ? engine::MessagePart::Kind::Image : engine::MessagePart::Kind::Audio;
        part.text = file.toStdString();
        message.parts.push_back(part);
    }
    if (!typed.isEmpty()) {
        engine::MessagePart part;
        part.text = typed.toStdString();
        message.parts.push_back(part);
    }
    messages_.push_back(message);
    notices_.clear();
    streaming_ = {};
    engine::GenerateRequest request;
    request.id = next_id_++;
    request.messages = messages_;
    input_->clear();
    attachments_.clear();
    refreshAttachments();
    setActivity(Activity::Generating);
    render();
    Q_EMIT generateRequested(request);
}

void MainWindow::newChat() {
    if (activity_ != Activity::Generating) {
        messages_.clear();
        notices_.clear();
        render();
    }
}

void MainWindow::setActivity(Activity activity) {
    activity_ = activity;
    const bool is_idle = activity == Activity::Idle;
    const bool is_loaded = snapshot_ != nullptr && snapshot_->model != nullptr;
    load_button_->setEnabled(is_idle && summary_ != nullptr && !summary_->is_header_only);
    choose_button_->setEnabled(is_idle);
    demo_button_->setEnabled(is_idle);
    placement_box_->setEnabled(is_idle);
    format_box_->setEnabled(is_idle);
    cancel_button_->setVisible(!is_idle);
    send_button_->setVisible(is_idle);
    send_button_->setEnabled(is_loaded);
    new_button_->setEnabled(activity != Activity::Generating);
    progress_->setVisible(activity == Activity::Loading);
    if (activity == Activity::Loading) {
        progress_->setRange(0, 0);
    }
}

QString MainWindow::welcomeHtml() const {
    if (snapshot_ != nullptr && snapshot_->model != nullptr) {
        QString html =
            QStringLiteral("<h3>%1</h3><p>%2</p>")
                .arg(tr("Ready").toHtmlEscaped(), tr("Write a message below.").toHtmlEscaped());
        if (snapshot_->model->has_vision || snapshot_->model->has_audio) {
            html += QStringLiteral("<p>%1</p>")
                        .arg(tr("Drop a picture or a recording into the window to ask about it.")
                                 .toHtmlEscaped());
        }
        return html;
    }
    return QStringLiteral("<h2>%1</h2><p>%2</p><ol><li>%3</li><li>%4</li><li>%5</li></ol>")
        .arg(tr("Chat with a model on your own hardware").toHtmlEscaped(),
             tr("You decide which part of it sits where.").toHtmlEscaped(),
             (has_demo_model_
                  ? tr("Choose a Gemma 4 folder, drop one here, or take the demo model.")
                  : tr("Choose a Gemma 4 folder, or drop one here."))
                 .toHtmlEscaped(),
             tr("Choose where its parts go and in which format, then press Load.").toHtmlEscaped(),
             tr("Write a message; add pictures and recordings by dropping them here.")
                 .toHtmlEscaped());
}

void MainWindow::render() {
    const bool was_at_end = transcript_->verticalScrollBar()->value() >=
                            transcript_->verticalScrollBar()->maximum() - 4;
    QString html;
    for (const engine::Message& message : messages_) {
        const bool is_user = message.role == engine::Message::Role::User;
        html += QStringLiteral("<p><b>%1</b></p>")
                    .arg((is_user ? tr("You") : tr("Model")).toHtmlEscaped());
        for (const engine::MessagePart& part : message.parts) {
            if (part.kind == engine::MessagePart::Kind::Text) {
                html += is_user ? QStringLiteral("<p style='white-space:pre-wrap'>%1</p>")
                                      .arg(text(part.text).toHtmlEscaped())
                                : markdownHtml(text(part.text));
            } else if (part.kind == engine::MessagePart::Kind::Image) {
                html += QStringLiteral("<p><img src='%1' height='140'></p>")
                            .arg(QUrl::fromLocalFile(text(part.text)).toString().toHtmlEscaped());
            } else {
                html += QStringLiteral("<p><i>%1</i></p>")
                            .arg(tr("recording %1")
                                     .arg(QFileInfo(text(part.text)).fileName())
                                     .toHtmlEscaped());
            }
        }
    }
    if (activity_ == Activity::Generating) {
        html += QStringLiteral("<p><b>%1</b></p>").arg(tr("Model").toHtmlEscaped());
        if (!streaming_.thinking.empty()) {
            html +=
                QStringLiteral("<p><i>%1</i></p>").arg(text(streaming_.thinking).toHtmlEscaped());
        }
        html += streaming_.text.empty() ? QStringLiteral("<p>…</p>")
                                        : markdownHtml(text(streaming_.text));
    }
    for (const QString& notice : notices_) {
        html += QStringLiteral("<p><b>%1</b> %2</p>")
                    .arg(tr("Note:").toHtmlEscaped(), notice.toHtmlEscaped());
    }
    if (messages_.empty()) {
        html = welcomeHtml() + html;
    }
    transcript_->setHtml(html);
    if (was_at_end) {
        transcript_->verticalScrollBar()->setValue(transcript_->verticalScrollBar()->maximum());
    }
}

void MainWindow::showSnapshot(const std::shared_ptr<const engine::EngineSnapshot>& snapshot) {
    const bool was_loaded = snapshot_ != nullptr && snapshot_->model != nullptr;
    snapshot_ = snapshot;
    if (snapshot->state == engine::EngineSnapshot::State::Loading && snapshot->bytes_total > 0) {
        progress_->setRange(0, 1000);
        progress_->setValue(static_cast<int>(1000.0 * static_cast<double>(snapshot->bytes_done) /
                                             static_cast<double>(snapshot->bytes_total)));
        progress_->setFormat(tr("%1: %2 of %3")
                                 .arg(text(snapshot->stage), bytesText(snapshot->bytes_done),
                                      bytesText(snapshot->bytes_total)));
    }
    QStringList memory;
    for (const engine::DeviceMemory& device : snapshot->memory) {
        if (device.measured.total() > 0) {
            memory.append(tr("%1: %2, predicted %3")
                              .arg(text(device.id.toString()), bytesText(device.measured.total()),
                                   bytesText(device.predicted.total())));
        }
    }
    if (snapshot->context_size > 0) {
        memory.append(
            tr("context %1 of %2").arg(snapshot->context_used).arg(snapshot->context_size));
    }
    memory_label_->setText(memory.join(QStringLiteral("   ·   ")));
    if (snapshot->state == engine::EngineSnapshot::State::Ready ||
        snapshot->state == engine::EngineSnapshot::State::Empty) {
        setActivity(Activity::Idle);
        if (was_loaded != (snapshot->model != nullptr)) {
            render();
            input_->setFocus();
        }
    }
}

void MainWindow::showModel(const QString& model,
                           const std::shared_ptr<const engine::ModelSummary>& summary) {
    if (model != model_) {
        return; // an answer about a folder that is no longer chosen
    }
    summary_ = summary;
    QStringList kinds = {tr("text")};
    if (summary->has_vision) {
        kinds.append(tr("pictures"));
    }
    if (summary->has_audio) {
        kinds.append(tr("sound"));
    }
    model_label_->setText(
        tr("%1 — Gemma 4 %2, %3 million parameters, %4, takes %5")
            .arg(model == QStringLiteral("demo") ? tr("Demo model") : QFileInfo(model).fileName(),
                 text(summary->variant),
                 QLocale().toString(static_cast<double>(summary->parameters) / 1e6, 'f', 1),
                 bytesText(summary->bytes), kinds.join(QStringLiteral(", "))));
    setActivity(activity_);
}

void MainWindow::showModelError(const QString& model, const engine::Error& error) {
    if (model == model_) {
        summary_.reset();
        model_label_->setText(tr("%1 cannot be used: %2").arg(model, text(error.message)));
        setActivity(activity_);
    }
}

void MainWindow::showError(const engine::Error& error) {
    notices_ = QStringList{text(error.message)};
    setActivity(Activity::Idle);
    render();
}

void MainWindow::showReplyUpdate(quint64 /*id*/, const engine::ReplyUpdate& update) {
    streaming_.text += update.text;
    streaming_.thinking += update.thinking;
    render();
}

void MainWindow::showReply(quint64 /*id*/, const engine::Reply& reply) {
    engine::Message message;
    message.role = engine::Message::Role::Assistant;
    engine::MessagePart part;
    part.text = reply.text;
    message.parts.push_back(part);
    messages_.push_back(message);
    streaming_ = {};
    notices_.clear();
    for (const std::string& note : reply.notes) {
        notices_.append(text(note));
    }
    if (reply.finish_reason == "context") {
        notices_.append(tr("The context is full: the reply was cut. Start a new chat to go on."));
    }
    const engine::GenerateTiming& timing = reply.timing;
    const double rate =
        timing.decode_s > 0 ? static_cast<double>(timing.decode_tokens) / timing.decode_s : 0.0;
    status_label_->setText(tr("%1 tokens, %2 tokens/s, first after %3 s")
                               .arg(timing.decode_tokens)
                               .arg(QLocale().toString(rate, 'f', 1),
                                    QLocale().toString(timing.time_to_first_token_s, 'f', 2)));
    setActivity(Activity::Idle);
    render();
}

void MainWindow::showReplyError(quint64 /*id*/, const engine::Error& error) {
    // The message goes back into the box, so that nothing typed is lost.
    if (!messages_.empty() && messages_.back().role == engine::Message::Role::User) {
        for (const engine::MessagePart& part : messages_.back().parts) {
            if (part.kind == engine::MessagePart::Kind::Text) {
                input_->setPlainText(text(part.text));
            } else {
                attachments_.append(text(part.text));
            }
        }
        messages_.pop_back();
        refreshAttachments();
    }
    streaming_ = {};
    showError(error);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) {
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    for (const QUrl& url : urls) {
        const QString file = url.toLocalFile();
        if (QFileInfo(file).isDir()) {
            chooseModel(file);
        } else if (!file.isEmpty()) {
            attach(file);
        }
    }
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (watched == input_ && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool is_enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
        if (is_enter && (key->modifiers() & Qt::ShiftModifier) == 0) {
            send();
            return true;
        }
    }
    return QMainWindow::eventFilter(watched, event);
}

} // namespace ui
