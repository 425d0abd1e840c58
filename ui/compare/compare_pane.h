// SPDX-License-Identifier: Apache-2.0
// The same prompt, pictures, sounds and seed on the base model and on sets of adapters, answers
// side by side. The base stays resident; between two columns only the adapters are switched, and
// afterwards those of the chat are in force again (the worker sees to it).
#pragma once

#include "engine/api/chat.h"
#include "engine/api/error.h"
#include "engine/api/load_request.h"

#include <QFrame>
#include <QHash>
#include <QStringList>

#include <vector>

class QCheckBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;
class QSplitter;

namespace ui {

class ChatNotice;
class CompareColumn;

class ComparePane : public QFrame {
    Q_OBJECT

public:
    static constexpr int kMaxColumns = 4;

    explicit ComparePane(QWidget* parent = nullptr);

    [[nodiscard]] bool isRunning() const { return running_ != 0; }
    [[nodiscard]] const std::vector<CompareColumn*>& columns() const { return columns_; }

public Q_SLOTS:
    /// What the chat would send: history, media, sampling. The last question can be edited here.
    /// `media_names`: what the user called a file, by where it is now.
    /// `chat_id`: in another chat a host is asked about anew.
    void setRequest(const engine::GenerateRequest& request,
                    const QHash<QString, QString>& media_names = {},
                    const QString& chat_id = {});
    /// The adapters of the chat: the columns become the base, all that are on, and, where there
    /// are several, each on its own.
    /// `server_models`: addresses of models that can be asked as well. Every column offers them,
    /// none asks one before somebody has ticked it and said once that the host may have the chat.
    void setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                     const std::vector<std::string>& server_models = {});
    /// Whether a model is loaded and nothing else is being generated.
    void setReady(bool is_ready);
    void showStarted(quint64 id, int column);
    void showUpdate(quint64 id, int column, const engine::ReplyUpdate& update);
    void showReply(quint64 id, int column, const engine::Reply& reply);
    void showError(quint64 id, int column, const engine::Error& error);
    /// All columns are done, or the rest was stopped.
    void showFinished(quint64 id);
    void run();
    void stop();

Q_SIGNALS:
    /// One answer per set of adapters, in this order, all with the seed of the request.
    void compareRequested(quint64 id,
                          const engine::GenerateRequest& request,
                          const std::vector<std::vector<engine::AdapterChoice>>& adapter_sets);
    void cancelRequested();
    void closeRequested();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    /// The sets of adapters that a comparison begins with, the base first.
    [[nodiscard]] std::vector<std::vector<engine::AdapterChoice>> usualSets() const;
    /// Shows a question, and returns true, where a column would send the chat to a host that
    /// nobody has agreed to.
    bool asksWhetherToSend();
    void fitNotice();
    QWidget* buildHead();
    QWidget* buildFoot();
    CompareColumn* addColumn(const std::vector<engine::AdapterChoice>& adapters);
    void removeColumn(CompareColumn* column);
    void renumber();
    void updateState();
    void mark();
    void copyAll();
    [[nodiscard]] engine::GenerateRequest editedRequest() const;
    [[nodiscard]] CompareColumn* column(quint64 id, int index) const;

    engine::GenerateRequest request_;
    std::vector<engine::AdapterChoice> adapters_; ///< And, behind them, the servers.
    std::vector<CompareColumn*> columns_;
    QPlainTextEdit* prompt_;
    ChatNotice* notice_;
    QLabel* media_;
    QSpinBox* seed_;
    QSpinBox* tokens_;
    QPushButton* run_;
    QPushButton* add_;
    QPushButton* copy_;
    QCheckBox* mark_;
    QLabel* hint_;
    QSplitter* splitter_;
    quint64 running_ = 0; ///< Id of the comparison in progress; 0 = none.
    quint64 last_id_ = 0;
    bool is_ready_ = false;
    QString chat_id_;
    QStringList agreed_hosts_; ///< For this chat.
};

} // namespace ui

Q_DECLARE_METATYPE(std::vector<std::vector<engine::AdapterChoice>>)
