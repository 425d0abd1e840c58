// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/fit_search.h"

#include <algorithm>
#include <tuple>

namespace engine {

namespace {

/// Places of towers and tables with their cost.
struct Inner {
    std::array<int, FitBlockCount> place{};
    int64_t media_ps = 0;
    int tables = 0;
};

/// Value of the layers from some layer on: bytes over the limits, then time.
struct Tail {
    int64_t over = 0;
    int64_t ps = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm on the generated comparison
    friend auto operator<=>(const Tail&, const Tail&) = default;
};

constexpr Tail kImpossible = {INT64_MAX, INT64_MAX};

class Search {
public:
    explicit Search(const FitModel& model)
        : model_(model), width_(static_cast<size_t>(model.layers) + 1) {
        const auto computing = static_cast<size_t>(model.gpus) + 1;
        tails_.assign((computing + 1) * width_, Tail());
        ends_.assign(computing * width_, 0);
    }

    FitFound run() {
        for (size_t f = 0; f < model_.formats.size(); ++f) {
            for (int head = 0; head <= model_.cpu; ++head) {
                starts_.push_back({f, head, boundOf(f, head)});
            }
        }
        // What needs the least time comes first, and of that what changes no format.
        std::stable_sort(starts_.begin(), starts_.end(), [&](const Start& a, const Start& b) {
            return std::tuple(a.bound.over > 0, a.bound.ps, model_.formats[a.format].quality) <
                   std::tuple(b.bound.over > 0, b.bound.ps, model_.formats[b.format].quality);
        });
        for (const Start& start : starts_) {
            if (start.bound.over == 0) {
                tryStart(start);
            }
        }
        if (!best_.fits) {
            findLeanest();
        }
        leaveIdleGpus(best_.candidate);
        return best_;
    }

private:
    /// Formats and place of the head, with what they need at least, towers and tables left out.
    struct Start {
        size_t format = 0;
        int head = 0;
        Tail bound;
    };

    /// Neither towers nor tables, on an otherwise empty machine: no member can do better.
    Tail boundOf(size_t format, int head) {
        FitCandidate c;
        c.format = format;
        c.place[FitHead] = head;
        const FitFormats& f = model_.formats[format];
        shares_.assign(model_.devices.size(), FitShare());
        FitShare& share = shares_[static_cast<size_t>(head)];
        share.bytes = f.bytes[FitHead] + f.adapter[FitHead] + f.bytes[FitNorm] + f.adapter[FitNorm];
        share.adapter_scratch = std::max(f.scratch[FitHead], f.scratch[FitNorm]);
        share.duties.has_head = f.bytes[FitHead] > 0;
        FitShare& host = shares_[static_cast<size_t>(model_.cpu)];
        host.bytes += f.host_adapter;
        host.adapter_scratch = std::max(host.adapter_scratch, f.host_scratch);
        if (model_.layers == 0) {
            model_.addProjection(f, share);
        }
        return placeLayers(c, true);
    }

    void tryStart(const Start& start) {
        const FitFormats& format = model_.formats[start.format];
        FitCost cost;
        cost.token_ps = start.bound.ps;
        cost.quality = format.quality;
        if (best_.fits && !(cost < best_.cost)) {
            return;
        }
        FitCandidate c;
        c.format = start.format;
        c.place[FitHead] = start.head;
        for (const Inner& inner : innerChoices(format, start.head)) {
            cost.token_ps = start.bound.ps;
            cost.media_ps = inner.media_ps;
            cost.tables = inner.tables;
            if (best_.fits && !(cost < best_.cost)) {
                return; // the others of this start cost more
            }
            apply(inner, c);
            model_.shares(c, shares_);
            const Tail tail = placeLayers(c, true);
            cost.token_ps = tail.ps;
            if (tail.over > 0) {
                continue;
            }
            // The cuts hardly change what all of the host's memory holds: the best ones stand for
            // all of this choice.
            const FitCandidate whole = finished(c);
            if (model_.host_limit != kFitNoLimit && model_.hostExcess(model_.needs(whole)) > 0) {
                continue;
            }
            if (!best_.fits || cost < best_.cost) {
                best_ = {true, whole, cost};
            }
            if (tail.ps == start.bound.ps) {
                return;
            }
        }
    }

    /// A table of rows is no reason to start a card that has nothing else to do: only there its
    /// driver's context would be a cost.
    void leaveIdleGpus(FitCandidate& c) const {
        for (const FitBlock table : {FitPerLayerTable, FitTable}) {
            const int gpu = c.place[table];
            const auto g = static_cast<size_t>(gpu);
            const bool is_gpu = gpu < model_.gpus;
            const int from = gpu > 0 ? c.split[g - 1] : 0;
            const bool is_idle = is_gpu && c.split[g] <= from && c.place[FitHead] != gpu &&
                                 !isAt(c, FitVision, gpu) && !isAt(c, FitAudio, gpu);
            if (!is_idle) {
                continue;
            }
            FitCandidate in_memory = c;
            in_memory.place[table] = model_.cpu;
            if (model_.excess(model_.needs(in_memory)) <= model_.excess(model_.needs(c))) {
                c = in_memory;
            }
        }
    }
    [[nodiscard]] bool isAt(const FitCandidate& c, FitBlock block, int place) const {
        return c.place[block] == place && model_.formats[c.format].bytes[block] > 0;
    }

    /// Nothing fits: tables on disk, where they take nothing, and the rest so that the fewest
    /// bytes are missing.
    void findLeanest() {
        int64_t least = INT64_MAX;
        FitCost least_cost;
        for (const Start& start : starts_) {
            const FitFormats& format = model_.formats[start.format];
            FitCandidate c;
            c.format = start.format;
            c.place[FitHead] = start.head;
            for (const Inner& inner : innerChoices(format, start.head)) {
                const auto is_kept = [&](FitBlock b) {
                    return format.bytes[b] > 0 && inner.place[b] != model_.disk;
                };
                if (is_kept(FitPerLayerTable) || is_kept(FitTable)) {
                    continue;
                }
                apply(inner, c);
                model_.shares(c, shares_);
                const Tail tail = placeLayers(c, false);
                const FitCost cost = {tail.ps, format.quality, inner.media_ps, inner.tables};
                const FitCandidate whole = finished(c);
                const int64_t over = model_.host_limit == kFitNoLimit
                                         ? tail.over
                                         : model_.excess(model_.needs(whole));
                if (std::tie(over, cost) < std::tie(least, least_cost)) {
                    least = over;
                    least_cost = cost;
                    best_ = {false, whole, cost};
                }
            }
        }
    }

    /// With the cuts that placeLayers() found last.
    [[nodiscard]] FitCandidate finished(FitCandidate c) const {
        int from = 0;
        for (int g = 0; g < model_.gpus; ++g) {
            from = ends_[index(g, from)];
            c.split[static_cast<size_t>(g)] = from;
        }
        model_.placeDependents(c);
        return c;
    }

    [[nodiscard]] size_t index(int device, int layer) const {
        return static_cast<size_t>(device) * width_ + static_cast<size_t>(layer);
    }

    /// Cuts of the layers for what shares_ says is on the devices already. Returns the time per
    /// token of the whole candidate, and the bytes over the limits (with `must_fit`: 0, or
    /// kImpossible). Of equal cuts the one that fills the first GPUs most.
    Tail placeLayers(const FitCandidate& c, bool must_fit) {
        const FitFormats& format = model_.formats[c.format];
        const int head = c.place[FitHead];
        const int layers = model_.layers;
        Tail* beyond = &tails_[index(model_.gpus + 1, 0)];
        std::fill(beyond, beyond + width_, kImpossible);
        beyond[layers] = Tail();
        for (int d = model_.gpus; d >= 0; --d) {
            const FitDevice& device = model_.devices[static_cast<size_t>(d)];
            const FitShare& plain = shares_[static_cast<size_t>(d)];
            const int64_t* time = &model_.layer_ps[index(d, 0)];
            const Tail* next = &tails_[index(d + 1, 0)];
            const int64_t over_empty =
                std::max<int64_t>(0, model_.need(format, d, plain, 0, 0) - device.limit);
            if (must_fit && over_empty > 0) {
                return kImpossible;
            }
            const int64_t last_hop =
                d != head ? model_.hop_ps[static_cast<size_t>(head)] : int64_t{0};
            for (int from = 0; from <= layers; ++from) {
                Tail best = next[from];
                if (best != kImpossible) {
                    best.over += over_empty;
                }
                int end = from;
                if (from < layers) {
                    FitShare share = plain;
                    int64_t fixed_ps = -time[from];
                    if (from == 0) {
                        model_.addProjection(format, share);
                        fixed_ps += model_.projectionPs(d);
                    } else {
                        fixed_ps += model_.hop_ps[static_cast<size_t>(d)];
                    }
                    // Everything but the layers' own bytes and their adapters' scratch.
                    DeviceNeed need(model_, format, d, share, from);
                    // The last device takes all that is left.
                    for (int to = d == model_.gpus ? layers : from + 1; to <= layers; ++to) {
                        const int64_t over = need.of(to) - device.limit;
                        if (must_fit && over > 0) {
                            break; // more layers need more
                        }
                        if (next[to] == kImpossible) {
                            continue;
                        }
                        const Tail tail = {next[to].over + std::max<int64_t>(0, over),
                                           next[to].ps + fixed_ps + time[to] +
                                               (to == layers ? last_hop : 0)};
                        if (tail <= best) {
                            best = tail;
                            end = to;
                        }
                    }
                }
                tails_[index(d, from)] = best;
                ends_[index(d, from)] = end;
            }
        }
        Tail whole = tails_[0];
        if (whole != kImpossible) {
            whole.ps += model_.headPs(head) + (layers == 0 ? model_.projectionPs(head) : 0);
        }
        return whole;
    }

    /// FitModel::need() of runs that begin at one layer, with what they have in common added up
    /// once.
    class DeviceNeed {
    public:
        DeviceNeed(const FitModel& model,
                   const FitFormats& format,
                   int device,
                   const FitShare& share,
                   int from)
            : bytes_(&format.span_bytes[model.span(from, 0)]),
              scratch_(&format.span_scratch[model.span(from, 0)]),
              adapter_scratch_(share.adapter_scratch),
              common_(model.need(format, device, share, from, from + 1) - bytes_[from + 1] -
                      std::max(adapter_scratch_, scratch_[from + 1])) {}

        [[nodiscard]] int64_t of(int to) const {
            return common_ + bytes_[to] + std::max(adapter_scratch_, scratch_[to]);
        }

    private:
        const int64_t* bytes_;
        const int64_t* scratch_;
        int64_t adapter_scratch_;
        int64_t common_;
    };

    static void apply(const Inner& inner, FitCandidate& c) {
        for (const FitBlock b : {FitVision, FitAudio, FitPerLayerTable, FitTable}) {
            c.place[b] = inner.place[b];
        }
    }

    /// 0 on a GPU, 1 in main memory, 2 on disk.
    [[nodiscard]] int tableRank(int place) const {
        return place == model_.disk ? 2 : place == model_.cpu ? 1 : 0;
    }

    /// All places of towers and tables, the cheapest first.
    [[nodiscard]] std::vector<Inner> innerChoices(const FitFormats& format, int head) const {
        const int cpu = model_.cpu;
        const int disk = model_.disk;
        const auto choices = [&](FitBlock block) {
            std::vector<int> places;
            for (int place = 0; place <= disk && format.bytes[block] > 0; ++place) {
                places.push_back(place);
            }
            return places.empty() ? std::vector<int>{cpu} : places;
        };
        std::vector<int> own = {cpu};
        if (format.has_own_head) {
            own = head == cpu ? std::vector<int>{cpu, disk} : std::vector<int>{head, cpu, disk};
        }
        std::vector<Inner> all;
        for (const int vision : choices(FitVision)) {
            for (const int audio : choices(FitAudio)) {
                Inner inner;
                inner.place[FitVision] = vision;
                inner.place[FitAudio] = audio;
                inner.media_ps = model_.mediaPs(FitVision, vision, format) +
                                 model_.mediaPs(FitAudio, audio, format);
                for (const int table : choices(FitPerLayerTable)) {
                    for (const int own_table : own) {
                        inner.place[FitPerLayerTable] = table;
                        inner.place[FitTable] = own_table;
                        inner.tables = 4 * tableRank(own_table) + tableRank(table);
                        all.push_back(inner);
                    }
                }
            }
        }
        std::stable_sort(all.begin(), all.end(), [](const Inner& a, const Inner& b) {
            return std::tie(a.media_ps, a.tables) < std::tie(b.media_ps, b.tables);
        });
        return all;
    }

    const FitModel& model_;
    size_t width_;
    std::vector<Start> starts_;
    std::vector<FitShare> shares_;
    std::vector<Tail> tails_; ///< By device and first layer that is left.
    std::vector<int> ends_;   ///< By device and first layer: where its run ends.
    FitFound best_;
};

} // namespace

FitFound searchFit(const FitModel& model) {
    return Search(model).run();
}

} // namespace engine
