// SPDX-License-Identifier: Apache-2.0
// Any bytes as config.json, generation_config.json and processor_config.json (separated by a zero
// byte): an error, or sizes that hold together.
#include "engine/families/config.h"
#include "engine/families/tensor_list.h"
#include "tests/fuzz/require.h"

#include <array>

using fuzz::require;

namespace {

void checkConfig(const engine::ModelConfig& config) {
    const engine::TextConfig& text = config.text;
    require(text.layers.size() == static_cast<size_t>(text.num_layers));
    for (size_t i = 0; i < text.layers.size(); ++i) {
        const engine::LayerConfig& layer = text.layers[i];
        require(layer.kv_source >= 0 && static_cast<size_t>(layer.kv_source) <= i);
        const engine::LayerConfig& source = text.layers[static_cast<size_t>(layer.kv_source)];
        require(!source.is_kv_shared && source.type == layer.type);
        require(source.head_dim == layer.head_dim && source.num_kv_heads == layer.num_kv_heads);
        require(layer.head_dim > 0 && layer.head_dim % 2 == 0);
        require(layer.num_kv_heads > 0 && text.num_heads % layer.num_kv_heads == 0);
    }
    require(text.layers.back().type == engine::LayerType::Full);
    int64_t total = 0;
    for (const engine::ExpectedTensor& tensor : engine::listTensors(config)) {
        const int64_t elements = tensor.numElements();
        require(elements > 0 && elements <= (int64_t{1} << 44) - total);
        total += elements;
        require(engine::canonicalTensorName(tensor.name, false) == tensor.name);
    }
    for (const int64_t id : config.generation.eos_token_ids) {
        require(id >= 0 && id < text.vocab_size);
    }
    for (const int64_t id :
         {config.image_token_id, config.audio_token_id, config.video_token_id, config.boi_token_id,
          config.eoi_token_id, config.boa_token_id, config.eoa_token_id}) {
        require(id >= -1 && id < text.vocab_size);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    std::array<std::string_view, 3> texts;
    for (std::string_view& text : texts) {
        const size_t end = rest.find('\0');
        text = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    const auto config = engine::parseModelConfig(texts[0], texts[1], texts[2]);
    if (config) {
        checkConfig(*config);
    } else {
        require(!config.error().message.empty() && config.error().details[0].first == "rule");
    }
    return 0;
}
