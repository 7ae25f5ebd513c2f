#include "models/host/progress_watch.hpp"

#include <algorithm>
#include <utility>

namespace lockstep {

Time ProgressWatch::counted(Time epoch, std::uint8_t bits, bool others_get_on) {
  if ((bits & progress::issued) && !(bits & progress::wants_page)) return epoch * factor;
  if (!others_get_on) return epoch;
  return (bits & progress::on_chip) ? Time{epoch.femtoseconds() / factor} : Time::zero();
}

void ProgressWatch::look(Time end, std::span<const std::uint8_t> seen) {
  found_.clear();
  const Time epoch = std::min(end - std::exchange(last_, end), limit_);
  const bool some_get_on = std::any_of(seen.begin(), seen.end(), [](std::uint8_t bits) {
    return (bits & progress::unfinished) && gets_on(bits);
  });
  for (std::size_t t = 0; t < tenants_.size(); ++t) {
    OfTenant& tenant = tenants_[t];
    if (gets_on(seen[t]) || limit_ == Time::zero()) {
      tenant = {end, Time::zero(), 0, false};
      continue;
    }
    tenant.waited = std::min(tenant.waited + counted(epoch, seen[t], some_get_on), limit_);
    if (++tenant.looks < least_looks || tenant.waited < limit_ || tenant.was_found) continue;
    tenant.was_found = true;
    found_.push_back(t);
  }
}

}  // namespace lockstep
