// SPDX-License-Identifier: Apache-2.0
#include "remote/model_list.h"

#include "engine/base/json/tree.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "remote/server_error.h"

namespace remote {

using engine::Json;
using engine::phrase;
using engine::Result;
using engine::said;

namespace {

constexpr size_t kMostModels = 10'000;
constexpr size_t kLongestName = 512;
constexpr int64_t kMostContext = int64_t{1} << 30;

constexpr std::array<std::pair<std::string_view, Product>, 4> kOwners = {{
    {"vllm", Product::Vllm},
    {"sglang", Product::Sglang},
    {"llamacpp", Product::LlamaServer},
    {"belfry", Product::Belfry},
}};

bool isName(std::string_view name) {
    return !name.empty() && name.size() <= kLongestName &&
           std::none_of(name.begin(), name.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20U || c == 0x7f; });
}

int64_t contextOf(const Json& item) {
    const Json* const meta = item.find("meta"); // llama-server
    for (const auto& [object, key] :
         {std::pair{&item, "max_model_len"}, std::pair{&item, "context_length"},
          std::pair{meta, "n_ctx"}, std::pair{meta, "n_ctx_train"}}) {
        const Json* const value = object == nullptr ? nullptr : object->find(key);
        const auto tokens = value == nullptr ? std::nullopt : value->integer();
        if (tokens.has_value() && *tokens > 0 && *tokens <= kMostContext) {
            return *tokens;
        }
    }
    return 0;
}

} // namespace

std::string_view productName(Product product) {
    switch (product) {
    case Product::Vllm:
        return "vLLM";
    case Product::Sglang:
        return "SGLang";
    case Product::LlamaServer:
        return "llama-server";
    case Product::Belfry:
        return "Belfry";
    case Product::Other:
        break;
    }
    return "";
}

bool takesExtensions(Product product) {
    return product != Product::Other;
}

const ServerModel* ModelList::find(std::string_view id) const {
    const auto found = std::find_if(models.begin(), models.end(),
                                    [id](const ServerModel& model) { return model.id == id; });
    return found == models.end() ? nullptr : &*found;
}

Result<ModelList> readModelList(std::string_view json, const std::string& host) {
    Json root;
    const engine::JsonOutcome outcome = engine::readJsonTree(json, {}, root);
    if (outcome.stop != engine::JsonStop::Done) {
        return answerError(host, phrase("its list of models is no JSON"));
    }
    const Json* data = root.is(Json::Kind::Array) ? &root : root.find("data");
    if (data == nullptr || !data->is(Json::Kind::Array)) {
        return answerError(host, phrase("its list of models has no list \"data\""));
    }
    ModelList list;
    std::set<std::string> seen;
    for (const Json& item : data->items) {
        ServerModel model;
        model.id = engine::textOf(item, "id");
        model.parent = engine::textOf(item, "parent");
        model.max_context = contextOf(item);
        if (!isName(model.id) || list.models.size() >= kMostModels ||
            !seen.insert(model.id).second) {
            continue;
        }
        const std::string owner = engine::textOf(item, "owned_by");
        for (const auto& [name, product] : kOwners) {
            if (owner == name) {
                list.product = product;
            }
        }
        list.models.push_back(std::move(model));
    }
    return list;
}

} // namespace remote
