// SPDX-License-Identifier: Apache-2.0
// A chat that never ends, for the test that kills it: the real store thread and the real gate, an
// engine that answers at once. A line "ack CHAT COUNT" on stdout says that the chat with COUNT
// turns is on disk; the line is written after the store's answer to exactly that save, which its
// serial number names: the order in which the gate and this program hear of it is chance.
// Usage: kill_writer FOLDER
#include "app/store/chat_store.h"
#include "app/store/turn_gate.h"
#include "tests/app/store/sample_chats.h"
#include "ui/common/unique_id.h"

#include <QCoreApplication>
#include <QHash>
#include <QTimer>

#include <cstdio>

namespace {

constexpr int kTurnsPerChat = 24;

/// Asks, is released by the gate, answers, saves, and so on.
class Writer : public QObject {
public:
    Writer(app::ChatStore* store, app::TurnGate* gate, const QString& folder)
        : gate_(gate), folder_(folder) {
        // Queued, as to an engine on its own thread.
        connect(gate, &app::TurnGate::released, this, &Writer::answer, Qt::QueuedConnection);
        connect(store, &app::ChatStore::saved, this,
                [this](const QString& id, quint64 serial) { acknowledge(id, serial); });
        connect(store, &app::ChatStore::saveFailed, this,
                [](const QString&, quint64, const QString& message) {
                    std::fprintf(stderr, "%s\n", qPrintable(message));
                    std::exit(2);
                });
        connect(store, &app::ChatStore::listed, this, &Writer::begin, Qt::SingleShotConnection);
    }

private:
    void begin() {
        chat_ = support::sampleChat(ui::makeUniqueId(), 0);
        ask();
    }

    void ask() {
        const auto position = static_cast<int>(chat_.turns.size());
        ui::ChatTurn turn = support::sampleTurn(chat_.id, position);
        if (position % 8 == 0) {
            ui::Attachment picture;
            picture.file = support::writeFile(
                folder_ + QStringLiteral("/%1-%2.png").arg(chat_.id).arg(position),
                QByteArray(20'000 + position, static_cast<char>('a' + position)));
            picture.name = QStringLiteral("picture.png");
            turn.attachments = {picture};
        }
        chat_.turns.push_back(turn);
        save(true);
        gate_->generate({});
    }

    void answer() {
        // Drafts of a streaming reply are saved as well; they are not acknowledged.
        ui::ChatTurn turn = support::sampleTurn(chat_.id, static_cast<int>(chat_.turns.size()));
        ui::ChatTurn draft = turn;
        draft.text = draft.text.left(5);
        draft.finish_reason = QStringLiteral("interrupted");
        chat_.turns.push_back(draft);
        save(false);
        chat_.turns.back() = turn;
        save(true);
    }

    void save(bool is_to_be_acknowledged) {
        ++serial_; // as the gate counts
        if (is_to_be_acknowledged) {
            turns_of_.insert(serial_, static_cast<int>(chat_.turns.size()));
        }
        gate_->save(chat_);
    }

    void acknowledge(const QString& id, quint64 serial) {
        const int turns = turns_of_.take(serial); // 0 for a draft
        if (turns == 0) {
            return;
        }
        std::printf("ack %s %d\n", qPrintable(id), turns);
        std::fflush(stdout);
        if (turns % 2 == 0) {
            // Back to the event loop: the stack must not grow with the chat.
            QTimer::singleShot(0, this, [this] {
                if (chat_.turns.size() >= kTurnsPerChat) {
                    begin();
                } else {
                    ask();
                }
            });
        }
    }

    app::TurnGate* gate_;
    QString folder_;
    ui::ChatDocument chat_;
    quint64 serial_ = 0;
    QHash<quint64, int> turns_of_; ///< Serial of a save -> turns that it puts on disk.
};

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    if (argc != 2) {
        std::fprintf(stderr, "usage: kill_writer FOLDER\n");
        return 2;
    }
    app::registerStoreTypes();
    const QString folder = QString::fromLocal8Bit(argv[1]);
    app::ChatStoreThread thread({folder, {}});
    app::TurnGate gate(thread.store());
    const Writer writer(thread.store(), &gate, folder);
    QMetaObject::invokeMethod(thread.store(), &app::ChatStore::open);
    return QCoreApplication::exec();
}
