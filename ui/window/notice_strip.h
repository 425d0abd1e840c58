// SPDX-License-Identifier: Apache-2.0
// A card over the lower end of the window's centre for what went wrong or needs to be known: what
// happened, the numbers and the next step. Stays until dismissed or replaced; never takes the
// focus. In no layout, so that nothing moves when it comes or goes: the window places it.
#pragma once

#include "engine/api/error.h"
#include "ui/style/passing.h"

#include <QFrame>

#include <functional>

class QHBoxLayout;
class QLabel;
class QPushButton;
class QScrollArea;
class QWidget;

namespace ui {

class NoticeStrip : public QFrame {
    Q_OBJECT

public:
    enum class Kind { Info = 1, Error };

    explicit NoticeStrip(QWidget* parent = nullptr);

    void showError(const QString& what, const engine::Error& error);
    void showNotice(const QString& what, const QString& detail, Kind kind = Kind::Info);
    /// What happened in plain words; `more`, for who wants to know exactly, folds out.
    void showFolded(const QString& what, const QString& detail, const QString& more);
    /// Hides the notice that says this, if it is still the one that is shown.
    void withdraw(const QString& what);
    /// What went well and asks for nothing: goes by itself after a while, though never from under
    /// the user's hand.
    void showPassing(const QString& what, const QString& detail);
    /// A notice with one thing to do about it: a button `action` that runs `chosen` and goes.
    void showAction(const QString& what,
                    const QString& detail,
                    const QString& action,
                    std::function<void()> chosen,
                    Kind kind = Kind::Info);
    /// Keeps the notice that was just shown for the whole window, whatever part of it is looked at.
    /// Others leave with what they were shown over.
    void keep() { is_kept_ = true; }
    /// Another view or chat is looked at now.
    void leaveView();
    /// Another thing to do, beside the action of the notice that was just shown.
    void offerAlso(const QString& action, std::function<void()> chosen);

    /// The height it wants in this width, at most `most`: more text scrolls.
    [[nodiscard]] int fitTo(int width, int most);

Q_SIGNALS:
    /// Shown, hidden or with another text: to be placed.
    void changed();

protected:
    void paintEvent(QPaintEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    Kind kind_ = Kind::Info;
    bool is_kept_ = false;
    std::function<void()> chosen_, also_chosen_;
    Passing* passing_;
    QScrollArea* area_;
    QWidget* body_;      ///< The texts.
    QHBoxLayout* row_;   ///< Icon, texts, buttons.
    QHBoxLayout* below_; ///< The buttons with words, where the texts need the width.
    QLabel* icon_;
    QLabel* title_;
    QLabel* detail_;
    QLabel* more_;
    QPushButton* toggle_;
    QPushButton* action_;
    QPushButton* also_;
    QPushButton* copy_;
    QPushButton* close_;
};

/// What a person can do about an error of this kind, translated; empty where the message says it.
QString nextStep(engine::ErrorCode code);

} // namespace ui
