#include "models/sm/bulk/bulk_engine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "models/isa/lane_mask.hpp"
#include "models/sm/access/lane_data.hpp"

namespace lockstep {

using isa::Instruction;
using isa::ir::BulkGroupStep;

BulkEngine::BulkEngine(const SmContext& sm, FrontEnd& front_end, Translation& translation,
                       LineAccess& lines, Flights& flights, Transactions& transactions)
    : constants_(sm.constants),
      statistics_(sm.statistics),
      blocks_(sm.blocks),
      mistakes_(sm.mistakes),
      front_end_(front_end),
      translation_(translation),
      lines_(lines),
      flights_(flights),
      transactions_(transactions),
      groups_(sm.constants.parameters.warps) {
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
  const auto step = static_cast<Step>(instruction.detail);
  const std::uint32_t* places = context.row(instruction.source[1]);
  const std::uint32_t* bytes = context.row(instruction.source[2]);
  LaneAddresses address;
  lane_addresses(instruction, context, active, address);
  isa::for_each_lane(active, [&](unsigned lane) {
    require_right(warp, step, isa::bulk_copy_of(address[lane], places, bytes, lane), lane);
  });
  isa::for_each_lane(active, [&](unsigned lane) {
    enter(slot, record, step, isa::bulk_copy_of(address[lane], places, bytes, lane), lane, now);
  });
}

void BulkEngine::require_right(const Warp& warp, Step step, const isa::BulkCopy& copy,
                               unsigned lane) {
  const std::uint32_t pc = warp.paths.pc();
  const BlockSlot& block = blocks_.block_of(warp);
  if (const isa::MbarrierMistake mistake = isa::bulk_copy_mistake(step, copy, block.shared_bytes))
    mistakes_.user_error(warp, pc, lane, mistake.what, mistake.advice);
  if (step == Step::prefetch || copy.bytes == 0) return;
  GridSlot& grid = blocks_.grid_of(warp);
  if (grid.holds(pc, copy.global, copy.bytes)) return;
  if (const auto outside = grid.bounds.find(pc, copy.global, copy.bytes,
                                            grid.issue->global_use.addresses[pc], grid.parameters))
    mistakes_.outside(warp, lane, step == Step::load ? "bulk copy from " : "bulk copy to ",
                      static_cast<unsigned>(copy.bytes), copy.global, *outside);
}

void BulkEngine::enter(WarpSlot slot, const IssueRecord& record, Step step,
                       const isa::BulkCopy& given, unsigned lane, SmCycle now) {
  const Warp& warp = blocks_.warp(slot);
  const std::uint16_t index = copies_.take();
  Copy& copy = copies_[index];
  copy = {};
  copy.global = given.global;
  copy.shared = given.shared;
  copy.barrier = given.barrier;
  copy.bytes = static_cast<std::uint32_t>(given.bytes);
  copy.pc = warp.paths.pc();
  copy.entry = blocks_.block_of(warp).entry;
  copy.ready = now + constants_.parameters.bulk.start_latency.count();
  copy.step = step;
  copy.warp = static_cast<std::uint8_t>(slot.value());
  copy.lane = static_cast<std::uint8_t>(lane);
  copy.tenant = warp.tenant;
  copy.grid = warp.grid;
  copy.flight = flights_.begin_bulk(slot, copy.pc, record, index);
  if (step == Step::store) copy.group = groups_.begin(slot, copy.entry);
  blocks_.under_way().flight_begins(slot);  // until the copy has ended, beyond its lines
  SmStatistics::OfTenant& counts = statistics_.tenant[copy.tenant];
  ++counts.bulk_copies;
  // Counted here, whatever becomes of them: a line may be sent more than once.
  const std::uint64_t end = copy.global + copy.bytes + line_bytes - 1;
  if (copy.bytes != 0) counts.bulk_lines += end / line_bytes - copy.global / line_bytes;
  if (step == Step::load) blocks_.counts(copy.grid).async_copy_bytes += copy.bytes;
  queue_.push(index);
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
      flights_.answered(flight, SmCycle{}, now);  // the line was kept
      continue;
    }
    Copy& copy = copies_[queue_.front()];
    if (copy.next == 0) {
      const SmCycle start = std::max(copy.ready, next_start_);
      if (start > now) return start;
    }
    if (copy.next < copy.bytes) {
      const bool is_first = copy.next == 0;
      make_line(queue_.front());
      if (!send(line_, now)) return no_cycle;
      if (is_first) next_start_ = now + p.start_interval.count();
      copy.next += static_cast<std::uint32_t>(std::popcount(line_.active)) * line_.stride;
    }
    if (copy.next == copy.bytes) leave_queue(now);
  }
  return no_cycle;
}

void BulkEngine::leave_queue(SmCycle now) {
  const std::uint16_t flight = copies_[queue_.front()].flight;
  queue_.pop();
  flights_.answered(flight, SmCycle{}, now);
  for_each_warp(std::exchange(wait_for_room_, 0), [&](WarpSlot slot) { tell(slot, now); });
}

void BulkEngine::make_line(std::uint16_t index) {
  constexpr unsigned unit = isa::BulkCopy::unit;
  const Copy& copy = copies_[index];
  const Warp& warp = blocks_.warp(slot_of(copy));
  const std::uint64_t global = copy.global + copy.next;
  const std::uint32_t shared = copy.shared + copy.next;
  const auto first = static_cast<std::uint8_t>(global % line_bytes);
  const auto bytes =
      static_cast<unsigned>(std::min<std::uint64_t>(copy.bytes - copy.next, line_bytes - first));
  const unsigned units = bytes / unit;
  line_.kind = copy.step == Step::load    ? Access::Kind::bulk_load
               : copy.step == Step::store ? Access::Kind::store
                                          : Access::Kind::bulk_prefetch;
  line_.local = false;
  line_.bypass = copy.step != Step::store;
  line_.contiguous = true;
  line_.warp = copy.warp;
  line_.stride = unit;
  line_.groups = 1;
  line_.next = line_.part = 0;
  line_.parts = 1;
  line_.flight = copy.flight;
  line_.parked = ParkedPages::none;
  line_.tenant = copy.tenant;
  line_.grid = copy.grid;
  line_.pc = copy.pc;
  line_.active = (1u << units) - 1;
  line_.member = FaultableAccesses::none;
  LineGroup& group = line_.group[0];
  group.line = global - first;
  group.lanes = line_.active;
  group.first_offset = first;
  const unsigned last_sector = (first + bytes - 1) / sector_bytes;
  group.sectors = static_cast<std::uint8_t>((2u << last_sector) - (1u << first / sector_bytes));
  if (copy.step == Step::store) {
    const std::byte* from = blocks_.shared_memory_of(blocks_.block_of(warp)) + shared;
    std::memcpy(line_.data.data(), from, bytes);
    return;
  }
  CopyTarget target;
  for (unsigned lane = 0; lane < units; ++lane) {
    target.to[lane] = shared + lane * unit;
    target.bytes[lane] = unit;
  }
  line_.set(target);
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
        // The line's last check is one thing more that the flight waits for.
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

/// A store of the line is not under way any more, like that of a squashed one.
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
    copies_.give_back(landed.copy);
    transactions_.complete(slot_of(copy), copy.pc, copy.lane, copy.barrier, copy.bytes, now);
    end_flight(slot_of(copy), now);
  }
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
  std::vector<std::uint16_t> flights;  // each waits for one thing less
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
      flights.push_back(copies_[copy].flight);
    } else {
      queue_.push(copy);
    }
  }
  for (const std::uint16_t flight : flights) flights_.answered(flight, SmCycle{}, now);
  for_each_warp(std::exchange(wait_for_room_, 0), [&](WarpSlot slot) { tell(slot, now); });
  stalled_ = false;
  wake_ = std::min(wake_, now + 1);
}

std::string BulkEngine::waiting_for() const {
  if (copies_.used() == 0) return "";
  return "; " + std::to_string(copies_.used()) + " bulk copies under way";
}

void BulkEngine::serialize(Archive& archive) {
  archive.section("sm/bulk", 1);
  archive(copies_, queue_, held_, kept_, again_, landed_, groups_, wake_, next_start_, line_cycle_,
          lines_sent_, wait_for_room_, stalled_);
}

}  // namespace lockstep
