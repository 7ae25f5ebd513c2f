/// The request that each bank serves next, the command that it needs, and the choice among these
/// commands.
///
/// Candidates stand in masks by command, and what each is compared by in arrays, so that a choice
/// touches a few of this computer's cache lines whatever the number of waiting requests.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "models/memory/dram_scheduler/dram_scheduler.hpp"

namespace lockstep {

/// `ranked`: candidates have keys, and the largest goes first; the oldest goes first without keys
/// or among equal ones.
template <bool ranked>
class BankRace {
 public:
  static constexpr unsigned key_bits = 26;

  /// Nominates a bank's candidate, after its requests, its row or their order have changed: the
  /// request at `place`, which waits for its column if its row is open.
  void nominate(const DramQueue& queue, const DramBanks& banks, std::uint32_t bank,
                std::uint32_t place, bool column, DramCycle now, std::uint32_t key = 0) {
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
    if constexpr (ranked) keys_[bank] = key;
    queue.prefetch(place);
    releases_[bank] = banks.bank_ready(command, bank);
    if (releases_[bank] > now) {
      held_ |= bit;
      next_release_ = std::min(next_release_, releases_[bank]);
    } else {
      held_ &= ~bit;
    }
  }

  /// Banks whose candidate can have its command now, for columns and for rows.
  struct Ready {
    std::uint64_t columns, rows;
  };
  Ready ready(const DramBanks& banks, std::uint64_t active, DramCycle now) {
    if (now >= next_release_) release(now);
    const std::uint64_t free = active & ~held_;
    const auto passable = [&](DramBanks::Command command) {
      const std::uint64_t wanting = free & masks_[command];
      return wanting == 0 ? 0 : banks.passable(command, wanting, now);
    };
    return {passable(DramBanks::read) | passable(DramBanks::write),
            passable(DramBanks::activation) | passable(DramBanks::precharging)};
  }
  /// Returns the next cycle in which a candidate may have its command, if none can now.
  DramCycle next(const DramBanks& banks, std::uint64_t active, DramCycle now) const {
    DramCycle first = DramCycle::never();
    for (const auto command : commands)
      first = std::min(first, banks.earliest_of(command, active & masks_[command], now));
    return first;
  }

  /// Chooses among the candidates of the `active` banks; says when to ask again if no command can
  /// go.
  DramChoice choose(const DramQueue& queue, const DramBanks& banks, std::uint64_t active,
                    DramCycle now) {
    const Ready among = ready(banks, active, now);
    DramChoice choice;
    const std::uint32_t next_order = queue.next_order();
    choice.column = first(among.columns, next_order);
    choice.row = first(among.rows, next_order);
    if (choice.column == DramChoice::none && choice.row == DramChoice::none)
      choice.wake = next(banks, active, now);
    return choice;
  }

  /// Returns the place in the queue of a bank's candidate.
  std::uint32_t candidate(std::uint32_t bank) const { return places_[bank]; }

  /// Returns the key of a bank's candidate: the highest goes first.
  std::uint32_t key(std::uint32_t bank) const { return keys_[bank]; }

 private:
  /// Releases the banks whose time has come.
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

  /// Returns the first candidate of the banks `among`: the one with the highest key, then the
  /// oldest.
  std::uint32_t first(std::uint64_t among, std::uint32_t next_order) const {
    if (among == 0) return DramChoice::none;
    std::uint64_t most = 0;  // key, then age, then bank; no two requests have the same age
    for (; among != 0; among &= among - 1) {
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(among));
      std::uint64_t one = std::uint64_t{next_order - orders_[bank]} << bank_bits | bank;
      if constexpr (ranked) one |= std::uint64_t{keys_[bank]} << (32 + bank_bits);
      most = std::max(most, one);
    }
    return places_[most % (1u << bank_bits)];
  }

  static constexpr unsigned bank_bits = 6;
  static_assert(32 + bank_bits + key_bits == 64);
  static constexpr std::array commands = {DramBanks::read, DramBanks::write, DramBanks::activation,
                                          DramBanks::precharging};

  // Candidate of each bank: its number, its place and its key.
  std::array<std::uint32_t, 1 << bank_bits> orders_;
  std::array<std::uint32_t, 1 << bank_bits> places_;
  std::array<std::uint32_t, ranked ? 1 << bank_bits : 1> keys_;
  std::array<std::uint64_t, 4> masks_{};  ///< banks whose candidate needs each command
  /// Cycle from which the bank can take the command of its candidate.
  std::array<DramCycle, 1 << bank_bits> releases_;
  std::uint64_t held_ = 0;  ///< banks that cannot take the command yet
  /// Earliest cycle in which a held bank may take its command.
  DramCycle next_release_ = DramCycle::never();
};

}  // namespace lockstep
