// SPDX-License-Identifier: Apache-2.0
// chat: one reply for a prompt, or a conversation on the terminal.
#include "app/cli/commands.h"
#include "app/cli/output.h"

#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>

namespace cli {

using engine::Error;
using engine::ErrorCode;
using engine::Message;
using engine::MessagePart;
using engine::Result;

namespace {

std::stop_source& interruptSource() {
    static std::stop_source source;
    return source;
}

/// request_stop() on a source without callbacks only sets an atomic flag: safe in a handler.
void onInterrupt(int /*signal*/) {
    interruptSource().request_stop();
    std::signal(SIGINT, SIG_DFL); // the second Ctrl-C ends the program
}

/// The parts of a user message: media where the text names placeholders, else before it.
std::vector<MessagePart> userParts(const std::string& text,
                                   const std::vector<std::string>& images,
                                   const std::vector<std::string>& audios) {
    std::vector<MessagePart> parts;
    size_t image = 0;
    size_t audio = 0;
    constexpr std::string_view kImage = "<|image|>";
    constexpr std::string_view kAudio = "<|audio|>";
    std::vector<MessagePart> written;
    size_t from = 0;
    while (from < text.size()) {
        const size_t at_image = image < images.size() ? text.find(kImage, from) : std::string::npos;
        const size_t at_audio = audio < audios.size() ? text.find(kAudio, from) : std::string::npos;
        const size_t at = std::min(at_image, at_audio);
        if (at == std::string::npos) {
            break;
        }
        if (at > from) {
            written.push_back({MessagePart::Kind::Text, text.substr(from, at - from)});
        }
        if (at == at_image) {
            written.push_back({MessagePart::Kind::Image, images[image++]});
            from = at + kImage.size();
        } else {
            written.push_back({MessagePart::Kind::Audio, audios[audio++]});
            from = at + kAudio.size();
        }
    }
    if (from < text.size()) {
        written.push_back({MessagePart::Kind::Text, text.substr(from)});
    }
    for (; image < images.size(); ++image) {
        parts.push_back({MessagePart::Kind::Image, images[image]});
    }
    for (; audio < audios.size(); ++audio) {
        parts.push_back({MessagePart::Kind::Audio, audios[audio]});
    }
    parts.insert(parts.end(), written.begin(), written.end());
    return parts;
}

void printTiming(const engine::Reply& reply) {
    const engine::GenerateTiming& t = reply.timing;
    std::fprintf(
        stderr, "[%lld tokens, %.1f tokens/s, first after %.2f s; prompt %lld tokens%s%s]\n",
        static_cast<long long>(t.decode_tokens),
        t.decode_s > 0 ? static_cast<double>(t.decode_tokens) / t.decode_s : 0.0,
        t.time_to_first_token_s,
        static_cast<long long>(t.prefill_tokens) + static_cast<long long>(t.reused_tokens),
        t.reused_tokens > 0 ? (", " + std::to_string(t.reused_tokens) + " reused").c_str() : "",
        reply.finish_reason == "stop" ? "" : ("; ended by " + reply.finish_reason).c_str());
}

/// Streams thinking (dimmed on a terminal) to stderr and the answer to stdout.
engine::UpdateCallback streamer() {
    return [](const engine::ReplyUpdate& update) {
        if (!update.thinking.empty()) {
            std::fprintf(stderr, "%s", update.thinking.c_str());
        }
        std::cout << update.text << std::flush;
    };
}

Result<void> interactive(engine::Engine& engine, const Arguments& arguments) {
    std::vector<Message> messages;
    if (!arguments.system.empty()) {
        messages.push_back({Message::Role::System, {{MessagePart::Kind::Text, arguments.system}}});
    }
    std::cerr
        << "Type a message; /image FILE and /audio FILE attach, /new starts over, /quit ends.\n";
    std::vector<std::string> images = arguments.images;
    std::vector<std::string> audios = arguments.audios;
    std::string line;
    while (true) {
        std::cerr << "> " << std::flush;
        if (!std::getline(std::cin, line) || line == "/quit") {
            return {};
        }
        if (line == "/new") {
            messages.resize(arguments.system.empty() ? 0 : 1);
            continue;
        }
        if (line.starts_with("/image ")) {
            images.push_back(line.substr(7));
            continue;
        }
        if (line.starts_with("/audio ")) {
            audios.push_back(line.substr(7));
            continue;
        }
        if (line.empty()) {
            continue;
        }
        messages.push_back({Message::Role::User, userParts(line, images, audios)});
        interruptSource() = std::stop_source();
        armInterrupt();
        engine::GenerateRequest request;
        request.messages = messages;
        request.is_thinking = arguments.is_thinking;
        request.sampling = arguments.sampling;
        request.image_tokens = arguments.load.image_tokens;
        const Result<engine::Reply> reply = engine.generate(request, streamer(), interruptToken());
        std::cout << "\n";
        if (!reply.has_value()) {
            // The conversation goes on from the last complete turn; attachments stay for the retry.
            std::cerr << "error: " << engine::errorCodeName(reply.error().code) << ": "
                      << reply.error().message << "\n";
            messages.pop_back();
            continue;
        }
        images.clear();
        audios.clear();
        for (const std::string& note : reply->notes) {
            std::cerr << "note: " << note << "\n";
        }
        printTiming(*reply);
        messages.push_back({Message::Role::Assistant, {{MessagePart::Kind::Text, reply->text}}});
    }
}

} // namespace

std::stop_token interruptToken() {
    return interruptSource().get_token();
}

void armInterrupt() {
    std::signal(SIGINT, onInterrupt);
}

Result<void> runChat(engine::Engine& engine, const Arguments& arguments) {
    if (arguments.has_prompt && !arguments.raw_prompt.empty()) {
        return Error{ErrorCode::InvalidRequest, "chat: give --prompt or --raw-prompt, not both"};
    }
    const bool is_single = arguments.has_prompt || !arguments.raw_prompt.empty();
    if (arguments.is_json && !is_single) {
        return Error{ErrorCode::InvalidRequest, "chat --json needs --prompt or --raw-prompt"};
    }
    ENGINE_TRY(loadModel(engine, arguments));
    if (!is_single) {
        return interactive(engine, arguments);
    }
    engine::GenerateRequest request;
    if (arguments.has_prompt) {
        if (!arguments.system.empty()) {
            request.messages.push_back(
                {Message::Role::System, {{MessagePart::Kind::Text, arguments.system}}});
        }
        request.messages.push_back(
            {Message::Role::User, userParts(arguments.prompt, arguments.images, arguments.audios)});
    } else {
        request.raw_prompt = arguments.raw_prompt;
        request.raw_images = arguments.images;
        request.raw_audios = arguments.audios;
    }
    request.is_thinking = arguments.is_thinking;
    request.sampling = arguments.sampling;
    request.image_tokens = arguments.load.image_tokens;
    const engine::UpdateCallback update = arguments.is_json ? engine::UpdateCallback() : streamer();
    ENGINE_ASSIGN(const engine::Reply reply, engine.generate(request, update, interruptToken()));
    if (arguments.is_json) {
        auto json = replyJson(reply, engine.loadSeconds());
        json["load_notes"] = engine.loadNotes();
        json["memory"] = memoryJson(engine.memory());
        std::cout << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                  << "\n";
        return {};
    }
    std::cout << "\n";
    for (const std::string& note : reply.notes) {
        std::cerr << "note: " << note << "\n";
    }
    printTiming(reply);
    return {};
}

} // namespace cli
