// SPDX-License-Identifier: Apache-2.0
// Writes the seed corpora of the fuzz targets into the folder named on the command line: the golden
// models' files and every named malformed case of the unit tests.
#include "engine/text/tokenizer_bytes.h"
#include "tests/engine/files/malformed_config.h"
#include "tests/engine/files/malformed_gguf.h"
#include "tests/engine/files/malformed_index.h"
#include "tests/engine/files/malformed_safetensors.h"
#include "tests/engine/media/media_files.h"
#include "tests/support/files.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Larger seeds slow the fuzzer down more than they help.
constexpr size_t kMaxSeedBytes = 20'000;

class Corpus {
public:
    explicit Corpus(fs::path folder) : folder_(std::move(folder)) {
        fs::create_directories(folder_);
    }
    void add(const std::string& bytes) {
        if (bytes.size() <= kMaxSeedBytes) {
            support::writeBytes(folder_ / ("seed" + std::to_string(count_++)), bytes);
        }
    }
    [[nodiscard]] int count() const { return count_; }

private:
    fs::path folder_;
    int count_ = 0;
};

/// The golden tokenizer with its byte tokens, added tokens and a few letters and merges only.
json smallTokenizer(const fs::path& file) {
    json tokenizer = json::parse(support::textOf(file));
    json& model = tokenizer["model"];
    json vocab = json::object();
    std::vector<std::pair<int, std::string>> kept;
    for (const auto& [token, id] : model["vocab"].items()) {
        const bool is_byte = token.size() == 6 && token.rfind("<0x", 0) == 0;
        bool is_added = false;
        for (const json& added : tokenizer["added_tokens"]) {
            is_added = is_added || added["content"] == token;
        }
        const bool is_letter = token.size() == 1 && token[0] >= 'a' && token[0] <= 'e';
        if (is_byte || is_added || is_letter || token == "\xe2\x96\x81") {
            kept.emplace_back(id.get<int>(), token);
        }
    }
    std::sort(kept.begin(), kept.end());
    for (const auto& [old_id, token] : kept) {
        vocab[token] = vocab.size();
    }
    json merges = json::array();
    for (const char* pair : {"a b", "c d", "ab c"}) {
        const std::string text(pair);
        const std::string left = text.substr(0, text.find(' '));
        const std::string right = text.substr(text.find(' ') + 1);
        if (vocab.contains(left) && vocab.contains(right)) {
            vocab[left + right] = vocab.size();
            merges.push_back({left, right});
        }
    }
    for (json& added : tokenizer["added_tokens"]) {
        added["id"] = vocab[added["content"].get<std::string>()];
    }
    model["vocab"] = vocab;
    model["merges"] = merges;
    return tokenizer;
}

/// A byte-level file with one merge, words as Llama 3 has them and one marker.
json byteLevelTokenizer() {
    json vocab = json::object();
    for (int byte = 0; byte < 256; ++byte) {
        vocab[std::string(engine::text::byteCharacter(static_cast<uint8_t>(byte)))] = byte;
    }
    vocab["ab"] = 256;
    const json words = {{"type", "Split"},
                        {"pattern",
                         {{"Regex", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)"
                                    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
                                    R"(\s+(?!\S)|\s+)"}}},
                        {"behavior", "Isolated"},
                        {"invert", false}};
    const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
    return {{"added_tokens", {{{"id", 257}, {"content", "<|end|>"}, {"special", true}}}},
            {"pre_tokenizer",
             {{"type", "Sequence"}, {"pretokenizers", {words, {{"type", "Digits"}}, bytes}}}},
            {"decoder", {{"type", "ByteLevel"}}},
            {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"a b"}}}}};
}

/// The header text of a safetensors file.
std::string headerOf(const fs::path& file) {
    const std::string bytes = support::textOf(file);
    uint64_t size = 0;
    std::memcpy(&size, bytes.data(), std::min(sizeof(size), bytes.size()));
    return bytes.size() < 8 + size ? std::string() : bytes.substr(8, size);
}

int addAdapters(const fs::path& root, const fs::path& golden) {
    Corpus adapters(root / "adapter");
    const std::string separator(1, '\0');
    for (const auto& entry : fs::recursive_directory_iterator(golden)) {
        if (entry.path().filename() != "adapter_config.json") {
            continue;
        }
        const std::string config = json::parse(support::textOf(entry.path())).dump();
        const std::string header =
            headerOf(entry.path().parent_path() / "adapter_model.safetensors");
        adapters.add(config + separator + header);
        // A part of it, small enough to be changed at every place.
        json part = json::object();
        const json whole = json::parse(header);
        uint64_t end = 0;
        for (const auto& [name, tensor] : whole.items()) {
            if (name == "__metadata__" || part.size() >= 8) {
                continue;
            }
            const uint64_t size = tensor["data_offsets"][1].get<uint64_t>() -
                                  tensor["data_offsets"][0].get<uint64_t>();
            part[name] = tensor;
            part[name]["data_offsets"] = {end, end + size};
            end += size;
        }
        adapters.add(config + separator + part.dump());
    }
    const std::string pair =
        support::headerEntry("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
                             "F32", "4,64", "0,1024") +
        "," +
        support::headerEntry("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight",
                             "F32", "64,4", "1024,2048");
    for (
        const char* members :
        {R"("target_modules":["q_proj"])", R"("target_modules":".*\\.q_(proj|x+)$")",
         R"("target_modules":"all-linear","use_rslora":true)",
         R"("target_modules":["q_proj"],"rank_pattern":{"^model.*q_proj":4},"alpha_pattern":{"q":1.5})",
         R"("target_modules":["q_proj"],"layers_to_transform":[0,1],"layers_pattern":"layers")",
         R"("modules_to_save":["embed_tokens"],"trainable_token_indices":{"embed_tokens":[0,5]})",
         R"("target_parameters":["mlp.experts.gate_up_proj"],"bias":"lora_only")"}) {
        adapters.add(R"({"peft_type":"LORA","r":4,"lora_alpha":8,)" + std::string(members) + "}" +
                     separator + "{" + pair + "}");
    }
    return adapters.count();
}

int addGgufs(const fs::path& root) {
    Corpus files(root / "gguf");
    for (support::gguf::File file :
         {support::gguf::gemma(), support::gguf::gemmaWithExperts(),
          support::gguf::gemmaWithoutTables(), support::gguf::assistant(), support::gguf::llama(),
          support::gguf::llamaPieces(), support::gguf::projector(), support::gguf::embedders()}) {
        files.add(file.header());
        std::erase_if(file.keys,
                      [](const auto& key) { return key.first.starts_with("tokenizer"); });
        files.add(file.header());
    }
    support::gguf::File whole = support::gguf::llama(); // small enough to have its data
    for (support::gguf::Tensor& tensor : whole.tensors) {
        tensor.type = tensor.dims.size() > 1 ? 2 : 0; // Q4_0
    }
    files.add(whole.bytes());
    for (const support::MalformedGguf& row : support::malformedGgufs()) {
        for (const auto& [name, bytes] : row.files) {
            // The zeros of the tensors behind a header would take most of the mutations.
            const size_t end = bytes.find_last_not_of('\0') + 17;
            files.add(bytes.substr(0, std::min({bytes.size(), end, kMaxSeedBytes})));
        }
    }
    return files.count();
}

/// Adapters with all kinds of tensors, one of them in blocks.
int addGgufAdapters(const fs::path& root) {
    namespace gguf = support::gguf;
    Corpus files(root / "gguf_adapter");
    const gguf::File sound = gguf::adapter();
    files.add(sound.bytes());
    const auto with = [&](std::vector<gguf::Tensor> tensors) {
        gguf::File file = sound;
        file.tensors = std::move(tensors);
        files.add(file.bytes());
    };
    with({{"token_embd.weight.lora_a", {1, 1024}, 1}, {"token_embd.weight.lora_b", {1, 64}, 1}});
    with({{"blk.0.attn_q.weight.lora_a", {64, 4}, 8},
          {"blk.0.attn_q.weight.lora_b", {4, 64}, 30},
          {"blk.0.attn_norm.weight", {64}}});
    with({{"blk.0.ffn_gate_up_exps.weight.lora_a", {8, 2, 4}},
          {"blk.0.ffn_gate_up_exps.weight.lora_b", {2, 8, 4}},
          {"blk.0.ffn_down_exps.weight.lora_a", {8, 2, 4}},
          {"blk.0.ffn_down_exps.weight.lora_b", {2, 8, 4}}});
    gguf::File llama = sound; // for support::gguf::llama()
    llama.set("general.architecture", gguf::value("llama"));
    llama.tensors = {{"blk.1.attn_k.weight.lora_a", {32, 2}},
                     {"blk.1.attn_k.weight.lora_b", {2, 16}},
                     {"output.weight.lora_a", {32, 2}},
                     {"output.weight.lora_b", {2, 7}}};
    files.add(llama.bytes());
    return files.count();
}

int addDeviceMaps(const fs::path& root) {
    Corpus maps(root / "device_map");
    for (const char* text :
         {R"({"":0})", R"({"":"cpu","lm_head":1})",
          R"({"":0,"model.vision_tower":"cpu","model.audio_tower":"disk"})",
          R"({"model.embed_tokens":0,"model.layers.0":0,"model.layers.1":"cpu","model.norm":1})",
          R"({"version":1,"default":"cuda:0"})",
          R"({"version":1,"default":"cuda:0","map":{"model.layers.[1-3]":"cuda:1"}})",
          R"({"version":1,"default":{"store":"cpu","compute":"cuda:0","residency":"stream"},
 "map":{"model":{"pin":true},"model.layers.3":{"pin":false,"format":"nf4"},
 "lm_head":{"store":"cuda:0","compute":"cuda:0","duplicate_tied":true}},
 "limits":{"cuda:0":"7.5GiB","cpu":"512MiB"},"reserve":{"cuda:0":"300MB"},
 "kv":{"context":4096,"place":"cuda:0","format":"bf16"},"adapter":{"place":"follow_compute"},
 "model":{"architecture":"Gemma4ForConditionalGeneration","layers":5},"notes":"x"})",
          R"({"version":1,"default":"cpu","map":{"base_model.model.model.layers.0.self_attn.q_proj":
 {"store":"disk","compute":"cuda:1","residency":"on_use"},"model.vision_tower":"sim:0"}})",
          "\xef\xbb\xbf{\"version\":1,\"default\":\"cuda:0\",\"map\":{\"rotary_emb\":\"cpu\"}}"}) {
        maps.add(text);
    }
    return maps.count();
}

int addStores(const fs::path& root) {
    // See fuzz_chat_store.cpp: what the bytes are, then places and what is put there.
    Corpus stores(root / "chat_store");
    for (const char* input :
         {"\0\0\0\x2f\x09", "\0\0\0\x3f\xfd", "\0\0\0\x12\x07", "\0\0\x10\0\x05",
          "\0\0\x20\x03\xff", "\x01\x80\0\x04\xff", "\x01\x80\0\x28\xff", "\x01\x80\x12\x34\x56",
          "\x01\x81\x12\x34\x56"}) {
        stores.add(std::string(input, 5));
    }
    stores.add(std::string("\x02SQLite format 3\0\x10\0\x02\x02\0\x40\x20\x20", 25));
    stores.add(std::string("\x03\x37\x7f\x06\x82\0\x2d\xe2\x18\0\0\x10\0", 13));
    return stores.count();
}

int addChats(const fs::path& root) {
    Corpus chats(root / "chat_import");
    const std::string begin = R"({"format":"belfry-chat","version":1,"title":"T","turns":[)";
    const std::string question = R"({"role":"user","text":"Q","time":"2026-01-02T03:04:05Z")";
    const std::string answer =
        R"({"role":"assistant","text":"A","thinking":"t","finish_reason":"stop","seed":"17",)"
        R"("model":"demo","timing":{"decode_tokens":3,"decode_s":0.5},"notes":["n"],"cut":true,)"
        R"("adapters":[{"folder":"/a","strength":0.5,"enabled":true}]})";
    const std::string end =
        R"(],"system_prompt":"S","sampling":{"temperature":0.7,"seed":"9007199254740993"},)"
        R"("thinking":true,"image_tokens":280,"model":"/m"})";
    chats.add(begin + question + "}," + answer + end);
    for (const char* file :
         {"chat_files/picture.png", "chat_files/link.png", "chat_files/linked/secret.png",
          "chat_files/pipe.png", "chat_files/tool.exe", "../outside/secret.png", "/etc/passwd",
          "chat_files/../../outside/secret.png", "chat_files"}) {
        const support::ByteVector png = support::mediaFile("png palette");
        chats.add(begin + question +
                  R"(,"attachments":[{"kind":"image","name":"cat.png","file":")" + file +
                  R"("}]})" + end + std::string(1, '\0') + std::string(png.begin(), png.end()));
    }
    chats.add(begin + question + "}," + answer.substr(0, answer.size() - 1) + R"(,"versions":[[)" +
              answer + "," + question + "}]],\"version\":1}" + end);
    return chats.count();
}

/// One small good file of every kind, as the tests of the media folder have them.
int addMedia(const fs::path& root, const char* folder, const std::vector<const char*>& kinds) {
    Corpus files(root / folder);
    for (const char* kind : kinds) {
        const support::ByteVector bytes = support::mediaFile(kind);
        files.add(std::string(bytes.begin(), bytes.end()));
    }
    return files.count();
}

/// Answers of servers behind the two bytes that say how they are read.
int addStreams(const fs::path& root) {
    Corpus streams(root / "chat_stream");
    const std::string begin = R"(data: {"choices":[{"index":0,"delta":)";
    const std::string words = begin + R"({"content":"<think>a</think>b"},"finish_reason":null}]})";
    const std::string thoughts = begin + R"({"reasoning":"c","reasoning_content":""}}]})";
    const std::string call = begin +
                             R"({"tool_calls":[{"index":0,"id":"i","function":)"
                             R"({"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]})";
    const std::string usage = R"(data: {"choices":[],"usage":{"prompt_tokens":3,)"
                              R"("completion_tokens":4,"prompt_tokens_details":)"
                              R"({"cached_tokens":1}}})";
    const std::string done = "data: [DONE]";
    const std::string gap = "\n\n";
    streams.add("\x03\x02: life\r\n\r\n" + words + "\r\n\r\n" + done + "\r\n\r\n");
    streams.add("\x07\x02" + thoughts + gap + words + gap + call + gap + usage + gap + done + gap);
    streams.add("\x05\x01"
                R"({"choices":[{"message":{"content":"a"},"finish_reason":"length"}]})");
    streams.add("\x05\x64"
                R"({"error":{"message":"no","type":"x","code":400}})");
    streams.add("\x05\x68<html><head><title>502</title></head></html>");
    streams.add("\x05\x02"
                R"({"object":"list","data":[{"id":"m","owned_by":"vllm"}]})");
    return streams.count();
}

} // namespace

void addTemplates(const fs::path& root) {
    Corpus templates(root / "template");
    templates.add("{{ bos_token }}{% for message in messages %}<|turn>{{ message['role'] }}\n"
                  "{{ message.content | trim }}<turn|>\n{% endfor %}"
                  "{% if add_generation_prompt %}<|turn>model\n{% endif %}");
    templates.add("{% macro f(a, b=1) %}{{ a ~ b }}{% endmacro %}{{ f('c') }}{{ f(b=2, a=low) }}");
    templates.add("{% set ns = namespace(l=[x]) %}{% for i in range(17) %}"
                  "{% set ns.l = ns.l + ns.l %}{% endfor %}{{ ns.l | join | length }}");
    templates.add("{{ 'abc'[1::9223372036854775807] }}{{ x[low:high:-3] }}{{ range(low,high) }}");
    templates.add("{{ x.replace('a','bb') | length }}{{ x.split('aa')[-1] }}{{ 'ab' in x }}");
    templates.add("{{ {'b': 1, 'a': [2, 3.5]} | dictsort }}{{ -low }}{{ 7 // -2 % 3 }}");
    templates.add("{{ " + std::string(300, '(') + "1" + std::string(300, ')') + " }}");
    templates.add("{{ a" + std::string(4000, '.') +
                  "b }}{% if x is not none and not y %}{% endif %}");
}

/// What chooses a kind of value and nothing more: the target fills values itself.
int addMessages(const fs::path& root) {
    Corpus messages(root / "engine_messages");
    for (char kind = 0; kind < 12; ++kind) {
        messages.add(std::string({kind, '\1', '\3', '\0', '\5', '\7'}));
        messages.add(std::string({kind, '\0', '\3', '\0', '\0', '\0', '\0'}));
    }
    return messages.count();
}

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    const fs::path root(argv[1]);
    const fs::path golden(BELFRY_GOLDEN_DIR);

    Corpus headers(root / "safetensors_header");
    headers.add("{}");
    headers.add("  {\"__metadata__\":{\"format\":\"pt\"}," +
                support::headerEntry("a", "F32", "2,3", "0,24") + "," +
                support::headerEntry("b", "F4", "4", "24,26") + "} ");
    for (const support::MalformedCase& row : support::malformedSafetensors()) {
        const std::string& bytes = row.files[0].second;
        headers.add(bytes.size() > 8 ? bytes.substr(8) : bytes);
    }

    Corpus indexes(root / "shard_index");
    indexes.add(
        R"({"metadata":{"total_size":4},"weight_map":{"a":"x.safetensors","b":"y.safetensors"}})");
    for (const support::MalformedCase& row : support::malformedIndexes()) {
        indexes.add(row.files[0].second);
    }

    Corpus configs(root / "config");
    Corpus tokenizers(root / "tokenizer");
    for (const char* model : {"e2b", "e4b", "dense31b", "moe26b"}) {
        const fs::path folder = golden / model / "model";
        const support::ConfigTexts sound{support::textOf(folder / "config.json"),
                                         support::textOf(folder / "processor_config.json")};
        const std::string separator(1, '\0');
        configs.add(json::parse(sound.config).dump() + separator +
                    json::parse(support::textOf(folder / "generation_config.json")).dump() +
                    separator + json::parse(sound.processor).dump());
        if (model == std::string("e2b")) {
            for (const support::MalformedCase& row : support::malformedConfigs(sound)) {
                const auto& [name, content] = row.files[0];
                configs.add(name == "config.json" ? content : sound.config + separator + content);
            }
        }
    }
    tokenizers.add(byteLevelTokenizer().dump() + std::string(1, '\0') + "ab <|end|>12\xff e");
    const json tokenizer = smallTokenizer(golden / "e2b" / "model" / "tokenizer.json");
    tokenizers.add(tokenizer.dump());
    tokenizers.add(tokenizer.dump() + std::string(1, '\0') + "abc d<bos>\xff e");
    for (const auto& [key, value] : tokenizer.items()) {
        json changed = tokenizer;
        changed.erase(key);
        tokenizers.add(changed.dump());
    }
    for (const auto& [key, value] : tokenizer["model"].items()) {
        json changed = tokenizer;
        changed["model"].erase(key);
        tokenizers.add(changed.dump());
    }
    addTemplates(root);
    Corpus requests(root / "serve_request");
    const std::string head = "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:1\r\n"
                             "authorization: Bearer a-token-of-the-fuzzer\r\n"
                             "content-type: application/json\r\ncontent-length: 2\r\n\r\n";
    requests.add(head + R"({"model":"m","stream":true,"temperature":0.5,"stop":["a"],"messages":[)"
                        R"({"role":"system","content":"S"},{"role":"user","content":[)"
                        R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}},)"
                        R"({"type":"input_audio","input_audio":{"data":"AQID","format":"wav"}},)"
                        R"({"type":"text","text":"Q"}]}]})");
    requests.add(head + R"({"model":"m","prompt":["Once"],"max_tokens":4,"logprobs":2})");
    requests.add("GET /health HTTP/1.1\r\nhost: 127.0.0.1:1\r\norigin: null\r\n\r\n");
    const int adapters = addAdapters(root, golden);
    const int ggufs = addGgufs(root);
    const int gguf_adapters = addGgufAdapters(root);
    const int maps = addDeviceMaps(root);
    const int stores = addStores(root);
    const int chats = addChats(root);
    const int pictures = addMedia(root, "image",
                                  {"png", "png palette", "jpeg", "jpeg progressive", "jpeg cmyk",
                                   "webp lossy", "webp lossless"});
    const int sounds = addMedia(
        root, "audio", {"wav", "wav float", "wav adpcm", "flac", "vorbis", "opus", "mp3", "aiff"});
    const int streams = addStreams(root);
    const int messages = addMessages(root);
    std::printf("seeds: %d headers, %d indexes, %d configs, %d tokenizers, %d adapters, %d device "
                "maps, %d pictures, %d sounds, %d stores, %d chats, %d streams, %d requests, "
                "%d messages, %d GGUF files, %d GGUF adapters\n",
                headers.count(), indexes.count(), configs.count(), tokenizers.count(), adapters,
                maps, pictures, sounds, stores, chats, streams, requests.count(), messages, ggufs,
                gguf_adapters);
    return 0;
}
