#pragma once

#include <memory>

#include "core/checkpoint/archive.hpp"
#include "core/time/time.hpp"
#include "models/memory/dram/bank_occupancy.hpp"
#include "models/memory/dram/dram_banks.hpp"
#include "models/memory/dram/dram_layout.hpp"
#include "models/memory/dram/dram_queue.hpp"
#include "models/memory/dram_scheduler/dram_scheduler.hpp"
#include "models/memory/dram_scheduler/of_gpu.hpp"
#include "models/memory/partition_statistics.hpp"
#include "models/noc/address.hpp"
#include "models/noc/messages.hpp"
#include "models/noc/wait_meter.hpp"

namespace lockstep {

enum class DramCommandKind : std::uint8_t { activate, precharge, read, write };

/// For tests: one issued command.
struct DramCommand {
  DramCycle cycle;
  DramCommandKind kind = DramCommandKind::activate;
  std::uint32_t bank = 0, row = 0;
};

/// A DRAM channel: banks, row buffers, data bus and a scheduler.
///
/// Time advances from command to command; refresh is computed when the banks are next looked at.  A
/// request for several columns of a line is one entry that issues its columns one by one, so that
/// columns of other bank groups can go between.
/// Source: gpu-parameters.md, sections 1 "DRAM timing", 9 and 18.
///
/// Simplified: one command bus without conflicts between channels, no ECC, no power states; all
/// columns of a line return together with the last.
class DramChannel {
 public:
  /// `phase` delays the first refresh (DRAM cycles).
  DramChannel(const DramParameters& parameters, std::unique_ptr<DramScheduler> scheduler,
              std::int64_t phase, std::size_t tenants, PartitionStatistics& statistics);

  /// Returns whether a request may enter the queue now.
  bool room(const MemoryRequest& request, bool write) const {
    if (sizes_decide_) return queue_.room(write);
    if (of_gpu_ >= gpu_queue_ && is_of_gpu(request.source)) return false;
    if (scheduler_admits_) return scheduler_->admits(queue_, request, write);
    return queue_.room(write, divided_ ? scheduler_->lane(request, write).pool : 0);
  }
  /// Returns whether any request of a direction may enter. If so, requests that wait for room are
  /// woken.
  bool may_have_room(bool write) const {
    return scheduler_admits_ || divided_ || queue_.room(write);
  }
  bool empty() const { return queue_.size() == 0; }
  std::uint32_t waiting() const { return queue_.size(); }

  /// Enters a request. `offset`: offset of the line in the partition; `request`: its sender.
  /// Sectors of a read come back under `owner`. Precondition: there is room.
  void enqueue(Time now, PartitionOffset offset, std::uint8_t sectors, bool write,
               const MemoryRequest& request, std::uint32_t owner);

  /// Returns when the channel will next look for a command; Time::never() when nothing waits.
  Time next_activity() const { return clock_.edge(wake_); }

  struct Step {
    bool left = false;      ///< true: a request was served, and its place is free
    bool returned = false;  ///< true: the served request was a read
    Time at;                ///< time at which the request left
    Time data_end;          ///< time at which the last data of the read are there
    std::uint32_t owner = 0;
    std::uint8_t sectors = 0;
  };
  /// Acts at next_activity() and goes on until a request leaves or the next command would come
  /// after `last`.  Returns what has happened, until the next call.
  const Step& step(Time last);

  /// The scheduler may choose otherwise from now on.
  void look_again(Time now);
  DramScheduler& scheduler() { return *scheduler_; }

  DramAddress locate(PartitionOffset offset) const { return layout_.locate(offset); }
  const DramBanks& banks() const { return banks_; }
  /// Counts from now on how many banks work for each tenant.
  void count_banks(std::size_t tenants);
  /// Commands are appended to `trace` from now on.
  void record(std::vector<DramCommand>* trace) { trace_ = trace; }

  void serialize(Archive& archive);

 private:
  std::uint8_t columns(std::uint8_t sectors) const;
  BankOccupancy::Counters bank_counters(std::uint16_t tenant) {
    PartitionStatistics::OfTenant& counts = statistics_.tenant[tenant];
    return {counts.outstanding_cycles, counts.bank_cycles};
  }
  /// Takes a look at `wake_`; returns whether a request left.
  bool step_once(DramCycle last);
  bool issue_column(std::uint32_t place, DramCycle now);
  bool issue_columns_under_way(DramCycle last);
  void count_columns(const DramEntry& entry, std::uint64_t count, DramCycle now);
  void leave(std::uint32_t place, DramCycle now, DramCycle end);
  /// Returns whether the scheduler would choose the request under way, now or later.
  bool goes_on() const;
  /// Returns whether no other bank than that of a request has requests of the direction served.
  bool is_alone(const DramEntry& entry) const {
    return queue_.active_banks() == std::uint64_t{1} << entry.bank && queue_.served(entry.write);
  }
  void issue_row(std::uint32_t place, DramCycle now);
  void close_unwanted_row(std::uint32_t bank);
  void catch_up_refresh(DramCycle now) {
    if (now >= banks_.next_refresh()) [[unlikely]]
      refresh(now);
  }
  void refresh(DramCycle now);
  void note(DramCycle cycle, DramCommandKind kind, std::uint32_t bank, std::uint32_t row) {
    if (trace_ != nullptr) [[unlikely]]
      trace_->push_back({cycle, kind, bank, row});
  }

  const DramClock clock_;
  const bool dual_bus_, wide_atom_, closes_rows_;
  const std::uint32_t burst_;
  const std::uint32_t gpu_queue_;  ///< places that requests of the GPU may take
  const DramLayout layout_;
  const std::unique_ptr<DramScheduler> scheduler_;
  const bool arrivals_matter_, scheduler_admits_, divided_;
  const bool sizes_decide_;  ///< true: the sizes of the queues alone decide which requests enter
  const bool finishes_;      ///< value of DramScheduler::finishes_requests
  DramQueue queue_;
  DramBanks banks_;
  PartitionStatistics& statistics_;
  WaitMeter waits_;
  std::vector<BankOccupancy> occupancies_;  ///< banks that work for each tenant; empty: not counted
  std::vector<DramCommand>* trace_ = nullptr;
  DramCycle wake_ = DramCycle::never();
  DramCycle bus_free_;  ///< first cycle in which the next command may issue
  std::uint16_t last_tenant_ = 0;
  std::uint32_t of_gpu_ = 0;  ///< requests of the GPU in the queue
  /// Place of the request that had the last command, if it has columns left and the scheduler
  /// finishes requests. Checkpoints leave this member out, since the scheduler chooses the same
  /// request without it.
  std::uint32_t under_way_ = DramEntry::none;
  Step step_;  ///< result of the last step()
};

}  // namespace lockstep
