// SPDX-License-Identifier: Apache-2.0
#include "app/network/qt_http.h"

#include "app/network/qt_proxy.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDateTime>
#include <QEventLoop>
#include <QIODevice>
#include <QNetworkAccessManager>
#include <QNetworkProxy>
#include <QNetworkReply>
#include <QNetworkRequest>
#include <QSslCertificate>
#include <QSslConfiguration>
#include <QSslError>
#include <QStringList>
#include <QTimer>
#include <QUrl>

#include <algorithm>
#include <array>
#include <clocale>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/hub/url.h"

namespace app {

namespace {

using models::hub::HttpClient;
using models::hub::HttpEnd;
using models::hub::HttpHead;
using models::hub::HttpRequest;
using models::hub::HttpSink;

constexpr qint64 kReadAhead = qint64{2} << 20; ///< That Qt takes from the network unasked.
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
    case QNetworkReply::ContentReSendError: // which BodyOnce refuses
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

using Flaw = HttpEnd::Flaw;

Flaw flawOf(QSslError::SslError error) {
    switch (error) {
    case QSslError::NoError:
        return Flaw::None;
    case QSslError::CertificateRevoked:
        return Flaw::Revoked;
    case QSslError::CertificateExpired:
        return Flaw::Expired;
    case QSslError::CertificateNotYetValid:
        return Flaw::NotYetValid;
    case QSslError::HostNameMismatch:
        return Flaw::Name;
    default: // all others are about who signed it
        return Flaw::Issuer;
    }
}

/// What flaw_detail is for.
QString aboutFlaw(Flaw flaw, const QSslCertificate& certificate) {
    const auto first = [](const QStringList& words) { return words.value(0); };
    switch (flaw) {
    case Flaw::Expired:
        return certificate.expiryDate().toUTC().date().toString(Qt::ISODate);
    case Flaw::NotYetValid:
        return certificate.effectiveDate().toUTC().date().toString(Qt::ISODate);
    case Flaw::Name: {
        QStringList names = certificate.subjectAlternativeNames().values();
        if (names.isEmpty()) {
            names = certificate.subjectInfo(QSslCertificate::CommonName);
        }
        constexpr qsizetype kMostNames = 3;
        return names.mid(0, kMostNames).join(QStringLiteral(", "));
    }
    default: {
        const QString name = first(certificate.issuerInfo(QSslCertificate::CommonName));
        return name.isEmpty() ? first(certificate.issuerInfo(QSslCertificate::Organization)) : name;
    }
    }
}

/// The error that counts most: who signed comes before all else, because what a certificate says is
/// worth nothing where nobody vouches for it.
void takeFlaw(const QList<QSslError>& errors, HttpEnd& end) {
    for (const QSslError& error : errors) {
        const Flaw flaw = flawOf(error.error());
        if (flaw != Flaw::None && (end.flaw == Flaw::None || flaw < end.flaw)) {
            end.flaw = flaw;
            end.flaw_detail = aboutFlaw(flaw, error.certificate()).toStdString();
        }
    }
}

/// The system's authorities and these.
QSslConfiguration trusting(const std::string& authorities) {
    QSslConfiguration configuration = QSslConfiguration::defaultConfiguration();
    configuration.addCaCertificates(
        QSslCertificate::fromData(QByteArray::fromStdString(authorities), QSsl::Pem));
    return configuration;
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
    if (!asked.authorities.empty()) {
        request.setSslConfiguration(trusting(asked.authorities));
    }
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
        const auto limitOr = [&asked](std::chrono::milliseconds limit) {
            return limit.count() > 0 ? limit : asked.silence_limit;
        };
        std::chrono::milliseconds limit = limitOr(asked.connect_limit);
        const auto awake = [&] { silence.start(timerTime(limit)); };
        const auto sent = [&] {
            if (!has_head_) {
                limit = limitOr(asked.first_byte_limit);
                awake();
            }
        };
        QObject::connect(reply_, &QNetworkReply::requestSent, &loop_, sent);
        QObject::connect(reply_, &QNetworkReply::uploadProgress, &loop_,
                         [sent](qint64 bytes) { bytes > 0 ? sent() : void(); });
        QObject::connect(&silence, &QTimer::timeout, &loop_, [&] {
            // The sink may have taken all that time.
            reply_->bytesAvailable() > 0 ? awake() : end(HttpEnd::Kind::Silence);
        });
        QObject::connect(&total, &QTimer::timeout, &loop_, [this] { end(HttpEnd::Kind::TooLong); });
        QObject::connect(reply_, &QNetworkReply::metaDataChanged, &loop_, [&] {
            limit = asked.silence_limit;
            awake();
            takeHead();
        });
        QObject::connect(reply_, &QIODevice::readyRead, &loop_, [&] {
            takeBytes();
            awake();
        });
        // Only listened to: nothing in here ever ignores one.
        QObject::connect(reply_, &QNetworkReply::sslErrors, &loop_,
                         [this](const QList<QSslError>& errors) { takeFlaw(errors, tls_); });
        QObject::connect(reply_, &QNetworkReply::finished, &loop_, [this] { loop_.quit(); });
        awake();
        takeBytes(); // of an answer that was begun before
        if (has_head_) {
            limit = asked.silence_limit;
            awake();
        }
        if (asked.total_limit.count() > 0) {
            total.start(timerTime(asked.total_limit));
        }
        {
            const std::stop_callback wake(stop, [this] {
                QMetaObject::invokeMethod(
                    &loop_, [this] { end(HttpEnd::Kind::Cancelled); }, Qt::QueuedConnection);
            });
            if (!reply_->isFinished() && !end_.has_value() && !stop.stop_requested()) {
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
                               (error != QNetworkReply::ProtocolInvalidOperationError ||
                                is_refusal_) && // also Qt's word for status 400
                               error != QNetworkReply::ProtocolFailure;
        if (has_head_ && (error == QNetworkReply::NoError || is_status)) {
            return {HttpEnd::Kind::Done};
        }
        HttpEnd end = {error == QNetworkReply::NoError ? HttpEnd::Kind::Malformed : kindOf(error),
                       reply_->errorString().toStdString()};
        if (end.kind == HttpEnd::Kind::Tls) {
            end.flaw = tls_.flaw;
            end.flaw_detail = tls_.flaw_detail;
        }
        return end;
    }

    void takeHead() {
        const QVariant status = reply_->attribute(QNetworkRequest::HttpStatusCodeAttribute);
        if (has_head_ || !status.isValid() || end_.has_value()) {
            return;
        }
        has_head_ = true;
        HttpHead head;
        head.status = status.toInt();
        is_refusal_ = head.status >= 400;
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
            if (reply_->bytesAvailable() == 0) {
                return;
            }
            const std::span<std::byte> room = sink_.room();
            const std::span<std::byte> to = room.empty() ? std::span(piece_) : room;
            const qint64 n =
                reply_->read(reinterpret_cast<char*>(to.data()), static_cast<qint64>(to.size()));
            if (n <= 0) {
                return;
            }
            if (!sink_.onBytes(to.first(static_cast<size_t>(n)))) {
                end(HttpEnd::Kind::Sink);
            }
        }
    }

    QNetworkReply* reply_;
    HttpSink& sink_;
    QEventLoop loop_;
    std::vector<std::byte> piece_;
    std::optional<HttpEnd> end_;
    HttpEnd tls_; ///< What is wrong with the certificate.
    bool has_head_ = false;
    bool is_refusal_ = false; ///< Its status is one.
};

/// A body that can be sent once. Where a connection ends before the answer Qt would send a request
/// that it can read again up to three times, and whoever asks a model would ask it three times.
class BodyOnce : public QIODevice {
public:
    explicit BodyOnce(const std::string& body) : body_(body) { open(QIODevice::ReadOnly); }
    bool isSequential() const override { return true; }
    bool reset() override { return false; }
    bool atEnd() const override { return at_ == body_.size() && QIODevice::atEnd(); }
    qint64 bytesAvailable() const override {
        return static_cast<qint64>(body_.size() - at_) + QIODevice::bytesAvailable();
    }

protected:
    qint64 readData(char* data, qint64 most) override {
        const size_t n = body_.copy(data, static_cast<size_t>(std::max<qint64>(most, 0)), at_);
        at_ += n;
        return n == 0 && most > 0 ? -1 : static_cast<qint64>(n);
    }
    qint64 writeData(const char* /*data*/, qint64 /*most*/) override { return -1; }

private:
    const std::string& body_;
    size_t at_ = 0;
};

/// Whether a ban counts for addresses of this computer.
enum class OwnComputer : uint8_t { Forbidden = 1, NeverForbidden };

class QtHttp : public HttpClient {
public:
    QtHttp(ForbiddenBy forbidden_by, OwnComputer own)
        : forbidden_by_(std::move(forbidden_by)), own_(own) {}

    HttpEnd run(const HttpRequest& request, HttpSink& sink, std::stop_token stop) override {
        if (std::string ban = banOn(request); !ban.empty()) {
            return {HttpEnd::Kind::Forbidden, std::move(ban)};
        }
        BodyOnce body(request.body); // outlives the reply
        const Reply reply = begun(request, body);
        return Exchange(reply.get(), sink).run(request, stop);
    }

    void prepare(const HttpRequest& next) override {
        if (banOn(next).empty()) {
            next_ = {next.url, next.headers, get(next)};
        }
    }

private:
    /// One that nobody waits for ends.
    struct Leave {
        void operator()(QNetworkReply* reply) const {
            QObject::disconnect(reply, nullptr, nullptr, nullptr);
            if (!reply->isFinished()) {
                reply->abort();
            }
            delete reply;
        }
    };
    using Reply = std::unique_ptr<QNetworkReply, Leave>;

    struct Prepared {
        std::string url;
        std::vector<models::hub::HttpHeader> headers;
        Reply reply;
    };

    Reply begun(const HttpRequest& request, BodyOnce& body) {
        Prepared prepared = std::exchange(next_, {});
        if (prepared.reply != nullptr && !request.is_post && prepared.url == request.url &&
            prepared.headers == request.headers) {
            return std::move(prepared.reply);
        }
        prepared.reply.reset();
        return request.is_post ? post(request, body) : get(request);
    }

    /// Who forbids the request, or "".
    std::string banOn(const HttpRequest& request) const {
        return own_ == OwnComputer::NeverForbidden && isHere(request) ? std::string()
                                                                      : forbidden_by_();
    }

    static bool isHere(const HttpRequest& request) {
        const auto url = models::hub::parseUrl(request.url);
        return url.has_value() && url->isLoopback();
    }

    /// What is on this computer is reached without anybody in between.
    void chooseProxy(const HttpRequest& request) {
        manager_.setProxy(isHere(request) ? QNetworkProxy::NoProxy : QNetworkProxy::DefaultProxy);
    }

    Reply get(const HttpRequest& request) {
        chooseProxy(request);
        Reply reply(manager_.get(qtRequest(request)));
        reply->setReadBufferSize(kReadAhead);
        return reply;
    }

    Reply post(const HttpRequest& asked, BodyOnce& body) {
        chooseProxy(asked);
        QNetworkRequest request = qtRequest(asked);
        request.setHeader(QNetworkRequest::ContentLengthHeader,
                          static_cast<qint64>(asked.body.size()));
        request.setAttribute(QNetworkRequest::DoNotBufferUploadDataAttribute, true);
        Reply reply(manager_.post(request, &body));
        reply->setReadBufferSize(kReadAhead);
        return reply;
    }

    ForbiddenBy forbidden_by_;
    OwnComputer own_;
    QNetworkAccessManager manager_;
    Prepared next_; ///< Before manager_ it ends.
};

models::hub::HttpClientFactory factory(ForbiddenBy forbidden_by, OwnComputer own) {
    followSystemProxies();
    return [forbidden_by = std::move(forbidden_by), own] {
        return std::make_unique<QtHttp>(forbidden_by, own);
    };
}

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

models::hub::HttpClientFactory qtHttp(ForbiddenBy forbidden_by) {
    return factory(std::move(forbidden_by), OwnComputer::Forbidden);
}

models::hub::HttpClientFactory serverHttp(ForbiddenBy forbidden_by) {
    return factory(std::move(forbidden_by), OwnComputer::NeverForbidden);
}

} // namespace app
