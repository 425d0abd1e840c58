// SPDX-License-Identifier: Apache-2.0
// Servers and the window: the dialog's questions to a server, asked beside the window, and the
// engine that answers for models of this computer and for those of servers.
#pragma once

#include "app/engines/engine_factory.h"
#include "app/window/server_book.h"
#include "ui/dialogs/server_values.h"

#include <QObject>

#include <memory>
#include <stop_token>

#include "models/hub/http.h"

namespace ui {
class MainWindow;
} // namespace ui

namespace app {

class SettingsStore;

/// Engines of `here` with servers beside them.
EngineFactory withServers(EngineFactory here,
                          std::shared_ptr<ServerBook> book,
                          models::hub::HttpClientFactory make_http);

class ServerLink : public QObject {
    Q_OBJECT

public:
    /// `settings` may be nullptr. All must outlive this.
    ServerLink(ui::MainWindow* window,
               std::shared_ptr<ServerBook> book,
               const SettingsStore* settings,
               models::hub::HttpClientFactory make_http,
               QObject* parent = nullptr);
    ~ServerLink() override;

private:
    void test(const ui::ServerWish& wish);
    void use(const ui::ServerWish& wish, const QString& base, const QString& model);
    void keep(const QString& base, bool has_new_key);
    void forgetKey(const QString& base);
    void tellKeyPlace();
    void showKnown();

    ui::MainWindow* window_;
    std::shared_ptr<ServerBook> book_;
    const SettingsStore* settings_;
    models::hub::HttpClientFactory make_http_;
    std::stop_source stop_; ///< Stops the question that runs.
};

} // namespace app
