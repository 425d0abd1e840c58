// SPDX-License-Identifier: Apache-2.0
// What the opened cards reach at most, measured, and what they hold of main memory.
#pragma once

#include "engine/api/measure.h"
#include "engine/devices/device_set.h"

#include <vector>

namespace engine {

/// Measures every card among the devices: about 50 ms each, with up to 1 GiB of its memory.
std::vector<CardCeiling> measureCards(const DeviceSet& devices);

/// Main memory that is page-locked for a card; 0 for other devices.
uint64_t pageLockedBytes(const kernels::Device& device);

} // namespace engine
