// SPDX-License-Identifier: Apache-2.0
// A repository of GGUF files as they are published: two quantizations, projectors, an assistant.
#pragma once

#include "tests/support/files.h"
#include "tests/support/hub/hub_standin.h"
#include "tests/support/places.h"

#include <string>

namespace support {

/// The golden E2B: where only names matter, files are the same.
inline HubContent ggufRepository() {
    const auto golden = goldenMoreDir() / "gguf-e2b";
    HubContent content;
    content.id = "org/tiny-GGUF";
    content.files["tiny-Q4_0.gguf"] = textOf(golden / "Q4_0.gguf");
    content.files["tiny-Q8_0.gguf"] = content.files["tiny-Q4_0.gguf"];
    content.files["mmproj-BF16.gguf"] = textOf(golden / "Q4_0.mmproj.gguf");
    content.files["mmproj-F16.gguf"] = content.files["mmproj-BF16.gguf"];
    content.files["mtp-tiny.gguf"] = content.files["mmproj-BF16.gguf"];
    content.files["config.json"] = R"({"model_type": "gemma4"})";
    content.files["README.md"] = "# tiny";
    return content;
}

/// The same with a projector whose features are 80 wide instead of 64.
inline HubContent brokenGgufRepository() {
    HubContent content = ggufRepository();
    for (const char* name : {"mmproj-BF16.gguf", "mmproj-F16.gguf"}) {
        std::string& text = content.files[name];
        for (const std::string key : {"clip.vision.projection_dim", "clip.audio.projection_dim"}) {
            text[text.find(key) + key.size() + 4] = 80; // behind the value's type
        }
    }
    return content;
}

} // namespace support
