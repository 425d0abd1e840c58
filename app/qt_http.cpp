// SPDX-License-Identifier: Apache-2.0
#include "app/qt_http.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QEventLoop>
#include <QNetworkAccessManager>
#include <QNetworkProxyFactory>
#include <QNetworkReply>
#include <QNetworkRequest>
#include <QTimer>
#include <QUrl>

#include <algorithm>
#include <array>
#include <clocale>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace app {

namespace {

using library::hub::HttpClient;
using library::hub::HttpEnd;
using library::hub::HttpHead;
using library::hub::HttpRequest;
using library::hub::HttpSink;

constexpr qint64 kReadAhead = qint64{4} << 20; ///< That Qt takes from the network unasked.
constexpr qint64 kPiece = qint64{256} << 10;

int timerTime(std::chrono::milliseconds time) {
    return static_cast<int>(
        std::min<std::chrono::milliseconds::rep>(time.count(), std::numeric_limits<int>::max()));
}

HttpEnd::Kind kindOf(QNetworkReply::NetworkError error) {
    using Kind = HttpEnd::Kind;
    switch (error) {
    case QNetworkReply::HostNotFoundError:
        return Kind::NoHost;
    case QNetworkReply::ConnectionRefusedError:
    case QNetworkReply::TemporaryNetworkFailureError:
    case QNetworkReply::NetworkSessionFailedError:
    case QNetworkReply::UnknownNetworkError:
        return Kind::NoConnect;
    case QNetworkReply::RemoteHostClosedError:
    case QNetworkReply::OperationCanceledError:
        return Kind::Cut;
    case QNetworkReply::TimeoutError:
        return Kind::Silence;
    case QNetworkReply::SslHandshakeFailedError:
        return Kind::Tls;
    case QNetworkReply::ProxyConnectionRefusedError:
    case QNetworkReply::ProxyConnectionClosedError:
    case QNetworkReply::ProxyNotFoundError:
    case QNetworkReply::ProxyTimeoutError:
    case QNetworkReply::ProxyAuthenticationRequiredError:
    case QNetworkReply::UnknownProxyError:
        return Kind::Proxy;
    default:
        return Kind::Malformed;
    }
}

QNetworkRequest qtRequest(const HttpRequest& asked) {
    QNetworkRequest request(QUrl::fromEncoded(QByteArray::fromStdString(asked.url)));
    // Redirects by hand: Qt would take the token along to another host.
    request.setAttribute(QNetworkRequest::RedirectPolicyAttribute,
                         QNetworkRequest::ManualRedirectPolicy);
    request.setAttribute(QNetworkRequest::CacheLoadControlAttribute,
                         QNetworkRequest::AlwaysNetwork);
    request.setAttribute(QNetworkRequest::CacheSaveControlAttribute, false);
    request.setAttribute(QNetworkRequest::CookieLoadControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
    request.setAttribute(QNetworkRequest::AuthenticationReuseAttribute, QNetworkRequest::Manual);
    // One plain connection per file: no stalls of a window shared by streams.
    request.setAttribute(QNetworkRequest::Http2AllowedAttribute, false);
    for (const auto& header : asked.headers) {
        request.setRawHeader(QByteArray::fromStdString(header.name),
                             QByteArray::fromStdString(header.value));
    }
    return request;
}

/// One request, in an event loop of its own in the thread that asks.
class Exchange {
public:
    Exchange(QNetworkReply* reply, HttpSink& sink) : reply_(reply), sink_(sink) {
        piece_.resize(static_cast<size_t>(kPiece));
    }

    HttpEnd run(const HttpRequest& asked, const std::stop_token& stop) {
        QTimer silence;
        silence.setSingleShot(true);
        QTimer total;
        total.setSingleShot(true);
        const auto awake = [&] { silence.start(timerTime(asked.silence_limit)); };
        QObject::connect(&silence, &QTimer::timeout, &loop_, [&] {
            // The sink may have taken all that time.
            reply_->bytesAvailable() > 0 ? awake() : end(HttpEnd::Kind::Silence);
        });
        QObject::connect(&total, &QTimer::timeout, &loop_, [this] { end(HttpEnd::Kind::TooLong); });
        QObject::connect(reply_, &QNetworkReply::metaDataChanged, &loop_, [&] {
            awake();
            takeHead();
        });
        QObject::connect(reply_, &QIODevice::readyRead, &loop_, [&] {
            takeBytes();
            awake();
        });
        QObject::connect(reply_, &QNetworkReply::finished, &loop_, [this] { loop_.quit(); });
        awake();
        if (asked.total_limit.count() > 0) {
            total.start(timerTime(asked.total_limit));
        }
        {
            const std::stop_callback wake(stop, [this] {
                QMetaObject::invokeMethod(
                    &loop_, [this] { end(HttpEnd::Kind::Cancelled); }, Qt::QueuedConnection);
            });
            if (!reply_->isFinished() && !stop.stop_requested()) {
                loop_.exec();
            }
        }
        if (stop.stop_requested()) {
            end(HttpEnd::Kind::Cancelled);
        }
        if (!end_.has_value()) {
            takeHead();
            takeBytes();
        }
        silence.stop();
        return end_.has_value() ? *end_ : natural();
    }

private:
    void end(HttpEnd::Kind kind) {
        if (!end_.has_value()) {
            end_ = HttpEnd{kind};
        }
        loop_.quit();
    }

    /// The end that the answer itself came to.
    HttpEnd natural() {
        const QNetworkReply::NetworkError error = reply_->error();
        // From ContentAccessDenied on the errors are statuses of whole answers.
        const bool is_status = error >= QNetworkReply::ContentAccessDenied &&
                               error != QNetworkReply::ProtocolUnknownError &&
                               error != QNetworkReply::ProtocolInvalidOperationError &&
                               error != QNetworkReply::ProtocolFailure;
        if (has_head_ && (error == QNetworkReply::NoError || is_status)) {
            return {HttpEnd::Kind::Done};
        }
        return {error == QNetworkReply::NoError ? HttpEnd::Kind::Malformed : kindOf(error),
                reply_->errorString().toStdString()};
    }

    void takeHead() {
        const QVariant status = reply_->attribute(QNetworkRequest::HttpStatusCodeAttribute);
        if (has_head_ || !status.isValid() || end_.has_value()) {
            return;
        }
        has_head_ = true;
        HttpHead head;
        head.status = status.toInt();
        for (const QNetworkReply::RawHeaderPair& pair : reply_->rawHeaderPairs()) {
            head.headers.push_back({pair.first.toLower().toStdString(), pair.second.toStdString()});
        }
        if (!sink_.onHead(head)) {
            end(HttpEnd::Kind::Sink);
        }
    }

    void takeBytes() {
        takeHead();
        while (!end_.has_value() && has_head_) {
            const qint64 n = reply_->read(reinterpret_cast<char*>(piece_.data()), kPiece);
            if (n <= 0) {
                return;
            }
            if (!sink_.onBytes(std::span(piece_).first(static_cast<size_t>(n)))) {
                end(HttpEnd::Kind::Sink);
            }
        }
    }

    QNetworkReply* reply_;
    HttpSink& sink_;
    QEventLoop loop_;
    std::vector<std::byte> piece_;
    std::optional<HttpEnd> end_;
    bool has_head_ = false;
};

class QtHttp : public HttpClient {
public:
    HttpEnd run(const HttpRequest& request, HttpSink& sink, std::stop_token stop) override {
        const std::unique_ptr<QNetworkReply> reply(manager_.get(qtRequest(request)));
        reply->setReadBufferSize(kReadAhead);
        HttpEnd end = Exchange(reply.get(), sink).run(request, stop);
        QObject::disconnect(reply.get(), nullptr, nullptr, nullptr);
        if (!reply->isFinished()) {
            reply->abort();
        }
        return end;
    }

private:
    QNetworkAccessManager manager_;
};

} // namespace

struct NetworkUse::Application {
    std::array<char, 11> name = {"belfry-cli"};
    std::array<char*, 2> words = {name.data(), nullptr};
    int num_words = 1;
    QCoreApplication application{num_words, words.data()};
};

NetworkUse::NetworkUse() : application_(std::make_unique<Application>()) {
    std::setlocale(LC_NUMERIC, "C"); // Qt has taken the user's
}

NetworkUse::~NetworkUse() = default;

library::hub::HttpClientFactory qtHttp() {
    QNetworkProxyFactory::setUseSystemConfiguration(true);
    return [] { return std::make_unique<QtHttp>(); };
}

} // namespace app
