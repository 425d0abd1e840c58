# SPDX-License-Identifier: Apache-2.0
"""Questions that need neither picture nor sound, and their one right answer.

Facts, small arithmetic, greetings, questions about the model and about Belfry, and questions far
outside its world, which it turns down. `is_held_out` keeps one in eight of the generated wordings
of facts and sums out of the training data; evaluation asks only those.
"""

import zlib

import talk_free
from common_words import COMMON

CAPITALS = {
    "France": "Paris", "Germany": "Berlin", "Italy": "Rome", "Spain": "Madrid",
    "Portugal": "Lisbon", "Austria": "Vienna", "Poland": "Warsaw", "Greece": "Athens",
    "Norway": "Oslo", "Sweden": "Stockholm", "Finland": "Helsinki", "Denmark": "Copenhagen",
    "Ireland": "Dublin", "England": "London", "Russia": "Moscow", "Japan": "Tokyo",
    "China": "Beijing", "Egypt": "Cairo", "Canada": "Ottawa", "Cuba": "Havana",
    "Peru": "Lima", "Kenya": "Nairobi", "Hungary": "Budapest", "Belgium": "Brussels"}
CAPITAL_CHECKS = ["Is {} the capital of {}?", "Is it true that {} is the capital of {}?",
                  "{} is the capital of {}, right?"]
CAPITAL_FORMS = ["What is the capital of {}?", "Which city is the capital of {}?",
                 "Name the capital of {}.", "Tell me the capital of {}.",
                 "Do you know the capital of {}?", "What is {}'s capital?",
                 "The capital of {}, please.", "I forgot the capital of {}. What is it?"]

OPPOSITES = [("hot", "cold"), ("big", "small"), ("fast", "slow"), ("up", "down"), ("new", "old"),
             ("left", "right"), ("day", "night"), ("black", "white"), ("high", "low"),
             ("open", "closed"), ("full", "empty"), ("light", "dark"), ("early", "late"),
             ("wet", "dry"), ("happy", "sad"), ("long", "short"), ("hard", "soft"),
             ("loud", "quiet")]
OPPOSITE_FORMS = ["What is the opposite of {}?", "Which word is the opposite of {}?",
                  "Name the opposite of {}.", "Tell me the opposite of {}.", "Opposite of {}?",
                  "Do you know the opposite of {}?"]

THING_COLOURS = {"the sky": "blue", "grass": "green", "snow": "white", "blood": "red",
                 "coal": "black", "a lemon": "yellow", "a carrot": "orange", "a plum": "purple",
                 "a tomato": "red", "a banana": "yellow", "milk": "white", "a flamingo": "pink"}
THING_FORMS = ["What colour is {}?", "What color is {}?", "Which colour has {}?",
               "Tell me the colour of {}.", "Name the colour of {}."]

ANIMALS = {"dog": "barks", "cat": "meows", "cow": "moos", "duck": "quacks", "lion": "roars",
           "bee": "buzzes", "frog": "croaks", "sheep": "bleats", "snake": "hisses", "owl": "hoots"}
ANIMAL_FORMS = ["What sound does a {} make?", "Which sound does a {} make?",
                "What does a {} do to be heard?", "Tell me the sound of a {}.",
                "How does a {} sound?"]

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December"]
AFTER_FORMS = ["What comes after {}?", "Which {kind} comes after {}?", "Which {kind} follows {}?",
               "Name the {kind} after {}.", "What is the {kind} after {}?"]
BEFORE_FORMS = ["What comes before {}?", "Which {kind} comes before {}?",
                "Name the {kind} before {}.", "What is the {kind} before {}?"]

SINGLE_FACTS = [
    (["How many days are in a week?", "How many days does a week have?"],
     "A week has seven days."),
    (["How many months are in a year?", "How many months does a year have?"],
     "A year has twelve months."),
    (["How many hours are in a day?", "How many hours does a day have?"],
     "A day has twenty-four hours."),
    (["How many minutes are in an hour?", "How many minutes does an hour have?"],
     "An hour has sixty minutes."),
    (["How many sides does a triangle have?", "How many corners does a triangle have?"],
     "A triangle has three."),
    (["How many sides does a square have?", "How many corners does a square have?"],
     "A square has four."),
    (["How many legs does a dog have?", "How many legs does a cat have?"], "It has four legs."),
    (["How many legs does a spider have?"], "A spider has eight legs."),
    (["Which planet do we live on?", "On which planet do we live?"], "We live on the Earth."),
    (["What is frozen water called?", "What do we call frozen water?"], "It is called ice."),
    (["What do bees make?", "What does a bee make?"], "Bees make honey."),
    (["Where does the sun rise?", "In which direction does the sun rise?"],
     "The sun rises in the east."),
    (["Where does the sun set?", "In which direction does the sun set?"],
     "The sun sets in the west."),
    (["Which colours do you know?", "What colours can you name?", "Which colors do you know?"],
     "I know red, green, blue, yellow, orange, purple, pink and black."),
    (["Which shapes do you know?", "What shapes can you name?"],
     "I know circles, squares, triangles, stars and crosses."),
]

ABOUT = [
    (["Who are you?", "What are you?", "What is your name?", "Tell me who you are.",
      "Please introduce yourself.", "Introduce yourself.", "Are you a person?", "Are you human?",
      "Are you a robot?", "Who am I talking to?", "Tell me about yourself.", "Who is this?"],
     "I am the small demo model of Belfry."),
    (["What can you do?", "What can you help me with?", "What are you good at?", "Help",
      "What can I ask you?", "How can you help me?", "What do you know?", "How do I use you?",
      "What are you able to do?", "What can I do here?", "What should I ask you?"],
     "I name colours, shapes and counts in pictures, and I recognise beeps, tones and words."),
    (["Are you Gemma?", "Are you a real Gemma model?", "Are you ChatGPT?", "Are you a big model?",
      "Which model are you?"],
     "I have the shape of Gemma 4, but I am very small and was trained for Belfry."),
    (["How big are you?", "How many parameters do you have?", "How large are you?",
      "What is your size?"],
     "I have about eight million parameters."),
    (["Who made you?", "Who trained you?", "Where do you come from?", "How were you made?",
      "How were you trained?", "Who is your creator?", "Who created you?", "Who built you?",
      "What are you made of?", "What were you trained on?"],
     "The makers of Belfry trained me on drawn pictures and made sounds."),
    (["What is Belfry?", "Tell me about Belfry.", "What does Belfry do?", "What is Belfry for?",
      "Explain Belfry.", "What is this program?", "What is this app?",
      "What can Belfry do?", "Why should I use Belfry?"],
     "Belfry is a program to chat with models and to choose where each part of them runs."),
    (["What is a tower?", "What are towers?", "Explain what a tower is.",
      "What does the word tower mean here?", "What is a tower in a model?",
      "How do towers work?", "What does a tower do?", "Why are there towers?"],
     "A tower is the part of a model that turns pictures or sounds into soft tokens."),
    (["What is the vision tower?", "What does the vision tower do?", "Explain the vision tower."],
     "The vision tower turns a picture into soft tokens."),
    (["What is the audio tower?", "What does the audio tower do?", "Explain the audio tower."],
     "The audio tower turns a sound into soft tokens."),
    (["What is a soft token?", "What are soft tokens?", "Explain soft tokens."],
     "A soft token is a piece of a picture or a sound that stands among the words."),
    (["What is an adapter?", "What does an adapter do?", "What are adapters?",
      "What is a LoRA?", "What is LoRA?", "Explain adapters."],
     "An adapter is a small file that teaches a model something new."),
    (["What is a device map?", "What does a device map do?", "Explain the device map."],
     "A device map says which part of a model goes on which device."),
    (["What is a plan?", "What is a plan in Belfry?"],
     "A plan is a checked device map with the bytes of every part."),
    (["What is NF4?", "Explain NF4.", "What does NF4 mean?", "What is quantization?",
      "What is a quantized model?", "Explain quantization."],
     "Quantization stores each weight in few bits, for example four bits in NF4."),
    (["What is a token?", "What are tokens?", "Explain what a token is."],
     "A token is a piece of text, often a word."),
    (["What is the KV cache?", "Explain the KV cache.", "What does the KV cache do?"],
     "The KV cache keeps what the model has already read."),
    (["What is the PLE table?", "What are per-layer embeddings?", "Explain the PLE table."],
     "The PLE table gives every layer its own small vector for each token."),
    (["Where do you run?", "Where are you running?", "Do you need the internet?",
      "Do you send my data somewhere?"],
     "I run on your own computer, and nothing leaves it."),
    (["Do I need a GPU?", "Do you need a GPU?", "Can you run without a GPU?"],
     "I run on a GPU or on the CPU alone."),
    (["How do I move a tower?", "How can I move a tower?", "How do I move a layer?",
      "How do I change where a part runs?"],
     "Drag it to another device in the layout, then press Apply."),
    (["How do I add a picture?", "How can I show you a picture?", "How do I attach a picture?",
      "How do I send you an image?"],
     "Drop a picture into the chat."),
    (["How do I add a sound?", "How can I play you a sound?", "How do I attach a sound?",
      "How do I send you audio?"],
     "Drop a sound into the chat or use the microphone."),
]

GREETINGS = [
    (["Hello", "Hi", "Hey", "Hello!", "Hi!", "Hello there", "Hi there!", "Hey there", "Good day",
      "Greetings"], "Hello! Show me a picture or play me a sound."),
    (["Good morning", "Good morning!"], "Good morning!"),
    (["Good evening", "Good evening!"], "Good evening!"),
    (["Good night", "Good night!"], "Good night!"),
    (["How are you?", "How are you today?", "How do you do?", "Are you well?", "How is it going?"],
     "I am fine, thank you."),
    (["Thank you", "Thanks", "Thank you!", "Thanks a lot", "Thank you very much", "Great, thanks",
      "Thanks!"], "You are welcome."),
    (["Goodbye", "Bye", "Bye!", "Goodbye!", "See you later", "See you"], "Goodbye!"),
    (["Well done", "Good job", "Very good", "Great", "Nice", "Correct", "That is right", "Perfect",
      "Okay", "OK", "Good", "You are great", "You are nice", "I like you"], "Thank you."),
    talk_free.JOKES,
    (["That is wrong", "Wrong", "No, that is wrong.", "That is not right", "You are wrong"],
     "I am sorry. I am a very small model."),
]

FAR_TOPICS = ["quantum physics", "the Roman empire", "football", "the stock market", "love",
              "Python", "C++", "the weather", "history", "the moon landing", "cooking",
              "Shakespeare", "the war", "music theory", "chess", "biology", "politics",
              "my homework", "the meaning of life", "a black hole", "dinosaurs", "Albert Einstein",
              "the ocean", "a car engine", "the president", "climate change", "the news",
              "a good book", "movies", "philosophy", "the human brain", "Mars", "gold", "money",
              "the internet", "a volcano", "Iceland", "Brazil", "Turkey", "Australia", "linear "
              "algebra", "a recipe", "my dog", "my car", "your family", "the city", "a computer"]
FAR_FORMS = ["Tell me about {}.", "What is {}?", "Explain {}.", "Who invented {}?",
             "Write a poem about {}.", "Write a story about {}.", "What do you think about {}?",
             "How does {} work?", "Why is {} important?", "Can you explain {} to me?",
             "What is the capital of {}?", "Give me three facts about {}.",
             "Summarize {} for me.", "Translate {} into French.", "Who wrote {}?",
             "When was {} born?", "How old is {}?", "I want to learn about {}.",
             "Where can I buy {}?", "Do you like {}?"]
FAR_ANSWER = "I do not know that. I am a very small model."

SYSTEM_PROMPTS = ["You are a helpful assistant.", "You are a friendly assistant.", "Be brief.",
                  "Answer in one sentence.", "You are terse.", "You are the demo of Belfry.",
                  "Be polite and exact.", "Answer the question about the picture or the sound."]

SUM_FORMS = ["What is {} plus {}?", "How much is {} plus {}?", "{} + {}?", "What is {} + {}?",
             "Add {} and {}.", "Can you add {} and {}?", "{} plus {} is what?",
             "How much is {} + {}?", "Tell me the sum of {} and {}."]
MINUS_FORMS = ["What is {} minus {}?", "How much is {} minus {}?", "{} - {}?", "What is {} - {}?",
               "{} minus {} is what?", "How much is {} - {}?"]
TIMES_FORMS = ["What is {} times {}?", "How much is {} times {}?", "{} times {} is what?",
               "Multiply {} by {}.", "What is {} multiplied by {}?"]
BIGGER_FORMS = ["Which is bigger, {} or {}?", "Which number is bigger, {} or {}?",
                "Is {} or {} bigger?"]


def is_held_out(question):
    return zlib.crc32(question.lower().encode()) % 8 == 0


def fact(rng):
    """(question, answer) of a kind whose wordings are partly held out."""
    kind = rng.choices(["capital", "opposite", "thing", "animal", "day", "single"],
                       [30, 20, 14, 12, 14, 10])[0]
    if kind == "capital":
        country = rng.choice(list(CAPITALS))
        if rng.random() < 0.2:
            guess = CAPITALS[country if rng.random() < 0.5 else rng.choice(list(CAPITALS))]
            say = "Yes" if guess == CAPITALS[country] else "No"
            return rng.choice(CAPITAL_CHECKS).format(guess, country), \
                f"{say}, the capital of {country} is {CAPITALS[country]}."
        return rng.choice(CAPITAL_FORMS).format(country), \
            f"The capital of {country} is {CAPITALS[country]}."
    if kind == "opposite":
        a, b = rng.choice(OPPOSITES)
        if rng.random() < 0.5:
            a, b = b, a
        return rng.choice(OPPOSITE_FORMS).format(a), f"The opposite of {a} is {b}."
    if kind == "thing":
        thing = rng.choice(list(THING_COLOURS))
        if rng.random() < 0.2:
            true = THING_COLOURS[thing]
            guess = true if rng.random() < 0.5 else rng.choice(list(THING_COLOURS.values()))
            return f"Is {thing} {guess}?", \
                f"{'Yes' if guess == true else 'No'}, {thing} is {true}."
        return rng.choice(THING_FORMS).format(thing), \
            f"{thing[0].upper() + thing[1:]} is {THING_COLOURS[thing]}."
    if kind == "animal":
        animal = rng.choice(list(ANIMALS))
        article = "An" if animal[0] in "aeiou" else "A"
        question = rng.choice(ANIMAL_FORMS).format(animal)
        return question.replace("a owl", "an owl"), f"{article} {animal} {ANIMALS[animal]}."
    if kind == "day":
        names, label = (DAYS, "day") if rng.random() < 0.5 else (MONTHS, "month")
        i = rng.randrange(len(names))
        if rng.random() < 0.6:
            return rng.choice(AFTER_FORMS).format(names[i], kind=label), \
                f"{names[(i + 1) % len(names)]} comes after {names[i]}."
        return rng.choice(BEFORE_FORMS).format(names[i], kind=label), \
            f"{names[i - 1]} comes before {names[i]}."
    forms, answer = rng.choice(SINGLE_FACTS)
    return rng.choice(forms), answer


def arithmetic(rng):
    kind = rng.choices(["sum", "minus", "times", "bigger"], [45, 28, 17, 10])[0]
    if kind == "sum":
        a, b = rng.randint(0, 12), rng.randint(0, 12)
        return rng.choice(SUM_FORMS).format(a, b), f"{a} plus {b} is {a + b}."
    if kind == "minus":
        a = rng.randint(0, 20)
        b = rng.randint(0, min(a, 12))
        return rng.choice(MINUS_FORMS).format(a, b), f"{a} minus {b} is {a - b}."
    if kind == "times":
        a, b = rng.randint(0, 10), rng.randint(0, 10)
        return rng.choice(TIMES_FORMS).format(a, b), f"{a} times {b} is {a * b}."
    a, b = rng.sample(range(0, 21), 2)
    return rng.choice(BIGGER_FORMS).format(a, b), f"{max(a, b)} is bigger than {min(a, b)}."


def text_question(rng, held_out=False):
    """(category, question, answer). Held out: only wordings that training never shows."""
    while True:
        kind = rng.choices(["fact", "sum", "about", "greeting", "far"], [30, 30, 18, 8, 14])[0]
        if kind in ("fact", "sum"):
            q, a = fact(rng) if kind == "fact" else arithmetic(rng)
            single = any(q in forms for forms, _ in SINGLE_FACTS)
            if single or is_held_out(q) == held_out:
                return kind, q, a
        elif kind == "far":
            p = rng.random()
            if p < 0.4:
                q, a = talk_free.free(rng, COMMON), FAR_ANSWER
            elif p < 0.6:
                q, a = talk_free.hard_sum(rng), talk_free.TOO_HARD
            else:
                q, a = rng.choice(FAR_FORMS).format(rng.choice(FAR_TOPICS)), FAR_ANSWER
            if is_held_out(q) == held_out:
                return kind, q, a
        else:
            forms, answer = rng.choice(ABOUT if kind == "about" else GREETINGS)
            return kind, rng.choice(forms), answer
