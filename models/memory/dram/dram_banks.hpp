#pragma once

#include <nmmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/memory/dram/dram_cycle.hpp"
#include "models/memory/dram/dram_parameters.hpp"

namespace lockstep {

/// The banks of a channel: open rows, and the earliest cycle at which each command may issue.
///
/// Each bank keeps tRCD, tRP, tRAS, tRC, tRTP and tWR; each bank group tCCD_L, tRRD_L and tWTR_L;
/// the channel tCCD_S, tRRD_S, tFAW, tWTR_S and the turn from read to write.  With
/// DramTurnaround::bank each bank keeps tWTR_L and the turn from read to write, and the channel
/// keeps data apart on the bus.
/// Source: gpu-parameters.md, sections 1 "DRAM timing" and 18; JEDEC's names.
///
/// Simplified: one rank.  Data take the bus in the order of their commands.  Power-down is left
/// out; a refresh closes rows without a precharge of its own. A refresh of one bank comes even if
/// requests wait for the bank.
class DramBanks {
 public:
  static constexpr std::uint32_t no_row = ~std::uint32_t{0};

  /// Makes the banks.  The first refresh is `phase` cycles late, so that channels do not refresh
  /// together.
  DramBanks(const DramParameters& parameters, std::int64_t phase);

  std::uint32_t count() const { return static_cast<std::uint32_t>(rows_.size()); }
  std::uint32_t open_row(std::uint32_t bank) const { return rows_[bank]; }

  /// Commands that a bank may take next; also the order of the ready times.
  enum Command : std::uint8_t { read, write, activation, precharging };
  DramCycle earliest(Command command, std::uint32_t bank) const {
    const std::int64_t ready =
        std::max({ready_[command][bank], group_ready_[command][bank & group_mask_],
                  channel_ready_[command]});
    return DramCycle{turns_in_banks_ && command <= write ? std::max(ready, turned_[command][bank])
                                                         : ready};
  }
  /// Returns the cycle from which the bank itself allows the command, turns left aside.  Only a row
  /// command, a column command of the bank (precharging) or a refresh changes it.
  DramCycle bank_ready(Command command, std::uint32_t bank) const {
    return DramCycle{ready_[command][bank]};
  }
  /// Returns the banks of `among` whose group and channel allow the command now.
  std::uint64_t passable(Command command, std::uint64_t among, DramCycle now) const {
    if (channel_ready_[command] > now.value()) return 0;
    const __m128i both = _mm_set1_epi64x(now.value());
    std::uint64_t closed = 0;
    for (std::uint32_t group = 0; group <= group_mask_; group += 2) {
      const auto* pair = reinterpret_cast<const __m128i*>(&group_ready_[command][group]);
      const __m128i later = _mm_cmpgt_epi64(_mm_loadu_si128(pair), both);
      closed |= std::uint64_t(unsigned(_mm_movemask_pd(_mm_castsi128_pd(later)))) << group;
    }
    among &= ~(closed * group_banks_);
    return turns_in_banks_ && command <= write ? turned(command, among, now) : among;
  }
  /// Returns the earliest cycle, or a bound below it, at which one of the banks `among` can take
  /// the command.
  DramCycle earliest_of(Command command, std::uint64_t among, DramCycle now) const {
    if (among == 0) return DramCycle::never();
    const DramCycle channel{channel_ready_[command]};
    if (channel > now) return channel;
    DramCycle first = DramCycle::never();
    for (; among != 0; among &= among - 1)
      first =
          std::min(first, earliest(command, static_cast<std::uint32_t>(std::countr_zero(among))));
    return first;
  }
  /// Returns the earliest cycle of a column command for the open row.
  DramCycle earliest_column(std::uint32_t bank, bool writes) const {
    return earliest(writes ? write : read, bank);
  }
  DramCycle earliest_activate(std::uint32_t bank) const { return earliest(activation, bank); }
  DramCycle earliest_precharge(std::uint32_t bank) const { return earliest(precharging, bank); }

  void activate(std::uint32_t bank, std::uint32_t row, DramCycle now);
  void precharge(std::uint32_t bank, DramCycle now);
  /// Serves a column command. Returns the cycle in which the data bus is free again.
  DramCycle column(std::uint32_t bank, bool write, DramCycle now);

  /// Returns the cycles from one column command to the next of the same row and direction.
  std::int64_t column_gap() const { return std::max({t_.ccd_s, t_.ccd_l, std::int64_t{1}}); }
  /// Returns the first cycle in which refresh() will do something.
  DramCycle next_refresh() const { return DramCycle{next_refresh_}; }

  /// Starts the refreshes due up to `now`. Returns a mask of the banks whose rows they have closed.
  /// No event calls this function: each function that looks at the banks at `now` calls it first.
  std::uint64_t refresh(DramCycle now) {
    return now.value() < next_refresh_ ? 0 : apply_refreshes(now.value());
  }
  std::int64_t refreshes() const { return refreshes_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(rows_, ready_, group_ready_, channel_ready_, turned_, last_activates_, oldest_activate_,
            next_refresh_, refreshes_);
  }

 private:
  struct Timing {
    std::int64_t rcd_read, rcd_write, rp, ras, rc, rrd_s, rrd_l, ccd_s, ccd_l, faw, cl, cwl, burst,
        wtr_s, wtr_l, rtp, wr, rtw, refresh_interval, rfc;
    bool of_a_bank;  ///< true: the refresh occupies one bank
  };
  std::uint64_t apply_refreshes(std::int64_t now);
  /// Returns the banks of `among` that have turned to the command's direction.
  std::uint64_t turned(Command command, std::uint64_t among, DramCycle now) const {
    for (std::uint64_t rest = among; rest != 0; rest &= rest - 1)
      if (turned_[command][static_cast<unsigned>(std::countr_zero(rest))] > now.value())
        among &= ~(rest & -rest);
    return among;
  }

  Timing t_;
  const bool turns_in_banks_;
  std::uint32_t group_mask_;
  std::uint64_t group_banks_ = 0;    ///< banks of group 0; those of group g are g bits higher
  std::vector<std::uint32_t> rows_;  ///< open row of each bank
  // Earliest cycle of each command that its bank, its bank group and the channel allow.  The cycles
  // are plain numbers, since several are compared at once.
  std::array<std::array<std::int64_t, 64>, 4> ready_{};
  std::array<std::array<std::int64_t, 16>, 4> group_ready_{};
  std::array<std::int64_t, 4> channel_ready_{};
  /// Earliest read and write of each bank behind its own turn, with DramTurnaround::bank.
  std::array<std::array<std::int64_t, 64>, 2> turned_{};
  std::array<std::int64_t, 4> last_activates_;
  std::uint32_t oldest_activate_ = 0;
  std::int64_t next_refresh_;
  std::int64_t refreshes_ = 0;
};

}  // namespace lockstep
