// SPDX-License-Identifier: Apache-2.0
// The part of the window that shows models instead of a chat: Library and Get a model, and the way
// back.
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
    enum class Page { Library = 1, Get };

    explicit ModelsPage(QWidget* parent = nullptr);

    [[nodiscard]] LibraryPage* library() const { return library_; }
    [[nodiscard]] GetPage* get() const { return get_; }
    [[nodiscard]] Page page() const;
    void setPage(Page page);

Q_SIGNALS:
    void backRequested();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    QButtonGroup* tabs_;
    QStackedWidget* stack_;
    LibraryPage* library_;
    GetPage* get_;
};

} // namespace ui
