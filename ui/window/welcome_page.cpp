// SPDX-License-Identifier: Apache-2.0
#include "ui/window/welcome_page.h"

#include "ui/model/recent_models.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QDir>
#include <QHBoxLayout>
#include <QLabel>
#include <QListView>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

/// The bell tower in the accent colour, redrawn with the theme.
class Emblem : public QWidget {
public:
    explicit Emblem(QWidget* parent) : QWidget(parent) { setFixedSize(56, 56); }

protected:
    void paintEvent(QPaintEvent* /*event*/) override {
        QPainter painter(this);
        painter.drawPixmap(
            0, 0,
            iconPixmap(QStringLiteral("belfry"), 56, Theme::current().accent, devicePixelRatioF()));
    }
};

} // namespace

WelcomePage::WelcomePage(RecentModels* recent, bool has_demo_model, QWidget* parent)
    : QWidget(parent), recent_(recent) {
    setObjectName(QStringLiteral("welcomePage"));
    auto* outer = columnIn(this, {0, 0, 0, 0});
    auto* area = new QScrollArea(this);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setFocusPolicy(Qt::NoFocus);
    outer->addWidget(area);
    auto* page = new QWidget;
    setArea(page, Area::Window);
    area->setWidget(page);
    auto* sides = new QHBoxLayout(page);
    auto* content = new QWidget(page);
    const auto fit_width = [content] { content->setMaximumWidth(560 * textZoom() / 100); };
    fit_width();
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, content, fit_width);
    sides->addStretch(1);
    sides->addWidget(content, 8);
    sides->addStretch(1);
    auto* column = new QVBoxLayout(content);
    column->setSpacing(Theme::kGap);
    column->addStretch(2);
    column->addWidget(new Emblem(content), 0, Qt::AlignHCenter);
    column->addSpacing(8);
    const auto centred = [&](const QString& text) {
        auto* label = new QLabel(text, content);
        label->setWordWrap(true);
        label->setAlignment(Qt::AlignHCenter);
        column->addWidget(label);
        return label;
    };
    setTextSize(centred(tr("Chat with a model on your own hardware")), 160, true);
    setTextRole(centred(tr("Drop a Gemma 4 folder here, or choose one. You see every part of it, "
                           "and drag each to the graphics card, the processor or the disk.")),
                TextRole::Muted);
    column->addSpacing(16);
    auto* buttons = new QHBoxLayout();
    buttons->addStretch();
    // Made in the order in which they stand: that is the order of Tab.
    auto* demo_button = pushButton("welcomeDemo", tr("Try the &demo model"), content);
    demo_button->setToolTip(tr("Loads the small model that comes with Belfry; it understands "
                               "pictures and sounds"));
    auto* choose_button = pushButton("welcomeChoose", tr("Choose a &folder…"), content, "folder");
    setButtonKind(has_demo_model ? demo_button : choose_button, ButtonKind::Primary);
    demo_button->setVisible(has_demo_model);
    buttons->addWidget(demo_button);
    buttons->addWidget(choose_button);
    buttons->addStretch();
    column->addLayout(buttons);
    auto* more = new QHBoxLayout();
    more->addStretch();
    const auto link = [&](const QString& text, const char* name, const char* picture) {
        auto* button = pushButton(name, text, content, picture, ButtonKind::Flat);
        more->addWidget(button);
        return button;
    };
    auto* get_button = link(tr("&Get a model…"), "welcomeGet", "download");
    auto* library_button = link(tr("&Models on this computer"), "welcomeLibrary", "search");
    server_button_ = link(tr("&Server…"), "welcomeServer", "server");
    server_button_->setToolTip(tr("Let a model on another computer answer"));
    server_button_->hide();
    more->addStretch();
    column->addLayout(more);
    column->addSpacing(16);
    recent_title_ = new QLabel(tr("Recent"), content);
    setTextRole(recent_title_, TextRole::Muted);
    column->addWidget(recent_title_);
    recent_view_ = named("welcomeRecent", new QListView(content));
    recent_view_->setAccessibleName(tr("Recent models"));
    recent_view_->setModel(recent);
    recent_view_->setFrameShape(QFrame::NoFrame);
    recent_view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    recent_view_->viewport()->setAutoFillBackground(false);
    recent_view_->setSpacing(1);
    column->addWidget(recent_view_);
    computer_ = centred(QString());
    computer_->setObjectName(QStringLiteral("welcomeComputer"));
    setTextRole(computer_, TextRole::Muted);
    computer_->hide();
    auto* promise = centred(
        tr("Everything stays on this computer: no account, and no network before you ask for a "
           "model."));
    setTextRole(promise, TextRole::Muted);
    column->addStretch(3);
    connect(choose_button, &QPushButton::clicked, this, &WelcomePage::folderDialogRequested);
    connect(demo_button, &QPushButton::clicked, this, &WelcomePage::demoRequested);
    connect(server_button_, &QPushButton::clicked, this, &WelcomePage::serverDialogRequested);
    connect(get_button, &QPushButton::clicked, this, &WelcomePage::getRequested);
    connect(library_button, &QPushButton::clicked, this, &WelcomePage::libraryRequested);
    const auto pick = [this](const QModelIndex& index) {
        Q_EMIT folderChosen(
            QDir::fromNativeSeparators(index.data(RecentModels::FolderRole).toString()));
    };
    connect(recent_view_, &QListView::activated, this, pick);
    connect(recent_view_, &QListView::clicked, this, pick);
    connect(recent, &QAbstractItemModel::modelReset, this, &WelcomePage::refresh);
    connect(recent, &QAbstractItemModel::rowsInserted, this, &WelcomePage::refresh);
    connect(recent, &QAbstractItemModel::rowsRemoved, this, &WelcomePage::refresh);
    refresh();
}

void WelcomePage::showMemory(const std::vector<engine::DeviceMemory>& memory) {
    QStringList parts;
    QString ram;
    for (const engine::DeviceMemory& device : memory) {
        const QString free =
            formatBytes(device.capacity - std::min(device.capacity, device.used_by_others));
        const QString all = formatBytes(device.capacity);
        if (device.id == engine::DeviceId::cpu()) {
            ram = tr("%1 of %2 main memory free").arg(free, all);
        } else if (device.id.kind == engine::DeviceId::Kind::Cuda) {
            parts.append(tr("%1: %2 of %3 free").arg(fromUtf8(device.description), free, all));
        }
    }
    if (!ram.isEmpty()) {
        parts.append(ram);
    }
    computer_->setText(parts.join(QStringLiteral(" · ")));
    computer_->setVisible(!memory.empty());
}

void WelcomePage::setHasServers(bool has_servers) {
    server_button_->setVisible(has_servers);
}

void WelcomePage::refresh() {
    const int rows = std::min(recent_->rowCount(), RecentModels::kMaximum);
    recent_title_->setVisible(rows > 0);
    recent_view_->setVisible(rows > 0);
    if (rows > 0) {
        recent_view_->setFixedHeight(rows * (std::max(24, recent_view_->sizeHintForRow(0)) + 2) +
                                     4);
    }
}

} // namespace ui
