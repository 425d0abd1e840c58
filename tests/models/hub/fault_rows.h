// SPDX-License-Identifier: Apache-2.0
// How a hub can misbehave, a row each, and what has to come of it.
#pragma once

#include "tests/support/hub/hub_standin.h"

#include <cstdint>
#include <string>
#include <vector>

struct FaultRow {
    std::string name;
    support::HubFault fault;
    std::string rule;         ///< "ok", or the error's.
    std::string says = {};    ///< In the error's message.
    std::string partial = {}; ///< There before, of the first large file: "begin", "wrong", "long".
};

std::vector<FaultRow> infoFaults();
std::vector<FaultRow> listFaults();
std::vector<FaultRow> fileFaults();
std::vector<FaultRow> otherHostFaults();
