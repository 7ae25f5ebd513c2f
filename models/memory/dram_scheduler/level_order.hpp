/// Reach of a level of urgency: the level goes before all requests of lower levels, or only before
/// those of its bank.
#pragma once

#include "core/parameters/parameters.hpp"
#include "models/memory/dram_scheduler/bank_levels.hpp"
#include "models/memory/dram_scheduler/strict_levels.hpp"

namespace lockstep {

struct LevelOrderParameters {
  enum class First : std::uint8_t { all, bank };
  First first = First::all;
  bool open_rows = false;
  Cycles age_limit;

  /// Returns the fields at the head of the parameters P, derived from these, of a scheduler.
  template <class P>
  static ParametersOf<P> fields() {
    using namespace literals;
    return parameters<P>()
        .field("first", &P::first, First::all, choice({"all", "bank"}),
               "an urgent request goes before all less urgent requests, or only before less urgent "
               "requests of its bank, as with a scheduler that picks a request for each bank")
        .field("open_rows", &P::open_rows, false,
               "an open row stays open for less urgent requests while no urgent one needs the bank "
               "for another row")
        .field("age_limit", &P::age_limit, 5000_cycles, range(0_cycles, 10'000'000'000_cycles),
               "DRAM cycles after which a request goes before younger hits of its level in its "
               "bank; 0: never");
  }
};

class LevelOrder {
 public:
  /// Makes the order of levels from `first` on, up to the one before `end`.
  LevelOrder(const DramParameters& dram, unsigned first, unsigned end,
             const LevelOrderParameters& parameters)
      : by_bank_(parameters.first == LevelOrderParameters::First::bank),
        of_banks_(first, end, parameters.age_limit, parameters.open_rows),
        of_all_(dram, first, end, parameters.age_limit, parameters.open_rows) {}

  /// Chooses a command, but not in the banks `taken`.
  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now,
                    std::uint64_t taken = 0) {
    return by_bank_ ? of_banks_.choose(queue, banks, now, taken)
                    : of_all_.choose(queue, banks, now, taken);
  }

 private:
  const bool by_bank_;
  BankLevels of_banks_;
  StrictLevels of_all_;
};

}  // namespace lockstep
