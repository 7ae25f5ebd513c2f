#include "models/memory/dram_scheduler/sms/sms.hpp"

#include <algorithm>
#include <bit>

namespace lockstep {

Sms::Sms(const PartitionPolicySetup& setup)
    : parameters_(setup.choice.parameters<SmsParameters>()),
      random_(setup.random(0)),
      banks_(setup.parameters.dram.banks, Ring<std::uint32_t>(parameters_.bank_fifo)) {
  for (std::size_t tenant = 0; tenant < setup.tenants; ++tenant)
    for (const std::uint32_t places : {parameters_.gpu_fifo, parameters_.cpu_fifo})
      sources_.push_back({SourceFifo(places, parameters_.max_batch), {}});
  set_tenants(statistics_, setup.tenants);
}

void Sms::on_arrival(const DramQueue& queue, std::uint32_t place, DramCycle now) {
  move_until(queue, now - 1);
  const DramEntry& entry = queue[place];
  Source& source = sources_[source_of(entry.tenant, entry.source)];
  Intensity intensity = source.intensity.arrived(now);
  if (is_of_gpu(entry.source)) intensity = Intensity::high;
  const bool past = intensity == Intensity::low || in_flight_ < parameters_.bypass_below;
  ++in_flight_;
  ++source.in_flight;
  // What came before from the source goes before.
  if (past && source.fifo.empty() && source.held == DramEntry::none) {
    ++statistics_.bypasses[entry.tenant];
    if (left_ == 0 && enter_bank(queue, place)) return;
    source.held = place;
    ++held_;
    return;
  }
  const Cycles threshold =
      intensity == Intensity::high ? parameters_.age_high : parameters_.age_medium;
  source.fifo.push(place, entry, threshold.count());
}

void Sms::on_served(const DramQueue& queue, std::uint32_t place, DramCycle) {
  const DramEntry& entry = queue[place];
  --in_flight_;
  --sources_[source_of(entry.tenant, entry.source)].in_flight;
  Ring<std::uint32_t>& bank = banks_[entry.bank];
  bank.pop();
  if (bank.empty()) waiting_banks_ &= ~(std::uint64_t{1} << entry.bank);
}

/// Stage 2 up to and including `now`: in a cycle one request moves.
void Sms::move_until(const DramQueue& queue, DramCycle now) {
  while (moved_until_ <= now) {
    const DramCycle cycle = moved_until_;
    if (left_ == 0) {
      if (move_held(queue)) {
        moved_until_ = cycle + 1;
        continue;
      }
      if (!pick(cycle)) {
        // Nothing can be picked sooner unless a request comes, or leaves a bank.
        moved_until_ = std::min(std::max(next_ready(), cycle + 1), now + 1);
        continue;
      }
    }
    SourceFifo& fifo = sources_[moving_].fifo;
    if (!enter_bank(queue, fifo.front())) {
      moved_until_ = now + 1;  // until a request leaves the bank
      return;
    }
    fifo.pop();
    --left_;
    moved_until_ = cycle + 1;
  }
}

bool Sms::move_held(const DramQueue& queue) {
  if (held_ == 0) return false;
  for (Source& source : sources_)
    if (source.held != DramEntry::none && enter_bank(queue, source.held)) {
      source.held = DramEntry::none;
      --held_;
      return true;
    }
  return false;
}

bool Sms::pick(DramCycle now) {
  const auto candidates = std::count_if(sources_.begin(), sources_.end(),
                                        [&](const Source& source) { return ready(source, now); });
  if (candidates == 0) return false;
  // Nothing is drawn where there is no choice.
  if (candidates == 1 || random_.uniform() < parameters_.p) {
    moving_ = fewest(now);
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

/// Of the sources with a ready batch the one with the fewest requests; of equals, that whose batch
/// is the oldest (AMB-15).
std::size_t Sms::fewest(DramCycle now) const {
  std::size_t best = sources_.size();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!ready(sources_[i], now)) continue;
    const auto goes_before = [](const Source& a, const Source& b) {
      return a.in_flight != b.in_flight ? a.in_flight < b.in_flight
                                        : a.fifo.oldest() < b.fifo.oldest();
    };
    if (best == sources_.size() || goes_before(sources_[i], sources_[best])) best = i;
  }
  return best;
}

std::size_t Sms::next_in_turn(DramCycle now) const {
  std::size_t next = turn_of_source_;
  do next = (next + 1) % sources_.size();
  while (!ready(sources_[next], now));
  return next;
}

DramCycle Sms::next_ready() const {
  DramCycle first = DramCycle::never();
  for (const Source& source : sources_)
    if (source.held == DramEntry::none) first = std::min(first, source.fifo.ready());
  return first;
}

/// When stage 2 may act next, if no request leaves a bank.
DramCycle Sms::next_move(const DramQueue& queue, DramCycle now) const {
  if (left_ != 0)
    return has_room(queue, sources_[moving_].fifo.front()) ? now + 1 : DramCycle::never();
  if (held_ != 0)
    for (const Source& source : sources_)
      if (source.held != DramEntry::none && has_room(queue, source.held)) return now + 1;
  return std::max(next_ready(), now + 1);
}

bool Sms::enter_bank(const DramQueue& queue, std::uint32_t place) {
  if (!has_room(queue, place)) return false;
  const std::uint8_t bank = queue[place].bank;
  if (banks_[bank].empty()) new_heads_ |= std::uint64_t{1} << bank;
  banks_[bank].push(place);
  waiting_banks_ |= std::uint64_t{1} << bank;
  return true;
}

/// Of the heads whose next command can issue, the first in turn.
DramChoice Sms::choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) {
  move_until(queue, now);
  for (std::uint64_t rest = (queue.changed_banks() | new_heads_) & waiting_banks_; rest != 0;
       rest &= rest - 1) {
    const auto bank = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint32_t place = banks_[bank].front();
    heads_.nominate(queue, banks, bank, place, banks.open_row(bank) == queue[place].row, now);
  }
  new_heads_ = 0;
  const auto ready = heads_.ready(banks, waiting_banks_, now);
  DramChoice choice;
  choice.column = first_in_turn(ready.columns);
  choice.row = first_in_turn(ready.rows);
  if ((ready.columns | ready.rows) != 0) {
    turn_of_bank_ = queue[choice.column != DramChoice::none ? choice.column : choice.row].bank;
  } else {
    choice.wake = std::min(heads_.next(banks, waiting_banks_, now), next_move(queue, now));
  }
  return choice;
}

/// Of the heads of some banks, that of the first one after the bank that was served last.
std::uint32_t Sms::first_in_turn(std::uint64_t among) const {
  if (among == 0) return DramChoice::none;
  const std::uint64_t behind = among & ~((std::uint64_t{2} << turn_of_bank_) - 1);
  return heads_.candidate(
      static_cast<std::uint32_t>(std::countr_zero(behind != 0 ? behind : among)));
}

void Sms::serialize(Archive& archive) {
  for (Source& source : sources_) archive(source);
  archive(random_, in_flight_, held_, banks_, waiting_banks_, turn_of_bank_, turn_of_source_,
          moving_, left_, moved_until_, statistics_);
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
