// SPDX-License-Identifier: Apache-2.0
// What both programs take from the environment for the engine, which reads none of it itself. The
// README lists every variable.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "models/hub/cache_layout.h"

namespace app {

/// HOME, on Windows USERPROFILE; empty where it is not set.
std::filesystem::path homeFolder();

/// Where huggingface_hub keeps what it has downloaded, in the order in which that is chosen:
/// HF_HUB_CACHE, hub/ in HF_HOME, .cache/huggingface/hub/ in HOME (on Windows USERPROFILE). What is
/// not set is left out.
std::vector<std::filesystem::path> hubCaches();

/// What huggingface_hub reads of the environment and Belfry follows, $VARIABLES in paths replaced.
models::hub::Environment hubEnvironment();

/// Where Ollama keeps its models: OLLAMA_MODELS, else .ollama/models/ in HOME. Empty where the
/// environment names none.
std::filesystem::path ollamaFolder();

/// A variable that the user named, such as one that holds a key; empty where it is not set.
std::string namedVariable(const std::string& name);

/// LD_LIBRARY_PATH, or nothing.
std::string libraryPath();

/// Where NVIDIA's driver keeps what it has compiled (CUDA_CACHE_PATH, .nv/ComputeCache in HOME);
/// may be empty.
std::string compiledKernelsFolder();

/// Where its service that shares a card between programs (MPS) listens: CUDA_MPS_PIPE_DIRECTORY or
/// /tmp/nvidia-mps. Empty where it does not run.
std::string sharingFolder();

/// How long a driver may take to tell its cards: BELFRY_CARD_SECONDS, 1 to 600; else 20 s.
std::chrono::seconds cardLimit();

/// Where the window keeps the chats (XDG_DATA_HOME, .local/share/ in HOME, on Windows
/// LOCALAPPDATA); empty where the environment names none.
std::string chatsFolder();

/// Where the window keeps its settings and both programs the folders of the library
/// (XDG_CONFIG_HOME, .config/ in HOME, on Windows LOCALAPPDATA); empty where the environment names
/// none.
std::filesystem::path settingsFolder();

/// Where belfry-cli keeps what it measured of the machine: in the user's cache folder
/// (XDG_CACHE_HOME, .cache/ in HOME, on Windows LOCALAPPDATA). Empty where the environment names
/// none: then nothing is measured.
std::string ratesFile();

} // namespace app
