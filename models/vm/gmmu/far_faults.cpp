#include "models/vm/gmmu/far_faults.hpp"

#include <algorithm>

namespace lockstep {

FarFaults::Refusal FarFaults::refuse(const TranslateRequest& request) {
  const TenantPage where = request.where();
  replayed(where, SmId{request.sm});
  const auto fault = waiting_.find(where);
  const bool first = fault == waiting_.end();
  if (first && full()) {
    without_entry_.push_back(request);
    without_entry_.back().refused = refuses_all_;
    return Refusal::no_entry;
  }
  by_tenant_[request.tenant] += first;
  Askers& askers = first ? waiting_[where].askers : fault->second.askers;
  const auto asker = std::find_if(askers.begin(), askers.end(),
                                  [&](const Asker& a) { return a.sm == request.sm; });
  if (asker == askers.end()) {
    askers.push_back({request.sm, request.write});
  } else {
    asker->write |= request.write;
  }
  return first ? Refusal::first : Refusal::joined;
}

void FarFaults::pass_on(TenantPage where) {
  waiting_.at(where).host_has = true;
  Granule& granule = granules_[granule_of(where)];
  if (granule.pages++ > 0) return;
  granule.number = ++last_number_;
  numbers_.push_back(last_number_);
}

bool FarFaults::host_has(TenantPage where) const {
  const auto fault = waiting_.find(where);
  return fault != waiting_.end() && fault->second.host_has;
}

std::uint32_t FarFaults::position(TenantPage where) const {
  if (!host_has(where)) return 0;
  const std::uint64_t own = granules_.at(granule_of(where)).number;
  const auto number = std::lower_bound(numbers_.begin(), numbers_.end(), own);
  return static_cast<std::uint32_t>(number - numbers_.begin());
}

void FarFaults::leave_queue(TenantPage where, const Fault& fault) {
  if (!fault.host_has) return;
  const auto granule = granules_.find(granule_of(where));
  if (--granule->second.pages > 0) return;
  numbers_.erase(std::lower_bound(numbers_.begin(), numbers_.end(), granule->second.number));
  granules_.erase(granule);
}

bool FarFaults::take_retry(TranslateRequest& request) {
  if (without_entry_.empty() || full()) return false;
  request = without_entry_.front();
  without_entry_.pop_front();
  request.retried = 1;
  ++retrying_;
  return true;
}

void FarFaults::replaying(TenantPage where, const Askers& askers, std::int64_t cycle) {
  Replay& replay = replays_[where];
  replay.began = cycle;
  std::vector<std::uint16_t>& sms = replay.sms;
  for (const Asker& asker : askers)
    if (std::find(sms.begin(), sms.end(), asker.sm) == sms.end()) sms.push_back(asker.sm);
}

std::int64_t FarFaults::replayed(TenantPage where, SmId sm) {
  const auto replay = replays_.find(where);
  if (replay == replays_.end()) return -1;
  std::erase(replay->second.sms, sm.value());
  if (!replay->second.sms.empty()) return -1;
  const std::int64_t began = replay->second.began;
  replays_.erase(replay);
  return began;
}

bool FarFaults::replays_in(const PageSpan& span) const {
  const auto replay = replays_.lower_bound(span.first());
  return replay != replays_.end() && replay->first < span.end();
}

std::string FarFaults::waiting_for() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (!waiting_.empty()) add("the host to bring " + std::to_string(waiting_.size()) + " pages");
  if (!without_entry_.empty())
    add(std::to_string(without_entry_.size()) + " requests without a far-fault MSHR");
  if (!replays_.empty()) add("SMs to replay " + std::to_string(replays_.size()) + " pages");
  return text;
}

void FarFaults::serialize(Archive& archive) {
  archive(waiting_, granules_, numbers_, last_number_, by_tenant_, replays_, retrying_,
          without_entry_);
}

}  // namespace lockstep
