#include "models/noc/atomic_lanes.hpp"

#include <array>
#include <cstring>

namespace lockstep {

void modify_lanes(const MemoryRequest& request, const std::byte* records, std::span<std::byte> line,
                  std::byte* old) {
  const isa::AtomicShape shape = request.shape();
  const unsigned words = shape.words();
  for (unsigned i = 0; i < request.lanes; i += words) {
    std::array<AtomicLane, 2> lane;
    std::memcpy(lane.data(), records + i * sizeof(AtomicLane), words * sizeof(AtomicLane));
    const std::array<isa::AtomicWord, 2> operands{lane[0].operands, lane[1].operands};
    std::array<std::uint64_t, 2> values{};
    if (lane[0].offset + shape.bytes() <= line.size())
      isa::modify(shape, line.data() + lane[0].offset, operands.data(), values.data());
    std::memcpy(old + std::size_t{8} * i, values.data(), std::size_t{8} * words);
  }
}

}  // namespace lockstep
