#include "models/memory/dram/dram_banks.hpp"

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
         p.rfc_bank.count() > 0 ? p.refi.count() / p.banks : p.refi.count(),
         p.rfc_bank.count() > 0 ? p.rfc_bank.count() : p.rfc.count(), p.rfc_bank.count() > 0},
      turns_in_banks_(p.turnaround == DramTurnaround::bank),
      group_mask_(p.bank_groups - 1),
      rows_(p.banks, no_row),
      next_refresh_(p.refi.count() > 0 ? t_.refresh_interval + phase
                                       : std::numeric_limits<std::int64_t>::max()) {
  last_activates_.fill(-t_.faw);
  for (std::uint32_t bank = 0; bank < p.banks; bank += p.bank_groups)
    group_banks_ |= std::uint64_t{1} << bank;
}

void DramBanks::activate(std::uint32_t bank, std::uint32_t row, DramCycle at) {
  const std::int64_t now = at.value();
  rows_[bank] = row;
  ready_[read][bank] = now + t_.rcd_read;
  ready_[write][bank] = now + t_.rcd_write;
  not_before(ready_[precharging][bank], now + t_.ras);
  not_before(ready_[activation][bank], now + t_.rc);
  not_before(group_ready_[activation][bank & group_mask_], now + t_.rrd_l);
  last_activates_[oldest_activate_] = now;
  oldest_activate_ = (oldest_activate_ + 1) % 4;
  not_before(channel_ready_[activation],
             std::max(now + t_.rrd_s, last_activates_[oldest_activate_] + t_.faw));
}

void DramBanks::precharge(std::uint32_t bank, DramCycle now) {
  rows_[bank] = no_row;
  not_before(ready_[activation][bank], now.value() + t_.rp);
}

DramCycle DramBanks::column(std::uint32_t bank, bool writes, DramCycle at) {
  const std::int64_t now = at.value();
  const std::uint32_t group = bank & group_mask_;
  not_before(group_ready_[read][group], now + t_.ccd_l);
  not_before(group_ready_[write][group], now + t_.ccd_l);
  if (writes) {
    const std::int64_t end = now + t_.cwl + t_.burst;
    not_before(channel_ready_[write], now + t_.ccd_s);
    if (turns_in_banks_) {
      not_before(channel_ready_[read], std::max(now + t_.ccd_s, end - t_.cl));
      not_before(turned_[read][bank], end + t_.wtr_l);
    } else {
      not_before(channel_ready_[read], end + t_.wtr_s);
      not_before(group_ready_[read][group], end + t_.wtr_l);
    }
    not_before(ready_[precharging][bank], end + t_.wr);
    return DramCycle{end};
  }
  not_before(channel_ready_[read], now + t_.ccd_s);
  if (turns_in_banks_) {
    not_before(channel_ready_[write], now + std::max(t_.cl + t_.burst - t_.cwl, t_.ccd_s));
    not_before(turned_[write][bank], now + t_.rtw);
  } else {
    not_before(channel_ready_[write], now + t_.rtw);
  }
  not_before(ready_[precharging][bank], now + t_.rtp);
  return DramCycle{now + t_.cl + t_.burst};
}

std::uint64_t DramBanks::apply_refreshes(std::int64_t now) {
  const std::int64_t due = (now - next_refresh_) / t_.refresh_interval + 1;
  const std::int64_t last = next_refresh_ + (due - 1) * t_.refresh_interval;
  const auto banks = static_cast<std::int64_t>(count());
  std::uint64_t closed = 0;
  // If a bank has had several refreshes, only the last one matters.
  for (std::int64_t back = std::min(t_.of_a_bank ? due : banks, banks); back-- > 0;) {
    const std::int64_t number = t_.of_a_bank ? refreshes_ + due - 1 - back : back;
    const auto bank = static_cast<std::uint32_t>(number % banks);
    rows_[bank] = no_row;
    not_before(ready_[activation][bank],
               (t_.of_a_bank ? last - back * t_.refresh_interval : last) + t_.rfc);
    closed |= std::uint64_t{1} << bank;
  }
  refreshes_ += due;
  next_refresh_ = last + t_.refresh_interval;
  return closed;
}

}  // namespace lockstep
