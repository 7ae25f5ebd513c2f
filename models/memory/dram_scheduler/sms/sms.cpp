#include "models/memory/dram_scheduler/sms/sms.hpp"

#include <algorithm>
#include <bit>

namespace lockstep {

namespace {

/// Returns the first of some banks, given as bits, behind the bank that was served last.
std::uint32_t first_behind(std::uint32_t last, std::uint64_t among) {
  const std::uint64_t behind = among & ~((std::uint64_t{2} << last) - 1);
  return static_cast<std::uint32_t>(std::countr_zero(behind != 0 ? behind : among));
}

}  // namespace

Sms::Sms(const PartitionPolicySetup& setup)
    : parameters_(setup.choice.parameters<SmsParameters>()),
      random_(setup.random(0)),
      banks_(setup.parameters.dram.banks, Ring<std::uint32_t>(parameters_.bank_fifo)),
      all_banks_(~std::uint64_t{0} >> (64 - setup.parameters.dram.banks)) {
  for (std::size_t tenant = 0; tenant < setup.tenants; ++tenant)
    for (const std::uint32_t places : {parameters_.gpu_fifo, parameters_.cpu_fifo})
      sources_.push_back({SourceFifo(places, parameters_.max_batch),
                          MemoryIntensity(parameters_.low_intensity, parameters_.high_intensity)});
  ready_.assign(sources_.size(), DramCycle::never());
  set_tenants(statistics_, setup.tenants);
}

void Sms::on_arrival(const DramQueue& queue, std::uint32_t place, DramCycle now) {
  move_until(queue, now - 1);
  const DramEntry& entry = queue[place];
  const std::size_t number = source_of(entry.tenant, entry.source);
  Source& source = sources_[number];
  const Intensity intensity =
      is_of_gpu(entry.source) ? Intensity::high : source.intensity.arrived(now);
  const bool past = intensity == Intensity::low || in_flight_ < parameters_.bypass_below;
  ++in_flight_;
  ++source.in_flight;
  // Earlier requests of the source go first.
  if (past && source.fifo.empty() && source.held == DramEntry::none) {
    ++statistics_.bypasses[entry.tenant];
    if (left_ == 0 && enter_bank(entry.bank, place)) return;
    source.held = place;
    ++held_;
    return;
  }
  const Cycles threshold =
      intensity == Intensity::high ? parameters_.age_high : parameters_.age_medium;
  source.fifo.push(place, entry, threshold.count());
  note_ready(number);
  if (left_ == 0) next_move_ = std::min(next_move_, std::max(ready_[number], moved_until_));
}

void Sms::on_served(const DramQueue& queue, std::uint32_t place, DramCycle now) {
  const DramEntry& entry = queue[place];
  --in_flight_;
  --sources_[source_of(entry.tenant, entry.source)].in_flight;
  Ring<std::uint32_t>& bank = banks_[entry.bank];
  bank.pop();
  if (bank.empty()) waiting_banks_ &= ~bit(entry.bank);
  note_head(entry.bank);
  const bool wanted = left_ != 0 ? sources_[moving_].fifo.bank() == entry.bank
                                 : held_ != 0 || (wanted_banks_ & bit(entry.bank)) != 0;
  if (wanted) next_move_ = std::min(next_move_, now + 1);
}

/// Moves one request: the work of stage 2 in a cycle.
void Sms::move(const DramQueue& queue, DramCycle now) {
  for (DramCycle cycle = next_move_; cycle <= now; cycle = next_move_) {
    next_move_ = cycle + 1;
    if (left_ == 0) {
      if (move_held(queue) || !pick(cycle)) continue;
    }
    SourceFifo& fifo = sources_[moving_].fifo;
    if (!enter_bank(fifo.bank(), fifo.front())) {
      next_move_ = DramCycle::never();  // stage 2 waits until a request leaves the bank
      return;
    }
    fifo.pop();
    if (--left_ != 0) continue;
    note_ready(moving_);
    if (held_ == 0) next_move_ = std::max(next_move_, earliest_ready());
  }
}

bool Sms::move_held(const DramQueue& queue) {
  if (held_ == 0) return false;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    std::uint32_t& held = sources_[i].held;
    if (held == DramEntry::none || !enter_bank(queue[held].bank, held)) continue;
    held = DramEntry::none;
    --held_;
    note_ready(i);
    return true;
  }
  return false;
}

/// Picks the source whose batch moves next. With probability `p` it picks the source with the
/// fewest requests among those with a ready batch that has room; among equal ones, the source with
/// the oldest batch (AMB-15).
bool Sms::pick(DramCycle now) {
  const std::size_t none = ready_.size();
  std::size_t candidates = 0, fewest = none;
  DramCycle next = DramCycle::never();
  wanted_banks_ = 0;
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    if (ready_[i] > now) {
      next = std::min(next, ready_[i]);
      continue;
    }
    ++candidates;
    const Source& one = sources_[i];
    if (!fits(one.fifo)) continue;
    if (fewest == none || (one.in_flight != sources_[fewest].in_flight
                               ? one.in_flight < sources_[fewest].in_flight
                               : one.fifo.oldest() < sources_[fewest].fifo.oldest()))
      fewest = i;
  }
  if (fewest == none) {
    next_move_ = next;
    return false;
  }
  // Nothing is drawn where there is no choice.
  if (candidates == 1 || random_.uniform() < parameters_.p) {
    moving_ = fewest;
    ++statistics_.picks_of_fewest;
  } else {
    moving_ = turn_of_source_ = next_in_turn(now);
    ++statistics_.picks_in_turn;
  }
  left_ = sources_[moving_].fifo.batch_size();
  ++statistics_.batches;
  statistics_.batch_size.add(left_);
  return true;
}

/// Returns whether the front batch finds room in its bank: all of it, or as much as a bank holds.
bool Sms::fits(const SourceFifo& batches) {
  const auto taken = static_cast<std::uint32_t>(banks_[batches.bank()].size());
  if (taken + std::min(batches.batch_size(), parameters_.bank_fifo) <= parameters_.bank_fifo)
    return true;
  wanted_banks_ |= bit(batches.bank());
  return false;
}

std::size_t Sms::next_in_turn(DramCycle now) const {
  std::size_t next = turn_of_source_;
  do next = (next + 1) % sources_.size();
  while (ready_[next] > now);
  return next;
}

/// Returns when stage 2, which has not acted from a cycle on, may put a request at the head of a
/// bank, if no request comes and none leaves a bank.
DramCycle Sms::next_head(DramCycle from) const {
  if (waiting_banks_ == all_banks_ || next_move_ == DramCycle::never()) return DramCycle::never();
  const DramCycle next = std::max(next_move_, from);
  const bool behind_others =
      left_ != 0 && (waiting_banks_ & bit(sources_[moving_].fifo.bank())) != 0;
  return behind_others ? next + left_ : next;
}

bool Sms::enter_bank(std::uint32_t number, std::uint32_t place) {
  Ring<std::uint32_t>& bank = banks_[number];
  if (bank.size() >= parameters_.bank_fifo) return false;
  if (bank.empty()) {
    note_head(number);
    waiting_banks_ |= bit(number);
  }
  bank.push(place);
  return true;
}

/// Chooses, among the heads whose next command can issue, the first in turn.
DramChoice Sms::choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) {
  move_until(queue, now);
  // Refreshes close rows; all have changed when a state was restored.
  if (refreshes_ != banks.refreshes() || queue.changed_banks() == ~std::uint64_t{0}) {
    refreshes_ = banks.refreshes();
    new_heads_ = all_banks_;
  }
  DramChoice choice;
  for (std::uint64_t rest = new_heads_ & waiting_banks_; rest != 0; rest &= rest - 1) {
    const auto bank = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint32_t place = banks_[bank].front();
    heads_.nominate(queue, banks, bank, place, banks.open_row(bank) == queue[place].row, now);
  }
  new_heads_ = 0;
  const auto ready = heads_.ready(banks, waiting_banks_, now);
  const std::uint32_t turn = turn_of_bank_;
  if (ready.rows != 0) {
    turn_of_bank_ = first_behind(turn, ready.rows);
    choice.row = heads_.candidate(turn_of_bank_);
  }
  if (ready.columns != 0) {
    turn_of_bank_ = first_behind(turn, ready.columns);
    choice.column = heads_.candidate(turn_of_bank_);
  }
  if ((ready.columns | ready.rows) == 0) {
    choice.wake = std::min(heads_.next(banks, waiting_banks_, now), next_head(now + 1));
  }
  return choice;
}

void Sms::serialize(Archive& archive) {
  for (Source& source : sources_) archive(source);
  archive(random_, in_flight_, held_, banks_, waiting_banks_, wanted_banks_, new_heads_,
          turn_of_bank_, turn_of_source_, moving_, left_, moved_until_, next_move_, statistics_);
  for (std::size_t i = 0; i < sources_.size(); ++i) note_ready(i);
}

PolicyRegistry<DramSchedulerFactory>::Row sms_scheduler() {
  return {
      "sms",
      "three stages: batches of a source, a choice among them, banks in order (004, chapter 5)",
      {[](const PartitionPolicySetup& setup) -> std::unique_ptr<DramScheduler> {
         return std::make_unique<Sms>(setup);
       },
       nullptr, &statistics_schema_of<SmsStatistics>,
       [](const MemoryParameters& memory) -> std::string {
         return memory.dram.write_queue == 0
                    ? ""
                    : "sms has no queue for writes alone - set gpu.memory.dram.write_queue to 0";
       }},
      &schema_of<SmsParameters>()};
}

}  // namespace lockstep
