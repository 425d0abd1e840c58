// SPDX-License-Identifier: Apache-2.0
#include "app/engines/process_engines.h"

#include "app/common/core_dumps.h"
#include "app/common/environment.h"
#include "app/common/program_paths.h"
#include "app/common/version.h"
#include "engine/base/paths.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ipc/engine_host.h"
#include "ipc/process_engine.h"

namespace app {

namespace {

ipc::ProcessOptions processOptions(const engine::EngineOptions& options,
                                   const EngineEvents& events) {
    ipc::ProcessOptions process;
    process.words = {ownProgram(), std::string(kRunEngine)};
    process.program = versionLine();
    process.host.demo_folder = options.demo_folder;
    process.host.rates_file = options.rates_file;
    process.host.library_path = options.inquiry->options().library_path;
    for (const std::filesystem::path& cache : options.hub_caches) {
        process.host.hub_caches.push_back(engine::utf8Of(cache));
    }
    // Who needs no card has not asked for one, and a driver that hangs or crashes keeps away so.
    process.host.asks_cards = options.inquiry->state().is_begun;
    process.host.compiled_kernels = compiledKernelsFolder();
    process.host.sharing_folder = sharingFolder();
    process.on_step = events.on_step;
    process.on_recovery = events.on_recovery;
    return process;
}

engine::EngineOptions engineOptions(const ipc::HostOptions& host, std::function<void()> on_step) {
    engine::EngineOptions options;
    options.demo_folder = host.demo_folder;
    options.rates_file = host.rates_file;
    for (const std::string& cache : host.hub_caches) {
        options.hub_caches.push_back(engine::pathFromUtf8(cache));
    }
    // The window has asked the driver by way of another process: here it is loaded unasked, aside,
    // so that one that hangs now keeps nobody waiting who does not ask for a card.
    engine::CardInquiryOptions inquiry;
    inquiry.library_path = host.library_path;
    options.inquiry = std::make_shared<engine::CardInquiry>(std::move(inquiry));
    if (host.asks_cards) {
        options.inquiry->begin();
    }
    options.on_step = std::move(on_step);
    return options;
}

} // namespace

int runEngineProcess() {
    const ipc::MakeEngine make = [](const ipc::HostOptions& host, std::function<void()> on_step) {
        // Before a word of anybody's is here; not before the limits, one of which is written to a
        // file that then is root's (/proc/self/oom_score_adj).
        keepOutOfCoreDumps();
        return std::make_unique<engine::Engine>(engineOptions(host, std::move(on_step)));
    };
    return ipc::runEngineHost(make, versionLine());
}

EngineFactory processEngines(const engine::EngineOptions& options,
                             const std::function<void(const std::string& line)>& log) {
    if (options.inquiry == nullptr || ownProgram().empty()) {
        return {options};
    }
    const EngineFactory::Make make = [options, log](const EngineEvents& events) {
        engine::EngineOptions here = options;
        here.on_step = events.on_step;
        ipc::ProcessOptions there = processOptions(options, events);
        there.log = log;
        const EngineSwitch::Choice choose =
            [inquiry = options.inquiry](bool waits) -> std::optional<bool> {
            if (!inquiry->state().is_begun) {
                return true;
            }
            if (!waits && !inquiry->state().is_done) {
                return std::nullopt;
            }
            // A driver that took the process that asked it would take the next one as well.
            using Kind = engine::CardTrouble::Kind;
            static_cast<void>(inquiry->driver());
            const auto trouble = inquiry->state().trouble;
            return !trouble.has_value() ||
                   (trouble->kind != Kind::DriverCrashes && trouble->kind != Kind::DriverHangs);
        };
        return EngineSwitch(std::make_unique<engine::Engine>(std::move(here)),
                            std::make_unique<ipc::ProcessEngine>(std::move(there)), choose);
    };
    return EngineFactory(make);
}

} // namespace app
