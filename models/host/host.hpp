/// The CPU side of the machine: every tenant's host program, and the driver and host link of each
/// GPU.
///
/// Source: architecture.md, sections 4 and 8 ("The host").
///
/// Simplified: CPU time between steps consists of the launch overhead and `delay` only.  Programs
/// of tenants on CPU cores run there (models/cpu); the host is told when they have been measured.
#pragma once

#include <memory>
#include <vector>

#include "models/host/host_part.hpp"
#include "models/host/progress_watch.hpp"

namespace lockstep {

class Host final : public Component, public GridCounter, public ProgressSource {
 public:
  struct Setup {
    std::vector<HostPart::Setup> parts;  ///< one part for each GPU that has tenants
    /// Number of the part that hears each link; unused if there is one part.
    std::vector<std::size_t> part_of_link;
    const std::vector<Tenant>* tenants = nullptr;  ///< tenants of all parts; outlives the host
    Time link_latency = Time::zero();
    Time progress_limit = Time::zero();
    PrintedLines::Sink print;  ///< receiver of the lines that kernels print; may be empty
    PrintedLines::Sink warn;   ///< receiver of warnings about kernels; may be empty
  };
  explicit Host(Setup setup);

  Time next_activity() const override;
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  /// Returns statistics of the only part, if it is the machine's only GPU; otherwise they are parts
  /// of the component.
  StatisticsView statistics(Time now) override;
  std::vector<StatisticsView> parts(Time now) override;
  void take_grid_counts(Time now, std::vector<GridContribution>& taken) override;
  void take_progress(Time now, std::span<std::uint8_t> tenants) override;
  bool finished() const override;
  std::string waiting_for() const override;

  const TenantRun& tenant(std::size_t index) const { return *runs_[index]; }
  TenantRun& tenant(std::size_t index) { return *runs_[index]; }
  /// Checks the progress of tenants in an epoch that has ended, as seen by components.
  void look_at_progress(Time end, std::span<const std::uint8_t> seen);
  const ProgressWatch& progress_watch() const { return progress_; }
  KernelLog& kernels() { return logs_.kernels; }
  std::size_t part_count() const { return parts_.size(); }
  const HostPart& part(std::size_t index) const { return *parts_[index]; }
  const HostPart& only_part() const;
  /// Returns whether bytes of GPU memory that are read for checking are still on their way.
  bool inspects() const;

 private:
  HostPart& receiver_of(const MessageHeader& message);
  HostPart& first_to_act(Time now);
  /// Ends all further work of measured tenants, on other GPUs too.
  void stop_together(Time now, Outbox& outbox);
  bool all_settled() const;
  /// Joins the runs of tenants on several GPUs.
  void join(const std::vector<Tenant>& tenants);
  /// Lets tenants on several GPUs continue elsewhere after an event on one.
  void follow_teams(Time now, Outbox& outbox);
  Time next_shared_activity() const { return shared_ ? shared_->next_activity() : Time::never(); }

  std::unique_ptr<SharedPages> shared_;  ///< pages of tenants on several GPUs; nullptr: none
  HostLogs logs_;
  std::vector<std::unique_ptr<HostPart>> parts_;
  const std::vector<std::size_t> part_of_link_;
  std::vector<TenantRun*> runs_;       ///< run of each tenant, by its number among all
  std::vector<HostPart*> team_parts_;  ///< parts with runs of tenants on several GPUs
  ProgressWatch progress_;
};

}  // namespace lockstep
