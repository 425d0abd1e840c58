// SPDX-License-Identifier: Apache-2.0
// Settings survive the program, a window comes back onto a screen that exists, and every
// translation is complete.
#include "app/start/translations.h"
#include "app/store/export_files.h"
#include "app/window/load_json.h"
#include "app/window/load_profiles.h"
#include "app/window/settings_store.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"

#include <QDirIterator>
#include <QFile>
#include <QFileDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QKeySequence>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QTranslator>
#include <QXmlStreamReader>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "models/user_folders.h"

namespace {

QString translationFile(const QString& language) {
    return QString::fromStdString((support::sourceDir() / "resources/translations").string()) +
           QStringLiteral("/belfry_%1.ts").arg(language);
}

} // namespace

class TestSettings : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void survive();
    void areReadByNobodyElse();
    void nonsenseIsClamped();
    void windowComesBackOnScreen_data();
    void windowComesBackOnScreen();
    void translationsAreComplete();
    void translationsHaveARealContext();
    void windowAndQtSpeakTheLanguage();
    void loadOptionsSurvive();
    void optionsOfModelsSurvive();
    void profilesSurvive();
    void whatIsNoProfile_data();
    void whatIsNoProfile();
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
    settings.reduces_motion = true;
    settings.quant = QStringLiteral("nf4-dq");
    settings.device_map = QStringLiteral("lean");
    settings.context = 8192;
#ifdef Q_OS_WIN
    const QStringList models{QStringLiteral("C:/a/b"), QStringLiteral("C:/ü, c")};
#else
    const QStringList models{QStringLiteral("/a/b"), QStringLiteral("/ü, c")};
#endif
    settings.recent_models = models;
    settings.guide_cards = 2;
    settings.shortcuts.insert(QStringLiteral("newChat"), {QStringLiteral("Ctrl+Alt+N")});
    settings.shortcuts.insert(QStringLiteral("zoomIn"),
                              {QStringLiteral("Ctrl+,"), QStringLiteral("F7")});
    settings.shortcuts.insert(QStringLiteral("quit"), {}); // an action without keys
    store.write(settings);
    QCOMPARE(store.read(), settings);
    settings.shortcuts.remove(QStringLiteral("newChat"));
    store.write(settings);
    QCOMPARE(store.read(), settings);
    // For belfry-cli, which reads no settings of Qt's.
    const auto recent = models::readFolderList(std::filesystem::path(folder.path().toStdString()) /
                                               "recent-models");
    QVERIFY(recent.has_value());
    QCOMPARE(*recent, (std::vector<std::filesystem::path>{models[0].toStdU16String(),
                                                          models[1].toStdU16String()}));
}

void TestSettings::areReadByNobodyElse() {
#ifndef Q_OS_UNIX
    QSKIP("modes of this kind are Unix's; Windows keeps users' folders apart");
#endif
    const QTemporaryDir folder;
    const QString name = folder.filePath(QStringLiteral("settings.ini"));
    const auto others = QFile::ReadGroup | QFile::WriteGroup | QFile::ReadOther | QFile::WriteOther;
    const app::SettingsStore store(name);
    store.writeChat({}); // the first time the file is made, later it is there
    QVERIFY(QFile::exists(name));
    QCOMPARE(QFile::permissions(name) & others, QFile::Permissions());
    QVERIFY(QFile::setPermissions(name, QFile::permissions(name) | QFile::ReadGroup |
                                            QFile::ReadOther)); // as version 0.1 left it
    store.write(ui::Settings());
    QCOMPARE(QFile::permissions(name) & others, QFile::Permissions());
    store.writePlace({});
    QCOMPARE(QFile::permissions(name) & others, QFile::Permissions());
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
    support::addColumns<QRect, QRect>("saved", "expected");
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
        QFile file(translationFile(language));
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

/// A text is found at run time by the context that the source asks in. lupdate guesses that context
/// from the source, and has guessed wrong: then the window shows English.
void TestSettings::translationsHaveARealContext() {
    QStringList sources;
    for (const char* folder : {"/ui", "/app"}) {
        QDirIterator files(QString::fromStdString((support::sourceDir()).string()) +
                               QString::fromLatin1(folder),
                           {QStringLiteral("*.cpp"), QStringLiteral("*.h")}, QDir::Files,
                           QDirIterator::Subdirectories);
        while (files.hasNext()) {
            QFile file(files.next());
            QVERIFY(file.open(QIODevice::ReadOnly));
            sources.append(QString::fromUtf8(file.readAll()));
        }
    }
    QVERIFY(sources.size() > 100);
    const auto is_said = [&](const QString& words) {
        return std::any_of(sources.begin(), sources.end(),
                           [&](const QString& source) { return source.contains(words); });
    };
    QFile file(translationFile(QStringLiteral("de")));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QXmlStreamReader xml(&file);
    QStringList unknown;
    int contexts = 0;
    while (!xml.atEnd()) {
        xml.readNext();
        if (!xml.isStartElement() || xml.name() != QStringLiteral("name")) {
            continue;
        }
        const QString name = xml.readElementText();
        ++contexts;
        const qsizetype colons = name.lastIndexOf(QStringLiteral("::"));
        const QString short_name = colons < 0 ? name : name.mid(colons + 2);
        const QRegularExpression declared(
            QStringLiteral("class %1\\b[^;{]*\\{\\s*Q_OBJECT").arg(short_name));
        const bool is_class =
            colons >= 0 && std::any_of(sources.begin(), sources.end(), [&](const QString& source) {
                return source.contains(declared);
            });
        if (!is_class && !is_said(QStringLiteral("Q_DECLARE_TR_FUNCTIONS(%1)").arg(name)) &&
            !is_said(QStringLiteral("translate(\"%1\"").arg(name)) &&
            !is_said(QStringLiteral("QT_TRANSLATE_NOOP(\"%1\"").arg(name))) {
            unknown.append(name);
        }
    }
    QVERIFY(contexts > 30);
    QVERIFY2(unknown.isEmpty(), qPrintable(unknown.join(QLatin1Char('\n'))));
}

void TestSettings::windowAndQtSpeakTheLanguage() {
    app::initTranslationResources();
    QTranslator translator;
    QVERIFY(translator.load(QStringLiteral(":/translations/belfry_de.qm")));
    QCoreApplication::installTranslator(&translator);
    const QString keys =
        QKeySequence(QStringLiteral("Ctrl+Shift+Backspace")).toString(QKeySequence::NativeText);
    const QString dialog = QFileDialog::tr("Look in:");
    const auto written = app::writeExport({}, QStringLiteral("/nonexistent/folder/a.md"),
                                          ui::ExportFormat::Markdown);
    QCoreApplication::removeTranslator(&translator);
    QCOMPARE(keys, QStringLiteral("Strg+Umschalt+Rücktaste"));
    QCOMPARE(dialog, QStringLiteral("Suchen in:"));
    // One of the texts that lupdate once put into a context of its own.
    QVERIFY(!written.has_value());
    QVERIFY2(written.error().message.find("ließ sich nicht schreiben") != std::string::npos,
             written.error().message.c_str());
}

void TestSettings::loadOptionsSurvive() {
    engine::LoadRequest request;
    request.device_map = "{\"version\": 1}";
    request.quant = "nf4-dq";
    request.head = "int8";
    request.context = 8192;
    request.sim_gpus = {uint64_t{8} << 30U, (uint64_t{1} << 60U) + 1};
    request.limits = {{"sim:0", uint64_t{3} << 30U}};
    request.adapters = {{"/adapters/ü", 0.35, false}, {"/adapters/b", 1.0, true}};
    const QByteArray text = QJsonDocument(app::loadOptionsToJson(request)).toJson();
    engine::LoadRequest base;
    base.threads = 3;
    const engine::LoadRequest again =
        app::loadOptionsFromJson(QJsonDocument::fromJson(text).object(), base);
    QCOMPARE(again.threads, 3);
    QCOMPARE(again.device_map, request.device_map);
    QCOMPARE(again.quant, request.quant);
    QCOMPARE(again.head, request.head);
    QCOMPARE(again.context, request.context);
    QVERIFY(again.sim_gpus == request.sim_gpus);
    QVERIFY(again.limits == request.limits);
    QCOMPARE(again.adapters.size(), size_t{2});
    QCOMPARE(again.adapters[0].folder, request.adapters[0].folder);
    QCOMPARE(again.adapters[0].strength, 0.35);
    QVERIFY(!again.adapters[0].is_enabled && again.adapters[1].is_enabled);
    // A file edited by hand, or by an earlier version, changes nothing.
    const QJsonObject odd{{QStringLiteral("map"), 3},
                          {QStringLiteral("context"), -5},
                          {QStringLiteral("sim"), QStringLiteral("x")},
                          {QStringLiteral("adapters"), QJsonArray{7}}};
    const engine::LoadRequest plain = app::loadOptionsFromJson(odd, {});
    QCOMPARE(plain.device_map, engine::LoadRequest().device_map);
    QCOMPARE(plain.context, 0);
    QVERIFY(plain.sim_gpus.empty() && plain.adapters.empty());
}

void TestSettings::optionsOfModelsSurvive() {
    const QTemporaryDir folder;
    const app::SettingsStore store(folder.filePath(QStringLiteral("settings.ini")));
    QVERIFY(store.readModelOptions().isEmpty());
    engine::LoadRequest small;
    small.quant = "nf4-dq";
    small.context = 8192;
    small.is_text_only = true;
    small.device_map = R"({"version": 1, "default": "cpu"})";
    engine::LoadRequest large;
    large.device_map = "lean";
    store.writeModelOptions(
        {{QStringLiteral("/m/e2b"), small}, {QStringLiteral("/ü, 31b"), large}});
    const auto read = store.readModelOptions();
    QCOMPARE(read.size(), 2);
    const engine::LoadRequest back = read.value(QStringLiteral("/m/e2b"));
    QCOMPARE(back.quant, small.quant);
    QCOMPARE(back.context, small.context);
    QCOMPARE(back.device_map, small.device_map);
    QVERIFY(back.is_text_only);
    QCOMPARE(read.value(QStringLiteral("/ü, 31b")).device_map, large.device_map);
    QVERIFY(!read.value(QStringLiteral("/ü, 31b")).is_text_only);
}

void TestSettings::profilesSurvive() {
    ui::LoadProfile home;
    home.name = QStringLiteral("home card & more");
    home.load.device_map = "towers-cpu";
    home.load.quant = "nf4";
    home.load.head = "int8";
    home.load.context = 16384;
    home.load.limits = {{"cuda:0", uint64_t{7} << 30U}};
    home.load.adapters = {{"/a/medical", 0.75, false}};
    home.sampling.temperature = 0.4;
    home.sampling.top_k = 20;
    const auto check = [&](const ui::LoadProfile& back) {
        QCOMPARE(back.name, home.name);
        QCOMPARE(back.load.device_map, home.load.device_map);
        QCOMPARE(back.load.quant, home.load.quant);
        QCOMPARE(back.load.head, home.load.head);
        QCOMPARE(back.load.context, home.load.context);
        QCOMPARE(back.load.limits, home.load.limits);
        QCOMPARE(back.load.adapters.size(), size_t{1});
        QCOMPARE(back.load.adapters.front().folder, std::string("/a/medical"));
        QCOMPARE(back.load.adapters.front().strength, 0.75);
        QVERIFY(!back.load.adapters.front().is_enabled);
        QCOMPARE(back.sampling.temperature, 0.4);
        QCOMPARE(back.sampling.top_k, 20);
        QCOMPARE(back.sampling.top_p, -1.0);
    };
    const QTemporaryDir folder;
    const app::SettingsStore store(folder.filePath(QStringLiteral("settings.ini")));
    ui::LoadProfile laptop;
    laptop.name = QStringLiteral("laptop");
    store.writeProfiles({home, laptop});
    const ui::LoadProfiles read = store.readProfiles();
    QCOMPARE(read.size(), size_t{2});
    check(read.front());
    QCOMPARE(read.back().name, laptop.name);
    const auto of_file = app::readProfileText(QStringLiteral("x"), app::profileText(home));
    QVERIFY(of_file.has_value());
    check(*of_file);
}

void TestSettings::whatIsNoProfile_data() {
    support::addColumns<QByteArray, QString>("text", "found");
    QTest::newRow("empty") << QByteArray() << QStringLiteral("found: ");
    QTest::newRow("a map") << QByteArray(R"({"version": 1, "default": "cpu"})")
                           << QStringLiteral("another object");
    QTest::newRow("a list") << QByteArray("[1]") << QStringLiteral("no object");
    QTest::newRow("no name") << QByteArray(R"({"belfryProfile": 1, "name": " ", "load": {}})")
                             << QStringLiteral("another object");
    QTest::newRow("of a later version")
        << QByteArray(R"({"belfryProfile": 2, "name": "a", "load": {}})")
        << QStringLiteral("another object");
}

void TestSettings::whatIsNoProfile() {
    QFETCH(QByteArray, text);
    QFETCH(QString, found);
    const auto read = app::readProfileText(QStringLiteral("/f.json"), text);
    QVERIFY(!read.has_value());
    const QString message = QString::fromStdString(read.error().message);
    QVERIFY2(message.startsWith(QStringLiteral("/f.json: expected a profile")),
             qPrintable(message));
    QVERIFY2(message.contains(found), qPrintable(message));
}

TEST_CLASS_WITH(QApplication, TestSettings)
#include "tst_settings.moc"
