// SPDX-License-Identifier: Apache-2.0
// GET /v1/models of any server with OpenAI's API. vLLM lists adapters as models with a parent.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace remote {

/// Which program answers, as far as it says so; decides wording and optional fields only.
enum class Product : uint8_t { Other = 1, Vllm, Sglang, LlamaServer, Belfry };

/// "vLLM", "SGLang", "llama-server", "Belfry"; empty for Other.
std::string_view productName(Product product);
/// Takes top_k, min_p, repetition_penalty and chat_template_kwargs; others may refuse them.
bool takesExtensions(Product product);

struct ServerModel {
    std::string id;
    std::string parent;      ///< For an adapter: the model below it.
    int64_t max_context = 0; ///< Tokens; 0 = not told.
};

struct ModelList {
    Product product = Product::Other;
    std::vector<ServerModel> models;

    [[nodiscard]] const ServerModel* find(std::string_view id) const;
};

/// Entries without a usable name are left out. Errors: as answerError().
engine::Result<ModelList> readModelList(std::string_view json, const std::string& host);

} // namespace remote
