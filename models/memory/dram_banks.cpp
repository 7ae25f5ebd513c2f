#include "models/memory/dram_banks.hpp"

#include <limits>

namespace lockstep {
namespace {

void not_before(std::int64_t& earliest, std::int64_t cycle) {
  earliest = std::max(earliest, cycle);
}

}  // namespace

DramBanks::DramBanks(const DramParameters& p, std::int64_t phase)
    : t_{p.rcd_read.count(), p.rcd_write.count(), p.rp.count(), p.ras.count(), p.rc.count(),
         p.rrd_s.count(), p.rrd_l.count(), p.ccd_s.count(), p.ccd_l.count(), p.faw.count(),
         p.cl.count(), p.cwl.count(), p.burst.count(), p.wtr_s.count(), p.wtr_l.count(),
         p.rtp.count(), p.wr.count(),
         // Read data, two cycles to turn the bus, write data.
         std::max(p.cl.count() + p.burst.count() + 2 - p.cwl.count(), p.ccd_s.count()),
         p.refi.count(), p.rfc.count()},
      group_mask_(p.bank_groups - 1),
      banks_(p.banks),
      groups_(p.bank_groups),
      next_refresh_(p.refi.count() > 0 ? p.refi.count() + phase
                                       : std::numeric_limits<std::int64_t>::max()) {
  last_activates_.fill(-t_.faw);
}

void DramBanks::activate(std::uint32_t bank, std::uint32_t row, std::int64_t now) {
  Bank& b = banks_[bank];
  b.row = row;
  b.read_ready = now + t_.rcd_read;
  b.write_ready = now + t_.rcd_write;
  not_before(b.precharge_ready, now + t_.ras);
  not_before(b.activate_ready, now + t_.rc);
  not_before(groups_[bank & group_mask_].activate_ready, now + t_.rrd_l);
  last_activates_[oldest_activate_] = now;
  oldest_activate_ = (oldest_activate_ + 1) % 4;
  not_before(activate_ready_, std::max(now + t_.rrd_s, last_activates_[oldest_activate_] + t_.faw));
}

void DramBanks::precharge(std::uint32_t bank, std::int64_t now) {
  banks_[bank].row = no_row;
  not_before(banks_[bank].activate_ready, now + t_.rp);
}

std::int64_t DramBanks::column(std::uint32_t bank, bool write, std::int64_t now) {
  Bank& b = banks_[bank];
  Group& g = groups_[bank & group_mask_];
  not_before(g.column_ready, now + t_.ccd_l);
  if (write) {
    const std::int64_t end = now + t_.cwl + t_.burst;
    not_before(write_ready_, now + t_.ccd_s);
    not_before(read_ready_, end + t_.wtr_s);
    not_before(g.read_ready, end + t_.wtr_l);
    not_before(b.precharge_ready, end + t_.wr);
    return end;
  }
  not_before(read_ready_, now + t_.ccd_s);
  not_before(write_ready_, now + t_.rtw);
  not_before(b.precharge_ready, now + t_.rtp);
  return now + t_.cl + t_.burst;
}

bool DramBanks::apply_refresh(std::int64_t now) {
  const std::int64_t due = (now - next_refresh_) / t_.refi + 1;
  const std::int64_t last = next_refresh_ + (due - 1) * t_.refi;
  for (Bank& b : banks_) {
    b.row = no_row;
    not_before(b.activate_ready, last + t_.rfc);
  }
  refreshes_ += due;
  next_refresh_ = last + t_.refi;
  return true;
}

}  // namespace lockstep
