#include "models/memory/dram_scheduler/tcm/tenant_monitor.hpp"

#include <algorithm>

namespace lockstep {

void TenantUse::add(std::span<const std::uint64_t, words> more) {
  requests += more[0];
  columns += more[1];
  shadow_hits += more[2];
  bank_cycles += more[3];
  bank_cycles_of += more[4];
}

void TenantUse::append_to(std::vector<std::uint64_t>& all) const {
  all.insert(all.end(), {requests, columns, shadow_hits, bank_cycles, bank_cycles_of});
}

void TenantMonitor::on_arrival(const DramEntry& entry, DramCycle now) {
  TenantUse& use = uses_[entry.tenant];
  OfBank& bank = of_bank(entry);
  ++use.requests;
  use.shadow_hits += bank.row == entry.row;
  bank.row = entry.row;
  any_ = true;
  if (bank.waiting++ != 0) return;
  count_banks(entry.tenant, now);
  ++states_[entry.tenant].busy_banks;
}

void TenantMonitor::on_served(const DramEntry& entry, DramCycle now) {
  if (--of_bank(entry).waiting != 0) return;
  count_banks(entry.tenant, now);
  --states_[entry.tenant].busy_banks;
}

/// Adds up the tenant's busy banks until `now`; their number has not changed since the last call.
void TenantMonitor::count_banks(std::uint16_t tenant, DramCycle now) {
  State& state = states_[tenant];
  if (state.busy_banks != 0) {
    const auto cycles = static_cast<std::uint64_t>(now - state.since);
    uses_[tenant].bank_cycles += cycles * state.busy_banks;
    uses_[tenant].bank_cycles_of += cycles * banks_;
  }
  state.since = now;
}

void TenantMonitor::take(std::vector<std::uint64_t>& words) {
  for (const TenantUse& use : uses_) use.append_to(words);
  std::fill(uses_.begin(), uses_.end(), TenantUse{});
  any_ = false;
}

}  // namespace lockstep
