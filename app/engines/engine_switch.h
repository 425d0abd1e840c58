// SPDX-License-Identifier: Apache-2.0
// Which engine answers: the one on this thread, one in a process of its own, or one on a server.
// Between the first two it is chosen once, when it is known how the driver of graphics cards
// answers, which is a while after the window is shown; a model's name decides between this computer
// and a server (engine/api/model_address.h). Both can have a model loaded: the one that was loaded
// last answers, and a model of this computer stays where it is while a server answers.
#pragma once

#include "engine/client/engine_client.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace app {

class EngineSwitch {
public:
    /// Whether the process is used; nullopt, which only a call that does not wait gets: not known
    /// yet, and the engine on this thread answers.
    using Choice = std::function<std::optional<bool>(bool waits)>;

    explicit EngineSwitch(std::unique_ptr<engine::EngineClient> here);
    EngineSwitch(std::unique_ptr<engine::EngineClient> here,
                 std::unique_ptr<engine::EngineClient> process,
                 Choice choose);
    /// From now on `servers` has the models whose names are addresses.
    void addServers(std::unique_ptr<engine::EngineClient> servers);

    /// The engine of what is loaded, for plain questions, which never wait for a driver.
    [[nodiscard]] const engine::EngineClient& state() const;
    /// The engine that reads a model's files for inspect(), which does not wait either.
    [[nodiscard]] engine::EngineClient& reader(const std::string& model) const;
    /// The engine that a model belongs to.
    [[nodiscard]] engine::EngineClient& at(const std::string& model) const;
    /// The engine that works for what is loaded and answers the next question.
    [[nodiscard]] engine::EngineClient& answering() const;

    /// As EngineClient has them. On an error the engine that answered before still does.
    engine::Result<void> load(const engine::LoadRequest& request,
                              const engine::ProgressCallback& progress,
                              const std::stop_token& stop);
    /// Unloads what is loaded here and forgets what a server has.
    void unload();
    /// An adapter whose name is that of a model on a server stands for that model: while it is on,
    /// it answers in place of the base and its adapters. So a comparison has a column that another
    /// computer answers.
    engine::Result<void> setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                                     const std::stop_token& stop);

private:
    [[nodiscard]] bool isOnServer(const std::string& model) const;
    /// The engine of this computer's models.
    [[nodiscard]] engine::EngineClient& own(bool waits) const;

    std::unique_ptr<engine::EngineClient> here_, process_, servers_; ///< The last two may be null.
    Choice choose_;
    mutable std::optional<bool> uses_process_; ///< Once chosen, it stays.
    bool is_loaded_there_ = false;             ///< What was loaded last is a server's model.
    bool is_asking_there_ = false;             ///< setAdapters() chose a server's model.
};

} // namespace app
