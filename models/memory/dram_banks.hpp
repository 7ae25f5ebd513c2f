#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "models/memory/dram_parameters.hpp"

namespace lockstep {

/// The banks of a channel: open rows, and the earliest cycle at which each command may issue.
///
/// tRCD, tRP, tRAS, tRC, tRTP and tWR stand per bank; tCCD_L, tRRD_L and tWTR_L per bank group;
/// tCCD_S, tRRD_S, tFAW, tWTR_S and the turn from read to write per channel.
/// Source: gpu-parameters.md, sections 1 "DRAM timing" and 18; JEDEC's names.
///
/// Simplified: one rank.  Auto-precharge, power-down and per-bank refresh are left out.
class DramBanks {
 public:
  static constexpr std::uint32_t no_row = ~std::uint32_t{0};

  /// The first refresh is `phase` cycles late, so that channels do not refresh together.
  DramBanks(const DramParameters& parameters, std::int64_t phase);

  std::uint32_t count() const { return static_cast<std::uint32_t>(banks_.size()); }
  std::uint32_t open_row(std::uint32_t bank) const { return banks_[bank].row; }

  /// Of a column command for the open row.
  std::int64_t earliest_column(std::uint32_t bank, bool write) const {
    const Bank& b = banks_[bank];
    const Group& g = groups_[bank & group_mask_];
    return write ? std::max({b.write_ready, g.column_ready, write_ready_})
                 : std::max({b.read_ready, g.column_ready, g.read_ready, read_ready_});
  }
  std::int64_t earliest_activate(std::uint32_t bank) const {
    return std::max(
        {banks_[bank].activate_ready, groups_[bank & group_mask_].activate_ready, activate_ready_});
  }
  std::int64_t earliest_precharge(std::uint32_t bank) const { return banks_[bank].precharge_ready; }

  void activate(std::uint32_t bank, std::uint32_t row, std::int64_t now);
  void precharge(std::uint32_t bank, std::int64_t now);
  /// The cycle in which the data bus is free again.
  std::int64_t column(std::uint32_t bank, bool write, std::int64_t now);

  /// Refreshes that fell due up to `now`; if there was one all rows are closed and it returns
  /// true. Nothing is scheduled: whoever looks at the banks at `now` calls this first.
  bool refresh(std::int64_t now) { return now >= next_refresh_ && apply_refresh(now); }
  std::int64_t refreshes() const { return refreshes_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(banks_, groups_, read_ready_, write_ready_, activate_ready_, last_activates_,
            oldest_activate_, next_refresh_, refreshes_);
  }

 private:
  struct Bank {
    std::uint32_t row = no_row;
    std::int64_t activate_ready = 0, precharge_ready = 0, read_ready = 0, write_ready = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(row, activate_ready, precharge_ready, read_ready, write_ready);
    }
  };
  struct Group {
    std::int64_t column_ready = 0, read_ready = 0, activate_ready = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(column_ready, read_ready, activate_ready);
    }
  };
  struct Timing {
    std::int64_t rcd_read, rcd_write, rp, ras, rc, rrd_s, rrd_l, ccd_s, ccd_l, faw, cl, cwl, burst,
        wtr_s, wtr_l, rtp, wr, rtw, refi, rfc;
  };
  bool apply_refresh(std::int64_t now);

  Timing t_;
  std::uint32_t group_mask_;
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  std::int64_t read_ready_ = 0, write_ready_ = 0, activate_ready_ = 0;
  std::array<std::int64_t, 4> last_activates_;
  std::uint32_t oldest_activate_ = 0;
  std::int64_t next_refresh_;
  std::int64_t refreshes_ = 0;
};

}  // namespace lockstep
