// SPDX-License-Identifier: Apache-2.0
#include "engine/files/oddity_english.h"

#include "engine/base/sentence_english.h"

namespace engine {

std::string listed(const std::vector<std::string>& names, size_t count) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return count > names.size() ? text + " and " + std::to_string(count - names.size()) + " more"
                                : text;
}

namespace {

std::string text(const odd::ConfigMember& o) {
    using Kind = odd::ConfigMember::Kind;
    const std::string name = o.file + ": " + o.member + " ";
    switch (o.kind) {
    case Kind::NoArchitecture:
        return name + "is missing; taken as " + o.value;
    case Kind::NotResized:
        return name + "is false; pictures are resized all the same";
    case Kind::NotRight:
        return name + "is not \"right\"; recordings are padded on the right";
    case Kind::EndsSliding:
        return name + "ends with a sliding layer; the last layer is always full";
    case Kind::OneRope:
        return name + "has no members per layer type; it is taken for the full-attention layers";
    case Kind::LeftOut:
        return name + "is " + o.value + ", which cannot be used there; it is left out";
    case Kind::TakenAs:
        return name + "is out of its range; it is taken as " + o.value;
    case Kind::NotRun:
        return name + "is " + o.value +
               "; this is not run here, so that replies can differ from those of transformers";
    }
    return {};
}

std::string text(const odd::PackedByConfig& /*o*/) {
    return "config.json: its quantization_config tells which weights are packed in 4 bits, as the "
           "weight files are not there to say so";
}

std::string text(const odd::HeadIsTable& o) {
    return o.head + ": stands for the token embedding, which the files do not hold under its own "
                    "name (config.json: both are one table)";
}

std::string text(const odd::OwnHead& o) {
    return o.head + (o.is_denied
                         ? ": is used as the output head, as its values are not those of the token "
                           "embedding, although config.json says that both are one table; "
                           "\"tie_word_embeddings\": false there says what the files hold"
                         : ": the output head is a tensor of its own, not the token embedding");
}

std::string text(const odd::ForeignTemplate& o) {
    return o.where +
           ": does not look like a Gemma 4 template; it is not used: this prompt is written with "
           "<|turn>, the template writes " +
           (o.marks.empty() ? "no marks of turns" : o.marks) +
           ". A model that was trained on the template's turns may answer worse";
}

std::string text(const odd::FurtherTemplate& o) {
    return o.where + ": a further chat template, chosen by name in transformers; it is not used";
}

std::string text(const odd::TemplateUnread& o) {
    return inEnglish(o.why) + " (its chat template is not known)";
}

std::string text(const odd::NoWeights& o) {
    return listed(o.files, o.count) +
           (o.count == 1
                ? ": holds only its header, no weights; download the whole file to load it"
                : ": hold only their headers, no weights; download the whole files to load them");
}

std::string text(const odd::WeightsUnread& o) {
    return inEnglish(o.why);
}

std::string text(const odd::HeaderMember& o) {
    return o.file + ": tensor " + o.tensor + ": unknown member \"" + o.member + "\" ignored (ST06)";
}

std::string text(const odd::MoreHeaderMembers& o) {
    return o.file + ": " + std::to_string(o.count) + " more unknown members ignored (ST06)";
}

std::string text(const odd::ElementType& o) {
    return o.file + ": tensor " + o.tensor + ": element type " + o.type +
           " cannot be read; the tensor is skipped (ST05)";
}

std::string text(const odd::NoTotalSize& o) {
    return o.index + ": metadata.total_size is not a plain whole number; it is ignored";
}

std::string text(const odd::OtherTotalSize& o) {
    return o.index + ": metadata.total_size is " + std::to_string(o.told) + ", the tensors have " +
           std::to_string(o.found) + " bytes";
}

std::string text(const odd::UnnamedTensors& o) {
    return o.index + ": does not name these tensors of its shards, they are ignored: " +
           listed(o.tensors, o.count);
}

std::string text(const odd::SingleFileUsed& /*o*/) {
    return "both model.safetensors and model.safetensors.index.json exist; the single file is used";
}

std::string text(const odd::LoadWouldFail& o) {
    return "a load would fail: " + inEnglish(o.why);
}

std::string text(const odd::LoadWouldFailAtMore& o) {
    return "a load would fail at " + std::to_string(o.count) + " more tensors";
}

std::string text(const odd::PostProcessor& o) {
    return "tokenizer.json: post_processor (" + o.type +
           ") is not applied: raw text gets no special tokens from it";
}

std::string text(const odd::TokenizerMember& o) {
    return "tokenizer.json: the member " + o.member + " is unknown and has no effect";
}

std::string text(const odd::TokenizerRefused& o) {
    return inEnglish(o.why);
}

std::string text(const odd::NoTokenizer& /*o*/) {
    return "tokenizer.json is not in the folder: planning works, loading does not";
}

std::string text(const odd::DefaultsUnread& o) {
    return inEnglish(o.why) + " (the usual defaults of such models are used instead)";
}

std::string text(const odd::SpellableToken& o) {
    return "tokenizer.json: ordinary text becomes the special token " + o.token +
           "; it counts as a word and is shown in replies";
}

} // namespace

std::string inEnglish(const ModelOddity& oddity) {
    return std::visit([](const auto& one) { return text(one); }, oddity);
}

std::vector<std::string> inEnglish(const std::vector<ModelOddity>& oddities) {
    std::vector<std::string> texts;
    texts.reserve(oddities.size());
    for (const ModelOddity& oddity : oddities) {
        texts.push_back(inEnglish(oddity));
    }
    return texts;
}

} // namespace engine
