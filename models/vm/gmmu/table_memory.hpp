/// The GMMU's access to page tables in memory: reads of walks, and atomics on entries.
///
/// All accesses go through L2 and DRAM like the SMs' requests.  Accesses to one entry arrive in the
/// order of sending, since a line has one partition: a read sent after an exchange sees the result
/// of the exchange.
/// Source: memory-interference.md, section 5.3.1 (reads of a walk); architecture.md, section 8,
/// rule 7 (exchange).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/engine/link.hpp"
#include "models/noc/address_mapping.hpp"
#include "models/noc/messages.hpp"
#include "models/vm/gmmu/gmmu_cycle.hpp"
#include "models/vm/local_handling.hpp"
#include "models/vm/tenant_page.hpp"

namespace lockstep {

class TableMemory {
 public:
  static constexpr std::uint32_t entries_per_line = line_bytes / sizeof(std::uint64_t);
  static constexpr unsigned asker_bits = 29;

  /// Purpose of an answer: the upper bits of its tag.  The rest of the tag belongs to the
  /// requester.
  enum class Purpose : std::uint8_t { walk, set_bits, exchange, clear_bits, swap };
  static Purpose purpose_of(std::uint32_t tag) { return static_cast<Purpose>(tag >> asker_bits); }
  static std::uint32_t asker_of(std::uint32_t tag) { return tag & ((1u << asker_bits) - 1); }

  TableMemory(const AddressMapping& mapping, std::vector<Link> to_partitions)
      : mapping_(mapping), to_partitions_(std::move(to_partitions)) {}

  void read(std::uint32_t asker, TenantPage where, unsigned level, PhysicalAddress entry,
            GmmuCycle& cycle);
  void set_bits(TenantId tenant, PhysicalAddress entry, std::uint64_t bits, GmmuCycle& cycle);
  /// Marks all entries of a table as disabled, a line at a time.
  void disable(TenantId tenant, PhysicalAddress table, GmmuCycle& cycle);
  void clear_bits(std::uint32_t asker, TenantId tenant, PhysicalAddress entry, std::uint64_t bits,
                  GmmuCycle& cycle);
  /// Exchanges `count` entries of one line with 0. The answer carries the old entries.
  void exchange(std::uint32_t asker, TenantId tenant, PhysicalAddress first, std::uint32_t count,
                GmmuCycle& cycle);
  /// Writes the frames of a granule, whose entries begin at `first`, into untouched entries with
  /// their bit set in `wanted`. The answer carries the old entries.
  void swap(std::uint32_t asker, TenantId tenant, PhysicalAddress first, std::uint16_t wanted,
            const GranuleFrames& frames, GmmuCycle& cycle);
  /// Counts an answer; every one must be told here.
  void answered() { --in_flight_; }
  std::uint64_t in_flight() const { return in_flight_; }

  /// Returns the entry at `place` in the sector that a read brought.
  static PageTableEntry entry_in(const std::byte* sector, PhysicalAddress place);

  void serialize(Archive& archive);

 private:
  void send(MemoryRequest& request, Purpose purpose, std::uint32_t asker, PhysicalAddress place,
            std::span<const AtomicLane> lanes, GmmuCycle& cycle);

  const AddressMapping mapping_;
  std::vector<Link> to_partitions_;
  std::uint64_t in_flight_ = 0;
};

}  // namespace lockstep
