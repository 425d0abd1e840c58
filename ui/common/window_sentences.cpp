// SPDX-License-Identifier: Apache-2.0
#include "ui/common/window_sentences.h"

#include <QtGlobal>

#include <cstring>

namespace ui {

namespace {

struct Pair {
    const char* engine;
    const char* window;
};

constexpr Pair kPairs[] = {
    {"%1: its licence has to be accepted before it can be fetched: open %2 in a browser, sign in, "
     "accept, then set HF_TOKEN and try again",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1: its licence has to be accepted before it can be fetched: open %2 in a "
                       "browser, accept it there, then use “Sign in…” here")},
    {"%1: %2 does not take the token: it is wrong or has expired; make a new one on your settings "
     "page there, or unset HF_TOKEN",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1: %2 does not take the token: it is wrong or has expired; make a new one "
                       "on your settings page there, then use “Sign in…”")},
    {"%1: %2 refuses access to this token: it lacks the permission (a fine-grained token names "
     "what it may read): set HF_TOKEN to one that has it",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1: %2 refuses access to this token: it lacks the permission (a "
                       "fine-grained token names what it may read); use “Sign in…” with one that "
                       "has it")},
    {"%1: %2 refuses access; set HF_TOKEN if the model is yours",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1: %2 refuses access; use “Sign in…” if the model is yours")},
    {"%1: there is no such model at %2, or it is private: check the name and whose token HF_TOKEN "
     "is",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1: there is no such model at %2, or it is private: check the name and "
                       "whose token is used")},
    {"%1: there is no such model at %2, or it is private: check the name, or set HF_TOKEN to a "
     "token that may read it",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1: there is no such model at %2, or it is private: check the name, or use "
                       "“Sign in…” with a token that may read it")},
    {"%1 has had too many requests from this address; try again in five minutes, or set HF_TOKEN",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1 has had too many requests from this address; try again in five minutes, "
                       "or sign in there with a token")},
    {"HF_ENDPOINT %1 is not encrypted, and a token would be read on the way: use https, or unset "
     "HF_TOKEN",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "the address %1 is not encrypted, and a token would be read on the way: use "
                       "https, or remove the token in the settings")},
    {"the system's keyring does not answer (%1): unlock it and try again, or set HF_TOKEN",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "the system's keyring does not answer (%1): unlock it and try again")},
    {"there is no place to keep a token in: set HF_TOKEN",
     QT_TRANSLATE_NOOP("ui::WindowSentence", "there is no place to keep a token in")},
    {"%1 %2 (--all fetches what is there)", "%1 %2"},
    {"this model has no tokenizer: give token ids",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "this model has no tokenizer, so it cannot read text: put its "
                       "tokenizer.json into the folder and load it again")},
    {"%1: %2: %3; choose a folder that you may write to with --to or HF_HUB_CACHE",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1: %2: %3; the folder of models has to be one that you may write to")},
    {"%1: the disk takes no file of this size (FAT: 4 GiB); choose a folder on another disk with "
     "--to or HF_HUB_CACHE",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1: the disk takes no file of this size (FAT: 4 GiB); the folder of models "
                       "has to be on another disk")},
    {"not enough room: %1 bytes are missing and %2 shall stay free, the disk has %3 free; make "
     "room, or choose another disk with --to or HF_HUB_CACHE",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "not enough room: %1 bytes are missing and %2 shall stay free, the disk has "
                       "%3 free; make room on it")},
};

} // namespace

const char* windowPattern(const char* pattern) {
    for (const Pair& pair : kPairs) {
        if (std::strcmp(pair.engine, pattern) == 0) {
            return pair.window;
        }
    }
    return nullptr;
}

} // namespace ui
