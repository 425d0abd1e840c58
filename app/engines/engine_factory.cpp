// SPDX-License-Identifier: Apache-2.0
#include "app/engines/engine_factory.h"

namespace app {

EngineFactory::EngineFactory(engine::EngineOptions options)
    : make_([options = std::move(options)](const EngineEvents& events) {
          engine::EngineOptions with_step = options;
          with_step.on_step = events.on_step;
          return EngineSwitch(std::make_unique<engine::Engine>(std::move(with_step)));
      }) {}

} // namespace app
