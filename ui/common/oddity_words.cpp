// SPDX-License-Identifier: Apache-2.0
#include "ui/common/oddity_words.h"

#include "ui/common/sentence_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QStringList>

#include <variant>

namespace ui {

namespace {

using namespace engine::odd;

struct Odd {
    Q_DECLARE_TR_FUNCTIONS(ui::ModelOddity)
};

QString count(size_t value) {
    return formatCount(static_cast<qint64>(value));
}

} // namespace

QString listedWords(const std::vector<std::string>& names, size_t all) {
    QStringList words;
    for (const std::string& name : names) {
        words << fromUtf8(name);
    }
    const QString text = words.join(QStringLiteral(", "));
    return all > names.size() ? Odd::tr("%1 and %2 more").arg(text, count(all - names.size()))
                              : text;
}

namespace {

QString words(const ConfigMember& o) {
    const QString file = fromUtf8(o.file);
    const QString member = fromUtf8(o.member);
    switch (o.kind) {
    case ConfigMember::Kind::NoArchitecture:
        return Odd::tr("%1: %2 is missing and taken as %3.").arg(file, member, fromUtf8(o.value));
    case ConfigMember::Kind::NotResized:
        return Odd::tr("%1: %2 is false. Pictures are resized all the same.").arg(file, member);
    case ConfigMember::Kind::NotRight:
        return Odd::tr("%1: %2 is not \"right\". Recordings are padded on the right.")
            .arg(file, member);
    case ConfigMember::Kind::EndsSliding:
        return Odd::tr("%1: %2 ends with a sliding layer. The last layer is always full.")
            .arg(file, member);
    case ConfigMember::Kind::OneRope:
        return Odd::
            tr("%1: %2 has no members per layer type. It is taken for the full-attention layers.")
                .arg(file, member);
    case ConfigMember::Kind::LeftOut:
        return Odd::tr("%1: %2 is %3, which cannot be used there. It is left out.")
            .arg(file, member, fromUtf8(o.value));
    case ConfigMember::Kind::TakenAs:
        return Odd::tr("%1: %2 is out of its range. It is taken as %3.")
            .arg(file, member, fromUtf8(o.value));
    case ConfigMember::Kind::NotRun:
        return Odd::tr("%1: %2 is %3. This is not run here, so that replies can differ from those "
                       "of transformers.")
            .arg(file, member, fromUtf8(o.value));
    }
    return {};
}

QString words(const PackedByConfig& /*o*/) {
    return Odd::tr(
        "The weights are not there; config.json says which of them are packed in 4 bits.");
}

QString words(const HeadIsTable& o) {
    return Odd::tr("%1 stands for the token embedding, which the files do not hold under its own "
                   "name (config.json: both are one table).")
        .arg(fromUtf8(o.head));
}

QString words(const OwnHead& o) {
    return (o.is_denied
                ? Odd::tr("%1 is used as the output head: its values are not those of the token "
                          "embedding, although config.json says that both are one table. "
                          "\"tie_word_embeddings\": false there says what the files hold.")
                : Odd::tr("%1: the output head is a tensor of its own, not the token embedding."))
        .arg(fromUtf8(o.head));
}

QString words(const ForeignTemplate& o) {
    return o.marks.empty()
               ? Odd::tr("%1 does not look like a chat template of Gemma 4 and is not used: "
                         "prompts are written with <|turn>, the template writes no marks of turns. "
                         "A model that was trained on its turns may answer worse.")
                     .arg(fromUtf8(o.where))
               : Odd::tr("%1 does not look like a chat template of Gemma 4 and is not used: "
                         "prompts are written with <|turn>, the template writes %2. A model that "
                         "was trained on its turns may answer worse.")
                     .arg(fromUtf8(o.where), fromUtf8(o.marks));
}

QString words(const FurtherTemplate& o) {
    return Odd::tr("%1 is a further chat template, chosen by name in transformers. It is not used.")
        .arg(fromUtf8(o.where));
}

QString words(const TemplateUnread& o) {
    return Odd::tr("The chat template of the model is not known: %1").arg(sentenceWords(o.why));
}

QString words(const NoWeights& o) {
    return (o.count == 1
                ? Odd::tr(
                      "%1 holds only its header, no weights. Download the whole file to load it.")
                : Odd::tr("%1 hold only their headers, no weights. Download the whole files to "
                          "load them."))
        .arg(listedWords(o.files, o.count));
}

QString words(const WeightsUnread& o) {
    return Odd::tr("The weights cannot be opened: %1").arg(sentenceWords(o.why));
}

QString words(const HeaderMember& o) {
    return Odd::tr("%1: the tensor %2 has an unknown member “%3”, which is ignored.")
        .arg(fromUtf8(o.file), fromUtf8(o.tensor), fromUtf8(o.member));
}

QString words(const MoreHeaderMembers& o) {
    return Odd::tr("%1: %2 more unknown members are ignored.")
        .arg(fromUtf8(o.file), count(o.count));
}

QString words(const ElementType& o) {
    return Odd::
        tr("%1: the tensor %2 has elements of the type %3, which cannot be read. It is skipped.")
            .arg(fromUtf8(o.file), fromUtf8(o.tensor), fromUtf8(o.type));
}

QString words(const NoTotalSize& o) {
    return Odd::tr("%1: metadata.total_size is not a plain whole number and is ignored.")
        .arg(fromUtf8(o.index));
}

QString words(const OtherTotalSize& o) {
    return Odd::tr("%1: metadata.total_size is %2 bytes, the tensors have %3.")
        .arg(fromUtf8(o.index), formatCount(static_cast<qint64>(o.told)),
             formatCount(static_cast<qint64>(o.found)));
}

QString words(const UnnamedTensors& o) {
    return Odd::tr("%1 does not name some tensors of its files, which are ignored: %2.")
        .arg(fromUtf8(o.index), listedWords(o.tensors, o.count));
}

QString words(const SingleFileUsed& /*o*/) {
    return Odd::tr(
        "There is one file of weights and an index of several. The single file is used.");
}

QString words(const LoadWouldFail& o) {
    return Odd::tr("Loading would fail: %1").arg(sentenceWords(o.why));
}

QString words(const LoadWouldFailAtMore& o) {
    return Odd::tr("Loading would fail at %1 more tensors.").arg(count(o.count));
}

QString words(const PostProcessor& o) {
    return Odd::tr("tokenizer.json: post_processor (%1) is not applied. Raw text gets no special "
                   "tokens from it.")
        .arg(fromUtf8(o.type));
}

QString words(const TokenizerMember& o) {
    return Odd::tr("tokenizer.json: the member %1 is unknown and has no effect.")
        .arg(fromUtf8(o.member));
}

QString words(const TokenizerRefused& o) {
    return Odd::tr("Loading would fail at the tokenizer: %1").arg(sentenceWords(o.why));
}

QString words(const NoTokenizer& /*o*/) {
    return Odd::tr(
        "tokenizer.json is missing in the folder: layouts can be tried, loading cannot.");
}

QString words(const DefaultsUnread& o) {
    return Odd::tr("The defaults of replies cannot be read (%1). The usual ones of such models are "
                   "used.")
        .arg(sentenceWords(o.why));
}

QString words(const SpellableToken& o) {
    return Odd::tr("tokenizer.json: ordinary text becomes the special token %1. It counts as a "
                   "word and is shown in replies.")
        .arg(fromUtf8(o.token));
}

} // namespace

QString oddityWords(const engine::ModelOddity& oddity) {
    return std::visit([](const auto& one) { return words(one); }, oddity);
}

} // namespace ui
