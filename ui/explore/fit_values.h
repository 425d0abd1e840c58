// SPDX-License-Identifier: Apache-2.0
// What the page "What fits" draws, as values: a point is one precision, one format of keys and
// values and one context, planned from the headers of a model's files (app/window/fit_planner.h).
#pragma once

#include "engine/api/load_request.h"
#include "engine/api/placement.h"
#include "ui/layout/what_if.h"

#include <QMetaType>

namespace ui {

struct FitPoint {
    /// Fits: everything is on the cards, or in the memory of a computer without one. Partly: parts
    /// have to be kept elsewhere, which is slower.
    enum class State { Fits = 1, Partly, DoesNotFit };
    State state = State::DoesNotFit;
    qint64 context = 0;
    engine::PartBytes parts; ///< With everything on the cards.
    quint64 limit = 0;       ///< What may be used of them.
    quint64 elsewhere = 0;   ///< Partly: bytes of weights that are kept in main memory or on disk.
    double tokens_per_s = 0; ///< With the placement that fits; 0: none does, or it is not told.
    bool has_gpu = false;
};

/// A point that was clicked.
struct FitChoice {
    engine::LoadRequest request;
    WhatIfComputer computer; ///< Without a name: this one.
};

} // namespace ui

Q_DECLARE_METATYPE(ui::FitPoint)
