// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/export_words.h"

#include "ui/common/issue_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>

#include <variant>

namespace ui {

namespace {

using namespace engine::loss;

struct Loss {
    Q_DECLARE_TR_FUNCTIONS(ui::ExportLoss)
};

QString count(size_t value) {
    return formatCount(static_cast<qint64>(value));
}

QString words(const Shortage& l) {
    engine::PlanIssue issue;
    issue.finding = l.finding;
    return Loss::tr("This plan does not fit: %1").arg(issueWords(issue));
}

QString words(const ComputesElsewhere& l) {
    if (l.main.has_value()) {
        const QString main = deviceName(l.main->toString());
        return l.count == 1
                   ? Loss::tr("1 tensor computes on another device here: accelerate stores \"cpu\" "
                              "and \"disk\" there but computes on %1, copying the weights for "
                              "every call.")
                         .arg(main)
                   : Loss::tr("%1 tensors compute on another device here: accelerate stores "
                              "\"cpu\" and \"disk\" there but computes on %2, copying the weights "
                              "for every call.")
                         .arg(count(l.count), main);
    }
    return l.count == 1
               ? Loss::tr("1 tensor computes on another device here: where nothing is stored on a "
                          "GPU, accelerate computes on the CPU.")
               : Loss::tr("%1 tensors compute on another device here: where nothing is stored on a "
                          "GPU, accelerate computes on the CPU.")
                     .arg(count(l.count));
}

QString words(const KeepsCopy& l) {
    return l.count == 1 ? Loss::tr("1 tensor keeps a copy on its computing device here; accelerate "
                                   "copies it for every call.")
                        : Loss::tr("%1 tensors keep a copy on their computing device here; "
                                   "accelerate copies them for every call.")
                              .arg(count(l.count));
}

QString words(const TableInFormat& l) {
    return Loss::tr("%1 in %2: embedding tables and the head stay unquantized there.")
        .arg(fromUtf8(l.tensor), fromUtf8(l.format));
}

QString words(const HeadInt8& /*l*/) {
    return Loss::tr("The head in 8 bits does not exist there.");
}

QString words(const HostUnquantized& l) {
    const QString there = formatBytes(l.bytes_there);
    const QString here = formatBytes(l.bytes_here);
    return l.count == 1
               ? Loss::tr("1 weight on CPU or disk has 4 bits here: transformers leaves "
                          "what lies there in bfloat16, %1 instead of %2.")
                     .arg(there, here)
               : Loss::tr("%1 weights on CPU or disk have 4 bits here: transformers leaves "
                          "what lies there in bfloat16, %2 instead of %3.")
                     .arg(count(l.count), there, here);
}

QString words(const DenseFormat& l) {
    return l.count == 1 ? Loss::tr("1 tensor in %1: there what is not quantized has one type, "
                                   "bfloat16 in the script.")
                              .arg(fromUtf8(l.format))
                        : Loss::tr("%1 tensors in %2: there what is not quantized has one type, "
                                   "bfloat16 in the script.")
                              .arg(count(l.count), fromUtf8(l.format));
}

QString words(const NoSimulatedGpus& /*l*/) {
    return Loss::tr("Simulated GPUs exist only in Belfry.");
}

QString words(const TiedCopies& /*l*/) {
    return Loss::tr("Head and token embedding are two copies here; accelerate may move both "
                    "together.");
}

QString words(const SecondFormat& l) {
    return l.count == 1 ? Loss::tr("1 weight in %1: bitsandbytes has one 4-bit format per model.")
                              .arg(fromUtf8(l.format))
                        : Loss::tr("%1 weights in %2: bitsandbytes has one 4-bit format per model.")
                              .arg(count(l.count), fromUtf8(l.format));
}

QString words(const OtherBlocks& l) {
    return Loss::tr("Blocks of other than %1 weights: BitsAndBytesConfig has no such option.")
        .arg(l.block_size);
}

QString words(const SplitLayers& l) {
    return Loss::tr("Layers split between devices (%1) go whole where their queries go; an -ot "
                    "rule per tensor can split them there.")
        .arg(layerNumbers(l.layers));
}

QString words(const HeadElsewhere& l) {
    return Loss::tr("The head computes on %1 there, behind the last layers, not on %2.")
        .arg(fromUtf8(l.there), fromUtf8(l.here));
}

QString words(const CacheElsewhere& l) {
    return (l.layers.size() == 1
                ? Loss::tr("The KV cache of layer %1 stays on the device that -ngl and -ts give it "
                           "there.")
                : Loss::tr("The KV cache of layers %1 stays on the device that -ngl and -ts give "
                           "them there."))
        .arg(layerNumbers(l.layers));
}

QString words(const TowersTogether& l) {
    return (l.is_on_cpu ? Loss::tr("Vision and audio tower go together there: on the CPU, or on "
                                   "the main GPU (%1) without --no-mmproj-offload.")
                        : Loss::tr("Vision and audio tower go together there: on the main GPU "
                                   "(%1), or on the CPU with --no-mmproj-offload."))
        .arg(fromUtf8(l.gpu));
}

QString words(const PerLayerTableOnCpu& /*l*/) {
    return Loss::tr("The per-layer embeddings are always on the CPU there.");
}

QString words(const TokenTableOnCpu& /*l*/) {
    return Loss::tr("The token embedding is read on the CPU there; the head is a copy.");
}

QString words(const SimulatedAsCards& /*l*/) {
    return Loss::tr("Simulated GPUs exist only in Belfry: they are named as cards.");
}

QString words(const VisitorsOnCpu& l) {
    return l.count == 1 ? Loss::tr("1 weight that visits the GPU here computes on the CPU there.")
                        : Loss::tr("%1 weights that visit the GPU here compute on the CPU there.")
                              .arg(count(l.count));
}

QString words(const WholeFileMapped& /*l*/) {
    return Loss::tr("Disk: there the whole file is memory-mapped (--mmap is the default).");
}

QString words(const FormatsOfFile& l) {
    QStringList formats;
    for (const std::string& format : l.formats) {
        formats << fromUtf8(format);
    }
    return Loss::tr("Formats (%1) are those of the GGUF file; there is no NF4, Q4_0 has the same "
                    "size.")
        .arg(formats.join(QStringLiteral(", ")));
}

} // namespace

QString lossWords(const engine::ExportLoss& loss) {
    return std::visit([](const auto& one) { return words(one); }, loss);
}

} // namespace ui
