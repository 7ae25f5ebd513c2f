#include "models/vm/gmmu/table_memory.hpp"

#include <cstring>

#include "models/isa/types.hpp"

namespace lockstep {

namespace {

AtomicLane lane_at(PhysicalAddress place, std::uint64_t operand, std::uint32_t number) {
  AtomicLane lane;
  lane.operands.a = operand;
  lane.offset = static_cast<std::uint8_t>(place.value() % line_bytes);
  lane.lane = static_cast<std::uint8_t>(number);
  return lane;
}

MemoryRequest request_for(TenantId tenant, MemoryOperation operation, isa::AtomicOperation atomic) {
  MemoryRequest request;
  request.source = SourceKind::gmmu;
  request.tenant = tenant.value();
  request.operation = operation;
  request.atomic = atomic;
  if (operation == MemoryOperation::atomic) request.type = isa::Type::b64;
  return request;
}

}  // namespace

void TableMemory::read(std::uint32_t asker, TenantPage where, unsigned level, PhysicalAddress entry,
                       GmmuCycle& cycle) {
  MemoryRequest request =
      request_for(where.tenant, MemoryOperation::load, isa::AtomicOperation::none);
  request.virtual_page = where.page.value();
  request.walk_level = static_cast<std::uint8_t>(level);
  request.sectors = static_cast<std::uint8_t>(1u << entry.value() % line_bytes / sector_bytes);
  send(request, Purpose::walk, asker, entry, {}, cycle);
}

void TableMemory::set_bits(TenantId tenant, PhysicalAddress entry, std::uint64_t bits,
                           GmmuCycle& cycle) {
  MemoryRequest request =
      request_for(tenant, MemoryOperation::atomic, isa::AtomicOperation::logical_or);
  const AtomicLane lane = lane_at(entry, bits, 0);
  send(request, Purpose::set_bits, 0, entry, {&lane, 1}, cycle);
}

void TableMemory::disable(TenantId tenant, PhysicalAddress table, GmmuCycle& cycle) {
  std::array<AtomicLane, entries_per_line> lanes;
  for (std::uint64_t at = 0; at < page_bytes; at += line_bytes) {
    for (std::uint32_t i = 0; i < entries_per_line; ++i)
      lanes[i] = lane_at(table + at + i * sizeof(std::uint64_t), PageTableEntry::disabled, i);
    MemoryRequest request =
        request_for(tenant, MemoryOperation::atomic, isa::AtomicOperation::logical_or);
    send(request, Purpose::set_bits, 0, table + at, lanes, cycle);
  }
}

void TableMemory::clear_bits(std::uint32_t asker, TenantId tenant, PhysicalAddress entry,
                             std::uint64_t bits, GmmuCycle& cycle) {
  MemoryRequest request =
      request_for(tenant, MemoryOperation::atomic, isa::AtomicOperation::logical_and);
  const AtomicLane lane = lane_at(entry, ~bits, 0);
  send(request, Purpose::clear_bits, asker, entry, {&lane, 1}, cycle);
}

void TableMemory::exchange(std::uint32_t asker, TenantId tenant, PhysicalAddress first,
                           std::uint32_t count, GmmuCycle& cycle) {
  MemoryRequest request = request_for(tenant, MemoryOperation::atomic, isa::AtomicOperation::exch);
  request.flags = flag_returns;
  std::array<AtomicLane, entries_per_line> lanes;
  for (std::uint32_t i = 0; i < count; ++i)
    lanes[i] = lane_at(first + i * sizeof(std::uint64_t), 0, i);
  send(request, Purpose::exchange, asker, first, {lanes.data(), count}, cycle);
}

void TableMemory::swap(std::uint32_t asker, TenantId tenant, PhysicalAddress first,
                       std::uint16_t wanted, const GranuleFrames& frames, GmmuCycle& cycle) {
  MemoryRequest request = request_for(tenant, MemoryOperation::atomic, isa::AtomicOperation::cas);
  request.flags = flag_returns;
  std::array<AtomicLane, pages_per_block> lanes;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < pages_per_block; ++i) {
    if (!(wanted >> i & 1)) continue;
    lanes[count] = lane_at(first + i * sizeof(std::uint64_t), PageTableEntry::untouched, i);
    lanes[count++].operands.b = granule_entry(frames[i]).bits;
  }
  send(request, Purpose::swap, asker, first, {lanes.data(), count}, cycle);
}

void TableMemory::send(MemoryRequest& request, Purpose purpose, std::uint32_t asker,
                       PhysicalAddress place, std::span<const AtomicLane> lanes, GmmuCycle& cycle) {
  request.line = place.value() / line_bytes * line_bytes;
  request.tag = static_cast<std::uint32_t>(purpose) << asker_bits | asker;
  request.lanes = static_cast<std::uint8_t>(lanes.size());
  for (const AtomicLane& lane : lanes)
    request.sectors |= static_cast<std::uint8_t>(1u << lane.offset / sector_bytes);
  ++in_flight_;
  cycle.outbox.send(to_partitions_[mapping_.partition(PhysicalAddress{request.line}).value()],
                    cycle.now, kind_of(MessageKind::memory_request), request, std::as_bytes(lanes));
}

PageTableEntry TableMemory::entry_in(const std::byte* sector, PhysicalAddress place) {
  PageTableEntry entry;
  std::memcpy(&entry.bits, sector + place.value() % sector_bytes, sizeof entry.bits);
  return entry;
}

void TableMemory::serialize(Archive& archive) {
  for (Link& link : to_partitions_) archive(link);
  archive(in_flight_);
}

}  // namespace lockstep
