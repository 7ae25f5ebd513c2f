/// First ready, first come first served.
///
/// Of all commands that can issue now, column commands for open rows go first, the oldest request
/// first; beside them the oldest request whose bank needs another row.  A row stays open while a
/// request for it waits.
/// Source: 004, section 2.1 of memory-interference.md (Rixner et al., ISCA 2000).
///
/// Simplified: a bank stops serving younger row hits once its oldest request is older than
/// `age_limit`; the sources starve such requests, we do not let them wait for ever.
#include <algorithm>
#include <array>
#include <bit>

#include "core/parameters/parameters.hpp"
#include "models/memory/dram_scheduler/dram_scheduler.hpp"

namespace lockstep {
namespace {

struct FrFcfsParameters {
  Cycles age_limit;
  static auto schema() {
    using namespace literals;
    return parameters<FrFcfsParameters>().field(
        "age_limit", &FrFcfsParameters::age_limit, 5000_cycles, at_least(1_cycles),
        "DRAM cycles after which a request goes before younger hits in its bank");
  }
};

class FrFcfs final : public DramScheduler {
 public:
  explicit FrFcfs(std::int64_t age_limit) : age_limit_(age_limit) {}

  DramChoice choose(const DramQueue& queue, const DramBanks& banks, std::int64_t now) override {
    const std::uint64_t active = queue.active_banks();
    const std::uint64_t stale = now >= next_deadline_ ? active : queue.changed_banks() & active;
    if (now >= next_deadline_) next_deadline_ = DramChoice::never;
    for (std::uint64_t rest = stale; rest != 0; rest &= rest - 1)
      nominate(queue, banks, static_cast<std::uint32_t>(std::countr_zero(rest)), now);

    std::array<std::uint64_t, 4> wanting, ready;
    for (const auto command : commands) {
      wanting[command] = active & masks_[command];
      ready[command] = wanting[command] == 0 ? 0 : banks.ready(command, wanting[command], now);
    }
    DramChoice choice;
    choice.column = oldest(ready[DramBanks::read] | ready[DramBanks::write]);
    choice.row = oldest(ready[DramBanks::activation] | ready[DramBanks::precharging]);
    if (choice.column != DramChoice::none || choice.row != DramChoice::none) return choice;
    for (const auto command : commands)
      choice.wake = std::min(choice.wake, banks.earliest_of(command, wanting[command], now));
    return choice;
  }

 private:
  /// The request that a bank should serve next.  Derived from the queue when the bank changed.
  struct Candidate {
    std::uint64_t order = 0;
    std::uint32_t place = DramEntry::none;
  };

  void nominate(const DramQueue& queue, const DramBanks& banks, std::uint32_t bank,
                std::int64_t now) {
    const std::uint32_t head = queue.oldest(bank);
    std::uint32_t place = queue.oldest_hit(bank);
    const std::int64_t deadline = queue[head].arrival + age_limit_;
    bool column = place != DramEntry::none;
    if (column && place != head) {
      column = now < deadline;
      if (column) next_deadline_ = std::min(next_deadline_, deadline);
    }
    if (!column) place = head;
    DramBanks::Command command = DramBanks::precharging;
    if (column) {
      command = queue[place].write ? DramBanks::write : DramBanks::read;
    } else if (banks.open_row(bank) == DramBanks::no_row) {
      command = DramBanks::activation;
    }
    const std::uint64_t bit = std::uint64_t{1} << bank;
    for (std::uint64_t& mask : masks_) mask &= ~bit;
    masks_[command] |= bit;
    candidates_[bank] = {queue[place].order, place};
  }

  /// Of the candidates of some banks.
  std::uint32_t oldest(std::uint64_t among) const {
    Candidate best{~std::uint64_t{0}, DramChoice::none};
    for (; among != 0; among &= among - 1) {
      const Candidate& candidate = candidates_[static_cast<unsigned>(std::countr_zero(among))];
      if (candidate.order < best.order) best = candidate;
    }
    return best.place;
  }

  static constexpr std::array commands = {DramBanks::read, DramBanks::write, DramBanks::activation,
                                          DramBanks::precharging};

  const std::int64_t age_limit_;
  std::array<Candidate, 64> candidates_;
  std::array<std::uint64_t, 4> masks_{};  ///< banks by the command that their candidate needs
  std::int64_t next_deadline_ = DramChoice::never;  ///< when a bank's oldest request turns old
};

}  // namespace

const ParameterSchema& fr_fcfs_parameters() {
  return schema_of<FrFcfsParameters>();
}

std::unique_ptr<DramScheduler> make_fr_fcfs(const PolicyChoice& choice) {
  return std::make_unique<FrFcfs>(choice.parameters<FrFcfsParameters>().age_limit.count());
}

}  // namespace lockstep
