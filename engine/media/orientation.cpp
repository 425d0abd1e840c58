// SPDX-License-Identifier: Apache-2.0
#include "engine/media/orientation.h"

#include <algorithm>

namespace engine::media {

namespace {

/// Where the upright pixel (x, y) stands in the stored picture: at start + x * dx + y * dy pixels.
struct Walk {
    int64_t start;
    int64_t dx;
    int64_t dy;
};

Walk walkFor(int orientation, int64_t w, int64_t h) {
    const int64_t last_row = (h - 1) * w;
    switch (orientation) {
    case 2:
        return {w - 1, -1, w}; // mirrored left-right
    case 3:
        return {last_row + w - 1, -1, -w}; // turned by 180 degrees
    case 4:
        return {last_row, 1, -w}; // mirrored top-bottom
    case 5:
        return {0, w, 1}; // mirrored along the main diagonal
    case 6:
        return {last_row, -w, 1}; // needs a turn by 90 degrees clockwise
    case 7:
        return {last_row + w - 1, -w, -1}; // mirrored along the other diagonal
    case 8:
        return {w - 1, w, -1}; // needs a turn by 90 degrees anticlockwise
    default:
        return {0, 1, w};
    }
}

} // namespace

ImageSize orientedSize(ImageSize stored, int orientation) {
    return orientation >= 5 && orientation <= 8 ? ImageSize{stored.height, stored.width} : stored;
}

DecodedImage orient(DecodedImage stored, int orientation) {
    if (orientation < 2 || orientation > 8) {
        return stored;
    }
    const Walk walk = walkFor(orientation, stored.width, stored.height);
    const ImageSize size = orientedSize({stored.width, stored.height}, orientation);
    DecodedImage upright;
    upright.width = size.width;
    upright.height = size.height;
    upright.notes = std::move(stored.notes);
    upright.rgb.resize(stored.rgb.size());
    // Square tiles keep both pictures' rows in the cache when the sides are swapped.
    constexpr int64_t kTile = 64;
    for (int64_t y0 = 0; y0 < size.height; y0 += kTile) {
        for (int64_t x0 = 0; x0 < size.width; x0 += kTile) {
            for (int64_t y = y0; y < std::min(y0 + kTile, size.height); ++y) {
                const uint8_t* from =
                    stored.rgb.data() + 3 * (walk.start + x0 * walk.dx + y * walk.dy);
                uint8_t* to = upright.rgb.data() + 3 * (y * size.width + x0);
                for (int64_t x = x0; x < std::min(x0 + kTile, size.width); ++x) {
                    to[0] = from[0];
                    to[1] = from[1];
                    to[2] = from[2];
                    to += 3;
                    from += 3 * walk.dx;
                }
            }
        }
    }
    return upright;
}

} // namespace engine::media
