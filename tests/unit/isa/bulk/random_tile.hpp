#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "models/isa/bulk/tensor_map.hpp"

namespace lockstep::isa {

/// A map, the first coordinates of a box, and a place for it in shared memory.
struct RandomTile {
  static constexpr std::uint64_t most_global = 1 << 16;
  static constexpr std::uint32_t most_shared = 1 << 14;

  TensorMap map;
  std::array<std::int32_t, 5> first{};
  std::uint32_t shared = 0;

  /// Bytes from the first to the last of the tensor.
  std::uint64_t global_bytes() const {
    std::uint64_t bytes = map.size[0] * bytes_of(map.type);
    for (unsigned d = 1; d < map.rank; ++d) bytes += (map.size[d] - 1) * map.stride[d];
    return bytes;
  }
};

/// A tile that can be copied, partly outside of its tensor more often than not.
inline RandomTile random_tile(std::mt19937& random, std::uint64_t address) {
  const auto pick = [&](unsigned least, unsigned most) {
    return least + static_cast<unsigned>(random() % (most - least + 1));
  };
  for (;;) {
    RandomTile tile;
    TensorMap& map = tile.map;
    map.address = address + 16 * pick(0, 8);
    map.rank = pick(1, 5);
    do {
      map.type = static_cast<TensorType>(pick(0, static_cast<unsigned>(TensorType::tf32)));
    } while (map.type == TensorType::f32_flushed);
    map.swizzle = static_cast<Swizzle>(pick(0, 3));
    map.fills_nan = is_float(map.type) && pick(0, 1) == 1;
    map.promotion = pick(0, 3);
    const unsigned element = bytes_of(map.type);
    const unsigned row =
        map.swizzle == Swizzle::none ? 16 * pick(1, 12) : 16u << static_cast<unsigned>(map.swizzle);
    if (row / element > TensorMap::most_box) continue;
    map.box[0] = row / element;
    map.size[0] = pick(1, 2 * map.box[0]);
    map.step[0] = pick(1, 8);  // without effect
    std::uint64_t pitch = (map.size[0] * element + 15) / 16 * 16;
    for (unsigned d = 1; d < map.rank; ++d) {
      map.stride[d] = pitch + 16 * pick(0, 2);
      map.size[d] = pick(1, 9);
      map.box[d] = pick(1, 7);
      map.step[d] = pick(0, 2) == 0 ? pick(1, 8) : 1;
      pitch = map.stride[d] * map.size[d];
    }
    for (unsigned d = 0; d < map.rank; ++d)
      tile.first[d] =
          static_cast<std::int32_t>(pick(0, static_cast<unsigned>(map.size[d]) + 3)) - 3;
    tile.shared = 128 * pick(0, 20);
    if (tile.global_bytes() <= RandomTile::most_global &&
        tile.shared + map.box_bytes() <= RandomTile::most_shared)
      return tile;
  }
}

/// The elements of a box by a plain loop over its indices: function(address in global memory, or 0
/// outside of the tensor; place in shared memory).
template <class Function>
void for_each_element(const RandomTile& tile, Function&& function) {
  const TensorMap& map = tile.map;
  const unsigned element = bytes_of(map.type);
  std::array<std::uint32_t, 5> index{};
  std::uint32_t dense = tile.shared;
  const auto next = [&] {
    for (unsigned d = 0; d < map.rank; ++d) {
      const std::uint32_t end = d == 0 ? map.box[0] : (map.box[d] - 1) / map.step[d] + 1;
      if (++index[d] < end) return true;
      index[d] = 0;
    }
    return false;
  };
  do {
    std::uint64_t address = map.address;
    bool inside = true;
    for (unsigned d = 0; d < map.rank; ++d) {
      const std::int64_t at = std::int64_t{tile.first[d]} + index[d] * (d == 0 ? 1 : map.step[d]);
      inside = inside && at >= 0 && at < static_cast<std::int64_t>(map.size[d]);
      address += static_cast<std::uint64_t>(at) * (d == 0 ? element : map.stride[d]);
    }
    std::uint32_t place = dense;
    switch (map.swizzle) {
      case Swizzle::bytes_32:
        place ^= (dense >> 7 & 1) << 4;
        break;
      case Swizzle::bytes_64:
        place ^= (dense >> 7 & 3) << 4;
        break;
      case Swizzle::bytes_128:
        place ^= (dense >> 7 & 7) << 4;
        break;
      default:
        break;
    }
    function(inside ? address : 0, place);
    dense += element;
  } while (next());
}

}  // namespace lockstep::isa
