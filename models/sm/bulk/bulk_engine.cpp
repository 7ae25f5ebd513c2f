#include "models/sm/bulk/bulk_engine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "models/isa/atomic.hpp"
#include "models/isa/bulk/reduction.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/sm/access/lane_data.hpp"

namespace lockstep {

using isa::Instruction;
using isa::ir::BulkGroupStep;

BulkEngine::BulkEngine(const SmContext& sm, FrontEnd& front_end, Translation& translation,
                       LineAccess& lines, Flights& flights, Transactions& transactions,
                       Deliveries& deliveries)
    : constants_(sm.constants),
      blocks_(sm.blocks),
      mistakes_(sm.mistakes),
      front_end_(front_end),
      translation_(translation),
      lines_(lines),
      flights_(flights),
      transactions_(transactions),
      deliveries_(deliveries),
      checks_(sm.blocks, sm.mistakes),
      groups_(sm.constants.parameters.warps),
      maps_(sm.constants.parameters.bulk.map_entries) {
  flights.tell_of_bulk_copies(*this);
}

bool BulkEngine::has_room_for(WarpSlot slot) {
  if (queue_.size() < constants_.parameters.bulk.queue) return true;
  wait_for_room_ |= bit_of(slot);
  return false;
}

bool BulkEngine::is_through(WarpSlot slot, const Instruction& instruction) {
  const bool reads_only =
      instruction.detail == static_cast<std::uint16_t>(BulkGroupStep::wait_read);
  return groups_.is_through(slot, entry_of(slot), instruction.target, reads_only);
}

void BulkEngine::begin(WarpSlot slot, const Instruction& instruction, const IssueRecord& record,
                       std::uint32_t active, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const isa::WarpContext context = blocks_.context_of(warp);
  const isa::BulkCopyForm form = isa::BulkCopyForm::unpack(instruction.target);
  LaneAddresses address;
  lane_addresses(instruction, context, active, address);
  if (form.rank != 0) return begin_tiles(slot, instruction, record, active, address, now);
  const std::uint32_t* places = context.row(instruction.source[1]);
  const std::uint32_t* bytes = context.row(instruction.source[2]);
  const std::uint32_t* masks =
      form.multicast ? context.row(instruction.source[isa::ranks_place(form).source]) : nullptr;
  isa::for_each_lane(active, [&](unsigned lane) {
    checks_.require_right(warp, form.step, isa::bulk_copy_of(address[lane], places, bytes, lane),
                          lane);
    if (masks != nullptr) deliveries_.require_ranks(warp, lane, masks[2 * lane]);
  });
  isa::for_each_lane(active, [&](unsigned lane) {
    enter_bytes(slot, instruction, record, isa::bulk_copy_of(address[lane], places, bytes, lane),
                lane, masks != nullptr ? masks[2 * lane] : 0, now);
  });
}

std::uint16_t BulkEngine::enter(WarpSlot slot, const Instruction& instruction,
                                const IssueRecord& record, unsigned lane, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const std::uint16_t index = copies_.take();
  Copy& copy = copies_[index];
  copy = {};
  copy.pc = warp.paths.pc();
  copy.entry = blocks_.block_of(warp).entry;
  copy.ready = now + constants_.parameters.bulk.start_latency.count();
  copy.step = isa::BulkCopyForm::unpack(instruction.target).step;
  copy.operation = instruction.memory.atomic;
  copy.element = instruction.memory.type;
  copy.warp = static_cast<std::uint8_t>(slot.value());
  copy.lane = static_cast<std::uint8_t>(lane);
  copy.tenant = warp.tenant;
  copy.grid = warp.grid;
  copy.flight = flights_.begin_bulk(slot, copy.pc, record, index);
  if (copy.writes()) copy.group = groups_.begin(slot, copy.entry);
  blocks_.under_way().flight_begins(slot);  // ends with the copy, not with the copy's lines
  ++blocks_.counts(copy.grid).bulk_copies;
  queue_.push(index);
  return index;
}

void BulkEngine::enter_bytes(WarpSlot slot, const Instruction& instruction,
                             const IssueRecord& record, const isa::BulkCopy& given, unsigned lane,
                             std::uint32_t mask, SmCycle now) {
  Copy& copy = copies_[enter(slot, instruction, record, lane, now)];
  copy.mask = static_cast<std::uint16_t>(mask);
  copy.global = given.global;
  copy.shared = given.shared;
  copy.barrier = given.barrier;
  copy.bytes = static_cast<std::uint32_t>(given.bytes);
  // Lines are counted here, whatever becomes of them: a line may be sent more than once.
  const std::uint64_t end = copy.global + copy.bytes + line_bytes - 1;
  GridCounts& counts = blocks_.counts(copy.grid);
  if (copy.bytes != 0) counts.bulk_lines += end / line_bytes - copy.global / line_bytes;
  counts.bulk_bytes += copy.bytes;
  if (copy.step == Step::load) counts.async_copy_bytes += copy.bytes;
  wake_ = std::min(wake_, std::max(copy.ready, now + 1));
}

void BulkEngine::advance(SmCycle now) {
  land(now);
  const SmCycle next = stalled_ ? no_cycle : send_lines(now);
  wake_ = next;
  for (const Landed& landed : landed_) wake_ = std::min(wake_, landed.when);
}

SmCycle BulkEngine::send_lines(SmCycle now) {
  const SmBulkParameters& p = constants_.parameters.bulk;
  if (line_cycle_ != now) {
    line_cycle_ = now;
    lines_sent_ = 0;
  }
  while (!again_.empty() || !queue_.empty()) {
    if (lines_sent_ >= p.lines_per_cycle) return now + 1;
    if (!again_.empty()) {
      const std::uint16_t first = again_.front();
      Access& line = held_[first];
      if (!send(line, now)) return no_cycle;
      const std::uint16_t flight = line.flight;
      again_.erase(again_.begin());
      held_.give_back(first);
      flights_.answered(flight, SmCycle{}, now);  // the line counts as answered: it was kept
      continue;
    }
    const std::uint16_t first = queue_.front();
    Copy& copy = copies_[first];
    if (!copy.started) {
      const SmCycle start = std::max(copy.ready, next_start_);
      if (start > now) return start;
    }
    if (copy.map_state != MapState::known) {
      if (!fetch_map(first, now)) return no_cycle;
      continue;  // the line may be usable later
    }
    if (copy.flight == Flights::none)
      copy.flight = flights_.begin_bulk(slot_of(copy), copy.pc,
                                        blocks_.warp(slot_of(copy)).records[copy.pc], first);
    if (copy.next < copy.bytes) {
      const std::uint32_t bytes = make_line(first);
      if (line_.active != 0) {
        if (!send(line_, now)) return no_cycle;
        if (!copy.started) next_start_ = now + p.start_interval.count();
        copy.started = true;
      }
      copy.next += bytes;
    }
    if (copy.next == copy.bytes) leave_queue(now);
  }
  return no_cycle;
}

void BulkEngine::leave_queue(SmCycle now) {
  const std::uint16_t flight = copies_[queue_.front()].flight;
  if (tile_of_ == queue_.front()) tile_of_ = BulkLines::none;
  queue_.pop();
  flights_.answered(flight, SmCycle{}, now);
  for_each_warp(std::exchange(wait_for_room_, 0), [&](WarpSlot slot) { tell(slot, now); });
}

std::uint32_t BulkEngine::make_line(std::uint16_t index) {
  return copies_[index].rank != 0 ? make_line_of_tile(index) : make_line_of_bytes(copies_[index]);
}

std::uint32_t BulkEngine::make_line_of_bytes(const Copy& copy) {
  constexpr unsigned unit = isa::BulkCopy::unit;
  const std::uint64_t global = copy.global + copy.next;
  const std::uint32_t shared = copy.shared + copy.next;
  const auto bytes = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(copy.bytes - copy.next, line_bytes - global % line_bytes));
  const unsigned units = bytes / unit;
  if (copy.writes()) {
    const std::byte* from =
        blocks_.shared_memory_of(blocks_.block_of(blocks_.warp(slot_of(copy)))) + shared;
    const std::uint32_t fit = begin_writing(copy, global, copy.next, bytes);
    write_operands(copy, 0, from, fit);
    return fit;
  }
  begin_line(copy, copy.step == Step::load ? Access::Kind::bulk_load : Access::Kind::bulk_prefetch,
             global, bytes);
  line_.active = line_.group[0].lanes = (1u << units) - 1;
  CopyTarget target;
  for (unsigned lane = 0; lane < units; ++lane) {
    target.to[lane] = shared + lane * unit;
    target.bytes[lane] = unit;
  }
  line_.set(target);
  return bytes;
}

/// The lanes are as wide as the address and size of the written bytes allow.
std::uint32_t BulkEngine::begin_writing(const Copy& copy, std::uint64_t global,
                                        std::uint32_t position, std::uint32_t bytes) {
  std::uint64_t place = global | position | bytes;
  if (copy.step == Step::reduce) {
    place = isa::bytes_of(isa::atomic_type(copy.element, place));
  } else {
    place = global | bytes | isa::BulkCopy::unit;
  }
  const auto stride = static_cast<std::uint32_t>(place & -place);
  bytes = std::min<std::uint32_t>(bytes, isa::warp_size * stride);
  begin_line(copy, copy.step == Step::reduce ? Access::Kind::atomic : Access::Kind::store, global,
             bytes);
  line_.stride = static_cast<std::uint8_t>(stride);
  line_.active = line_.group[0].lanes =
      static_cast<std::uint32_t>((std::uint64_t{1} << bytes / stride) - 1);
  return bytes;
}

/// Stores carry the bytes as they are, atomics a word for each lane.
void BulkEngine::write_operands(const Copy& copy, std::uint32_t at, const std::byte* from,
                                std::uint32_t bytes) {
  if (copy.step == Step::store) {
    std::memcpy(line_.data.data() + at, from, bytes);
    return;
  }
  for (std::uint32_t b = 0; b < bytes; b += line_.stride) {
    isa::AtomicWord word;
    std::memcpy(&word.a, from + b, line_.stride);
    std::memcpy(line_.data.data() + (at + b) / line_.stride * sizeof word, &word, sizeof word);
  }
}

isa::Type BulkEngine::atomic_type(std::uint16_t copy, unsigned bytes) const {
  return isa::atomic_type(copies_[copy].element, bytes);
}

void BulkEngine::begin_line(const Copy& copy, Access::Kind kind, std::uint64_t global,
                            unsigned bytes) {
  const auto first = static_cast<std::uint8_t>(global % line_bytes);
  line_.kind = kind;
  line_.local = false;
  line_.bypass = kind != Access::Kind::store;
  line_.contiguous = true;
  line_.warp = copy.warp;
  line_.stride = isa::BulkCopy::unit;
  line_.groups = 1;
  line_.next = line_.part = 0;
  line_.parts = 1;
  line_.flight = copy.flight;
  line_.parked = ParkedPages::none;
  line_.tenant = copy.tenant;
  line_.grid = copy.grid;
  line_.pc = copy.pc;
  line_.member = FaultableAccesses::none;
  LineGroup& group = line_.group[0];
  group.line = global - first;
  group.first_offset = first;
  const unsigned last_sector = (first + bytes - 1) / sector_bytes;
  group.sectors = static_cast<std::uint8_t>((2u << last_sector) - (1u << first / sector_bytes));
}

bool BulkEngine::send(Access& line, SmCycle now) {
  const WarpSlot slot(line.warp);
  const BlockPlace place(blocks_.warp(slot).block);
  line.phase = blocks_.under_way().phase(place);
  if (line.writes()) blocks_.under_way().stores_begin(slot, place, 1);
  stalled_ = translation_.blocked() || !send_unless_kept(line, now);
  if (!stalled_) {
    ++lines_sent_;
  } else if (line.writes()) {
    blocks_.under_way().stores_are_dropped(slot, place, line.phase, 1);
  }
  return !stalled_;
}

bool BulkEngine::send_unless_kept(Access& line, SmCycle now) {
  const VirtualAddress at(line.group[0].line);
  SmCycle leaves = now;
  if (!translation_.find(TenantId(line.tenant), at, line.writes())) {
    switch (translation_.look_up(line, 0, now)) {
      case Translation::Lookup::wait:
        return false;
      case Translation::Lookup::parked:
        // The flight also waits for the line's last check.
        flights_.expect(line.flight);
        if (translation_.release(std::exchange(line.parked, ParkedPages::none)))
          flights_.answered(line.flight, SmCycle{}, now);
        return true;
      case Translation::Lookup::refused:
        if (!line.prefetches()) line_refused(flights_[line.flight].bulk, line, now);
        return true;
      case Translation::Lookup::found_behind:
        leaves = now + constants_.setup.vm.gpc_tlb.latency.count();
        break;
      case Translation::Lookup::found:
        break;
    }
  }
  if (!lines_.process(line, 0, translation_.physical(at), translation_.remote(), leaves))
    return false;
  ++blocks_.counts(line.grid).l1_tlb_hits;
  return true;
}

/// Ends the store of a refused line: it is not under way any more, as with a squashed line.
void BulkEngine::line_refused(std::uint16_t copy, const Access& line, SmCycle) {
  if (line.writes()) {
    const WarpSlot slot(line.warp);
    blocks_.under_way().stores_are_dropped(slot, BlockPlace(blocks_.warp(slot).block), line.phase,
                                           1);
  }
  flights_.expect(copies_[copy].flight);
  const std::uint16_t place = held_.take();
  held_[place].take_global(line);
  held_[place].parked = ParkedPages::none;
  const VirtualPage page = page_of(VirtualAddress(line.group[0].line));
  kept_.push_back({place, TlbKey::base({TenantId(line.tenant), page})});
}

bool BulkEngine::page_came(TlbKey page, SmCycle now) {
  const auto first = std::stable_partition(kept_.begin(), kept_.end(),
                                           [&](const KeptLine& kept) { return kept.page != page; });
  if (first == kept_.end()) return false;
  for (auto kept = first; kept != kept_.end(); ++kept) again_.push_back(kept->line);
  kept_.erase(first, kept_.end());
  wake_ = std::min(wake_, now + 1);
  return true;
}

std::uint64_t BulkEngine::waiting_warps() const {
  std::uint64_t warps = 0;
  for (const KeptLine& kept : kept_) warps |= bit_of(WarpSlot(held_[kept.line].warp));
  return warps;
}

void BulkEngine::all_lines_done(std::uint16_t index, SmCycle usable, SmCycle now) {
  Copy& copy = copies_[index];
  if (copy.map_state == MapState::asked && !copy.failed) return map_came(index, usable, now);
  copy.lines_done = true;
  if (copy.step == Step::load) {
    landed_.push_back({usable, index});
    wake_ = std::min(wake_, usable);
    return;
  }
  const WarpSlot slot = slot_of(copy);
  if (copy.step == Step::prefetch) {
    copies_.give_back(index);
  } else {
    groups_.read(slot, copy.entry, copy.group);
    tell(slot, now);
    end_if_written(index, now);
  }
  end_flight(slot, now);
}

void BulkEngine::land(SmCycle now) {
  const auto first = std::stable_partition(landed_.begin(), landed_.end(),
                                           [&](const auto& landed) { return landed.when > now; });
  const std::vector<Landed> due(first, landed_.end());
  landed_.erase(first, landed_.end());
  for (const Landed& landed : due) {
    const Copy copy = copies_[landed.copy];
    if (copy.mask != 0) {
      const auto rest = rooms_.rest(landed.copy, copy.shared, copy.shared + copy.bytes);
      for (std::size_t i = 0; i < rest.size() && !copy.failed; ++i)
        forward(landed.copy, rest[i], i + 1 < rest.size() ? Deliveries::none_yet : copy.bytes, now);
      rooms_.close(landed.copy);
    } else if (!copy.failed) {
      transactions_.complete(slot_of(copy), copy.pc, copy.lane, copy.barrier, copy.bytes, now);
    }
    copies_.give_back(landed.copy);
    end_flight(slot_of(copy), now);
  }
}

void BulkEngine::bytes_came(std::uint16_t index, const CopyTarget& target, std::uint32_t lanes,
                            SmCycle now) {
  const Copy& copy = copies_[index];
  if (copy.mask == 0 || copy.map_state != MapState::known || copy.failed) return;
  for (const DeliveryRooms::Run& run : rooms_.came(index, target, lanes))
    forward(index, run, Deliveries::none_yet, now);
}

void BulkEngine::forward(std::uint16_t index, DeliveryRooms::Run run, std::uint32_t completes,
                         SmCycle now) {
  const Copy& copy = copies_[index];
  deliveries_.deliver(slot_of(copy), copy.pc, copy.lane, copy.mask, run.begin,
                      {rooms_.bytes(index) + run.begin, run.end - run.begin}, completes,
                      copy.barrier, Sender::l2, now);
}

void BulkEngine::line_acknowledged(std::uint16_t copy, SmCycle now) {
  --copies_[copy].unacknowledged;
  end_if_written(copy, now);
}

void BulkEngine::end_if_written(std::uint16_t index, SmCycle now) {
  const Copy& copy = copies_[index];
  if (!copy.lines_done || copy.unacknowledged != 0) return;
  groups_.written(slot_of(copy), copy.entry, copy.group);
  tell(slot_of(copy), now);
  copies_.give_back(index);
}

void BulkEngine::end_flight(WarpSlot slot, SmCycle now) {
  if (blocks_.under_way().flight_ends(slot)) front_end_.request_answered(slot, now);
}

void BulkEngine::tell(WarpSlot slot, SmCycle now) {
  if ((front_end_.waiting(StallCause::async_copy) & bit_of(slot)) != 0)
    front_end_.tell_at(slot, WarpEvent::copies_came, now + 1);
}

void BulkEngine::drop_tenant(TenantId tenant, SmCycle now) {
  std::vector<std::uint16_t> flights;  // flights that wait for one answer less
  std::vector<std::uint16_t> without_flight;
  const auto drops = [&](std::uint16_t line) {
    if (held_[line].tenant != tenant.value()) return false;
    flights.push_back(held_[line].flight);
    held_.give_back(line);
    return true;
  };
  std::erase_if(kept_, [&](const KeptLine& kept) { return drops(kept.line); });
  std::erase_if(again_, drops);
  for (std::size_t left = queue_.size(); left > 0; --left) {
    const std::uint16_t copy = queue_.front();
    queue_.pop();
    if (copies_[copy].tenant == tenant.value()) {
      // A copy whose map is on its way ends when the map has come.
      copies_[copy].failed = copies_[copy].map_state != MapState::known;
      if (copies_[copy].flight == Flights::none) {
        without_flight.push_back(copy);
      } else if (copies_[copy].map_state != MapState::asked) {
        flights.push_back(copies_[copy].flight);
      }
    } else {
      queue_.push(copy);
    }
  }
  for (const std::uint16_t flight : flights) flights_.answered(flight, SmCycle{}, now);
  for (const std::uint16_t copy : without_flight) all_lines_done(copy, now, now);
  for_each_warp(std::exchange(wait_for_room_, 0), [&](WarpSlot slot) { tell(slot, now); });
  stalled_ = false;
  tile_of_ = BulkLines::none;
  wake_ = std::min(wake_, now + 1);
}

std::string BulkEngine::waiting_for() const {
  if (copies_.used() == 0) return "";
  return "; " + std::to_string(copies_.used()) + " bulk copies under way";
}

void BulkEngine::serialize(Archive& archive) {
  archive.section("sm/bulk", 4);
  archive(copies_, queue_, held_, kept_, again_, landed_, groups_, wake_, next_start_, line_cycle_,
          lines_sent_, wait_for_room_, stalled_, maps_, rooms_);
  if (!archive.is_saving()) tile_of_ = BulkLines::none;
}

}  // namespace lockstep
