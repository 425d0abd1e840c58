// SPDX-License-Identifier: Apache-2.0
// A remote engine with the program's own network, in front of a stand-in on this computer, with
// limits short enough for a test.
#pragma once

#include "app/network/qt_http.h"
#include "engine/api/model_address.h"
#include "tests/support/remote/chat_standin.h"
#include "tests/support/results.h"

#include <memory>
#include <string>

#include "remote/remote_engine.h"

namespace support {

inline remote::TimeLimits shortLimits() {
#ifdef _WIN32 // which the machine may have to emulate
    constexpr int kTimes = 2;
#else
    constexpr int kTimes = 1;
#endif
    constexpr std::chrono::milliseconds kUsual{1500};
    constexpr std::chrono::milliseconds kSilence{600};
    remote::TimeLimits limits;
    limits.connect = kTimes * kUsual;
    limits.first_byte = kTimes * kUsual;
    limits.silence = kTimes * kSilence;
    limits.progress = kTimes * kUsual;
    limits.list = kTimes * kUsual;
    return limits;
}

inline std::unique_ptr<remote::RemoteEngine>
remoteEngine(const std::string& key = "k3y", remote::TimeLimits limits = shortLimits()) {
    remote::RemoteEngine::Options options;
    options.make_http = app::qtHttp([] { return std::string(); });
    options.user_agent = "belfry/test";
    options.connections = [key,
                           limits](const std::string& base) -> engine::Result<remote::Connection> {
        remote::Connection connection;
        ENGINE_ASSIGN(connection.server, remote::parseServer(base));
        connection.key = key;
        connection.limits = limits;
        return connection;
    };
    return std::make_unique<remote::RemoteEngine>(std::move(options));
}

inline engine::LoadRequest loadOf(const std::string& base, const std::string& name = "m") {
    engine::LoadRequest request;
    request.model = engine::serverModel(base, name);
    return request;
}

inline engine::GenerateRequest question(const std::string& text = "Hello?") {
    engine::GenerateRequest request;
    request.id = 7;
    request.messages = {
        {engine::Message::Role::User, {{engine::MessagePart::Kind::Text, text, 0.0, 0.0}}}};
    return request;
}

} // namespace support
