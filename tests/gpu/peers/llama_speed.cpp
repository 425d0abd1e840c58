// SPDX-License-Identifier: Apache-2.0
// Speed of llama.cpp through its own library, for the table of tests/gpu/peers: prefill of N
// tokens into an empty context, decode of T tokens at a depth, the same with an adapter; every
// layer on the card, flash attention on, the library's defaults otherwise. One JSON object per
// figure on stdout. CONTEXT 0: as small as the lengths allow.
// Usage: llama_speed MODEL.gguf PREFILL,... DECODE DEPTH,... REPEATS [CONTEXT [ADAPTER.gguf]]
// LLAMA_SPEED_CPU=N: also without a card, on N threads, to see that it works.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ggml-backend.h"
#include "llama.h"

namespace {

std::vector<int> numbers(const std::string& text) {
    std::vector<int> out;
    for (size_t at = 0; at <= text.size();) {
        const size_t comma = std::min(text.find(',', at), text.size());
        out.push_back(std::atoi(text.substr(at, comma - at).c_str()));
        at = comma + 1;
    }
    return out;
}

llama_token someToken(unsigned* state) {
    *state = *state * 1664525U + 1013904223U;
    return static_cast<llama_token>(300 + (*state >> 8U) % 200000U);
}

/// Reads `count` tokens in batches of the context's size. False when the library refuses.
bool prefill(llama_context* context, int count, unsigned* state) {
    const int batch_size = static_cast<int>(llama_n_batch(context));
    while (count > 0) {
        std::vector<llama_token> tokens(static_cast<size_t>(std::min(count, batch_size)));
        for (llama_token& token : tokens) {
            token = someToken(state);
        }
        if (llama_decode(context, llama_batch_get_one(tokens.data(),
                                                      static_cast<int32_t>(tokens.size()))) != 0) {
            return false;
        }
        count -= static_cast<int>(tokens.size());
    }
    llama_synchronize(context);
    return true;
}

bool decode(llama_context* context, int count, unsigned* state) {
    for (int i = 0; i < count; ++i) {
        llama_token token = someToken(state);
        if (llama_decode(context, llama_batch_get_one(&token, 1)) != 0) {
            return false;
        }
        llama_synchronize(context);
    }
    return true;
}

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0.0 : values[values.size() / 2];
}

size_t freeOnCard() {
    size_t free = 0;
    size_t total = 0;
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        if (ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_GPU) {
            ggml_backend_dev_memory(device, &free, &total);
            return free;
        }
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 6 || argc > 8) {
        std::fprintf(stderr, "usage: llama_speed MODEL.gguf PREFILL,... DECODE DEPTH,... REPEATS "
                             "[CONTEXT [ADAPTER.gguf]]\n");
        return 2;
    }
    llama_log_set(
        [](ggml_log_level level, const char* text, void*) {
            if (level >= GGML_LOG_LEVEL_WARN) {
                std::fputs(text, stderr);
            }
        },
        nullptr);
    const std::vector<int> lengths = numbers(argv[2]);
    const int tokens = std::atoi(argv[3]);
    const std::vector<int> depths = numbers(argv[4]);
    const int repeats = std::atoi(argv[5]);
    llama_backend_init();
    const size_t free_before = freeOnCard();
    if (free_before == 0 && std::getenv("LLAMA_SPEED_CPU") == nullptr) {
        std::fprintf(stderr, "llama_speed: this build of llama.cpp sees no card\n");
        return 77;
    }
    auto start = std::chrono::steady_clock::now();
    llama_model_params model_parameters = llama_model_default_params();
    model_parameters.n_gpu_layers = 99;
    llama_model* model = llama_model_load_from_file(argv[1], model_parameters);
    if (model == nullptr) {
        std::fprintf(stderr, "llama_speed: %s was not loaded\n", argv[1]);
        return 1;
    }
    std::printf("{\"case\": \"load\", \"seconds\": %.3f}\n", since(start));
    const int deepest = *std::max_element(depths.begin(), depths.end());
    const int longest = *std::max_element(lengths.begin(), lengths.end());
    llama_context_params parameters = llama_context_default_params();
    parameters.n_ctx = static_cast<uint32_t>(
        std::max(std::max(deepest + tokens, longest) + 64, argc > 6 ? std::atoi(argv[6]) : 0));
    parameters.n_batch = 2048;
    parameters.n_ubatch = 512;
    parameters.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    if (const char* threads = std::getenv("LLAMA_SPEED_CPU")) {
        parameters.n_threads = parameters.n_threads_batch = std::atoi(threads);
    }
    parameters.swa_full = false; // as its command line tools do
    llama_context* context = llama_init_from_model(model, parameters);
    if (context == nullptr) {
        std::fprintf(stderr, "llama_speed: no context of %u tokens\n", parameters.n_ctx);
        return 1;
    }
    llama_memory_t memory = llama_get_memory(context);
    unsigned state = 1;
    const auto empty = [&] { llama_memory_clear(memory, true); };
    const auto decodeAt = [&](int depth, const char* name) {
        std::vector<double> rates;
        empty();
        if (depth > 0 && !prefill(context, depth, &state)) {
            return false;
        }
        for (int i = 0; i < repeats + 1; ++i) {
            // Back to the depth: decoded tokens of the last run are dropped.
            llama_memory_seq_rm(memory, -1, depth, -1);
            const int count = i == 0 ? 8 : tokens;
            start = std::chrono::steady_clock::now();
            if (!decode(context, count, &state)) {
                return false;
            }
            if (i > 0) {
                rates.push_back(count / since(start));
            }
        }
        std::printf("{\"case\": \"%s\", \"depth\": %d, \"tokens_per_s\": %.2f}\n", name, depth,
                    median(rates));
        std::fflush(stdout);
        return true;
    };
    for (const int length : lengths) {
        std::vector<double> rates;
        for (int i = 0; i < repeats + 1; ++i) { // the first run warms up
            empty();
            start = std::chrono::steady_clock::now();
            if (!prefill(context, length, &state)) {
                return 1;
            }
            if (i > 0) {
                rates.push_back(length / since(start));
            }
        }
        std::printf("{\"case\": \"prefill\", \"tokens\": %d, \"tokens_per_s\": %.1f}\n", length,
                    median(rates));
        std::fflush(stdout);
    }
    for (const int depth : depths) {
        if (!decodeAt(depth, "decode")) {
            return 1;
        }
    }
    std::printf("{\"case\": \"memory\", \"card_mib\": %.0f}\n",
                static_cast<double>(free_before - freeOnCard()) / 1048576.0);
    if (argc > 7) {
        llama_adapter_lora* adapter = llama_adapter_lora_init(model, argv[7]);
        float strength = 1.0F;
        if (adapter == nullptr || llama_set_adapters_lora(context, &adapter, 1, &strength) != 0) {
            std::fprintf(stderr, "llama_speed: the adapter %s was not loaded\n", argv[7]);
            return 1;
        }
        if (!decodeAt(0, "adapter")) {
            return 1;
        }
    }
    llama_free(context);
    llama_model_free(model);
    return 0;
}
