// SPDX-License-Identifier: Apache-2.0
// One adapter: on or off, how strong, what it covers, away with it.
#pragma once

#include "engine/api/load_request.h"
#include "engine/api/model_summary.h"

#include <QFrame>

class QLabel;
class QPushButton;
class QSlider;

namespace ui {

class ElidedLabel;

class AdapterChip : public QFrame {
    Q_OBJECT

public:
    explicit AdapterChip(QWidget* parent = nullptr);

    /// `coverage` is nullptr while it is being read.
    /// `name`: of its folder, told apart from the others'.
    void show(const engine::AdapterChoice& choice,
              const QString& name,
              const engine::AdapterSummary* coverage);
    /// Without the words of the report and with a short slider, for a narrow bar.
    void setCompact(bool is_compact);
    /// What the chip takes with everything on it, compact or not.
    [[nodiscard]] int wholeWidth() const { return whole_width_; }
    [[nodiscard]] int compactWidth() const { return compact_width_; }
    [[nodiscard]] bool hasProblem() const { return has_problem_; }
    /// Matched tensors and all of them: what the chip says as "706 of 706".
    static std::pair<qint64, qint64> matched(const engine::AdapterSummary& coverage);

Q_SIGNALS:
    void enabledChanged(bool is_enabled);
    void strengthChanged(double strength);
    void removeRequested();
    void reportRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void showStrength(double strength);
    /// Report and slider in this form; the widths follow at once.
    void arrange(bool is_compact);

    QPushButton* power_;
    ElidedLabel* name_;
    QSlider* slider_;
    QLabel* value_;
    QPushButton* report_;
    QPushButton* remove_;
    bool is_enabled_ = true;
    bool has_problem_ = false;
    bool is_compact_ = false;
    int whole_width_ = 0, compact_width_ = 0;
    QString report_text_;
};

} // namespace ui
