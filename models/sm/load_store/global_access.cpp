/// What happens to one line of a memory instruction: L1, requests.
///
/// Global data is written through: a store updates valid sectors and goes on with a byte mask.  A
/// store, atomic or bypassing access to a sector whose fill is pending closes that miss.  Loads of
/// sectors that are asked for already join the outstanding miss.
/// Source: architecture.md, section 8, rules 1 to 3, 8 and 11.
#include <algorithm>
#include <cstring>

#include "models/sm/access/lane_data.hpp"
#include "models/sm/ports/request_tag.hpp"
#include "models/sm/sm_state.hpp"

namespace lockstep {

namespace {

std::uint32_t lanes_in_sectors(const Access& access, unsigned group, std::uint8_t sectors) {
  std::uint32_t lanes = 0;
  const std::uint32_t all = access.group[group].lanes;
  unsigned offset = access.group[group].first_offset;
  for (std::uint32_t left = all; left != 0; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    if (!access.contiguous) offset = access.offset[lane];
    lanes |= std::uint32_t{(sectors >> (offset / sector_bytes)) & 1u} << lane;
    offset += access.stride;
  }
  return lanes;
}

}  // namespace

bool SmState::process_group(Access& access, std::int64_t now) {
  const unsigned group = access.next;
  std::uint64_t physical = access.group[group].line;
  if (!access.local) {
    const std::uint8_t tenant = warps[access.warp].tenant;
    if (!translation.find(Tlb::base_key(tenant, physical >> page_shift), access.writes()))
        [[unlikely]] {
      const Lookup lookup = translate(access, group, now);
      if (lookup != Lookup::found) {
        if (lookup == Lookup::wait) return false;
        ++access.next;
        return true;
      }
    }
    physical = translation.physical(physical);
    if (!process_line(access, group, physical, translation.remote(), now)) return false;
    ++statistics.tenant[tenant].tlb_hits;
  } else if (!process_line(access, group, physical, false, now)) {
    return false;
  }
  ++access.next;
  return true;
}

bool SmState::process_line(Access& access, unsigned group, std::uint64_t physical, bool in_host,
                           std::int64_t now) {
  const std::uint32_t destination = in_host ? port.host() : setup.mapping.partition(physical);
  bool done;
  switch (access.kind) {
    case Access::Kind::store:
      done = access.local ? local_store_group(access, group, physical, now)
                          : store_group(access, group, physical, destination, now);
      break;
    case Access::Kind::atomic:
      done = atomic_group(access, group, physical, destination, now);
      break;
    default:
      done = access.bypass || in_host ? bypass_group(access, group, physical, destination, now)
                                      : load_group(access, group, physical, destination, now);
  }
  if (!done) return false;
  ++statistics.tenant[warps[access.warp].tenant].l1_accesses;
  return true;
}

bool SmState::load_group(Access& access, unsigned group, std::uint64_t physical,
                         std::uint32_t destination, std::int64_t now) {
  const std::uint16_t tenant = warps[access.warp].tenant;
  const std::uint64_t tag = physical / line_bytes;
  const std::uint8_t needed = access.group[group].sectors;
  const std::uint16_t line = l1.find(tag);
  const std::uint8_t valid = line == L1Cache::none ? 0 : l1.line(line).valid;
  const auto missing = static_cast<std::uint8_t>(needed & ~valid);
  if (missing == 0 || (access.local && line != L1Cache::none && all_dirty(access, group, line))) {
    l1.touch(line);
    ++statistics.tenant[tenant].l1_hits;
    deliver(access, group, access.group[group].lanes, l1.data(line));
    Flight& flight = flights[access.flight];
    flight.ready = std::max(flight.ready,
                            std::max(now, l1.line(line).ready) + parameters.l1.hit_latency.count());
    return true;
  }

  std::uint16_t miss = misses.find(tag);
  if (miss != MissTable::none && !access.local && misses[miss].epoch != l1.epoch()) {
    close_miss(miss);
    miss = MissTable::none;
  }
  const bool partly_dirty = access.local && line != L1Cache::none && has_dirty(line, missing);
  if (partly_dirty && miss != MissTable::none) {
    close_miss(miss);  // its fill was read before the write-back that follows
    miss = MissTable::none;
  }
  const std::uint8_t pending = miss == MissTable::none ? 0 : misses[miss].pending;
  const auto ask = static_cast<std::uint8_t>(missing & ~pending);
  if (miss == MissTable::none ? misses.full() : misses[miss].waiters >= parameters.l1.merges)
    return false;
  if (ask != 0 && !port.accepts(destination)) return false;
  if (partly_dirty) write_back(line, missing, now);
  std::uint16_t reserved = L1Cache::none;
  if (miss == MissTable::none && parameters.l1.allocation == L1Allocation::on_miss) {
    reserved = line != L1Cache::none ? line : make_room(tag, access.local, now);
    if (reserved == L1Cache::none) return false;
    l1.line(reserved).reserved = true;
  }
  SmStatistics::OfTenant& counts = statistics.tenant[tenant];
  ++(ask != 0 ? counts.l1_misses : counts.l1_merges);
  if (missing != needed) {
    const auto here = static_cast<std::uint8_t>(needed & ~missing);
    deliver(access, group, lanes_in_sectors(access, group, here), l1.data(line));
  }
  const std::uint16_t waiter = make_waiter(access, group, missing);
  if (miss == MissTable::none) {
    miss = misses.take({.tag = tag,
                        .epoch = l1.epoch(),
                        .line = reserved,
                        .pending = ask,
                        .open = true,
                        .local = access.local},
                       waiter);
  } else {
    misses[miss].pending |= ask;
    misses.attach(miss, waiter);
  }
  if (ask != 0) {
    const std::uint32_t request_tag = RequestTag::make(RequestTag::fill, miss, false);
    fill_request(port.send(destination, 0, time_of(now), *outbox).request, access, group, physical,
                 MemoryOperation::load, ask, request_tag);
  }
  return true;
}

bool SmState::bypass_group(Access& access, unsigned group, std::uint64_t physical,
                           std::uint32_t destination, std::int64_t now) {
  if (misses.full() || !port.accepts(destination)) return false;
  const std::uint64_t tag = physical / line_bytes;
  const std::uint8_t sectors = access.group[group].sectors;
  const bool host = destination == port.host();
  if (!host) {
    close_pending(tag, sectors);
    const std::uint16_t line = l1.find(tag);
    if (line != L1Cache::none) l1.line(line).valid &= static_cast<std::uint8_t>(~sectors);
  }
  const std::uint16_t miss =
      misses.take({.tag = tag, .epoch = l1.epoch(), .pending = sectors, .in_host = host},
                  make_waiter(access, group, sectors));
  ++statistics.tenant[warps[access.warp].tenant].l1_bypasses;
  fill_request(port.send(destination, 0, time_of(now), *outbox).request, access, group, physical,
               MemoryOperation::load, sectors, RequestTag::make(RequestTag::fill, miss, host));
  return true;
}

bool SmState::store_group(Access& access, unsigned group, std::uint64_t physical,
                          std::uint32_t destination, std::int64_t now) {
  if (!port.accepts(destination)) return false;
  alignas(16) std::array<std::byte, line_bytes> image;
  const L1Cache::DirtyBytes mask = store_image(access, group, image.data());
  const std::uint8_t sectors = access.group[group].sectors;
  const bool host = destination == port.host();
  if (!host) store_to_l1(physical / line_bytes, sectors, mask, image.data());

  const std::uint16_t index = stores.take();
  const Warp& warp = warps[access.warp];
  stores[index] = {access.phase, access.warp, TranslationUnit::none, frame_number(physical, host)};
  ++statistics.tenant[warp.tenant].stores_sent;
  fill_request(send_store(destination, sectors, mask, image.data(), now), access, group, physical,
               MemoryOperation::store, sectors, RequestTag::make(RequestTag::store, index, host));
  return true;
}

L1Cache::DirtyBytes SmState::store_image(const Access& access, unsigned group,
                                         std::byte* image) const {
  L1Cache::DirtyBytes mask{};
  const std::uint32_t lanes = access.group[group].lanes;
  const unsigned first = static_cast<unsigned>(std::countr_zero(lanes));
  const unsigned stride = access.stride;
  if (access.contiguous) {
    const unsigned from = access.group[group].first_offset;
    const unsigned bytes = static_cast<unsigned>(std::popcount(lanes)) * stride;
    std::memcpy(image + from, access.data.data() + std::size_t{first} * stride, bytes);
    for (unsigned sector = from / 32; sector * 32 < from + bytes; ++sector) {
      const unsigned low = std::max(from, sector * 32) - sector * 32;
      const unsigned high = std::min(from + bytes, sector * 32 + 32) - sector * 32;
      mask[sector] = static_cast<std::uint32_t>((std::uint64_t{1} << high) - (1ull << low));
    }
    return mask;
  }
  const unsigned bytes = access.local ? std::min(stride, 4u) : stride;
  const auto ones = static_cast<std::uint32_t>((std::uint64_t{1} << bytes) - 1);
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    const unsigned offset = access.offset[lane];
    std::memcpy(image + offset,
                access.data.data() + std::size_t{lane} * stride + std::size_t{4} * access.part,
                bytes);
    mask[offset / 32] |= ones << (offset % 32);
  }
  return mask;
}

void SmState::store_to_l1(std::uint64_t tag, std::uint8_t sectors, const L1Cache::DirtyBytes& mask,
                          const std::byte* image) {
  close_pending(tag, sectors);
  const std::uint16_t line = l1.find(tag);
  if (line == L1Cache::none) return;
  if (parameters.l1.global_writes == L1WritePolicy::write_evict) {
    l1.line(line).valid &= static_cast<std::uint8_t>(~sectors);
    return;
  }
  merge_bytes(l1.data(line), image, mask, static_cast<std::uint8_t>(sectors & l1.line(line).valid));
}

void SmState::merge_bytes(std::byte* to, const std::byte* from, const L1Cache::DirtyBytes& mask,
                          std::uint8_t sectors) {
  for (unsigned sector = 0; sector < 4; ++sector) {
    if (!((sectors >> sector) & 1)) continue;
    std::byte* target = to + sector * sector_bytes;
    const std::byte* source = from + sector * sector_bytes;
    if (mask[sector] == 0xffffffff) {
      std::memcpy(target, source, sector_bytes);
      continue;
    }
    for (unsigned b = 0; b < sector_bytes; ++b)
      if ((mask[sector] >> b) & 1) target[b] = source[b];
  }
}

MemoryRequest& SmState::send_store(std::uint32_t destination, std::uint8_t sectors,
                                   const L1Cache::DirtyBytes& mask, const std::byte* image,
                                   std::int64_t now) {
  const auto count = static_cast<unsigned>(std::popcount(sectors));
  const RequestPort::Place place =
      port.send(destination, (4 + sector_bytes) * count, time_of(now), *outbox);
  std::byte* masks = place.payload;
  std::byte* data = place.payload + std::size_t{4} * count;
  for (unsigned rest = sectors; rest != 0; rest &= rest - 1) {
    const auto sector = static_cast<unsigned>(std::countr_zero(rest));
    std::memcpy(masks, &mask[sector], 4);
    std::memcpy(data, image + sector_bytes * sector, sector_bytes);
    masks += 4;
    data += sector_bytes;
  }
  return place.request;
}

bool SmState::atomic_group(Access& access, unsigned group, std::uint64_t physical,
                           std::uint32_t destination, std::int64_t now) {
  if (!port.accepts(destination)) return false;
  const Warp& warp = warps[access.warp];
  const std::uint8_t sectors = access.group[group].sectors;
  const bool host = destination == port.host();
  if (!host) {
    const std::uint64_t tag = physical / line_bytes;
    close_pending(tag, sectors);
    const std::uint16_t line = l1.find(tag);
    if (line != L1Cache::none) l1.line(line).valid &= static_cast<std::uint8_t>(~sectors);
  }
  const std::uint16_t index = stores.take();
  stores[index] = {access.phase, access.warp, TranslationUnit::none, frame_number(physical, host)};
  std::uint32_t tag = RequestTag::make(RequestTag::store, index, host);
  const bool returns = access.flight != SlotPool<Flight>::none;
  if (returns) {
    const std::uint16_t waiter = make_waiter(access, group, sectors);
    misses.waiter(waiter).store = index;
    tag = RequestTag::make(RequestTag::atomic, waiter, host);
  }
  MemoryRequest request;
  fill_request(request, access, group, physical, MemoryOperation::atomic, sectors, tag);
  const isa::MemoryFields& memory = grids[warp.grid].instructions[access.pc].memory;
  request.atomic = memory.atomic;
  request.type = memory.type;
  request.elements = memory.elements;
  request.flags |= flag_bypass_l1;
  if (returns) request.flags |= flag_returns;
  const unsigned words = request.shape().words();
  std::array<AtomicLane, 32> records;
  unsigned count = 0, next_offset = access.group[group].first_offset;
  for (std::uint32_t left = access.group[group].lanes; left != 0; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    const unsigned offset = access.contiguous ? next_offset : access.offset[lane];
    next_offset += access.stride;
    for (unsigned w = 0; w < words; ++w) {
      AtomicLane& record = records[count++];
      record = {};
      std::memcpy(&record.operands,
                  access.data.data() + (lane * words + w) * sizeof record.operands,
                  sizeof record.operands);
      record.offset = static_cast<std::uint8_t>(offset + 8 * w);
      record.lane = static_cast<std::uint8_t>(lane);
    }
  }
  request.lanes = static_cast<std::uint8_t>(count);
  ++statistics.tenant[warp.tenant].atomics_sent;
  const RequestPort::Place place =
      port.send(destination, count * sizeof(AtomicLane), time_of(now), *outbox);
  place.request = request;
  std::memcpy(place.payload, records.data(), count * sizeof(AtomicLane));
  return true;
}

void SmState::close_pending(std::uint64_t tag, std::uint8_t sectors) {
  const std::uint16_t miss = misses.find(tag);
  if (miss != MissTable::none && (misses[miss].pending & sectors) != 0) close_miss(miss);
}

void SmState::close_miss(std::uint16_t index) {
  Miss& miss = misses[index];
  misses.close(index);
  if (miss.line != L1Cache::none) l1.line(miss.line).reserved = false;
  miss.line = L1Cache::none;
}

std::uint16_t SmState::make_waiter(const Access& access, unsigned group, std::uint8_t missing) {
  const std::uint16_t index = misses.take_waiter();
  Waiter& waiter = misses.waiter(index);
  waiter.next = MissTable::none;
  waiter.flight = access.flight;
  waiter.lanes = access.kind == Access::Kind::prefetch ? 0 : access.group[group].lanes;
  waiter.missing = missing;
  waiter.part = access.part;
  waiter.local = access.local;
  waiter.whole = missing == access.group[group].sectors;
  waiter.contiguous = access.contiguous;
  waiter.first_offset = access.group[group].first_offset;
  if (!access.contiguous) misses.offsets(index) = access.offset;
  ++flights[access.flight].outstanding;
  return index;
}

void SmState::deliver(const Access& access, unsigned group, std::uint32_t lanes,
                      const std::byte* line) {
  if (access.kind == Access::Kind::prefetch || lanes == 0) return;
  const Warp& warp = warps[access.warp];
  const isa::Instruction& instruction = grids[warp.grid].instructions[access.pc];
  if (access.local) {
    scatter_part(instruction, context_of(warp), lanes, line, access.offset.data(), access.part);
  } else if (access.contiguous) {
    const int first = std::countr_zero(access.group[group].lanes);
    const int skipped = std::countr_zero(lanes) - first;
    scatter_contiguous(instruction, context_of(warp), lanes,
                       line + access.group[group].first_offset + skipped * access.stride);
  } else {
    scatter_load(instruction, context_of(warp), lanes, line, access.offset.data());
  }
}

void SmState::fill_request(MemoryRequest& request, const Access& access, unsigned group,
                           std::uint64_t physical, MemoryOperation operation, std::uint8_t sectors,
                           std::uint32_t tag) {
  request.line = physical;
  request.virtual_page = access.group[group].line >> 12;
  request.tag = tag;
  request.pc = access.pc;
  request.requester = static_cast<std::uint16_t>(setup.index);
  request.tenant = warps[access.warp].tenant;
  request.warp = access.warp;
  request.operation = operation;
  request.sectors = sectors;
  request.flags = static_cast<std::uint8_t>((access.local ? flag_local : 0) |
                                            (access.bypass ? flag_bypass_l1 : 0));
  statistics.tenant[request.tenant].sectors_requested += request.sector_count();
}

}  // namespace lockstep
