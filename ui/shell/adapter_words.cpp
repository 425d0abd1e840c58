// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/adapter_words.h"

#include "ui/common/oddity_words.h"
#include "ui/common/sentence_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>

#include <variant>

namespace ui {

namespace {

using namespace engine::adapter_note;

struct Adapter {
    Q_DECLARE_TR_FUNCTIONS(ui::AdapterNote)
};

QString words(const UnknownMember& n) {
    return Adapter::tr("%1 in adapter_config.json is %2, and is not known here. It is ignored; the "
                       "adapter may act otherwise than in PEFT.")
        .arg(fromUtf8(n.name), fromUtf8(n.value));
}

QString words(const FanInFanOut& /*n*/) {
    return Adapter::tr(
        "fan_in_fan_out is true. It has no meaning for linear layers and was reset.");
}

QString words(const ChangedBase& n) {
    return Adapter::
        tr("init_lora_weights is \"%1\": the adapter is right only on the base that this changed.")
            .arg(fromUtf8(n.initialisation));
}

QString words(const RuntimeConfig& /*n*/) {
    return Adapter::tr("runtime_config is ignored, as PEFT does.");
}

QString words(const TrainingOnly& n) {
    return Adapter::tr("%1 concerns training only and is ignored.").arg(fromUtf8(n.name));
}

QString words(const OtherBase& n) {
    return Adapter::tr("The adapter was made for %1; this model is %2.")
        .arg(fromUtf8(n.base), fromUtf8(n.variant));
}

QString words(const UnnamedReplacement& n) {
    return Adapter::tr(
               "%1 replaces a tensor of the model although modules_to_save does not name it.")
        .arg(fromUtf8(n.tensor));
}

QString words(const ExpertOrder& n) {
    const QString version = n.version.empty()
                                ? Adapter::tr("the file names no version")
                                : Adapter::tr("the file is of PEFT %1").arg(fromUtf8(n.version));
    return n.is_turned ? Adapter::tr("The factors of the experts stand transposed, as PEFT before "
                                     "0.19.1 stored them (%1). They are turned round.")
                             .arg(version)
                       : Adapter::tr("The factors of the experts have the shapes of PEFT 0.19.1 "
                                     "and later, although %1. The shapes count.")
                             .arg(version);
}

QString words(const PatternUnread& n) {
    return n.is_of_rank ? Adapter::tr("A pattern of ranks cannot be read (%1). The ranks are taken "
                                      "from the shapes of the factors.")
                              .arg(sentenceWords(n.why))
                        : Adapter::tr("A pattern of modules cannot be read (%1). The modules that "
                                      "have tensors in the file are taken as the targeted ones.")
                              .arg(sentenceWords(n.why));
}

QString words(const Template& n) {
    return Adapter::tr("In the folder of the adapter: %1").arg(oddityWords(n.odd));
}

QString words(const UnknownTokens& n) {
    return Adapter::tr("%1 in the folder of the adapter has tokens that the tokenizer of the model "
                       "lacks: %2. Prompts are cut with that of the model, these into several "
                       "tokens, so that the adapter does not see what it was trained on. A copy of "
                       "the folder of the model with this tokenizer.json cuts them rightly.")
        .arg(fromUtf8(n.file), listedWords(n.tokens, n.count));
}

QString words(const TokenizerUnread& n) {
    return Adapter::tr(
               "The tokenizer in the folder of the adapter cannot be read (%1). Whether the "
               "adapter needs further tokens is not known.")
        .arg(sentenceWords(n.why));
}

} // namespace

QString keyReasonWords(const engine::KeyReason& reason) {
    using Why = engine::KeyReason::Why;
    switch (reason.why) {
    case Why::SharesKv:
        return Adapter::tr("layer %1 uses the keys and values of layer %2")
            .arg(reason.layer)
            .arg(reason.other);
    case Why::ValuesAreKeys:
        return Adapter::tr("layer %1 takes its values from k_proj").arg(reason.layer);
    case Why::FewerLayers:
        return Adapter::tr("the model has only %1 layers").arg(reason.other);
    case Why::Unused:
        return Adapter::tr("the model does not use %1").arg(fromUtf8(reason.name));
    case Why::NoVision:
        return Adapter::tr("the model has no vision tower");
    case Why::NoAudio:
        return Adapter::tr("the model has no audio tower");
    case Why::LeftOut:
        return Adapter::tr("%1 in adapter_config.json leaves it out").arg(fromUtf8(reason.name));
    case Why::TurnedOff:
        return Adapter::tr("%1 in adapter_config.json is false").arg(fromUtf8(reason.name));
    case Why::NoModuleNamed:
        return Adapter::tr("the key names no module");
    case Why::NoModule:
        return Adapter::tr("the model has no module %1").arg(fromUtf8(reason.name));
    case Why::NoParameter:
        return Adapter::tr("the module has no parameter %1").arg(fromUtf8(reason.name));
    case Why::SavedWhole:
        return Adapter::tr("modules_to_save replaces its module whole");
    case Why::NotBaseLayer:
        return Adapter::tr(
            "the module has a low-rank update; its own weight would be called base_layer.weight");
    case Why::SameAsBase:
        return Adapter::tr("it equals the table of the model");
    case Why::OtherRefused:
        return Adapter::tr("another tensor of its module is refused");
    case Why::TextOnly:
        return Adapter::tr("its tower is left out while the model is loaded for text only");
    case Why::Refused:
        return Adapter::tr("it contradicts the model or adapter_config.json");
    case Why::None:
        break;
    }
    return {};
}

QString adapterNoteWords(const engine::AdapterNote& note) {
    return std::visit([](const auto& one) { return words(one); }, note);
}

} // namespace ui
