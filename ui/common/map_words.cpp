// SPDX-License-Identifier: Apache-2.0
#include "ui/common/map_words.h"

#include "ui/common/note_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QStringList>

#include <string>
#include <vector>

namespace ui {

namespace {

using namespace engine::issue;

struct Map {
    Q_DECLARE_TR_FUNCTIONS(ui::MapText)
};

QString device(engine::DeviceId id) {
    return deviceName(id.toString());
}

/// A character that the text should have there.
QString quoted(char character) {
    return Map::tr("“%1”").arg(QLatin1Char(character));
}

QStringList strings(const std::vector<std::string>& words) {
    QStringList out;
    for (const std::string& word : words) {
        out << fromUtf8(word);
    }
    return out;
}

QString listed(const std::vector<std::string>& words) {
    return strings(words).join(QStringLiteral(", "));
}

/// “a”, “b” or “c”.
QString choiceOf(const std::vector<std::string>& words, const QString& form) {
    QStringList all;
    for (const QString& word : strings(words)) {
        all << form.arg(word);
    }
    if (all.size() < 2) {
        return all.join(QString());
    }
    const QString last = all.takeLast();
    return Map::tr("%1 or %2").arg(all.join(QStringLiteral(", ")), last);
}

QString foundWords(const JsonFound& found) {
    switch (found.kind) {
    case JsonFound::Kind::Null:
        return QStringLiteral("null");
    case JsonFound::Kind::True:
        return QStringLiteral("true");
    case JsonFound::Kind::False:
        return QStringLiteral("false");
    case JsonFound::Kind::Number:
        return Map::tr("the number %1").arg(fromUtf8(found.text));
    case JsonFound::Kind::Text: {
        constexpr qsizetype kLongest = 80;
        const QString text = fromUtf8(found.text);
        return Map::tr("“%1”").arg(text.size() > kLongest ? text.left(kLongest) + QChar(0x2026)
                                                          : text);
    }
    case JsonFound::Kind::Object:
        return Map::tr("an object");
    case JsonFound::Kind::List:
        return Map::tr("a list");
    }
    return {};
}

QString expectedWords(const BadValue& i) {
    using Expected = BadValue::Expected;
    switch (i.expected) {
    case Expected::ImportedPlace:
        return Map::tr(R"("cpu", "disk", "cuda:N", "sim:N" or the number of a device)");
    case Expected::Version:
        return Map::tr("1, the only version there is");
    case Expected::Text:
        return Map::tr("a text");
    case Expected::Object:
        return Map::tr("an object");
    case Expected::Integer:
        return Map::tr("a whole number");
    case Expected::Word:
        return choiceOf(i.words, QStringLiteral("\"%1\""));
    case Expected::Bool:
        return Map::tr("true or false");
    case Expected::Device:
        return Map::tr(R"("cpu", "disk", "cuda:N" or "sim:N")");
    case Expected::ComputeDevice:
        return Map::tr(R"("cpu", "cuda:N" or "sim:N", as nothing computes on disk)");
    case Expected::Member:
        return Map::tr("an object with store, compute, format, residency or another member");
    case Expected::Place:
        return Map::tr(R"("cpu", "disk", "cuda:N", "sim:N", a device number from 0 to 63 or an )"
                       "object");
    case Expected::Size:
        return Map::tr(R"(a size such as "6GiB", "1.5GB", "512MiB", or bytes)");
    case Expected::Tokens:
        return Map::tr("a number of tokens, at least 1");
    }
    return {};
}

QString hereWords(const engine::JsonFault& fault) {
    using Found = engine::JsonFault::Found;
    return fault.found == Found::End       ? Map::tr("the end of the text")
           : fault.found == Found::NotUtf8 ? Map::tr("a byte that is not UTF-8")
                                           : Map::tr("“%1”").arg(fromUtf8(fault.character));
}

/// What a JSON text is expected to have there; empty: the fault is another one.
QString expectedWords(const engine::JsonFault& fault) {
    using Kind = engine::JsonFault::Kind;
    switch (fault.kind) {
    case Kind::NoEnd:
        return Map::tr("the end of the text");
    case Kind::NoName:
        return Map::tr("a name in double quotes");
    case Kind::NoColon:
        return Map::tr("“:” after “%1”").arg(fromUtf8(fault.name));
    case Kind::NoObjectComma:
        return Map::tr("%1 or %2").arg(quoted(','), quoted('}'));
    case Kind::NoListComma:
        return Map::tr("%1 or %2").arg(quoted(','), quoted(']'));
    case Kind::NoValue:
        return Map::tr("a value");
    case Kind::NoDigit:
        return Map::tr("a digit");
    case Kind::NoHexDigits:
        return Map::tr("four hexadecimal digits after \\u");
    default:
        return {};
    }
}

QString faultWords(const engine::JsonFault& fault) {
    using Kind = engine::JsonFault::Kind;
    const QString most = formatCount(static_cast<qint64>(fault.most));
    switch (fault.kind) {
    case Kind::LeadingZero:
        return Map::tr("A number must not start with 0.");
    case Kind::ControlCharacter:
        return Map::tr("A control character or line break is inside a text.");
    case Kind::NotUtf8:
        return Map::tr("A byte is not UTF-8.");
    case Kind::OpenString:
        return Map::tr("The map ends inside a text.");
    case Kind::UnknownEscape:
        return Map::tr("%1 after a backslash has no meaning.").arg(hereWords(fault));
    case Kind::HalfSurrogate:
        return Map::tr("This is half of a surrogate pair.");
    case Kind::RepeatedName:
        return Map::tr("The key “%1” stands twice in one object.").arg(fromUtf8(fault.name));
    case Kind::TooDeep:
        return Map::tr("It is nested deeper than %1 levels.").arg(most);
    case Kind::TooManyValues:
        return Map::tr("It has more than %1 values.").arg(most);
    case Kind::StringTooLong:
        return Map::tr("A text in it is longer than %1 bytes.").arg(most);
    default:
        return Map::tr("Expected %1, found %2.").arg(expectedWords(fault), hereWords(fault));
    }
}

QString placeWords(const KeysDisagree::Key& key) {
    QStringList words;
    if (key.store.has_value()) {
        words << QStringLiteral("store %1").arg(device(*key.store));
    }
    if (key.compute.has_value()) {
        words << QStringLiteral("compute %1").arg(device(*key.compute));
    }
    return words.join(QStringLiteral(", "));
}

QString keyWords(const KeysDisagree::Key& key) {
    return Map::tr("“%1” (line %2)").arg(fromUtf8(key.key), QString::number(key.line));
}

QString halfWords(const HeadApart::Half& half) {
    return Map::tr("stored on %1, computed on %2, format %3 (by %4)")
        .arg(device(half.store), device(half.compute), fromUtf8(half.format), setByWords(half.by));
}

QString hintWords(const MapHint& hint) {
    using Kind = MapHint::Kind;
    const QString word = fromUtf8(hint.word);
    switch (hint.kind) {
    case Kind::None:
        return {};
    case Kind::Automatic:
        return Map::tr("“%1” is accelerate's word for a placement that is worked out; here that "
                       "is “fit”.")
            .arg(word);
    case Kind::FirstCard:
        return Map::tr("“%1” is a device, not a map: “gpu” puts everything there.").arg(word);
    case Kind::Card:
        return Map::tr("“%1” is a device, not a map: for everything there take a file with %2.")
            .arg(word, QStringLiteral("{\"\": \"cuda:%1\"}").arg(fromUtf8(hint.index)));
    case Kind::Device:
        return Map::tr("“%1” is a device, not a map: for everything there take a file with %2.")
            .arg(word, QStringLiteral("{\"\": \"%1\"}").arg(word));
    case Kind::NoSuchDevice:
        return Map::tr("“%1” is a device that Belfry does not have.").arg(word);
    }
    return {};
}

} // namespace

QString mapWords(const MapTooLong& i) {
    return Map::tr("The text has %1; a device map has at most %2.")
        .arg(formatBytes(i.bytes), formatBytes(i.most));
}

QString mapWords(const NotJson& i) {
    return faultWords(i.fault);
}

QString mapWords(const NotAnObject& i) {
    return Map::tr("A device map is a JSON object, found %1.").arg(foundWords(i.found));
}

QString mapWords(const VersionMissing& /*i*/) {
    return Map::tr("\"version\" is missing: with an object as a value this is not accelerate's "
                   "form. Add \"version\": 1 and put the keys of modules into \"map\".");
}

QString mapWords(const DefaultMissing& /*i*/) {
    return Map::tr("\"default\" is missing. It says where everything goes that no key names, for "
                   "example \"default\": \"cuda:0\".");
}

QString mapWords(const BadValue& i) {
    return Map::tr("“%1”: expected %2, found %3.")
        .arg(fromUtf8(i.member), expectedWords(i), foundWords(i.found));
}

QString mapWords(const UnknownMember& i) {
    return Map::tr("The member “%1” is unknown. Known are %2.")
        .arg(fromUtf8(i.member), listed(i.known));
}

QString mapWords(const WholeModelKey& i) {
    return Map::tr("The key “%1” stands for the whole model. Use \"default\" for that.")
        .arg(fromUtf8(i.key));
}

QString mapWords(const BadRange& i) {
    return Map::tr("The key “%1” has a bracket that is not a range: one component of the form "
                   "[a-b] with a <= b and no leading zeros is allowed.")
        .arg(fromUtf8(i.key));
}

QString mapWords(const NotADevice& i) {
    return Map::tr("“%1” in \"%2\" is not a device: expected cpu, disk, cuda:N or sim:N.")
        .arg(fromUtf8(i.key), fromUtf8(i.member));
}

QString mapWords(const SizeUnitCase& i) {
    return Map::tr("The size “%1” has a unit in wrong upper and lower case. Write KiB, MiB, GiB "
                   "(1024) or KB, MB, GB (1000).")
        .arg(fromUtf8(i.size));
}

QString mapWords(const UnknownKey& i) {
    QString text = Map::tr("“%1” is no module or tensor of this model.").arg(fromUtf8(i.key));
    if (!i.parent.empty()) {
        text += QLatin1Char(' ') + Map::tr("Valid numbers for %1 are 0 to %2.")
                                       .arg(fromUtf8(i.parent), QString::number(i.last));
    }
    if (!i.proposals.empty()) {
        text += QLatin1Char(' ') +
                Map::tr("Did you mean %1?").arg(choiceOf(i.proposals, QStringLiteral("%1")));
    }
    if (i.is_range_of_other_form) {
        text += QLatin1Char(' ') + Map::tr("Ranges exist only in maps with \"version\": 1.");
    }
    return text;
}

QString mapWords(const BelowTensor& i) {
    return Map::tr("“%1” lies below the tensor %2, which has no parts. Did you mean that one?")
        .arg(fromUtf8(i.key), fromUtf8(i.tensor));
}

QString mapWords(const InsideWeight& i) {
    return Map::tr("“%1” points inside a weight: codes and statistics of %2 are one tensor and "
                   "live on one device. Name that one.")
        .arg(fromUtf8(i.key), fromUtf8(i.tensor));
}

QString mapWords(const KeysDisagree& i) {
    return Map::tr("The keys %1 and %2 both mean %3 but set %4 to different values (%5 against "
                   "%6). A single number does not beat a range: keep one.")
        .arg(keyWords(i.first), keyWords(i.second),
             i.name.empty() ? Map::tr("the whole model") : fromUtf8(i.name), fromUtf8(i.field),
             placeWords(i.first), placeWords(i.second));
}

QString mapWords(const DefaultIncomplete& i) {
    using Missing = DefaultIncomplete::Missing;
    const QString missing = i.missing == Missing::ComputeOfDisk
                                ? Map::tr("\"disk\" says where bytes are stored, not what computes")
                            : i.missing == Missing::Both ? Map::tr("it names neither")
                            : i.missing == Missing::Compute
                                ? Map::tr("it does not name what computes")
                                : Map::tr("it does not name what stores");
    return (i.tensors == 1 ? Map::tr("\"default\" must settle both store and compute: %1. 1 tensor "
                                     "would have no device.")
                                 .arg(missing)
                           : Map::tr("\"default\" must settle both store and compute: %1. %2 "
                                     "tensors would have no device.")
                                 .arg(missing, formatCount(static_cast<qint64>(i.tensors))));
}

QString mapWords(const HeadApart& i) {
    return Map::tr("Head and token embedding are the same bytes but disagree: the head is %1, the "
                   "token embedding is %2. Give both the same place, or ask for two copies with "
                   "\"duplicate_tied\": true.")
        .arg(halfWords(i.head), halfWords(i.table));
}

QString mapWords(const NothingSaysWhere& i) {
    return Map::tr("No key gives a device to some parts (%1). Add a key, or \"\" for everything "
                   "else.")
        .arg(tensorsWords(i.tensors));
}

QString mapWords(const ComputedElsewhere& i) {
    const QString store_by = setByWords(i.store_by);
    return i.store_by == i.compute_by
               ? Map::tr("Stored on %1 but computed on %2; both come from %3. What is stored on a "
                         "GPU is computed there (%4).")
                     .arg(device(i.store), device(i.compute), store_by, tensorsWords(i.tensors))
               : Map::tr("Stored on %1 but computed on %2: store comes from %3, compute from %4. "
                         "What is stored on a GPU is computed there (%5).")
                     .arg(device(i.store), device(i.compute), store_by, setByWords(i.compute_by),
                          tensorsWords(i.tensors));
}

QString mapWords(const FormatRefused& i) {
    using Why = FormatRefused::Why;
    const QString held = fromUtf8(i.held);
    const QString why =
        i.why == Why::NotQuantizable
            ? Map::tr("only linear weights, experts, embedding tables and the head can have it")
        : i.why == Why::NotFloats ? Map::tr("the checkpoint holds %1 values").arg(held)
        : i.why == Why::NeedsOwnKey
            ? Map::tr("the checkpoint holds it packed as %1, and only a key that names exactly "
                      "this tensor may ask for its expansion")
                  .arg(held)
            : Map::tr("the checkpoint holds it packed as %1; use that, as_stored, or the "
                      "unquantized checkpoint")
                  .arg(held);
    return Map::tr("The format %1 is not possible: %2 (%3).")
        .arg(fromUtf8(i.format), why, tensorsWords(i.tensors));
}

QString mapWords(const FormatExpanded& i) {
    return Map::tr("Expanded from %1 to %2: the values stay those of the 4-bit weights, only "
                   "memory grows (%3).")
        .arg(fromUtf8(i.from), fromUtf8(i.to), tensorsWords(i.tensors));
}

QString mapWords(const KvFormatMissing& /*i*/) {
    return Map::tr("This version keeps keys and values in bf16 and has no other format for them. "
                   "Remove kv.format.");
}

QString mapWords(const MadeForOtherLayers& i) {
    return Map::tr("The map was made for a model with %1 layers, this one has %2.")
        .arg(QString::number(i.map), QString::number(i.model));
}

QString mapWords(const MadeForOtherModel& i) {
    return Map::tr("The map was made for the architecture “%1”, this model is %2.")
        .arg(fromUtf8(i.map), fromUtf8(i.model));
}

QString mapWords(const NoPreset& i) {
    const QString hint = hintWords(i.hint);
    const QString text = Map::tr("There is no placement called “%1”. Known are %2.")
                             .arg(fromUtf8(i.name), listed(i.known));
    return hint.isEmpty() ? text : text + QLatin1Char(' ') + hint;
}

QString mapWords(const PresetNeedsGpu& i) {
    return Map::tr("The placement “%1” needs a GPU, and this computer shows none. Use “%2”, or "
                   "try “Graphics card: Simulated”.")
        .arg(presetName(fromUtf8(i.name)), presetName(QStringLiteral("cpu")));
}

QString pythonMapWords() {
    return Map::tr("This is a Python dictionary as print() shows it, not JSON: write the file with "
                   "json.dump(model.hf_device_map, file), or put double quotes around keys and "
                   "values.");
}

} // namespace ui
