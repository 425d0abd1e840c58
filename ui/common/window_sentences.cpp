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
    {"%1: there is no such folder",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "the folder is not there any more: moved, renamed or deleted")},
    {"get it with: belfry-cli get %1",
     QT_TRANSLATE_NOOP("ui::WindowSentence", "see “Get a model”")},
    {"%1, but adapter_config.json is: this is an adapter. Open its base model and add the adapter "
     "to "
     "it",
     QT_TRANSLATE_NOOP(
         "ui::WindowSentence",
         "it holds an adapter, no model. Choose the model first, then add this folder "
         "with “Adapter”")},
    {"%1; below it there is one in: %2. Choose that folder",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "what is wanted is in a folder inside it: %2. Choose "
                       "that one")},
    {"belfry-cli get %1 completes it",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "get it again: what is there is kept, only the rest is fetched")},
    {"belfry-cli get %1 goes on with it",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "get %1 again: what is there is kept, only the rest is fetched")},
    {"get a Gemma 4 model: belfry-cli get google/gemma-4-E2B-it",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "get a Gemma 4 model with safetensors: see “Get a model”")},
    {"see the adapters that Belfry runs: engine/lora/ADAPTER_CONFIG.md",
     QT_TRANSLATE_NOOP("ui::WindowSentence", "take a LoRA adapter that PEFT has saved")},
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
    {"%1 needs %2 (%3 bytes) but may use %4 (%5 bytes), %6 too much (%7). The largest parts: %8",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1 needs %2 but may use %4, %6 too much (%7). The largest parts: %8")},
    {"the memory of a simulated GPU is this computer's main memory: %1 need %2 (%3 bytes) of it "
     "together but may use %4 (%5 bytes), %6 too much (%7). The largest parts: %8",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "the memory of a simulated GPU is this computer's main memory: %1 need %2 "
                       "of it together but may use %4, %6 too much (%7). The largest parts: %8")},
    {"%1 by --limit", QT_TRANSLATE_NOOP("ui::WindowSentence", "%1 by the limit that is set")},
    {"--limit names %1, which this machine does not have",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "there is a limit for %1, which this computer does not have")},
    {"the preset %1 needs a GPU and this machine shows none; use the preset \"cpu\", or try a "
     "simulated GPU with --sim-gpu",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "the placement %1 needs a GPU, and this computer shows none: use "
                       "“Everything on the CPU”, or try “Graphics card: Simulated”")},
    {"%1 is a device that Belfry does not have; the presets are listed by --help",
     QT_TRANSLATE_NOOP("ui::WindowSentence", "%1 is a device that Belfry does not have")},
    {"this version keeps keys and values in bf16 (fp32 with --precision f32) or q8 and has no "
     "other "
     "format for them; change kv.format",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "this version keeps keys and values in bf16 or q8 and has no other format "
                       "for them; change kv.format")},
    {"head in int8", QT_TRANSLATE_NOOP("ui::WindowSentence", "head in 8 bits")},
    {"%1 is \"%2\": a speculative-decoding assistant, not a model to chat with; open the model it "
     "belongs to",
     QT_TRANSLATE_NOOP(
         "ui::WindowSentence",
         "it holds a helper for faster decoding, not a model to chat with. Choose the "
         "folder of the model that it belongs to.")},
    {"%1 is \"%2\": a model of another kind; Belfry runs Gemma 4 (E2B, E4B, 12B, 26B-A4B, 31B) "
     "and models of Llama's form (llama, mistral)",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "it holds a model of another kind (%2). Belfry runs Gemma 4 (E2B, E4B, "
                       "12B, 26B-A4B, 31B) and models of Llama's form (llama, mistral).")},
    {"use --head int8", QT_TRANSLATE_NOOP("ui::WindowSentence", "head in 8 bits")},
    {"use --head int8 and %1", QT_TRANSLATE_NOOP("ui::WindowSentence", "head in 8 bits and %1")},
    {"%1, with %2 kept as a copy of its own (\"%2\": {\"store\": \"%3\", \"compute\": \"%4\", "
     "\"duplicate_tied\": true})",
     QT_TRANSLATE_NOOP("ui::WindowSentence", "%1 (the head keeps its own copy)")},
    {"move %1 to %2", QT_TRANSLATE_NOOP("ui::WindowSentence", "%1 to %2")},
    {"move %1 and %2 to %3", QT_TRANSLATE_NOOP("ui::WindowSentence", "%1 to %3")},
    {"use --quant %1", QT_TRANSLATE_NOOP("ui::WindowSentence", "weights in %1")},
    {"use a context of %1 tokens",
     QT_TRANSLATE_NOOP("ui::WindowSentence", "a context of %1 tokens")},
    {"use --prefill-chunk %1",
     QT_TRANSLATE_NOOP("ui::WindowSentence", "read prompts in pieces of %1 tokens")},
    {"use --image-tokens %1",
     QT_TRANSLATE_NOOP("ui::WindowSentence", "at most %1 tokens per picture")},
    {"some accuracy for speed, before what every token reads leaves; --head bf16 keeps the head as "
     "it is stored",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "some accuracy for speed, before what every token reads leaves")},
    {"linear weights stay as they are stored, because no --quant was given; with --quant %1 it "
     "would be about %2 tokens/s",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "The weights stay as they are stored. In 4 bits it would be about %2 "
                       "tokens/s.")},
    {"%1 quantized weights stored on disk are made from the checkpoint at every use; a cache keeps "
     "them as they are (--cache FOLDER)",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1 quantized weights on disk are made anew at every use. “Keep quantized "
                       "copies” in the settings avoids that.")},
    {"--head has no effect: the checkpoint holds the head packed as %1, and it stays so",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "The format of the head has no effect: the checkpoint holds the head packed "
                       "as %1, and it stays so")},
    {"--head has no effect: the map gives embed_tokens a format, and the head is the same table",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "The format of the head has no effect: the map gives embed_tokens a format, "
                       "and the head is the same table")},
    {"1 weight of the checkpoint is packed already and stays as stored; --quant applies "
     "to the others",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "1 weight of the checkpoint is packed already and stays as "
                       "stored; “Weights” applies to the others")},
    {"%1 weights of the checkpoint are packed already and stay as stored; --quant "
     "applies to the others",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1 weights of the checkpoint are packed already and stay as "
                       "stored; “Weights” applies to the others")},
    {"the context is full: %1 tokens are held, %2 more do not fit into %3; start a new chat, or "
     "reload with a larger --context",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "the context is full: %1 tokens are held, %2 more do not fit into %3; start "
                       "a new chat, or load with a larger “Context”")},
    {"%1 image tokens were asked for; the model was loaded for at most %2, load again with "
     "--image-tokens %3",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1 tokens per picture were asked for; the model was loaded for at most %2: "
                       "load it again for %3")},
    {"image of %1 x %2 patches: does not fit the budget the model was loaded for; load with a "
     "larger --image-tokens",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "the picture has %1 × %2 patches, more than the model was loaded for; load "
                       "it with more tokens per picture")},
    {"a picture has more soft tokens than one prefill call holds (%1); load with a larger "
     "--image-tokens",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "a picture has more tokens than are read at once (%1); load the model with "
                       "more tokens per picture")},
    {"--quant", QT_TRANSLATE_NOOP("ui::WindowSentence", "“Weights”")},
    {"--head", QT_TRANSLATE_NOOP("ui::WindowSentence", "the format of the head")},
    {"%1 %2: expected one of %3",
     QT_TRANSLATE_NOOP("ui::WindowSentence", "%1 cannot be %2: possible are %3")},
    {"--quant-block: expected a power of two from 32 to 4096, found %1",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "the size of blocks cannot be %1: a power of two from 32 to 4096 is "
                       "possible")},
    {"%1; computed once more, every layer gave finite values: a device or its memory may be "
     "failing. Try again, or with \"--device-map cpu\"",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1; computed once more, every layer gave finite values: a device or its "
                       "memory may be failing. Try again, or with everything on the CPU")},
    {"%1, but the model was loaded for text only, without its audio tower: it cannot hear "
     "recordings. Load it with its towers (without --text-only)",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1, but the model was loaded for text only, without its audio tower: it "
                       "cannot hear recordings. Turn off “Text only” and load it again")},
    {"%1, but the model was loaded for text only, without its vision tower: it cannot see "
     "pictures. Load it with its towers (without --text-only)",
     QT_TRANSLATE_NOOP("ui::WindowSentence",
                       "%1, but the model was loaded for text only, without its vision tower: it "
                       "cannot see pictures. Turn off “Text only” and load it again")},
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
