// SPDX-License-Identifier: Apache-2.0
#include "app/start/translations.h"

#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>

// Outside of any namespace, as the macro wants it.
static void initResources() {
    Q_INIT_RESOURCE(belfry_translations);
}

namespace app {

void initTranslationResources() {
    initResources();
}

QStringList translatedLanguages() {
    return {QStringLiteral("de"), QStringLiteral("fr")};
}

void installTranslations(QApplication& application, const QString& language) {
    initTranslationResources();
    QLocale locale = language.isEmpty() ? QLocale::system() : QLocale(language);
    if (!language.isEmpty()) {
        // Numbers and dates follow the language chosen, in the user's own country where it fits.
        if (QLocale::system().language() == locale.language()) {
            locale = QLocale::system();
        }
        QLocale::setDefault(locale);
    }
    // Qt's own catalogue where it is installed; what a user meets of it is in ours too
    // (qt_texts.cpp), which is asked first.
    auto* of_qt = new QTranslator(&application);
    if (of_qt->load(locale, QStringLiteral("qtbase"), QStringLiteral("_"),
                    QLibraryInfo::path(QLibraryInfo::TranslationsPath))) {
        QApplication::installTranslator(of_qt);
    }
    auto* translator = new QTranslator(&application);
    if (translator->load(locale, QStringLiteral("belfry"), QStringLiteral("_"),
                         QStringLiteral(":/translations"))) {
        QApplication::installTranslator(translator);
    }
}

} // namespace app
