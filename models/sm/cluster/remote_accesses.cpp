#include "models/sm/cluster/remote_accesses.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/bulk/bulk_copy.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/load_store/acknowledged.hpp"

namespace lockstep {

using isa::Category;
using isa::ClusterAddress;
using isa::for_each_lane;
using isa::Instruction;

namespace {

/// Returns the lane that is the n-th of those in the mask.
unsigned nth_lane(std::uint32_t lanes, unsigned n) {
  for (; n > 0; --n) lanes &= lanes - 1;
  return static_cast<unsigned>(std::countr_zero(lanes));
}

}  // namespace

std::uint32_t RemoteAccesses::lanes_elsewhere(const Warp& warp, std::uint32_t lanes,
                                              const Addresses& address) const {
  const std::uint32_t own = members_.of(warp).block.rank;
  std::uint32_t elsewhere = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint32_t rank = ClusterAddress::unpack(address[lane]).rank(own);
    elsewhere |= std::uint32_t{rank != own} << lane;
  });
  return elsewhere;
}

void RemoteAccesses::require_right(const Warp& warp, std::uint32_t lanes, const Addresses& address,
                                   unsigned bytes) const {
  const ClusterBlock& block = members_.of(warp).block;
  const std::uint32_t size = std::max<std::uint32_t>(1, block.size);
  const std::uint32_t limit = blocks_.block_of(warp).shared_bytes;
  for_each_lane(lanes, [&](unsigned lane) {
    const ClusterAddress at = ClusterAddress::unpack(address[lane]);
    const std::uint32_t rank = at.rank(block.rank);
    if (rank >= size) [[unlikely]]
      mistakes_.user_error(warp, warp.paths.pc(), lane,
                           "shared memory of the block of rank " + std::to_string(rank) +
                               ", and its cluster has " + std::to_string(size) +
                               (size == 1 ? " block" : " blocks"),
                           "name a rank below %cluster_nctarank, or launch larger clusters");
    if (at.offset + bytes > limit) [[unlikely]]
      mistakes_.user_error(warp, warp.paths.pc(), lane,
                           "shared address " + hexadecimal(at.offset) + " of the block of rank " +
                               std::to_string(rank) + " is outside of its " +
                               std::to_string(limit) + " bytes",
                           "an index runs over a shared array, or the launch's `shared:` is too "
                           "small");
  });
}

ClusterAccess RemoteAccesses::access_of(const Warp& warp, const Instruction& instruction) const {
  const ClusterBlock& block = members_.of(warp).block;
  const isa::MemoryFields& memory = instruction.memory;
  ClusterAccess access;
  access.cluster = block.cluster;
  access.grid = block.grid;
  access.sm = static_cast<std::uint16_t>(constants_.setup.index);
  access.tenant = warp.tenant;
  access.atomic = memory.atomic;
  access.type = memory.type;
  access.elements = static_cast<std::uint8_t>(memory.elements);
  const bool is_atomic = memory.atomic != isa::AtomicOperation::none;
  const bool writes =
      instruction.category == Category::store || instruction.category == Category::async_store;
  access.kind = is_atomic ? ClusterAccessKind::atomic
                : writes  ? ClusterAccessKind::store
                          : ClusterAccessKind::load;
  access.returns = is_atomic && memory.returns && !isa::is_of_mbarrier(memory.atomic) ? 1 : 0;
  access.completes = instruction.category == Category::async_store ? 1 : 0;
  access.lane_bytes =
      static_cast<std::uint8_t>(isa::is_of_mbarrier(memory.atomic) ? sizeof(isa::AtomicWord)
                                : is_atomic ? access.shape().words() * sizeof(isa::AtomicWord)
                                            : lane_bytes(memory));
  return access;
}

std::size_t RemoteAccesses::fill(std::byte* payload, const ClusterAccess& access,
                                 std::uint32_t lanes, const Parts& parts) const {
  std::byte* at = payload;
  const auto put = [&](const void* from, std::size_t bytes) {
    std::memcpy(at, from, bytes);
    at += bytes;
  };
  for (const Addresses* address : {parts.address, parts.barrier})
    if (address != nullptr)
      for_each_lane(lanes, [&](unsigned lane) {
        const std::uint32_t offset = ClusterAddress::unpack((*address)[lane]).offset;
        put(&offset, sizeof offset);
      });
  std::fill(at, payload + access.data_offset(), std::byte{});
  at = payload + access.data_offset();
  if (access.kind != ClusterAccessKind::load)
    for_each_lane(lanes, [&](unsigned lane) {
      put(parts.data + std::size_t{lane} * access.lane_bytes, access.lane_bytes);
    });
  return static_cast<std::size_t>(at - payload);
}

std::uint16_t RemoteAccesses::begin(WarpSlot slot, std::uint32_t pc, std::uint32_t lanes,
                                    bool is_store, unsigned answers) {
  const BlockPlace place(blocks_.warp(slot).block);
  const std::uint16_t index = pending_.take();
  Pending& pending = pending_[index];
  pending = {};
  pending.pc = pc;
  pending.lanes = lanes;
  pending.warp = static_cast<std::uint8_t>(slot.value());
  pending.answers = static_cast<std::uint8_t>(answers);
  if (!is_store) return index;
  pending.is_store = 1;
  pending.phase = blocks_.under_way().phase(place);
  blocks_.under_way().stores_begin(slot, place, 1);
  return index;
}

void RemoteAccesses::send(WarpSlot slot, ClusterAccess access, std::uint32_t lanes,
                          const Parts& parts, std::uint16_t flight, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const std::uint32_t own = members_.of(warp).block.rank;
  const unsigned bytes = access.kind == ClusterAccessKind::atomic
                             ? std::max(1u, access.shape().bytes())
                             : access.lane_bytes;
  std::array<std::byte, isa::warp_size*(8 + 32)> payload;
  for (std::uint32_t left = lanes; left != 0;) {
    const auto first = static_cast<unsigned>(std::countr_zero(left));
    const std::uint32_t rank = ClusterAddress::unpack((*parts.address)[first]).rank(own);
    std::uint32_t there = 0;
    for_each_lane(left, [&](unsigned lane) {
      const bool is_there = ClusterAddress::unpack((*parts.address)[lane]).rank(own) == rank;
      there |= std::uint32_t{is_there} << lane;
    });
    left &= ~there;
    access.target = static_cast<std::uint8_t>(rank);
    access.lanes = static_cast<std::uint8_t>(std::popcount(there));
    const std::size_t size = fill(payload.data(), access, there, parts);
    if (rank == own) {
      execute_here(warp, access, std::span(payload).first(size), there, now);
      continue;
    }
    std::array<std::uint32_t, isa::warp_size> offsets;
    std::memcpy(offsets.data(), payload.data(), std::size_t{4} * access.lanes);
    const std::uint32_t moved =
        access.kind == ClusterAccessKind::load
            ? 1
            : sector_bytes_of(std::span(offsets).first(access.lanes), bytes);
    access.flits = static_cast<std::uint8_t>(constants_.setup.noc.hub.flits(moved));
    access.tag = begin(slot, warp.paths.pc(), there, access.kind != ClusterAccessKind::load, 1);
    Pending& pending = pending_[access.tag];
    pending.target = access.target;
    pending.flight = flight;
    if (flight != Flights::none) flights_.expect(flight);
    std::byte* to =
        ports_.send_to_hub(MessageKind::cluster_access, access, size, access.flits, now);
    std::memcpy(to, payload.data(), size);
    front_end_.memory_gate().serve_banks(ports_.hub_cycles(access.flits), now);
    count(warp, std::uint64_t{access.lanes} * bytes);
  }
}

void RemoteAccesses::count(const Warp& warp, std::uint64_t bytes) {
  GridCounts& counts = blocks_.counts(warp.grid);
  ++counts.remote_accesses;
  counts.remote_bytes += bytes;
}

void RemoteAccesses::execute_here(const Warp& warp, const ClusterAccess& access,
                                  std::span<const std::byte> payload, std::uint32_t lanes,
                                  SmCycle now) {
  const auto refusal = service_.execute(BlockPlace(warp.block), access, payload, nullptr, now);
  if (refusal) report(warp, warp.paths.pc(), lanes, *refusal, now);
}

void RemoteAccesses::issue(WarpSlot slot, const Instruction& instruction, std::uint32_t lanes,
                           const Addresses& address, std::uint16_t flight, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const isa::WarpContext context = blocks_.context_of(warp);
  const ClusterAccess access = access_of(warp, instruction);
  alignas(16) std::array<std::byte, isa::warp_size * 32> data;
  if (isa::is_of_mbarrier(instruction.memory.atomic)) {
    const std::uint32_t* counts = context.row(instruction.source[1]);
    for_each_lane(lanes, [&](unsigned lane) {
      isa::AtomicWord word;
      std::memcpy(&word.a, counts + 2 * lane, sizeof word.a);
      std::memcpy(data.data() + sizeof word * lane, &word, sizeof word);
    });
  } else if (access.kind == ClusterAccessKind::atomic) {
    gather_atomic_operands(instruction, context, lanes, data.data());
  } else if (access.kind == ClusterAccessKind::store) {
    gather_store_data(instruction, context, lanes, data.data());
  }
  send(slot, access, lanes, {&address, nullptr, data.data()}, flight, now);
}

void RemoteAccesses::issue_async(WarpSlot slot, const Instruction& instruction, std::uint32_t lanes,
                                 SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const isa::WarpContext context = blocks_.context_of(warp);
  const std::uint32_t* row = context.row(instruction.source[0]);
  const unsigned bytes = lane_bytes(instruction.memory);
  const std::uint32_t own = members_.of(warp).block.rank;
  Addresses address{}, barrier{};
  for_each_lane(lanes, [&](unsigned lane) {
    address[lane] = row[2 * lane] + static_cast<std::uint32_t>(instruction.offset);
    barrier[lane] = row[2 * lane + 1];
    if (address[lane] % bytes != 0) [[unlikely]]
      mistakes_.user_error(warp, warp.paths.pc(), lane,
                           "misaligned access of " + std::to_string(bytes) + " bytes at " +
                               hexadecimal(address[lane]),
                           "the address is no multiple of the size");
  });
  require_right(warp, lanes, address, bytes);
  require_right(warp, lanes, barrier, isa::MbarrierWord::bytes);
  for_each_lane(lanes, [&](unsigned lane) {
    const ClusterAddress at = ClusterAddress::unpack(address[lane]);
    const ClusterAddress of_barrier = ClusterAddress::unpack(barrier[lane]);
    if (at.rank(own) != of_barrier.rank(own)) [[unlikely]]
      mistakes_.user_error(warp, warp.paths.pc(), lane,
                           "writes to the block of rank " + std::to_string(at.rank(own)) +
                               " and completes transactions of a barrier in that of rank " +
                               std::to_string(of_barrier.rank(own)),
                           "let both addresses be of one block");
    if (of_barrier.offset % isa::MbarrierWord::bytes != 0) [[unlikely]]
      mistakes_.user_error(warp, warp.paths.pc(), lane,
                           "mbarrier at " + hexadecimal(of_barrier.offset),
                           "mbarriers stand at multiples of 8 bytes");
  });
  const ClusterAccess access = access_of(warp, instruction);
  alignas(16) std::array<std::byte, isa::warp_size * 32> data;
  if (access.kind == ClusterAccessKind::atomic) {
    gather_atomic_operands(instruction, context, lanes, data.data());
  } else {
    gather_store_data(instruction, context, lanes, data.data());
  }
  send(slot, access, lanes, {&address, &barrier, data.data()}, Flights::none, now);
}

void RemoteAccesses::issue_copies(WarpSlot slot, const Instruction& instruction,
                                  std::uint32_t lanes, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const BlockSlot& block = blocks_.block_of(warp);
  const isa::WarpContext context = blocks_.context_of(warp);
  const std::uint32_t own = members_.of(warp).block.rank;
  const std::uint32_t* places = context.row(instruction.source[1]);
  const std::uint32_t* sizes = context.row(instruction.source[2]);
  LaneAddresses from;
  lane_addresses(instruction, context, lanes, from);
  const auto copy_of = [&](unsigned lane) {
    return isa::bulk_copy_of(from[lane], places, sizes, lane);
  };
  for_each_lane(lanes, [&](unsigned lane) {
    const isa::BulkCopy copy = copy_of(lane);
    const auto mistaken = [&](const std::string& what, const std::string& advice) {
      mistakes_.user_error(warp, warp.paths.pc(), lane, what, advice);
    };
    const ClusterAddress to = ClusterAddress::unpack(copy.shared);
    const ClusterAddress barrier = ClusterAddress::unpack(copy.barrier);
    if ((copy.global | to.offset | copy.bytes) % isa::BulkCopy::unit != 0)
      mistaken("bulk copy of " + std::to_string(copy.bytes) + " bytes from shared address " +
                   hexadecimal(copy.global) + " to " + hexadecimal(to.offset),
               "all three are multiples of 16");
    if (copy.global > block.shared_bytes || block.shared_bytes - copy.global < copy.bytes)
      mistaken("bulk copy of " + std::to_string(copy.bytes) + " bytes at shared address " +
                   hexadecimal(copy.global) + ", outside of the block's " +
                   std::to_string(block.shared_bytes) + " bytes",
               "an index runs over a shared array, or the launch's `shared:` is too small");
    if (to.rank(own) != barrier.rank(own) || barrier.offset % isa::MbarrierWord::bytes != 0)
      mistaken("bulk copy to the block of rank " + std::to_string(to.rank(own)) +
                   " whose mbarrier is at " + hexadecimal(barrier.offset) + " of rank " +
                   std::to_string(barrier.rank(own)),
               "let both be of one block, and the barrier at a multiple of 8 bytes");
    RemoteAccesses::Addresses address{};
    address[lane] = copy.shared;
    require_right(warp, 1u << lane, address,
                  static_cast<unsigned>(std::min<std::uint64_t>(copy.bytes, 0x7fffffff)));
    address[lane] = copy.barrier;
    require_right(warp, 1u << lane, address, isa::MbarrierWord::bytes);
  });
  for_each_lane(lanes, [&](unsigned lane) {
    const isa::BulkCopy copy = copy_of(lane);
    const ClusterAddress to = ClusterAddress::unpack(copy.shared);
    const std::byte* bytes = blocks_.shared_memory_of(block) + copy.global;
    deliver(slot, warp.paths.pc(), lane, 1u << to.rank(own), to.offset, {bytes, copy.bytes},
            static_cast<std::uint32_t>(copy.bytes), ClusterAddress::unpack(copy.barrier).offset,
            Sender::sm, now);
  });
}

void RemoteAccesses::require_ranks(const Warp& warp, unsigned lane, std::uint32_t mask) const {
  const std::uint32_t size = std::max<std::uint32_t>(1, members_.of(warp).block.size);
  if (mask != 0 && mask >> size == 0) return;
  mistakes_.user_error(warp, warp.paths.pc(), lane,
                       "the mask of ranks " + hexadecimal(mask) + " names " +
                           (mask == 0 ? "no block" : "blocks that its cluster has not") +
                           ", which has " + std::to_string(size),
                       "set bits of ranks below %cluster_nctarank");
}

/// Sends the bytes in packets of a line.  The last packet completes the transactions.
void RemoteAccesses::deliver(WarpSlot slot, std::uint32_t pc, unsigned lane, std::uint32_t mask,
                             std::uint32_t shared, std::span<const std::byte> bytes,
                             std::uint32_t completes, std::uint32_t barrier, Sender sender,
                             SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const ClusterBlocks::Member& member = members_.of(warp);
  ClusterAccess access;
  access.cluster = member.block.cluster;
  access.grid = member.block.grid;
  access.sm = static_cast<std::uint16_t>(constants_.setup.index);
  access.tenant = warp.tenant;
  access.kind = ClusterAccessKind::deliver;
  access.mask = static_cast<std::uint16_t>(mask);
  access.multicast = sender == Sender::l2 ? 1 : 0;
  const bool is_last = completes != none_yet;
  access.bytes = is_last ? completes : 0;
  const isa::MemoryFields& memory = blocks_.instruction(warp, pc).memory;
  access.atomic = memory.atomic;
  access.type = memory.type;
  std::array<std::byte, 8 + line_bytes> payload;
  std::memcpy(payload.data() + 4, &barrier, sizeof barrier);
  std::size_t done = 0;
  do {
    const std::size_t here = std::min<std::size_t>(bytes.size() - done, line_bytes);
    const auto to = static_cast<std::uint32_t>(shared + done);
    std::memcpy(payload.data(), &to, sizeof to);
    if (here != 0) std::memcpy(payload.data() + 8, bytes.data() + done, here);
    done += here;
    access.completes = is_last && done == bytes.size() ? 1 : 0;
    const auto packet = std::span(payload).first(8 + here);
    if (member.block.size <= 1) {
      const auto refusal = service_.execute(BlockPlace(warp.block), access, packet, nullptr, now);
      if (refusal) report(warp, pc, 1u << lane, *refusal, now);
      continue;
    }
    access.flits = static_cast<std::uint8_t>(constants_.setup.noc.hub.flits(here));
    access.tag = begin(slot, pc, 1u << lane, true, static_cast<unsigned>(std::popcount(mask)));
    std::byte* at = ports_.send_to_hub(MessageKind::cluster_access, access, packet.size(),
                                       access.flits, now, access.multicast != 0);
    std::memcpy(at, packet.data(), packet.size());
    count(warp, here * static_cast<unsigned>(std::popcount(mask)));
  } while (done < bytes.size());
}

void RemoteAccesses::report(const Warp& warp, std::uint32_t pc, std::uint32_t lanes,
                            const MbarrierRefusal& refusal, SmCycle now) {
  const isa::InstructionMistake mistake =
      isa::mbarrier_mistake(static_cast<isa::AtomicOperation>(refusal.operation), refusal.word,
                            refusal.count, refusal.offset);
  mistakes_.report(
      TenantId(warp.tenant),
      mistakes_.by(warp, pc, nth_lane(lanes, refusal.lane), mistake.what, mistake.advice), now);
}

void RemoteAccesses::answered(const ClusterAnswer& answer, std::span<const std::byte> payload,
                              SmCycle now) {
  const auto index = static_cast<std::uint16_t>(answer.tag);
  const Pending pending = pending_[index];
  const bool is_last = --pending_[index].answers == 0;
  if (is_last) pending_.give_back(index);
  const WarpSlot slot(pending.warp);
  const Warp& warp = blocks_.warp(slot);
  const Instruction& instruction = blocks_.instruction(warp, pending.pc);
  if (answer.status == ClusterAnswerStatus::block_has_ended) {
    mistakes_.report(
        TenantId(warp.tenant),
        mistakes_.by(warp, pending.pc, static_cast<unsigned>(std::countr_zero(pending.lanes)),
                     "accesses shared memory of the block of rank " +
                         std::to_string(pending.target) + " of its cluster, which has ended",
                     "let no block end before others are through with its shared memory: "
                     "barrier.cluster"),
        now);
  } else if (answer.status == ClusterAnswerStatus::mistaken) {
    MbarrierRefusal refusal;
    std::memcpy(&refusal, payload.data(), sizeof refusal);
    report(warp, pending.pc, pending.lanes, refusal, now);
  } else if (pending.flight != Flights::none) {
    const isa::MemoryFields& memory = instruction.memory;
    const std::size_t bytes = memory.atomic != isa::AtomicOperation::none
                                  ? 8 * atomic_shape(instruction).words()
                                  : lane_bytes(memory);
    const isa::WarpContext context = blocks_.context_of(warp);
    const std::byte* from = payload.data();
    for_each_lane(pending.lanes, [&](unsigned lane) {
      write_elements(instruction, context, lane, from);
      from += bytes;
    });
  }
  const SmCycle usable =
      now + constants_.setup.noc.hub.service_latency.count() + std::int64_t{answer.delay};
  if (pending.flight != Flights::none) flights_.answered(pending.flight, usable, now);
  if (pending.is_store == 0 || !is_last) return;
  blocks_.under_way().store_is_sent(slot);
  store_acknowledged(blocks_, front_end_, slot, BlockPlace(warp.block), pending.phase, now);
}

std::string RemoteAccesses::waiting_for() const {
  if (pending_.used() == 0) return "";
  return "; " + std::to_string(pending_.used()) +
         " accesses to shared memory of other blocks are not answered";
}

}  // namespace lockstep
