#include "models/vm/gmmu/answers.hpp"

#include <span>

namespace lockstep {

GmmuAnswers::GmmuAnswers(std::vector<Link> to_sms, Link to_host, const FarFaults::Setup& faults,
                         LocalHandlers& local, GmmuStatistics& statistics)
    : to_sms_(std::move(to_sms)),
      to_host_(to_host),
      faults_(faults),
      told_(faults.tenants, std::vector<bool>(to_sms_.size())),
      local_(local),
      statistics_(statistics) {}

bool GmmuAnswers::answer(const TranslateRequest& request, PageTableEntry entry, GmmuCycle& cycle) {
  faults_.looked_up(request);
  if (!entry.is(PageTableEntry::present) ||
      (request.write && !entry.is(PageTableEntry::writable))) {
    refuse(request, entry, cycle);
    return false;
  }
  if (request.refused) {  // the SM asks again, as for a page that has been brought
    replay(request.where(), {{request.sm, request.write != 0}}, cycle);
    return true;
  }
  TranslationAnswer answer;
  answer.page = request.page;
  answer.entry = entry;
  answer.tenant = request.tenant;
  answer.write = request.write;
  told_[request.tenant][request.sm] = true;
  send(request.sm, answer, cycle);
  return true;
}

void GmmuAnswers::refuse(const TranslateRequest& request, PageTableEntry entry, GmmuCycle& cycle) {
  count_waiting(cycle.number);
  const FarFaults::Refusal refusal = faults_.refuse(request);
  if (refusal == FarFaults::Refusal::no_entry) {
    ++statistics_.far_fault_stalls[request.tenant];
    if (faults_.refuses_all())
      send_refusal(request, TranslationStatus::refused, faults_.granules(), cycle);
    return;
  }
  if (faults_.waiting() > statistics_.far_faults_most.value())
    statistics_.far_faults_most = faults_.waiting();
  const bool first = refusal == FarFaults::Refusal::first;
  const bool local = first && entry.is(PageTableEntry::untouched) && local_.take(request, cycle);
  if (first && !local) faults_.pass_on(request.where());
  const TranslationStatus status =
      faults_.host_has(request.where()) ? TranslationStatus::refused : TranslationStatus::handled;
  if (!request.refused) send_refusal(request, status, faults_.position(request.where()), cycle);
  if (!first) ++statistics_.coalesced[request.tenant];
  if (first && !local) tell_host(request, entry.is(PageTableEntry::present), cycle);
}

/// Sends a refusal: Nack-Replayable.
void GmmuAnswers::send_refusal(const TranslateRequest& request, TranslationStatus status,
                               std::uint32_t position, GmmuCycle& cycle) {
  TranslationAnswer answer;
  answer.page = request.page;
  answer.tenant = request.tenant;
  answer.status = status;
  answer.position = position;
  answer.write = request.write;
  ++statistics_.refusals[request.tenant];
  send(request.sm, answer, cycle);
}

void GmmuAnswers::tell_host(const TranslateRequest& request, bool permission, GmmuCycle& cycle) {
  ++statistics_.far_faults[request.tenant];
  if (permission) ++statistics_.permission_faults[request.tenant];
  FarFault fault;
  fault.page = request.page;
  fault.tenant = request.tenant;
  fault.sm = request.sm;
  fault.warp = request.warp;
  fault.write = request.write;
  fault.permission = permission;
  fault.found = cycle.now;
  fault.position = faults_.position(request.where());
  const std::vector<AccessNote> notes = notes_.take();
  cycle.outbox.send(to_host_, cycle.now, kind_of(MessageKind::far_fault), fault,
                    std::as_bytes(std::span(notes)));
}

/// The listed SMs are named even when all SMs are told, so that each of them reports when it is
/// done.
void GmmuAnswers::replay(TenantPage where, const FarFaults::Askers& askers, GmmuCycle& cycle) {
  faults_.replaying(where, askers, cycle.number);
  statistics_.replays[where.tenant.value()] += askers.size();
  for (const FarFaults::Asker& asker : askers)
    cycle.outbox.send(to_sms_[asker.sm], cycle.now, kind_of(MessageKind::replay),
                      PageNotice{where.page.value(), where.tenant.value(), asker.sm, 0});
}

void GmmuAnswers::replay_all(GmmuCycle& cycle) {
  for (std::size_t sm = 0; sm < to_sms_.size(); ++sm)
    cycle.outbox.send(to_sms_[sm], cycle.now, kind_of(MessageKind::replay),
                      PageNotice{all_pages, all_tenants, static_cast<std::uint16_t>(sm), 0});
}

void GmmuAnswers::invalid(TenantPage where, const FarFaults::Askers& askers, GmmuCycle& cycle) {
  TranslationAnswer answer;
  answer.page = where.page.value();
  answer.tenant = where.tenant.value();
  answer.status = TranslationStatus::invalid;
  for (const FarFaults::Asker& asker : askers) {
    answer.write = asker.write;
    ++statistics_.invalid[answer.tenant];
    send(asker.sm, answer, cycle);
  }
}

void GmmuAnswers::replayed(const PageNotice& notice, GmmuCycle& cycle) {
  const std::int64_t began = faults_.replayed(notice.where(), SmId{notice.sm});
  if (began >= 0)
    statistics_.replay_latency[notice.tenant].add(static_cast<std::uint64_t>(cycle.number - began));
}

void GmmuAnswers::forget_tenant(TenantId tenant, GmmuCycle& cycle) {
  count_waiting(cycle.number);
  faults_.forget(tenant, [&](const TranslateRequest& request) {
    send_refusal(request, TranslationStatus::refused, 0, cycle);
  });
}

void GmmuAnswers::count_waiting(std::int64_t cycle) {
  const auto cycles = static_cast<std::uint64_t>(cycle - waiting_counted_);
  for (std::uint16_t tenant = 0; tenant < told_.size(); ++tenant)
    statistics_.far_fault_cycles[tenant] += faults_.waiting(TenantId{tenant}) * cycles;
  waiting_counted_ = cycle;
}

void GmmuAnswers::sample_waiting() {
  for (std::uint16_t tenant = 0; tenant < told_.size(); ++tenant)
    statistics_.far_faults_waiting[tenant] = faults_.waiting(TenantId{tenant});
}

void GmmuAnswers::serialize(Archive& archive) {
  archive(to_sms_, to_host_, notes_, told_, waiting_counted_);
  faults_.serialize(archive);
}

}  // namespace lockstep
