/// Part of the host for one GPU: the programs of its tenants, its driver and its link.
///
/// Tenant numbers here count the tenants of the GPU.
/// Source: architecture.md, sections 4 and 8 ("The host").
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/engine/component.hpp"
#include "models/host/foreign_inspection.hpp"
#include "models/host/host_logs.hpp"
#include "models/host/tenant_directory.hpp"
#include "models/noc/progress.hpp"

namespace lockstep {

struct PeerCopy;

class HostPart final : public SharedPages::Gpu {
 public:
  struct Setup {
    HostParameters parameters;
    const std::vector<Tenant>* tenants = nullptr;  ///< tenants of all parts; outlives the host
    std::vector<std::uint32_t> numbers;  ///< ascending numbers of this part's tenants among all
    std::vector<std::uint16_t> module_of_tenant;
    std::vector<const isa::Module*> modules;
    AddressMapping mapping;
    std::uint64_t memory_bytes = 0;  ///< bytes of the GPU's memory that buffers may use
    std::uint64_t memory_bytes_per_second = 0;
    std::vector<Frame> foreign_pages;
    /// true: the GPU's final bytes of checked buffers and foreign pages are kept.
    bool capture = false;
    bool bounds = true;  ///< true: launches carry the bounds of buffers
    std::uint64_t seed = 0;
    bool record_faults = false;
    DevicePages device_pages = DevicePages::fitting;
    PolicyChoice fault_handling, prefetcher, eviction, page_manager, peer_policy;
    Link to_dispatcher, to_gmmu;
    std::vector<Link> to_partitions, to_sms, to_cores;
    std::optional<std::uint32_t> group = {};  ///< group of the part's components in the graph
    /// Link to the component that serves the transfers; none: the host serves them.
    std::optional<Link> to_unit = {};
    bool stretches = false;          ///< copies go in stretches: no remote access can come
    std::uint32_t gpu = 0;           ///< number of the GPU
    const Fabric* fabric = nullptr;  ///< fabric between GPUs; outlives the host; nullptr: none
    std::vector<Link> to_port;       ///< link to the port; one if there is a fabric
  };
  /// State in common with the parts for other GPUs.
  struct Shared {
    HostLogs& logs;
    std::function<bool()> all_settled;  ///< tells whether the tenants of all parts are settled
    SharedPages* shared = nullptr;      ///< pages of tenants that have several GPUs
  };
  HostPart(Setup setup, Shared shared);
  HostPart(const HostPart&) = delete;
  HostPart& operator=(const HostPart&) = delete;

  HostCycle cycle(Time now, Outbox& outbox) { return {now, link_, statistics_, outbox}; }
  Time next_activity() const { return std::min(link_.next_activity(), next_beside_link()); }
  /// Lets the link act and take messages, as far as nothing else of the host is concerned.  Returns
  /// how many of the messages it has taken.
  std::size_t run_link(Inbox messages, Time horizon, Outbox& outbox);
  void take(const MessageHeader& message, const HostCycle& cycle);
  /// Does the work that is due at the cycle's time.
  void act(const HostCycle& cycle);
  /// Passes on the pages that the driver has mapped and unmapped, until nothing more follows.
  /// Returns whether anything followed.
  bool follow_up(const HostCycle& cycle);
  std::uint32_t gpu() const { return services_.gpu; }

  void give_away(std::uint32_t allocation, std::uint64_t first, std::uint64_t count, Time now,
                 Outbox& outbox) override;
  void reconsider(Time now, Outbox& outbox) override {
    services_.managed.reconsider(cycle(now, outbox));
  }
  std::uint32_t number() const override { return services_.gpu; }
  bool reaches(std::uint32_t number) const override {
    return services_.fabric != nullptr && services_.fabric->has_way(services_.gpu, number);
  }
  bool is_resident(std::uint32_t allocation, std::uint64_t unit) const override {
    return place(allocation, unit) == PagePlace::gpu;
  }
  std::vector<FrameRun> lend(std::uint32_t allocation, std::uint64_t unit) override;
  std::vector<FrameRun> frames(std::uint32_t allocation, std::uint64_t unit) const override {
    return services_.managed.frames(allocation, unit);
  }
  void send(std::uint32_t allocation, const std::vector<FrameRun>& from,
            const std::vector<FrameRun>& to, std::uint32_t gpu, std::uint64_t id, Time now,
            Outbox& outbox) override;
  void was_read(std::uint32_t departure, Time now, Outbox& outbox) override {
    services_.managed.was_read(departure, cycle(now, outbox));
  }
  void has_come(std::uint32_t migration, Time now, Outbox& outbox) override {
    services_.managed.has_come(migration, cycle(now, outbox));
  }
  void take_in(std::uint32_t allocation, std::uint64_t unit, Time now, Outbox& outbox) override {
    services_.managed.take_in(allocation, unit, cycle(now, outbox));
  }
  bool is_without(std::uint32_t allocation, std::uint64_t unit) const override {
    return place(allocation, unit) == PagePlace::host;
  }

  /// Returns whether no run waits for its tenants any more.
  bool is_settled() const;
  /// Returns whether all have been measured, and its tenants were stopped.
  bool is_stopped() const { return is_stopped_; }
  bool finished() const;
  void take_grid_counts(std::vector<GridContribution>& taken);
  /// `tenants`: tenants of all parts.
  void take_progress(std::span<std::uint8_t> tenants);
  /// Returns the activity of the host itself, then of the link's directions (to the host, to the
  /// GPU) if the host serves the link, then of the page manager.
  std::vector<StatisticsView> statistics();
  std::string waiting_for() const;
  void serialize(Archive& archive);

  TenantDirectory::Runs& runs() { return runs_; }
  const std::vector<std::uint32_t>& numbers() const { return numbers_; }
  const std::vector<FaultRecord>& faults() const { return services_.managed.faults(); }
  const Driver& driver() const { return services_.driver; }
  const ManagedMemory& managed() const { return services_.managed; }
  const ForeignInspection& foreign() const { return foreign_; }
  /// Returns whether bytes of GPU memory that are read for checking are still on their way.
  bool inspects() const { return link_.inspects(); }

 private:
  PagePlace place(std::uint32_t allocation, std::uint64_t unit) const;
  /// Returns the next activity of anything but the link.
  Time next_beside_link() const;
  void serve(const MessageHeader& message, const HostCycle& cycle);
  void transfer_done(const Transfer& transfer, const HostCycle& cycle);
  void take_copied(const PeerCopy& copy, const HostCycle& cycle);
  void take_answer(const MessageHeader& message, const HostCycle& cycle);
  void take_landed(const MessageHeader& message, const HostCycle& cycle);
  void take_printed(const MessageHeader& message);
  void take_warning(const MessageHeader& message);
  void take_violation(const MessageHeader& message, const HostCycle& cycle);
  bool pass_on_pages(const HostCycle& cycle);
  void hold_issue(const HostCycle& cycle);
  bool all_done() const;
  /// Returns whether foreign pages are still to be read.
  bool wants_inspection() const;
  /// Lets every tenant do what it can. Once all have been measured, further work is stopped.
  /// Returns true if a tenant has begun to end or has ended, since others may wait for its memory.
  bool run_tenants(const HostCycle& cycle);
  bool run_each(const HostCycle& cycle);

  TenantDirectory::Runs runs_;
  const std::vector<std::uint32_t> numbers_;
  HostLogs& logs_;
  const std::function<bool()> all_settled_;
  SharedPages* const shared_;
  const bool counts_accesses_;  ///< accesses of other GPUs to pages here are counted
  HostStatistics statistics_;
  HostLink link_;
  TenantDirectory directory_;
  TenantServices services_;
  std::vector<Link> to_sms_, to_cores_;
  const bool capture_;
  const std::optional<std::uint32_t> group_;
  ForeignInspection foreign_;
  std::vector<std::uint64_t> moved_;  ///< progress that the link last reported for each tenant
  ProgressBits changed_;              ///< progress of each tenant: kernels changed words here
  bool is_stopped_ = false, issue_held_ = false;
};

}  // namespace lockstep
