// SPDX-License-Identifier: Apache-2.0
// How the engine finds and opens graphics cards. The machine's own driver stands behind it in the
// program; tests put a fake driver or another kind of device there.
#pragma once

#include "engine/base/result.h"
#include "engine/devices/card_inquiry.h"
#include "engine/plan/planner.h"
#include "kernels/card_costs.h"
#include "kernels/card_options.h"
#include "kernels/cuda/driver_trouble.h"
#include "kernels/cuda/video_memory.h"
#include "kernels/device.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernels::cuda {
struct Driver;
struct FatbinImage;
} // namespace kernels::cuda

namespace engine {

/// The next step after a fault that cost this process its cards.
inline constexpr Phrase kNewProcessAdvice = phrase(
    "The driver gives no card to this process any more: loading again cannot work. Start the "
    "program again, or go on with everything on the CPU (device map \"cpu\").");

struct GpuAccess {
    /// The usable cards with what is free on them now. Opens none but those whose costs nobody has
    /// measured yet, for a moment.
    std::function<std::vector<DeviceInfo>()> list = [] { return std::vector<DeviceInfo>(); };
    /// The usable cards with what is free on them, where the system tells that without a context:
    /// cheap enough to be asked every second while nothing is loaded.
    std::function<std::vector<DeviceInfo>()> glance = [] { return std::vector<DeviceInfo>(); };
    /// Opens cuda:index. `limit`: bytes this program may hold there, 0 = none.
    /// Errors: InvalidRequest (no such card), Unsupported, OutOfMemory, DeviceLost.
    std::function<Result<std::unique_ptr<kernels::Device>>(
        int index, uint64_t limit, bool is_reference)>
        open;
    /// Whether what the driver itself takes on an open card is not measured but assumed.
    std::function<bool(int index)> assumes_context = [](int) { return false; };
    /// What is known of a card by now: more once it has been opened.
    std::function<kernels::CardCosts(int index)> costs = [](int) { return kernels::CardCosts(); };
    /// What the system lets this program have of a card, and what it has; nothing where the system
    /// does not share cards out. Cheap: asked several times a second, while the card computes too.
    std::function<std::optional<kernels::cuda::VideoMemory>(int index)> video_memory = [](int) {
        return std::optional<kernels::cuda::VideoMemory>();
    };
    /// What cost this process its cards for good ("cuStreamSynchronize answered ..."); empty = they
    /// are there, or come back with a load.
    std::function<std::string()> process_fault = [] { return std::string(); };
    /// One per card that the last list() left out, or one on why there is none; empty = nothing to
    /// say. Opens nothing and costs nothing behind list().
    std::function<std::vector<CardTrouble>()> troubles = [] { return std::vector<CardTrouble>(); };
};

/// Cards behind one driver (must outlive the access); nullptr: no cards, `why` is the only trouble.
/// `images`: the GPU kernels; a build without any has no cards. `forms`: what each is opened with.
/// `costs_file`: where the cards' costs are kept (card_costs_file.h); empty: nowhere.
GpuAccess cudaAccess(const kernels::cuda::Driver* driver,
                     const kernels::cuda::Trouble& why,
                     std::span<const kernels::cuda::FatbinImage> images,
                     const kernels::CardOptions& forms = {},
                     const std::filesystem::path& costs_file = {});
/// Cards of this machine, as `inquiry` finds them: list(), open() and troubles() wait for it,
/// glance() and process_fault() do not.
GpuAccess systemGpuAccess(std::shared_ptr<CardInquiry> inquiry,
                          const kernels::CardOptions& forms = {},
                          const std::filesystem::path& costs_file = {});

} // namespace engine
