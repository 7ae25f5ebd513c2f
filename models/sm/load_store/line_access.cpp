#include "models/sm/load_store/line_access.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/noc/l2_priority_mark.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/access/line_image.hpp"
#include "models/sm/load_store/delivery.hpp"
#include "models/sm/ports/request_tag.hpp"

namespace lockstep {

namespace {

constexpr unsigned all_sectors = 0xf;

isa::L2Priority priority_of(std::uint16_t hint, std::uint64_t line) {
  return hint != isa::no_l2_hint ? isa::l2_priority(hint, line) : isa::L2Priority::unchanged;
}
/// Returns the priority of a line: that of its hint, or, for streaming accesses (.cs, .lu) without
/// a hint, to leave first.
isa::L2Priority priority_of(const isa::Instruction& instruction, std::uint64_t line) {
  if (instruction.detail != isa::no_l2_hint) return priority_of(instruction.detail, line);
  const isa::CacheOperator cache = instruction.memory.cache;
  const bool once = cache == isa::CacheOperator::cs || cache == isa::CacheOperator::lu;
  return once ? isa::L2Priority::first : isa::L2Priority::unchanged;
}

}  // namespace

inline bool LineAccess::load(const Target& target, SmCycle now) {
  const Access& access = target.access;
  L1Cache& cache = l1_.cache();
  const std::uint8_t needed = target.group.sectors;
  const std::uint16_t line = cache.find(target.tag());
  const std::uint8_t valid = line == L1Cache::none ? 0 : cache.line(line).valid;
  const auto missing = static_cast<std::uint8_t>(needed & ~valid);
  const bool hit = missing == 0 || (access.local && line != L1Cache::none &&
                                    l1_.has_all(access, target.group, line));
  if (!hit) {
    if (line != L1Cache::none && constants_.parameters.l1.recency == L1Recency::tags)
      cache.touch(line);
    return miss(target, line, missing, now);
  }
  cache.touch(line);
  ++blocks_.counts(access.grid).l1_hits;
  hand_over(target, target.group.lanes, cache.data(line));
  flights_.ready_at(access.flight, std::max(now, cache.line(line).ready) +
                                       constants_.parameters.l1.hit_latency.count());
  return true;
}

bool LineAccess::miss(const Target& target, std::uint16_t line, std::uint8_t missing, SmCycle now) {
  const Access& access = target.access;
  const SmL1Parameters& p = constants_.parameters.l1;
  const std::uint64_t tag = target.tag();
  L1Cache& cache = l1_.cache();
  MissTable& misses = l1_.misses();
  std::uint16_t miss = misses.find(tag);
  if (miss != MissTable::none && !access.local && misses[miss].epoch != cache.epoch()) {
    l1_.close_miss(miss);
    miss = MissTable::none;
  }
  const bool partly_dirty = access.local && line != L1Cache::none && l1_.has_dirty(line, missing);
  if (partly_dirty && miss != MissTable::none) {
    l1_.close_miss(miss);  // the fill was read before the write-back that follows
    miss = MissTable::none;
  }
  const std::uint8_t pending = miss == MissTable::none ? 0 : misses[miss].pending;
  auto ask = static_cast<std::uint8_t>(missing & ~pending);
  // The rest of a line comes only with a sector that somebody waits for.
  if (p.fetch == L1Fetch::line && ask != 0 && !access.local) {
    const std::uint8_t valid = line == L1Cache::none ? 0 : cache.line(line).valid;
    ask = static_cast<std::uint8_t>(all_sectors & ~valid & ~pending);
  }
  if (miss == MissTable::none ? misses.full() : misses[miss].waiters >= p.merges) return false;
  const Destination destination = destination_of(target);
  if (ask != 0 && !ports_.accepts(destination)) return false;
  if (partly_dirty) l1_.write_back(line, missing, now);
  std::uint16_t reserved = L1Cache::none;
  if (miss == MissTable::none && p.allocation == L1Allocation::on_miss) {
    reserved = line != L1Cache::none ? line : l1_.make_room(tag, access.local, now);
    if (reserved == L1Cache::none) return false;
    cache.line(reserved).reserved = true;
  }
  GridCounts& counts = blocks_.counts(access.grid);
  ++(ask != 0 ? counts.l1_misses : counts.l1_merges);
  if (missing != target.group.sectors) {
    const auto here = static_cast<std::uint8_t>(target.group.sectors & ~missing);
    hand_over(target, lanes_in_sectors(access, target.group, here), cache.data(line));
  }
  const std::uint16_t waiter = make_waiter(target, missing);
  if (miss == MissTable::none) {
    miss = misses.take({.tag = tag,
                        .epoch = cache.epoch(),
                        .line = reserved,
                        .pending = ask,
                        .open = true,
                        .local = access.local},
                       waiter);
  } else {
    misses[miss].pending |= ask;
    misses.attach(miss, waiter);
  }
  if (ask != 0)
    fill_request(ports_.send(destination, 0, now).request, target, MemoryOperation::load, ask,
                 RequestTag::make(RequestTag::fill, miss, false), now);
  return true;
}

bool LineAccess::bypass(const Target& target, SmCycle now) {
  MissTable& misses = l1_.misses();
  const bool in_bulk = target.access.is_bulk_load();
  const bool full =
      in_bulk ? misses.in_bulk() >= constants_.parameters.bulk.lines_in_flight : misses.full();
  const Destination destination = destination_of(target);
  if (full || !ports_.accepts(destination)) return false;
  const std::uint8_t sectors = target.group.sectors;
  if (!target.in_host) l1_.pass_by(target.tag(), sectors);
  const std::uint16_t miss = misses.take({.tag = target.tag(),
                                          .epoch = l1_.cache().epoch(),
                                          .pending = sectors,
                                          .in_host = target.in_host,
                                          .in_bulk = in_bulk},
                                         make_waiter(target, sectors));
  ++statistics_.tenant[target.access.tenant].l1_bypasses;
  fill_request(ports_.send(destination, 0, now).request, target, MemoryOperation::load, sectors,
               RequestTag::make(RequestTag::fill, miss, target.in_host), now);
  return true;
}

bool LineAccess::store(const Target& target, SmCycle now) {
  const Destination destination = destination_of(target);
  if (!ports_.accepts(destination)) return false;
  alignas(16) std::array<std::byte, line_bytes> image;
  const LineBytes mask = store_image(target.access, target.group, image.data());
  const std::uint8_t sectors = target.group.sectors;
  if (!target.in_host) l1_.store(target.tag(), sectors, mask, image.data(), now);
  const std::uint16_t index = add_store(target);
  ++statistics_.tenant[target.access.tenant].stores_sent;
  fill_request(ports_.send_store(destination, sectors, mask, image.data(), now), target,
               MemoryOperation::store, sectors,
               RequestTag::make(RequestTag::store, index, target.in_host), now);
  return true;
}

bool LineAccess::process(const Access& access, unsigned group, PhysicalAddress physical,
                         bool in_host, SmCycle now) {
  const Target target{access, access.group[group], physical, in_host};
  bool done;
  switch (access.kind) {
    case Access::Kind::store:
      done = access.local ? store_local(target, now) : store(target, now);
      break;
    case Access::Kind::atomic:
      done = atomic(target, now);
      break;
    default:
      done = access.bypass || in_host ? bypass(target, now) : load(target, now);
  }
  if (!done) return false;
  ++statistics_.tenant[access.tenant].l1_accesses;
  return true;
}

bool LineAccess::store_local(const Target& target, SmCycle now) {
  std::array<std::byte, line_bytes> image;
  const LineBytes mask = store_image(target.access, target.group, image.data());
  return l1_.store_local(target.tag(), target.group.sectors, mask, image.data(), now);
}

bool LineAccess::atomic(const Target& target, SmCycle now) {
  const Destination destination = destination_of(target);
  if (!ports_.accepts(destination)) return false;
  const Access& access = target.access;
  const std::uint8_t sectors = target.group.sectors;
  if (!target.in_host) l1_.pass_by(target.tag(), sectors);
  const std::uint16_t index = add_store(target);
  std::uint32_t tag = RequestTag::make(RequestTag::store, index, target.in_host);
  const std::uint16_t bulk = flights_.bulk_of(access.flight);
  const bool returns = access.flight != Flights::none && bulk == BulkLines::none;
  if (returns) {
    const std::uint16_t waiter = make_waiter(target, sectors);
    l1_.misses().waiter(waiter).store = index;
    tag = RequestTag::make(RequestTag::atomic, waiter, target.in_host);
  }
  MemoryRequest request;
  fill_request(request, target, MemoryOperation::atomic, sectors, tag, now);
  const isa::MemoryFields& memory =
      blocks_.instruction(blocks_.warp(WarpSlot(access.warp)), access.pc).memory;
  request.atomic = memory.atomic;
  request.type = memory.type;
  request.elements = memory.elements;
  if (bulk != BulkLines::none) [[unlikely]] {  // the map of a tile tells the type
    request.type = flights_.bulk_lines()->atomic_type(bulk, access.stride);
    request.elements = 1;
  }
  request.flags |= flag_bypass_l1;
  if (returns) request.flags |= flag_returns;
  std::array<AtomicLane, 32> records;
  const unsigned count = atomic_lanes(access, target.group, request.shape().words(), records);
  request.lanes = static_cast<std::uint8_t>(count);
  ++statistics_.tenant[access.tenant].atomics_sent;
  const RequestPort::Place place = ports_.send(destination, count * sizeof(AtomicLane), now);
  place.request = request;
  std::memcpy(place.payload, records.data(), count * sizeof(AtomicLane));
  return true;
}

std::uint16_t LineAccess::add_store(const Target& target) {
  const WarpSlot slot(target.access.warp);
  const Warp& warp = blocks_.warp(slot);
  blocks_.under_way().store_is_sent(slot);
  std::uint16_t bulk = BulkLines::none;
  if (target.access.flight != Flights::none) [[unlikely]]
    bulk = flights_.send_line_of_bulk(target.access.flight);
  return stores_.add({.phase = target.access.phase,
                      .entry = blocks_.block_of(warp).entry,
                      .warp = target.access.warp,
                      .grid = warp.grid,
                      .bulk = bulk,
                      .frame = frame_number(target.physical.value(), target.in_host)});
}

std::uint16_t LineAccess::make_waiter(const Target& target, std::uint8_t missing) {
  const Access& access = target.access;
  MissTable& misses = l1_.misses();
  const std::uint16_t index = misses.take_waiter();
  Waiter& waiter = misses.waiter(index);
  waiter.next = MissTable::none;
  waiter.flight = access.flight;
  waiter.lanes = access.prefetches() ? 0 : target.group.lanes;
  waiter.missing = missing;
  waiter.part = access.part;
  waiter.local = access.local;
  waiter.whole = missing == target.group.sectors;
  waiter.contiguous = access.contiguous;
  waiter.first_offset = target.group.first_offset;
  waiter.copies = access.copies();
  if (waiter.copies) [[unlikely]]
    misses.copy_target(index) = access.copy_target();
  if (!access.contiguous) misses.offsets(index) = access.offset;
  flights_.expect(access.flight);
  return index;
}

void LineAccess::hand_over(const Target& target, std::uint32_t lanes, const std::byte* line) {
  const Access& access = target.access;
  if (access.kind == Access::Kind::prefetch || lanes == 0) return;
  Delivery delivery{.lanes = lanes,
                    .first_lane = static_cast<std::uint8_t>(std::countr_zero(target.group.lanes)),
                    .first_offset = target.group.first_offset,
                    .part = access.part,
                    .local = access.local,
                    .contiguous = access.contiguous && !access.local,
                    .offsets = access.offset.data()};
  if (access.kind == Access::Kind::copy) [[unlikely]]
    delivery.copy = &access.copy_target();
  const Warp& warp = blocks_.warp(WarpSlot(access.warp));
  deliver(delivery, blocks_, warp, blocks_.instruction(warp, access.pc), line);
}

void LineAccess::fill_request(MemoryRequest& request, const Target& target,
                              MemoryOperation operation, std::uint8_t sectors, std::uint32_t tag,
                              SmCycle now) {
  const Access& access = target.access;
  request.line = target.physical.value();
  request.virtual_page = target.group.line >> 12;
  request.tag = tag;
  request.pc = access.pc;
  request.requester = static_cast<std::uint16_t>(constants_.setup.index);
  request.tenant = access.tenant;
  request.warp = access.warp;
  request.operation = operation;
  request.sectors = sectors;
  request.flags = static_cast<std::uint8_t>((access.local ? flag_local : 0) |
                                            (access.bypass ? flag_bypass_l1 : 0));
  if (ports_.marks().marks()) [[unlikely]]
    mark(request, access, now);
  statistics_.tenant[request.tenant].sectors_requested += request.sector_count();
}

void LineAccess::mark(MemoryRequest& request, const Access& access, SmCycle now) {
  ports_.marks().mark(request, now);
  if (!ports_.marks().marks_priorities() || access.local) return;
  const std::uint64_t line = request.line / line_bytes;
  if (access.kind == Access::Kind::prefetch) {  // the warp of a prefetch may have left
    mark_priority(request, priority_of(access.hint(), line));
    if ((access.hint() & isa::l2_discards) != 0) request.flags |= flag_discard;
    return;
  }
  const Warp& warp = blocks_.warp(WarpSlot(access.warp));
  mark_priority(request, priority_of(blocks_.instruction(warp, access.pc), line));
}

}  // namespace lockstep
