/// MASK's memory scheduler, with a queue each for page walks, which go first, then for data of the
/// tenant whose turn it is, then for all other data.
///
/// Walks (Golden) go in order, with places beyond the controller's own.  A share of the other
/// places (Silver) is for the tenant whose turn it is, and the rest (Normal) for all.  A turn is a
/// number of requests, which all controllers are told once an epoch; it grows with the tenant's
/// walks under way and with the warps that wait for each.  The lower queues starve while the upper
/// ones are in use, as in the source.  The source speaks of demands: with `writes` off, write-backs
/// of the L2 have no turn.  `medic-mask` combines this scheduler with MeDiC's: in Silver and in
/// Normal, requests of warps that mostly hit go first.
/// Source: 004, sections 4.3.4 and 6.4.4; memory-interference.md, sections 5.3.5 and 7.
///
/// Simplified: only the arrival of a request ends the turn of a tenant that has fallen silent.
#include <algorithm>
#include <vector>

#include "core/parameters/parameters.hpp"
#include "core/statistics/statistics.hpp"
#include "models/coordinator/mask_decision.hpp"
#include "models/memory/dram_scheduler/level_order.hpp"

namespace lockstep {
namespace {

enum MaskQueue : std::uint8_t { golden, silver, normal };

struct MaskSchedulerParameters : LevelOrderParameters {
  std::uint32_t golden = 0;
  double silver_share = 0;
  bool writes = true;
  Cycles silence;
  static auto schema() {
    using namespace literals;
    using P = MaskSchedulerParameters;
    return fields<P>()
        .field("golden", &P::golden, 16, range(1, 4096), "places for walks beyond the queue's own",
               "requests")
        .field("silver_share", &P::silver_share, 0.25, range(0.0, 1.0),
               "share of the queue's places for the tenant whose turn it is; at least one place")
        .field("silence", &P::silence, 1000_cycles, range(1_cycles, 10'000'000'000_cycles),
               "DRAM cycles after which a tenant that sends nothing loses its turn")
        .field("writes", &P::writes, true,
               "writes have turns as well, although no warp waits for one");
  }
};

struct MaskSchedulerStatistics {
  std::array<Counter, 3> requests, queue_cycles;
  PerTenant<Counter> silver_requests, turns;
  static auto schema() {
    using S = MaskSchedulerStatistics;
    constexpr const char* queues[] = {"golden", "silver", "normal"};
    return statistics<S>()
        .counters("requests", &S::requests, queues, "requests",
                  "requests that were served, by queue")
        .counters("queue_cycles", &S::queue_cycles, queues, "cycles",
                  "DRAM cycles from arrival to the last column command, summed")
        .per_tenant("silver_requests", &S::silver_requests, "requests",
                    "requests that came in their turn")
        .per_tenant("turns", &S::turns, "turns", "turns that ended");
  }
};

class MaskScheduler final : public DramScheduler {
 public:
  /// `of_warps`: requests are ordered by whether their warps mostly hit.
  MaskScheduler(const PartitionPolicySetup& setup, bool of_warps)
      : MaskScheduler(setup, setup.choice.parameters<MaskSchedulerParameters>(), of_warps) {}

  DramDivision division() const override {
    return {{golden_places_, silver_places_, normal_places_}, of_warps_ ? 5u : 3u, golden_places_};
  }
  DramLane lane(const MemoryRequest& request, bool write) const override {
    MaskQueue queue = normal;
    if (request.walk_level != 0 && !write) {
      queue = golden;
    } else if (in_turn(request.tenant, write) && silver_used_ < silver_places_) {
      queue = silver;
    }
    return {queue, of_warps_ ? level_of(queue, request) : std::uint8_t{queue}};
  }
  DramChoice choose(const DramQueue& queue, const DramBanks& banks, DramCycle now) override {
    const std::uint64_t walked = queue.active_banks(golden);
    if (walked == 0) return data_.choose(queue, banks, now);
    DramChoice choice = walks_.choose(queue, banks, walked, now);
    add_lower(choice, data_.choose(queue, banks, now, walked), dual_command_bus_);
    return choice;
  }

  void on_arrival(const DramQueue& queue, std::uint32_t place, DramCycle now) override {
    const DramEntry& entry = queue[place];
    const bool of_turn = entry.pool != golden && in_turn(entry.tenant, entry.write);
    if (!of_turn && now - heard_ >= silence_) return end_turn(now);
    if (of_turn) heard_ = now;
    if (entry.pool != silver) return;
    ++silver_used_;
    ++statistics_.silver_requests[turn_];
    if (--left_ == 0) end_turn(now);
  }
  void on_served(const DramQueue& queue, std::uint32_t place, DramCycle now) override {
    const DramEntry& entry = queue[place];
    silver_used_ -= entry.pool == silver;
    ++statistics_.requests[entry.pool];
    statistics_.queue_cycles[entry.pool] += static_cast<std::uint64_t>(now - entry.arrival);
  }
  void on_epoch(EpochTopic topic, std::span<const std::uint64_t> values, Time) override {
    if (topic != EpochTopic::tlb_fill) return;
    for (std::size_t tenant = 0; tenant < turns_.size(); ++tenant)
      turns_[tenant] = MaskDecision::of(values, tenant).turn;
  }

  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override {
    archive(turns_, turn_, left_, heard_, silver_used_, statistics_);
  }

 private:
  MaskScheduler(const PartitionPolicySetup& setup, const MaskSchedulerParameters& p, bool of_warps)
      : of_warps_(of_warps),
        golden_places_(p.golden),
        silver_places_(std::max(1u, static_cast<std::uint32_t>(places(setup) * p.silver_share))),
        normal_places_(std::max(1u, places(setup) - std::min(silver_places_, places(setup)))),
        writes_(p.writes),
        dual_command_bus_(setup.parameters.dram.dual_command_bus),
        silence_(p.silence.count()),
        walks_(FirstReady::in_order, golden),
        data_(setup.parameters.dram, golden + 1, of_warps ? 5 : 3, p),
        turns_(setup.tenants,
               std::max<std::uint64_t>(1, MaskDecision::usual_turns / setup.tenants)),
        left_(turns_[0]) {
    set_tenants(statistics_, setup.tenants);
  }
  static std::uint8_t level_of(MaskQueue queue, const MemoryRequest& request) {
    if (queue == golden) return 0;
    const bool hits = (request.marks & mark_mostly_hit) != 0;
    return static_cast<std::uint8_t>(2 * queue - (hits ? 1 : 0));
  }
  static std::uint32_t places(const PartitionPolicySetup& setup) {
    return setup.parameters.dram.queue + setup.parameters.dram.write_queue;
  }
  /// Returns whether the request belongs to Silver.
  bool in_turn(std::uint16_t tenant, bool write) const {
    return tenant == turn_ && (writes_ || !write);
  }

  void end_turn(DramCycle now) {
    ++statistics_.turns[turn_];
    turn_ = turn_ + 1u == turns_.size() ? 0 : static_cast<std::uint16_t>(turn_ + 1);
    left_ = turns_[turn_];
    heard_ = now;
  }

  const bool of_warps_;
  const std::uint32_t golden_places_, silver_places_, normal_places_;
  const bool writes_;  ///< writes have turns, too
  const bool dual_command_bus_;
  const std::int64_t silence_;
  FirstReady walks_;  ///< scheduler of page walks, in order of arrival
  LevelOrder data_;
  std::vector<std::uint64_t> turns_;  ///< requests of each tenant's turn
  std::uint16_t turn_ = 0;            ///< tenant whose turn it is
  std::uint64_t left_;                ///< requests left in this turn
  DramCycle heard_;                   ///< cycle in which the tenant of the turn last sent something
  std::uint32_t silver_used_ = 0;
  MaskSchedulerStatistics statistics_;
};

template <bool of_warps>
std::unique_ptr<DramScheduler> make_mask_scheduler(const PartitionPolicySetup& setup) {
  return std::make_unique<MaskScheduler>(setup, of_warps);
}

}  // namespace

PolicyRegistry<DramSchedulerFactory>::Row mask_scheduler() {
  return {"mask",
          "walks, then the tenant whose turn it is, then others (004, section 6.4.4)",
          {.make = make_mask_scheduler<false>,
           .statistics = &statistics_schema_of<MaskSchedulerStatistics>},
          &schema_of<MaskSchedulerParameters>(),
          [](const PolicyChoice&) {
            return PolicyTraits{{}, {needs_walk_measures()}};
          }};
}

PolicyRegistry<DramSchedulerFactory>::Row medic_mask_scheduler() {
  return {"medic-mask",
          "as mask, and of the data of a queue those of warps that mostly hit first (004, 4.3.4)",
          {.make = make_mask_scheduler<true>,
           .statistics = &statistics_schema_of<MaskSchedulerStatistics>},
          &schema_of<MaskSchedulerParameters>(),
          [](const PolicyChoice&) {
            return PolicyTraits{{}, {needs_hitting_warps(), needs_walk_measures()}};
          }};
}

}  // namespace lockstep
