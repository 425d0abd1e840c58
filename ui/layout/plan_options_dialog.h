// SPDX-License-Identifier: Apache-2.0
// What a plan depends on besides the map: simulated GPUs, limits, context, precision.
#pragma once

#include "engine/api/load_request.h"

#include <QDialog>

#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace ui {

/// "8 GiB, 512MiB" as bytes; nullopt when a piece is no size. Decimal and binary units.
std::optional<std::vector<quint64>> parseSizes(const QString& text);
/// "sim:0 = 6 GiB, cpu = 12 GiB" as limits; nullopt when a piece is not of this form.
std::optional<std::vector<std::pair<std::string, uint64_t>>> parseLimits(const QString& text);

/// Open with open(); accepted() then request(). `cards`: what this computer has; simulated ones are
/// added by what is typed.
class PlanOptionsDialog : public QDialog {
    Q_OBJECT

public:
    PlanOptionsDialog(const engine::LoadRequest& request,
                      qint64 max_context,
                      const std::vector<engine::DeviceId>& cards,
                      QWidget* parent = nullptr);
    [[nodiscard]] engine::LoadRequest request() const;

private:
    void check();
    void addSim(double gib);
    /// What a limit can be given for, with the sizes of simulated GPUs as they are typed.
    [[nodiscard]] std::vector<engine::DeviceId> devices(size_t sims) const;

    std::vector<engine::DeviceId> cards_;

    engine::LoadRequest request_;
    QLineEdit* sims_;
    QLineEdit* limits_;
    QSpinBox* context_;
    QComboBox* quant_;
    QComboBox* head_;
    QLabel* names_;
    QLabel* problem_;
    QPushButton* ok_;
};

} // namespace ui
