// SPDX-License-Identifier: Apache-2.0
#include "app/network/key_files.h"

#include "engine/base/paths.h"

#include <QCryptographicHash>

#include <filesystem>
#include <system_error>
#include <utility>

#include "remote/connection.h"

namespace app {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;

namespace {

constexpr qsizetype kNameDigits = 32;

class KeyFiles final : public remote::KeyStore {
public:
    explicit KeyFiles(std::string folder) : folder_(std::move(folder)) {}

    [[nodiscard]] Kind kind() const override { return Kind::File; }

    Result<std::string> read(const std::string& base) override {
        const std::string file = fileOf(base);
        std::error_code ignored;
        return std::filesystem::exists(engine::pathFromUtf8(file), ignored)
                   ? remote::readKeyFile(file)
                   : std::string();
    }
    Result<void> write(const std::string& base, const std::string& key) override {
        return remote::writeKeyFile(fileOf(base), key);
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
        const QByteArray name =
            QCryptographicHash::hash(QByteArray::fromStdString(base), QCryptographicHash::Sha256)
                .toHex()
                .left(kNameDigits);
        return folder_ + "/" + name.toStdString() + ".key";
    }

    std::string folder_;
};

} // namespace

std::unique_ptr<remote::KeyStore> keyFiles(std::string folder) {
    return std::make_unique<KeyFiles>(std::move(folder));
}

} // namespace app
