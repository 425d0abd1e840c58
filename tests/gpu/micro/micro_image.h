// SPDX-License-Identifier: Apache-2.0
// micro.cu as a fatbin, embedded by tests/gpu/CMakeLists.txt.
#pragma once

extern "C" const unsigned char belfry_image_micro[]; // NOLINT(readability-identifier-naming)
