// SPDX-License-Identifier: Apache-2.0
// A server with TLS on this computer that answers every request with a list of models, and the
// certificates for it: an authority of the test's own and what it signs, made by the openssl
// program.
#pragma once

#include <QString>
#include <QTemporaryDir>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

class QSslServer;
class QThread;

namespace support {

/// Made once for a test program; see isUsable().
class TestAuthority {
public:
    TestAuthority();
    /// False where there is no openssl program.
    [[nodiscard]] bool isUsable() const { return is_usable_; }
    /// The authority's certificate, as a PEM file.
    [[nodiscard]] QString file() const { return path(QStringLiteral("ca.pem")); }
    /// Signs "NAME.pem" with "NAME.key" for these subjectAltNames; `days` may be -1: expired.
    bool sign(const char* name, const QString& names, int days);
    [[nodiscard]] QString path(const QString& name) const { return folder_.filePath(name); }

private:
    static bool run(const std::vector<std::string>& words);
    [[nodiscard]] std::string at(const std::string& name) const;

    QTemporaryDir folder_;
    bool is_usable_ = false;
};

class TlsStandin {
public:
    /// With this certificate and key (PEM files).
    TlsStandin(const QString& certificate, const QString& key);
    ~TlsStandin();
    TlsStandin(const TlsStandin&) = delete;
    TlsStandin& operator=(const TlsStandin&) = delete;

    [[nodiscard]] std::string base() const; ///< "https://127.0.0.1:40001/v1"
    /// Requests that were read: those of a client that trusts it.
    [[nodiscard]] int numRequests() const { return num_requests_; }

private:
    std::unique_ptr<QThread> thread_;
    QSslServer* server_ = nullptr;
    int port_ = 0;
    std::atomic<int> num_requests_{0};
};

} // namespace support
