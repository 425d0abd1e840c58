// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/plan_options_dialog.h"

#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QRegularExpression>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr double kMostBytes = 64.0 * 1024 * 1024 * 1024 * 1024;
constexpr qsizetype kMostSims = 8;

std::optional<quint64> parseSize(const QString& text) {
    static const QRegularExpression kPattern(
        QStringLiteral("^([0-9]+(?:[.,][0-9]+)?)\\s*([KMGT]?i?B?)$"),
        QRegularExpression::CaseInsensitiveOption);
    const QRegularExpressionMatch match = kPattern.match(text.trimmed());
    if (!match.hasMatch()) {
        return std::nullopt;
    }
    QString number = match.captured(1);
    number.replace(QLatin1Char(','), QLatin1Char('.'));
    const QString unit = match.captured(2).toLower();
    double factor = 1024.0 * 1024 * 1024; // a bare number means GiB
    const bool is_decimal =
        !unit.contains(QLatin1Char('i')) && unit.endsWith(QLatin1Char('b')) && unit.size() == 2;
    const double step = is_decimal ? 1000.0 : 1024.0;
    if (!unit.isEmpty()) {
        const qsizetype power = QStringLiteral("bkmgt").indexOf(unit.front());
        factor = 1.0;
        for (qsizetype i = 0; i < power; ++i) {
            factor *= step;
        }
    }
    const double bytes = number.toDouble() * factor;
    if (!(bytes >= 1.0) || bytes > kMostBytes) {
        return std::nullopt;
    }
    return static_cast<quint64>(bytes);
}

/// Whole units where that is exact, so that reading it again gives the same bytes.
QString sizeText(quint64 bytes) {
    constexpr quint64 kGiB = quint64{1} << 30U;
    constexpr quint64 kMiB = quint64{1} << 20U;
    if (bytes % kGiB == 0) {
        return QStringLiteral("%1 GiB").arg(bytes / kGiB);
    }
    return bytes % kMiB == 0 ? QStringLiteral("%1 MiB").arg(bytes / kMiB)
                             : QStringLiteral("%1 B").arg(bytes);
}

QStringList pieces(const QString& text) {
    // A comma between digits is a decimal comma only where no space follows.
    return text.split(QRegularExpression(QStringLiteral(",\\s+|;|,(?=[^0-9])|,$")),
                      Qt::SkipEmptyParts);
}

} // namespace

std::optional<std::vector<quint64>> parseSizes(const QString& text) {
    std::vector<quint64> sizes;
    for (const QString& piece : pieces(text)) {
        if (piece.trimmed().isEmpty()) {
            continue;
        }
        const auto size = parseSize(piece);
        if (!size.has_value()) {
            return std::nullopt;
        }
        sizes.push_back(*size);
    }
    return sizes;
}

std::optional<std::vector<std::pair<std::string, uint64_t>>> parseLimits(const QString& text) {
    std::vector<std::pair<std::string, uint64_t>> limits;
    for (const QString& piece : pieces(text)) {
        if (piece.trimmed().isEmpty()) {
            continue;
        }
        const qsizetype equals = piece.indexOf(QLatin1Char('='));
        const std::string device =
            piece.left(std::max<qsizetype>(0, equals)).trimmed().toStdString();
        const auto size = parseSize(piece.mid(equals + 1));
        if (equals < 0 || !engine::DeviceId::parse(device).has_value() || !size.has_value()) {
            return std::nullopt;
        }
        limits.emplace_back(device, *size);
    }
    return limits;
}

PlanOptionsDialog::PlanOptionsDialog(const engine::LoadRequest& request,
                                     qint64 max_context,
                                     const std::vector<engine::DeviceId>& cards,
                                     QWidget* parent)
    : QDialog(parent), cards_(cards), request_(request), sims_(new QLineEdit),
      limits_(new QLineEdit), context_(new QSpinBox), quant_(new QComboBox), head_(new QComboBox),
      names_(new QLabel), problem_(new QLabel) {
    setObjectName(QStringLiteral("planOptionsDialog"));
    setWindowTitle(tr("Devices and options"));
    QStringList sims;
    for (const uint64_t bytes : request.sim_gpus) {
        sims << sizeText(bytes);
    }
    sims_->setText(sims.join(QStringLiteral(", ")));
    sims_->setPlaceholderText(tr("none"));
    QStringList limits;
    for (const auto& [device, bytes] : request.limits) {
        limits << QStringLiteral("%1 = %2").arg(QString::fromStdString(device), sizeText(bytes));
    }
    limits_->setText(limits.join(QStringLiteral(", ")));
    limits_->setPlaceholderText(tr("for example sim:0 = 6 GiB"));
    context_->setRange(256, static_cast<int>(std::clamp<qint64>(max_context, 256, 1 << 24)));
    context_->setSingleStep(1024);
    context_->setGroupSeparatorShown(true);
    context_->setSuffix(tr(" tokens"));
    context_->setValue(request.context > 0 ? static_cast<int>(request.context) : 4096);
    for (const QString& name : quantOptions()) {
        quant_->addItem(quantName(name), name);
    }
    head_->addItem(tr("automatic"), QStringLiteral("auto"));
    head_->addItem(tr("as the table (bf16)"), QStringLiteral("bf16"));
    head_->addItem(tr("8 bit"), QStringLiteral("int8"));
    head_->addItem(tr("4 bit (NF4)"), QStringLiteral("nf4"));
    quant_->setCurrentIndex(quant_->findData(QString::fromStdString(request.quant)));
    head_->setCurrentIndex(head_->findData(QString::fromStdString(request.head)));

    auto* form = new QFormLayout;
    const auto row = [&](const QString& label, QWidget* field, const char* name) {
        form->addRow(label, field);
        field->setAccessibleName(label);
        field->setObjectName(QString::fromLatin1(name));
    };
    row(tr("Simulated GPUs"), sims_, "optionSims");
    auto* quick = new QHBoxLayout;
    quick->setSpacing(4);
    for (const double gib : {4.0, 6.0, 8.0, 12.0, 16.0, 24.0}) {
        auto* button = new QPushButton(tr("+ %1 GiB").arg(QLocale().toString(gib, 'f', 0)));
        button->setAccessibleName(tr("Add a simulated GPU of %1 GiB").arg(gib));
        button->setAutoDefault(false);
        connect(button, &QPushButton::clicked, this, [this, gib] { addSim(gib); });
        quick->addWidget(button);
    }
    quick->addStretch(1);
    form->addRow(QString(), quick);
    row(tr("Limits"), limits_, "optionLimits");
    names_->setObjectName(QStringLiteral("optionNames"));
    names_->setWordWrap(true);
    setTextRole(names_, TextRole::Muted);
    setTextSize(names_, 92);
    form->addRow(QString(), names_);
    row(tr("Context"), context_, "optionContext");
    row(tr("Precision of the weights"), quant_, "optionQuant");
    row(tr("Precision of the head"), head_, "optionHead");
    auto* note = new QLabel(
        tr("A simulated GPU is a hard memory limit with accounts of its own, computed on the "
           "processor: try a split, a limit or an out-of-memory without the card. These options "
           "need the model to be loaded again."));
    note->setWordWrap(true);
    setTextRole(note, TextRole::Muted);
    problem_->setWordWrap(true);
    problem_->setObjectName(QStringLiteral("optionProblem"));
    setTextRole(problem_, TextRole::Danger);
    problem_->hide();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    ok_ = buttons->button(QDialogButtonBox::Ok);
    ok_->setText(tr("Plan with this"));
    setButtonKind(ok_, ButtonKind::Primary);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(sims_, &QLineEdit::textChanged, this, &PlanOptionsDialog::check);
    connect(limits_, &QLineEdit::textChanged, this, &PlanOptionsDialog::check);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addWidget(note);
    layout->addWidget(problem_);
    layout->addWidget(buttons);
    check();
}

void PlanOptionsDialog::addSim(double gib) {
    const QString size = QStringLiteral("%1 GiB").arg(gib);
    sims_->setText(sims_->text().trimmed().isEmpty() ? size
                                                     : sims_->text() + QStringLiteral(", ") + size);
}

std::vector<engine::DeviceId> PlanOptionsDialog::devices(size_t sims) const {
    std::vector<engine::DeviceId> all = cards_;
    for (size_t i = 0; i < sims; ++i) {
        all.push_back(engine::DeviceId::sim(static_cast<int>(i)));
    }
    all.push_back(engine::DeviceId::cpu());
    return all;
}

void PlanOptionsDialog::check() {
    const auto sims = parseSizes(sims_->text());
    const auto limits = parseLimits(limits_->text());
    const std::vector<engine::DeviceId> known = devices(sims.has_value() ? sims->size() : 0);
    QStringList names;
    for (const engine::DeviceId id : known) {
        const std::string name = id.toString();
        names << QStringLiteral("%1 (%2)").arg(fromUtf8(name), deviceName(name));
    }
    names_->setText(tr("Names: %1").arg(names.join(QStringLiteral(", "))));
    // Simulated GPUs hide the cards from the plan: which there are is known without them only.
    const bool are_cards_unknown = cards_.empty() && !request_.sim_gpus.empty();
    QString stranger;
    for (const auto& [device, bytes] : limits.value_or(decltype(limits)::value_type())) {
        const auto id = engine::DeviceId::parse(device);
        const bool may_be_there = id.has_value() && id->kind == engine::DeviceId::Kind::Cuda &&
                                  are_cards_unknown && sims.has_value() && sims->empty();
        if (id != engine::DeviceId::disk() && !may_be_there &&
            std::find(known.begin(), known.end(), id) == known.end()) {
            stranger = fromUtf8(device);
        }
    }
    QString problem;
    if (!sims.has_value()) {
        problem = tr("Simulated GPUs: expected sizes separated by commas, such as 8 GiB, 512 MiB.");
    } else if (static_cast<qsizetype>(sims->size()) > kMostSims) {
        problem = tr("At most %1 simulated GPUs.").arg(kMostSims);
    } else if (!limits.has_value()) {
        problem = tr("Limits: expected a device and a size, such as sim:0 = 6 GiB, cpu = 12 GiB.");
    } else if (!stranger.isEmpty()) {
        problem = tr("Limits: there is no %1 here.").arg(stranger);
    }
    problem_->setText(problem);
    problem_->setVisible(!problem.isEmpty());
    ok_->setEnabled(problem.isEmpty());
}

engine::LoadRequest PlanOptionsDialog::request() const {
    engine::LoadRequest out = request_;
    const auto sims = parseSizes(sims_->text());
    const auto limits = parseLimits(limits_->text());
    if (sims.has_value()) {
        out.sim_gpus.assign(sims->begin(), sims->end());
    }
    if (limits.has_value()) {
        out.limits = *limits;
    }
    out.context = context_->value();
    out.quant = quant_->currentData().toString().toStdString();
    out.head = head_->currentData().toString().toStdString();
    return out;
}

} // namespace ui
