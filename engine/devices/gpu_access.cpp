// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/gpu_access.h"

#include "engine/api/device_loss.h"
#include "engine/devices/card_costs_file.h"
#include "engine/devices/card_estimate.h"
#include "kernels/cuda/cards.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/fatbin.h"
#include "kernels/cuda/ops.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace engine {

namespace {

using kernels::cuda::Card;
using kernels::cuda::CudaDevice;
using kernels::cuda::Driver;

ErrorCode codeOf(kernels::Status status) {
    switch (status) {
    case kernels::Status::OutOfMemory:
        return ErrorCode::OutOfMemory;
    case kernels::Status::DeviceLost:
        return ErrorCode::DeviceLost;
    case kernels::Status::Ok:
    case kernels::Status::BadShape:
    case kernels::Status::Unsupported:
        break;
    }
    return ErrorCode::Unsupported;
}

/// Nothing when the card does not answer.
std::optional<DeviceInfo> describe(const Driver& driver, const Card& card) {
    const auto free_now = kernels::cuda::freeBytes(driver, card);
    if (!free_now.has_value()) {
        return std::nullopt;
    }
    DeviceInfo info;
    info.id = DeviceId::cuda(card.ordinal);
    info.description = card.name;
    info.capacity = card.total_bytes;
    info.free = *free_now;
    const kernels::CardCosts costs = kernels::cuda::cardCosts(driver, card.ordinal);
    info.context_bytes = costs.context_bytes;
    info.granularity = costs.granularity;
    info.rates = estimatedRates(card);
    return info;
}

/// The cards' costs as the file has them, measured or not (card_costs_file.h).
class KeptCosts {
public:
    KeptCosts(const Driver& driver,
              std::span<const kernels::cuda::FatbinImage> images,
              std::filesystem::path file)
        : driver_(driver), images_(images), file_(std::move(file)) {}

    /// Before a plan: what an earlier program measured. Where none did, the card is opened for a
    /// moment, once for all cards of a name, if anything here can tell what that takes.
    void recall(const Card& card) {
        if (!kernels::cuda::isContextAssumed(driver_, card.ordinal)) {
            return;
        }
        const std::string key = keyOf(card);
        kernels::CardCosts kept = here_[key];
        if (kept.context_bytes == 0 && !file_.empty()) {
            kept = keptCardCosts(file_, key);
        }
        const bool is_measured_here = kept.context_bytes == 0 && tried_.insert(key).second &&
                                      driver_.process_fault->what().empty() &&
                                      driver_.memoryOf(card.uuid).has_value();
        if (is_measured_here) {
            kernels::cuda::CudaDeviceOptions options;
            options.driver = &driver_;
            options.ordinal = card.ordinal;
            options.images = images_;
            options.ops = &kernels::cuda::cudaOps(false);
            (void)CudaDevice::create(options); // closed again: what it took is known now
            if (!kernels::cuda::isContextAssumed(driver_, card.ordinal)) {
                here_[key] = kernels::cuda::cardCosts(driver_, card.ordinal);
            }
            keep(card);
        } else if (kept.context_bytes > 0) {
            kernels::cuda::recallCosts(driver_, card.ordinal, kept);
        }
    }
    /// After an opening: what it measured, where that is news; nothing, where that contradicts what
    /// was kept.
    void keep(const Card& card) const {
        if (file_.empty()) {
            return;
        }
        const std::string key = keyOf(card);
        const kernels::CardCosts costs = kernels::cuda::isContextAssumed(driver_, card.ordinal)
                                             ? kernels::CardCosts()
                                             : kernels::cuda::cardCosts(driver_, card.ordinal);
        if (keptCardCosts(file_, key) != costs) {
            keepCardCosts(file_, key, costs);
        }
    }
    void keep(int index) const {
        for (const Card& card : kernels::cuda::listCards(driver_)) {
            if (card.ordinal == index) {
                keep(card);
            }
        }
    }

private:
    /// What costs hold for: the kind of card, its driver, the kernels of this build.
    [[nodiscard]] std::string keyOf(const Card& card) const {
        int version = 0;
        (void)driver_.driverGetVersion(&version);
        uint64_t bytes = 0;
        for (const kernels::cuda::FatbinImage& image : images_) {
            bytes += image.bytes;
        }
        return card.name + ", " + std::to_string(card.total_bytes) + " bytes, CUDA " +
               std::to_string(version) + ", driver " + driver_.versionText() + ", " +
               std::to_string(bytes) + " bytes of kernels";
    }

    const Driver& driver_;
    std::span<const kernels::cuda::FatbinImage> images_;
    std::filesystem::path file_;
    std::set<std::string> tried_;
    std::map<std::string, kernels::CardCosts> here_; ///< Measured by this program.
};

/// The cheap list; `known` as below.
std::function<std::vector<DeviceInfo>()>
glanceAt(const Driver* driver,
         std::span<const kernels::cuda::FatbinImage> images,
         const std::shared_ptr<std::optional<std::vector<Card>>>& known) {
    return [driver, images, known] {
        std::vector<DeviceInfo> devices;
        if (driver == nullptr || images.empty()) {
            return devices;
        }
        if (!known->has_value()) {
            *known = kernels::cuda::listCards(*driver);
        }
        for (const Card& card : **known) {
            const auto memory = card.unusable.empty() && !card.uuid.empty()
                                    ? driver->memoryOf(card.uuid)
                                    : std::nullopt;
            if (memory.has_value()) {
                DeviceInfo info;
                info.id = DeviceId::cuda(card.ordinal);
                info.description = card.name;
                info.capacity = card.total_bytes;
                info.free = memory->free;
                devices.push_back(std::move(info));
            }
        }
        return devices;
    };
}

/// `known`: the cards, filled in by who asks first.
std::function<std::optional<kernels::cuda::VideoMemory>(int index)>
videoMemoryReader(const Driver* driver,
                  const std::shared_ptr<std::optional<std::vector<Card>>>& known) {
    return [driver, known](int index) {
        std::optional<kernels::cuda::VideoMemory> memory;
        if (driver == nullptr || driver->deviceGetLuid == nullptr) {
            return memory;
        }
        if (!known->has_value()) {
            *known = kernels::cuda::listCards(*driver);
        }
        for (const Card& card : **known) {
            if (card.ordinal == index && card.luid.has_value()) {
                memory = kernels::cuda::videoMemory(*card.luid);
            }
        }
        return memory;
    };
}

} // namespace

GpuAccess cudaAccess(const Driver* driver,
                     const kernels::cuda::Trouble& why,
                     std::span<const kernels::cuda::FatbinImage> images,
                     const kernels::CardOptions& forms,
                     const std::filesystem::path& costs_file) {
    GpuAccess access;
    const auto kept =
        driver == nullptr ? nullptr : std::make_shared<KeptCosts>(*driver, images, costs_file);
    // What list() left out, so that troubles() need not ask the cards a second time.
    auto skipped = std::make_shared<std::optional<std::vector<CardTrouble>>>();
    access.list = [driver, images, skipped, kept] {
        std::vector<DeviceInfo> devices;
        if (driver == nullptr || images.empty()) {
            return devices;
        }
        std::vector<CardTrouble>& left_out = skipped->emplace();
        for (const Card& card : kernels::cuda::listCards(*driver)) {
            const DeviceId id = DeviceId::cuda(card.ordinal);
            if (!card.unusable.empty()) {
                left_out.push_back(cardTrouble(card.unusable, id, card.name));
                continue;
            }
            // Still listed: a layout shows where everything is to go after a restart.
            if (const std::string fault = driver->process_fault->what(); !fault.empty()) {
                left_out.push_back({CardTrouble::Kind::LostCard,
                                    said("%1 (%2) is lost to this process since %3; start Belfry "
                                         "again to use it.",
                                         id, card.name, fault)});
            }
            kept->recall(card);
            if (auto info = describe(*driver, card)) {
                devices.push_back(std::move(*info));
            } else {
                left_out.push_back({CardTrouble::Kind::SilentCard,
                                    said("%1 (%2) does not answer; restart the program, and the "
                                         "machine if that does not help.",
                                         id, card.name)});
            }
        }
        return devices;
    };
    // Names and sizes do not change while the program runs: the driver is asked for them once.
    auto known = std::make_shared<std::optional<std::vector<Card>>>();
    access.glance = glanceAt(driver, images, known);
    access.video_memory = videoMemoryReader(driver, known);
    access.troubles = [driver, why, images, skipped, list = access.list] {
        std::vector<CardTrouble> troubles;
        if (!why.empty()) {
            troubles.push_back(cardTrouble(why));
            return troubles;
        }
        if (driver == nullptr || images.empty()) {
            troubles.push_back({CardTrouble::Kind::NoKernels,
                                said("This build has no GPU kernels (it was made without nvcc): "
                                     "graphics cards are not used.")});
            return troubles;
        }
        if (!skipped->has_value()) {
            (void)list();
        }
        return skipped->value_or(troubles);
    };
    if (driver != nullptr) {
        access.process_fault = [driver] { return driver->process_fault->what(); };
        access.assumes_context = [driver](int index) {
            return kernels::cuda::isContextAssumed(*driver, index);
        };
        access.costs = [driver](int index) { return kernels::cuda::cardCosts(*driver, index); };
    }
    access.open = [driver, why, images, forms,
                   kept](int index, uint64_t limit,
                         bool is_reference) -> Result<std::unique_ptr<kernels::Device>> {
        if (driver == nullptr) {
            return Error{ErrorCode::InvalidRequest,
                         said("%1 cannot be opened: %2", "cuda:" + std::to_string(index),
                              why.empty() ? Argument(phrase("this build has no GPU kernels"))
                                          : Argument(cardTrouble(why).words))};
        }
        kernels::cuda::CudaDeviceOptions options;
        options.driver = driver;
        options.ordinal = index;
        options.limit = limit;
        options.is_reference = is_reference;
        options.images = images;
        options.card = forms;
        options.ops = &kernels::cuda::cudaOps(is_reference);
        CudaDevice::Opened opened = CudaDevice::create(options);
        kept->keep(index);
        if (opened.device == nullptr) {
            Error error{codeOf(opened.status),
                        asItIs(std::move(opened.message)),
                        {{"device", "cuda:" + std::to_string(index)}}};
            if (!driver->process_fault->what().empty()) {
                error.code = ErrorCode::DeviceLost;
                error.say(said("%1. %2", error.told(), kNewProcessAdvice));
                error.details.emplace_back(kNeedsNewProcess, "true");
            }
            return error;
        }
        return std::unique_ptr<kernels::Device>(std::move(opened.device));
    };
    return access;
}

namespace {

/// The access that is made once it is known what stands behind it. Of one thread, like every
/// access.
struct LateAccess {
    std::shared_ptr<CardInquiry> inquiry;
    kernels::CardOptions forms;
    std::filesystem::path costs_file;
    std::optional<GpuAccess> access;

    /// Waits for the inquiry.
    const GpuAccess& get() {
        if (!access.has_value()) {
            kernels::cuda::Trouble why;
            const Driver* driver = inquiry->driver(&why);
            access = cudaAccess(driver, why, kernels::cuda::embeddedImages(), forms, costs_file);
        }
        return *access;
    }
    /// nullptr while the inquiry goes on.
    const GpuAccess* known() { return inquiry->state().is_done ? &get() : nullptr; }
};

} // namespace

GpuAccess systemGpuAccess(std::shared_ptr<CardInquiry> inquiry,
                          const kernels::CardOptions& forms,
                          const std::filesystem::path& costs_file) {
    const auto late = std::make_shared<LateAccess>();
    late->inquiry = std::move(inquiry);
    late->forms = forms;
    late->costs_file = costs_file;
    GpuAccess access;
    access.list = [late] { return late->get().list(); };
    access.glance = [late] {
        const GpuAccess* known = late->known();
        return known == nullptr ? std::vector<DeviceInfo>() : known->glance();
    };
    access.open = [late](int index, uint64_t limit, bool is_reference) {
        return late->get().open(index, limit, is_reference);
    };
    access.assumes_context = [late](int index) { return late->get().assumes_context(index); };
    access.costs = [late](int index) { return late->get().costs(index); };
    access.video_memory = [late](int index) {
        const GpuAccess* known = late->known();
        return known == nullptr ? std::nullopt : known->video_memory(index);
    };
    access.process_fault = [late] {
        const GpuAccess* known = late->known();
        return known == nullptr ? std::string() : known->process_fault();
    };
    access.troubles = [late] { return late->get().troubles(); };
    return access;
}

} // namespace engine
