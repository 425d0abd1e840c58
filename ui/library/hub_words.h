// SPDX-License-Identifier: Apache-2.0
// What a hub offers and what is being fetched, in the user's language.
#pragma once

#include "ui/library/hub_values.h"

namespace ui {

struct FamilyMember;

/// "5.1 B parameters · 9.5 GiB · text, pictures, sounds · Apache 2.0"
QString memberFacts(const FamilyMember& member);
/// "120 K downloads · apache-2.0 · safetensors"
QString hitFacts(const HubHit& hit);
/// "fits", "fits in 4 bits", "does not fit"
QString needsInShort(const ModelNeeds& needs);
/// "Fits in 4 bits: 3.1 GiB of memory, about 38 tokens/s (estimated)."
QString needsInFull(const ModelNeeds& needs);
/// "9.5 GiB to fetch in 9 files; 210 GiB are free on that disk."
QString offerFigures(const HubOffer& offer);
/// "1.2 GiB of 9.5 GiB · 85 MiB/s · 2 min left"
QString downloadWords(const Download& download);
/// What fetching is about: a licence at the hub has to be accepted, or a token is wanted.
bool asksForToken(const engine::Error& error);
/// A rule of the error's details: "HubGated"; empty: none.
QString ruleOf(const engine::Error& error);

} // namespace ui
