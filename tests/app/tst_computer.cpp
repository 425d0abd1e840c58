// SPDX-License-Identifier: Apache-2.0
// The page "This computer": what it tells of the machine it runs on, that the copied text says the
// same in English, names no user, and that a driver which hangs keeps nobody waiting.
#include "tests/app/program_fixture.h"
#include "tests/support/program/test_class.h"
#include "ui/dialogs/computer_dialog.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QTemporaryDir>

using engine::ComputerFacts;
using engine::DeviceId;

class TestComputer : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void ofThisMachine_data();
    void ofThisMachine();
    void cardsAndTroubles_data();
    void cardsAndTroubles();
    void homeIsHidden();

private:
    static QString shownIn(const QWidget& dialog);
};

QString TestComputer::shownIn(const QWidget& dialog) {
    QStringList all;
    for (const QLabel* label : dialog.findChildren<QLabel*>()) {
        all << label->text();
    }
    return all.join(QLatin1Char('\n'));
}

void TestComputer::ofThisMachine_data() {
    QTest::addColumn<bool>("is_dark");
    QTest::newRow("computer, light") << false;
    QTest::newRow("computer, dark") << true;
}

void TestComputer::ofThisMachine() {
    QFETCH(bool, is_dark);
    const QTemporaryDir folder;
    ui::Settings settings;
    settings.theme = is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light;
    const auto inquiry = std::make_shared<engine::CardInquiry>(engine::CardInquiryOptions());
    inquiry->begin();
    support::Program program(folder.path(), settings, {}, nullptr, inquiry);
    program.window->resize(1200, 800);
    program.window->openComputer();
    auto* dialog = program.find<ui::ComputerDialog>("computerDialog");
    QVERIFY(dialog != nullptr);
    QTRY_VERIFY_WITH_TIMEOUT(shownIn(*dialog).contains(QStringLiteral("SQLite")), 20000);
    const QString shown = shownIn(*dialog);
    for (const char* name : {"Qt", "SQLite", "libsndfile", "soxr", "PCRE2", "libpng", "zlib",
                             "nlohmann/json", "xxHash", "cpu-scalar", "Free disk"}) {
        QVERIFY2(shown.contains(QString::fromLatin1(name)), name);
    }
    QVERIFY(shown.contains(QString::fromLatin1(qVersion())));
    program.find<QPushButton>("copyComputer")->click();
    const QString copied = QGuiApplication::clipboard()->text();
    for (const char* name : {"Qt:", "SQLite:", "libsndfile:", "Free disk", "chats:", "kernels:"}) {
        QVERIFY2(copied.contains(QString::fromLatin1(name)), qPrintable(copied));
    }
    QVERIFY2(!copied.contains(QDir::homePath() + QLatin1Char('/')), qPrintable(copied));
    const QString to = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    if (!to.isEmpty()) {
        dialog->grab().save(
            QStringLiteral("%1/%2.png").arg(to, QString::fromLatin1(QTest::currentDataTag())));
    }
    // Asked again, it answers again: with nothing kept of before.
    program.find<QPushButton>("refreshComputer")->click();
    QTest::qWait(300);
    QCOMPARE(shownIn(*dialog).count(QStringLiteral("SQLite")), 1);
}

void TestComputer::cardsAndTroubles_data() {
    QTest::addColumn<bool>("is_dark");
    QTest::newRow("computer with cards, light") << false;
    QTest::newRow("computer with cards, dark") << true;
}

/// Facts of a machine that is not here.
void TestComputer::cardsAndTroubles() {
    QFETCH(bool, is_dark);
    ui::applyTheme(*qobject_cast<QApplication*>(QApplication::instance()));
    ui::setThemeChoice(is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light);
    using State = engine::MachineLibraryFact::State;
    ComputerFacts facts;
    facts.program = "Belfry 0.1.0";
    facts.system = "Windows 10.0.22631";
    facts.processor = "Some Processor";
    facts.threads = 12;
    facts.kernels = "cpu-avx2";
    facts.kernel_tables = {"cpu-scalar", "cpu-avx2"};
    facts.memory_total = uint64_t{32} << 30;
    facts.memory_free = uint64_t{21} << 30;
    facts.card_kernels = "75 80 86 89 90 120";
    facts.is_driver_asked = true;
    facts.driver_seconds = 0.21;
    engine::CardFact card;
    card.id = DeviceId::cuda(0);
    card.name = "RTX 3060";
    card.capability = 86;
    card.total = uint64_t{12} << 30;
    card.free = uint64_t{10} << 30;
    card.budget.budget = uint64_t{11} << 30;
    card.budget.used = uint64_t{1} << 30;
    card.read_bytes_per_s = 3.6e11;
    card.flops = 2.5e13;
    facts.cards.push_back(card);
    facts.troubles.push_back({engine::CardTrouble::Kind::OldCard,
                              engine::said("%1 (%2) is too old.", DeviceId::cuda(1), "GTX 1080")});
    facts.machine_libraries = {{State::Loaded, "nvcuda.dll", "/sys/nvcuda.dll", "CUDA 13.0"},
                               {State::DoesNotStart, "nvml.dll", "/sys/nvml.dll", "", 18}};
    facts.folders = {{engine::FolderFact::Kind::Chats, "/home/someone/chats", uint64_t{5} << 30,
                      uint64_t{100} << 30, ""},
                     {engine::FolderFact::Kind::Models, "/mnt/gone", {}, {}, "no such folder"}};
    ui::ComputerDialog dialog(nullptr);
    dialog.setAttribute(Qt::WA_DeleteOnClose, false);
    dialog.show();
    dialog.showFacts(engine::computerSections(facts, "/home/someone"), QStringLiteral("text"));
    const QString shown = shownIn(dialog);
    for (const char* words : {"RTX 3060", "capability 8.6", "11.0 GiB", "(GTX 1080) is too old",
                              "does not start (answer 18)", "no such folder", "CUDA 13.0"}) {
        QVERIFY2(shown.contains(QString::fromLatin1(words)),
                 qPrintable(QString::fromLatin1(words) + shown));
    }
    QVERIFY2(shown.contains(QStringLiteral("~/chats")) ||
                 shown.contains(QStringLiteral("~\\chats")),
             qPrintable(shown));
    QVERIFY(!shown.contains(QStringLiteral("someone")));
    const std::string english = engine::inEnglish(facts, "/home/someone");
    for (const char* words : {"RTX 3060, compute capability 8.6", "10.00 GiB free now",
                              "the system gives this program 11.00 GiB", "~/chats",
                              "problem:", "does not start (answer 18)", "not known (no such"}) {
        QVERIFY2(english.find(words) != std::string::npos, english.c_str());
    }
    QVERIFY(english.find("someone") == std::string::npos);
    const QString to = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    if (!to.isEmpty()) {
        QCoreApplication::processEvents();
        dialog.grab().save(
            QStringLiteral("%1/%2.png").arg(to, QString::fromLatin1(QTest::currentDataTag())));
    }
}

void TestComputer::homeIsHidden() {
    QCOMPARE(engine::withoutHome("/home/ann/x and /home/ann", "/home/ann"),
             std::string("~/x and ~"));
    QCOMPARE(engine::withoutHome("/home/anna/x", "/home/ann"), std::string("/home/anna/x"));
    QCOMPARE(engine::withoutHome("C:\\Users\\ann\\x", "C:\\Users\\ann"), std::string("~\\x"));
    QCOMPARE(engine::withoutHome("c:/users/Ann/x", "C:\\Users\\ann"), std::string("~/x"));
    QCOMPARE(engine::withoutHome("/HOME/ann/x", "/home/ann"), std::string("/HOME/ann/x"));
    QCOMPARE(engine::withoutHome("/x", ""), std::string("/x"));
    QCOMPARE(engine::withoutHome("/x", "/"), std::string("/x"));
}

TEST_CLASS_WITH(QApplication, TestComputer)
#include "tst_computer.moc"
