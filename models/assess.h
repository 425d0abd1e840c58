// SPDX-License-Identifier: Apache-2.0
// What the headers of a model tell, and what this computer makes of it: asked of the engine, which
// plans as it does before a load. Nothing is allocated.
#pragma once

#include "engine/run/engine.h"

#include <memory>
#include <stop_token>

#include "models/entry.h"

namespace models {

class Assessor {
public:
    Assessor() = default;
    virtual ~Assessor() = default;
    Assessor(const Assessor&) = delete;
    Assessor& operator=(const Assessor&) = delete;

    /// Fills family, variant, parameters, precision, notes and fit of a model, and its state and
    /// trouble where the headers show more than names did. Looks at `stop` between its steps.
    virtual void assess(Entry& entry, const std::stop_token& stop) = 0;
};

/// One engine for one thread: who scans several roots makes one for each.
class EngineAssessor final : public Assessor {
public:
    explicit EngineAssessor(engine::EngineOptions options);
    void assess(Entry& entry, const std::stop_token& stop) override;

private:
    void plan(Entry& entry, const std::stop_token& stop);

    engine::EngineOptions options_;
    std::unique_ptr<engine::Engine> engine_; ///< Made for the first model.
};

} // namespace models
