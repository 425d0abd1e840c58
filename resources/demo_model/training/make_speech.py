# SPDX-License-Identifier: Apache-2.0
"""Renders the spoken words with espeak-ng into one compressed bank of 16 kHz mu-law clips.

The training bank and the held-out bank differ in voice variants, and the held-out bank also holds
known variants at speeds and pitches drawn anew. Silence at both ends is cut, the peak is brought
to one half. Needs the program espeak-ng; gives the same bank for the same seed and version.
"""

import argparse
import io
import subprocess
import wave

import numpy as np
from scipy.signal import resample_poly

from words import ALL_WORDS, NEW_WORDS, OTHER_WORDS, WORDS

ACCENTS = ["en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-us-nyc", "en-029",
           "en-gb-x-gbclan", "en-gb-x-gbcwmd"]
TRAIN_VARIANTS = ["m1", "m2", "m3", "m4", "m5", "m6", "m8", "f1", "f2", "f3", "f4", "adam", "Alex",
                  "Andy", "Annie", "anika", "belinda", "caleb", "david", "ed", "edward", "john",
                  "Lee", "michael", "mike", "paul", "quincy", "rob", "robert", "sandro", "steph",
                  "victor", "grandpa", "marcelo", "pablo", "Denis", "Hugo", "Mario"]
HELD_OUT_VARIANTS = ["m7", "f5", "linda", "travis", "benjamin", "steph2", "shelby", "Marco"]


def speak(text, voice, speed, pitch):
    """One clip as float32 at 16 kHz, peak 0.5, without the silence around the word."""
    data = subprocess.run(["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch),
                           "--stdout", text], capture_output=True, check=True).stdout
    with wave.open(io.BytesIO(data)) as f:
        rate = f.getframerate()
        raw = np.frombuffer(data[44:], dtype="<i2").astype(np.float32) / 32768.0
    x = resample_poly(raw, 16000, rate).astype(np.float32)
    loud = np.flatnonzero(np.abs(x) > 0.02 * np.abs(x).max())
    x = x[max(0, loud[0] - 160):loud[-1] + 320]
    return x * (0.5 / np.abs(x).max())


def mu_law(x):
    """float in [-1, 1] to one byte."""
    y = np.sign(x) * np.log1p(255.0 * np.abs(x)) / np.log(256.0)
    return np.clip(np.round((y + 1.0) * 127.5), 0, 255).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--seed", type=int, default=10)
    parser.add_argument("--per-word", type=int, default=110)
    parser.add_argument("--per-other-word", type=int, default=14)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    pieces, word_of, ends, total = [], [], [], 0
    for word_id, word in enumerate(ALL_WORDS):
        count = args.per_other_word if word in OTHER_WORDS else args.per_word
        for i in range(count):
            accent = ACCENTS[rng.integers(len(ACCENTS))]
            new_voice = args.held_out and i % 2 == 0
            variants = HELD_OUT_VARIANTS if new_voice else TRAIN_VARIANTS
            variant = variants[rng.integers(len(variants))]
            x = speak(word, f"{accent}+{variant}", int(rng.integers(110, 205)),
                      int(rng.integers(25, 76)))
            if len(x) > 20000:
                continue
            pieces.append(mu_law(x))
            word_of.append(word_id)
            total += len(x)
            ends.append(total)
    np.savez_compressed(args.out, samples=np.concatenate(pieces),
                        ends=np.array(ends, np.int64), word=np.array(word_of, np.int16))
    print(f"{len(word_of)} clips, {len(WORDS)}+{len(NEW_WORDS)}+{len(OTHER_WORDS)} words, "
          f"{total / 16000:.0f} s, {total / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
