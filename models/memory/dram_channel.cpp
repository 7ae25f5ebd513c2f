#include "models/memory/dram_channel.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/error/error.hpp"

namespace lockstep {
DramChannel::DramChannel(const DramParameters& p, std::unique_ptr<DramScheduler> scheduler,
                         std::int64_t phase, std::size_t tenants, PartitionStatistics& statistics)
    : clock_(p.clock),
      dual_bus_(p.dual_command_bus),
      wide_atom_(p.atom.count() == 2 * sector_bytes),
      closes_rows_(p.rows == DramRows::closed),
      burst_(static_cast<std::uint32_t>(p.burst.count())),
      gpu_queue_(p.gpu_queue == 0 ? ~std::uint32_t{0} : p.gpu_queue),
      layout_(p),
      scheduler_(std::move(scheduler)),
      arrivals_matter_(scheduler_->arrivals_matter()),
      scheduler_admits_(scheduler_->decides_admission()),
      divided_(!scheduler_->division().trivial()),
      sizes_decide_(!scheduler_admits_ && !divided_ && p.gpu_queue == 0),
      finishes_(scheduler_->finishes_requests()),
      queue_({p.queue + scheduler_->division().beyond, p.write_queue, p.write_high, p.write_low},
             p.banks, scheduler_->division()),
      banks_(p, phase),
      statistics_(statistics),
      waits_(tenants) {}

void DramChannel::count_banks(std::size_t tenants) {
  occupancies_.assign(tenants, BankOccupancy(banks_.count()));
}

std::uint8_t DramChannel::columns(std::uint8_t sectors) const {
  const unsigned touched = wide_atom_ ? (sectors | sectors >> 1) & 5u : sectors;
  return static_cast<std::uint8_t>(std::popcount(touched));
}

void DramChannel::enqueue(Time now, PartitionOffset offset, std::uint8_t sectors, bool write,
                          const MemoryRequest& request, std::uint32_t owner) {
  const DramCycle cycle = clock_.at_or_after(now);
  catch_up_refresh(cycle);
  LOCKSTEP_DEBUG_CHECK(room(request, write), "a request entered a DRAM queue without leave");
  const DramAddress address = locate(offset);
  DramEntry& entry = queue_.next();
  entry.arrival = cycle;
  entry.row = address.row;
  entry.bank = address.bank;
  entry.owner = owner;
  entry.tenant = request.tenant;
  entry.requester = request.requester;
  entry.warp = request.warp;
  entry.columns = columns(sectors);
  entry.sectors = sectors;
  entry.flags = request.flags;
  entry.walk_level = request.walk_level;
  entry.source = request.source;
  entry.write = write;
  entry.missed_row = false;
  const DramLane lane = divided_ ? scheduler_->lane(request, write) : DramLane{};
  entry.pool = lane.pool;
  entry.level = lane.level;
  of_gpu_ += is_of_gpu(entry.source);
  const bool was_served = queue_.served(write);
  const std::uint32_t place = queue_.push_next();
  waits_.enter(entry.tenant, cycle.value());
  if (!occupancies_.empty())
    occupancies_[entry.tenant].sent(entry.bank, cycle.value(), bank_counters(entry.tenant));
  if (!finishes_) scheduler_->on_arrival(queue_, place, cycle);
  // Before the time that the scheduler gave, only a command for the new request, or another
  // direction, can come.
  DramCycle at = std::max(cycle, bus_free_);
  if (arrivals_matter_) {
    at = std::max(at, scheduler_->look_after_arrival(cycle));
  } else if (was_served && queue_.served(write)) {
    at = std::max(at, earliest_command(banks_, entry));
  }
  if (queue_.served(write) || arrivals_matter_) wake_ = std::min(wake_, at);
}

void DramChannel::look_again(Time now) {
  if (!empty()) wake_ = std::min(wake_, std::max(clock_.at_or_after(now), bus_free_));
}

const DramChannel::Step& DramChannel::step(Time last) {
  const DramCycle last_cycle = clock_.at_or_before(last);
  step_.left = step_.returned = false;
  while (!step_once(last_cycle) && wake_ <= last_cycle) {
  }
  return step_;
}

bool DramChannel::goes_on() const {
  if (under_way_ == DramEntry::none) return false;
  const DramEntry& entry = queue_[under_way_];
  return is_alone(entry) && banks_.open_row(entry.bank) == entry.row &&
         queue_.oldest(entry.bank) == under_way_;
}

inline bool DramChannel::step_once(DramCycle last) {
  const DramCycle now = wake_;
  catch_up_refresh(now);
  if (goes_on()) return issue_columns_under_way(last);
  const DramChoice choice = scheduler_->choose(queue_, banks_, now);
  queue_.chosen();
  if (choice.column == DramChoice::none && choice.row == DramChoice::none) {
    wake_ = choice.wake;
    return false;
  }
  bus_free_ = now + 1;
  wake_ = now + 1;
  // The row command first: a column command may remove its entry, never that of the row command.
  if (choice.row != DramChoice::none && (dual_bus_ || choice.column == DramChoice::none))
    issue_row(choice.row, now);
  return choice.column != DramChoice::none && issue_column(choice.column, now);
}

/// Issues columns of the request under way up to `last`, without a look at the queue between them:
/// nothing comes in before this function returns.  Only a refresh may close the row.
///
/// No column of another request comes between, so that the columns are a fixed time apart.  What is
/// counted at every column is counted for all of them at the last.
bool DramChannel::issue_columns_under_way(DramCycle last) {
  DramEntry& entry = queue_.entry(under_way_);
  const DramCycle first = std::max(wake_, banks_.earliest_column(entry.bank, entry.write));
  last = std::min(last, banks_.next_refresh() - 1);
  if (first > last) {
    wake_ = first;
    return false;
  }
  const std::int64_t gap = banks_.column_gap(), left = entry.columns;
  const std::int64_t count =
      first + (left - 1) * gap <= last ? left : std::min(left, (last - first) / gap + 1);
  const DramCycle now = first + (count - 1) * gap;
  const DramCycle end = banks_.column(entry.bank, entry.write, now);
  if (trace_ != nullptr) [[unlikely]]
    for (DramCycle at = first; at <= now; at = at + gap)
      note(at, entry.write ? DramCommandKind::write : DramCommandKind::read, entry.bank, entry.row);
  if (last_tenant_ != entry.tenant) {
    waits_.charge(statistics_.dram_wait_behind, last_tenant_, first.value());
    last_tenant_ = entry.tenant;
  }
  count_columns(entry, static_cast<std::uint64_t>(count), now);
  entry.columns -= static_cast<std::uint8_t>(count);
  bus_free_ = wake_ = now + 1;
  if (entry.columns != 0) return false;
  leave(std::exchange(under_way_, DramEntry::none), now, end);
  return true;
}

void DramChannel::count_columns(const DramEntry& entry, std::uint64_t count, DramCycle now) {
  statistics_.data_bus_cycles += count * burst_;
  PartitionStatistics::OfTenant& counts = statistics_.tenant[entry.tenant];
  (entry.write ? counts.dram_writes : counts.dram_reads) += count;
  waits_.charge(statistics_.dram_wait_behind, last_tenant_, now.value());
  last_tenant_ = entry.tenant;
}

void DramChannel::issue_row(std::uint32_t place, DramCycle now) {
  DramEntry& entry = queue_.entry(place);
  if (banks_.open_row(entry.bank) == DramBanks::no_row) {
    banks_.activate(entry.bank, entry.row, now);
    queue_.row_opened(entry.bank, entry.row);
    entry.missed_row = true;
    ++statistics_.activates;
    note(now, DramCommandKind::activate, entry.bank, entry.row);
    if (!finishes_) scheduler_->on_row(queue_, place, DramBanks::activation, now);
  } else {
    note(now, DramCommandKind::precharge, entry.bank, banks_.open_row(entry.bank));
    banks_.precharge(entry.bank, now);
    queue_.row_closed(entry.bank);
    ++statistics_.precharges;
    if (!finishes_) scheduler_->on_row(queue_, place, DramBanks::precharging, now);
  }
  if (!finishes_) return;
  under_way_ = place;
  if (is_alone(entry)) wake_ = std::max(wake_, earliest_command(banks_, entry));
}

bool DramChannel::issue_column(std::uint32_t place, DramCycle now) {
  DramEntry& entry = queue_.entry(place);
  const DramCycle end = banks_.column(entry.bank, entry.write, now);
  note(now, entry.write ? DramCommandKind::write : DramCommandKind::read, entry.bank, entry.row);
  count_columns(entry, 1, now);
  if (!finishes_) scheduler_->on_column(queue_, place, now);
  --entry.columns;
  under_way_ = finishes_ && entry.columns != 0 ? place : DramEntry::none;
  if (entry.columns != 0) return false;
  leave(place, now, end);
  return true;
}

/// Takes a request out of the queue whose last column was issued at `now`; `end`: end of its data.
void DramChannel::leave(std::uint32_t place, DramCycle now, DramCycle end) {
  const DramEntry& entry = queue_[place];
  PartitionStatistics::OfTenant& counts = statistics_.tenant[entry.tenant];
  step_ = {.left = true,
           .returned = !entry.write,
           .at = clock_.edge(now),
           .data_end = clock_.edge(end),
           .owner = entry.owner,
           .sectors = entry.sectors};
  const auto waited = static_cast<std::uint64_t>(now - entry.arrival);
  statistics_.dram_latency.add(waited);
  counts.dram_queue_cycles += waited;
  ++(entry.missed_row ? counts.row_misses : counts.row_hits);
  waits_.leave(entry.tenant, now.value());
  if (!occupancies_.empty())
    occupancies_[entry.tenant].answered(entry.bank, now.value(), bank_counters(entry.tenant));
  of_gpu_ -= is_of_gpu(entry.source);
  if (!finishes_) scheduler_->on_served(queue_, place, now);
  const std::uint32_t bank = entry.bank;
  queue_.remove(place);
  if (closes_rows_) close_unwanted_row(bank);
  if (queue_.size() == 0) wake_ = DramCycle::never();
}

/// Closes a row by auto-precharge: with the column command, as soon as the bank allows it, without
/// a place on the command bus.
void DramChannel::close_unwanted_row(std::uint32_t bank) {
  if (queue_.has_hit(bank)) return;
  banks_.precharge(bank, banks_.earliest_precharge(bank));
  queue_.row_closed(bank);
  ++statistics_.precharges;
}

void DramChannel::refresh(DramCycle now) {
  for (std::uint64_t closed = banks_.refresh(now); closed != 0; closed &= closed - 1)
    queue_.row_closed(static_cast<std::uint32_t>(std::countr_zero(closed)));
}

void DramChannel::serialize(Archive& archive) {
  archive(queue_, banks_, waits_, occupancies_, wake_, bus_free_, last_tenant_, of_gpu_);
  scheduler_->serialize(archive);
}

}  // namespace lockstep
