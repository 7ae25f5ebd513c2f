#include "models/sm/cluster/shared_service.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "models/isa/atomic.hpp"
#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/bulk/reduction.hpp"

namespace lockstep {

namespace {

constexpr std::size_t most_words = isa::warp_size * 4;

/// Calls the function once for each word of `unit` bytes that the lanes touch.
template <class Function>
void for_each_unit(std::span<const std::uint32_t> offsets, unsigned lane_bytes, unsigned unit,
                   Function&& function) {
  std::array<std::uint32_t, most_words> words;
  std::size_t count = 0;
  for (const std::uint32_t offset : offsets)
    for (std::uint32_t word = offset / unit; word <= (offset + lane_bytes - 1) / unit; ++word)
      if (count < words.size()) words[count++] = word;
  std::sort(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  const auto end = std::unique(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  for (auto word = words.begin(); word != end; ++word) function(*word);
}

}  // namespace

unsigned bank_cycles(std::span<const std::uint32_t> offsets, unsigned lane_bytes, unsigned banks) {
  std::array<std::uint8_t, 256> taken{};
  unsigned most = 1;
  for_each_unit(offsets, lane_bytes, 4, [&](std::uint32_t word) {
    most = std::max<unsigned>(most, ++taken[word % banks % taken.size()]);
  });
  return most;
}

unsigned sector_bytes_of(std::span<const std::uint32_t> offsets, unsigned lane_bytes) {
  unsigned bytes = 0;
  for_each_unit(offsets, lane_bytes, sector_bytes, [&](std::uint32_t) { bytes += sector_bytes; });
  return bytes;
}

std::optional<MbarrierRefusal> SharedService::execute(BlockPlace place, const ClusterAccess& access,
                                                      std::span<const std::byte> payload,
                                                      std::byte* answer, SmCycle now) {
  std::byte* const shared = blocks_.shared_memory_of(blocks_.block(place));
  const auto word_at = [&](std::size_t index) {
    std::uint32_t word;
    std::memcpy(&word, payload.data() + 4 * index, 4);
    return word;
  };
  std::optional<MbarrierRefusal> refusal;
  const auto arrive = [&](std::uint32_t lane, std::uint32_t offset, isa::AtomicOperation operation,
                          std::uint64_t count) {
    if (refusal) return;
    if (const auto word = arrivals_.arrive(place, offset, operation, count, now))
      refusal = {lane, offset, *word, count, static_cast<std::uint64_t>(operation)};
  };
  if (access.kind == ClusterAccessKind::deliver) {
    if (access.atomic == isa::AtomicOperation::none)
      std::memcpy(shared + word_at(0), payload.data() + 8, payload.size() - 8);
    else
      isa::reduce(access.atomic, access.type, shared + word_at(0), payload.data() + 8,
                  payload.size() - 8);
    if (access.completes != 0)
      arrive(0, word_at(1), isa::AtomicOperation::complete_transactions, access.bytes);
    return refusal;
  }
  const std::byte* data = payload.data() + access.data_offset();
  const isa::AtomicShape shape = access.shape();
  for (std::uint32_t lane = 0; lane < access.lanes; ++lane, data += access.lane_bytes) {
    const std::uint32_t offset = word_at(lane);
    std::byte* const at = shared + offset;
    switch (access.kind) {
      case ClusterAccessKind::load:
        std::memcpy(answer, at, access.lane_bytes);
        answer += access.lane_bytes;
        break;
      case ClusterAccessKind::store:
        std::memcpy(at, data, access.lane_bytes);
        break;
      default: {
        std::array<isa::AtomicWord, 2> operands;
        std::memcpy(operands.data(), data, access.lane_bytes);
        if (isa::is_of_mbarrier(access.atomic)) {
          arrive(lane, offset, access.atomic, operands[0].a);
          break;
        }
        std::array<std::uint64_t, 2> old;
        isa::modify(shape, at, operands.data(), old.data());
        if (access.returns == 0) break;
        std::memcpy(answer, old.data(), 8 * shape.words());
        answer += 8 * shape.words();
      }
    }
    if (access.completes != 0)
      arrive(lane, word_at(access.lanes + lane), isa::AtomicOperation::complete_transactions,
             access.kind == ClusterAccessKind::store ? access.lane_bytes : shape.bytes());
  }
  return refusal;
}

void SharedService::serve(const ClusterAccess& access, std::span<const std::byte> payload,
                          SmCycle now) {
  const BlockPlace place = members_.place_of(access.grid, access.cluster, access.target);
  alignas(16) std::array<std::byte, isa::warp_size * 16> room;
  const auto refusal = execute(place, access, payload, room.data(), now);
  std::array<std::uint32_t, isa::warp_size> offsets;
  std::memcpy(offsets.data(), payload.data(), std::size_t{4} * access.lanes);
  const auto lanes = std::span(offsets).first(access.lanes);
  const bool is_atomic = access.kind == ClusterAccessKind::atomic;
  const unsigned bytes = is_atomic ? std::max(1u, access.shape().bytes()) : access.lane_bytes;
  const unsigned degree = access.kind == ClusterAccessKind::deliver
                              ? static_cast<unsigned>((payload.size() - 8 + 127) / 128)
                              : bank_cycles(lanes, bytes, constants_.parameters.shared.banks);
  const SmCycle free = front_end_.memory_gate().serve_banks(degree, now);
  ClusterAnswer answer;
  answer.tag = access.tag;
  answer.sm = access.sm;
  answer.tenant = access.tenant;
  answer.delay = static_cast<std::uint16_t>(std::min<std::int64_t>(free - now - 1, 0xffff));
  std::size_t size = 0;
  if (access.kind == ClusterAccessKind::load) size = std::size_t{access.lanes} * access.lane_bytes;
  if (access.returns != 0) size = std::size_t{access.lanes} * 8 * access.shape().words();
  if (size != 0)
    answer.flits =
        static_cast<std::uint8_t>(constants_.setup.noc.hub.flits(sector_bytes_of(lanes, bytes)));
  // Bytes that L2 sends to several blocks are no message from one of these blocks. The answer that
  // tells the copy's block that all bytes have come takes no time of ports.
  if (access.multicast != 0) answer.flits = 0;
  if (refusal) {
    answer.status = ClusterAnswerStatus::mistaken;
    size = sizeof *refusal;
    std::memcpy(room.data(), &*refusal, size);
  }
  std::byte* to = ports_.send_to_hub(MessageKind::cluster_answer, answer, size, answer.flits, now);
  if (size != 0) std::memcpy(to, room.data(), size);
}

}  // namespace lockstep
