// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/export_english.h"

#include "engine/plan/planner.h"

#include <variant>

namespace engine {

namespace {

/// "1 tensor computes", "2 tensors compute".
std::string counted(size_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// The first sentence; what holds most bytes and what to move are the plan's to tell.
std::string text(const loss::Shortage& l) {
    PlanIssue issue;
    issue.finding = l.finding;
    const std::string whole = inEnglish(issue);
    return "this plan does not fit: " + whole.substr(0, whole.find(". "));
}

std::string text(const loss::ComputesElsewhere& l) {
    const std::string what =
        counted(l.count, "tensor computes", "tensors compute") + " on another device here: ";
    return l.main.has_value()
               ? what + "accelerate stores \"cpu\" and \"disk\" there but computes on " +
                     l.main->toString() + ", copying the weights for every call"
               : what + "where nothing is stored on a GPU, accelerate computes on cpu";
}

std::string text(const loss::KeepsCopy& l) {
    return counted(l.count, "tensor keeps a copy on its", "tensors keep a copy on their") +
           " computing device here; accelerate copies " + (l.count == 1 ? "it" : "them") +
           " for every call";
}

std::string text(const loss::TableInFormat& l) {
    return l.tensor + " in " + l.format + ": embedding tables and the head stay unquantized there";
}

std::string text(const loss::HeadInt8& /*l*/) {
    return "int8 per row (head) does not exist there";
}

std::string text(const loss::HostUnquantized& l) {
    return counted(l.count, "weight on cpu or disk has", "weights on cpu or disk have") +
           " 4 bits here: transformers leaves what lies there in bfloat16, " +
           formatByteCount(l.bytes_there) + " instead of " + formatByteCount(l.bytes_here);
}

std::string text(const loss::DenseFormat& l) {
    return counted(l.count, "tensor in ", "tensors in ") + l.format +
           ": there what is not quantized has one dtype, bfloat16 in the script";
}

std::string text(const loss::NoSimulatedGpus& /*l*/) {
    return "simulated GPUs exist only in Belfry";
}

std::string text(const loss::TiedCopies& /*l*/) {
    return "two copies of the tied table: accelerate may move both together";
}

std::string text(const loss::SecondFormat& l) {
    return counted(l.count, "weight in ", "weights in ") + l.format +
           ": bitsandbytes has one 4-bit format per model";
}

std::string text(const loss::OtherBlocks& l) {
    return "blocks of other than " + std::to_string(l.block_size) +
           " weights: BitsAndBytesConfig has no such option";
}

std::string text(const loss::SplitLayers& l) {
    return "layers split between devices (" + layerList(l.layers) +
           ") go whole where their queries go; an -ot rule per tensor can split them there";
}

std::string text(const loss::HeadElsewhere& l) {
    return "the head computes on " + l.there + " there, behind the last layers, not on " + l.here;
}

std::string text(const loss::CacheElsewhere& l) {
    const bool is_one = l.layers.size() == 1;
    return std::string("the KV cache of ") + (is_one ? "layer " : "layers ") + layerList(l.layers) +
           " stays on the device that -ngl and -ts give " + (is_one ? "it" : "them") + " there";
}

std::string text(const loss::TowersTogether& l) {
    const std::string card = "the main GPU (" + l.gpu + ")";
    return "vision and audio tower go together there: on " +
           (l.is_on_cpu ? "the CPU, or on " + card + " without" : card + ", or on the CPU with") +
           " --no-mmproj-offload";
}

std::string text(const loss::PerLayerTableOnCpu& /*l*/) {
    return "the per-layer embedding table is always on the CPU there";
}

std::string text(const loss::TokenTableOnCpu& /*l*/) {
    return "the token embedding is read on the CPU there; the head is a copy";
}

std::string text(const loss::SimulatedAsCards& /*l*/) {
    return "simulated GPUs exist only in Belfry: they are named as cards";
}

std::string text(const loss::VisitorsOnCpu& l) {
    return counted(l.count, "weight that visits the GPU here computes",
                   "weights that visit the GPU here compute") +
           " on the CPU there";
}

std::string text(const loss::WholeFileMapped& /*l*/) {
    return "disk: there the whole file is memory-mapped (--mmap is the default)";
}

std::string text(const loss::FormatsOfFile& l) {
    std::string names;
    for (const std::string& format : l.formats) {
        names += (names.empty() ? "" : ", ") + format;
    }
    return "formats (" + names +
           ") are those of the GGUF file; there is no NF4, Q4_0 has the same size";
}

} // namespace

std::string inEnglish(const ExportLoss& loss) {
    return std::visit([](const auto& one) { return text(one); }, loss);
}

std::vector<std::string> inEnglish(const std::vector<ExportLoss>& losses) {
    std::vector<std::string> texts;
    texts.reserve(losses.size());
    for (const ExportLoss& loss : losses) {
        texts.push_back(inEnglish(loss));
    }
    return texts;
}

} // namespace engine
