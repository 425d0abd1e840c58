// SPDX-License-Identifier: Apache-2.0
// The module that network_part.h opens: Qt Network, and the keyring, for belfry-cli.
#include "app/network/keyring.h"
#include "app/network/network_part.h"
#include "app/network/qt_http.h"

#include <optional>
#include <string_view>

namespace app {

namespace {

class QtPart : public NetworkPart {
public:
    models::hub::HttpClientFactory http(ForbiddenBy forbidden_by) override {
        begin();
        return qtHttp(std::move(forbidden_by));
    }
    models::hub::HttpClientFactory serverHttp(ForbiddenBy forbidden_by) override {
        begin();
        return app::serverHttp(std::move(forbidden_by));
    }
    std::unique_ptr<models::hub::TokenStore> tokens() override {
        begin();
        return tokenStore();
    }

private:
    void begin() {
        if (!use_.has_value()) {
            use_.emplace();
        }
    }

    std::optional<NetworkUse> use_;
};

} // namespace

} // namespace app

#ifdef _WIN32
#define BELFRY_EXPORT __declspec(dllexport)
#else
#define BELFRY_EXPORT __attribute__((visibility("default")))
#endif

extern "C" BELFRY_EXPORT app::NetworkPart* belfryNetworkPart(const char* build) {
    // Never destroyed: at the end of the program Qt's own statics may be gone before it.
    static app::QtPart* const kPart = new app::QtPart;
    return app::networkBuild() == std::string_view(build) ? kPart : nullptr;
}
