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
    const auto inConfig = [&](const std::string& pointer, const std::string& value,
                              const std::string& expected, const char* rule = "ConfigRange") {
        set(config, pointer, value, rule, expected);
    };
    const auto inProcessor = [&](const std::string& pointer, const std::string& value,
                                 const std::string& expected, const char* rule = "ConfigRange") {
        set("processor_config.json", pointer, value, rule, expected);
    };
    const char* const missing = "ConfigMissing";
    const char* const type = "ConfigType";
    const char* const unsupported = "ConfigUnsupported";

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
    inConfig("/model_type", "\"qwen3\"", "model_type is \"qwen3\": a model of another kind",
             unsupported);
    inConfig("/model_type", "\"gemma3\"", "model_type is \"gemma3\": a model of another kind",
             unsupported);
    inConfig("/model_type", "\"gemma3n\"", "model_type is \"gemma3n\": a model of another kind",
             unsupported);
    inConfig("/model_type", "\"gemma4_unified\"",
             "\"Gemma4ForConditionalGeneration\"; Gemma4UnifiedForConditionalGeneration and "
             "Gemma4UnifiedForCausalLM are implemented",
             unsupported);
    inConfig("/model_type", "\"gemma4_assistant\"", "a speculative-decoding assistant",
             unsupported);
    inConfig("/model_type", "4", "model_type is 4, expected a text", type);
    inConfig("/architectures", "[\"Gemma4ForTokenClassification\"]",
             "architectures is \"Gemma4ForTokenClassification\"", unsupported);
    inConfig("/architectures", "\"Gemma4\"", "architectures is \"Gemma4\", expected a list", type);
    inConfig("/architectures", "[4]", "architectures holds 4, expected only texts", type);
    inConfig("/text_config", "", "text_config is missing, expected an object", missing);
    inConfig("/text_config", "[]", "text_config is a list, expected an object", type);
    inConfig("/text_config/model_type", "\"gemma3_text\"",
             "text_config.model_type is \"gemma3_text\"", unsupported);
    inConfig("/vision_config", "7", "vision_config is 7, expected an object", type);
    inConfig("/vision_config/model_type", "\"siglip_vision_model\"",
             "vision_config.model_type is \"siglip_vision_model\"", unsupported);
    inConfig("/audio_config", "true", "audio_config is true, expected an object", type);
    inConfig("/audio_config/model_type", "\"whisper\"", "audio_config.model_type is \"whisper\"",
             unsupported);
    inConfig("/tie_word_embeddings", "\"yes\"", "tie_word_embeddings is \"yes\"", type);

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
            inConfig(pointer, "", name + " is missing", missing);
        }
        inConfig(pointer, "-1", name + " is -1" + wanted);
        inConfig(pointer, "1000000000", name + " is 1000000000" + wanted);
        inConfig(pointer, "18446744073709551615", name + " is 18446744073709551615");
        inConfig(pointer, "2.5", name + " is 2.5" + wanted, type);
        inConfig(pointer, "\"64\"", name + " is \"64\"" + wanted, type);
        inConfig(pointer, "[]", name + " is a list" + wanted, type);
    }
    inConfig("/text_config/num_hidden_layers", "0", "num_hidden_layers is 0, expected");
    inConfig("/text_config/hidden_size", "0", "text_config.hidden_size is 0, expected");
    inConfig("/text_config/vocab_size", "0", "text_config.vocab_size is 0, expected");
    inConfig("/text_config/num_key_value_heads", "3",
             "3 key/value heads, which do not divide its 4 query heads");
    inConfig("/text_config/head_dim", "17", "head_dim is 17, expected an even number");
    inConfig("/text_config/num_kv_shared_layers", "10",
             "num_kv_shared_layers is 10, expected a whole number from 0 to 9");
    inConfig("/text_config/num_kv_shared_layers", "8",
             "num_kv_shared_layers is 8: layer 4 shares keys and values, but no layer of its type "
             "before");
    inConfig("/text_config/rms_norm_eps", "0", "text_config.rms_norm_eps is 0, expected a number");
    inConfig("/text_config/rms_norm_eps", "-1e-6", "rms_norm_eps is -1e-06");
    inConfig("/text_config/final_logit_softcapping", "-30", "final_logit_softcapping is -30");
    inConfig("/text_config/final_logit_softcapping", "0", "final_logit_softcapping is 0");
    inConfig("/text_config/pad_token_id", "1024",
             "pad_token_id is 1024, expected a whole number from 0 to 1023");
    inConfig("/text_config/bos_token_id", "-2", "bos_token_id is -2");
    inConfig("/text_config/vocab_size_per_layer_input", "1000",
             "vocab_size_per_layer_input is 1000, vocab_size is 1024");
    inConfig("/text_config/hidden_activation", "\"relu\"",
             "text_config.hidden_activation is \"relu\"", unsupported);
    inConfig("/text_config/attention_bias", "true", "text_config.attention_bias is true",
             unsupported);
    inConfig("/text_config/attention_bias", "1",
             "text_config.attention_bias is 1, expected true or false", type);
    inConfig("/text_config/use_bidirectional_attention", "\"all\"",
             "use_bidirectional_attention is \"all\"", unsupported);
    inConfig("/text_config/use_bidirectional_attention", "true",
             "use_bidirectional_attention is true", unsupported);

    // Layers.
    inConfig("/text_config/layer_types", "[\"full_attention\"]",
             "layer_types has 1 entries, num_hidden_layers is 10");
    inConfig("/text_config/layer_types/3", "\"chunked_attention\"",
             "layer_types holds \"chunked_attention\"", unsupported);
    inConfig("/text_config/layer_types/3", "5", "layer_types holds 5, expected only texts", type);
    inConfig("/text_config/layer_types", "{}", "layer_types is an object, expected a list", type);
    inConfig("/text_config/per_layer_config", "[]",
             "per_layer_config is a list, expected an object", type);
    inConfig("/text_config/per_layer_config/10", "{}",
             "per_layer_config.10 is not a layer index from 0 to 9");
    inConfig("/text_config/per_layer_config/-1", "{}", "per_layer_config.-1 is not a layer index");
    inConfig("/text_config/per_layer_config/four", "{}",
             "per_layer_config.four is not a layer index");
    inConfig("/text_config/per_layer_config/99999999999999999999", "{}",
             "per_layer_config.99999999999999999999 is not");
    inConfig("/text_config/per_layer_config/04", "{}", "names layer 4 a second time",
             "ConfigDuplicate");
    inConfig("/text_config/per_layer_config/4", "32",
             "per_layer_config.4 is 32, expected an object", type);
    inConfig("/text_config/per_layer_config/4/sliding_window", "8",
             "per_layer_config.4.sliding_window cannot differ between layers", unsupported);
    inConfig("/text_config/per_layer_config/4/head_dim", "33",
             "per_layer_config.4.head_dim is 33, expected an even");
    inConfig("/text_config/per_layer_config/4/head_dim", "\"32\"",
             "per_layer_config.4.head_dim is \"32\"", type);
    inConfig("/text_config/per_layer_config/9/head_dim", "64",
             "gives layer 9 other key/value sizes than layer 4, whose keys and values it reads");
    inConfig("/text_config/per_layer_config/4/num_key_value_heads", "3",
             "gives layer 4 3 key/value heads");

    // Rotary tables.
    const std::string rope = "/text_config/rope_parameters";
    inConfig(rope, "3", "rope_parameters is 3, expected an object", type);
    inConfig(rope + "/full_attention/rope_type", "\"yarn\"", "full_attention.rope_type is \"yarn\"",
             unsupported);
    inConfig(rope + "/full_attention/rope_theta", "0", "full_attention.rope_theta is 0");
    inConfig(rope + "/full_attention/partial_rotary_factor", "1.5", "partial_rotary_factor is 1.5");
    inConfig(rope + "/full_attention/factor", "0", "full_attention.factor is 0");
    inConfig(rope + "/sliding_attention/rope_type", "\"llama3\"",
             "sliding_attention.rope_type is \"llama3\"", unsupported);
    inConfig(rope + "/sliding_attention/partial_rotary_factor", "0.5",
             "sliding_attention.partial_rotary_factor is not 1 with rope_type \"default\"",
             unsupported);
    inConfig(rope + "/sliding_attention/rope_theta", "\"x\"",
             "sliding_attention.rope_theta is \"x\"", type);

    // Experts.
    inConfig("/text_config/enable_moe_block", "true", "text_config.num_experts is missing",
             missing);
    inConfig("/text_config/enable_moe_block", "1", "enable_moe_block is 1, expected true or false",
             type);

    // Vision tower.
    const std::string vision = "/vision_config";
    inConfig(vision + "/hidden_size", "", "vision_config.hidden_size is missing", missing);
    inConfig(vision + "/hidden_size", "52",
             "vision_config.hidden_size is 52, expected num_attention_heads x head_dim = 48");
    inConfig(vision + "/head_dim", "6", "vision_config.head_dim is 6, expected a multiple of 4");
    inConfig(vision + "/num_hidden_layers", "100000", "vision_config.num_hidden_layers is 100000");
    inConfig(vision + "/patch_size", "0", "vision_config.patch_size is 0");
    inConfig(vision + "/pooling_kernel_size", "-3", "vision_config.pooling_kernel_size is -3");
    inConfig(vision + "/position_embedding_size", "99999999",
             "position_embedding_size is 99999999");
    inConfig(vision + "/num_key_value_heads", "2",
             "vision_config.num_key_value_heads is 2; only as many", unsupported);
    inConfig(vision + "/hidden_activation", "\"silu\"",
             "vision_config.hidden_activation is \"silu\"", unsupported);
    inConfig(vision + "/rope_parameters/rope_type", "\"linear\"",
             "vision_config.rope_parameters.rope_type is \"linear\"", unsupported);
    inConfig(vision + "/use_clipped_linears", "\"true\"",
             "vision_config.use_clipped_linears is \"true\"", type);
    inConfig(vision + "/standardize", "0", "vision_config.standardize is 0, expected true or false",
             type);

    // Audio tower.
    const std::string audio = "/audio_config";
    inConfig(
        audio + "/num_attention_heads", "7",
        "audio_config.hidden_size is 64, expected an even multiple of num_attention_heads (7)");
    inConfig(audio + "/output_proj_dims", "", "audio_config.output_proj_dims is missing", missing);
    inConfig(audio + "/subsampling_conv_channels", "[128]",
             "subsampling_conv_channels has 1 entries, expected 2");
    inConfig(audio + "/subsampling_conv_channels", "[128,0]",
             "subsampling_conv_channels is 0, expected");
    inConfig(audio + "/attention_context_right", "4", "attention_context_right is not 0",
             unsupported);
    inConfig(audio + "/attention_context_left", "1", "attention_context_left is 1");
    inConfig(audio + "/conv_kernel_size", "65", "conv_kernel_size is 65");
    inConfig(audio + "/hidden_act", "\"gelu\"", "audio_config.hidden_act is \"gelu\"", unsupported);
    inConfig(audio + "/attention_logit_cap", "0", "attention_logit_cap is 0");
    inConfig(audio + "/gradient_clipping", "\"inf\"", "gradient_clipping is \"inf\"", type);

    // Token ids.
    inConfig("/image_token_id", "1024",
             "image_token_id is 1024, expected a whole number from 0 to 1023");
    inConfig("/image_token_id", "",
             "image_token_id is missing, and its published value lies outside", missing);
    inConfig("/audio_token_id", "-1", "audio_token_id is -1");
    inConfig("/boi_token_id", "\"<|image>\"", "boi_token_id is \"<|image>\"", type);
    inConfig("/eoa_token_index", "", "eoa_token_id is missing", missing);
    inConfig("/eoa_token_id", "3", "eoa_token_index differs from eoa_token_id");

    // Quantization.
    inConfig("/quantization_config", "{\"quant_method\":\"gptq\",\"bits\":4}",
             "quant_method is \"gptq\"", unsupported);
    inConfig("/quantization_config", "{\"quant_method\":\"bitsandbytes\",\"load_in_8bit\":true}",
             "quantization_config.load_in_8bit is true; 8-bit", unsupported);
    inConfig("/quantization_config", "{\"load_in_8bit\":true,\"load_in_4bit\":true}",
             "load_in_8bit is true together with load_in_4bit");
    inConfig("/quantization_config", "{\"load_in_4bit\":true,\"bnb_4bit_quant_type\":\"int4\"}",
             "bnb_4bit_quant_type is \"int4\"", unsupported);
    inConfig("/quantization_config", "\"nf4\"",
             "quantization_config is \"nf4\", expected an object", type);
    inConfig("/text_config/quantization_config", "{\"quant_method\":\"awq\"}",
             "text_config.quantization_config.quant_method is \"awq\"", unsupported);
    inConfig("/quantization_config",
             "{\"load_in_4bit\":true,\"llm_int8_skip_modules\":\"lm_head\"}",
             "llm_int8_skip_modules is \"lm_head\", expected a list", type);

    // processor_config.json.
    inProcessor("/image_processor", "[]", "image_processor is a list, expected an object", type);
    inProcessor("/image_processor/max_soft_tokens", "100",
                "max_soft_tokens is 100, expected one of 70, 140, 280, 560, 1120");
    inProcessor("/image_processor/max_soft_tokens", "\"280\"", "max_soft_tokens is \"280\"", type);
    inProcessor("/image_processor/patch_size", "14", "image_processor.patch_size is 14; only 16",
                unsupported);
    inProcessor("/image_processor/pooling_kernel_size", "2",
                "image_processor.pooling_kernel_size is 2; only 3", unsupported);
    inProcessor("/image_processor/resample", "2", "image_processor.resample is 2; only 3",
                unsupported);
    inProcessor("/image_processor/rescale_factor", "1.0", "image_processor.rescale_factor is 1.0",
                unsupported);
    inProcessor("/image_processor/do_normalize", "\"no\"", "image_processor.do_normalize is \"no\"",
                type);
    inProcessor("/image_processor/do_rescale", "false", "do_rescale is false", unsupported);
    inProcessor("/feature_extractor/sampling_rate", "44100",
                "feature_extractor.sampling_rate is 44100; only 16000", unsupported);
    inProcessor("/feature_extractor/frame_length", "400", "frame_length is 400; only 320",
                unsupported);
    inProcessor("/feature_extractor/hop_length", "0", "hop_length is 0; only 160", unsupported);
    inProcessor("/feature_extractor/fft_length", "1024", "fft_length is 1024; only 512",
                unsupported);
    inProcessor("/feature_extractor/mel_floor", "1e-5", "mel_floor is 1e-05", unsupported);
    inProcessor("/feature_extractor/preemphasis", "0.97", "preemphasis is 0.97", unsupported);
    inProcessor("/feature_extractor/per_bin_mean", "[0.1]", "per_bin_mean is set", unsupported);
    inProcessor("/feature_extractor/feature_size", "2", "feature_size is 2");
    inProcessor("/audio_seq_length", "0", "audio_seq_length is 0");
    inProcessor("/audio_ms_per_token", "80", "audio_ms_per_token is 80; only 40", unsupported);
    return cases;
}

} // namespace support
