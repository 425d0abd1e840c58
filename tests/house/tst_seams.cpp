// SPDX-License-Identifier: Apache-2.0
// Seams that no compiler here watches: texts become paths through engine/base/paths.h, headers of
// one system stand behind a condition, JSON is read by engine/base/json. Exceptions are listed with
// their number; a list may only shrink.
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"

#include <QDirIterator>
#include <QFile>
#include <QMap>
#include <QRegularExpression>
#include <QTest>

class TestSeams : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void pathsGoThroughTheSeam();
    void systemHeadersAreGuarded();
    void onlyOurReaderReadsJson();
    void checksFindWhatTheyLookFor();

private:
    QMap<QString, QString> sources_; ///< Text by path below the project's folder.
};

namespace {

/// Lines without comments that stand alone.
QStringList codeLines(const QString& text) {
    QStringList lines;
    for (const QString& line : text.split(QLatin1Char('\n'))) {
        lines.append(line.trimmed().startsWith(QLatin1String("//")) ? QString() : line);
    }
    return lines;
}

int countMatches(const QString& text, const QRegularExpression& wanted) {
    int count = 0;
    for (const QString& line : codeLines(text)) {
        for (auto match = wanted.globalMatch(line); match.hasNext(); match.next()) {
            ++count;
        }
    }
    return count;
}

/// Conversions that take or give the system's narrow encoding, or spell out what paths.h does.
const QRegularExpression kNarrowPath(QStringLiteral(
    R"(\.(generic_)?string\(\)|u8string|u8path|\b(fs|filesystem)::path\((?!\)|"|\w+\.toStdU16String))"));

const QRegularExpression kTreeParser(QStringLiteral(R"(json(_t)?::(parse|accept|from_\w+)\()"));

/// "LINE: HEADER" of every header of one system that no condition on a system encloses.
QStringList unguardedHeaders(const QString& text) {
    static const QRegularExpression kHeader(QStringLiteral(
        R"(^\s*#\s*include\s*<((sys|arpa|netinet|linux)/\w+|unistd|fcntl|poll|dirent|pwd|grp|dlfcn|)"
        R"(link|sched|termios|pthread|syslog|spawn|netdb|ftw|glob|fnmatch|windows|winsock2|io|direct|)"
        R"(process)\.h>)"));
    static const QRegularExpression kCondition(
        QStringLiteral(R"(^\s*#\s*(if|ifdef|ifndef)\b(.*))"));
    static const QRegularExpression kElse(QStringLiteral(R"(^\s*#\s*(elif)\b(.*))"));
    static const QRegularExpression kEnd(QStringLiteral(R"(^\s*#\s*endif\b)"));
    static const QRegularExpression kSystem(
        QStringLiteral("_WIN32|Q_OS_|__linux__|__unix__|__APPLE__"));
    QStringList found;
    QList<bool> open; // conditions, and whether each asks for a system
    int number = 0;
    for (const QString& line : codeLines(text)) {
        ++number;
        if (const auto condition = kCondition.match(line); condition.hasMatch()) {
            open.append(kSystem.match(condition.captured(2)).hasMatch());
        } else if (const auto other = kElse.match(line); other.hasMatch() && !open.isEmpty()) {
            open.last() = open.last() || kSystem.match(other.captured(2)).hasMatch();
        } else if (kEnd.match(line).hasMatch() && !open.isEmpty()) {
            open.removeLast();
        } else if (const auto header = kHeader.match(line);
                   header.hasMatch() && !open.contains(true)) {
            found.append(QStringLiteral("%1: %2.h").arg(number).arg(header.captured(1)));
        }
    }
    return found;
}

} // namespace

void TestSeams::initTestCase() {
    const QString root = QString::fromStdU16String(support::sourceDir().u16string());
    for (const char* folder : {"engine", "app", "ui", "kernels", "ipc"}) {
        QDirIterator files(root + QLatin1Char('/') + QLatin1String(folder),
                           {QStringLiteral("*.cpp"), QStringLiteral("*.h")}, QDir::Files,
                           QDirIterator::Subdirectories);
        while (files.hasNext()) {
            QFile file(files.next());
            QVERIFY(file.open(QIODevice::ReadOnly));
            sources_.insert(file.fileName().mid(root.size() + 1),
                            QString::fromUtf8(file.readAll()));
        }
    }
    QVERIFY(sources_.size() > 500);
}

void TestSeams::pathsGoThroughTheSeam() {
    const QMap<QString, int> exceptions = {
        {QStringLiteral("engine/base/paths.cpp"), 2}, // the seam itself
    };
    for (auto source = sources_.begin(); source != sources_.end(); ++source) {
        const int found = countMatches(source.value(), kNarrowPath);
        const int allowed = exceptions.value(source.key());
        if (found != allowed) {
            QFAIL(qPrintable(QStringLiteral("%1: %2 conversions between text and path that are "
                                            "not pathFromUtf8() or utf8Of(), expected %3")
                                 .arg(source.key())
                                 .arg(found)
                                 .arg(allowed)));
        }
    }
    for (auto exception = exceptions.begin(); exception != exceptions.end(); ++exception) {
        QVERIFY2(sources_.contains(exception.key()), qPrintable(exception.key()));
    }
}

void TestSeams::systemHeadersAreGuarded() {
    for (auto source = sources_.begin(); source != sources_.end(); ++source) {
        const QStringList found = unguardedHeaders(source.value());
        QVERIFY2(found.isEmpty(),
                 qPrintable(source.key() + QLatin1Char(':') + found.join(QLatin1String(", "))));
    }
}

void TestSeams::onlyOurReaderReadsJson() {
    for (auto source = sources_.begin(); source != sources_.end(); ++source) {
        QVERIFY2(countMatches(source.value(), kTreeParser) == 0, qPrintable(source.key()));
    }
}

void TestSeams::checksFindWhatTheyLookFor() {
    const auto paths = [](const char* line) {
        return countMatches(QString::fromUtf8(line), kNarrowPath);
    };
    QCOMPARE(paths("x = folder.string() + file.generic_string();"), 2);
    QCOMPARE(paths("open(fs::path(name)); // "), 1);
    QCOMPARE(paths("open(std::filesystem::path(name));"), 1);
    QCOMPARE(paths("const std::u8string text = path.u8string();"), 2);
    QCOMPARE(paths("fs::path(\".\"); fs::path(); fs::path(file.toStdU16String()); to_string(1);"),
             0);
    QCOMPARE(paths("// folder.string()"), 0);
    const auto headers = [](const char* text) {
        return unguardedHeaders(QString::fromUtf8(text)).join(QLatin1Char(' '));
    };
    QCOMPARE(headers("#include <unistd.h>\n#include <cstdio>\n"), QStringLiteral("1: unistd.h"));
    QCOMPARE(headers("#ifdef NDEBUG\n#  include <sys/stat.h>\n#endif\n"),
             QStringLiteral("2: sys/stat.h"));
    QCOMPARE(headers("#ifndef _WIN32\n#include <unistd.h>\n#endif\n#include <poll.h>\n"),
             QStringLiteral("4: poll.h"));
    QCOMPARE(headers("#if defined(X)\n#elif defined(__linux__)\n#include <sched.h>\n#endif\n"),
             QString());
    QCOMPARE(headers("#ifdef _WIN32\n#include <io.h>\n#else\n#include <unistd.h>\n#endif\n"),
             QString());
    QCOMPARE(
        countMatches(QStringLiteral("auto x = nlohmann::ordered_json::parse(text);"), kTreeParser),
        1);
    QCOMPARE(countMatches(QStringLiteral("QUrl(x); parse(text); jsonError(x);"), kTreeParser), 0);
}

TEST_CLASS(TestSeams)
#include "tst_seams.moc"
