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

/// Streams thinking to stderr and the answer to stdout.
engine::UpdateCallback streamer() {
    return [](const engine::ReplyUpdate& update) {
        if (!update.thinking.empty()) {
            std::fprintf(stderr, "%s", update.thinking.c_str());
        }
        std::cout << update.text << std::flush;
    };
}

/// A file name as people paste or drop it into a terminal: with quotes around it, blanks behind it.
std::string pastedFile(std::string word) {
    while (!word.empty() && (word.back() == ' ' || word.back() == '\r')) {
        word.pop_back();
    }
    const auto first = word.find_first_not_of(' ');
    word.erase(0, std::min(first, word.size()));
    if (word.size() >= 2 && (word.front() == '\'' || word.front() == '"') &&
        word.back() == word.front()) {
        word = word.substr(1, word.size() - 2);
    }
    return word;
}

/// Checks an attachment by its header before the question is asked, and says what it costs. One
/// that the model cannot take is not kept, so that it does not stand in the way of every question.
void attach(engine::Engine& engine,
            const Arguments& arguments,
            MessagePart::Kind kind,
            const std::string& word,
            std::vector<std::string>& files) {
    const std::string file = pastedFile(word);
    const auto cost = engine.mediaCost({kind, file}, arguments.load.image_tokens);
    if (!cost.has_value()) {
        std::cerr << "not attached: " << cost.error().message << "\n";
        return;
    }
    files.push_back(file);
    std::cerr << "attached: " << cost->description << ", " << cost->tokens << " tokens\n";
}

Result<void> interactive(engine::Engine& engine, const Arguments& arguments) {
    std::vector<Message> messages;
    if (!arguments.system.empty()) {
        messages.push_back({Message::Role::System, {{MessagePart::Kind::Text, arguments.system}}});
    }
    std::cerr << "Type a message; /image FILE and /audio FILE attach, /new starts over (without "
                 "attachments), /quit ends.\n";
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
            images.clear();
            audios.clear();
            continue;
        }
        if (line.starts_with("/image ")) {
            attach(engine, arguments, MessagePart::Kind::Image, line.substr(7), images);
            continue;
        }
        if (line.starts_with("/audio ")) {
            attach(engine, arguments, MessagePart::Kind::Audio, line.substr(7), audios);
            continue;
        }
        if (line.empty()) {
            continue;
        }
        if (line.front() == '/' && line.find_first_of(" /", 1) == std::string::npos) {
            std::cerr << "unknown command " << line
                      << ": expected /image FILE, /audio FILE, /new or /quit\n";
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
        std::cout << "\n" << std::flush;
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
    const bool is_single = arguments.has_prompt || !arguments.raw_prompt.empty();
    ENGINE_TRY(engine.checkMedia(arguments.model, arguments.images, arguments.audios));
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
    std::cout << "\n" << std::flush;
    for (const std::string& note : reply.notes) {
        std::cerr << "note: " << note << "\n";
    }
    printTiming(reply);
    return {};
}

} // namespace cli
