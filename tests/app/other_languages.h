// SPDX-License-Identifier: Apache-2.0
// Whether the window says a thing in every language it has.
#pragma once

#include "app/start/translations.h"

#include <QCoreApplication>
#include <QTest>
#include <QTranslator>

#include <functional>

namespace app_test {

/// Says it again in the other languages of the program: nothing may stay English.
inline void checkOtherLanguages(const QString& english, const std::function<QString()>& say) {
    app::initTranslationResources();
    for (const QString& language : app::translatedLanguages()) {
        QTranslator translator;
        QVERIFY(translator.load(QStringLiteral(":/translations/belfry_%1.qm").arg(language)));
        QCoreApplication::installTranslator(&translator);
        QVERIFY2(say() != english, qPrintable(language + QStringLiteral(": ") + english));
        QCoreApplication::removeTranslator(&translator);
    }
}

} // namespace app_test
