// SPDX-License-Identifier: Apache-2.0
// A conversation at a terminal: what is typed and pasted there reaches the model whole, as one
// message, and the keys that end it do. A pseudo terminal stands for the user's.
#include "tests/support/program/test_class.h"

#include <QByteArray>
#include <QDeadlineTimer>
#include <QRegularExpression>
#include <QString>
#include <QTest>

#ifdef Q_OS_UNIX
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#endif

namespace {

#ifdef Q_OS_UNIX

/// belfry-cli chat demo on a terminal of its own.
class Terminal {
public:
    Terminal() {
        const QByteArray program = qgetenv("BELFRY_CLI");
        pid_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
        if (pid_ == 0) {
            ::execl(program.constData(), program.constData(), "chat", "demo", "--temperature", "0",
                    "--max-tokens", "12", nullptr);
            ::_exit(127);
        }
    }
    ~Terminal() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        ::close(terminal_);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// What the screen got up to `words`; empty after a minute without them.
    QByteArray readUntil(const QByteArray& words) {
        const QDeadlineTimer minute(60'000);
        while (!minute.hasExpired() && !seen_.contains(words)) {
            readOnce(100);
        }
        const int end = static_cast<int>(seen_.indexOf(words)) + static_cast<int>(words.size());
        const QByteArray read = seen_.contains(words) ? seen_.left(end) : QByteArray();
        seen_.remove(0, read.size());
        return read;
    }
    /// As a terminal types: it takes back what is shown meanwhile.
    void type(QByteArray keys) {
        while (!keys.isEmpty()) {
            const ssize_t written =
                ::write(terminal_, keys.constData(), std::min<size_t>(keys.size(), 512));
            keys.remove(0, static_cast<int>(std::max<ssize_t>(written, 0)));
            readOnce(0);
        }
    }
    /// The exit code, 128 and the number of a signal, or -1 where it still runs after a minute.
    int end() {
        const QDeadlineTimer minute(60'000);
        while (!minute.hasExpired()) {
            int status = 0;
            if (::waitpid(pid_, &status, WNOHANG) == pid_) {
                pid_ = -1;
                return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            }
            readOnce(100);
        }
        return -1;
    }
    void signal(int number) { ::kill(pid_, number); }
    /// As Ctrl+Z and fg do: a shell gives the terminal back in its own mode.
    void stopAndGoOn() {
        signal(SIGSTOP);
        int status = 0;
        ::waitpid(pid_, &status, WUNTRACED);
        termios mode{};
        ::tcgetattr(terminal_, &mode);
        mode.c_lflag |= static_cast<tcflag_t>(ICANON | ECHO);
        ::tcsetattr(terminal_, TCSANOW, &mode);
        signal(SIGCONT);
    }
    [[nodiscard]] bool isEditingLines() const {
        termios mode{};
        return ::tcgetattr(terminal_, &mode) == 0 && (mode.c_lflag & ICANON) != 0 &&
               (mode.c_lflag & ECHO) != 0;
    }

private:
    void readOnce(int wait_ms) {
        pollfd waited{terminal_, POLLIN, 0};
        char bytes[4096];
        if (::poll(&waited, 1, wait_ms) > 0) {
            const ssize_t count = ::read(terminal_, bytes, sizeof(bytes));
            seen_.append(bytes, static_cast<int>(std::max<ssize_t>(count, 0)));
            if (count <= 0) {
                ::usleep(10'000); // the program has ended: nobody holds the other side
            }
        }
    }

    pid_t pid_ = -1;
    int terminal_ = -1;
    QByteArray seen_;
};

/// Tokens of the prompt, from the line below a reply.
int promptTokens(const QByteArray& seen) {
    static const QRegularExpression line(QStringLiteral("prompt (\\d+) tokens"));
    return line.match(QString::fromUtf8(seen)).captured(1).toInt();
}

#endif

} // namespace

class TestTerminal : public QObject {
    Q_OBJECT

private Q_SLOTS:
#ifdef Q_OS_UNIX
    void pastedTextIsOneMessage_data();
    void pastedTextIsOneMessage();
    void goesOnAfterAStop();
    void keysEndIt_data();
    void keysEndIt();
#endif
};

#ifdef Q_OS_UNIX

void TestTerminal::pastedTextIsOneMessage_data() {
    QTest::addColumn<QByteArray>("keys");
    QTest::addColumn<QByteArray>("alike"); // typed without anything special, the same prompt
    QTest::newRow("longer than the kernel's line")
        << QByteArray("a ").repeated(2500) + "b" << QByteArray();
    QTest::newRow("lines between marks") << QByteArray("\x1b[200~one\rtwo\r\nthree\x1b[201~")
                                         << QByteArray("one\x1b\rtwo\x1b\rthree");
    QTest::newRow("erased") << QByteArray("What is a towerr\x7f?")
                            << QByteArray("What is a tower?");
    QTest::newRow("erased over two bytes") << QByteArray("Gr\xc3\xbc\x7fu") << QByteArray("Gru");
    QTest::newRow("word erased") << QByteArray("one two  \x17three") << QByteArray("one three");
    QTest::newRow("line erased") << QByteArray("one two\x15three") << QByteArray("three");
    QTest::newRow("dropped by Ctrl+C") << QByteArray("one two\x03three") << QByteArray("three");
    QTest::newRow("Esc before a paste")
        << QByteArray("\x1b\x1b[200~one\rtwo\x1b[201~") << QByteArray("one\x1b\rtwo");
    QTest::newRow("a paste without an end")
        << QByteArray("\x1b[200~one two\x03three") << QByteArray("three");
    QTest::newRow("arrows") << QByteArray("\x1b[A\x1b[Dthree\x1bOH") << QByteArray("three");
}

void TestTerminal::pastedTextIsOneMessage() {
    QFETCH(QByteArray, keys);
    QFETCH(QByteArray, alike);
    int tokens[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
        const QByteArray& typed = i == 0 ? keys : alike;
        if (typed.isEmpty()) {
            tokens[1] = 2500; // at least one for each of its words
            continue;
        }
        Terminal terminal;
        QVERIFY(!terminal.readUntil("> ").isEmpty());
        terminal.type(typed + "\r");
        QByteArray seen = terminal.readUntil("prompt ");
        seen += terminal.readUntil("\x1b[?2004h> ");
        QVERIFY2(!seen.isEmpty(), "no reply came");
        tokens[i] = promptTokens(seen);
        terminal.type("/quit\r");
        QCOMPARE(terminal.end(), 0); // one message alone: another reply would still run
        QVERIFY(terminal.isEditingLines());
    }
    if (alike.isEmpty()) {
        QVERIFY2(tokens[0] >= tokens[1], QByteArray::number(tokens[0]).constData());
    } else {
        QCOMPARE(tokens[0], tokens[1]);
    }
}

void TestTerminal::goesOnAfterAStop() {
    Terminal terminal;
    QVERIFY(!terminal.readUntil("> ").isEmpty());
    terminal.stopAndGoOn();
    QTRY_VERIFY(!terminal.isEditingLines());
    terminal.type("\x04");
    QCOMPARE(terminal.end(), 0);
}

void TestTerminal::keysEndIt_data() {
    support::addColumns<QByteArray, int, int>("keys", "number", "code");
    QTest::newRow("Ctrl+D") << QByteArray("\x04") << 0 << 0;
    QTest::newRow("Ctrl+C") << QByteArray("\x03") << 0 << 0;
    // As Ctrl+C is before the terminal hands it over as a byte.
    QTest::newRow("SIGINT") << QByteArray() << SIGINT << 0;
    QTest::newRow("SIGTERM") << QByteArray("half a line") << SIGTERM << 1;
    QTest::newRow("SIGHUP") << QByteArray() << SIGHUP << 1;
}

void TestTerminal::keysEndIt() {
    QFETCH(QByteArray, keys);
    QFETCH(int, number);
    QFETCH(int, code);
    Terminal terminal;
    QVERIFY(!terminal.readUntil("> ").isEmpty());
    terminal.type(keys);
    if (number != 0) {
        terminal.signal(number);
    }
    QCOMPARE(terminal.end(), code);
    QVERIFY(terminal.isEditingLines());
}

#endif

TEST_CLASS_WITH(QCoreApplication, TestTerminal)
#include "tst_terminal.moc"
