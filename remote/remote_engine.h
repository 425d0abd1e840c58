// SPDX-License-Identifier: Apache-2.0
// An engine on a server with OpenAI's API (vLLM, SGLang, llama-server, Belfry's own, others). A
// model is "https://host/v1#name" (engine/api/model_address.h); to load it is to find it in the
// server's list, which takes no memory here. What a server cannot do is said by its capabilities.
#pragma once

#include "engine/client/engine_client.h"

#include <memory>
#include <string>

#include "models/hub/http.h"
#include "remote/connection.h"
#include "remote/model_list.h"

namespace remote {

/// The models of a server. Where its address lacks "/v1", that is tried as well and put into
/// `connection`. Errors: statusError(), endError(), readModelList(); Cancelled.
engine::Result<ModelList> listModels(const models::hub::HttpClientFactory& make_http,
                                     Connection& connection,
                                     const std::string& user_agent,
                                     const std::stop_token& stop);

class RemoteEngine final : public engine::EngineClient {
public:
    struct Options {
        models::hub::HttpClientFactory make_http;
        ConnectionSource connections;
        std::string user_agent; ///< "belfry/0.2.0"
    };

    explicit RemoteEngine(Options options) : options_(std::move(options)) {}

    [[nodiscard]] engine::Capabilities capabilities() const override;
    engine::Result<engine::ModelSummary> inspect(const std::string& model,
                                                 const std::vector<std::string>& adapters) override;
    engine::Result<void> load(const engine::LoadRequest& request,
                              const engine::ProgressCallback& progress,
                              const std::stop_token& stop) override;
    void unload() override;
    [[nodiscard]] bool isLoaded() const override { return summary_ != nullptr; }
    [[nodiscard]] const engine::LoadRequest& loadedRequest() const override { return request_; }
    [[nodiscard]] std::shared_ptr<const engine::ModelSummary> summary() const override {
        return summary_;
    }
    [[nodiscard]] double loadSeconds() const override { return load_s_; }
    [[nodiscard]] std::vector<engine::Sentence> loadNotes() const override { return {}; }
    /// Tokens of the last question and reply, as the server counted them.
    [[nodiscard]] std::pair<int64_t, int64_t> contextUse() const override;
    /// A reply that is broken off ends with an error ("rule" = RemoteInterrupted and others); what
    /// came before was given to `delta`.
    engine::Result<engine::Reply> generate(const engine::GenerateRequest& request,
                                           const engine::UpdateCallback& delta,
                                           const std::stop_token& stop) override;
    /// Reads the headers of the files; whether the model takes them only the server knows.
    engine::Result<void> checkMedia(const std::string& model,
                                    const std::vector<std::string>& images,
                                    const std::vector<std::string>& audios) const override;
    /// Cost of what is sent; the tokens are the server's to count.
    engine::Result<engine::MediaCost> mediaCost(const engine::MessagePart& part,
                                                int64_t image_tokens) override;

private:
    /// What is known of a model after its server was asked.
    struct Found {
        Connection connection;
        Product product = Product::Other;
        engine::ModelSummary summary;
    };
    engine::Result<Found> find(const std::string& model, const std::stop_token& stop);

    Options options_;
    Connection connection_;
    Product product_ = Product::Other;
    std::string name_; ///< The server's, of the model.
    engine::LoadRequest request_;
    std::shared_ptr<const engine::ModelSummary> summary_;
    double load_s_ = 0.0;
    int64_t context_used_ = 0;
};

/// What any server can do, as told before one is asked.
engine::Capabilities serverCapabilities(const std::string& host, Product product);

} // namespace remote
