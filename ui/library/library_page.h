// SPDX-License-Identifier: Apache-2.0
// The page "Library": what there is on this computer, and what can be done with it. A view: what it
// wishes leaves as signals, and the answers come back as values.
#pragma once

#include "ui/library/library_values.h"

#include <QWidget>

class QBoxLayout;
class QLabel;
class QLineEdit;
class QListView;
class QMenu;
class QPushButton;
class QStackedWidget;

namespace ui {

class LibraryModel;

class LibraryPage : public QWidget {
    Q_OBJECT

public:
    explicit LibraryPage(QWidget* parent = nullptr);

    [[nodiscard]] LibraryModel* model() const { return model_; }
    /// Whether something was ever found out: a page that is opened for the first time looks.
    [[nodiscard]] bool wasFilled() const { return was_filled_; }
    /// The file with the towers of what is at `path`, where the engine does not find it itself.
    [[nodiscard]] QString projectorOf(const QString& path) const;

public Q_SLOTS:
    void showContents(const std::shared_ptr<const ui::LibraryContents>& contents);
    /// A scan is under way.
    void setScanning(bool is_scanning);
    /// What is loaded: its folder; marked, and said before it is deleted.
    void setLoaded(const QString& path) { loaded_ = path; }
    /// Asks the user; then removeRequested().
    void showRemoval(const ui::LibraryRemoval& removal);
    /// What could not be done, below the list.
    void showProblem(const QString& text);
    /// Selects an entry as soon as it is there.
    void select(const QString& path);

Q_SIGNALS:
    void scanRequested();
    void cancelRequested();
    /// Choose and load.
    void loadRequested(const QString& path);
    /// Choose, to be looked at: with the form of its options.
    void optionsRequested(const QString& path);
    void adapterRequested(const QString& path);
    void showRequested(const QString& path);
    void removalRequested(const QString& path);
    void removeRequested(const ui::LibraryRemoval& removal);
    void folderDialogRequested();
    void folderAdded(const QString& folder);
    void folderRemoved(const QString& folder);
    /// The page that gets models, with this one looked up; empty: as it is.
    void getRequested(const QString& id);
    /// The same, with adapters for this model.
    void adaptersWanted(const QString& id);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildBar();
    QWidget* buildList();
    QWidget* buildDetail();
    QWidget* buildEmpty();
    void refresh();
    void refreshDetail();
    void fillFoldersMenu();
    [[nodiscard]] const LibraryItem* current() const;

    LibraryModel* model_;
    bool was_filled_ = false;
    bool is_scanning_ = false;
    QString loaded_;
    QString wanted_; ///< To be selected once it is found.
    QString problem_;

    QLineEdit* filter_ = nullptr;
    QPushButton* scan_ = nullptr;
    QMenu* folders_ = nullptr;
    QStackedWidget* stack_ = nullptr;
    QWidget* found_ = nullptr;
    QBoxLayout* sides_ = nullptr;
    QListView* list_ = nullptr;
    QWidget* detail_ = nullptr;
    QWidget* empty_ = nullptr;
    QLabel* empty_words_ = nullptr;
    QLabel* status_ = nullptr;
    QLabel* gaps_ = nullptr;
    QLabel* name_ = nullptr;
    QLabel* facts_ = nullptr;
    QLabel* verdict_ = nullptr;
    QLabel* way_out_ = nullptr;
    QLabel* path_ = nullptr;
    QPushButton* load_ = nullptr;
    QPushButton* options_ = nullptr;
    QPushButton* get_ = nullptr;
    QPushButton* show_ = nullptr;
    QPushButton* delete_ = nullptr;
};

} // namespace ui
