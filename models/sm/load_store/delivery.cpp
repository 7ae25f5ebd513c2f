#include "models/sm/load_store/delivery.hpp"

#include <cstring>

#include "models/isa/lane_mask.hpp"

namespace lockstep {

// NOLINTNEXTLINE(performance-unnecessary-value-param): see its declaration
void deliver_copy(Delivery delivery, std::byte* shared, unsigned stride, const std::byte* line) {
  isa::for_each_lane(delivery.lanes, [&](unsigned lane) {
    std::memcpy(shared + delivery.copy->to[lane], line + delivery.offset_of(lane, stride),
                delivery.copy->bytes[lane]);
  });
}

}  // namespace lockstep
