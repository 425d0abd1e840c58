// SPDX-License-Identifier: Apache-2.0
// The part of the window that shows models instead of a chat: Library, Get a model and What fits,
// and the way back.
#pragma once

#include <QWidget>

class QButtonGroup;
class QStackedWidget;

namespace ui {

class GetPage;
class LibraryPage;

class ModelsPage : public QWidget {
    Q_OBJECT

public:
    enum class Page { Library = 1, Get, Fit };

    explicit ModelsPage(QWidget* parent = nullptr);

    [[nodiscard]] LibraryPage* library() const { return library_; }
    [[nodiscard]] GetPage* get() const { return get_; }
    /// The drawing of what fits, made by who knows of all rooms.
    void setFit(QWidget* page);
    [[nodiscard]] Page page() const;
    void setPage(Page page);

Q_SIGNALS:
    void backRequested();
    /// The tab of the drawing was clicked: which models are there?
    void fitOpened();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    QButtonGroup* tabs_;
    QStackedWidget* stack_;
    LibraryPage* library_;
    GetPage* get_;
    QWidget* fit_ = nullptr;
};

} // namespace ui
