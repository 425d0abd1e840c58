// SPDX-License-Identifier: Apache-2.0
// Adapter folders that must be refused, each with a message that names what is wrong. All are
// small changes to a folder that loads (checked first), on the golden e2b model.
#include "engine/lora/adapter.h"
#include "tests/engine/lora/adapter_files.h"
#include "tests/support/files.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace engine;
using namespace lora_test;
namespace fs = std::filesystem;

namespace {

const std::string kLayer = "base_model.model.model.language_model.layers.0.";
const std::string kBrokenAdaptersQ = kLayer + "self_attn.q_proj";
const std::string kUp = kLayer + "mlp.up_proj";

/// What a row changes before the folder is written, and after.
struct Draft {
    Json config;
    Tensors tensors;
    std::string config_text; ///< Instead of `config` when not empty.
    std::function<void(const fs::path&)> afterwards;
    std::string model = "e2b";
};

struct Row {
    std::string name;
    std::string fragment;
    std::function<void(Draft&)> change;
};

Draft validDraft() {
    Draft draft;
    draft.config = minimalConfig();
    addPair(draft.tensors, kBrokenAdaptersQ, 64, 64, 4, 1);
    addPair(draft.tensors, kUp, 128, 64, 4, 3, "BF16");
    return draft;
}

void write(const Draft& draft, const fs::path& folder) {
    fs::create_directories(folder);
    writeText(folder / "adapter_config.json",
              draft.config_text.empty() ? draft.config.dump(1) : draft.config_text);
    writeSafetensors(folder / "adapter_model.safetensors", draft.tensors);
    if (draft.afterwards) {
        draft.afterwards(folder);
    }
}

std::vector<Row>& rows() {
    static std::vector<Row> list;
    return list;
}

void add(std::string name, std::string fragment, std::function<void(Draft&)> change) {
    rows().push_back({std::move(name), std::move(fragment), std::move(change)});
}

// ---- adapter_config.json: text -----------------------------------------------------------------

void addConfigTexts() {
    const auto text = [](const std::string& name, const std::string& fragment,
                         const std::string& json) {
        add("config text: " + name, fragment, [json](Draft& d) { d.config_text = json; });
    };
    text("not JSON", "adapter_config.json", "hello");
    text("only white space", "adapter_config.json", "  \n ");
    text("cut off", "adapter_config.json", R"({"peft_type": "LORA", "r": 4)");
    text("a list", "expected an object", "[]");
    text("a number", "expected an object", "8");
    text("NaN alpha", "adapter_config.json", R"({"peft_type": "LORA", "r": 4, "lora_alpha": NaN})");
    text("Infinity alpha", "adapter_config.json",
         R"({"peft_type": "LORA", "lora_alpha": Infinity})");
    text("alpha beyond double", "lora_alpha",
         R"({"peft_type": "LORA", "r": 4, "lora_alpha": 1e999})");
    text("trailing comma", "adapter_config.json", R"({"peft_type": "LORA",})");
    text("comment", "adapter_config.json", R"({"peft_type": "LORA" /* x */})");
    text("member twice", "adapter_config.json", R"({"peft_type": "LORA", "r": 4, "r": 8})");
    text("two values", "adapter_config.json", R"({"peft_type": "LORA"} {})");
    text("byte-order mark", "adapter_config.json", "\xef\xbb\xbf{\"peft_type\": \"LORA\"}");
    text("invalid UTF-8", "adapter_config.json", "{\"peft_type\": \"LORA\", \"x\": \"\xff\"}");
    text("lone surrogate", "adapter_config.json", R"({"peft_type": "LORA", "x": "\ud800"})");
    std::string deep = R"({"peft_type": "LORA", "x": )";
    deep += std::string(2000, '[') + std::string(2000, ']') + "}";
    text("nested deeply", "adapter_config.json", deep);
    std::string many = R"({"peft_type": "LORA", "x": [)";
    for (int i = 0; i < 500'000; ++i) {
        many += "0,";
    }
    text("too many values", "values", many + "0]}");
    text("too large", "bytes", std::string(5U << 20U, ' '));
    text("empty object", "peft_type: is missing", "{}");
}

// ---- adapter_config.json: members --------------------------------------------------------------

void addMemberTypes() {
    const auto member = [](const std::string& name, const Json& value,
                           const std::string& fragment) {
        add("config: " + name + " = " + value.dump().substr(0, 50), fragment,
            [name, value](Draft& d) { d.config[name] = value; });
    };
    for (const Json& value : {Json("8"), Json(8.5), Json(0), Json(-1), Json(true), Json(nullptr),
                              Json(9000), Json::array({8}), Json(1e3)}) {
        member("r", value, "adapter_config.json: r");
    }
    for (const Json& value :
         {Json("16"), Json(nullptr), Json(true), Json::array({1}), Json(1e10), Json(-1e12)}) {
        member("lora_alpha", value, "lora_alpha");
    }
    for (const char* name :
         {"use_rslora", "use_dora", "lora_bias", "fan_in_fan_out", "ensure_weight_tying"}) {
        member(name, 1, name);
        member(name, "true", name);
    }
    for (const Json& value : {Json("some"), Json(true), Json(nullptr), Json(3)}) {
        member("bias", value, "bias: expected");
    }
    for (const Json& value :
         {Json(7), Json(true), Json::object(), Json::array({1}), Json::array({""}),
          Json::array({nullptr}), Json(std::string(5000, 'a')),
          Json::array({std::string(5000, 'a')})}) {
        member("target_modules", value, "target_modules");
    }
    for (const Json& value : {Json(7), Json::array({3}), Json::object(), Json::array({""})}) {
        member("exclude_modules", value, "exclude_modules");
    }
    for (const Json& value :
         {Json("1"), Json::array({1.5}), Json::array({"a"}), Json::object(), Json(true)}) {
        member("layers_to_transform", value, "layers_to_transform");
    }
    for (const Json& value : {Json(3), Json::array({1}), Json::object()}) {
        member("layers_pattern", value, "layers_pattern");
    }
    for (const Json& value :
         {Json::array(), Json{{"a", 0}}, Json{{"a", "8"}}, Json{{"a", -3}}, Json{{"a", 1.5}},
          Json{{"a", 99999}}, Json("x"), Json{{"a", nullptr}}}) {
        member("rank_pattern", value, "rank_pattern");
    }
    for (const Json& value :
         {Json{{"a", "x"}}, Json{{"a", nullptr}}, Json{{"a", 1e300}}, Json::array({1})}) {
        member("alpha_pattern", value, "alpha_pattern");
    }
    for (const char* name : {"modules_to_save", "target_parameters"}) {
        member(name, "x", name);
        member(name, Json::array({1}), name);
        member(name, Json::object(), name);
    }
    for (const Json& value :
         {Json("x"), Json::array({1.5}), Json::array({-1}), Json::array({1, 1}),
          Json{{"embed_tokens", 5}}, Json(3), Json{{"a", Json::array({"b"})}}}) {
        member("trainable_token_indices", value, "trainable_token_indices");
    }
    for (const Json& value :
         {Json(3), Json::array(), Json("mystery"), Json("pissa"), Json("PISSA"),
          Json("pissa_niter_16"), Json("olora"), Json("corda"), Json("lora_ga"), Json("loftq")}) {
        member("init_lora_weights", value, "init_lora_weights");
    }
    for (const Json& value : {Json(3), Json("LOHA"), Json("ADALORA"), Json("IA3"),
                              Json("PROMPT_TUNING"), Json(nullptr), Json("lora")}) {
        member("peft_type", value, "peft_type");
    }
    member("layer_replication", Json::array({Json::array({0, 4})}), "layer_replication: is set");
    member("alora_invocation_tokens", Json::array({1, 2}), "alora_invocation_tokens: is set");
    member("use_qalora", true, "use_qalora: is set");
    member("use_bdlora", Json{{"nblocks", 2}}, "use_bdlora: is set");
    member("arrow_config", Json::object(), "arrow_config: is set");
    member("velora_config", Json::object(), "velora_config: is set");
    member("monteclora_config", Json::object(), "monteclora_config: is set");
    member("kasa_config", Json{{"beta", 1}}, "kasa_config: is set");
    member("base_model_name_or_path", 5, "base_model_name_or_path");
    member("lora_dropout", "x", "lora_dropout");
}

void addContradictions() {
    const auto both = [](const std::string& name, const std::string& fragment,
                         const std::map<std::string, Json>& members) {
        add("config: " + name, fragment, [members](Draft& d) {
            for (const auto& [key, value] : members) {
                d.config[key] = value;
            }
        });
    };
    both("pattern with layers", "layers_to_transform: cannot be used",
         {{"target_modules", ".*q_proj"}, {"layers_to_transform", {1}}});
    both("all-linear with layers", "layers_to_transform: cannot be used",
         {{"target_modules", "all-linear"}, {"layers_to_transform", 1}});
    both("pattern with layers_pattern", "layers_pattern: cannot be used",
         {{"target_modules", ".*q_proj"}, {"layers_pattern", "layers"}});
    both("layers_pattern alone", "needs layers_to_transform", {{"layers_pattern", "layers"}});
    both("bias of B with DoRA", "cannot be combined", {{"lora_bias", true}, {"use_dora", true}});
    both("tokens of a saved table", "replaces as a whole",
         {{"trainable_token_indices", {1, 2}}, {"modules_to_save", {"embed_tokens"}}});
}

// ---- patterns ----------------------------------------------------------------------------------

void addPatterns() {
    struct Hostile {
        const char *pattern, *fragment;
    };
    for (const Hostile& h :
         {Hostile{"(?<=q_pro+)j", "not fixed length"},
          {"(?!q_proj", "missing closing parenthesis"},
          {"(((((((a{1,100}){1,100}){1,100}){1,100}){1,100}){1,100}){1,100})", "too large"},
          {"a{70000}", "number too big"},
          {"((a", "missing closing parenthesis"},
          {"a)", "unmatched closing parenthesis"},
          {"[z-a]", "not a valid pattern"},
          {"|*", "repeatable item"},
          {R"(\N{DIGIT ONE})", "Unicode escape"},
          {"(?x:a) q_proj", "verbose"}}) {
        const std::string pattern = h.pattern;
        // With init_lora_weights true the file's keys stand in for what cannot be read.
        add("target pattern " + pattern, h.fragment, [pattern](Draft& d) {
            d.config["target_modules"] = pattern;
            d.config["init_lora_weights"] = false;
        });
        add("exclude pattern " + pattern, h.fragment, [pattern](Draft& d) {
            d.config["exclude_modules"] = pattern;
            d.config["init_lora_weights"] = false;
        });
        add("rank pattern " + pattern, h.fragment, [pattern](Draft& d) {
            d.config["rank_pattern"] = Json{{pattern, 4}};
            d.config["init_lora_weights"] = false;
        });
        add("saved module " + pattern, h.fragment,
            [pattern](Draft& d) { d.config["modules_to_save"] = {pattern}; });
    }
    add("alpha pattern with global flag", "global flags", [](Draft& d) {
        d.config["alpha_pattern"] = Json{{"(?i)q_proj", 4}};
    });
    add("layers pattern with look-behind of no fixed width", "not fixed length", [](Draft& d) {
        d.config["layers_to_transform"] = {0};
        d.config["layers_pattern"] = {"layers", "(?<=x|yy)"};
    });
    add("alpha pattern that cannot be read", "verbose", [](Draft& d) {
        d.config["alpha_pattern"] = Json{{"(?x:q_proj)", 4}};
    });
    add("pattern nested 300 deep", "too deeply nested", [](Draft& d) {
        d.config["init_lora_weights"] = false;
        d.config["target_modules"] = std::string(300, '(') + "a" + std::string(300, ')');
    });
    static constexpr const char* kEndless = R"((?:(?:\w*\.?\w*)*)*[!?])";
    for (const std::string member :
         {"target_modules", "exclude_modules", "rank_pattern", "alpha_pattern"}) {
        add("endless work for " + member, member + ": the pattern", [member](Draft& d) {
            const bool is_table = member.ends_with("_pattern");
            d.config[member] = is_table ? Json{{kEndless, 4}} : Json(kEndless);
        });
    }
}

// ---- shapes, halves, types ---------------------------------------------------------------------

void addShapes() {
    struct Module {
        std::string key;
        int64_t out, in;
    };
    const std::vector<Module> modules = {{"self_attn.q_proj", 64, 64}, {"self_attn.k_proj", 16, 64},
                                         {"self_attn.v_proj", 16, 64}, {"self_attn.o_proj", 64, 64},
                                         {"mlp.gate_proj", 128, 64},   {"mlp.up_proj", 128, 64},
                                         {"mlp.down_proj", 64, 128}};
    for (const Module& m : modules) {
        const std::string key = kLayer + m.key;
        const auto change = [&](const std::string& name, const std::string& leaf,
                                const std::vector<int64_t>& shape) {
            add("shape: " + m.key + " " + name, key + leaf + ": shape",
                [key, m, leaf, shape](Draft& d) {
                    d.config["target_modules"] = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                                  "gate_proj", "up_proj", "down_proj"};
                    addPair(d.tensors, key, m.out, m.in, 4, 7);
                    d.tensors[key + leaf] = noiseTensor(shape, 5);
                });
        };
        change("A one input short", ".lora_A.weight", {4, m.in - 1});
        change("B one output more", ".lora_B.weight", {m.out + 1, 4});
        change("A of rank 8", ".lora_A.weight", {8, m.in});
        change("B of rank 2", ".lora_B.weight", {m.out, 2});
    }
    const auto tensor = [](const std::string& name, const std::string& fragment,
                           const std::string& key, const FileTensor& value) {
        add(name, fragment, [key, value](Draft& d) { d.tensors[key] = value; });
    };
    tensor("shape: A with one dimension", "shape [256]", kBrokenAdaptersQ + ".lora_A.weight",
           noiseTensor({256}, 1));
    tensor("shape: A with three dimensions", "shape [4, 64, 1]",
           kBrokenAdaptersQ + ".lora_A.weight", noiseTensor({4, 64, 1}, 1));
    tensor("shape: A transposed", "shape [64, 4]", kBrokenAdaptersQ + ".lora_A.weight",
           noiseTensor({64, 4}, 1));
    tensor("shape: scalar B", "shape []", kBrokenAdaptersQ + ".lora_B.weight", noiseTensor({}, 1));
    tensor("shape: empty A", "shape [0, 64]", kBrokenAdaptersQ + ".lora_A.weight",
           noiseTensor({0, 64}, 1));
    for (const char* half : {".lora_A.weight", ".lora_B.weight"}) {
        const std::string key = kBrokenAdaptersQ + half;
        add("missing half: " + key, "is missing", [key](Draft& d) { d.tensors.erase(key); });
    }
    add("rank in config differs from all shapes", "rank 16", [](Draft& d) { d.config["r"] = 16; });
    add("rank pattern differs from the shape", "rank 2", [](Draft& d) {
        d.config["rank_pattern"] = Json{{"up_proj", 2}};
    });
    for (const char* dtype : {"F64", "I32", "I8", "U8", "BOOL", "I64", "F8_E4M3", "F8_E5M2"}) {
        const std::string type = dtype;
        add("type " + type, type.starts_with("F8") ? "element type" : type, [type](Draft& d) {
            const std::map<std::string, size_t> size = {{"F64", 8}, {"I64", 8}, {"I32", 4}};
            const auto bytes = size.contains(type) ? size.at(type) : size_t{1};
            d.tensors[kBrokenAdaptersQ + ".lora_A.weight"] = {
                type, {4, 64}, std::vector<uint8_t>(256 * bytes, 0)};
        });
    }
    add("same tensor in two spellings", "a second key for the same tensor", [](Draft& d) {
        d.tensors[kBrokenAdaptersQ + ".lora_A.default.weight"] = noiseTensor({4, 64}, 9);
    });
    add("inner and outer name of one linear", "a second key for the same tensor", [](Draft& d) {
        const std::string tower =
            "base_model.model.model.vision_tower.encoder.layers.0.self_attn.q_proj";
        d.config["target_modules"] = R"(.*q_proj(\.linear)?)";
        d.config.erase("exclude_modules");
        addPair(d.tensors, tower, 48, 48, 4, 1);
        addPair(d.tensors, tower + ".linear", 48, 48, 4, 1);
    });
    add("two naming families", "mixes two spellings", [](Draft& d) {
        addPair(d.tensors, "base_model.model.model.layers.1.self_attn.q_proj", 64, 64, 4, 1);
    });
    add("two families, bare tower", "mixes two spellings", [](Draft& d) {
        addPair(d.tensors, "base_model.model.vision_tower.encoder.layers.1.self_attn.q_proj.linear",
                48, 48, 4, 1);
    });
    add("update of a norm", "neither a linear layer nor an embedding", [](Draft& d) {
        d.config["target_modules"] = {"input_layernorm"};
        addPair(d.tensors, kLayer + "input_layernorm", 64, 64, 4, 1);
    });
}

void addOtherKinds() {
    const std::string embed = "base_model.model.model.language_model.embed_tokens";
    add("DoRA without magnitude", "lora_magnitude_vector of the module is missing",
        [](Draft& d) { d.config["use_dora"] = true; });
    add("DoRA magnitude of another length", "lora_magnitude_vector: shape [65]", [](Draft& d) {
        d.config["use_dora"] = true;
        d.tensors[kBrokenAdaptersQ + ".lora_magnitude_vector"] = noiseTensor({65}, 1);
        d.tensors[kUp + ".lora_magnitude_vector"] = noiseTensor({128}, 1);
    });
    add("bias of B missing", "lora_B.bias of the module is missing",
        [](Draft& d) { d.config["lora_bias"] = true; });
    add("bias of B of another length", "lora_B.bias: shape [64, 1]", [](Draft& d) {
        d.config["lora_bias"] = true;
        d.tensors[kBrokenAdaptersQ + ".lora_B.bias"] = noiseTensor({64, 1}, 1);
        d.tensors[kUp + ".lora_B.bias"] = noiseTensor({128}, 1);
    });
    const auto embedding = [embed](const std::string& name, const std::string& fragment,
                                   const Tensors& tensors,
                                   const std::map<std::string, Json>& members = {}) {
        add("embedding: " + name, fragment, [tensors, members](Draft& d) {
            d.config["target_modules"] = {"q_proj", "up_proj", "embed_tokens"};
            for (const auto& [key, value] : members) {
                d.config[key] = value;
            }
            d.tensors.insert(tensors.begin(), tensors.end());
        });
    };
    const FileTensor a = noiseTensor({4, 1024}, 1);
    const FileTensor b = noiseTensor({64, 4}, 1);
    embedding("factors of a linear layer", "takes lora_embedding_A",
              {{embed + ".lora_A.weight", a}, {embed + ".lora_B.weight", b}});
    embedding("A without B", "lora_embedding_B of the module is missing",
              {{embed + ".lora_embedding_A", a}});
    embedding("another vocabulary", "shape [4, 1000]",
              {{embed + ".lora_embedding_A", noiseTensor({4, 1000}, 1)},
               {embed + ".lora_embedding_B", b}});
    embedding(
        "another width", "shape [32, 4]",
        {{embed + ".lora_embedding_A", a}, {embed + ".lora_embedding_B", noiseTensor({32, 4}, 1)}});
    embedding("bias of B", "which PEFT does not have for",
              {{embed + ".lora_embedding_A", a},
               {embed + ".lora_embedding_B", b},
               {kBrokenAdaptersQ + ".lora_B.bias", noiseTensor({64}, 1)},
               {kUp + ".lora_B.bias", noiseTensor({128}, 1)}},
              {{"lora_bias", true}});
    embedding("resized vocabulary", "vocabulary was resized",
              {{embed + ".base_layer.weight", noiseTensor({1030, 64}, 1)},
               {embed + ".lora_embedding_A", a},
               {embed + ".lora_embedding_B", b}});
    add("embedding factors on a linear layer", "takes lora_A.weight", [](Draft& d) {
        d.tensors[kBrokenAdaptersQ + ".lora_embedding_A"] = noiseTensor({4, 64}, 1);
    });
    const std::string delta = embed + ".token_adapter.trainable_tokens_delta";
    const auto tokens = [delta](const std::string& name, const std::string& fragment,
                                const Json& ids, const std::vector<int64_t>& shape) {
        add("tokens: " + name, fragment, [delta, ids, shape](Draft& d) {
            d.config["trainable_token_indices"] = ids;
            if (!shape.empty()) {
                d.tensors[delta] = noiseTensor(shape, 1);
            }
        });
    };
    tokens("id beyond the vocabulary", "replaces token 1024", {1, 1024}, {2, 64});
    tokens("fewer rows than ids", "shape [2, 64]", {1, 2, 3}, {2, 64});
    tokens("another width", "shape [2, 65]", {1, 2}, {2, 65});
    tokens("rows missing", "trainable_tokens_delta is missing", {1, 2}, {});
    tokens("rows of the other table missing", "embed_tokens_per_layer, but its",
           Json{{"embed_tokens", {1, 2}}, {"embed_tokens_per_layer", {1}}}, {2, 64});
    add("tokens and update of one table", "not supported", [embed, delta, a, b](Draft& d) {
        d.config["target_modules"] = {"q_proj", "up_proj", "embed_tokens"};
        d.config["trainable_token_indices"] = {1, 2};
        d.tensors[delta] = noiseTensor({2, 64}, 1);
        d.tensors[embed + ".lora_embedding_A"] = a;
        d.tensors[embed + ".lora_embedding_B"] = b;
    });
    const auto saved = [](const std::string& name, const std::string& fragment,
                          const std::string& key, const FileTensor& value) {
        add("saved: " + name, fragment, [key, value](Draft& d) {
            d.config["modules_to_save"] = {"norm", "down_proj", "lm_head",
                                           "embed_tokens_per_layer"};
            d.tensors["base_model.model." + key] = value;
        });
    };
    saved("norm of another length", "shape [63]", "model.language_model.norm.weight",
          noiseTensor({63}, 1));
    saved("weight of another shape", "shape [64, 127]",
          "model.language_model.layers.0.mlp.down_proj.weight", noiseTensor({64, 127}, 1));
    saved("packed weight", "element type U8", "model.language_model.layers.0.mlp.down_proj.weight",
          {"U8", {4096, 1}, std::vector<uint8_t>(4096, 0)});
    saved("head of another vocabulary", "vocabulary was resized", "lm_head.weight",
          noiseTensor({1025, 64}, 1));
    saved("per-layer table of another vocabulary", "vocabulary was resized",
          "model.language_model.embed_tokens_per_layer.weight", noiseTensor({1000, 160}, 1));
    add("bias=all, bias of another length", "shape [65]", [](Draft& d) {
        d.config["bias"] = "all";
        d.tensors["base_model.model.model.audio_tower.output_proj.bias"] = noiseTensor({65}, 1);
    });
    const std::string experts = "base_model.model.model.language_model.layers.0.experts";
    const auto expert = [experts](const std::string& name, const std::string& fragment,
                                  const Tensors& tensors,
                                  const std::map<std::string, Json>& members = {}) {
        add("experts: " + name, fragment, [tensors, members](Draft& d) {
            d.model = "moe26b";
            d.tensors = tensors;
            d.config["r"] = 2;
            d.config["target_modules"] = Json::array();
            d.config["target_parameters"] = {"experts.gate_up_proj"};
            for (const auto& [key, value] : members) {
                d.config[key] = value;
            }
        });
    };
    const FileTensor expert_a = noiseTensor({16, 64}, 1);
    const FileTensor expert_b = noiseTensor({64, 16}, 1);
    expert("A of another rank", "shape [8, 64]",
           {{experts + ".lora_A.weight", noiseTensor({8, 64}, 1)},
            {experts + ".lora_B.weight", expert_b}});
    expert("A for down_proj", "shape [16, 32]",
           {{experts + ".lora_A.weight", noiseTensor({16, 32}, 1)},
            {experts + ".lora_B.weight", expert_b}});
    expert("without B", "lora_B.weight of the module is missing",
           {{experts + ".lora_A.weight", expert_a}});
    expert("with DoRA", "which PEFT does not have for experts",
           {{experts + ".lora_A.weight", expert_a}, {experts + ".lora_B.weight", expert_b}},
           {{"use_dora", true}});
    expert("with magnitude", "which PEFT does not have for expert",
           {{experts + ".lora_A.weight", expert_a},
            {experts + ".lora_B.weight", expert_b},
            {experts + ".lora_magnitude_vector", noiseTensor({64}, 1)}},
           {{"use_dora", true}});
    expert("with bias of B", "which PEFT does not have for this kind",
           {{experts + ".lora_A.weight", expert_a},
            {experts + ".lora_B.weight", expert_b},
            {experts + ".lora_B.bias", noiseTensor({64}, 1)}},
           {{"lora_bias", true}});
    expert("wrapper that is not targeted", "would act",
           {{experts + ".base_layer.lora_A.weight", expert_a},
            {experts + ".base_layer.lora_B.weight", expert_b}});
}

// ---- values ------------------------------------------------------------------------------------

void addValues() {
    const float nan = std::nanf("");
    const float inf = INFINITY;
    for (const char* dtype : {"F32", "F16", "BF16"}) {
        for (const auto& [what, value] :
             {std::pair{"NaN", nan}, {"infinity", inf}, {"minus infinity", -inf}}) {
            for (const char* leaf : {".lora_A.weight", ".lora_B.weight"}) {
                const std::string type = dtype;
                const std::string key = kBrokenAdaptersQ + leaf;
                const std::vector<int64_t> shape = std::string(leaf) == ".lora_A.weight"
                                                       ? std::vector<int64_t>{4, 64}
                                                       : std::vector<int64_t>{64, 4};
                const float bad = value;
                add("value: " + std::string(what) + " in " + leaf + " as " + type,
                    key + ": element 37", [type, key, shape, bad](Draft& d) {
                        auto values = noise(256, 1);
                        values[37] = bad;
                        d.tensors[key] = tensorOf(shape, values, type);
                    });
            }
        }
    }
    add("value: NaN in a magnitude", "lora_magnitude_vector: element 3", [nan](Draft& d) {
        d.config["use_dora"] = true;
        auto values = noise(64, 1);
        values[3] = nan;
        d.tensors[kBrokenAdaptersQ + ".lora_magnitude_vector"] = tensorOf({64}, values);
        d.tensors[kUp + ".lora_magnitude_vector"] = noiseTensor({128}, 1);
    });
    add("value: NaN in a bias of B", "lora_B.bias: element 5", [nan](Draft& d) {
        d.config["lora_bias"] = true;
        auto values = noise(64, 1);
        values[5] = nan;
        d.tensors[kBrokenAdaptersQ + ".lora_B.bias"] = tensorOf({64}, values);
        d.tensors[kUp + ".lora_B.bias"] = noiseTensor({128}, 1);
    });
    add("value: infinity in a saved norm", "norm.weight: element 9", [inf](Draft& d) {
        auto values = noise(64, 1);
        values[9] = inf;
        d.config["modules_to_save"] = {"norm"};
        d.tensors["base_model.model.model.language_model.norm.weight"] = tensorOf({64}, values);
    });
    add("value: NaN in token rows", "trainable_tokens_delta: element 0", [nan](Draft& d) {
        auto values = noise(64, 1);
        values[0] = nan;
        d.config["trainable_token_indices"] = {7};
        d.tensors["base_model.model.model.language_model.embed_tokens.token_adapter.trainable_"
                  "tokens_delta"] = tensorOf({1, 64}, values);
    });
}

// ---- whole files -------------------------------------------------------------------------------

void addFiles() {
    const auto file = [](const std::string& name, const std::string& fragment,
                         const std::function<void(const fs::path&)>& change) {
        add("file: " + name, fragment, [change](Draft& d) { d.afterwards = change; });
    };
    const auto weights = [](const fs::path& folder) {
        return folder / "adapter_model.safetensors";
    };
    file("no config", "adapter_config.json: not found",
         [](const fs::path& f) { fs::remove(f / "adapter_config.json"); });
    file("no weights", "adapter_model.safetensors: not found",
         [=](const fs::path& f) { fs::remove(weights(f)); });
    file("pickle only", "Python pickle", [=](const fs::path& f) {
        fs::remove(weights(f));
        writeText(f / "adapter_model.bin", "\x80\x02}q\x01.");
    });
    file("pickle under another name", "adapter_model.safetensors", [=](const fs::path& f) {
        writeText(weights(f), std::string("\x80\x02}q\x01X\x05\0\0\0abcde.", 16));
    });
    file("zip under another name", "adapter_model.safetensors",
         [=](const fs::path& f) { writeText(weights(f), "PK\x03\x04" + std::string(100, 'x')); });
    file("GGUF under another name", "adapter_model.safetensors",
         [=](const fs::path& f) { writeText(weights(f), "GGUF" + std::string(100, '\0')); });
    file("empty", "adapter_model.safetensors",
         [=](const fs::path& f) { writeText(weights(f), ""); });
    file("a folder instead of the file", "adapter_model.safetensors", [=](const fs::path& f) {
        fs::remove(weights(f));
        fs::create_directories(weights(f));
    });
    file("a folder instead of the config", "adapter_config.json", [](const fs::path& f) {
        fs::remove(f / "adapter_config.json");
        fs::create_directories(f / "adapter_config.json");
    });
#ifndef _WIN32 // makes links for developers only
    file("link out of the folder", "adapter_model.safetensors", [=](const fs::path& f) {
        const fs::path elsewhere = f.parent_path() / "elsewhere.safetensors";
        fs::rename(weights(f), elsewhere);
        fs::create_symlink(elsewhere, weights(f));
    });
#endif
    for (const double share : {0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99}) {
        file("cut to " + std::to_string(share), "adapter_model.safetensors",
             [=](const fs::path& f) {
                 const auto size = fs::file_size(weights(f));
                 fs::resize_file(weights(f),
                                 static_cast<uintmax_t>(static_cast<double>(size) * share) + 4);
             });
    }
    const auto bytes = [=](const std::string& name,
                           const std::function<void(std::string&)>& change) {
        file(name, "adapter_model.safetensors", [=](const fs::path& f) {
            std::string text = support::textOf(weights(f));
            change(text);
            writeText(weights(f), text);
        });
    };
    bytes("header length of 2^63", [](std::string& t) { t[7] = '\x80'; });
    bytes("header longer than the file", [](std::string& t) { t[2] = '\x7f'; });
    bytes("header that is not JSON", [](std::string& t) { t[8] = '!'; });
    bytes("bytes after the data", [](std::string& t) { t += "extra"; });
    bytes("tensors that overlap", [](std::string& t) {
        const std::string second = "\"data_offsets\":[512,";
        t.replace(t.find(second), second.size(), "\"data_offsets\":[500,");
    });
    bytes("type that does not exist", [](std::string& t) {
        const auto at = t.find("\"F32\"");
        t.replace(at, 5, "\"Q32\"");
    });
    add("no tensors", "holds no tensors", [](Draft& d) { d.tensors.clear(); });
}

// ---- wrong model -------------------------------------------------------------------------------

void addWrongModels() {
    for (const char* other : {"e4b", "dense31b", "moe26b"}) {
        for (const char* adapter : {"text", "multimodal"}) {
            const fs::path folder = support::goldenDir() / other / "adapters" / adapter;
            add(std::string("adapter of ") + other + ": " + adapter, "adapter_model.safetensors",
                [folder](Draft& d) {
                    d.config = goldenConfig(folder);
                    d.tensors = goldenTensors(folder / "adapter_model.safetensors");
                });
        }
    }
    const auto foreign = [](const std::string& name, const std::string& module) {
        add("adapter of " + name, "made for another model", [module](Draft& d) {
            d.tensors.clear();
            for (int layer = 0; layer < 4; ++layer) {
                addPair(d.tensors, "base_model.model." + std::to_string(layer) + "." + module, 64,
                        64, 4, 1);
            }
        });
    };
    foreign("GPT-2", "transformer.h.attn.c_attn");
    foreign("a diffusion model", "down_blocks.attn1.to_q");
    foreign("a model without a name", "encoder.layer.attention.self.query");
    add("more layers than the model", "find a module", [](Draft& d) {
        d.tensors.clear();
        for (int layer = 8; layer < 20; ++layer) {
            addPair(d.tensors,
                    "base_model.model.model.language_model.layers." + std::to_string(layer) +
                        ".self_attn.q_proj",
                    layer == 9 ? 128 : 64, 64, 4, 1);
        }
    });
    add("nothing targeted", "would act", [](Draft& d) { d.config["target_modules"] = {"o_proj"}; });
    add("everything excluded", "would act", [](Draft& d) { d.config["exclude_modules"] = ".*"; });
    add("only modules without effect", "would act", [](Draft& d) {
        d.tensors.clear();
        d.config["target_modules"] = {"k_proj"};
        addPair(d.tensors, "base_model.model.model.language_model.layers.8.self_attn.k_proj", 16,
                64, 4, 1);
    });
    add("missing modules would be noise", "random noise",
        [](Draft& d) { d.config["init_lora_weights"] = false; });
}

} // namespace

class TestBrokenAdapters : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void theUnchangedFolderLoads();
    void isRefused_data();
    void isRefused();
    void overrides();

private:
    std::map<std::string, Model> models_;
};

void TestBrokenAdapters::initTestCase() {
    addConfigTexts();
    addMemberTypes();
    addContradictions();
    addPatterns();
    addShapes();
    addOtherKinds();
    addValues();
    addFiles();
    addWrongModels();
    for (const char* name : {"e2b", "moe26b"}) {
        models_[name] = goldenModel(name);
    }
    QVERIFY2(rows().size() >= 200, std::to_string(rows().size()).c_str());
}

void TestBrokenAdapters::theUnchangedFolderLoads() {
    QTemporaryDir folder;
    const fs::path path = fs::path(folder.path().toStdString()) / "adapter";
    write(validDraft(), path);
    const auto loaded = loadAdapter(path, models_["e2b"].config, models_["e2b"].tensors);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    QCOMPARE((*loaded)->coverage().active, 4);
}

void TestBrokenAdapters::isRefused_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < rows().size(); ++i) {
        QTest::newRow((std::to_string(i) + " " + rows()[i].name).c_str()) << static_cast<int>(i);
    }
}

void TestBrokenAdapters::isRefused() {
    QFETCH(int, index);
    const Row& row = rows()[static_cast<size_t>(index)];
    Draft draft = validDraft();
    row.change(draft);
    QTemporaryDir folder;
    const fs::path path = fs::path(folder.path().toStdString()) / "adapter";
    write(draft, path);
    const Model& model = models_[draft.model];
    const auto loaded = loadAdapter(path, model.config, model.tensors);
    QVERIFY2(!loaded, "the adapter was accepted");
    const Error& error = loaded.error();
    QVERIFY2(error.message.find(row.fragment) != std::string::npos, error.message.c_str());
    QVERIFY2(error.message.find("adapter_") != std::string::npos, error.message.c_str());
    QVERIFY(error.code == ErrorCode::InvalidFile || error.code == ErrorCode::Unsupported);
    // Who words it anew finds the kind among the details.
    const bool is_other_shape = error.message.find(": shape [") != std::string::npos;
    QCOMPARE(std::any_of(error.details.begin(), error.details.end(),
                         [](const auto& detail) {
                             return detail.first == "rule" && detail.second == "OtherShape";
                         }),
             is_other_shape);
    // The header-only path agrees, or leaves the reason in its report.
    const auto probe = probeAdapter(path, model.config, model.tensors);
    const bool is_about_values = row.name.starts_with("value:");
    if (probe && !is_about_values) {
        QVERIFY(probe->coverage.errors > 0);
        const CoverageReport& c = probe->coverage;
        QCOMPARE(c.active + c.inert + c.ignored + c.errors, c.tensors);
    }
}

/// What a user may insist on.
void TestBrokenAdapters::overrides() {
    const Model& model = models_["e2b"];
    QTemporaryDir folder;
    const fs::path root = folder.path().toStdString();
    Draft draft = validDraft();
    draft.config["init_lora_weights"] = "pissa_niter_4";
    write(draft, root / "pissa");
    AdapterOptions options;
    options.allow_changed_base = true;
    QVERIFY(!loadAdapter(root / "pissa", model.config, model.tensors));
    const auto pissa = loadAdapter(root / "pissa", model.config, model.tensors, options);
    QVERIFY(pissa);
    QCOMPARE((*pissa)->coverage().notes.size(), size_t{1});
    draft = validDraft();
    for (int layer = 10; layer < 20; ++layer) {
        addPair(draft.tensors,
                "base_model.model.model.language_model.layers." + std::to_string(layer) +
                    ".self_attn.q_proj",
                64, 64, 4, 1);
    }
    write(draft, root / "foreign");
    QVERIFY(!loadAdapter(root / "foreign", model.config, model.tensors));
    options = {};
    options.allow_foreign = true;
    const auto foreign = loadAdapter(root / "foreign", model.config, model.tensors, options);
    QVERIFY(foreign);
    QCOMPARE((*foreign)->coverage().ignored, 20);
}

TEST_CLASS(TestBrokenAdapters)
#include "tst_broken_adapters.moc"
