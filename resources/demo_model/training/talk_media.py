# SPDX-License-Identifier: Apache-2.0
"""Questions about a picture, about a sound and about both, with their one right answer.

Every function takes the scene or clip and returns (category, question, answer). How an answer is
worded depends only on the question's kind and on what is there, so exact comparison is fair.
"""

from words import ALL_SHAPES, COLOURS, DIGITS, NEW_SHAPES, NEW_WORDS, NUMBERS, OTHER_SHAPES, \
    OTHER_WORDS, PLURAL, SHAPES

ABSENT = ["dog", "cat", "house", "car", "person", "tree", "table", "bird"]
SIDES = {"h": ("on the left", "on the right"), "v": ("at the top", "at the bottom")}
BESIDE = {"h": ("left of", "right of"), "v": ("above", "below")}


def some(count, colour, shape):
    name = shape if count == 1 else PLURAL[shape]
    return f"{NUMBERS[count]} {colour} {name}".replace("  ", " ")


def there_are(count, one, many):
    return f"There is one {one}." if count == 1 else f"There are {NUMBERS[count]} {many}."


def seen(scene, known=ALL_SHAPES):
    if any(k[0] not in known for k in scene.kinds):
        return "a shape that I do not know"
    return " and ".join(some(n, c, s) for s, c, n in scene.kinds)


DESCRIBE = ["What do you see?", "Describe the picture.", "What is in the picture?",
            "What does the picture show?", "Tell me what you see.", "What is this?",
            "Describe this image.", "What can you see in the image?", "What is drawn here?",
            "What is in this image?", "Please describe the picture.", "What do you see here?",
            "What is shown in the picture?", "Look at this. What is it?", "Describe it."]
COUNT_SHAPE = ["How many {} are there?", "How many {} do you see?", "Count the {}.",
               "How many {} are in the picture?", "Can you count the {}?", "How many {}?",
               "Please count the {}.", "Tell me how many {} there are."]
COUNT_ALL = ["How many shapes are there?", "How many shapes do you see?", "Count the shapes.",
             "How many things are in the picture?", "How many objects do you see?",
             "How many things do you see?", "How many shapes are there in total?",
             "Count all the shapes."]
COUNT_COLOUR = ["How many {} shapes are there?", "How many {} shapes do you see?",
                "Count the {} shapes.", "How many shapes are {}?", "How many {} things are there?"]
COLOUR_OF = ["What colour is the {}?", "What color is the {}?", "Which colour does the {} have?",
             "Tell me the colour of the {}.", "Which color is the {}?",
             "Name the colour of the {}."]
COLOURS_OF = ["What colour are the {}?", "What color are the {}?", "Which colour do the {} have?",
              "Tell me the colour of the {}.", "Which color are the {}?"]
COLOUR_IT = ["What colour is it?", "What color is it?", "Which colour is it?",
             "What colour is the shape?", "What colour do you see?", "Name the colour.",
             "Which color do you see?"]
SHAPE_IT = ["What shape is it?", "Which shape is it?", "Which shape do you see?",
            "What shape is this?", "Name the shape.", "What kind of shape is it?"]
SHAPE_OF = ["What is the {} shape?", "Which shape is {}?", "What shape is {}?",
            "What is {} in the picture?"]
WHERE = ["Where is it?", "Where is the {}?", "Where is the shape?",
         "Where in the picture is the {}?", "Where do you see the {}?", "Tell me where the {} is."]
WHERE_SIDE = ["Where is the {}?", "Where in the picture is the {}?", "Where do you see the {}?",
              "On which side is the {}?"]
IS_THERE = ["Is there a {}?", "Do you see a {}?", "Can you see a {}?",
            "Is there a {} in the picture?", "Is a {} in the picture?"]
ANY_COLOUR = ["Is there anything {}?", "Do you see something {}?", "Is something {}?",
              "Is there a {} shape?"]
SIDE = ["What is {}?", "Which shape is {}?", "What do you see {}?"]
MORE = ["Are there more {} or {}?", "Are there more {} or more {}?",
        "Which are more, the {} or the {}?"]
GROUND = ["What colour is the background?", "What color is the background?",
          "Which colour is the background?", "What is the colour of the background?"]


def article(name):
    return "an" if name[0] in "aeiou" else "a"


def asked(rng, forms, *names):
    q = rng.choice(forms).format(*names)
    return q.replace(" a arrow", " an arrow").replace(" a orange", " an orange")


def picture_question(rng, scene, known=SHAPES):
    """known: the shapes the answering model has names for."""
    kinds = scene.kinds
    if any(k[0] not in known for k in kinds):
        return unknown_shape_question(rng, scene, known)
    kind = kinds[0] if len(kinds) == 1 else rng.choice(kinds)
    shape, colour, n = kind
    name = shape if n == 1 else PLURAL[shape]
    be = "is" if n == 1 else "are"
    options = {"describe": 20, "count": 14, "count_all": 8, "colour": 14, "yes_no": 8,
               "is_colour": 5, "any_colour": 5, "ground": 3, "count_colour": 6}
    if len(kinds) == 1:
        options |= {"colour_it": 6, "shape_it": 9}
    else:
        options |= {"shape_of": 9}
    if scene.layout == "single":
        options["where"] = 14
    if scene.layout == "sides":
        options |= {"where_side": 9, "side": 14, "beside": 10, "is_beside": 8}
    if scene.layout == "kinds":
        options["more"] = 8
    what = rng.choices(list(options), list(options.values()))[0]
    if what == "describe":
        return what, rng.choice(DESCRIBE), f"I see {seen(scene)}."
    if what == "count":
        if rng.random() < 0.15:
            shape, n = rng.choice([s for s in known if s not in [k[0] for k in kinds]]), 0
        return what, asked(rng, COUNT_SHAPE, PLURAL[shape]), there_are(n, shape, PLURAL[shape])
    if what == "count_all":
        total = sum(k[2] for k in kinds)
        return what, rng.choice(COUNT_ALL), there_are(total, "shape", "shapes")
    if what == "count_colour":
        if rng.random() < 0.2:
            colour, n = rng.choice([c for c in COLOURS if c not in [k[1] for k in kinds]]), 0
        return what, asked(rng, COUNT_COLOUR, colour), \
            there_are(n, f"{colour} shape", f"{colour} shapes")
    if what == "colour":
        if n == 1:
            return what, asked(rng, COLOUR_OF, shape), f"The {shape} is {colour}."
        return what, asked(rng, COLOURS_OF, name), f"The {name} are {colour}."
    if what == "colour_it":
        return "colour", rng.choice(COLOUR_IT), f"It is {colour}."
    if what == "shape_it":
        if n == 1:
            return "shape", rng.choice(SHAPE_IT), f"It is {article(shape)} {shape}."
        return "shape", rng.choice(SHAPE_IT), f"They are {name}."
    if what == "shape_of":
        q = asked(rng, SHAPE_OF, colour)
        if n == 1:
            return "shape", q, f"The {colour} shape is {article(shape)} {shape}."
        return "shape", q, f"The {colour} shapes are {name}."
    if what == "where":
        return "position", asked(rng, WHERE, shape), f"It is {scene.region}."
    if what == "where_side":
        i = kinds.index(kind)
        return "position", asked(rng, WHERE_SIDE, shape), f"It is {SIDES[scene.axis][i]}."
    if what == "side":
        i = kinds.index(kind)
        side = SIDES[scene.axis][i]
        return "position", asked(rng, SIDE, side), f"The {colour} {shape} is {side}."
    if what == "beside":
        i = kinds.index(kind)
        other, other_colour, _ = kinds[1 - i]
        words = BESIDE[scene.axis][1 - i]
        return "position", f"What is {words} the {shape}?", \
            f"The {other_colour} {other} is {words} the {shape}."
    if what == "is_beside":
        i = kinds.index(kind)
        other = kinds[1 - i][0]
        asked_side = rng.randrange(2)
        words, truth = BESIDE[scene.axis][asked_side], BESIDE[scene.axis][i]
        say = "Yes" if asked_side == i else "No"
        return "position", f"Is the {shape} {words} the {other}?", \
            f"{say}, the {shape} is {truth} the {other}."
    if what == "yes_no":
        if rng.random() < 0.5:
            return "yes_no", asked(rng, IS_THERE, shape), \
                "Yes, t" + there_are(n, shape, PLURAL[shape])[1:]
        absent = rng.choice([s for s in known if s not in [k[0] for k in kinds]]
                            if rng.random() < 0.8 else ABSENT)
        return "yes_no", asked(rng, IS_THERE, absent), f"No, there is no {absent}."
    if what == "is_colour":
        guess = colour if rng.random() < 0.5 else rng.choice(list(COLOURS))
        say = "Yes" if guess == colour else "No"
        return "yes_no", f"{'Is' if n == 1 else 'Are'} the {name} {guess}?", \
            f"{say}, the {name} {be} {colour}."
    if what == "any_colour":
        if rng.random() < 0.55:
            return "yes_no", asked(rng, ANY_COLOUR, colour), f"Yes, {some(n, colour, shape)}."
        guess = rng.choice([c for c in COLOURS if c not in [k[1] for k in kinds]])
        return "yes_no", asked(rng, ANY_COLOUR, guess), f"No, nothing is {guess}."
    if what == "more":
        (a, _, na), (b, _, nb) = kinds
        if rng.random() < 0.5:
            a, b, na, nb = b, a, nb, na
        answer = "There are as many." if na == nb else \
            f"There are more {PLURAL[a if na > nb else b]}."
        return "count", asked(rng, MORE, PLURAL[a], PLURAL[b]), answer
    return "background", rng.choice(GROUND), f"The background is {scene.background}."


def unknown_shape_question(rng, scene, known):
    """What the base model says about shapes it has no name for (single scenes only)."""
    colour = scene.kinds[0][1]
    what = rng.choice(["describe", "shape", "colour", "where", "yes_no"])
    if what == "describe":
        return "unknown", rng.choice(DESCRIBE), "I see a shape that I do not know."
    if what == "shape":
        return "unknown", rng.choice(SHAPE_IT), "I do not know that shape."
    if what == "colour":
        return "unknown", rng.choice(COLOUR_IT), f"It is {colour}."
    if what == "where":
        return "unknown", rng.choice(["Where is it?", "Where is the shape?"]), \
            f"It is {scene.region}."
    name = rng.choice(known)
    return "unknown", asked(rng, IS_THERE, name), f"No, there is no {name}."


HEAR = ["What do you hear?", "What is this sound?", "Describe the sound.", "What was that?",
        "Tell me what you hear.", "What is in the recording?", "Listen. What is it?",
        "What can you hear?", "What do you hear here?", "Please describe the sound.",
        "What is that sound?", "Describe what you hear."]
COUNT_BEEPS = ["How many beeps are there?", "How many beeps do you hear?", "Count the beeps.",
               "How many beeps were there?", "Please count the beeps.", "How many beeps?",
               "How often does it beep?"]
PITCH = ["Is it high, middle or low?", "Is the sound high or low?", "Is the tone high or low?",
         "How high is the tone?", "What is the pitch?", "Is the pitch high or low?"]
GLIDE = ["Does the tone rise or fall?", "Is the tone rising or falling?",
         "Does the sound go up or down?", "Is it rising or falling?"]
TEMPO = ["Are the beeps fast or slow?", "How fast are the beeps?", "Is the rhythm fast or slow?"]
WHICH_WORD = ["Which word do you hear?", "What word is spoken?", "What did the voice say?",
              "Which word was that?", "Transcribe the recording.", "What is being said?",
              "Transcribe.", "What does the voice say?", "Which word is it?",
              "What word do you hear?", "Write down the word.", "What was said?"]
WHICH_NUMBER = ["Which number do you hear?", "What number was spoken?", "Which number is it?",
                "What number do you hear?", "Which digit was spoken?"]
IS_WORD = ["Did the voice say {}?", "Is the word {}?", "Was that the word {}?",
           "Do you hear the word {}?"]
IS_SPEECH = ["Is somebody speaking?", "Do you hear a word?", "Is this speech?",
             "Do you hear a voice?"]


def heard(clip, known):
    if clip.kind == "beeps":
        return f"{NUMBERS[clip.count]} {clip.pitch} beep{'' if clip.count == 1 else 's'}"
    if clip.kind == "tone":
        return f"a {clip.pitch} tone"
    if clip.kind == "glide":
        return f"a {clip.direction} tone"
    if clip.kind == "word":
        return f"the word {clip.word}" if clip.word in known else "a word that I do not know"
    return "noise" if clip.kind == "noise" else "nothing"


def sound_question(rng, clip, known):
    what = "hear" if rng.random() < 0.3 else ""
    if clip.kind == "word" and not what:
        if clip.word not in known:
            if rng.random() < 0.2:
                return "speech", rng.choice(IS_SPEECH), "Yes, I hear a word."
            return "unknown", rng.choice(WHICH_WORD), "I do not know that word."
        what = rng.choices(["word", "is_word", "speech", "number"],
                           [60, 15, 5, 30 if clip.word in DIGITS else 0])[0]
        if what == "word":
            return "word", rng.choice(WHICH_WORD), f"The word is {clip.word}."
        if what == "number":
            return "word", rng.choice(WHICH_NUMBER), f"The number is {clip.word}."
        if what == "is_word":
            guess = clip.word if rng.random() < 0.5 else rng.choice(known)
            say = "Yes" if guess == clip.word else "No"
            return "word", rng.choice(IS_WORD).format(guess), f"{say}, the word is {clip.word}."
        return "speech", rng.choice(IS_SPEECH), "Yes, I hear a word."
    if not what:
        options = {"count": 4, "speech": 1, "word": 1}
        if clip.kind == "beeps":
            options = {"count": 12, "pitch": 5, "tempo": 4 if clip.tempo else 0, "speech": 1}
        if clip.kind == "tone":
            options |= {"pitch": 12, "glide": 5}
        if clip.kind == "glide":
            options |= {"glide": 14}
        what = rng.choices(list(options), list(options.values()))[0]
    if what == "count":
        return "beeps", rng.choice(COUNT_BEEPS), there_are(clip.count, "beep", "beeps")
    if what == "pitch":
        return "pitch", rng.choice(PITCH), f"It is {clip.pitch}."
    if what == "glide":
        return "glide", rng.choice(GLIDE), f"The tone is {clip.direction}."
    if what == "tempo":
        return "tempo", rng.choice(TEMPO), f"The beeps are {clip.tempo}."
    if what == "word":
        return "speech", rng.choice(WHICH_WORD), "I hear no word."
    if what == "speech":
        return "speech", rng.choice(IS_SPEECH), "No, I hear " + heard(clip, known) + "."
    return ("word" if clip.kind == "word" else "hear"), rng.choice(HEAR), \
        f"I hear {heard(clip, known)}."


SEE_AND_HEAR = ["What do you see and hear?", "Describe the picture and the sound.",
                "What do you see, and what do you hear?", "Tell me what you see and hear.",
                "Describe both.", "What is in the picture and in the recording?"]
SAME_NUMBER = ["Are there as many beeps as shapes?", "Is the number of beeps the number of shapes?",
               "Do you hear as many beeps as you see shapes?"]
BOTH_COUNTS = ["How many beeps and how many shapes are there?", "Count the beeps and the shapes.",
               "How many shapes do you see and how many beeps do you hear?"]
SAME_COLOUR = ["Does the word match the colour?", "Is the spoken word the colour of the shape?",
               "Does the voice name the right colour?", "Does the voice say the colour you see?"]
SAME_DIGIT = ["Is the spoken number the number of shapes?", "Does the number match the shapes?",
              "Does the voice say how many shapes there are?"]


def counted(n, noun):
    return f"{NUMBERS[n]} {noun}{'' if n == 1 else 's'}"


def both_question(rng, scene, clip, shapes, words):
    total = sum(k[2] for k in scene.kinds)
    options = {"both": 30}
    if any(k[0] not in shapes for k in scene.kinds) or (clip.kind == "word"
                                                       and clip.word not in words):
        pass                                  # only the plain description is fair here
    elif clip.kind == "beeps":
        options |= {"same_number": 30, "both_counts": 20}
    elif clip.kind == "word" and clip.word in COLOURS and len(scene.kinds) == 1:
        options["same_colour"] = 60
    elif clip.kind == "word" and clip.word in DIGITS:
        options["same_digit"] = 30
    options |= {"picture": 12, "sound": 12}
    what = rng.choices(list(options), list(options.values()))[0]
    if what == "both":
        return what, rng.choice(SEE_AND_HEAR), \
            f"I see {seen(scene, shapes)} and hear {heard(clip, words)}."
    if what == "same_number":
        if clip.count == total:
            return what, rng.choice(SAME_NUMBER), f"Yes, I count {NUMBERS[total]} of each."
        return what, rng.choice(SAME_NUMBER), \
            f"No, I count {counted(clip.count, 'beep')} and {counted(total, 'shape')}."
    if what == "both_counts":
        return what, rng.choice(BOTH_COUNTS), \
            f"I count {counted(clip.count, 'beep')} and {counted(total, 'shape')}."
    if what == "same_colour":
        colour = scene.kinds[0][1]
        if clip.word == colour:
            return what, rng.choice(SAME_COLOUR), f"Yes, both are {colour}."
        return what, rng.choice(SAME_COLOUR), f"No, the word is {clip.word} and I see {colour}."
    if what == "same_digit":
        if clip.word == NUMBERS[total]:
            return what, rng.choice(SAME_DIGIT), f"Yes, both are {clip.word}."
        return what, rng.choice(SAME_DIGIT), \
            f"No, the word is {clip.word} and I see {counted(total, 'shape')}."
    if what == "picture":
        return picture_question(rng, scene, shapes)
    return sound_question(rng, clip, words)


NO_PICTURE, NO_SOUND = "I do not see a picture.", "I do not hear a sound."


def missing_question(rng, picture, sound):
    """A question about something that is not attached."""
    shape, colour, word = rng.choice(SHAPES + NEW_SHAPES), rng.choice(list(COLOURS)), \
        rng.choice(DIGITS + NEW_WORDS)
    picture_forms = [rng.choice(DESCRIBE), asked(rng, COUNT_SHAPE, PLURAL[shape]),
                     rng.choice(COUNT_ALL), asked(rng, COUNT_COLOUR, colour),
                     asked(rng, COLOUR_OF, shape), asked(rng, COLOURS_OF, PLURAL[shape]),
                     rng.choice(COLOUR_IT), rng.choice(SHAPE_IT), asked(rng, SHAPE_OF, colour),
                     asked(rng, WHERE, shape), asked(rng, IS_THERE, shape),
                     asked(rng, ANY_COLOUR, colour), rng.choice(GROUND),
                     asked(rng, SIDE, rng.choice(["on the left", "on the right", "at the top"]))]
    sound_forms = [rng.choice(HEAR), rng.choice(COUNT_BEEPS), rng.choice(PITCH),
                   rng.choice(GLIDE), rng.choice(TEMPO), rng.choice(WHICH_WORD),
                   rng.choice(WHICH_NUMBER), rng.choice(IS_WORD).format(word),
                   rng.choice(IS_SPEECH)]
    # A sentence that both lists use says nothing about which of the two is missing.
    sound_forms = [q for q in sound_forms if q != "What was that?"]
    if picture and not sound:
        return "missing", rng.choice(sound_forms), NO_SOUND
    if sound and not picture:
        unclear = {"What is this?", "Describe it.", "Look at this. What is it?"}
        forms = [q for q in picture_forms if q not in unclear]
        return "missing", rng.choice(forms), NO_PICTURE
    pick = rng.random()
    if pick < 0.55:
        return "missing", rng.choice(picture_forms), NO_PICTURE
    if pick < 0.9:
        return "missing", rng.choice(sound_forms), NO_SOUND
    return "missing", rng.choice(SEE_AND_HEAR[:-2] + SAME_NUMBER), \
        "I do not see a picture and I do not hear a sound."


UNKNOWN_SHAPES, UNKNOWN_WORDS = NEW_SHAPES + OTHER_SHAPES, NEW_WORDS + OTHER_WORDS
