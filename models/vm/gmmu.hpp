/// The GPU's memory management unit, shared by all SMs.
///
/// L1 TLB misses come here; translations, refusals and replays go back.  Behind it stand the page
/// tables in memory and, for pages that are not there, the driver on the host.  This file takes the
/// messages and keeps the time; what a miss goes through is a plug point (TranslationPath), and
/// answers and far-faults (GmmuAnswers), walks (Walkers) and unmapping (Unmappings) are parts of
/// their own.
/// Sources: 000, section 2.3; 001, section B.2; 004, sections 6.4 and 7.1.2; architecture.md,
/// section 8, rules 6 to 9.
///
/// Simplified: any number of messages is handled at once; only lookups, MSHRs and walkers are
/// limited.
/// Cost model: everything happens at the first edge of the GMMU's clock at or after the arrival
/// that causes it, arrivals in their order and before the GMMU's own activity.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/engine/answer_receiver.hpp"
#include "core/engine/component.hpp"
#include "core/engine/link.hpp"
#include "models/coordinator/policy_epochs.hpp"
#include "models/noc/noc_parameters.hpp"
#include "models/vm/gmmu/answers.hpp"
#include "models/vm/gmmu/gmmu_grids.hpp"
#include "models/vm/gmmu/lookups.hpp"
#include "models/vm/gmmu/tlb_waits.hpp"
#include "models/vm/gmmu/unmapping.hpp"
#include "models/vm/gmmu/walkers.hpp"
#include "models/vm/gmmu_statistics.hpp"
#include "models/vm/replay_mode.hpp"

namespace lockstep {

class Gmmu final : public Component, public AnswerReceiver, public GridCounter {
 public:
  struct Setup {
    VmParameters parameters;
    std::unique_ptr<TranslationPath> translation;
    ReplayMode replay = ReplayMode::listed;
    bool squashes = false;  ///< SMs squash accesses to refused pages
    /// Local handling of untouched pages, if the driver gives frames for them.
    LocalHandling local;
    AddressMapping mapping;
    NocParameters noc;
    std::size_t tenants = 0;
    std::vector<Link> to_sms, to_partitions;
    Link to_host;
    PolicyEpochs epochs;
  };
  explicit Gmmu(Setup setup);

  Time next_activity() const override;
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  StatisticsView statistics(Time now) override;
  std::vector<StatisticsView> parts(Time now) override;
  void take_grid_counts(Time, std::vector<GridContribution>& taken) override { grids_.take(taken); }
  bool finished() const override;
  bool awaits_answers() const override { return memory_.in_flight() > 0; }
  std::string waiting_for() const override;

 private:
  Time edge(std::int64_t cycle) const { return clock_.edge(Cycles{cycle}); }
  Time next_cycle() const { return cycle_ == GmmuCycle::never ? Time::never() : edge(cycle_); }
  bool mirrored() const { return !timing_.walks || parameters_.walk_latency.count() > 0; }

  void take(const MessageHeader& message, GmmuCycle& cycle);
  void look_up(const TranslateRequest& request, GmmuCycle& cycle);
  void take_memory(const MessageHeader& message, GmmuCycle& cycle);
  void page_written(const PageNotice& notice, GmmuCycle& cycle);

  // A cycle, and how requests end (gmmu_translation.cpp).
  void step(GmmuCycle& cycle);
  void finish_lookups(GmmuCycle& cycle);
  bool end_lookup(const TranslateRequest& request, const PageTableEntry* entry, GmmuCycle& cycle);
  void miss(const TranslateRequest& request, GmmuCycle& cycle);
  void walk_or_stall(const TranslateRequest& request, GmmuCycle& cycle);
  void retry_stalled(GmmuCycle& cycle);
  void begin_lookups(GmmuCycle& cycle);
  void finish_walk(std::uint32_t index, GmmuCycle& cycle);
  void set_bits(const Walk& walk, std::uint64_t bits, GmmuCycle& cycle);
  void answer(const TranslateRequest& request, PageTableEntry entry, GmmuCycle& cycle);
  void retry_faults(GmmuCycle& cycle);

  void set_root(const PageTableRoot& root, GmmuCycle& cycle);
  using Entries = std::span<const std::uint64_t>;
  void tell_sms(const PagesMapped& body, Entries entries, GmmuCycle& cycle);
  void pages_mapped(const MessageHeader& message, GmmuCycle& cycle);
  /// The tables say this of the pages now.
  void note_entries(const PagesMapped& body, Entries entries, GmmuCycle& cycle);
  void handlers_ended(GmmuCycle& cycle);
  void tell_handled(const LocalHandler& handler, GmmuCycle& cycle);
  void shoot_down_for_mapping(const PageSpan& span, GmmuCycle& cycle);
  void flush_tlbs(std::uint16_t tenant, GmmuCycle& cycle);
  void unmap_ready(GmmuCycle& cycle);
  void begin_unmapping(std::uint32_t index, GmmuCycle& cycle);
  void entries_taken(std::uint32_t index, GmmuCycle& cycle);
  void shootdown_done(const MessageHeader& message, GmmuCycle& cycle);
  void finish_unmapping(std::uint32_t index, GmmuCycle& cycle);

  const VmParameters parameters_;
  const ReplayMode replay_;
  const Clock clock_;
  GmmuStatistics statistics_;
  TableMemory memory_;
  LocalHandlers local_;
  GmmuAnswers answers_;
  std::unique_ptr<TranslationPath> path_;
  const TranslationTiming timing_;
  PageTableMirror mirror_;
  Walkers walkers_;
  Unmappings unmappings_;

  LookupStage arrived_, large_lookups_, base_lookups_, stalled_;
  TlbWaits waits_{statistics_};
  std::int64_t cycle_ = GmmuCycle::never;  ///< next cycle with something to do
  PolicyEpochs epochs_;
  GmmuGrids grids_{statistics_};
};

}  // namespace lockstep
