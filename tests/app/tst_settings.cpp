// SPDX-License-Identifier: Apache-2.0
// Settings survive the program, a window comes back onto a screen that exists, and every
// translation is complete.
#include "app/settings_store.h"
#include "app/translations.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

class TestSettings : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void survive();
    void nonsenseIsClamped();
    void windowComesBackOnScreen_data();
    void windowComesBackOnScreen();
    void translationsAreComplete();
};

void TestSettings::survive() {
    const QTemporaryDir folder;
    const app::SettingsStore store(folder.filePath(QStringLiteral("settings.ini")));
    QCOMPARE(store.read(), ui::Settings());
    ui::Settings settings;
    settings.theme = ui::ThemeChoice::Dark;
    settings.text_zoom = 130;
    settings.language = QStringLiteral("de");
    settings.threads = 3;
    settings.uses_cache = false;
    settings.reopens_chat = false;
    settings.quant = QStringLiteral("nf4-dq");
    settings.device_map = QStringLiteral("lean");
    settings.context = 8192;
    settings.recent_models = QStringList{QStringLiteral("/a/b"), QStringLiteral("/ü, c")};
    settings.shortcuts.insert(QStringLiteral("newChat"), {QStringLiteral("Ctrl+Alt+N")});
    settings.shortcuts.insert(QStringLiteral("zoomIn"),
                              {QStringLiteral("Ctrl+,"), QStringLiteral("F7")});
    settings.shortcuts.insert(QStringLiteral("quit"), {}); // an action without keys
    store.write(settings);
    QCOMPARE(store.read(), settings);
    settings.shortcuts.remove(QStringLiteral("newChat"));
    store.write(settings);
    QCOMPARE(store.read(), settings);
}

void TestSettings::nonsenseIsClamped() {
    const QTemporaryDir folder;
    const QString name = folder.filePath(QStringLiteral("settings.ini"));
    QFile file(name);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("[look]\ntextZoom=9000\ntheme=pink\n[load]\nthreads=-4\ncontext=-1\n");
    file.close();
    const ui::Settings settings = app::SettingsStore(name).read();
    QCOMPARE(settings.text_zoom, 200);
    QCOMPARE(settings.threads, 0);
    QCOMPARE(settings.context, 0);
    QVERIFY(settings.theme == ui::ThemeChoice::System);
}

void TestSettings::windowComesBackOnScreen_data() {
    QTest::addColumn<QRect>("saved");
    QTest::addColumn<QRect>("expected");
    const QRect left(0, 0, 1920, 1080);
    QTest::newRow("as it was") << QRect(100, 80, 800, 600) << QRect(100, 80, 800, 600);
    QTest::newRow("second screen") << QRect(2000, 50, 800, 600) << QRect(2000, 50, 800, 600);
    QTest::newRow("screen is gone") << QRect(5000, 50, 800, 600) << QRect(1120, 50, 800, 600);
    QTest::newRow("half outside") << QRect(-300, 900, 800, 600) << QRect(0, 480, 800, 600);
    QTest::newRow("larger than the screen") << QRect(0, 0, 4000, 3000) << left;
}

void TestSettings::windowComesBackOnScreen() {
    QFETCH(QRect, saved);
    QFETCH(QRect, expected);
    const QList<QRect> screens = {QRect(0, 0, 1920, 1080), QRect(1920, 0, 1280, 1024)};
    QCOMPARE(app::clampToScreens(saved, screens), expected);
}

void TestSettings::translationsAreComplete() {
    static const QRegularExpression kPlaceholder(QStringLiteral("%L?[n1-9]"));
    for (const QString& language : app::translatedLanguages()) {
        QFile file(
            QStringLiteral(BELFRY_SOURCE_DIR "/resources/translations/belfry_%1.ts").arg(language));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QXmlStreamReader xml(&file);
        QString source;
        int messages = 0;
        QStringList problems;
        while (!xml.atEnd()) {
            xml.readNext();
            if (!xml.isStartElement()) {
                continue;
            }
            if (xml.name() == QStringLiteral("source")) {
                source = xml.readElementText();
                ++messages;
            } else if (xml.name() == QStringLiteral("translation")) {
                if (xml.attributes().value(QStringLiteral("type")) ==
                    QStringLiteral("unfinished")) {
                    problems.append(QStringLiteral("unfinished: ") + source);
                    continue;
                }
                const QString text = xml.readElementText(QXmlStreamReader::IncludeChildElements);
                if (text.isEmpty()) {
                    problems.append(QStringLiteral("empty: ") + source);
                }
                QSet<QString> wanted;
                QSet<QString> found;
                for (auto it = kPlaceholder.globalMatch(source); it.hasNext();) {
                    wanted.insert(it.next().captured());
                }
                for (auto it = kPlaceholder.globalMatch(text); it.hasNext();) {
                    found.insert(it.next().captured());
                }
                if (wanted != found) {
                    problems.append(QStringLiteral("placeholders: ") + source);
                }
            }
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QVERIFY(messages > 500);
        QVERIFY2(problems.isEmpty(),
                 qPrintable(language + QStringLiteral(":\n") + problems.join(QLatin1Char('\n'))));
    }
}

QTEST_MAIN(TestSettings)
#include "tst_settings.moc"
