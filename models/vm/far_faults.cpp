#include "models/vm/far_faults.hpp"

#include <algorithm>

namespace lockstep {

bool FarFaults::refuse(const TranslateRequest& request) {
  replayed(request.tenant, request.page, request.sm);
  const auto [fault, first] = waiting_.try_emplace(key(request.tenant, request.page));
  Askers& askers = fault->second;
  const auto asker = std::find_if(askers.begin(), askers.end(),
                                  [&](const Asker& a) { return a.sm == request.sm; });
  if (asker == askers.end()) {
    askers.push_back({request.sm, request.write});
  } else {
    asker->write |= request.write;
  }
  return first;
}

void FarFaults::replaying(std::uint16_t tenant, std::uint64_t page, const Askers& askers) {
  std::vector<std::uint16_t>& sms = replays_[key(tenant, page)];
  for (const Asker& asker : askers)
    if (std::find(sms.begin(), sms.end(), asker.sm) == sms.end()) sms.push_back(asker.sm);
}

void FarFaults::replayed(std::uint16_t tenant, std::uint64_t page, std::uint16_t sm) {
  const auto replay = replays_.find(key(tenant, page));
  if (replay == replays_.end()) return;
  std::erase(replay->second, sm);
  if (replay->second.empty()) replays_.erase(replay);
}

bool FarFaults::replays_in(const PageSpan& span) const {
  const auto replay = replays_.lower_bound(key(span.tenant, span.page));
  return replay != replays_.end() && replay->first < key(span.tenant, span.page + span.count);
}

}  // namespace lockstep
