#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/engine/component.hpp"
#include "core/engine/link.hpp"
#include "core/memory/ring.hpp"
#include "models/cpu/access_stream.hpp"
#include "models/cpu/core_memory.hpp"
#include "models/cpu/core_statistics.hpp"
#include "models/cpu/cpu_parameters.hpp"
#include "models/cpu/instruction_window.hpp"
#include "models/cpu/line_contents.hpp"
#include "models/memory/dram/bank_occupancy.hpp"
#include "models/noc/ids.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// A CPU core with its caches and its tenant, as the DRAM controllers see it: lines that it reads
/// and waits for, and lines that it writes.
///
/// An out-of-order core takes instructions into its window.  An instruction that misses the caches
/// requests its line from a controller as it enters, and holds up the window when it is the oldest
/// and has no data yet.  Lines that leave the caches are written, and nothing waits for these
/// writes.  An access that finds all credits of a controller in use does not enter until one comes
/// back.  The simulation advances from access to access: instructions in between cost nothing.
/// Source: 004, section 5.3.5 and Table 5.2; memory-interference.md, sections 4.4 and 4.5.
///
/// Simplified: caches are not simulated; misses are generated (ProfileStream) or traced
/// (TraceStream).
class CpuCore final : public Component {
 public:
  struct Setup {
    CpuParameters parameters;
    std::uint32_t index = 0;  ///< number among the cores
    TenantId tenant;
    CoreMemory memory;
    std::unique_ptr<AccessStream> stream;
    Time arrival;
    std::uint64_t measured = 0;  ///< instructions after which the core has been measured; 0: never
    bool check = false;          ///< true: read bytes are compared with written ones
    Link to_host;
    std::vector<Link> to_partitions;
  };
  explicit CpuCore(Setup setup);

  Time next_activity() const override { return wake_; }
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  StatisticsView statistics(Time now) override;
  bool finished() const override { return stopped_ && unanswered_ == 0; }
  std::string waiting_for() const override;

 private:
  /// An unanswered read, by its tag.
  struct Read {
    std::uint64_t offset = 0;
    std::int64_t sent = 0;  ///< cycle in which the read was sent
    CoreMemory::Place place;
    std::uint32_t miss = 0, version = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(offset, sent, place, miss, version);
    }
  };

  std::int64_t slot_at_or_after(Time now) const {
    return clock_.cycle_at_or_after(now).count() * width_;
  }
  Time time_of(std::int64_t slot) const { return clock_.edge(Cycles{slot / width_}); }
  void fetch();
  /// Sets the time of the next step from the present state.
  void plan();
  void take(const MessageHeader& message, Outbox& outbox);
  void take_answer(const MessageHeader& message, Outbox& outbox);
  void give_back(PartitionId partition, std::int64_t slot);
  void compare(const Read& read, const MessageHeader& message, Outbox& outbox);
  void send(Outbox& outbox);
  MemoryRequest request_for(const CpuAccess& access) const;
  void report(Outbox& outbox);
  void count_instructions(Time now);
  /// Returns the first instruction that has not entered and may miss, or a value beyond all
  /// instructions.
  std::int64_t next_instruction() const { return next_ ? next_->instruction : end_; }
  std::uint32_t& used(PartitionId partition) { return used_[partition.value()]; }
  BankOccupancy::Counters bank_counters() {
    return {statistics_.outstanding_cycles, statistics_.bank_cycles};
  }

  const Clock clock_;
  const std::int64_t width_;
  const std::uint32_t credits_, index_;
  const TenantId tenant_;
  const CoreMemory memory_;
  const std::int64_t measured_after_;
  Link to_host_;
  Trunk to_partitions_;

  CoreStatistics statistics_;
  const std::unique_ptr<AccessStream> stream_;
  std::optional<CpuAccess> next_;  ///< next access, which has not entered the window
  CoreMemory::Place next_place_;
  std::int64_t end_ = 0;  ///< instruction behind the last access that has entered
  InstructionWindow window_;
  BankOccupancy occupancy_;
  LineContents contents_;
  std::vector<Read> reads_;          ///< unanswered reads, by tag
  std::vector<std::uint32_t> free_;  ///< free tags
  std::vector<std::uint32_t> used_;  ///< credits used at each controller
  std::uint32_t unanswered_ = 0;
  std::uint64_t compared_ = 0;
  bool measured_ = false, mistaken_ = false, stopped_ = false;
  std::int64_t entry_ = InstructionWindow::unknown;  ///< slot in which `next_` enters
  /// Slot in which the measured instructions end.
  std::int64_t measure_ = InstructionWindow::unknown;
  Time wake_ = Time::never();
};

}  // namespace lockstep
