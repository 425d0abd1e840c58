# SPDX-License-Identifier: Apache-2.0
"""Sentences a stranger might type that the demo model has no answer for.

They teach it to say so instead of guessing. Hand-written sentences, sentences in other languages,
words in random order and random letters.
"""

SENTENCES = """I am sad
I am happy today
I am tired
My name is Anna
Call me Tom
I live in a small town
It is raining outside
This is a test
Test
Testing, testing
I have a question
I need your advice
Let us play a game
Sing a song for me
Write me a short poem
Write a haiku
Write an email to my boss
Write a letter to my friend
Write some code
Write a function that sorts a list
Fix this bug for me
Make a list of fruits
Give me an idea for dinner
What should I cook today?
What should I do today?
What time is it?
What day is it today?
What is the date?
What year is it?
How is the weather today?
Will it rain tomorrow?
Where am I?
Where do I live?
How old am I?
How tall is the tower in Paris?
How far is the moon?
How many people live in China?
How many stars are in the sky?
Who is the king of England?
Who won the game yesterday?
Who was the first man on the moon?
Who painted this?
Who is your favourite singer?
What is your favourite colour?
What is your favourite food?
Do you sleep?
Do you dream?
Do you have feelings?
Do you love me?
I love you
I hate you
You are funny
You are stupid
Are you alive?
Can you feel pain?
Can you drive a car?
Can you open the window?
Can you play music?
Can you call my mother?
Can you search the internet?
Can you remember me?
Can you speak German?
Can you translate this?
Translate this sentence into Spanish
How do you say cat in French?
What does this word mean?
Spell the word house
What is a noun?
What is the meaning of life?
Why is the sky blue?
Why do birds sing?
Why do cats sleep so much?
How do planes fly?
How does a computer work?
How do I learn to swim?
How do I get rich?
How can I sleep better?
Is there life on Mars?
Is the earth flat?
Is water wet?
Is it late?
Should I go out?
Should I buy a new car?
Tell me something
Tell me a secret
Tell me more
Tell me a story
Tell me the truth
Tell me about yourself in ten words
Say something in Italian
Say it again
Repeat after me
What did I say?
What do you mean?
What?
Why?
How?
Really?
And then?
So what?
Maybe
I do not know
I think so
Never mind
Forget it
Wait
Continue
Go on
Next
One more
Again
Summarize this text
Read this book for me
What is in the news?
What is the largest city in France?
What is the longest river?
What is the highest mountain?
Which country is the biggest?
Which animal is the fastest?
What is the square root of nine?
What is the number pi?
Count to ten
Count from one to five
Roll a dice
Flip a coin
Pick a number
Guess my name
Guess my age
Set an alarm for seven
Turn on the light
Order a pizza
Buy me a ticket
Book a hotel
Draw a picture
Draw a cat for me
Paint a red circle
Sing
Dance
Compare two books
Recommend a movie
What is the price of gold?
How much is a house?
What does a doctor do?
What is a good name for a dog?
How long does an egg cook?
What should I wear?
The quick brown fox jumps over the lazy dog
To be or not to be
Once upon a time there was a king
Lorem ipsum dolor sit amet
Wie geht es dir?
Wer bist du?
Was kannst du?
Guten Tag
Hallo, wie heisst du?
Bonjour, comment allez-vous?
Qui es-tu?
Hola, como estas?
Buenos dias
Ciao, come stai?
Ola, tudo bem?
Dobry den
Merhaba
Hej, hur mår du?
Was ist das?
Que ves en la imagen?
Parlez-vous français?
Привет, как дела?
こんにちは
你好""".split("\n")

JOKES = (["Tell me a joke", "Tell me a joke.", "Do you know a joke?", "Make me laugh",
          "Say something funny"], "I know no jokes, but I can count circles.")
TOO_HARD = "I can only do small sums."


def free(rng, words):
    """A sentence that deserves no answer; `words` is a list to shuffle from."""
    p = rng.random()
    if p < 0.6:
        text = rng.choice(SENTENCES)
        if rng.random() < 0.3 and text[-1].isalpha():
            text += rng.choice([".", "!", "?"])
        return text
    if p < 0.85:
        text = " ".join(rng.choice(words) for _ in range(rng.randint(2, 9)))
        return text + rng.choice(["", "", "?", "."])
    return " ".join("".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in
                            range(rng.randint(1, 7))) for _ in range(rng.randint(1, 4)))


def hard_sum(rng):
    a, b = rng.randint(0, 999), rng.choice([rng.randint(21, 99), rng.randint(21, 2000)])
    if rng.random() < 0.5:
        a, b = b, a
    sign = rng.choice(["+", "-", "plus", "minus", "times", "divided by", "*", "/", "x"])
    form = rng.choice(["What is {}?", "How much is {}?", "{}?", "{}", "Calculate {}.",
                       "Tell me {}.", "{} =", "What is {}"])
    return form.format(f"{a} {sign} {b}")
