// SPDX-License-Identifier: Apache-2.0
#include "ui/style/format.h"

#include "engine/api/formats.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

/// Carries the translation context of this file.
struct Format {
    Q_DECLARE_TR_FUNCTIONS(Format)
};

constexpr const char* kWithExperts = "+experts"; ///< After an option of --quant.

/// Three digits at most: 4.71 -> "4.7", 312.4 -> "312"; more where more decimals are asked for.
QString threeDigits(double value, int decimals = 1) {
    return QLocale().toString(value, 'f', std::abs(value) < 99.95 ? decimals : 0);
}

} // namespace

QString formatBytes(quint64 bytes, int decimals) {
    constexpr double kKiB = 1024.0;
    const auto value = static_cast<double>(bytes);
    if (value < 999.5) {
        return Format::tr("%1 B").arg(QLocale().toString(static_cast<qulonglong>(bytes)));
    }
    if (value < 999.5 * kKiB) {
        return Format::tr("%1 KiB").arg(threeDigits(value / kKiB, decimals));
    }
    if (value < 999.5 * kKiB * kKiB) {
        return Format::tr("%1 MiB").arg(threeDigits(value / (kKiB * kKiB), decimals));
    }
    if (value < 999.5 * kKiB * kKiB * kKiB) {
        return Format::tr("%1 GiB").arg(threeDigits(value / (kKiB * kKiB * kKiB), decimals));
    }
    return Format::tr("%1 TiB").arg(threeDigits(value / (kKiB * kKiB * kKiB * kKiB), decimals));
}

QString formatBytesDelta(qint64 bytes) {
    if (bytes == 0) {
        return QStringLiteral("±0");
    }
    const quint64 magnitude =
        bytes < 0 ? quint64{0} - static_cast<quint64>(bytes) : static_cast<quint64>(bytes);
    return (bytes < 0 ? QStringLiteral("−") : QStringLiteral("+")) + formatBytes(magnitude);
}

QString formatDuration(double seconds) {
    return seconds < 0.1  ? Format::tr("%1 ms").arg(QLocale().toString(seconds * 1e3, 'g', 3))
           : seconds < 10 ? Format::tr("%1 s").arg(QLocale().toString(seconds, 'g', 2))
                          : Format::tr("%1 s").arg(QLocale().toString(seconds, 'f', 0));
}

QString formatSeconds(double seconds) {
    if (seconds > 0.0 && seconds < 0.0095) { // never "0.00 s" for something that takes time
        return Format::tr("%1 s").arg(QLocale().toString(std::max(seconds, 0.001), 'f', 3));
    }
    if (seconds < 0.995) {
        return Format::tr("%1 s").arg(QLocale().toString(seconds, 'f', 2));
    }
    if (seconds < 119.5) {
        return Format::tr("%1 s").arg(QLocale().toString(seconds, 'f', seconds < 9.95 ? 1 : 0));
    }
    const qint64 whole = std::llround(seconds);
    return Format::tr("%1 min %2 s").arg(whole / 60).arg(whole % 60);
}

QString formatParameters(qint64 count) {
    const auto value = static_cast<double>(count);
    if (value >= 999.5e6) {
        return Format::tr("%1 B", "billion parameters, beside the model's name")
            .arg(threeDigits(value / 1e9));
    }
    if (value >= 999.5e3) {
        return Format::tr("%1 M", "million parameters, beside the model's name")
            .arg(threeDigits(value / 1e6));
    }
    return Format::tr("%1 K", "thousand parameters, beside the model's name")
        .arg(threeDigits(value / 1e3));
}

QString formatCount(qint64 count) {
    return QLocale().toString(count);
}

QString formatRate(double value) {
    return QLocale().toString(value, 'f', value < 9.95 ? 1 : 0);
}

QString deviceName(const std::string& device) {
    QString id = fromUtf8(device);
    if (id == QStringLiteral("cpu")) {
        return Format::tr("CPU");
    }
    if (id == QStringLiteral("disk")) {
        return Format::tr("Disk");
    }
    const QString index = id.section(QLatin1Char(':'), 1);
    if (id.startsWith(QStringLiteral("cuda:"))) {
        return Format::tr("GPU %1").arg(index);
    }
    if (id.startsWith(QStringLiteral("sim:"))) {
        return Format::tr("Simulated GPU %1").arg(index);
    }
    return id;
}

QString presetName(const QString& preset) {
    if (preset == QStringLiteral("gpu")) {
        return Format::tr("Everything on the GPU");
    }
    if (preset == QStringLiteral("towers-cpu")) {
        return Format::tr("Towers on the CPU");
    }
    if (preset == QStringLiteral("ple-cpu")) {
        return Format::tr("Per-layer embeddings on the CPU");
    }
    if (preset == QStringLiteral("lean")) {
        return Format::tr("Towers and per-layer embeddings on the CPU");
    }
    if (preset == QStringLiteral("experts-cpu")) {
        return Format::tr("Experts on the CPU");
    }
    if (preset == QStringLiteral("cpu")) {
        return Format::tr("Everything on the CPU");
    }
    if (preset == QStringLiteral("fit")) {
        return Format::tr("Best fit");
    }
    return Format::tr("Own layout");
}

QStringList quantOptions(bool has_experts) {
    QStringList options;
    for (const std::string& option : engine::quantOptions()) {
        if (has_experts || !option.ends_with(kWithExperts)) {
            options.append(fromUtf8(option));
        }
    }
    return options;
}

QString quantName(const QString& quant) {
    if (quant.endsWith(QLatin1String(kWithExperts))) {
        return Format::tr("%1, experts too").arg(quantName(quant.section(QLatin1Char('+'), 0, 0)));
    }
    const engine::FormatRow* row = engine::formatOfOption(quant.toStdString());
    if (row == nullptr) {
        return quant;
    }
    if (!row->weight_format) {
        return Format::tr("As stored");
    }
    const engine::FormatRow& plain =
        engine::formatRow(engine::codesFormat(*row->weight_format, false));
    return (row->is_nested ? Format::tr("%1 bits (%2, double quantization)")
                           : Format::tr("%1 bits (%2)"))
        .arg(kernels::rowOf(*row->weight_format).bits)
        .arg(fromUtf8(std::string(plain.label)));
}

QString toolTipText(const QString& text) {
    constexpr qsizetype kLongestLine = 72;
    QStringList lines;
    const QStringList given = text.split(QLatin1Char('\n'));
    for (QString line : given) {
        while (line.size() > kLongestLine) {
            qsizetype cut = line.lastIndexOf(QLatin1Char(' '), kLongestLine);
            cut = cut < kLongestLine / 2 ? kLongestLine : cut;
            cut -= line.at(cut - 1).isHighSurrogate() ? 1 : 0;
            lines.append(line.left(cut).trimmed());
            line = line.mid(cut).trimmed();
        }
        lines.append(line);
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace ui
