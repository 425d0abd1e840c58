// SPDX-License-Identifier: Apache-2.0
// chat: one reply for a prompt, or a conversation on the terminal.
#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/cli/output.h"
#include "app/common/pasted_path.h"
#include "engine/run/engine.h"

#include <iostream>
#include <optional>
#include <string>

namespace cli {

using engine::Error;
using engine::ErrorCode;
using engine::Message;
using engine::MessagePart;
using engine::Result;

namespace {

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
    printError("[%lld tokens, %.1f tokens/s, first after %.2f s; prompt %lld tokens%s%s]\n",
               static_cast<long long>(t.decode_tokens),
               t.decode_s > 0 ? static_cast<double>(t.decode_tokens) / t.decode_s : 0.0,
               t.time_to_first_token_s,
               static_cast<long long>(t.prefill_tokens) + static_cast<long long>(t.reused_tokens),
               t.reused_tokens > 0 ? (", " + std::to_string(t.reused_tokens) + " reused").c_str()
                                   : "",
               reply.finish_reason == "stop" ? "" : ("; ended by " + reply.finish_reason).c_str());
    if (reply.drafts.has_value() && (reply.drafts->rounds > 0 || reply.drafts->is_off)) {
        printError("[%s]\n", draftsText(*reply.drafts).c_str());
    }
}

/// Writes a reply while it comes, thoughts to stderr and the answer to stdout. A server may tell
/// only afterwards that its first words were thoughts: its answer goes to a file or a pipe when it
/// is whole, and a terminal gets a note.
class ReplyPrinter {
public:
    explicit ReplyPrinter(const Arguments& arguments)
        : is_held_(!arguments.server.empty() && !isOutputTerminal()) {}

    engine::UpdateCallback updates() {
        return [this](const engine::ReplyUpdate& update) {
            if (!update.thinking.empty()) {
                std::cerr << update.thinking;
            }
            words_ += update.text;
            if (!is_held_) {
                const Verbatim verbatim;
                std::cout << update.text << std::flush;
            }
            // Nobody is left to answer to then.
            if (isOutputLost()) {
                requestStop();
            }
        };
    }
    void finish(const Result<engine::Reply>& reply) {
        if (is_held_) {
            const Verbatim verbatim;
            std::cout << (reply.has_value() ? reply->text : words_);
        }
        std::cout << (reply.has_value() ? "\n" : "") << std::flush;
        if (!is_held_ && reply.has_value() && reply->text != words_ && !reply->thinking.empty()) {
            std::cerr << "note: the text above begins with thoughts of the model; the server told "
                         "only afterwards\n";
        }
    }

private:
    bool is_held_;
    std::string words_; ///< Sent as answer so far.
};

void printFailure(const Error& error) {
    std::cerr << "error: " << engine::errorCodeName(error.code) << ": " << error.message << "\n";
}

/// A conversation on the terminal or from a pipe.
class Conversation {
public:
    Conversation(engine::EngineClient& engine, const Arguments& arguments)
        : engine_(engine), arguments_(arguments), images_(arguments.images),
          audios_(arguments.audios) {
        if (!arguments.system.empty()) {
            messages_.push_back(
                {Message::Role::System, {{MessagePart::Kind::Text, arguments.system}}});
        }
    }

    /// Errors: what could not be read, Cancelled; InvalidRequest at the end of piped lines of
    /// which some failed.
    Result<void> run() {
        std::cerr << "Type a message; /image FILE and /audio FILE attach, /new starts over "
                     "(without attachments), /quit or Ctrl+C ends.\n";
        std::string line;
        while (!isEndRequested() && !isOutputLost()) {
            armInterrupt(); // one that came while a reply was written belonged to the reply
            ENGINE_ASSIGN(const bool has_line, nextLine(line));
            if (line.starts_with(app::kByteOrderMark)) {
                line.erase(0, app::kByteOrderMark.size());
            }
            // A blank before the stroke makes a message of what would be a command.
            const std::string_view words = line.starts_with(' ') ? line : app::trimmedWord(line);
            if (!has_line || words == "/quit") {
                break;
            }
            obey(line, words);
            if (lost_card_.has_value()) {
                return *lost_card_;
            }
        }
        if (isEndRequested()) {
            return Error{ErrorCode::Cancelled, "chat: ended by a signal"};
        }
        armInterrupt(); // an answer that was stopped was wanted so
        if (num_failed_ > 0 && !isInputTerminal()) {
            return Error{ErrorCode::InvalidRequest,
                         "chat: " + std::to_string(num_failed_) +
                             " of the lines from standard input failed; what is wrong with each "
                             "is said above"};
        }
        return {};
    }

private:
    static Result<bool> nextLine(std::string& line) {
        std::optional<EndsAtOnce> nothing_to_tidy;
        if (!watchesForEnd()) {
            nothing_to_tidy.emplace();
            if (isEndRequested()) { // a signal that came before EndsAtOnce
                return false;
            }
        }
        return readLine(line, "> ");
    }

    void obey(const std::string& line, std::string_view words) {
        if (words == "/new") {
            messages_.resize(arguments_.system.empty() ? 0 : 1);
            images_.clear();
            audios_.clear();
            is_attachment_missing_ = false;
        } else if (words.starts_with("/image ") || words.starts_with("/image\t")) {
            attach(MessagePart::Kind::Image, words.substr(7), images_);
        } else if (words.starts_with("/audio ") || words.starts_with("/audio\t")) {
            attach(MessagePart::Kind::Audio, words.substr(7), audios_);
        } else if (looksLikeCommand(words)) {
            ++num_failed_;
            is_attachment_missing_ = is_attachment_missing_ || words.find(' ') != words.npos;
            std::cerr
                << "unknown command " << words
                << ": expected /image FILE, /audio FILE, /new or /quit; a message that begins "
                   "with / needs a blank before it\n";
        } else if (app::trimmedWord(words).empty()) {
            return;
        } else if (is_attachment_missing_) {
            is_attachment_missing_ = false;
            ++num_failed_;
            std::cerr << "not asked, because what was to be attached is not: attach it with its "
                         "right name, or ask once more without it\n";
        } else {
            ask(line);
        }
    }

    /// "/word" or "/word something", but not "/a/path".
    static bool looksLikeCommand(std::string_view words) {
        const std::string_view first = words.substr(0, words.find_first_of(" \t"));
        return first.starts_with('/') && first.find('/', 1) == std::string_view::npos;
    }

    /// Checks attachments by their headers before the question is asked, and says what they cost.
    /// One that the model cannot take is not kept, so that it does not stand in the way of every
    /// question, but the next one is not asked as if nothing were missing.
    void attach(MessagePart::Kind kind, std::string_view word, std::vector<std::string>& files) {
        for (const std::string& file : app::pastedPaths(word)) {
            const auto cost = engine_.mediaCost({kind, file}, arguments_.load.image_tokens);
            if (!cost.has_value()) {
                is_attachment_missing_ = true;
                ++num_failed_;
                std::cerr << "not attached: " << cost.error().message << "\n";
                continue;
            }
            files.push_back(file);
            // Who types has seen the message and tried again; lines from a file have not.
            is_attachment_missing_ = is_attachment_missing_ && !isInputTerminal();
            std::cerr << "attached: " << cost->description;
            if (cost->tokens > 0) { // of a server's model nobody here can tell
                std::cerr << ", " << cost->tokens << " tokens";
            }
            std::cerr << "\n";
        }
    }

    void ask(const std::string& text) {
        messages_.push_back({Message::Role::User, userParts(text, images_, audios_)});
        armInterrupt();
        engine::GenerateRequest request;
        request.messages = messages_;
        request.is_thinking = arguments_.is_thinking;
        request.sampling = arguments_.sampling;
        request.image_tokens = arguments_.load.image_tokens;
        ReplyPrinter printer(arguments_);
        const Result<engine::Reply> reply =
            engine_.generate(request, printer.updates(), interruptToken());
        printer.finish(reply);
        std::cout << (reply.has_value() ? "" : "\n") << std::flush;
        if (!reply.has_value() && reply.error().code == ErrorCode::DeviceLost) {
            lost_card_ = reply.error(); // every further question would get the same answer
            return;
        }
        if (!reply.has_value()) {
            // The conversation goes on from the last complete turn; attachments stay for the retry.
            ++num_failed_;
            printFailure(reply.error());
            messages_.pop_back();
            return;
        }
        images_.clear();
        audios_.clear();
        for (const std::string& note : engine::inEnglish(reply->notes)) {
            std::cerr << "note: " << note << "\n";
        }
        printTiming(*reply);
        messages_.push_back({Message::Role::Assistant, {{MessagePart::Kind::Text, reply->text}}});
    }

    engine::EngineClient& engine_;
    const Arguments& arguments_;
    std::vector<Message> messages_;
    std::vector<std::string> images_, audios_;
    bool is_attachment_missing_ = false; ///< The next question lacks an attachment.
    std::optional<Error> lost_card_;
    int num_failed_ = 0; ///< Lines that did not do what they were to.
};

} // namespace

Result<void> runChat(engine::EngineClient& engine, const Arguments& arguments) {
    const bool is_single = arguments.has_prompt || !arguments.raw_prompt.empty();
    ENGINE_TRY(engine.checkMedia(arguments.model, arguments.images, arguments.audios));
    ENGINE_TRY(loadModel(engine, arguments));
    if (!is_single) {
        return Conversation(engine, arguments).run();
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
    ReplyPrinter printer(arguments);
    const Result<engine::Reply> outcome =
        engine.generate(request, arguments.is_json ? engine::UpdateCallback() : printer.updates(),
                        interruptToken());
    if (!arguments.is_json) {
        printer.finish(outcome);
    }
    ENGINE_TRY(outcome);
    const engine::Reply& reply = *outcome;
    if (arguments.is_json) {
        auto json = replyJson(reply, engine.loadSeconds());
        json["load_notes"] = engine::inEnglish(engine.loadNotes());
        json["memory"] = memoryJson(engine.memory());
        printJson(json);
        return {};
    }
    for (const std::string& note : engine::inEnglish(reply.notes)) {
        std::cerr << "note: " << note << "\n";
    }
    printTiming(reply);
    return {};
}

} // namespace cli
