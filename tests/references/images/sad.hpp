#pragma once

// Reference of the workload sad: each size of blocks pixel by pixel.

#include <algorithm>
#include <cstdlib>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::sad {

struct Frames {
  std::span<const unsigned char> frame, reference;
  int width, height;

  /// Of the square of `side` pixels at (left, top), displaced by (dx, dy) in the reference frame.
  int difference(int left, int top, int side, int dx, int dy) const {
    int sum = 0;
    for (int y = top; y < top + side; ++y) {
      for (int x = left; x < left + side; ++x) {
        const int row = std::clamp(y + dy, 0, height - 1);
        const int column = std::clamp(x + dx, 0, width - 1);
        sum += std::abs(frame[y * width + x] - reference[row * width + column]);
      }
    }
    return sum;
  }
};

/// Squares of one size, macroblock by macroblock, inside of it row by row.
inline void squares(const Frames& frames, std::span<unsigned short> sums, int side, int range) {
  std::size_t i = 0;
  const int per_row = 16 / side;
  for (int top = 0; top < frames.height; top += 16) {
    for (int left = 0; left < frames.width; left += 16) {
      for (int part = 0; part < per_row * per_row; ++part) {
        const int x = left + part % per_row * side;
        const int y = top + part / per_row * side;
        for (int dy = -range; dy <= range; ++dy) {
          for (int dx = -range; dx <= range; ++dx) {
            sums[i++] = static_cast<unsigned short>(frames.difference(x, y, side, dx, dy));
          }
        }
      }
    }
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const Frames frames{buffers.as<unsigned char>("frame"), buffers.as<unsigned char>("reference"),
                      16 * integer(parameters, "columns"), 16 * integer(parameters, "rows")};
  const int range = integer(parameters, "range");
  squares(frames, buffers.as<unsigned short>("of_4"), 4, range);
  squares(frames, buffers.as<unsigned short>("of_8"), 8, range);
  squares(frames, buffers.as<unsigned short>("of_16"), 16, range);
}

}  // namespace lockstep::reference::sad
