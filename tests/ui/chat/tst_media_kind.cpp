// SPDX-License-Identifier: Apache-2.0
// Kinds of files by their first bytes, and what a click on a picture hands to the desktop.
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_document.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/media_kind.h"
#include "ui/chat/message_list.h"
#include "ui/chat/picture_view.h"

#include <QDesktopServices>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QUrl>

#ifndef Q_OS_WIN
#include <sys/stat.h>
#endif

using Kind = engine::MessagePart::Kind;

namespace {

const QByteArray kPng = QByteArrayLiteral("\x89PNG\r\n\x1a\nrest");

} // namespace

class TestMediaKind : public QObject {
    Q_OBJECT

public Q_SLOTS:
    /// In place of the desktop.
    void take(const QUrl& url) { opened_.append(url.toLocalFile()); }

private Q_SLOTS:
    void kinds_data();
    void kinds();
    void clicks_data();
    void clicks();

private:
    QStringList opened_;
};

void TestMediaKind::kinds_data() {
    support::addColumns<QByteArray, QString>("head", "suffix");
    const auto row = [](const char* name, const QByteArray& head, const char* suffix) {
        QTest::newRow(name) << head << QString::fromLatin1(suffix);
    };
    row("PNG", kPng, "png");
    row("JPEG", "\xff\xd8\xff\xe1", "jpg");
    row("WebP", QByteArrayLiteral("RIFF\1\0\0\0WEBPVP8 "), "webp");
    row("WAV", QByteArrayLiteral("RIFF\1\0\0\0WAVEfmt "), "wav");
    row("RF64", QByteArrayLiteral("RF64\xff\xff\xff\xffWAVEds64"), "wav");
    row("AIFF", QByteArrayLiteral("FORM\0\0\1\0AIFFCOMM"), "aiff");
    row("FLAC", "fLaC", "flac");
    row("Ogg", "OggS", "ogg");
    row("MP3 with a tag", "ID3\3", "mp3");
    row("MP3", "\xff\xfb\x90\x64", "mp3");
    row("nothing", "", "");
    row("short", "\x89PN", "");
    row("AVI", QByteArrayLiteral("RIFF\1\0\0\0AVI LIST"), "");
    row("program",
        "\x7f"
        "ELF\2\1\1",
        "");
    row("Windows program", "MZ\x90", "");
    row("script", "#!/bin/sh\n", "");
    row("drawing", "<svg xmlns=", "");
    row("document", "%PDF-1.7", "");
    row("archive", "PK\3\4", "");
    row("GIF", "GIF89a", "");
    row("UTF-16", "\xff\xfe<\0", "");
    row("all ones", "\xff\xff\xff\xff", "");
}

void TestMediaKind::kinds() {
    QFETCH(QByteArray, head);
    QFETCH(QString, suffix);
    const auto kind = ui::mediaKind(head);
    QCOMPARE(kind.has_value() ? kind->suffix : QString(), suffix);
}

void TestMediaKind::clicks_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("content"); // "pipe": one is made
    QTest::addColumn<bool>("opens");
    const auto row = [](const char* what, const char* name, const QByteArray& content, bool opens) {
        QTest::newRow(what) << QString::fromLatin1(name) << content << opens;
    };
    row("picture", "cat.png", kPng, true);
    row("JPEG called PNG", "cat.png", "\xff\xd8\xff\xe1", true);
    row("picture called a program", "cat.exe", kPng, false);
    row("program", "cat.exe", "MZ\x90", false);
    row("script called a picture", "cat.png", "#!/bin/sh\n", false);
    row("desktop entry", "cat.desktop", "[Desktop Entry]\n", false);
    row("sound called a picture", "cat.png", "fLaC", false);
    row("no suffix", "cat", kPng, false);
#ifndef Q_OS_WIN
    row("pipe", "cat.png", "pipe", false);
#endif
    row("nothing", "gone.png", "nothing", false);
}

void TestMediaKind::clicks() {
    QFETCH(QString, name);
    QFETCH(QByteArray, content);
    QFETCH(bool, opens);
    const QTemporaryDir folder;
    const QString file = folder.filePath(name);
    if (content == "pipe") {
#ifndef Q_OS_WIN
        QCOMPARE(::mkfifo(QFile::encodeName(file).constData(), 0600), 0);
#endif
    } else if (content != "nothing") {
        QFile output(file);
        QVERIFY(output.open(QIODevice::WriteOnly));
        output.write(content);
    }
    QDesktopServices::setUrlHandler(QStringLiteral("file"), this, "take");
    opened_.clear();
    ui::ChatView view;
    ui::ChatDocument chat;
    ui::ChatTurn turn;
    turn.text = QStringLiteral("Look");
    ui::Attachment attachment;
    attachment.file = file;
    attachment.name = name;
    turn.attachments.push_back(attachment);
    chat.turns.push_back(turn);
    view.setChat(chat);
    view.resize(800, 600);
    view.show();
    auto* list = view.findChild<ui::MessageList*>();
    QVERIFY(list != nullptr);
    Q_EMIT list->attachmentActivated(0, 0);
    // In the window itself, whatever the desktop would do with the file.
    auto* picture = view.findChild<ui::PictureView*>();
    QCOMPARE(picture != nullptr, opens);
    QVERIFY(opened_.isEmpty());
    if (picture != nullptr) {
        QTest::keyClick(picture, Qt::Key_Escape);
        QVERIFY(picture->isHidden());
    }
    QDesktopServices::unsetUrlHandler(QStringLiteral("file"));
}

TEST_CLASS_WITH(QApplication, TestMediaKind)
#include "tst_media_kind.moc"
