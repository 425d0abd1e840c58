// SPDX-License-Identifier: Apache-2.0
// What the opened cards reach at most, measured.
#pragma once

#include "engine/api/measure.h"
#include "engine/devices/device_set.h"

#include <vector>

namespace engine {

/// Of every card among the devices: about 50 ms each, with up to 1 GiB of its memory meanwhile.
std::vector<CardCeiling> measureCards(const DeviceSet& devices);

} // namespace engine
