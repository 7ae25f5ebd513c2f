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
  explicit FrFcfs(Cycles age_limit) : age_limit_(age_limit.count()) {}

  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) override {
    const std::uint64_t active = queue.active_banks();
    const std::uint64_t stale = now >= next_deadline_ ? active : queue.changed_banks() & active;
    if (now >= next_deadline_) next_deadline_ = DramCycle::never();
    for (std::uint64_t rest = stale; rest != 0; rest &= rest - 1)
      nominate(queue, banks, static_cast<std::uint32_t>(std::countr_zero(rest)), now);

    if (now >= next_release_) release(now);

    const std::uint64_t free = active & ~held_;
    const auto ready = [&](DramBanks::Command command) {
      const std::uint64_t wanting = free & masks_[command];
      return wanting == 0 ? 0 : banks.passable(command, wanting, now);
    };
    DramChoice choice;
    const std::uint32_t next = queue.next_order();
    choice.column = oldest(ready(DramBanks::read) | ready(DramBanks::write), next);
    choice.row = oldest(ready(DramBanks::activation) | ready(DramBanks::precharging), next);
    if (choice.column != DramChoice::none || choice.row != DramChoice::none) return choice;
    for (const auto command : commands)
      choice.wake =
          std::min(choice.wake, banks.earliest_of(command, active & masks_[command], now));
    return choice;
  }

 private:
  /// Derives from the queue which request a bank should serve next, when the bank changed.
  void nominate(const DramQueue& queue, const DramBanks& banks, std::uint32_t bank, DramCycle now) {
    const std::uint32_t head = queue.oldest(bank);
    std::uint32_t place = queue.oldest_hit(bank);
    bool column = place != DramEntry::none;
    if (column && place != head) {
      const DramCycle deadline = queue[head].arrival + age_limit_;
      column = now < deadline;
      if (column) next_deadline_ = std::min(next_deadline_, deadline);
    }
    if (!column) place = head;
    DramBanks::Command command = DramBanks::precharging;
    if (column) {
      command = queue.is_write(place) ? DramBanks::write : DramBanks::read;
    } else if (banks.open_row(bank) == DramBanks::no_row) {
      command = DramBanks::activation;
    }
    const std::uint64_t bit = std::uint64_t{1} << bank;
    for (std::uint64_t& mask : masks_) mask &= ~bit;
    masks_[command] |= bit;
    orders_[bank] = queue.order(place);
    places_[bank] = place;
    queue.prefetch(place);
    releases_[bank] = banks.bank_ready(command, bank);
    if (releases_[bank] > now) {
      held_ |= bit;
      next_release_ = std::min(next_release_, releases_[bank]);
    } else {
      held_ &= ~bit;
    }
  }

  /// Lets go the banks whose time has come.
  void release(DramCycle now) {
    next_release_ = DramCycle::never();
    for (std::uint64_t rest = held_; rest != 0; rest &= rest - 1) {
      const DramCycle at = releases_[static_cast<unsigned>(std::countr_zero(rest))];
      if (at <= now) {
        held_ ^= rest & -rest;
      } else {
        next_release_ = std::min(next_release_, at);
      }
    }
  }

  /// Of the candidates of some banks.
  std::uint32_t oldest(std::uint64_t among, std::uint32_t next_order) const {
    if (among == 0) return DramChoice::none;
    std::uint64_t most = 0;  // age, then bank: no two requests have the same age
    for (; among != 0; among &= among - 1) {
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(among));
      most = std::max(most, std::uint64_t{next_order - orders_[bank]} << bank_bits | bank);
    }
    return places_[most % (1u << bank_bits)];
  }

  static constexpr unsigned bank_bits = 6;
  static constexpr std::array commands = {DramBanks::read, DramBanks::write, DramBanks::activation,
                                          DramBanks::precharging};

  const std::int64_t age_limit_;
  // The candidate of each bank: its number and its place.
  std::array<std::uint32_t, 1 << bank_bits> orders_;
  std::array<std::uint32_t, 1 << bank_bits> places_;
  std::array<std::uint64_t, 4> masks_{};  ///< banks by the command that their candidate needs
  std::array<DramCycle, 1 << bank_bits> releases_;  ///< when the bank can take that command
  std::uint64_t held_ = 0;                          ///< banks that cannot yet
  DramCycle next_release_ = DramCycle::never();     ///< when the next of them may
  DramCycle next_deadline_ = DramCycle::never();    ///< when a bank's oldest request turns old
};

}  // namespace

PolicyRegistry<DramSchedulerFactory>::Row fr_fcfs_scheduler() {
  return {"fr-fcfs",
          "requests for open rows first, then the oldest (004, section 2)",
          {[](const PartitionPolicySetup& setup) -> std::unique_ptr<DramScheduler> {
            return std::make_unique<FrFcfs>(setup.choice.parameters<FrFcfsParameters>().age_limit);
          }},
          &schema_of<FrFcfsParameters>()};
}

}  // namespace lockstep
