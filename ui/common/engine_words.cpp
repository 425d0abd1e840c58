// SPDX-License-Identifier: Apache-2.0
#include "ui/common/engine_words.h"

#include "ui/style/format.h"

#include <QCoreApplication>
#include <QRegularExpression>

namespace ui {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(ui::EngineWords)
};

QString formatName(const QString& name) {
    return name == QStringLiteral("bf16")   ? Words::tr("as stored")
           : name == QStringLiteral("int8") ? Words::tr("8 bits")
                                            : quantName(name);
}

/// What the window calls an option; `value` may be empty.
QString optionName(const QString& option, const QString& value) {
    const auto with = [&value](const QString& alone, const QString& both) {
        return value.isEmpty() ? alone : both.arg(value);
    };
    if (option == QStringLiteral("quant")) {
        return value.isEmpty() ? Words::tr("“Weights”")
                               : Words::tr("“Weights”: %1").arg(formatName(value));
    }
    if (option == QStringLiteral("head")) {
        return value.isEmpty() ? Words::tr("the format of the head")
                               : Words::tr("the head %1").arg(formatName(value));
    }
    if (option == QStringLiteral("context")) {
        return with(Words::tr("“Context”"), Words::tr("“Context”: %1"));
    }
    if (option == QStringLiteral("device-map")) {
        return with(Words::tr("“Placement”"), Words::tr("“Placement”: %1"));
    }
    if (option == QStringLiteral("image-tokens")) {
        return with(Words::tr("number of tokens per picture"), Words::tr("%1 tokens per picture"));
    }
    if (option == QStringLiteral("prefill-chunk")) {
        return with(Words::tr("size of the pieces that prompts are read in"),
                    Words::tr("prompts read in pieces of %1 tokens"));
    }
    if (option == QStringLiteral("sim-gpu")) {
        return with(Words::tr("“Graphics card: Simulated”"),
                    Words::tr("“Graphics card: Simulated”, %1"));
    }
    if (option == QStringLiteral("limit")) {
        return with(Words::tr("the limit of a device"), Words::tr("the limit %1"));
    }
    if (option == QStringLiteral("cache") || option == QStringLiteral("no-cache")) {
        return Words::tr("“Keep quantized copies” in the settings");
    }
    if (option == QStringLiteral("threads")) {
        return with(Words::tr("“Processor threads” in the settings"), Words::tr("%1 threads"));
    }
    if (option == QStringLiteral("precision")) {
        return Words::tr("reference precision");
    }
    if (option == QStringLiteral("adapter")) {
        return Words::tr("the adapter");
    }
    // An option that the window has no field for.
    QString plain = option;
    plain.replace(QLatin1Char('-'), QLatin1Char(' '));
    return with(plain, plain + QStringLiteral(" %1"));
}

/// "87307 tokens" as the user's language writes numbers.
QString grouped(QString text) {
    static const QRegularExpression kCount(QStringLiteral("(?<![\\w.,-])\\d{4,12}(?= tokens\\b)"));
    qsizetype from = 0;
    for (auto m = kCount.match(text); m.hasMatch(); m = kCount.match(text, from)) {
        const QString count = formatCount(m.captured().toLongLong());
        text.replace(m.capturedStart(), m.capturedLength(), count);
        from = m.capturedStart() + count.size();
    }
    return text;
}

} // namespace

QString engineWords(const QString& text) {
    if (!text.contains(QLatin1String("--"))) {
        return grouped(text);
    }
    // An option stands between blanks or brackets; its value is a format, a number or a word in
    // capitals.
    static const QRegularExpression kOption(
        QStringLiteral("(?<![\\w/.-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?![\\w/=-])"
                       "(?: "
                       "((?:nf4|fp4)(?:-dq)?|bf16|int8|f32|none|\\d\\w*(?:\\.\\w+)*|FOLDER|FILE)(?="
                       "[\\s,.;:)]|$))?"));
    QString out;
    qsizetype from = 0;
    auto all = kOption.globalMatch(text);
    while (all.hasNext()) {
        const auto m = all.next();
        out += QStringView(text).sliced(from, m.capturedStart() - from);
        const QString value = m.captured(2);
        const bool is_placeholder =
            value == QStringLiteral("FOLDER") || value == QStringLiteral("FILE");
        out += optionName(m.captured(1), is_placeholder ? QString() : value);
        from = m.capturedEnd();
    }
    out += QStringView(text).sliced(from);
    return grouped(out);
}

QString engineWords(const std::string& text) {
    return engineWords(fromUtf8(text));
}

} // namespace ui
