// SPDX-License-Identifier: Apache-2.0
// Numbers as the window writes them, in the user's locale. One place, so that the same amount reads
// the same in the layout, the meter, the chat and the reports.
#pragma once

#include <QString>
#include <QtGlobal>

#include <string>

namespace ui {

/// "4.7 GiB", "312 MiB", "18 KiB", "96 B": three digits at most, binary units. Where two amounts
/// are compared, two decimals tell them apart.
QString formatBytes(quint64 bytes, int decimals = 1);
/// "+312 MiB", "−1.2 GiB", "±0": a difference, with a real minus sign.
QString formatBytesDelta(qint64 bytes);
/// "0.14 s", "2.1 s", "74 s" up to two minutes, then "3 min 12 s".
QString formatSeconds(double seconds);
/// An estimate, with two or three digits: "3.1 ms", "1.2 s".
QString formatDuration(double seconds);
/// "5.1 B", "312 M", "34 K" parameters.
QString formatParameters(qint64 count);
/// "8,192" in the locale's grouping.
QString formatCount(qint64 count);
/// "120", "8.4": tokens a second and the like, three digits at most.
QString formatRate(double value);
/// "GPU 0", "Simulated GPU 1", "CPU", "Disk" for "cuda:0", "sim:1", "cpu", "disk".
QString deviceName(const std::string& device);
/// "Everything on the GPU" for "gpu", ... : what a preset of the device map is called.
QString presetName(const QString& preset);
/// "4 bits (NF4, double quantization)" for "nf4-dq", "as stored" for "none", ...
QString quantName(const QString& quant);
/// What quantName() names, in the order of the lists; has_experts: of routed experts as well.
QStringList quantOptions(bool has_experts = true);

inline QString fromUtf8(const std::string& text) {
    return QString::fromStdString(text);
}

/// Long words for a tool tip, on several lines; tool tips are plain text and break none themselves.
QString toolTipText(const QString& text);

} // namespace ui
