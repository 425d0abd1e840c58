// SPDX-License-Identifier: Apache-2.0
// Broken config.json and processor_config.json files: one member of a
// sound configuration replaced or removed at a time, and texts that are no configuration at all.
#pragma once

#include "tests/engine/files/malformed_case.h"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace support {

struct ConfigTexts {
    std::string config, processor; ///< Texts of the sound folder.
};

inline std::vector<MalformedCase> malformedConfigs(const ConfigTexts& sound) {
    using nlohmann::json;
    std::vector<MalformedCase> cases;
    const std::string config = "config.json";
    const auto raw = [&](const std::string& name, const std::string& file,
                         const std::string& content, const std::string& rule,
                         const std::string& expected) {
        cases.push_back({name, {{file, content}}, expected, rule});
    };
    const auto sound_text = [&](const std::string& file) {
        return file == config ? sound.config : sound.processor;
    };
    // Sets the member at `pointer` to the JSON text `value`; an empty value removes it.
    const auto set = [&](const std::string& file, const std::string& pointer,
                         const std::string& value, const std::string& rule,
                         const std::string& expected) {
        json document = json::parse(sound_text(file));
        const json::json_pointer where(pointer);
        if (value.empty()) {
            document[where.parent_pointer()].erase(where.back());
        } else {
            document[where] = json::parse(value);
        }
        const std::string shown = value.size() > 40 ? value.substr(0, 40) + "..." : value;
        raw(file + " " + pointer + (value.empty() ? " missing" : " = " + shown), file,
            document.dump(), rule, expected);
    };

    // Whole files.
    for (const std::string file : {"config.json", "processor_config.json"}) {
        raw(file + ": not JSON", file, "model_type: gemma4", "JsonSyntax",
            file + ": not valid JSON: expected a value (at byte 0)");
        raw(file + ": cut short", file, sound_text(file).substr(0, 100), "JsonSyntax",
            file + ": not valid JSON: the text ends");
        raw(file + ": not UTF-8", file, "{\"model_type\":\"\xff\"}", "JsonUtf8",
            file + ": the text is not UTF-8");
        raw(file + ": a list", file, "[]", "ConfigType", file + ": is a list, expected an object");
        raw(file + ": a number", file, "4", "ConfigType", file + ": is 4, expected an object");
        raw(file + ": nested too deep", file, "{\"a\":" + std::string(10'000, '['), "JsonDepth",
            file + ": nested deeper than 16 levels");
        raw(file + ": member twice", file, "{\"top_k\":1,\"top_k\":1}", "JsonDuplicate",
            file + ": the member \"top_k\" occurs twice");
        raw(file + ": larger than 4 MiB", file, std::string((size_t{4} << 20) + 1, ' '),
            "FileTooLarge", file + ": has 4194305 bytes");
        raw(file + ": NaN", file, "{\"temperature\":NaN}", "JsonSyntax",
            file + ": not valid JSON: expected a value (at byte 15)");
        raw(file + ": trailing comma", file, "{\"top_k\":1,}", "JsonSyntax",
            file + ": not valid JSON: expected a member name");
        raw(file + ": byte-order mark", file, "\xef\xbb\xbf" + sound_text(file), "JsonSyntax",
            file + ": not valid JSON: expected a value");
        raw(file + ": huge exponent", file, "{\"top_p\":1e999}", "JsonNumber",
            file + ": holds a number that no double can hold");
    }
    raw("config.json missing", config, kRemoved, "FileMissing",
        "there is no such file in the folder");
    raw("config.json empty", config, "", "JsonSyntax", "config.json: the file is empty");
    raw("config.json without members", config, "{}", "ConfigMissing",
        "model_type is missing, and so is architectures");

    // Which models.
    const std::string unsupported = "ConfigUnsupported";
    set(config, "/model_type", "\"llama\"", unsupported,
        "model_type is \"llama\": a model of another kind");
    set(config, "/model_type", "\"gemma3\"", unsupported,
        "model_type is \"gemma3\": a model of another kind");
    set(config, "/model_type", "\"gemma3n\"", unsupported,
        "model_type is \"gemma3n\": a model of another kind");
    set(config, "/model_type", "\"gemma4_unified\"", unsupported,
        "encoder-free 12B (unified) variant");
    set(config, "/model_type", "\"gemma4_assistant\"", unsupported,
        "a speculative-decoding assistant");
    set(config, "/model_type", "4", "ConfigType", "model_type is 4, expected a text");
    set(config, "/architectures", "[\"Gemma4ForTokenClassification\"]", unsupported,
        "architectures is \"Gemma4ForTokenClassification\"");
    set(config, "/architectures", "\"Gemma4\"", "ConfigType",
        "architectures is \"Gemma4\", expected a list");
    set(config, "/architectures", "[4]", "ConfigType",
        "architectures holds 4, expected only texts");
    set(config, "/text_config", "", "ConfigMissing", "text_config is missing, expected an object");
    set(config, "/text_config", "[]", "ConfigType", "text_config is a list, expected an object");
    set(config, "/text_config/model_type", "\"gemma3_text\"", unsupported,
        "text_config.model_type is \"gemma3_text\"");
    set(config, "/vision_config", "7", "ConfigType", "vision_config is 7, expected an object");
    set(config, "/vision_config/model_type", "\"siglip_vision_model\"", unsupported,
        "vision_config.model_type is \"siglip_vision_model\"");
    set(config, "/audio_config", "true", "ConfigType", "audio_config is true, expected an object");
    set(config, "/audio_config/model_type", "\"whisper\"", unsupported,
        "audio_config.model_type is \"whisper\"");
    set(config, "/tie_word_embeddings", "\"yes\"", "ConfigType", "tie_word_embeddings is \"yes\"");

    // Numbers of the language model: missing, of another type, out of range.
    struct Range {
        const char* key;
        const char* min;
        const char* max;
        bool is_required;
    };
    const Range ranges[] = {{"num_hidden_layers", "1", "1024", true},
                            {"hidden_size", "1", "65536", true},
                            {"intermediate_size", "1", "1048576", true},
                            {"num_attention_heads", "1", "1024", true},
                            {"num_key_value_heads", "1", "4", true},
                            {"vocab_size", "1", "16777216", false},
                            {"head_dim", "2", "4096", false},
                            {"sliding_window", "1", "134217728", false},
                            {"max_position_embeddings", "1", "134217728", false},
                            {"hidden_size_per_layer_input", "0", "65536", false}};
    for (const Range& range : ranges) {
        const std::string pointer = std::string("/text_config/") + range.key;
        const std::string name = std::string("text_config.") + range.key;
        const std::string wanted =
            std::string(", expected a whole number from ") + range.min + " to " + range.max;
        if (range.is_required) {
            set(config, pointer, "", "ConfigMissing", name + " is missing");
        }
        set(config, pointer, "-1", "ConfigRange", name + " is -1" + wanted);
        set(config, pointer, "1000000000", "ConfigRange", name + " is 1000000000" + wanted);
        set(config, pointer, "18446744073709551615", "ConfigRange",
            name + " is 18446744073709551615");
        set(config, pointer, "2.5", "ConfigType", name + " is 2.5" + wanted);
        set(config, pointer, "\"64\"", "ConfigType", name + " is \"64\"" + wanted);
        set(config, pointer, "[]", "ConfigType", name + " is a list" + wanted);
    }
    set(config, "/text_config/num_hidden_layers", "0", "ConfigRange",
        "num_hidden_layers is 0, expected");
    set(config, "/text_config/hidden_size", "0", "ConfigRange",
        "text_config.hidden_size is 0, expected");
    set(config, "/text_config/vocab_size", "0", "ConfigRange",
        "text_config.vocab_size is 0, expected");
    set(config, "/text_config/num_key_value_heads", "3", "ConfigRange",
        "3 key/value heads, which do not divide its 4 query heads");
    set(config, "/text_config/head_dim", "17", "ConfigRange",
        "head_dim is 17, expected an even number");
    set(config, "/text_config/num_kv_shared_layers", "10", "ConfigRange",
        "num_kv_shared_layers is 10, expected a whole number from 0 to 9");
    set(config, "/text_config/num_kv_shared_layers", "8", "ConfigRange",
        "num_kv_shared_layers is 8: layer 4 shares keys and values, but no layer of its type "
        "before");
    set(config, "/text_config/rms_norm_eps", "0", "ConfigRange",
        "text_config.rms_norm_eps is 0, expected a number");
    set(config, "/text_config/rms_norm_eps", "-1e-6", "ConfigRange", "rms_norm_eps is -1e-06");
    set(config, "/text_config/final_logit_softcapping", "-30", "ConfigRange",
        "final_logit_softcapping is -30");
    set(config, "/text_config/final_logit_softcapping", "0", "ConfigRange",
        "final_logit_softcapping is 0");
    set(config, "/text_config/pad_token_id", "1024", "ConfigRange",
        "pad_token_id is 1024, expected a whole number from 0 to 1023");
    set(config, "/text_config/bos_token_id", "-2", "ConfigRange", "bos_token_id is -2");
    set(config, "/text_config/vocab_size_per_layer_input", "1000", "ConfigRange",
        "vocab_size_per_layer_input is 1000, vocab_size is 1024");
    set(config, "/text_config/hidden_activation", "\"relu\"", unsupported,
        "text_config.hidden_activation is \"relu\"");
    set(config, "/text_config/attention_bias", "true", unsupported,
        "text_config.attention_bias is true");
    set(config, "/text_config/attention_bias", "1", "ConfigType",
        "text_config.attention_bias is 1, expected true or false");
    set(config, "/text_config/use_bidirectional_attention", "\"all\"", unsupported,
        "use_bidirectional_attention is \"all\"");
    set(config, "/text_config/use_bidirectional_attention", "true", unsupported,
        "use_bidirectional_attention is true");

    // Layers.
    set(config, "/text_config/layer_types", "[\"full_attention\"]", "ConfigRange",
        "layer_types has 1 entries, num_hidden_layers is 10");
    set(config, "/text_config/layer_types/3", "\"chunked_attention\"", unsupported,
        "layer_types holds \"chunked_attention\"");
    set(config, "/text_config/layer_types/3", "5", "ConfigType",
        "layer_types holds 5, expected only texts");
    set(config, "/text_config/layer_types", "{}", "ConfigType",
        "layer_types is an object, expected a list");
    set(config, "/text_config/per_layer_config", "[]", "ConfigType",
        "per_layer_config is a list, expected an object");
    set(config, "/text_config/per_layer_config/10", "{}", "ConfigRange",
        "per_layer_config.10 is not a layer index from 0 to 9");
    set(config, "/text_config/per_layer_config/-1", "{}", "ConfigRange",
        "per_layer_config.-1 is not a layer index");
    set(config, "/text_config/per_layer_config/four", "{}", "ConfigRange",
        "per_layer_config.four is not a layer index");
    set(config, "/text_config/per_layer_config/99999999999999999999", "{}", "ConfigRange",
        "per_layer_config.99999999999999999999 is not");
    set(config, "/text_config/per_layer_config/04", "{}", "ConfigDuplicate",
        "names layer 4 a second time");
    set(config, "/text_config/per_layer_config/4", "32", "ConfigType",
        "per_layer_config.4 is 32, expected an object");
    set(config, "/text_config/per_layer_config/4/sliding_window", "8", unsupported,
        "per_layer_config.4.sliding_window cannot differ between layers");
    set(config, "/text_config/per_layer_config/4/head_dim", "33", "ConfigRange",
        "per_layer_config.4.head_dim is 33, expected an even");
    set(config, "/text_config/per_layer_config/4/head_dim", "\"32\"", "ConfigType",
        "per_layer_config.4.head_dim is \"32\"");
    set(config, "/text_config/per_layer_config/9/head_dim", "64", "ConfigRange",
        "gives layer 9 other key/value sizes than layer 4, whose keys and values it reads");
    set(config, "/text_config/per_layer_config/4/num_key_value_heads", "3", "ConfigRange",
        "gives layer 4 3 key/value heads");

    // Rotary tables.
    const std::string rope = "/text_config/rope_parameters";
    set(config, rope, "3", "ConfigType", "rope_parameters is 3, expected an object");
    set(config, rope + "/full_attention/rope_type", "\"yarn\"", unsupported,
        "full_attention.rope_type is \"yarn\"");
    set(config, rope + "/full_attention/rope_theta", "0", "ConfigRange",
        "full_attention.rope_theta is 0");
    set(config, rope + "/full_attention/partial_rotary_factor", "1.5", "ConfigRange",
        "partial_rotary_factor is 1.5");
    set(config, rope + "/full_attention/factor", "0", "ConfigRange", "full_attention.factor is 0");
    set(config, rope + "/sliding_attention/rope_type", "\"llama3\"", unsupported,
        "sliding_attention.rope_type is \"llama3\"");
    set(config, rope + "/sliding_attention/partial_rotary_factor", "0.5", unsupported,
        "sliding_attention.partial_rotary_factor is not 1 with rope_type \"default\"");
    set(config, rope + "/sliding_attention/rope_theta", "\"x\"", "ConfigType",
        "sliding_attention.rope_theta is \"x\"");

    // Experts.
    set(config, "/text_config/enable_moe_block", "true", "ConfigMissing",
        "text_config.num_experts is missing");
    set(config, "/text_config/enable_moe_block", "1", "ConfigType",
        "enable_moe_block is 1, expected true or false");

    // Vision tower.
    const std::string vision = "/vision_config";
    set(config, vision + "/hidden_size", "", "ConfigMissing",
        "vision_config.hidden_size is missing");
    set(config, vision + "/hidden_size", "52", "ConfigRange",
        "vision_config.hidden_size is 52, expected num_attention_heads x head_dim = 48");
    set(config, vision + "/head_dim", "6", "ConfigRange",
        "vision_config.head_dim is 6, expected a multiple of 4");
    set(config, vision + "/num_hidden_layers", "100000", "ConfigRange",
        "vision_config.num_hidden_layers is 100000");
    set(config, vision + "/patch_size", "0", "ConfigRange", "vision_config.patch_size is 0");
    set(config, vision + "/pooling_kernel_size", "-3", "ConfigRange",
        "vision_config.pooling_kernel_size is -3");
    set(config, vision + "/position_embedding_size", "99999999", "ConfigRange",
        "position_embedding_size is 99999999");
    set(config, vision + "/num_key_value_heads", "2", unsupported,
        "vision_config.num_key_value_heads is 2; only as many");
    set(config, vision + "/hidden_activation", "\"silu\"", unsupported,
        "vision_config.hidden_activation is \"silu\"");
    set(config, vision + "/rope_parameters/rope_type", "\"linear\"", unsupported,
        "vision_config.rope_parameters.rope_type is \"linear\"");
    set(config, vision + "/use_clipped_linears", "\"true\"", "ConfigType",
        "vision_config.use_clipped_linears is \"true\"");
    set(config, vision + "/standardize", "0", "ConfigType",
        "vision_config.standardize is 0, expected true or false");

    // Audio tower.
    const std::string audio = "/audio_config";
    set(config, audio + "/num_attention_heads", "7", "ConfigRange",
        "audio_config.hidden_size is 64, expected an even multiple of num_attention_heads (7)");
    set(config, audio + "/output_proj_dims", "", "ConfigMissing",
        "audio_config.output_proj_dims is missing");
    set(config, audio + "/subsampling_conv_channels", "[128]", "ConfigRange",
        "subsampling_conv_channels has 1 entries, expected 2");
    set(config, audio + "/subsampling_conv_channels", "[128,0]", "ConfigRange",
        "subsampling_conv_channels is 0, expected");
    set(config, audio + "/attention_context_right", "4", unsupported,
        "attention_context_right is not 0");
    set(config, audio + "/attention_context_left", "1", "ConfigRange",
        "attention_context_left is 1");
    set(config, audio + "/conv_kernel_size", "65", "ConfigRange", "conv_kernel_size is 65");
    set(config, audio + "/hidden_act", "\"gelu\"", unsupported,
        "audio_config.hidden_act is \"gelu\"");
    set(config, audio + "/attention_logit_cap", "0", "ConfigRange", "attention_logit_cap is 0");
    set(config, audio + "/gradient_clipping", "\"inf\"", "ConfigType",
        "gradient_clipping is \"inf\"");

    // Token ids.
    set(config, "/image_token_id", "1024", "ConfigRange",
        "image_token_id is 1024, expected a whole number from 0 to 1023");
    set(config, "/image_token_id", "", "ConfigMissing",
        "image_token_id is missing, and its published value lies outside");
    set(config, "/audio_token_id", "-1", "ConfigRange", "audio_token_id is -1");
    set(config, "/boi_token_id", "\"<|image>\"", "ConfigType", "boi_token_id is \"<|image>\"");
    set(config, "/eoa_token_index", "", "ConfigMissing", "eoa_token_id is missing");
    set(config, "/eoa_token_id", "3", "ConfigRange", "eoa_token_index differs from eoa_token_id");

    // Quantization.
    set(config, "/quantization_config", "{\"quant_method\":\"gptq\",\"bits\":4}", unsupported,
        "quant_method is \"gptq\"");
    set(config, "/quantization_config", "{\"quant_method\":\"bitsandbytes\",\"load_in_8bit\":true}",
        unsupported, "quantization_config.load_in_8bit is true; 8-bit");
    set(config, "/quantization_config", "{\"load_in_8bit\":true,\"load_in_4bit\":true}",
        "ConfigRange", "load_in_8bit is true together with load_in_4bit");
    set(config, "/quantization_config", "{\"load_in_4bit\":true,\"bnb_4bit_quant_type\":\"int4\"}",
        unsupported, "bnb_4bit_quant_type is \"int4\"");
    set(config, "/quantization_config", "\"nf4\"", "ConfigType",
        "quantization_config is \"nf4\", expected an object");
    set(config, "/text_config/quantization_config", "{\"quant_method\":\"awq\"}", unsupported,
        "text_config.quantization_config.quant_method is \"awq\"");
    set(config, "/quantization_config",
        "{\"load_in_4bit\":true,\"llm_int8_skip_modules\":\"lm_head\"}", "ConfigType",
        "llm_int8_skip_modules is \"lm_head\", expected a list");

    // processor_config.json.
    const std::string processor = "processor_config.json";
    set(processor, "/image_processor", "[]", "ConfigType",
        "image_processor is a list, expected an object");
    set(processor, "/image_processor/max_soft_tokens", "100", "ConfigRange",
        "max_soft_tokens is 100, expected one of 70, 140, 280, 560, 1120");
    set(processor, "/image_processor/max_soft_tokens", "\"280\"", "ConfigType",
        "max_soft_tokens is \"280\"");
    set(processor, "/image_processor/patch_size", "14", unsupported,
        "image_processor.patch_size is 14; only 16");
    set(processor, "/image_processor/pooling_kernel_size", "2", unsupported,
        "image_processor.pooling_kernel_size is 2; only 3");
    set(processor, "/image_processor/resample", "2", unsupported,
        "image_processor.resample is 2; only 3");
    set(processor, "/image_processor/rescale_factor", "1.0", unsupported,
        "image_processor.rescale_factor is 1.0");
    set(processor, "/image_processor/do_normalize", "\"no\"", "ConfigType",
        "image_processor.do_normalize is \"no\"");
    set(processor, "/image_processor/do_rescale", "false", unsupported, "do_rescale is false");
    set(processor, "/feature_extractor/sampling_rate", "44100", unsupported,
        "feature_extractor.sampling_rate is 44100; only 16000");
    set(processor, "/feature_extractor/frame_length", "400", unsupported,
        "frame_length is 400; only 320");
    set(processor, "/feature_extractor/hop_length", "0", unsupported, "hop_length is 0; only 160");
    set(processor, "/feature_extractor/fft_length", "1024", unsupported,
        "fft_length is 1024; only 512");
    set(processor, "/feature_extractor/mel_floor", "1e-5", unsupported, "mel_floor is 1e-05");
    set(processor, "/feature_extractor/preemphasis", "0.97", unsupported, "preemphasis is 0.97");
    set(processor, "/feature_extractor/per_bin_mean", "[0.1]", unsupported, "per_bin_mean is set");
    set(processor, "/feature_extractor/feature_size", "2", "ConfigRange", "feature_size is 2");
    set(processor, "/audio_seq_length", "0", "ConfigRange", "audio_seq_length is 0");
    set(processor, "/audio_ms_per_token", "80", unsupported, "audio_ms_per_token is 80; only 40");
    return cases;
}

} // namespace support
