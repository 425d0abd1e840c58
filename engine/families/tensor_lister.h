// SPDX-License-Identifier: Apache-2.0
// For the families' lists of tensors.
#pragma once

#include "engine/families/gemma4/names.h"
#include "engine/model/tensor_entry.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

/// Appends tensors of one module.
class Lister {
public:
    explicit Lister(std::vector<ExpectedTensor>& out) : out_(out) {}

    void enter(Part part) {
        part_ = part;
        module_ = partName(part);
        prefix_ = module_;
        tower_ = isVision(part) ? Tower::Vision : isAudio(part) ? Tower::Audio : Tower::Language;
        layer_ = part.layer;
    }
    /// Names that follow begin with `prefix` while the module stays.
    void setPrefix(std::string prefix) { prefix_ = std::move(prefix); }
    void setLayer(int layer) { layer_ = layer; }

    ExpectedTensor& add(std::string_view name,
                        TensorKind kind,
                        std::vector<int64_t> shape,
                        TensorSlot slot,
                        int slot_index = 0) {
        ExpectedTensor tensor;
        tensor.slot = slot;
        tensor.slot_index = slot_index;
        tensor.name = prefix_ + "." + std::string(name);
        tensor.module = module_;
        tensor.shape = std::move(shape);
        tensor.kind = kind;
        tensor.tower = tower_;
        tensor.part = part_;
        tensor.use = tensorUseOfName(tensor.name);
        tensor.layer = layer_;
        out_.push_back(std::move(tensor));
        return out_.back();
    }

    ExpectedTensor& norm(std::string_view name, int64_t size, TensorSlot slot, int index = 0) {
        return add(std::string(name) + ".weight", TensorKind::Vector, {size}, slot, index);
    }

    ExpectedTensor&
    linear(std::string_view name, int64_t out, int64_t in, TensorSlot slot, int index = 0) {
        return add(std::string(name) + ".weight", TensorKind::Linear, {out, in}, slot, index);
    }

    /// A linear inside the wrapper that clamps its input and output.
    void wrappedLinear(std::string_view name,
                       int64_t out,
                       int64_t in,
                       bool is_clipped,
                       TensorSlot slot,
                       int index = 0) {
        linear(std::string(name) + ".linear", out, in, slot, index);
        if (!is_clipped) {
            return;
        }
        constexpr std::array<std::pair<const char*, ClipEnd>, 4> kEnds = {
            {{".input_min", ClipEnd::InputMin},
             {".input_max", ClipEnd::InputMax},
             {".output_min", ClipEnd::OutputMin},
             {".output_max", ClipEnd::OutputMax}}};
        for (const auto& [suffix, end] : kEnds) {
            ExpectedTensor& scalar =
                add(std::string(name) + suffix, TensorKind::ClipScalar, {}, slot, index);
            scalar.is_required = false;
            scalar.clip = end;
        }
    }

private:
    std::vector<ExpectedTensor>& out_;
    Part part_;
    std::string module_, prefix_;
    Tower tower_ = Tower::Language;
    int layer_ = -1;
};

} // namespace engine
