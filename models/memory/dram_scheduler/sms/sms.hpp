/// Staged memory scheduling: requests of each source form batches, which go one after the other
/// into a FIFO for each bank.  Only the heads of these FIFOs compete for commands.
///
/// Stage 1 (SourceFifo) forms batches.  Stage 2 picks a ready batch and moves one of its requests
/// per cycle until all have moved.  With probability `p` it picks the source with the fewest
/// requests in the controller, among those whose batch finds room in its bank; otherwise the next
/// source in turn, which may have to wait for room and does not starve.  Stage 3 serves each bank
/// in order, banks in turn.  Requests of a light source, and all requests while there are few, skip
/// stages 1 and 2, but do not enter a batch that is being moved.
/// Source: 004, section 5.3; memory-interference.md, section 4.3 (Ausavarungnirun et al., ISCA
/// 2012).
///
/// Simplified: a source is a tenant's GPU or CPU side; the GPU always counts as heavy (AMB-14).  A
/// request that skips the stages while a batch moves waits in a register of its source (AMB-16). A
/// source whose FIFO was full asks again when a request has left the controller.  Reads and writes
/// share one queue.  Stages 1 and 2 are simulated up to a cycle when a request comes, or when they
/// may have a command ready for stage 3.
#pragma once

#include <array>
#include <vector>

#include "core/parameters/parameters.hpp"
#include "core/statistics/statistics.hpp"
#include "models/memory/dram_scheduler/bank_race.hpp"
#include "models/memory/dram_scheduler/of_gpu.hpp"
#include "models/memory/dram_scheduler/sms/memory_intensity.hpp"
#include "models/memory/dram_scheduler/sms/source_fifo.hpp"

namespace lockstep {

struct SmsParameters {
  std::uint32_t cpu_fifo = 0, gpu_fifo = 0, bank_fifo = 0, max_batch = 0, bypass_below = 0;
  Cycles age_medium, age_high;
  double p = 0, low_intensity = 0, high_intensity = 0;
  static auto schema() {
    using namespace literals;
    using P = SmsParameters;
    const auto age = range(1_cycles, 1'000'000_cycles);
    return parameters<P>()
        .field("p", &P::p, 0.9, range(0.0, 1.0),
               "probability that the source with the fewest requests is picked")
        .field("cpu_fifo", &P::cpu_fifo, 10, range(1, 64), "places of a tenant on the CPU",
               "requests")
        .field("gpu_fifo", &P::gpu_fifo, 20, range(1, 64), "places of a tenant on the GPU",
               "requests")
        .field("bank_fifo", &P::bank_fifo, 15, range(1, 64), "places of a bank", "requests")
        .field("max_batch", &P::max_batch, 20, range(1, 64), "requests in a batch", "requests")
        .field("low_intensity", &P::low_intensity, 1.0, range(0.0, 1000.0),
               "requests in a thousand DRAM cycles; requests of a source that sends fewer form no "
               "batches",
               "requests")
        .field("high_intensity", &P::high_intensity, 10.0, range(0.0, 1000.0),
               "requests in a thousand DRAM cycles; a source that sends more asks often",
               "requests")
        .field("age_medium", &P::age_medium, 50_cycles, age,
               "DRAM cycles after which a batch is ready, for a source between low_intensity and "
               "high_intensity")
        .field("age_high", &P::age_high, 200_cycles, age,
               "DRAM cycles after which a batch is ready, for a source that asks often")
        .field("bypass_below", &P::bypass_below, 16, range(0, 4096),
               "requests form no batches while fewer than this are in the controller", "requests")
        .check([](const P& p) -> std::string {
          return p.low_intensity <= p.high_intensity
                     ? ""
                     : "low_intensity is above high_intensity - lower it";
        });
  }
};

struct SmsStatistics {
  Counter batches, picks_of_fewest, picks_in_turn;
  PerTenant<Counter> bypasses;
  Histogram<8> batch_size;
  static auto schema() {
    using S = SmsStatistics;
    return statistics<S>()
        .counter("batches", &S::batches, "batches", "batches that were picked")
        .counter("picks_of_fewest", &S::picks_of_fewest, "batches",
                 "batches of the source with the fewest requests")
        .counter("picks_in_turn", &S::picks_in_turn, "batches", "batches of the next source")
        .per_tenant("bypasses", &S::bypasses, "requests", "requests that went past the batches")
        .histogram("batch_size", &S::batch_size, "requests",
                   "sizes of the batches that were picked, in requests");
  }
};

class Sms final : public DramScheduler {
 public:
  explicit Sms(const PartitionPolicySetup& setup);

  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) override;
  void on_arrival(const DramQueue& queue, std::uint32_t place, DramCycle now) override;
  void on_row(const DramQueue& queue, std::uint32_t place, DramBanks::Command,
              DramCycle /*now*/) override {
    note_head(queue[place].bank);
  }
  void on_served(const DramQueue& queue, std::uint32_t place, DramCycle now) override;
  bool arrivals_matter() const override { return true; }
  DramCycle look_after_arrival(DramCycle now) const override {
    return new_heads_ != 0 ? now : next_head(now);
  }
  bool decides_admission() const override { return true; }
  bool admits(const DramQueue& queue, const MemoryRequest& request, bool write) const override {
    return !sources_[source_of(request.tenant, request.source)].fifo.full() && queue.room(write);
  }

  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override;

 private:
  struct Source {
    SourceFifo fifo;
    MemoryIntensity intensity;
    std::uint32_t in_flight = 0;           ///< requests in all stages
    std::uint32_t held = DramEntry::none;  ///< request that waits for the end of a batch in motion
    template <class Archive>
    void serialize(Archive& archive) {
      archive(fifo, intensity, in_flight, held);
    }
  };
  /// Returns the number of a source; each tenant has two.
  static std::size_t source_of(std::uint16_t tenant, SourceKind kind) {
    return std::size_t{tenant} * 2 + !is_of_gpu(kind);
  }

  // Stage 2.
  /// Moves requests up to and including `now`.
  void move_until(const DramQueue& queue, DramCycle now) {
    if (next_move_ <= now) move(queue, now);
    moved_until_ = std::max(moved_until_, now + 1);
  }
  void move(const DramQueue& queue, DramCycle now);
  bool move_held(const DramQueue& queue);
  bool pick(DramCycle now);
  bool fits(const SourceFifo& batches);
  std::size_t next_in_turn(DramCycle now) const;
  DramCycle earliest_ready() const { return *std::min_element(ready_.begin(), ready_.end()); }
  void note_ready(std::size_t source) {
    const Source& one = sources_[source];
    ready_[source] = one.held == DramEntry::none ? one.fifo.ready() : DramCycle::never();
  }
  DramCycle next_head(DramCycle from) const;
  // Stage 3.
  bool enter_bank(std::uint32_t bank, std::uint32_t place);
  static std::uint64_t bit(std::uint32_t bank) { return std::uint64_t{1} << bank; }
  void note_head(std::uint32_t bank) { new_heads_ |= bit(bank); }

  const SmsParameters parameters_;
  Random random_;
  std::vector<Source> sources_;
  /// Cycle from which each source's first batch may be picked; derived.
  std::vector<DramCycle> ready_;
  std::uint32_t in_flight_ = 0;
  std::uint32_t held_ = 0;  ///< sources with a request in their register
  std::vector<Ring<std::uint32_t>> banks_;
  const std::uint64_t all_banks_;
  std::uint64_t waiting_banks_ = 0;  ///< banks with requests
  std::uint64_t wanted_banks_ = 0;   ///< banks in which a ready batch found no room
  std::uint64_t new_heads_ = 0;      ///< banks whose head or row changed since the last choice
  /// Refreshes of the channel when heads were last looked at; derived.
  std::int64_t refreshes_ = 0;
  BankRace<false> heads_;
  std::uint32_t turn_of_bank_ = 0;
  std::size_t turn_of_source_ = 0;  ///< source that was last picked in turn
  std::size_t moving_ = 0;          ///< source of the batch in motion
  std::uint32_t left_ = 0;          ///< requests of that batch still to be moved
  DramCycle moved_until_;           ///< cycle up to which stage 2 has done its work
  DramCycle next_move_;             ///< earliest cycle in which stage 2 can do something
  SmsStatistics statistics_;
};

}  // namespace lockstep
