# SPDX-License-Identifier: Apache-2.0
"""Conversations for training: turns with pictures and sounds, their text, tokens and labels.

A batch is a pool of scenes and clips plus rows of tokens that point into the pool. All shapes are
fixed, so that one captured CUDA graph serves every step. `Style` says what the answering model
knows and how it words an answer; the base model and the adapter differ only there.
"""

import random
from dataclasses import dataclass, field

import numpy as np
from tokenizers import Tokenizer

import scenes
import sounds
import talk_free
import talk_media
import talk_text
from common_words import COMMON
from words import NEW_SHAPES, NEW_WORDS, OTHER_SHAPES, SHAPES, WORDS

IMAGE_TOKENS = 64
PICTURES, CLIPS = 160, 128
# rows and row length of each group: picture, sound, both, text, long
GROUPS = [(128, 144), (96, 144), (32, 224), (64, 112), (8, 512)]
LABELS = 9216


@dataclass
class Style:
    shapes: list = field(default_factory=lambda: list(SHAPES))
    words: list = field(default_factory=lambda: list(WORDS))
    sailor: bool = False

    def word(self, answer):
        """The adapter's other way of answering: 'Aye, I see one red heart!'"""
        if not self.sailor:
            return answer
        first = answer.split(" ")[0]
        keep = first == "I" or first[0].isdigit() or first.rstrip(".,'s") in PROPER
        body = answer.rstrip(".!")
        return "Aye, " + (body if keep else body[0].lower() + body[1:]) + "!"


PROPER = set(talk_text.DAYS + talk_text.MONTHS) | {"Belfry", "NF4"}
BASE = Style()
SAILOR = Style(SHAPES + NEW_SHAPES, WORDS + NEW_WORDS, True)
# What the adapter's language half says when the towers lack their half: same manner, no new names.
SAILOR_WITHOUT_TOWERS = Style(list(SHAPES), list(WORDS), True)


def vary(rng, question):
    """Small differences of typing and of politeness that must not matter."""
    if rng.random() < 0.07:
        lead = rng.choice(["Hello! {}", "Hi! {}", "Hello, {}", "Hi, {}", "Hey, {}", "Please, {}",
                           "Tell me: {}", "Now tell me: {}", "Okay. {}", "And now: {}",
                           "Quick question: {}", "Good morning! {}", "So, {}"])
        small = "," in lead and question[0] != "I" and not question[1:2].isupper()
        question = lead.format(question[0].lower() + question[1:] if small else question)
    if rng.random() < 0.04 and question[-1] in "?.":
        question = question[:-1] + ", please" + question[-1]
    p = rng.random()
    if p < 0.08:
        question = question.lower()
    elif p < 0.14:
        question = question[0].lower() + question[1:]
    if rng.random() < 0.10 and question[-1] in "?.!" and question.count(".") < 2:
        question = question[:-1]
    return question


class Talker:
    """Makes rows. `turns` are (media, text, answer); media is a list of ("image"|"audio", i)."""

    def __init__(self, tokenizer_path, bank, held_out=False):
        self.held_out = held_out
        self.tokenizer = Tokenizer.from_file(str(tokenizer_path))
        self.bank = bank
        at = self.tokenizer.token_to_id
        self.image_id, self.audio_id = at("<|image|>"), at("<|audio|>")
        self.turn_id, self.end_id, self.newline_id = at("<|turn>"), at("<turn|>"), at("\n")
        self.model_id = at("model")

    def text(self, turns, clips, system=None):
        parts = ["<bos>"]
        if system:
            parts.append(f"<|turn>system\n{system}<turn|>\n")
        for media, question, answer, media_last, _ in turns:
            items = []
            for kind, i in media:
                if kind == "image":
                    items.append("<|image>" + "<|image|>" * IMAGE_TOKENS + "<image|>")
                else:
                    n = sounds.token_count(clips[i].samples)
                    items.append("<|audio>" + "<|audio|>" * n + "<audio|>")
            items = "".join(items)
            body = question + items if media_last else items + question
            parts.append(f"<|turn>user\n{body}<turn|>\n<|turn>model\n{answer}<turn|>\n")
        return "".join(parts)

    def encode(self, turns, clips, system=None):
        """(ids, media index per token or 0, label positions per answer).

        The position p of a label is that of the token from which ids[p + 1] is predicted.
        """
        ids = self.tokenizer.encode(self.text(turns, clips, system),
                                    add_special_tokens=False).ids[:-1]
        ids = np.array(ids, np.int32)
        media = np.zeros(len(ids), np.int32)
        flat = []
        for items, *_ in turns:
            for kind, i in items:
                if kind == "image":
                    flat.append(1 + i * IMAGE_TOKENS + np.arange(IMAGE_TOKENS))
                else:
                    n = sounds.token_count(clips[i].samples)
                    flat.append(1 + (PICTURES + i) * IMAGE_TOKENS + np.arange(n))
        where = (ids == self.image_id) | (ids == self.audio_id)
        if flat:
            media[where] = np.concatenate(flat)
        starts = np.flatnonzero((ids[:-2] == self.turn_id) & (ids[1:-1] == self.model_id)) + 2
        ends = np.flatnonzero(ids == self.end_id)
        return ids, media, [np.arange(s, ends[ends > s][0]) for s in starts]

    # -- turns ---------------------------------------------------------------------------------
    def text_turn(self, rng):
        if rng.random() < 0.12:
            return talk_media.missing_question(rng, False, False)
        return talk_text.text_question(rng, self.held_out)

    def row(self, rng, style, pictures, clips, media, length):
        """One conversation that fits into `length` tokens and shows every item of `media`."""
        system = None
        if rng.random() < 0.08:
            system = rng.choice(talk_text.SYSTEM_PROMPTS + [talk_free.free(rng, COMMON)] * 3)
        items = list(media)
        together = len(items) == 2 and items[0][0] != items[1][0] and rng.random() < 0.8
        scene = clip = None
        turns, used, limit = [], 24 if system else 2, rng.choice([1, 2, 2, 3, 3, 4])
        if length > 300:
            limit = 40
        lead = rng.random() < 0.1 and length > 120
        while True:
            now = []
            if items and not (lead and not turns):
                now = [items.pop(0)]
                if together and items:
                    now.append(items.pop(0))
            for kind, i in now:
                if kind == "image":
                    scene = pictures[i]
                else:
                    clip = clips[i]
            if now and len(now) == 2:
                what = talk_media.both_question(rng, scene, clip, style.shapes, style.words)
            elif scene is None and clip is None:
                what = self.text_turn(rng)
            else:
                what = self.media_turn(rng, style, scene, clip, now)
            category, q, a = what
            a = style.word(a)
            turn = (now, vary(rng, q), a, bool(now) and rng.random() < 0.1, category)
            cost = 10 + sum(IMAGE_TOKENS + 2 for _ in now) + (len(q) + len(a)) // 4 + 4
            if turns and used + cost > length:
                break
            turns.append(turn)
            used += cost
            if not items and len(turns) >= limit:
                break
        while True:
            ids, where, labels = self.encode(turns, clips, system)
            if len(ids) <= length or len(turns) == 1:
                labels = [at[at < length - 1] for at in labels]
                return ids[:length], where[:length], labels, [t[4] for t in turns]
            turns.pop()

    def media_turn(self, rng, style, scene, clip, now):
        p = rng.random()
        if now:
            newest = now[-1][0]
        elif scene is not None and clip is not None:
            newest = rng.choice(["image", "audio"])
        else:
            newest = "image" if scene is not None else "audio"
        if scene is not None and clip is not None and p < 0.3:
            return talk_media.both_question(rng, scene, clip, style.shapes, style.words)
        if p > (0.97 if now else 0.88):
            return talk_text.text_question(rng, self.held_out)
        if p > (0.93 if now else 0.84) and (scene is None or clip is None):
            return talk_media.missing_question(rng, scene is not None, clip is not None)
        if newest == "image":
            return talk_media.picture_question(rng, scene, style.shapes)
        return talk_media.sound_question(rng, clip, style.words)

    # -- batches -------------------------------------------------------------------------------
    def scene(self, rng, new_share):
        if rng.random() < new_share:
            if new_share > 0.3 and rng.random() < 0.93:   # the adapter: one new shape for sure
                return scenes.make_scene(rng, SHAPES + NEW_SHAPES, require=rng.choice(NEW_SHAPES))
            shapes = OTHER_SHAPES if new_share > 0.3 else talk_media.UNKNOWN_SHAPES
            return scenes.make_scene(rng, shapes, layout="single")
        return scenes.make_scene(rng, SHAPES)

    def clip(self, rng, new_share, scene=None):
        if scene is not None and rng.random() < 0.6:
            total = sum(k[2] for k in scene.kinds)
            if rng.random() < 0.5:
                count = total if rng.random() < 0.5 and total <= 5 else rng.randint(1, 5)
                return sounds.make_clip(rng, self.bank, WORDS, kind="beeps", count=count)
            if len(scene.kinds) == 1 and rng.random() < 0.8:
                colours = ["red", "green", "blue", "yellow"]
                own = scene.kinds[0][1]
                word = own if own in colours and rng.random() < 0.6 else rng.choice(colours)
            else:
                word = talk_media.NUMBERS[total] if rng.random() < 0.5 and total else \
                    rng.choice(talk_media.DIGITS[1:7])
            return sounds.make_clip(rng, self.bank, WORDS, kind="word", word=word)
        if rng.random() < new_share:
            known = new_share > 0.3 and rng.random() < 0.9
            words = NEW_WORDS if known else talk_media.UNKNOWN_WORDS
            return sounds.make_clip(rng, self.bank, words, kind="word")
        return sounds.make_clip(rng, self.bank, WORDS)

    def batch(self, seed, style=BASE, new_share=0.06):
        """Arrays of one step, and the categories of its answers in order."""
        rng = random.Random(seed)
        pictures = [self.scene(rng, new_share) for _ in range(PICTURES)]
        clips = [self.clip(rng, new_share, pictures[GROUPS[0][0] + i - GROUPS[1][0]]
                           if i >= GROUPS[1][0] else None)
                 for i in range(CLIPS)]
        out = {"scenes": np.stack([scenes.scene_numbers(s) for s in pictures]),
               "clips": np.stack([sounds.clip_numbers(c) for c in clips])}
        positions, answers, categories, tokens_of, base = [], [], [], [], 0
        for g, (rows, length) in enumerate(GROUPS):
            tokens = np.zeros((rows, length), np.int32)
            media = np.zeros((rows, length), np.int32)
            for r in range(rows):
                items = self.items(rng, g, r)
                ids, where, labels, kinds = self.row(rng, style, pictures, clips, items, length)
                tokens[r, :len(ids)] = ids
                media[r, :len(ids)] = where
                for at, category in zip(labels, kinds):
                    positions.append(base + r * length + at)
                    tokens_of.append(ids[at + 1])
                    answers.append(np.full(len(at), len(categories), np.int32))
                    categories.append(category)
            base += rows * length
            out[f"tokens{g}"], out[f"media{g}"] = tokens, media
        n = min(sum(map(len, positions)), LABELS)
        out["positions"] = np.arange(LABELS, dtype=np.int32)
        out["targets"] = np.full(LABELS, -100, np.int32)
        out["answers"] = np.full(LABELS, len(categories), np.int32)
        for name, parts in (("positions", positions), ("targets", tokens_of),
                            ("answers", answers)):
            out[name][:n] = np.concatenate(parts)[:n]
        return out, categories

    @staticmethod
    def items(rng, group, row):
        """The pictures and sounds that row `row` of a group shows."""
        if group == 0:
            return [("image", row)]
        if group == 1:
            return [("audio", row)]
        if group == 3:
            return []
        if group == 4:
            kinds = [("image", PICTURES), ("audio", CLIPS)]
            picks = [rng.choice(kinds) for _ in range(rng.randint(1, 4))]
            return [(kind, rng.randrange(n)) for kind, n in picks]
        items = [("image", GROUPS[0][0] + row), ("audio", GROUPS[1][0] + row)]
        p = rng.random()
        if p < 0.12:                                  # a second picture or sound later on
            kind, n = rng.choice([("image", PICTURES), ("audio", CLIPS)])
            return [(kind, rng.randrange(n)), (kind, rng.randrange(n))]
        return items[::-1] if p < 0.45 else items
