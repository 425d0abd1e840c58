// SPDX-License-Identifier: Apache-2.0
#include "app/cli/server_engine.h"

#include "app/cli/commands.h"
#include "app/common/environment.h"
#include "app/common/version.h"
#include "engine/api/model_address.h"

#include "remote/remote_engine.h"
#ifdef BELFRY_HAS_NETWORK
#include "app/network/network_part.h"
#include "app/network/network_switch.h"
#endif

#include <iostream>

namespace cli {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

Result<remote::Connection> connectionOf(const Arguments& arguments) {
    remote::Connection connection;
    ENGINE_ASSIGN(connection.server, remote::parseServer(arguments.server));
    if (!arguments.server_authority.empty()) {
        ENGINE_ASSIGN(connection.authorities, remote::readAuthority(arguments.server_authority));
    }
    if (!arguments.key_file.empty()) {
        ENGINE_ASSIGN(connection.key, remote::readKeyFile(arguments.key_file));
    } else if (!arguments.key_variable.empty()) {
        ENGINE_ASSIGN(connection.key, remote::checkedKey(app::namedVariable(arguments.key_variable),
                                                         arguments.key_variable));
    }
    return connection;
}

/// The model that is asked for, or the only one that is no adapter.
Result<std::string> chosenModel(const remote::ModelList& list, const Arguments& arguments) {
    if (!arguments.server_model.empty()) {
        return arguments.server_model;
    }
    std::string only;
    std::string names;
    for (const remote::ServerModel& model : list.models) {
        names += (names.empty() ? "" : ", ") + model.id;
        if (model.parent.empty()) {
            only = only.empty() ? model.id : " ";
        }
    }
    if (only.empty() || only == " ") {
        return Error{ErrorCode::InvalidRequest,
                     names.empty() ? arguments.server + " lists no model; start one there"
                                   : arguments.server +
                                         " has several models; name one with "
                                         "--server-model: " +
                                         names};
    }
    return only;
}

void tellWhere(const remote::Server& server) {
    std::cerr << "note: what you write is sent to " << server.host << "\n";
    if (!server.is_encrypted && server.reach != remote::Reach::Loopback) {
        std::cerr << "note: it is not encrypted on the way there, and neither is the key\n";
    }
}

Result<void> chat(const models::hub::HttpClientFactory& make_http, const Arguments& arguments) {
    remote::RemoteEngine::Options options;
    options.make_http = make_http;
    options.user_agent = "belfry/" + app::version();
    ENGINE_ASSIGN(remote::Connection connection, connectionOf(arguments));
    const auto list =
        remote::listModels(make_http, connection, options.user_agent, interruptToken());
    if (!list.has_value() && arguments.server_model.empty()) {
        return list.error();
    }
    ENGINE_ASSIGN(const std::string name,
                  chosenModel(list.has_value() ? *list : remote::ModelList(), arguments));
    options.connections = [connection](const std::string&) -> Result<remote::Connection> {
        return connection;
    };
    Arguments there = arguments;
    there.model = engine::serverModel(connection.server.base, name);
    there.load = {};
    there.load.model = there.model;
    there.load.image_tokens = arguments.load.image_tokens;
    if (!arguments.is_json) {
        tellWhere(connection.server);
    }
    remote::RemoteEngine engine(std::move(options));
    return runChat(engine, there);
}

} // namespace

Result<void> runServerChat(const Arguments& arguments) {
#ifdef BELFRY_HAS_NETWORK
    ENGINE_ASSIGN(app::NetworkPart* const network, app::networkPart());
    return chat(network->serverHttp(app::networkBanName), arguments);
#else
    (void)&chat;
    return Error{ErrorCode::Unsupported,
                 "this build of belfry-cli has no network part, so it cannot ask " +
                     arguments.server + "; take a build with Qt 6 Network"};
#endif
}

} // namespace cli
