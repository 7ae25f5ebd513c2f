/// Far-fault MSHRs: pages that are not in GPU memory, and who was refused them.
///
/// A page's entry is made by the first refusal, which the host is told of unless the GPU handles it
/// by itself; later ones join it.  Each refusal says how many older faults the host has: its
/// position in the queue of pending faults (000, section 4.1), in which the pages of a granule are
/// one (section 5.1: handled 64 KiB at a time).
/// When the page has come, those listed are told to ask again, and the page is no victim until each
/// has said that what waited has gone out, or was refused once more.
/// Source: 001, section B.2 and Figure 1; architecture.md, section 8, rule 7.
///
/// The papers give no number of entries (`gpu.vm.far_fault_mshrs`).  A request that finds none gets
/// no answer for now; whenever an entry comes free the oldest of those looks its page up again.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/vm/messages.hpp"

namespace lockstep {

class FarFaults {
 public:
  struct Asker {
    std::uint16_t sm = 0;
    std::uint8_t write = 0;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(sm, write);
    }
  };
  using Askers = std::vector<Asker>;

  struct Setup {
    std::size_t entries = 0;          ///< entries of the table; 0: as many as there are faults
    std::uint64_t granule_pages = 1;  ///< pages whose faults count as one in the queue
    std::size_t tenants = 0;
    /// true: requests that wait for a free entry are refused. An SM issues squashed accesses again
    /// behind lookups under way, so these lookups must not wait for an entry.
    bool refuses_all = false;
  };
  explicit FarFaults(const Setup& setup)
      : entries_(setup.entries),
        granule_pages_(setup.granule_pages),
        refuses_all_(setup.refuses_all),
        by_tenant_(setup.tenants) {}

  enum class Refusal : std::uint8_t {
    first,     ///< first refusal of the page: the host must hear of it
    joined,    ///< the page has an entry already
    no_entry,  ///< the request waits in take_retry()
  };
  Refusal refuse(const TranslateRequest& request);
  /// Takes a request that waited for an entry and may look its page up again; an entry is kept for
  /// it until looked_up().  Returns false if there is none.
  bool take_retry(TranslateRequest& request);
  /// The host is told of the page.
  void pass_on(TenantPage where);
  bool host_has(TenantPage where) const;
  bool refuses_all() const { return refuses_all_; }
  /// Returns the number of granules that the host was told of before that of the page; 0 if it does
  /// not have the page.
  std::uint32_t position(TenantPage where) const;
  /// Returns the number of granules that the host has been told of.
  std::uint32_t granules() const { return static_cast<std::uint32_t>(numbers_.size()); }
  /// The page has been found, or is about to be refused.
  void looked_up(const TranslateRequest& request) { retrying_ -= request.retried; }
  /// Forgets the tenant's waits. Calls gone(request) for requests without an entry.
  template <class Gone>
  void forget(TenantId tenant, Gone&& gone) {
    std::erase_if(waiting_, [&](const auto& fault) {
      if (fault.first.tenant == tenant) leave_queue(fault.first, fault.second);
      return fault.first.tenant == tenant;
    });
    by_tenant_[tenant.value()] = 0;
    std::erase_if(without_entry_, [&](const TranslateRequest& request) {
      if (request.where().tenant != tenant) return false;
      if (!request.refused) gone(request);
      return true;
    });
  }
  enum class Which : std::uint8_t { all, local };
  /// Calls came(where, askers) for each page of the span with waiting SMs, in order, and removes
  /// the waits; or for the pages among them that the GPU handles by itself.
  template <class Came>
  void take(const PageSpan& span, Which which, Came&& came) {
    auto fault = waiting_.lower_bound(span.first());
    while (fault != waiting_.end() && fault->first < span.end()) {
      if (which == Which::local && fault->second.host_has) {
        ++fault;
        continue;
      }
      --by_tenant_[span.tenant];
      leave_queue(fault->first, fault->second);
      came(fault->first, fault->second.askers);
      fault = waiting_.erase(fault);
    }
  }

  void replaying(TenantPage where, const Askers& askers, std::int64_t cycle);
  /// Notes a replay. Returns the cycle in which the page's replays began if this was the last one,
  /// else -1.
  std::int64_t replayed(TenantPage where, SmId sm);
  /// Replays of pages of the span have not completed.
  bool replays_in(const PageSpan& span) const;

  std::size_t waiting() const { return waiting_.size(); }
  std::uint64_t waiting(TenantId tenant) const { return by_tenant_[tenant.value()]; }
  std::string waiting_for() const;
  void serialize(Archive& archive);

 private:
  struct Fault {
    Askers askers;
    bool host_has = false;  ///< the host has been told

    template <class Archive>
    void serialize(Archive& archive) {
      archive(askers, host_has);
    }
  };
  /// Granule of pages that the host has.
  struct Granule {
    /// Number in the order in which the host was told of the granule's first page.
    std::uint64_t number = 0;
    std::uint64_t pages = 0;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(number, pages);
    }
  };
  struct Replay {
    std::int64_t began = 0;          ///< cycle in which the fault began
    std::vector<std::uint16_t> sms;  ///< SMs whose replay is not complete

    template <class Archive>
    void serialize(Archive& archive) {
      archive(began, sms);
    }
  };

  TenantPage granule_of(TenantPage where) const {
    return {where.tenant, where.page - where.page.value() % granule_pages_};
  }
  void leave_queue(TenantPage where, const Fault& fault);
  bool full() const { return entries_ > 0 && waiting_.size() + retrying_ >= entries_; }

  const std::size_t entries_;
  const std::uint64_t granule_pages_;
  const bool refuses_all_;
  std::size_t retrying_ = 0;  ///< entries reserved for requests on their way
  std::deque<TranslateRequest> without_entry_;
  std::map<TenantPage, Fault> waiting_;
  std::map<TenantPage, Granule> granules_;  ///< granules by their first page
  std::vector<std::uint64_t> numbers_;      ///< ascending numbers of the granules: the queue
  std::uint64_t last_number_ = 0;
  std::vector<std::uint64_t> by_tenant_;  ///< entries of `waiting_` for each tenant
  std::map<TenantPage, Replay> replays_;
};

}  // namespace lockstep
