// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/memory/kv_cache.h"

#include "engine/forward/memory/device_roles.h"

#include <algorithm>
#include <cassert>

namespace engine {

Result<KvCache::Buffer>
KvCache::allocateBuffer(DeviceId id, const DeviceMapping& devices, uint64_t bytes, int layer) {
    const auto it = devices.find(id);
    if (it == devices.end()) {
        return Error{ErrorCode::Internal,
                     "KV cache of layer " + std::to_string(layer) + ": no device " + id.toString()};
    }
    // K and V are one allocation: half of the bytes each.
    void* data = it->second->allocate(bytes, static_cast<int>(MemoryPart::Kv));
    if (data == nullptr) {
        const kernels::MemoryInfo info = it->second->memory();
        return Error{ErrorCode::OutOfMemory,
                     said("%1: the KV cache of layer %2 needs %3 bytes, %4 are free; choose a "
                          "smaller context or move a part away",
                          id.toString(), layer, bytes,
                          info.capacity > info.used ? info.capacity - info.used : 0),
                     {{"device", id.toString()}, {"asked_bytes", std::to_string(bytes)}}};
    }
    return Buffer{id, data, static_cast<std::byte*>(data) + bytes / 2};
}

void KvCache::freeBuffer(const Buffer& buffer) const {
    const auto it = devices_.find(buffer.device);
    if (it != devices_.end()) {
        it->second->free(buffer.k);
    }
}

Result<std::unique_ptr<KvCache>> KvCache::create(const ModelConfig& config,
                                                 const PlacementPlan& plan,
                                                 const DeviceMapping& devices) {
    const RunShape shape = runShape(config, plan);
    const std::vector<KvHome> homes = kvHomes(config, plan);
    std::unique_ptr<KvCache> cache(new KvCache());
    cache->devices_ = devices;
    cache->type_ = shape.kv_type;
    cache->context_ = shape.context;
    cache->window_ = config.text.sliding_window;
    cache->ring_ = kvCapacity(config, shape, LayerType::Sliding);
    cache->sliding_position_.assign(static_cast<size_t>(cache->ring_), -1);
    cache->sliding_block_.assign(static_cast<size_t>(cache->ring_), -1);
    cache->layers_.resize(homes.size());
    for (size_t i = 0; i < homes.size(); ++i) {
        const uint64_t bytes = kvBytes(config, shape, static_cast<int>(i));
        if (bytes == 0) {
            continue;
        }
        const LayerConfig& layer = config.text.layers[i];
        LayerKv& kv = cache->layers_[i];
        kv.capacity = kvCapacity(config, shape, layer.type);
        kv.row_bytes = kvRowBytes(config, shape.kv_type, static_cast<int>(i));
        ENGINE_ASSIGN(kv.primary,
                      allocateBuffer(homes[i].device, devices, bytes, static_cast<int>(i)));
        for (const DeviceId& mirror : homes[i].mirrors) {
            ENGINE_ASSIGN(Buffer buffer,
                          allocateBuffer(mirror, devices, bytes, static_cast<int>(i)));
            kv.mirrors.push_back(buffer);
        }
    }
    return cache;
}

KvCache::~KvCache() {
    for (const LayerKv& layer : layers_) {
        if (layer.primary.k != nullptr) {
            freeBuffer(layer.primary);
        }
        for (const Buffer& mirror : layer.mirrors) {
            freeBuffer(mirror);
        }
    }
}

const KvCache::Buffer& KvCache::bufferOn(int owner_layer, DeviceId device) const {
    const LayerKv& layer = owner(owner_layer);
    if (layer.primary.device == device) {
        return layer.primary;
    }
    for (const Buffer& mirror : layer.mirrors) {
        if (mirror.device == device) {
            return mirror;
        }
    }
    assert(false && "kvHomes() gives every reader's device a mirror");
    return layer.primary;
}

void KvCache::append(std::span<const int32_t> block) {
    sliding_slots_.clear();
    full_slots_.clear();
    size_before_ = size_;
    highest_before_ = highest_;
    const auto kept_from = static_cast<int64_t>(block.size()) - ring_;
    for (int64_t row = 0; row < static_cast<int64_t>(block.size()); ++row) {
        const int32_t b = block[static_cast<size_t>(row)];
        const auto slot = static_cast<size_t>(size_ % ring_);
        if (row >= kept_from) {
            sliding_slots_.push_back(static_cast<int32_t>(slot));
        }
        full_slots_.push_back(static_cast<int32_t>(size_));
        sliding_position_[slot] = static_cast<int32_t>(size_);
        sliding_block_[slot] = b;
        ++size_;
    }
    highest_ = std::max(highest_, size_);
    overwritten_ = std::max(overwritten_, highest_);
}

int64_t KvCache::slidingSlotsInUse() const {
    return std::min(ring_, highest_);
}

bool KvCache::truncate(int64_t tokens) {
    if (tokens >= size_) {
        return true;
    }
    if (tokens <= 0) {
        clear();
        return true;
    }
    // The next token at `tokens` sees keys from tokens - window + 1 on. Everything below
    // overwritten - ring is gone.
    const int64_t first_needed = std::max<int64_t>(0, tokens - window_ + 1);
    if (first_needed < overwritten_ - ring_) {
        return false;
    }
    for (size_t slot = 0; slot < sliding_position_.size(); ++slot) {
        if (sliding_position_[slot] >= tokens) {
            sliding_position_[slot] = -1;
            sliding_block_[slot] = -1;
        }
    }
    size_ = tokens;
    return true;
}

bool KvCache::takeBack() {
    const bool is_possible = truncate(size_before_);
    if (is_possible) {
        highest_ = std::min(highest_, highest_before_);
    }
    return is_possible;
}

void KvCache::clear() {
    size_ = 0;
    highest_ = 0;
    overwritten_ = 0;
    std::fill(sliding_position_.begin(), sliding_position_.end(), -1);
    std::fill(sliding_block_.begin(), sliding_block_.end(), -1);
}

Result<void> KvCache::moveTo(const ModelConfig& config,
                             const PlacementPlan& plan,
                             const DeviceMapping& devices) {
    const RunShape shape = runShape(config, plan);
    if (shape.context != context_ || shape.kv_type != type_ ||
        kvCapacity(config, shape, LayerType::Sliding) != ring_) {
        return Error{ErrorCode::InvalidRequest,
                     said("the KV cache can move between devices but not change its context, chunk "
                          "or type; start a new cache for that")};
    }
    const std::vector<KvHome> homes = kvHomes(config, plan);
    std::vector<LayerKv> moved(layers_.size());
    std::vector<Buffer> fresh;
    const auto place = [&](size_t layer, DeviceId device, uint64_t bytes) -> Result<Buffer> {
        const LayerKv& old = layers_[layer];
        if (old.primary.device == device) {
            return old.primary;
        }
        for (const Buffer& mirror : old.mirrors) {
            if (mirror.device == device) {
                return mirror;
            }
        }
        ENGINE_ASSIGN(const Buffer buffer,
                      allocateBuffer(device, devices, bytes, static_cast<int>(layer)));
        fresh.push_back(buffer);
        kernels::Device& from = *devices_.at(old.primary.device);
        const kernels::Status direct =
            devices.at(device)->copyFromPeer(from, buffer.k, old.primary.k, bytes);
        if (direct != kernels::Status::Unsupported) {
            ENGINE_TRY(checkStatus(direct, "move KV", "KV cache"));
            return buffer;
        }
        std::vector<std::byte> host(bytes);
        ENGINE_TRY(
            checkStatus(from.copyOut(host.data(), old.primary.k, bytes), "move KV", "KV cache"));
        ENGINE_TRY(checkStatus(devices.at(device)->copyIn(buffer.k, host.data(), bytes), "move KV",
                               "KV cache"));
        return buffer;
    };
    Result<void> outcome;
    for (size_t i = 0; i < homes.size() && outcome.has_value(); ++i) {
        const uint64_t bytes = kvBytes(config, shape, static_cast<int>(i));
        if (bytes == 0) {
            continue;
        }
        moved[i].capacity = layers_[i].capacity;
        moved[i].row_bytes = layers_[i].row_bytes;
        std::vector<DeviceId> wanted = {homes[i].device};
        wanted.insert(wanted.end(), homes[i].mirrors.begin(), homes[i].mirrors.end());
        for (size_t w = 0; w < wanted.size() && outcome.has_value(); ++w) {
            Result<Buffer> buffer = place(i, wanted[w], bytes);
            if (!buffer.has_value()) {
                outcome = std::move(buffer).error();
            } else if (w == 0) {
                moved[i].primary = *buffer;
            } else {
                moved[i].mirrors.push_back(*buffer);
            }
        }
    }
    if (!outcome.has_value()) {
        for (const Buffer& buffer : fresh) {
            devices.at(buffer.device)->free(buffer.k);
        }
        return outcome;
    }
    // Free what no device of the new plan uses.
    for (size_t i = 0; i < layers_.size(); ++i) {
        const auto kept = [&moved, i](const Buffer& old) {
            const auto same = [&old](const Buffer& b) { return b.k == old.k; };
            return same(moved[i].primary) ||
                   std::any_of(moved[i].mirrors.begin(), moved[i].mirrors.end(), same);
        };
        if (layers_[i].primary.k != nullptr && !kept(layers_[i].primary)) {
            freeBuffer(layers_[i].primary);
        }
        for (const Buffer& mirror : layers_[i].mirrors) {
            if (!kept(mirror)) {
                freeBuffer(mirror);
            }
        }
    }
    layers_ = std::move(moved);
    devices_ = devices;
    return {};
}

} // namespace engine
