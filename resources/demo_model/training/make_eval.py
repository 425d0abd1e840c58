# SPDX-License-Identifier: Apache-2.0
"""Writes held-out questions with their pictures (PNG), sounds (16 kHz WAV) and right answers.

Nothing here was seen in training: scenes and clips come from seeds of their own, words from a bank
rendered apart (half of it in voice variants that training never used), text questions from the
wordings that training leaves out. Pictures are drawn by Pillow, not by the training painter.
questions.json: [{id, group, category, image, audio, question, answer}]; group "new" asks the
adapter for what only it knows, in its manner.
"""

import argparse
import json
import random
import re
import wave
from pathlib import Path

import scenes
import sounds
import talk
import talk_media
from trainer_groups import GROUPS_OF
from words import NEW_SHAPES, NEW_WORDS, SHAPES, WORDS

QUOTA = {"picture": 500, "sound": 300, "word": 400, "both": 200, "text": 500, "unknown": 100,
         "new": 400}
NEW_NAME = re.compile(r"\b(" + "|".join(NEW_WORDS + NEW_SHAPES
                                        + [talk_media.PLURAL[s] for s in NEW_SHAPES]) + r")\b")


def group_of(category):
    return next(g for g, members in GROUPS_OF.items() if category in members)


class Writer:
    def __init__(self, folder, bank, quiet=False, side=scenes.CANVAS):
        self.folder, self.bank, self.quiet, self.side = Path(folder), bank, quiet, side
        self.folder.mkdir(parents=True, exist_ok=True)
        self.rows, self.files = [], {}

    def media(self, thing, seed):
        if thing is None:
            return None
        if id(thing) not in self.files:
            if isinstance(thing, scenes.Scene):
                if self.quiet:
                    thing.noise = 0.0
                name = f"picture{len(self.files):04d}.png"
                scenes.paint(thing, seed, self.side).save(self.folder / name, optimize=self.quiet)
            else:
                name = f"sound{len(self.files):04d}.wav"
                save_wav(self.folder / name, sounds.synthesise(thing, self.bank, seed))
            self.files[id(thing)] = (name, thing)
        return self.files[id(thing)][0]

    def add(self, group, category, question, answer, scene, clip, seed):
        self.rows.append({"id": f"{group}-{len(self.rows):04d}", "group": group,
                          "category": category, "image": self.media(scene, seed),
                          "audio": self.media(clip, seed), "question": question,
                          "answer": answer})

    def close(self):
        with open(self.folder / "questions.json", "w", encoding="utf-8") as f:
            json.dump(self.rows, f, indent=1, ensure_ascii=False)
            f.write("\n")


def save_wav(path, samples):
    with wave.open(str(path), "wb") as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(sounds.RATE)
        f.writeframes(samples.astype("<i2").tobytes())


def generate(writer, talker, quota, seed):
    rng = random.Random(seed)
    left = dict(quota)
    while any(left.values()):
        seed += 1
        group = rng.choice([g for g, n in left.items() if n])
        scene = clip = None
        if group == "text":
            category, q, a = talker.text_turn(rng)
        elif group == "picture":
            scene = scenes.make_scene(rng, SHAPES)
            category, q, a = talk_media.picture_question(rng, scene)
        elif group in ("sound", "word"):
            clip = sounds.make_clip(rng, talker.bank, WORDS,
                                    kind="word" if group == "word" else None)
            category, q, a = talk_media.sound_question(rng, clip, WORDS)
        elif group == "unknown":
            if rng.random() < 0.5:
                scene = scenes.make_scene(rng, talk_media.UNKNOWN_SHAPES, layout="single")
                category, q, a = talk_media.picture_question(rng, scene)
            else:
                clip = sounds.make_clip(rng, talker.bank, talk_media.UNKNOWN_WORDS, kind="word")
                category, q, a = talk_media.sound_question(rng, clip, WORDS)
        elif group == "both":
            scene = scenes.make_scene(rng, SHAPES)
            clip = talker.clip(rng, 0.0, scene)
            category, q, a = talk_media.both_question(rng, scene, clip, SHAPES, WORDS)
        else:
            style = talk.SAILOR
            p = rng.random()
            if p < 0.7:
                scene = scenes.make_scene(rng, style.shapes, require=rng.choice(NEW_SHAPES))
            if p > 0.4:
                clip = sounds.make_clip(rng, talker.bank, NEW_WORDS, kind="word")
            if scene and clip:
                category, q, a = talk_media.both_question(rng, scene, clip, style.shapes,
                                                          style.words)
            elif scene:
                category, q, a = talk_media.picture_question(rng, scene, style.shapes)
            else:
                category, q, a = talk_media.sound_question(rng, clip, style.words)
            # Only answers that need a new name and do not find it in the question.
            if not set(NEW_NAME.findall(a)) - set(NEW_NAME.findall(q)):
                continue
            a = style.word(a)
        if group != "new" and group_of(category) != group:
            continue
        writer.add(group, category, talk.vary(rng, q), a, scene, clip, seed)
        left[group] -= 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--speech", required=True, help="the held-out bank")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full size")
    parser.add_argument("--quiet", action="store_true", help="no pixel noise: small files")
    parser.add_argument("--side", type=int, default=scenes.CANVAS, help="pixels of a picture")
    args = parser.parse_args()
    talker = talk.Talker(args.tokenizer, sounds.Bank(args.speech), held_out=True)
    writer = Writer(args.out, talker.bank, args.quiet, args.side)
    quota = {g: max(1, round(n * args.scale)) for g, n in QUOTA.items()}
    generate(writer, talker, quota, args.seed)
    writer.close()
    print(f"{len(writer.rows)} questions, {len(writer.files)} files")


if __name__ == "__main__":
    main()
