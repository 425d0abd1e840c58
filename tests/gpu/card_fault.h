// SPDX-License-Identifier: Apache-2.0
// Real faults of kernels on a real card, each in a process of its own: that process never has a
// card again, says so, goes on on the CPU and ends in order; the next process has the card.
#pragma once

#include "tests/gpu/check_list.h"

#include <string>

namespace gpu {

/// Section "fault". `program`: this program, started again for every kind of fault.
void cardFaults(CheckList& list, const std::string& program);

/// What belfry_gpu_tests --fault KIND does: loads, answers, faults, tries everything that users
/// try, and prints what came of it as one line of JSON. "none": without a fault.
int faultHere(const std::string& kind);

} // namespace gpu
