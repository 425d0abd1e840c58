// SPDX-License-Identifier: Apache-2.0
// Rows of test data for the tables of functions that a processor may have.
#pragma once

#include "kernels/cpu/tables.h"

#include <QTest>

/// `ops`: the table that the row names under "table". Skips the row where the processor lacks it.
#define FETCH_TABLE(ops)                                                                           \
    QFETCH(QByteArray, table);                                                                     \
    [[maybe_unused]] const kernels::OpTable* const ops = kernels::findCpuOps(table.constData());   \
    if ((ops) == nullptr) {                                                                        \
        QSKIP("this processor lacks the instructions");                                            \
    }
