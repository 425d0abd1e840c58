// SPDX-License-Identifier: Apache-2.0
// The same prompt, pictures, sounds and seed on the base model and on sets of adapters, and on
// other placements, precisions and files of it, answers side by side. Between two columns of one
// load only the adapters are switched; another load is made for its column, and what was loaded
// comes back at the end (the worker sees to it). Also the last question of a chat once more, after
// the layout changed, beside the reply that it had.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/error.h"
#include "engine/api/load_request.h"
#include "engine/api/placement.h"

#include <QFrame>
#include <QHash>
#include <QStringList>

#include <memory>
#include <optional>
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

    /// A reply of before, and the plan that it was given with.
    struct Before {
        engine::Reply reply;
        std::shared_ptr<const engine::PlacementPlan> plan;
    };
    /// The question of setRequest() once more, with the seed of the reply, beside it: what is
    /// loaded is placed as `now` says. Runs at once.
    void askAgain(const Before& before, const std::shared_ptr<const engine::PlacementPlan>& now);

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
    /// What is loaded, and models that columns can load in its place.
    void setLoads(const engine::LoadRequest& loaded,
                  const QList<std::pair<QString, QString>>& models);
    /// Whether a model is loaded and nothing else is being generated.
    void setReady(bool is_ready);
    void showStarted(quint64 id, int column);
    /// A load for a column; below 0: what was loaded before comes back.
    void showLoading(quint64 id, int column, quint64 done, quint64 total);
    void showUpdate(quint64 id, int column, const engine::ReplyUpdate& update);
    void showReply(quint64 id, int column, const engine::Reply& reply);
    void showError(quint64 id, int column, const engine::Error& error);
    /// All columns are done, or the rest was stopped.
    void showFinished(quint64 id);
    void run();
    void stop();

Q_SIGNALS:
    /// One answer per set of adapters, in this order, all with the seed of the request. `loads`: of
    /// each, what is loaded first; without a model: what is loaded now.
    void compareRequested(quint64 id,
                          const engine::GenerateRequest& request,
                          const std::vector<std::vector<engine::AdapterChoice>>& adapter_sets,
                          const std::vector<engine::LoadRequest>& loads);
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
    void removeColumns();
    /// Beside a reply of before: what is the same, and what became of memory and time.
    void tellVerdict();
    void renumber();
    void updateState();
    void mark();
    void copyAll();
    [[nodiscard]] engine::GenerateRequest editedRequest() const;
    [[nodiscard]] CompareColumn* column(quint64 id, int index) const;

    engine::GenerateRequest request_;
    engine::LoadRequest loaded_;
    QList<std::pair<QString, QString>> models_; ///< Name and path.
    std::optional<Before> before_;              ///< The first column is a reply of before.
    std::shared_ptr<const engine::PlacementPlan> now_;
    engine::Reply reply_now_;
    std::vector<engine::AdapterChoice> adapters_; ///< And, behind them, the servers.
    std::vector<CompareColumn*> columns_;
    QPlainTextEdit* prompt_;
    ChatNotice* notice_;
    QLabel* verdict_;
    QLabel* media_;
    QWidget* sampling_ = nullptr; ///< Seed and length.
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
Q_DECLARE_METATYPE(std::vector<engine::LoadRequest>)
