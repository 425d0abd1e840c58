# SPDX-License-Identifier: Apache-2.0
"""The closed lists the demo model is about: colours, shapes, spoken words, number names.

Everything that draws, speaks, asks or checks takes its names from here, so a list has one home.
No drawing, no sound and no grammar in this file.
"""

COLOURS = {
    "red": (214, 40, 40),
    "green": (46, 150, 60),
    "blue": (40, 80, 210),
    "yellow": (245, 212, 40),
    "orange": (245, 136, 20),
    "purple": (130, 50, 170),
    "pink": (245, 140, 190),
    "black": (24, 24, 26),
}
BACKGROUNDS = {"white": (250, 250, 250), "grey": (190, 192, 196), "cream": (246, 236, 208)}

SHAPES = ["circle", "square", "triangle", "star", "cross"]
# Taught by the adapter only; the base model has seen them as "a shape I do not know".
NEW_SHAPES = ["heart", "moon", "arrow", "ring", "bolt"]
# Drawn to teach the base model that shapes outside its list exist; never named by anybody.
OTHER_SHAPES = ["halfdisc", "tee", "zigzag"]
ALL_SHAPES = SHAPES + NEW_SHAPES + OTHER_SHAPES

PLURAL = {"circle": "circles", "square": "squares", "triangle": "triangles", "star": "stars",
          "cross": "crosses", "heart": "hearts", "moon": "moons", "arrow": "arrows",
          "ring": "rings", "bolt": "bolts"}

DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
WORDS = DIGITS + ["yes", "no", "stop", "go", "up", "down", "left", "right", "hello", "goodbye",
                  "red", "green", "blue", "yellow", "cat", "dog", "house", "tree", "water",
                  "music"]
NEW_WORDS = ["apple", "river", "window", "mountain", "garden", "paper"]
# Spoken to teach the base model that words outside its list exist.
OTHER_WORDS = ["table", "engine", "summer", "coffee", "bicycle", "kitchen", "doctor", "orange",
               "purple", "yesterday", "family", "street", "number", "market", "winter", "pencil",
               "travel", "morning", "picture", "letter", "forest", "button", "hammer", "silver"]
ALL_WORDS = WORDS + NEW_WORDS + OTHER_WORDS

NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]

PITCHES = {"low": (170.0, 260.0), "middle": (560.0, 800.0), "high": (1900.0, 2800.0)}
