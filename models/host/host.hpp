/// The CPU side of the machine: every tenant's host program, the driver, the host link.
///
/// Source: architecture.md, sections 4 and 8 ("The host").
///
/// Simplified: CPU time between steps costs nothing but the launch overhead and `delay`.  Programs
/// of tenants on CPU cores run there (models/cpu); the host hears when they have been measured.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/component.hpp"
#include "models/host/foreign_inspection.hpp"
#include "models/host/printed_lines.hpp"
#include "models/host/progress_watch.hpp"
#include "models/host/tenant_directory.hpp"

namespace lockstep {

class Host final : public Component, public GridCounter, public ProgressSource {
 public:
  struct Setup {
    HostParameters parameters;
    const std::vector<Tenant>* tenants = nullptr;  ///< outlives the host
    std::vector<std::uint16_t> module_of_tenant;
    std::vector<const isa::Module*> modules;
    AddressMapping mapping;
    std::uint64_t memory_bytes = 0;  ///< of the GPU that buffers may use
    std::uint64_t memory_bytes_per_second = 0;
    std::vector<Frame> foreign_pages;
    bool capture = false;  ///< keep the GPU's final bytes of checked buffers and foreign pages
    bool bounds = true;    ///< launches say where buffers lie
    std::uint64_t seed = 0;
    bool record_faults = false;
    Time progress_limit = Time::zero();
    DevicePages device_pages = DevicePages::fitting;
    PrintedLines::Sink print;  ///< what gets the lines that kernels print; may be empty
    PrintedLines::Sink warn;   ///< what gets warnings about kernels; may be empty
    PolicyChoice fault_handling, prefetcher, eviction, page_manager;
    Link to_dispatcher, to_gmmu;
    std::vector<Link> to_partitions, to_sms, to_cores;
  };
  explicit Host(Setup setup);

  Time next_activity() const override;
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  StatisticsView statistics(Time now) override;
  /// The directions of the link: to the host, to the GPU; then the page manager.
  std::vector<StatisticsView> parts(Time now) override;
  void take_grid_counts(Time now, std::vector<GridContribution>& taken) override;
  void take_progress(Time now, std::span<std::uint8_t> tenants) override;
  bool finished() const override;
  std::string waiting_for() const override;

  const TenantRun& tenant(std::size_t index) const { return *runs_[index]; }
  TenantRun& tenant(std::size_t index) { return *runs_[index]; }
  /// An epoch has ended, in which components have seen this of the tenants.
  void look_at_progress(Time end, std::span<const std::uint8_t> seen);
  const ProgressWatch& progress_watch() const { return progress_; }
  KernelLog& kernels() { return services_.kernels; }
  const std::vector<FaultRecord>& faults() const { return services_.managed.faults(); }
  const Driver& driver() const { return services_.driver; }
  const ManagedMemory& managed() const { return services_.managed; }
  const ForeignInspection& foreign() const { return foreign_; }
  /// Not all has come yet of what is read of GPU memory for checking.
  bool inspects() const { return link_.inspects(); }

 private:
  void take(const MessageHeader& message, const HostCycle& cycle);
  void serve(const MessageHeader& message, const HostCycle& cycle);
  void transfer_done(const Transfer& transfer, const HostCycle& cycle);
  void take_answer(const MessageHeader& message, const HostCycle& cycle);
  void take_printed(const MessageHeader& message);
  void take_warning(const MessageHeader& message);
  void take_violation(const MessageHeader& message, const HostCycle& cycle);
  /// Passes on what the driver has mapped and unmapped, until nothing more comes of it.
  void follow_up(const HostCycle& cycle);
  bool pass_on_pages(const HostCycle& cycle);
  void hold_issue(const HostCycle& cycle);
  bool all_done() const;
  /// Foreign pages are still to be read.
  bool wants_inspection() const;
  /// Every tenant does what it can; once all have been measured, what they do beyond that is
  /// stopped.  True if one has begun to leave or has left: others may wait for its memory.
  bool run_tenants(const HostCycle& cycle);
  bool run_each(const HostCycle& cycle);

  TenantDirectory::Runs runs_;
  HostStatistics statistics_;
  HostLink link_;
  TenantDirectory directory_;
  TenantServices services_;
  std::vector<Link> to_sms_, to_cores_;
  PrintedLines printed_;
  PrintedLines::Sink warn_;
  std::vector<std::string> warned_;  ///< places of which the user has been warned
  const bool capture_;
  ForeignInspection foreign_;
  ProgressWatch progress_;
  std::vector<std::uint64_t> link_bytes_;  ///< by tenant, when last asked
  ProgressBits changed_;                   ///< by tenant: kernels changed words here
  bool all_settled_ = false, issue_held_ = false;
};

}  // namespace lockstep
