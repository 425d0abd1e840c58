// SPDX-License-Identifier: Apache-2.0
// What memory is taken for, as blocks and the memory meter colour it: one table for both, so that a
// tower that is dragged away is seen leaving the bar.
#pragma once

#include "ui/layout/layout_blocks.h"

#include <QColor>
#include <QString>

#include <array>
#include <map>

namespace ui {

/// From the foot of a bar upwards.
enum class MemoryKind {
    Layers = 1,
    Experts,
    Table, ///< Per-layer embeddings.
    Head,  ///< Token embedding and head.
    Vision,
    Audio,
    Rest, ///< Norms, projections, the drafting assistant.
    Adapter,
    Kv,
    Workspace,
    Driver,
};
inline constexpr size_t kMemoryKinds = 11;

/// Bytes of every kind.
struct KindBytes {
    std::array<double, kMemoryKinds> bytes{};
    double& operator[](MemoryKind kind) { return bytes[static_cast<size_t>(kind) - 1]; }
    double operator[](MemoryKind kind) const { return bytes[static_cast<size_t>(kind) - 1]; }
    [[nodiscard]] double total() const;
    friend bool operator==(const KindBytes&, const KindBytes&) = default;
};

MemoryKind memoryKind(BlockKind kind);
/// From the theme in force.
QColor memoryColor(MemoryKind kind);
/// "layers", "vision tower", "KV cache" in the user's language.
QString memoryLabel(MemoryKind kind);

/// What it is there for, in a plain sentence.
QString memorySentence(MemoryKind kind);

/// What a plan puts of each kind of weights on each device.
std::map<engine::DeviceId, KindBytes> weightsByKind(const engine::PlacementPlan& plan);
/// `parts` with its weights divided as `weights` are; without any they are all Rest.
KindBytes byKind(const engine::PartBytes& parts, const KindBytes& weights);

} // namespace ui
