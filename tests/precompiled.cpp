// SPDX-License-Identifier: Apache-2.0
// Stands for the tests where their headers are compiled once (BELFRY_PRECOMPILED).
int main() {
    return 0;
}
