# SPDX-License-Identifier: Apache-2.0
"""Which categories of questions are counted together in every report."""

GROUPS_OF = {
    "picture": ["describe", "count", "count_all", "count_colour", "colour", "shape", "position",
                "yes_no", "background"],
    "sound": ["beeps", "pitch", "glide", "tempo", "hear", "speech"],
    "word": ["word"], "unknown": ["unknown"],
    "both": ["both", "same_number", "both_counts", "same_colour", "same_digit"],
    "text": ["fact", "sum", "about", "greeting", "far", "missing"]}
