#pragma once

// Reference of the workload dwt2d: every row, then every column of the low band, by lifting.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::dwt2d {

/// One level of the 5/3 transform of a line: the smoothed samples, then the details.
inline std::vector<int> lifted(const std::vector<int>& line) {
  const int length = static_cast<int>(line.size()), half = length / 2;
  std::vector<int> bands(length);
  for (int i = 0; i < half; ++i) {
    const int right = 2 * i + 2 < length ? line[2 * i + 2] : line[length - 2];
    bands[half + i] = line[2 * i + 1] - ((line[2 * i] + right) >> 1);
  }
  for (int i = 0; i < half; ++i) {
    const int left = bands[half + (i > 0 ? i - 1 : 0)];
    bands[i] = line[2 * i] + ((left + bands[half + i] + 2) >> 2);
  }
  return bands;
}

/// Of the lines `across` apart, whose samples are `along` apart.
inline void lift_lines(std::span<int> image, int lines, int across, int length, int along) {
  for (int l = 0; l < lines; ++l) {
    std::vector<int> line(length);
    for (int i = 0; i < length; ++i) line[i] = image[l * across + i * along];
    line = lifted(line);
    for (int i = 0; i < length; ++i) image[l * across + i * along] = line[i];
  }
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int stride = integer(parameters, "width");
  const int pixels = stride * integer(parameters, "height");
  const auto colour = buffers.as<unsigned char>("colour");
  for (int i = 0; i < 3 * pixels; ++i) {
    buffers.as<int>("component")[i % 3 * pixels + i / 3] = colour[i] - 128;
  }
  for (int level = 0; level < integer(parameters, "levels"); ++level) {
    const int width = stride >> level, height = integer(parameters, "height") >> level;
    const auto in = buffers.as<int>("component");
    const auto out = buffers.as<int>("bands");
    for (int plane = 0; plane < 3; ++plane) {
      const auto bands = out.subspan(plane * pixels, pixels);
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) bands[y * stride + x] = in[plane * pixels + y * stride + x];
      }
      lift_lines(bands, height, stride, width, 1);
      lift_lines(bands, width, 1, height, stride);
    }
    buffers.swap("component", "bands");
  }
}

}  // namespace lockstep::reference::dwt2d
