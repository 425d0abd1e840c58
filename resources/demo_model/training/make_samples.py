# SPDX-License-Identifier: Apache-2.0
"""Draws and speaks the samples of the first-run screen: three pictures, three sounds, questions."""

import argparse
import json
from pathlib import Path

import make_eval
import scenes
import sounds
from words import BACKGROUNDS, COLOURS

SIDE = 448


def scene(background, things):
    made = [scenes.Thing(s, c, x, y, r, a, COLOURS[c]) for s, c, x, y, r, a in things]
    return scenes.Scene(made, background, BACKGROUNDS[background], 0.0, "kinds")


PICTURES = {
    "circles_and_square.png": scene("white", [("circle", "red", 62, 70, 34, 0),
                                              ("circle", "red", 160, 60, 30, 0),
                                              ("square", "blue", 118, 158, 34, 8)]),
    "green_star.png": scene("cream", [("star", "green", 178, 48, 32, 4)]),
    "triangles_and_cross.png": scene("grey", [("triangle", "yellow", 52, 58, 30, -6),
                                              ("triangle", "yellow", 166, 82, 32, 5),
                                              ("cross", "purple", 92, 164, 32, 10)])}
TONE = 0.35


def beeps(count, f):
    parts = [(1600 + i * 5600, 2400, f, f, TONE, 0.2) for i in range(count)]
    return sounds.Clip("beeps", 1600 + count * 5600 + 1600, parts, count=count, hiss=0.0005)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--speech", required=True, help="the held-out bank")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    bank = sounds.Bank(args.speech)
    for name, s in PICTURES.items():
        scenes.paint(s, 0, SIDE).save(out / name, optimize=True)

    def word(text):
        index = int(bank.of_word[text][3])
        return sounds.Clip("word", bank.length(index) + 6400, word=text, bank=index, start=2400,
                           hiss=0.0005)

    for name, clip in {"three_beeps.wav": beeps(3, 2300.0), "word_green.wav": word("green"),
                       "word_seven.wav": word("seven")}.items():
        make_eval.save_wav(out / name, sounds.synthesise(clip, bank, 1))
    questions = [
        {"title": "A picture", "image": "circles_and_square.png", "audio": None,
         "question": "What do you see?", "answer": "I see two red circles and one blue square."},
        {"title": "A sound", "image": None, "audio": "word_seven.wav",
         "question": "Which word do you hear?", "answer": "The word is seven."},
        {"title": "A picture and a sound", "image": "triangles_and_cross.png",
         "audio": "three_beeps.wav", "question": "Are there as many beeps as shapes?",
         "answer": "Yes, I count three of each."},
        {"title": "Do they agree?", "image": "green_star.png", "audio": "word_green.wav",
         "question": "Does the word match the colour?", "answer": "Yes, both are green."}]
    follow = [
        {"image": "triangles_and_cross.png", "audio": "three_beeps.wav",
         "question": "What do you see and hear?",
         "answer": "I see two yellow triangles and one purple cross and hear three high beeps."},
        {"question": "How many triangles are there?", "answer": "There are two triangles."},
        {"question": "What is a tower?",
         "answer": "A tower is the part of a model that turns pictures or sounds into soft "
                   "tokens."}]
    (out / "samples.json").write_text(
        json.dumps({"questions": questions, "conversation": follow}, indent=1) + "\n",
        encoding="utf-8")


if __name__ == "__main__":
    main()
