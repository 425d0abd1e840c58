// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/shortcut_editor.h"

#include "ui/style/row_delegate.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeView>
#include <QVBoxLayout>

namespace ui {

ShortcutModel::ShortcutModel(QObject* parent) : QAbstractTableModel(parent) {
    refresh();
}

void ShortcutModel::refresh() {
    std::vector<Shortcut> rows;
    for (Shortcut& shortcut : shortcuts()) {
        if (!shortcut.isFixed()) {
            rows.push_back(std::move(shortcut));
        }
    }
    if (rows_.size() == rows.size()) {
        // The same actions with other keys: a selection stays.
        rows_ = std::move(rows);
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    rows_ = std::move(rows);
    endResetModel();
}

int ShortcutModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ShortcutModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ShortcutModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Shortcut& row = shortcut(index.row());
    if (role == Qt::DisplayRole && index.column() == ActionColumn) {
        return row.text;
    }
    if (role == Qt::DisplayRole) {
        QStringList keys;
        for (const QKeySequence& sequence : row.keys) {
            keys.append(sequence.toString(QKeySequence::NativeText));
        }
        return keys.isEmpty() ? tr("none") : keys.join(QStringLiteral("  "));
    }
    if (role == Qt::FontRole && row.keys != row.usual) {
        return scaledFont(100, true); // changed by the user
    }
    if (role == Qt::ForegroundRole && index.column() == KeysColumn && row.keys.isEmpty()) {
        return Theme::current().text_muted;
    }
    return {};
}

QVariant ShortcutModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal) {
        return {};
    }
    return section == ActionColumn ? tr("Action") : tr("Keys");
}

int ShortcutModel::rowOf(const QString& action) const {
    for (size_t i = 0; i < rows_.size(); ++i) {
        if (rows_[i].action == action) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

ShortcutEditor::ShortcutEditor(QWidget* parent)
    : QDialog(parent), model_(new ShortcutModel(this)), view_(new QTreeView(this)),
      name_(new QLabel(this)), edit_(new QKeySequenceEdit(this)), verdict_(new QLabel(this)),
      assign_(new QPushButton(tr("&Assign"), this)), clear_(new QPushButton(tr("&No keys"), this)),
      reset_(new QPushButton(tr("&Usual keys"), this)),
      reset_all_(new QPushButton(tr("&Reset all keys"), this)) {
    setObjectName(QStringLiteral("shortcutEditor"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Change keyboard shortcuts"));
    resize(620, 600);
    auto* column = columnIn(this, {20, 16, 20, 16}, Theme::kGap);
    view_->setObjectName(QStringLiteral("shortcutTable"));
    view_->setAccessibleName(tr("Actions and their keys"));
    view_->setModel(model_);
    view_->setRootIsDecorated(false);
    view_->setUniformRowHeights(true);
    view_->setItemDelegate(new RowDelegate(view_));
    view_->header()->setMinimumHeight(view_->fontMetrics().height() + 16);
    view_->setTabKeyNavigation(false);
    view_->header()->setStretchLastSection(true);
    view_->header()->setSectionResizeMode(ShortcutModel::ActionColumn,
                                          QHeaderView::ResizeToContents);
    column->addWidget(view_, 1);
    setTextSize(name_, 105, true);
    name_->setObjectName(QStringLiteral("shortcutName"));
    column->addWidget(name_);
    auto* row = new QHBoxLayout();
    edit_->setObjectName(QStringLiteral("shortcutEdit"));
    edit_->setAccessibleName(tr("New keys"));
    edit_->setMinimumHeight(Theme::kControlHeight);
    if (auto* field = edit_->findChild<QLineEdit*>()) {
        field->setPlaceholderText(tr("Press the new keys"));
    }
    assign_->setObjectName(QStringLiteral("shortcutAssign"));
    clear_->setObjectName(QStringLiteral("shortcutClear"));
    reset_->setObjectName(QStringLiteral("shortcutReset"));
    reset_all_->setObjectName(QStringLiteral("shortcutResetAll"));
    assign_->setAutoDefault(false);
    row->addWidget(edit_, 1);
    row->addWidget(assign_);
    row->addWidget(clear_);
    row->addWidget(reset_);
    column->addLayout(row);
    verdict_->setObjectName(QStringLiteral("shortcutVerdict"));
    verdict_->setWordWrap(true);
    verdict_->setMinimumHeight(verdict_->fontMetrics().height() * 2);
    verdict_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    column->addWidget(verdict_);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)->setText(tr("Close"));
    buttons->addButton(reset_all_, QDialogButtonBox::ResetRole);
    // Return in the field means a key, never one of the buttons.
    const QList<QPushButton*> all = findChildren<QPushButton*>();
    for (QPushButton* button : all) {
        button->setAutoDefault(false);
    }
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &ShortcutEditor::showChosen);
    connect(edit_, &QKeySequenceEdit::keySequenceChanged, this, &ShortcutEditor::check);
    connect(assign_, &QPushButton::clicked, this, &ShortcutEditor::assign);
    connect(clear_, &QPushButton::clicked, this, [this] {
        ShortcutKeys keys = shortcutKeys();
        put(chosen()->action, {}, keys);
        commit(keys);
    });
    connect(reset_, &QPushButton::clicked, this, &ShortcutEditor::reset);
    connect(reset_all_, &QPushButton::clicked, this, &ShortcutEditor::resetAll);
    view_->setCurrentIndex(model_->index(0, 0));
}

void ShortcutEditor::select(const QString& action) {
    view_->setCurrentIndex(model_->index(model_->rowOf(action), 0));
}

const Shortcut* ShortcutEditor::chosen() const {
    const QModelIndex index = view_->currentIndex();
    return index.isValid() ? &model_->shortcut(index.row()) : nullptr;
}

QKeySequence ShortcutEditor::typed() const {
    // One stroke: actions that wait for a second key surprise people who do not expect it.
    const QKeySequence all = edit_->keySequence();
    return all.isEmpty() ? QKeySequence() : QKeySequence(all[0]);
}

void ShortcutEditor::showChosen() {
    edit_->clear();
    check();
}

void ShortcutEditor::check() {
    const Shortcut* shortcut = chosen();
    name_->setText(shortcut != nullptr ? shortcut->text : QString());
    edit_->setEnabled(shortcut != nullptr);
    clear_->setEnabled(shortcut != nullptr && !shortcut->keys.isEmpty());
    reset_->setEnabled(shortcut != nullptr && shortcut->keys != shortcut->usual);
    reset_all_->setEnabled(!shortcutKeys().isEmpty());
    const QKeySequence keys = typed();
    assign_->setText(tr("&Assign"));
    assign_->setEnabled(false);
    setTextRole(verdict_, TextRole::Muted);
    if (shortcut == nullptr || keys.isEmpty()) {
        verdict_->setText(tr("Choose an action, then press the new keys in the field."));
        return;
    }
    const QString problem = shortcutProblem(shortcut->action, keys);
    const QString owner = shortcutOwner(shortcut->action, keys);
    if (!problem.isEmpty()) {
        setTextRole(verdict_, TextRole::Danger);
        verdict_->setText(problem);
    } else if (shortcut->keys.contains(keys)) {
        verdict_->setText(tr("These are its keys already."));
    } else if (!owner.isEmpty()) {
        setTextRole(verdict_, TextRole::Danger);
        verdict_->setText(tr("%1 is used by: %2. Assigning takes it from there.")
                              .arg(keys.toString(QKeySequence::NativeText),
                                   model_->shortcut(model_->rowOf(owner)).text));
        assign_->setText(tr("T&ake over"));
        assign_->setEnabled(true);
    } else {
        verdict_->setText(tr("%1 is free.").arg(keys.toString(QKeySequence::NativeText)));
        assign_->setEnabled(true);
    }
}

void ShortcutEditor::put(const QString& action,
                         const QList<QKeySequence>& keys,
                         ShortcutKeys& all) const {
    if (keys == model_->shortcut(model_->rowOf(action)).usual) {
        all.remove(action);
        return;
    }
    QStringList texts;
    for (const QKeySequence& sequence : keys) {
        texts.append(sequence.toString(QKeySequence::PortableText));
    }
    all.insert(action, texts);
}

void ShortcutEditor::commit(const ShortcutKeys& keys) {
    setShortcutKeys(keys);
    model_->refresh();
    edit_->clear();
    check();
    Q_EMIT keysEdited(keys);
}

void ShortcutEditor::assign() {
    const Shortcut* shortcut = chosen();
    const QKeySequence keys = typed();
    if (shortcut == nullptr || keys.isEmpty()) {
        return;
    }
    ShortcutKeys all = shortcutKeys();
    const QString owner = shortcutOwner(shortcut->action, keys);
    if (!owner.isEmpty()) {
        QList<QKeySequence> rest = model_->shortcut(model_->rowOf(owner)).keys;
        rest.removeAll(keys);
        put(owner, rest, all);
    }
    put(shortcut->action, {keys}, all);
    commit(all);
}

void ShortcutEditor::reset() {
    const Shortcut* shortcut = chosen();
    if (shortcut == nullptr) {
        return;
    }
    ShortcutKeys all = shortcutKeys();
    all.remove(shortcut->action);
    // Whoever was given one of them loses it again: two actions on the same keys do neither.
    for (const QKeySequence& keys : shortcut->usual) {
        const QString owner = shortcutOwner(shortcut->action, keys);
        if (!owner.isEmpty()) {
            QList<QKeySequence> rest = model_->shortcut(model_->rowOf(owner)).keys;
            rest.removeAll(keys);
            put(owner, rest, all);
        }
    }
    commit(all);
}

void ShortcutEditor::resetAll() {
    commit({});
}

} // namespace ui
