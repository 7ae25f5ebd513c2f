#include "models/sm/context/register_compressor.hpp"

#include <algorithm>

namespace lockstep {

RegisterCompressor::RegisterCompressor(std::uint32_t block_width)
    : lanes_(std::min<std::uint32_t>(block_width, isa::warp_size)) {
  if (lanes_ < RegisterPattern::smallest_group || isa::warp_size % lanes_ != 0)
    lanes_ = isa::warp_size;
}

RegisterPattern RegisterCompressor::pattern_of(const LaneValues& values, unsigned threads) const {
  RegisterPattern pattern;
  for (unsigned first = 0; first < threads; first += lanes_) {
    const unsigned end = std::min(first + lanes_, threads);
    RegisterPattern::Group& group = pattern.group[pattern.groups++];
    group.base = values[first];
    group.single = end - first == 1;
    if (!group.single) group.stride = values[first + 1] - values[first];
    for (unsigned lane = first + 1; lane < end; ++lane)
      if (values[lane] - values[lane - 1] != group.stride) pattern.kind = RegisterClass::random;
    if (group.stride != 0 && pattern.kind == RegisterClass::uniform)
      pattern.kind = RegisterClass::strided;
  }
  return pattern;
}

LaneValues RegisterCompressor::values_of(const RegisterPattern& pattern) const {
  LaneValues values{};
  for (unsigned lane = 0; lane < isa::warp_size; ++lane) {
    const RegisterPattern::Group& group = pattern.group[lane / lanes_];
    values[lane] = group.base + lane % lanes_ * group.stride;
  }
  return values;
}

std::size_t stored_bytes(const RegisterPattern& pattern) {
  constexpr std::size_t word = sizeof(std::uint32_t);
  switch (pattern.kind) {
    case RegisterClass::dead:
      return 0;
    case RegisterClass::uniform:
      return pattern.groups * word;
    case RegisterClass::strided:
      return 2 * pattern.groups * word;
    default:
      return sizeof(LaneValues);
  }
}

}  // namespace lockstep
