// SPDX-License-Identifier: Apache-2.0
// Comparing adapter sets and loads: one reply per set. Adapters that a set lacks are switched off,
// not unloaded, so that going from column to column of one load moves no weights.
#include "app/engines/engine_worker.h"

#include <algorithm>
#include <new>
#include <random>

namespace app {

namespace {

using Adapters = std::vector<engine::AdapterChoice>;

/// Everything any of the sets names, in the order of what is loaded, all off.
Adapters allOff(const Adapters& loaded, const std::vector<Adapters>& sets) {
    Adapters all = loaded;
    for (const Adapters& set : sets) {
        for (const engine::AdapterChoice& adapter : set) {
            const bool is_known =
                std::any_of(all.begin(), all.end(), [&](const engine::AdapterChoice& known) {
                    return known.folder == adapter.folder;
                });
            if (!is_known) {
                all.push_back(adapter);
            }
        }
    }
    for (engine::AdapterChoice& adapter : all) {
        adapter.is_enabled = false;
    }
    return all;
}

/// The model lies as it should, whatever adapters there are. Columns choose among these options
/// alone.
bool isSameLoad(const engine::LoadRequest& a, const engine::LoadRequest& b) {
    return a.model == b.model && a.projector == b.projector && a.device_map == b.device_map &&
           a.quant == b.quant && a.kv == b.kv;
}

Adapters withSet(Adapters all, const Adapters& set) {
    for (engine::AdapterChoice& adapter : all) {
        for (const engine::AdapterChoice& wanted : set) {
            if (wanted.folder == adapter.folder) {
                adapter = wanted;
            }
        }
    }
    return all;
}

} // namespace

engine::Result<void> EngineWorker::loadFor(quint64 id,
                                           int column,
                                           const engine::LoadRequest& request,
                                           const std::stop_token& stop) {
    QElapsedTimer since;
    Q_EMIT compareLoading(id, column, 0, 0);
    since.start();
    return engine_.load(
        request,
        [&](const engine::LoadProgressValue& value) {
            if (since.elapsed() >= 33) {
                Q_EMIT compareLoading(id, column, value.bytes_done, value.bytes_total);
                since.restart();
            }
            publishWhileBusy();
        },
        stop);
}

void EngineWorker::compare(quint64 id,
                           const engine::GenerateRequest& request,
                           const std::vector<std::vector<engine::AdapterChoice>>& adapter_sets,
                           const std::stop_token& stop,
                           const std::vector<engine::LoadRequest>& loads) {
    const engine::LoadRequest loaded_before = engine_.state().loadedRequest();
    const Adapters before = loaded_before.adapters;
    const Adapters off = allOff(before, adapter_sets);
    engine::LoadRequest now = loaded_before;
    engine::GenerateRequest one = request;
    one.id = id;
    if (one.sampling.seed < 0) {
        one.sampling.seed = static_cast<int64_t>(std::random_device{}()); // the same for all
    }
    publish(engine::EngineSnapshot::State::Generating);
    const bool loads_others =
        std::any_of(loads.begin(), loads.end(),
                    [](const engine::LoadRequest& load) { return !load.model.empty(); });
    if (loads_others) {
        auto kept = std::make_shared<engine::EngineSnapshot>();
        kept->capabilities = engine_.state().capabilities();
        kept->model = engine_.state().summary();
        kept->plan = engine_.state().currentPlan();
        kept->adapters = before;
        kept_ = std::move(kept);
    }
    for (size_t i = 0; i < adapter_sets.size() && !stop.stop_requested(); ++i) {
        const int column = static_cast<int>(i);
        Q_EMIT compareStarted(id, column);
        engine::ReplyUpdate pending;
        QElapsedTimer since;
        since.start();
        const auto flush = [&] {
            if (!pending.text.empty() || !pending.thinking.empty()) {
                Q_EMIT compareUpdated(id, column, pending);
                pending.text.clear();
                pending.thinking.clear();
            }
            since.restart();
        };
        const engine::UpdateCallback update = [&](const engine::ReplyUpdate& value) {
            pending.text += value.text;
            pending.thinking += value.thinking;
            pending.tokens = value.tokens;
            if (since.elapsed() >= 33) { // not more often than a screen shows
                flush();
            }
            publishWhileBusy();
        };
        const auto run = [&]() -> engine::Result<engine::Reply> {
            try {
                const bool has_own = i < loads.size() && !loads[i].model.empty();
                const engine::LoadRequest& wanted = has_own ? loads[i] : loaded_before;
                if (!isSameLoad(wanted, now)) {
                    engine::LoadRequest bare = wanted;
                    bare.adapters.clear(); // those of the column follow
                    ENGINE_TRY(loadFor(id, column, bare, stop));
                    now = wanted;
                    Q_EMIT compareStarted(id, column);
                }
                // Another model's adapters may not fit this one.
                ENGINE_TRY(engine_.setAdapters(
                    has_own ? adapter_sets[i] : withSet(off, adapter_sets[i]), stop));
                return engine_.answering().generate(one, update, stop);
            } catch (const std::bad_alloc&) {
                return engine::Error{engine::ErrorCode::OutOfMemory,
                                     engine::said("the system has no memory left for this column; "
                                                  "close other programs or shorten the prompt")};
            }
        };
        const auto reply = run();
        flush();
        if (reply.has_value()) {
            Q_EMIT compareReplied(id, column, *reply);
        } else if (reply.error().code == engine::ErrorCode::Cancelled) {
            engine::Reply cancelled;
            cancelled.id = id;
            cancelled.finish_reason = "cancelled";
            Q_EMIT compareReplied(id, column, cancelled);
        } else {
            Q_EMIT compareFailed(id, column, reply.error());
        }
    }
    // The chat goes on with what it had, also after a stop or an error.
    const bool comes_back = !isSameLoad(now, loaded_before);
    const auto restored =
        comes_back ? loadFor(id, -1, loaded_before, {}) : engine_.setAdapters(before, {});
    kept_.reset();
    publishAtRest();
    if (!restored.has_value() && comes_back) {
        Q_EMIT loadFailed(restored.error());
    } else if (!restored.has_value()) {
        Q_EMIT adaptersFailed(restored.error());
    }
    Q_EMIT compareFinished(id);
}

} // namespace app
