#include "models/isa/bulk/tensor_tile.hpp"

#include <algorithm>
#include <cstring>

namespace lockstep::isa {
namespace {

/// NaN at any width: sign, exponent and mantissa are ones.
constexpr std::byte nan_byte{0xff}, zero_byte{0};

}  // namespace

TensorTile::TensorTile(const TensorMap& map,
                       const std::array<std::int32_t, TensorMap::most_rank>& first,
                       std::uint32_t shared)
    : map_(map),
      shared_(shared),
      bytes_(static_cast<std::uint32_t>(map.box_bytes())),
      row_bytes_(map.row_bytes()),
      element_(bytes_of(map.type)) {
  for (unsigned d = 0; d < map.rank; ++d) {
    first_[d] = first[d];
    count_[d] = map.count(d);
  }
  const auto limit = [&](std::int64_t element) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(element - first_[0], 0, count_[0])) *
           element_;
  };
  inside_first_ = limit(0);
  inside_end_ = limit(static_cast<std::int64_t>(map.size[0]));
}

TileRun TensorTile::run_from(std::uint32_t position, std::uint64_t unit) const {
  TileRun run{.position = position};
  const std::uint32_t in_row = position % row_bytes_;
  std::uint32_t row = position / row_bytes_;
  std::uint64_t address = map_.address;
  bool inside = true;
  for (unsigned d = 1; d < map_.rank; ++d) {
    const std::int64_t at = first_[d] + std::int64_t{row % count_[d]} * map_.step[d];
    row /= count_[d];
    inside = inside && at >= 0 && at < static_cast<std::int64_t>(map_.size[d]);
    address += static_cast<std::uint64_t>(at) * map_.stride[d];
  }
  run.inside = inside && in_row >= inside_first_ && in_row < inside_end_;
  const std::uint32_t end = !inside                  ? row_bytes_
                            : in_row < inside_first_ ? inside_first_
                            : in_row < inside_end_   ? inside_end_
                                                     : row_bytes_;
  run.bytes = end - in_row;
  if (!run.inside) return run;
  run.global = address + static_cast<std::uint64_t>(first_[0] * element_) + in_row;
  run.bytes = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(run.bytes, unit - (run.global & (unit - 1))));
  return run;
}

void TensorTile::fill(const TileRun& run, std::byte* shared) const {
  const std::byte value = map_.fills_nan ? nan_byte : zero_byte;
  for_each_piece(run, [&](std::uint32_t, std::uint32_t place, std::uint32_t bytes) {
    std::memset(shared + place, static_cast<int>(value), bytes);
  });
}

TensorTile::Extent TensorTile::extent() const {
  if (inside_first_ == inside_end_) return {};
  std::uint64_t lowest =
      map_.address + static_cast<std::uint64_t>(first_[0] * element_) + inside_first_;
  std::uint64_t highest = lowest + inside_end_ - inside_first_;
  for (unsigned d = 1; d < map_.rank; ++d) {
    const std::int64_t step = map_.step[d], size = static_cast<std::int64_t>(map_.size[d]);
    const std::int64_t low =
        first_[d] >= 0 ? first_[d] : first_[d] + (step - 1 - first_[d]) / step * step;
    const std::int64_t last = first_[d] + (count_[d] - 1) * step;
    const std::int64_t high = last < size ? last : low + (size - 1 - low) / step * step;
    if (low > last || low >= size) return {};
    lowest += static_cast<std::uint64_t>(low) * map_.stride[d];
    highest += static_cast<std::uint64_t>(high) * map_.stride[d];
  }
  return {lowest, highest - lowest};
}

}  // namespace lockstep::isa
