// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/fit_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace engine {

namespace {

/// Places of towers and tables with their cost.
struct Inner {
    std::array<int, FitBlockCount> place{};
    int64_t media_ps = 0;
    int tables = 0;
};

/// One way to place the layers from some layer on.
struct Tail {
    int64_t over = 0; ///< Bytes over the limits.
    int64_t ps = 0;
    int64_t experts = 0; ///< Bytes of experts on the CPU whose layers are on cards.
    /// Bytes of the CPU as it is, and as it would be with the experts of some earlier layer: all 0
    /// where the model has no experts.
    int64_t host = 0, host_beside = 0;
    int end = 0;     ///< Where the run of this device ends.
    int away = 0;    ///< Layers of it with their experts on the CPU, from its first on.
    size_t next = 0; ///< Which way of the next device follows.
};

/// What a candidate is compared by: bytes over the limits, then time.
struct Need {
    int64_t over = 0;
    int64_t ps = 0;
};

constexpr Need kImpossible = {INT64_MAX, INT64_MAX};

class Search {
public:
    explicit Search(const FitModel& model)
        : model_(model), width_(static_cast<size_t>(model.layers) + 1) {
        const auto computing = static_cast<size_t>(model.gpus) + 1;
        tails_.resize(computing * width_);
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
        Need bound;
    };

    /// Neither towers nor tables, on an otherwise empty machine: no member can do better.
    Need boundOf(size_t format, int head) {
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
            const Need tail = placeLayers(c, true);
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
                const Need tail = placeLayers(c, false);
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
        size_t way = best_way_;
        for (int g = 0, from = 0; g < model_.gpus; ++g) {
            const Tail& tail = tails_[index(g, from)][way];
            c.split[static_cast<size_t>(g)] = from = tail.end;
            c.experts_away[static_cast<size_t>(g)] = tail.away;
            way = tail.next;
        }
        model_.placeDependents(c);
        return c;
    }

    [[nodiscard]] size_t index(int device, int layer) const {
        return static_cast<size_t>(device) * width_ + static_cast<size_t>(layer);
    }

    /// Whatever the layers before need, `a` is no worse than `b`. Where nothing has to fit, the CPU
    /// counts as it is: a rule that finds few bytes over the limits, not always the fewest.
    static bool isAsGood(const Tail& a, const Tail& b, bool must_fit) {
        return (a.over < b.over || (a.over == b.over && a.ps <= b.ps)) &&
               (!must_fit || (a.host <= b.host && a.host_beside <= b.host_beside));
    }

    /// Among ways that are as good the one that comes last stays.
    static void add(std::vector<Tail>& ways, const Tail& tail, bool must_fit) {
        for (const Tail& way : ways) {
            if (isAsGood(way, tail, must_fit) && !isAsGood(tail, way, must_fit)) {
                return;
            }
        }
        std::erase_if(ways, [&](const Tail& way) { return isAsGood(tail, way, must_fit); });
        ways.push_back(tail);
    }

    /// Cuts of the layers for what shares_ says is on the devices already. Returns the time per
    /// token of the whole candidate, and the bytes over the limits (with `must_fit`: 0, or
    /// kImpossible). Of equal cuts the one that fills the first GPUs most. Experts leave a card
    /// only where it has too little room for them.
    Need placeLayers(const FitCandidate& c, bool must_fit) {
        const int head = c.place[FitHead];
        if (!placeRest(model_.formats[c.format], head, must_fit)) {
            return kImpossible;
        }
        for (int d = model_.gpus - 1; d >= 0; --d) {
            if (!placeOn(d, model_.formats[c.format], head, must_fit)) {
                return kImpossible;
            }
        }
        const std::vector<Tail>& ways = tails_[0];
        const auto best =
            std::min_element(ways.begin(), ways.end(), [](const Tail& a, const Tail& b) {
                return std::pair(a.over, a.ps) < std::pair(b.over, b.ps);
            });
        if (best == ways.end()) {
            return kImpossible;
        }
        best_way_ = static_cast<size_t>(best - ways.begin());
        return {best->over, best->ps + model_.headPs(head) +
                                (model_.layers == 0 ? model_.projectionPs(head) : 0)};
    }

    /// The device's share, with what the first layer brings.
    [[nodiscard]] FitShare shareOf(int device, const FitFormats& format, int from) const {
        FitShare share = shares_[static_cast<size_t>(device)];
        if (from == 0 && model_.layers > 0) {
            model_.addProjection(format, share);
        }
        return share;
    }
    /// Before its layers: the projection, or the hop from another device.
    [[nodiscard]] int64_t beforePs(int device, int from) const {
        return from == 0 ? model_.projectionPs(device) : model_.hop_ps[static_cast<size_t>(device)];
    }
    [[nodiscard]] int64_t afterPs(int device, int head) const {
        return device != head ? model_.hop_ps[static_cast<size_t>(head)] : int64_t{0};
    }

    /// The CPU takes all layers that are left. False: it has too little room for nothing at all.
    bool placeRest(const FitFormats& format, int head, bool must_fit) {
        const int cpu = model_.cpu;
        const int layers = model_.layers;
        const int64_t limit = model_.devices[static_cast<size_t>(cpu)].limit;
        const int64_t* time = &model_.layer_ps[index(cpu, 0)];
        for (int from = 0; from <= layers; ++from) {
            std::vector<Tail>& ways = tails_[index(cpu, from)];
            ways.clear();
            FitShare share =
                from < layers ? shareOf(cpu, format, from) : shares_[static_cast<size_t>(cpu)];
            Tail tail;
            tail.end = layers;
            tail.ps = from < layers
                          ? time[layers] - time[from] + beforePs(cpu, from) + afterPs(cpu, head)
                          : 0;
            const int64_t host = model_.need(format, cpu, share, from, layers);
            if (must_fit && host > limit) {
                if (from == layers) {
                    return false;
                }
                continue;
            }
            tail.over = std::max<int64_t>(0, host - limit);
            if (format.hasExperts()) {
                // All scratch that any of them might need.
                model_.addExperts(format, 0, layers, share);
                share.bytes -= format.expert_bytes.back();
                tail.host = host;
                tail.host_beside = model_.need(format, cpu, share, from, layers);
            }
            ways.push_back(tail);
        }
        return true;
    }

    /// All runs of layers on a card, each before every way of what follows. False: it has too
    /// little room for nothing at all.
    bool placeOn(int d, const FitFormats& format, int head, bool must_fit) {
        const FitDevice& device = model_.devices[static_cast<size_t>(d)];
        const int64_t cpu_limit = model_.devices[static_cast<size_t>(model_.cpu)].limit;
        const FitShare& plain = shares_[static_cast<size_t>(d)];
        const int layers = model_.layers;
        const int64_t* time = &model_.layer_ps[index(d, 0)];
        const int64_t* away_time = &model_.experts_away_ps[index(d, 0)];
        const int64_t over_empty =
            std::max<int64_t>(0, model_.need(format, d, plain, 0, 0) - device.limit);
        if (must_fit && over_empty > 0) {
            return false;
        }
        for (int from = 0; from <= layers; ++from) {
            std::vector<Tail>& ways = tails_[index(d, from)];
            const std::vector<Tail>& without = tails_[index(d + 1, from)];
            ways = without;
            for (size_t i = 0; i < ways.size(); ++i) {
                ways[i].over += over_empty;
                ways[i].end = from;
                ways[i].away = 0;
                ways[i].next = i;
            }
            if (from == layers) {
                continue;
            }
            // Everything but the layers' own bytes and their adapters' scratch.
            DeviceNeed need(model_, format, d, shareOf(d, format, from), from);
            const int64_t before = beforePs(d, from);
            int away = 0; // more layers need no fewer
            for (int to = from + 1; to <= layers; ++to) {
                while (format.hasExperts() && away < to - from &&
                       need.of(to, away) > device.limit) {
                    ++away;
                }
                const int64_t over = need.of(to, away) - device.limit;
                if (must_fit && over > 0) {
                    break; // more layers need more
                }
                const int64_t ps = before + time[to] - time[from] + away_time[from + away] -
                                   away_time[from] + (to == layers ? afterPs(d, head) : 0);
                const int behind = from + away; // of the experts that leave
                const int64_t experts = format.expert_bytes[static_cast<size_t>(behind)] -
                                        format.expert_bytes[static_cast<size_t>(from)];
                const std::vector<Tail>& next = tails_[index(d + 1, to)];
                for (size_t i = 0; i < next.size(); ++i) {
                    const int64_t all_over = next[i].over + std::max<int64_t>(0, over);
                    if (!format.hasExperts() &&
                        std::pair(all_over, next[i].ps + ps) >
                            (ways.empty() ? std::pair(INT64_MAX, INT64_MAX)
                                          : std::pair(ways.front().over, ways.front().ps))) {
                        continue; // there is one way at most
                    }
                    Tail tail = next[i];
                    tail.over = all_over;
                    tail.ps += ps;
                    if (experts > 0) {
                        tail.experts += experts;
                        tail.host_beside += experts;
                    }
                    if (tail.experts > 0) {
                        const int64_t host = std::exchange(tail.host, tail.host_beside);
                        tail.over += std::max<int64_t>(0, tail.host - cpu_limit) -
                                     std::max<int64_t>(0, host - cpu_limit);
                    }
                    if (must_fit && tail.host > cpu_limit) {
                        continue;
                    }
                    tail.end = to;
                    tail.away = away;
                    tail.next = i;
                    add(ways, tail, must_fit);
                }
            }
        }
        return true;
    }

    /// FitModel::need() of runs that begin at one layer, with what they have in common added up
    /// once, less the experts of the first `away` layers.
    class DeviceNeed {
    public:
        DeviceNeed(const FitModel& model,
                   const FitFormats& format,
                   int device,
                   const FitShare& share,
                   int from)
            : format_(format), model_(model), from_(from), adapter_scratch_(share.adapter_scratch),
              common_(model.need(format, device, share, from, from + 1) - own(from + 1, 0)) {}

        [[nodiscard]] int64_t of(int to, int away) const { return common_ + own(to, away); }

    private:
        [[nodiscard]] int64_t own(int to, int away) const {
            const auto first = static_cast<size_t>(from_);
            return format_.span_bytes[model_.span(from_, to)] -
                   (format_.expert_bytes[first + static_cast<size_t>(away)] -
                    format_.expert_bytes[first]) +
                   std::max({adapter_scratch_, format_.span_scratch[model_.span(from_, to)],
                             format_.expert_scratch[model_.span(from_ + away, to)]});
        }

        const FitFormats& format_;
        const FitModel& model_;
        int from_;
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
    std::vector<std::vector<Tail>> tails_; ///< By device and first layer that is left.
    size_t best_way_ = 0;                  ///< In tails_ of the first device and layer.
    FitFound best_;
};

} // namespace

FitFound searchFit(const FitModel& model) {
    return Search(model).run();
}

} // namespace engine
