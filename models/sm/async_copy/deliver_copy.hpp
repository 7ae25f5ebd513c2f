#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "models/isa/lane_mask.hpp"
#include "models/sm/access/access.hpp"

namespace lockstep {

/// Writes lanes of an asynchronous copy to their block's shared memory; `offset_of(lane)` is where
/// a lane's bytes stand in the line.
void deliver_copy(std::byte* shared, const CopyTarget& target, std::uint32_t lanes,
                  const std::byte* line, auto&& offset_of) {
  isa::for_each_lane(lanes, [&](unsigned lane) {
    std::memcpy(shared + target.to[lane], line + offset_of(lane), target.bytes[lane]);
  });
}

}  // namespace lockstep
