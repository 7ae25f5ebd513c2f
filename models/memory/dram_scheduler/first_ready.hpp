/// Order within a level: requests for open rows first, then the oldest request.
///
/// Source: memory-interference.md, section 2.1 (Rixner et al., ISCA 2000).
///
/// Simplified: a bank stops serving younger row hits once its oldest request is older than
/// `age_limit`; in the sources such requests starve; here they do not, unless `age_limit` is 0.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "models/memory/dram_scheduler/bank_race.hpp"

namespace lockstep {

class FirstReady {
 public:
  static constexpr Cycles in_order{-1};  ///< an age limit: row hits do not go first

  explicit FirstReady(Cycles age_limit, unsigned level = 0)
      : age_limit_(age_limit == Cycles{0} ? unlimited
                                          : std::max<std::int64_t>(age_limit.count(), 0)),
        level_(level) {}

  /// Chooses a command among the `active` banks, which have requests of the level.
  DramChoice choose(const DramQueue& queue, const DramBanks& banks, std::uint64_t active,
                    DramCycle now) {
    return choose(queue, banks, queue.active_banks(level_), active, now,
                  [this](std::uint32_t) { return level_; });
  }

  /// Chooses among several levels, with requests in the banks `all`.  `level_of(bank)` is the level
  /// that a bank serves, and follows from the queue.
  template <class LevelOf>
  DramChoice choose(const DramQueue& queue, const DramBanks& banks, std::uint64_t all,
                    std::uint64_t active, DramCycle now, LevelOf&& level_of) {
    if (std::has_single_bit(all)) {
      missed_ |= queue.changed_banks();
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(all));
      return active == 0 ? DramChoice{} : choose_alone(queue, banks, bank, level_of(bank), now);
    }
    const std::uint64_t stale =
        now >= next_deadline_ ? all : (queue.changed_banks() | std::exchange(missed_, 0)) & all;
    if (now >= next_deadline_) next_deadline_ = DramCycle::never();
    for (std::uint64_t rest = stale; rest != 0; rest &= rest - 1) {
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(rest));
      nominate(queue, banks, bank, level_of(bank), now);
    }
    return race_.choose(queue, banks, active, now);
  }

 private:
  static constexpr std::int64_t unlimited = DramCycle::never().value() / 2;

  /// The request that a bank serves next.
  struct Next {
    std::uint32_t place;
    bool column;         ///< true: its row is open
    DramCycle deadline;  ///< cycle in which the bank's oldest request goes before it
  };
  Next next_of(const DramQueue& queue, std::uint32_t bank, unsigned level, DramCycle now) const {
    const std::uint32_t head = queue.oldest(bank, level), hit = queue.oldest_hit(bank, level);
    if (hit == DramEntry::none || hit == head)
      return {head, hit != DramEntry::none, DramCycle::never()};
    const DramCycle deadline = queue[head].arrival + age_limit_;
    if (now < deadline) return {hit, true, deadline};
    return {head, false, DramCycle::never()};
  }

  /// Nominates the request that a bank should serve next, after the bank changed.
  void nominate(const DramQueue& queue, const DramBanks& banks, std::uint32_t bank, unsigned level,
                DramCycle now) {
    const Next next = next_of(queue, bank, level, now);
    next_deadline_ = std::min(next_deadline_, next.deadline);
    race_.nominate(queue, banks, bank, next.place, next.column, now);
  }

  /// Chooses for the only bank with requests, without the race.
  DramChoice choose_alone(const DramQueue& queue, const DramBanks& banks, std::uint32_t bank,
                          unsigned level, DramCycle now) const {
    const Next next = next_of(queue, bank, level, now);
    const DramCycle at = earliest_command(banks, queue[next.place]);
    DramChoice choice;
    if (at > now)
      choice.wake = at;
    else
      (next.column ? choice.column : choice.row) = next.place;
    return choice;
  }

  std::int64_t age_limit_;
  unsigned level_;
  BankRace<false> race_;
  /// Banks that changed while the race was not asked.  Checkpoints leave them out, since after one
  /// all banks have changed.
  std::uint64_t missed_ = 0;
  /// Cycle in which a bank's oldest request turns old.
  DramCycle next_deadline_ = DramCycle::never();
};

}  // namespace lockstep
