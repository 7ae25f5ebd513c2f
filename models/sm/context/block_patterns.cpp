#include "models/sm/context/block_patterns.hpp"

#include <vector>

namespace lockstep {

BlockRegisterClass block_class_of(std::span<const RegisterPattern> warps, unsigned group_lanes) {
  constexpr std::size_t buffer = 32;
  std::vector<RegisterPattern::Group> groups;
  for (const RegisterPattern& warp : warps) {
    if (warp.kind == RegisterClass::random) return BlockRegisterClass::random;
    groups.insert(groups.end(), warp.group.begin(), warp.group.begin() + warp.groups);
  }
  const std::uint32_t stride = groups.front().stride;
  bool same_base = true, even_bases = true, same_stride = true, no_stride = true;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const RegisterPattern::Group& group = groups[i];
    same_base &= group.base == groups.front().base;
    even_bases &=
        group.base == groups.front().base + static_cast<std::uint32_t>(i) * stride * group_lanes;
    same_stride &= group.single || group.stride == stride;
    no_stride &= group.stride == 0;
  }
  const bool fits = groups.size() <= buffer;
  if (no_stride)
    return fits && same_base ? BlockRegisterClass::global_uniform
                             : BlockRegisterClass::local_uniform;
  return fits && same_stride && even_bases ? BlockRegisterClass::global_strided
                                           : BlockRegisterClass::local_strided;
}

}  // namespace lockstep
