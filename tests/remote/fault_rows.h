// SPDX-License-Identifier: Apache-2.0
// Ways in which a server of chat completions misbehaves.
#pragma once

#include "tests/support/remote/chat_standin.h"

#include <string>
#include <vector>

struct FaultRow {
    std::string name;
    support::ChatScript answer;
    /// "" when there is a reply all the same; else the rule of the error.
    std::string rule;
    /// What the window has been given by then, thoughts in front in brackets.
    std::string kept;
    /// Finish reason of a reply.
    std::string finish = "stop";
    /// A piece of the error's message.
    std::string says = {};
};

/// Answers that are no stream: statuses, pages, JSON.
std::vector<FaultRow> statusFaults();
/// Lines, events, JSON.
std::vector<FaultRow> eventFaults();
/// Connections.
std::vector<FaultRow> connectionFaults();
/// Things that are odd and yet a reply.
std::vector<FaultRow> oddities();
