// SPDX-License-Identifier: Apache-2.0
#include "remote/key_store.h"

#include "engine/base/paths.h"

#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "library/hub/digest.h"
#include "remote/connection.h"

namespace remote {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;

namespace {

constexpr size_t kNameDigits = 32;

class KeyFiles final : public KeyStore {
public:
    explicit KeyFiles(std::string folder) : folder_(std::move(folder)) {}

    [[nodiscard]] Kind kind() const override { return Kind::File; }

    Result<std::string> read(const std::string& base) override {
        const std::string file = fileOf(base);
        std::error_code ignored;
        return std::filesystem::exists(engine::pathFromUtf8(file), ignored) ? readKeyFile(file)
                                                                            : std::string();
    }
    Result<void> write(const std::string& base, const std::string& key) override {
        return writeKeyFile(fileOf(base), key);
    }
    Result<void> remove(const std::string& base) override {
        std::error_code failure;
        const std::string file = fileOf(base);
        std::filesystem::remove(engine::pathFromUtf8(file), failure);
        if (failure) {
            return Error{
                ErrorCode::InvalidRequest,
                said("%1: the key is still there (%2); delete the file", file, failure.message()),
                {{"rule", "RemoteKey"}}};
        }
        return {};
    }

private:
    [[nodiscard]] std::string fileOf(const std::string& base) const {
        library::hub::Digest digest = library::hub::Digest::sha256();
        digest.add(std::as_bytes(std::span(base)));
        return folder_ + "/" + digest.finish().substr(0, kNameDigits) + ".key";
    }

    std::string folder_;
};

} // namespace

std::unique_ptr<KeyStore> fileKeyStore(std::string folder) {
    return std::make_unique<KeyFiles>(std::move(folder));
}

} // namespace remote
