// SPDX-License-Identifier: Apache-2.0
#include "app/translations.h"

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
    auto* translator = new QTranslator(&application);
    if (translator->load(locale, QStringLiteral("belfry"), QStringLiteral("_"),
                         QStringLiteral(":/translations"))) {
        QApplication::installTranslator(translator);
    }
}

} // namespace app
