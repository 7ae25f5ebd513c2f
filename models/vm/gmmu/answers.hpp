/// Answers of the GMMU to SMs and host: translations, refusals, far-faults, replays.
///
/// A request for an absent page is refused (Nack-Replayable) and its SM listed in the page's
/// far-fault MSHR.  The first request for a page is reported to the host; when the page has come,
/// the listed SMs are told to ask again.
/// Source: 001, section B.2; memory-interference.md, section 5.3.1; architecture.md, section 8,
/// rule 7.
#pragma once

#include <vector>

#include "core/engine/link.hpp"
#include "models/vm/gmmu/access_notes.hpp"
#include "models/vm/gmmu/far_faults.hpp"
#include "models/vm/gmmu/gmmu_cycle.hpp"
#include "models/vm/gmmu/local_handlers.hpp"
#include "models/vm/gmmu_statistics.hpp"
#include "models/vm/replay_mode.hpp"

namespace lockstep {

class GmmuAnswers {
 public:
  GmmuAnswers(std::vector<Link> to_sms, Link to_host, const FarFaults::Setup& faults,
              LocalHandlers& local, GmmuStatistics& statistics);

  std::vector<Link>& sms() { return to_sms_; }
  Link& host() { return to_host_; }
  /// Returns whether each SM has got a translation of the tenant once.
  std::vector<bool>& told(TenantId tenant) { return told_[tenant.value()]; }
  FarFaults& faults() { return faults_; }
  const FarFaults& faults() const { return faults_; }
  /// Notes that a walk found the page; the host is told with the next far-fault.
  void note(TenantPage where) { notes_.add(where); }

  /// Sends the translation; false if the request had to be refused.
  bool answer(const TranslateRequest& request, PageTableEntry entry, GmmuCycle& cycle);
  /// Takes the host's answer on pages, or the end of their handling by the GPU (`which`). Waiting
  /// SMs ask again, or are told that there is no page. `entry_of(where)` is 0 for no page.
  template <class EntryOf>
  void pages_came(const PageSpan& span, FarFaults::Which which, ReplayMode mode, EntryOf&& entry_of,
                  GmmuCycle& cycle) {
    bool anybody = false;
    count_waiting(cycle.number);
    faults_.take(span, which, [&](TenantPage where, const FarFaults::Askers& askers) {
      if (entry_of(where).bits == 0) return invalid(where, askers, cycle);
      anybody = true;
      replay(where, askers, cycle);
    });
    if (mode == ReplayMode::broadcast && anybody) replay_all(cycle);
  }
  /// An SM has replayed a page.
  void replayed(const PageNotice& notice, GmmuCycle& cycle);
  /// Forgets the tenant's waits for pages.
  void forget_tenant(TenantId tenant, GmmuCycle& cycle);

  /// Brings the statistics of waits up to date until this cycle.
  void count_waiting(std::int64_t cycle);
  void sample_waiting();
  void serialize(Archive& archive);

 private:
  void refuse(const TranslateRequest& request, PageTableEntry entry, GmmuCycle& cycle);
  void send_refusal(const TranslateRequest& request, TranslationStatus status,
                    std::uint32_t position, GmmuCycle& cycle);
  void tell_host(const TranslateRequest& request, bool permission, GmmuCycle& cycle);
  void send(std::uint16_t sm, const TranslationAnswer& answer, GmmuCycle& cycle) {
    cycle.outbox.send(to_sms_[sm], cycle.now, kind_of(MessageKind::translation), answer);
  }
  void replay(TenantPage where, const FarFaults::Askers& askers, GmmuCycle& cycle);
  void replay_all(GmmuCycle& cycle);
  void invalid(TenantPage where, const FarFaults::Askers& askers, GmmuCycle& cycle);

  std::vector<Link> to_sms_;
  Link to_host_;
  FarFaults faults_;
  AccessNotes notes_;
  std::vector<std::vector<bool>> told_;  ///< SMs of each tenant that have been told
  std::int64_t waiting_counted_ = 0;     ///< cycle up to which far_fault_cycles is counted
  LocalHandlers& local_;
  GmmuStatistics& statistics_;
};

}  // namespace lockstep
