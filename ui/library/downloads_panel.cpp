// SPDX-License-Identifier: Apache-2.0
#include "ui/library/downloads_panel.h"

#include "ui/library/hub_words.h"
#include "ui/style/elided_label.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

using State = Download::State;

/// Steps of the bar: an int holds no bytes.
constexpr int kParts = 1000;

/// As high as its rows, up to some: more of them scroll.
class RowsArea : public QScrollArea {
public:
    RowsArea(QWidget* rows, QWidget* parent) : QScrollArea(parent) {
        setFrameShape(QFrame::NoFrame);
        setWidgetResizable(true);
        setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        setFocusPolicy(Qt::NoFocus);
        setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
        setWidget(rows);
        rows->setAutoFillBackground(false);
        viewport()->setAutoFillBackground(false);
    }
    [[nodiscard]] QSize sizeHint() const override {
        const QSize rows = widget()->sizeHint();
        return {rows.width(), std::min(rows.height(), kMostHeight * textZoom() / 100)};
    }
    [[nodiscard]] QSize minimumSizeHint() const override {
        return {widget()->minimumSizeHint().width(), std::min(sizeHint().height(), kLeastHeight)};
    }

private:
    static constexpr int kMostHeight = 220; ///< Three rows at the usual text size.
    static constexpr int kLeastHeight = 72;
};

} // namespace

DownloadsPanel::DownloadsPanel(QWidget* parent)
    : QWidget(parent), column_(nullptr), title_(new QLabel(tr("Downloads"), this)),
      clear_(new QPushButton(tr("Clear &finished"), this)) {
    setObjectName(QStringLiteral("downloadsPanel"));
    setArea(this, Area::Surface);
    auto* outer = columnIn(this, {16, 10, 16, 10}, Theme::kGap);
    auto* head = new QHBoxLayout;
    setTextRole(title_, TextRole::Muted);
    clear_->setObjectName(QStringLiteral("downloadsClear"));
    setButtonKind(clear_, ButtonKind::Flat);
    head->addWidget(title_);
    head->addStretch();
    head->addWidget(clear_);
    outer->addLayout(head);
    auto* rows = new QWidget;
    column_ = columnIn(rows, {0, 0, 0, 0}, Theme::kGap);
    auto* area = named("downloadsArea", new RowsArea(rows, this));
    outer->addWidget(area);
    connect(clear_, &QPushButton::clicked, this, &DownloadsPanel::clearRequested);
    hide();
}

const Download* DownloadsPanel::find(quint64 number) const {
    const auto found =
        std::find_if(downloads_.begin(), downloads_.end(),
                     [number](const Download& download) { return download.number == number; });
    return found == downloads_.end() ? nullptr : &*found;
}

DownloadsPanel::Row DownloadsPanel::makeRow(quint64 number) {
    Row row;
    row.widget = new QWidget(column_->parentWidget());
    row.widget->setObjectName(QStringLiteral("download"));
    auto* column = columnIn(row.widget, {0, 0, 0, 4}, 4);
    auto* line = new QHBoxLayout;
    line->setSpacing(Theme::kGap);
    row.name = new ElidedLabel(row.widget);
    row.name->setObjectName(QStringLiteral("downloadName"));
    const auto button = [&](const char* name, const char* picture) {
        auto* made = pushButton(name, QString(), row.widget);
        if (picture != nullptr) {
            made->setIcon(icon(QString::fromLatin1(picture)));
            setIconButton(made, 16, 28);
            setButtonKind(made, ButtonKind::Flat);
        }
        return made;
    };
    row.next = button("downloadNext", nullptr);
    row.toggle = button("downloadToggle", "pause");
    row.cancel = button("downloadCancel", "close");
    line->addWidget(row.name, 1);
    line->addWidget(row.next);
    line->addWidget(row.toggle);
    line->addWidget(row.cancel);
    column->addLayout(line);
    row.bar = new QProgressBar(row.widget);
    row.bar->setObjectName(QStringLiteral("downloadBar"));
    row.bar->setTextVisible(false);
    row.bar->setRange(0, kParts);
    row.bar->setFixedHeight(6);
    column->addWidget(row.bar);
    row.words = new QLabel(row.widget);
    row.words->setObjectName(QStringLiteral("downloadWords"));
    row.words->setTextFormat(Qt::PlainText);
    row.words->setWordWrap(true);
    column->addWidget(row.words);
    column_->addWidget(row.widget);
    connect(row.toggle, &QPushButton::clicked, this, [this, number] {
        if (const Download* download = find(number)) {
            const bool runs =
                download->state == State::Fetching || download->state == State::Waiting;
            runs ? pauseRequested(number) : resumeRequested(number);
        }
    });
    connect(row.cancel, &QPushButton::clicked, this, [this, number] { askCancel(number); });
    connect(row.next, &QPushButton::clicked, this, [this, number] {
        if (const Download* download = find(number)) {
            next(*download);
        }
    });
    return row;
}

void DownloadsPanel::next(const Download& download) {
    if (download.state == State::Done) {
        download.is_adapter ? adapterRequested(download.folder) : loadRequested(download.folder);
    } else if (download.error.has_value()) {
        Q_EMIT tokenRequested(download.id, ruleOf(*download.error) == QStringLiteral("HubGated"));
    }
}

void DownloadsPanel::askCancel(quint64 number) {
    const Download* download = find(number);
    if (download == nullptr) {
        return;
    }
    if (download->done_bytes == 0 || download->state == State::Done) {
        Q_EMIT cancelRequested(number, false);
        return;
    }
    auto* box = new QMessageBox(QMessageBox::Question, tr("Cancel a download"),
                                tr("Cancel the download of %1?").arg(download->id),
                                QMessageBox::NoButton, window());
    box->setObjectName(QStringLiteral("cancelDownload"));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(tr("%1 have arrived. Kept, they are used when you get the model later.")
                                .arg(formatBytes(download->done_bytes)));
    const auto* keep = box->addButton(tr("&Cancel, keep the parts"), QMessageBox::AcceptRole);
    const auto* drop = box->addButton(tr("Cancel and &delete them"), QMessageBox::DestructiveRole);
    box->setDefaultButton(box->addButton(tr("&Go on"), QMessageBox::RejectRole));
    connect(box, &QMessageBox::buttonClicked, this,
            [this, number, keep, drop](const QAbstractButton* clicked) {
                if (static_cast<const void*>(clicked) == keep ||
                    static_cast<const void*>(clicked) == drop) {
                    Q_EMIT cancelRequested(number, static_cast<const void*>(clicked) == drop);
                }
            });
    box->open();
}

void DownloadsPanel::fillRow(Row& row, const Download& download) {
    const bool is_done = download.state == State::Done;
    const bool runs = download.state == State::Fetching || download.state == State::Waiting;
    row.name->setText(download.id);
    const double part = download.total_bytes == 0 ? 0.0
                                                  : static_cast<double>(download.done_bytes) /
                                                        static_cast<double>(download.total_bytes);
    row.bar->setValue(is_done ? kParts : static_cast<int>(part * kParts));
    row.bar->setVisible(!is_done);
    row.bar->setAccessibleName(tr("Download of %1").arg(download.id));
    const QString words = downloadWords(download);
    if (row.words->text() != words) {
        row.words->setText(words);
    }
    setTextRole(row.words, download.state == State::Failed ? TextRole::Danger
                           : is_done                       ? TextRole::Success
                                                           : TextRole::Muted);
    row.toggle->setVisible(!is_done);
    row.toggle->setIcon(icon(runs ? QStringLiteral("pause") : QStringLiteral("play")));
    const QString toggle = runs ? tr("Pause") : tr("Go on");
    row.toggle->setToolTip(toggle);
    row.toggle->setAccessibleName(tr("%1: %2").arg(toggle, download.id));
    const QString cancel = is_done ? tr("Take it off the list") : tr("Cancel");
    row.cancel->setToolTip(cancel);
    row.cancel->setAccessibleName(tr("%1: %2").arg(cancel, download.id));
    const bool wants_token = download.error.has_value() && asksForToken(*download.error);
    row.next->setVisible(is_done || wants_token);
    row.next->setText(!is_done              ? tr("Sign in…")
                      : download.is_adapter ? tr("Add to the model")
                                            : tr("Load"));
    setButtonKind(row.next, ButtonKind::Primary);
}

void DownloadsPanel::showDownloads(const std::shared_ptr<const Downloads>& downloads) {
    downloads_ = *downloads;
    for (auto it = rows_.begin(); it != rows_.end();) {
        if (find(it->first) == nullptr) {
            it->second.widget->hide();
            it->second.widget->deleteLater();
            it = rows_.erase(it);
        } else {
            ++it;
        }
    }
    for (const Download& download : downloads_) {
        auto known = rows_.find(download.number);
        if (known == rows_.end()) {
            known = rows_.emplace(download.number, makeRow(download.number)).first;
        }
        fillRow(known->second, download);
    }
    clear_->setVisible(std::any_of(downloads_.begin(), downloads_.end(),
                                   [](const Download& one) { return one.state == State::Done; }));
    setVisible(!downloads_.empty());
    findChild<QWidget*>(QStringLiteral("downloadsArea"))->updateGeometry();
}

} // namespace ui
