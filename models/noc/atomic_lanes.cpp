#include "models/noc/atomic_lanes.hpp"

#include <array>
#include <cstring>

namespace lockstep {

namespace {

/// Does what modify_lanes() does for lanes of this many words; the constant makes plain moves of
/// the copies.
template <unsigned words>
void modify_each(const MemoryRequest& request, const std::byte* records, std::span<std::byte> line,
                 std::byte* old) {
  const isa::AtomicShape shape = request.shape();
  for (unsigned i = 0; i < request.lanes; i += words) {
    std::array<AtomicLane, words> lane;
    std::memcpy(lane.data(), records + i * sizeof(AtomicLane), sizeof lane);
    std::array<isa::AtomicWord, words> operands;
    for (unsigned w = 0; w < words; ++w) operands[w] = lane[w].operands;
    std::array<std::uint64_t, words> values{};
    if (lane[0].offset + shape.bytes() <= line.size())
      isa::modify(shape, line.data() + lane[0].offset, operands.data(), values.data());
    std::memcpy(old + std::size_t{8} * i, values.data(), sizeof values);
  }
}

}  // namespace

void modify_lanes(const MemoryRequest& request, const std::byte* records, std::span<std::byte> line,
                  std::byte* old) {
  request.shape().words() == 1 ? modify_each<1>(request, records, line, old)
                               : modify_each<2>(request, records, line, old);
}

}  // namespace lockstep
