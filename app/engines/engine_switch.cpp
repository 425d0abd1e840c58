// SPDX-License-Identifier: Apache-2.0
#include "app/engines/engine_switch.h"

#include "engine/api/model_address.h"

#include <utility>

namespace app {

using engine::EngineClient;
using engine::Result;

EngineSwitch::EngineSwitch(std::unique_ptr<EngineClient> here)
    : here_(std::move(here)), uses_process_(false) {}

EngineSwitch::EngineSwitch(std::unique_ptr<EngineClient> here,
                           std::unique_ptr<EngineClient> process,
                           Choice choose)
    : here_(std::move(here)), process_(std::move(process)), choose_(std::move(choose)) {}

void EngineSwitch::addServers(std::unique_ptr<EngineClient> servers) {
    servers_ = std::move(servers);
}

bool EngineSwitch::isOnServer(const std::string& model) const {
    return servers_ != nullptr && engine::isServerModel(model);
}

EngineClient& EngineSwitch::own(bool waits) const {
    if (!uses_process_.has_value()) {
        uses_process_ = choose_(waits);
    }
    return uses_process_.value_or(false) ? *process_ : *here_;
}

const EngineClient& EngineSwitch::state() const {
    return is_loaded_there_ ? *servers_ : own(false);
}

EngineClient& EngineSwitch::reader(const std::string& model) const {
    return isOnServer(model) ? *servers_ : own(false);
}

EngineClient& EngineSwitch::at(const std::string& model) const {
    return isOnServer(model) ? *servers_ : own(true);
}

EngineClient& EngineSwitch::answering() const {
    return is_loaded_there_ || is_asking_there_ ? *servers_ : own(true);
}

Result<void> EngineSwitch::load(const engine::LoadRequest& request,
                                const engine::ProgressCallback& progress,
                                const std::stop_token& stop) {
    ENGINE_TRY(at(request.model).load(request, progress, stop));
    is_loaded_there_ = isOnServer(request.model);
    is_asking_there_ = false;
    if (servers_ != nullptr && !is_loaded_there_) {
        servers_->unload();
    }
    return {};
}

void EngineSwitch::unload() {
    if (servers_ != nullptr) {
        servers_->unload();
    }
    own(false).unload();
    is_loaded_there_ = is_asking_there_ = false;
}

Result<void> EngineSwitch::setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                                       const std::stop_token& stop) {
    is_asking_there_ = false;
    if (is_loaded_there_) {
        return servers_->setAdapters(adapters, stop);
    }
    std::vector<engine::AdapterChoice> of_base;
    std::string model;
    for (const engine::AdapterChoice& adapter : adapters) {
        if (!isOnServer(adapter.folder)) {
            of_base.push_back(adapter);
        } else if (adapter.is_enabled) {
            model = adapter.folder;
        }
    }
    if (model.empty()) {
        return own(true).setAdapters(of_base, stop);
    }
    if (!servers_->isLoaded() || servers_->loadedRequest().model != model) {
        engine::LoadRequest request;
        request.model = model;
        ENGINE_TRY(servers_->load(request, {}, stop));
    }
    is_asking_there_ = true;
    return {};
}

} // namespace app
