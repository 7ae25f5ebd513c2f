#include "models/sm/load_store/delivery.hpp"

#include <cstring>

#include "models/isa/lane_mask.hpp"

namespace lockstep {

void deliver_copy(const Delivery& delivery, std::byte* shared, unsigned stride,
                  const std::byte* line) {
  isa::for_each_lane(delivery.lanes, [&](unsigned lane) {
    std::memcpy(shared + delivery.copy->to[lane], line + delivery.offset_of(lane, stride),
                delivery.copy->bytes[lane]);
  });
}

}  // namespace lockstep
