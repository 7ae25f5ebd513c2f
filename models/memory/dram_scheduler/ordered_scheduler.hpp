/// Common part of schedulers whose banks serve requests in an order that depends on the senders.
///
/// A bank serves the first of its requests in the scheduler's order, even if this closes a row that
/// others hit; of the commands that can issue, the one for the first request goes.  With one
/// command bus a row command goes before a column command for a request further back.
/// Source: memory-interference.md, section 2 (one request buffer, every entry eligible).
#pragma once

#include <algorithm>
#include <bit>

#include "models/memory/dram_scheduler/bank_race.hpp"
#include "models/memory/dram_scheduler/of_gpu.hpp"

namespace lockstep {

/// `Order` derives from it and has
///
///     std::uint32_t key(const DramQueue&, std::uint32_t place, bool hit, bool aged) const;
///         larger goes first, equals by age; below 2^26
///     bool update(const DramQueue&, DramCycle now);
///         before each choice: true if keys have changed
///     DramCycle next_update() const;
///         when they may change by time alone
template <class Order>
class OrderedScheduler : public DramScheduler {
 public:
  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) final {
    const std::uint64_t active = queue.active_banks();
    bool all = order().update(queue, now);
    if (now >= next_aging_) {
      next_aging_ = DramCycle::never();
      all = true;
    }
    for (std::uint64_t rest = all ? active : queue.changed_banks() & active; rest != 0;
         rest &= rest - 1)
      nominate(queue, banks, static_cast<std::uint32_t>(std::countr_zero(rest)), now);
    DramChoice choice = race_.choose(queue, banks, active, now);
    const bool column = choice.column != DramChoice::none, row = choice.row != DramChoice::none;
    if (column && row && !dual_bus_ && goes_before(queue, choice.row, choice.column))
      choice.column = DramChoice::none;
    if (!column && !row && active != 0)
      choice.wake = std::min({choice.wake, next_aging_, order().next_update()});
    return choice;
  }

 protected:
  /// Requests that wait for longer than `age_limit` are aged; 0: none is.
  OrderedScheduler(const DramParameters& dram, Cycles age_limit)
      : dual_bus_(dram.dual_command_bus),
        age_limit_(age_limit == Cycles{0} ? unlimited : age_limit.count()) {}

 private:
  static constexpr std::int64_t unlimited = DramCycle::never().value() / 2;

  Order& order() { return static_cast<Order&>(*this); }

  bool goes_before(const DramQueue& queue, std::uint32_t row, std::uint32_t column) const {
    return race_.key(queue[row].bank) > race_.key(queue[column].bank);
  }

  void nominate(const DramQueue& queue, const DramBanks& banks, std::uint32_t bank, DramCycle now) {
    const std::uint32_t open = banks.open_row(bank);
    std::uint32_t first = DramEntry::none, most = 0;
    bool first_hits = false, all_aged = true;
    for (std::uint32_t place = queue.oldest(bank); place != DramEntry::none;
         place = queue.younger(place)) {
      const DramEntry& entry = queue[place];
      const DramCycle aging = entry.arrival + age_limit_;
      if (all_aged && aging > now) {
        all_aged = false;  // requests behind are younger
        next_aging_ = std::min(next_aging_, aging);
      }
      const bool hit = entry.row == open;
      const std::uint32_t key = order().key(queue, place, hit, all_aged);
      if (first != DramEntry::none && key <= most) continue;
      first = place;
      most = key;
      first_hits = hit;
    }
    race_.nominate(queue, banks, bank, first, first_hits, now, most);
  }

  const bool dual_bus_;
  const std::int64_t age_limit_;
  BankRace<true> race_;
  DramCycle next_aging_ = DramCycle::never();  ///< cycle in which a request ages
};

}  // namespace lockstep
