// SPDX-License-Identifier: Apache-2.0
// What `belfry-cli compare` found of a model in one precision beside another one, as it is kept
// (models/comparisons.h) and shown in the load form.
#pragma once

#include <cstdint>
#include <string>

namespace engine {

struct Comparison {
    std::string model;       ///< The file or folder that was judged, without links; UTF-8.
    uint64_t bytes = 0;      ///< Size of its weights: another file of that name is another model.
    std::string quant;       ///< As LoadRequest::quant.
    std::string reference;   ///< The precision beside it: "bfloat16", "nf4", "Q8_0".
    std::string other_model; ///< Name of the model beside it; empty: the same one.
    std::string text_sha256; ///< The text that both read.
    std::string date;        ///< "2026-11-30".
    int64_t tokens = 0;      ///< That were predicted.
    double same_top = 0;     ///< Share of them whose likeliest token is the same.
    double divergence = 0;   ///< Mean KL(reference || this), in nats.
    double perplexity = 0;
    double reference_perplexity = 0;

    friend bool operator==(const Comparison&, const Comparison&) = default;
};

} // namespace engine
