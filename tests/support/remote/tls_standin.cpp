// SPDX-License-Identifier: Apache-2.0
#include "tests/support/remote/tls_standin.h"

#include "tests/support/qt_files.h"

#include <QFile>
#include <QProcess>
#include <QSslCertificate>
#include <QSslConfiguration>
#include <QSslKey>
#include <QSslServer>
#include <QSslSocket>
#include <QStandardPaths>
#include <QThread>

#include <fstream>
#include <stdexcept>

namespace support {

namespace {

/// Answers what is whole.
void serve(QSslSocket* socket, std::atomic<int>& num_requests) {
    const auto look = [socket, &num_requests] {
        if (!socket->peek(1 << 16).contains("\r\n\r\n")) {
            return;
        }
        socket->readAll();
        ++num_requests;
        const QByteArray body = R"({"object":"list","data":[{"id":"m","owned_by":"vllm"}]})";
        socket->write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                      QByteArray::number(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
        socket->disconnectFromHost();
    };
    QObject::connect(socket, &QSslSocket::readyRead, socket, look);
    look(); // what came with the end of the handshake
}

} // namespace

TestAuthority::TestAuthority() {
    is_usable_ = run({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                      "-nodes", "-keyout", at("ca.key"), "-out", at("ca.pem"), "-days", "30",
                      "-subj", "/CN=Belfry test authority"});
}

std::string TestAuthority::at(const std::string& name) const {
    return path(QString::fromStdString(name)).toStdString();
}

bool TestAuthority::run(const std::vector<std::string>& words) {
    QStringList list;
    for (const std::string& word : words) {
        list.append(QString::fromStdString(word));
    }
    QProcess process;
    process.start(QStringLiteral("openssl"), list);
    return process.waitForFinished(30000) && process.exitCode() == 0;
}

bool TestAuthority::sign(const char* name, const QString& names, int days) {
    const std::string one = name;
    std::ofstream(at(one + ".ext")) << "subjectAltName=" << names.toStdString() << "\n";
    return run({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                at(one + ".key"), "-out", at(one + ".csr"), "-subj", "/CN=" + one}) &&
           run({"x509", "-req", "-in", at(one + ".csr"), "-CA", at("ca.pem"), "-CAkey",
                at("ca.key"), "-CAcreateserial", "-out", at(one + ".pem"), "-days",
                std::to_string(days), "-extfile", at(one + ".ext")});
}

TlsStandin::TlsStandin(const QString& certificate, const QString& key)
    : thread_(std::make_unique<QThread>()) {
    QSslConfiguration configuration = QSslConfiguration::defaultConfiguration();
    configuration.setLocalCertificate(QSslCertificate(bytesOf(certificate)));
    configuration.setPrivateKey(QSslKey(bytesOf(key), QSsl::Ec));
    server_ = new QSslServer;
    server_->setSslConfiguration(configuration);
    server_->moveToThread(thread_.get());
    QObject::connect(thread_.get(), &QThread::finished, server_, &QObject::deleteLater);
    thread_->start();
    bool is_listening = false;
    QMetaObject::invokeMethod(
        server_,
        [&] {
            QObject::connect(server_, &QTcpServer::pendingConnectionAvailable, server_, [this] {
                while (auto* socket = qobject_cast<QSslSocket*>(server_->nextPendingConnection())) {
                    serve(socket, num_requests_);
                }
            });
            is_listening = server_->listen(QHostAddress::LocalHost);
            port_ = server_->serverPort();
        },
        Qt::BlockingQueuedConnection);
    if (!is_listening) {
        throw std::runtime_error("no port on the loopback interface");
    }
}

TlsStandin::~TlsStandin() {
    QMetaObject::invokeMethod(
        server_, [this] { delete server_; }, Qt::BlockingQueuedConnection);
    thread_->quit();
    thread_->wait();
}

std::string TlsStandin::base() const {
    return "https://127.0.0.1:" + std::to_string(port_) + "/v1";
}

} // namespace support
