/// Parallelism-aware batch scheduling: requests are served in batches, and within a batch the
/// tenants in an order that keeps each one's banks busy together.
///
/// When no marked request is left, the oldest `cap` requests of each tenant and bank are marked.
/// The tenant whose fullest bank has the fewest marked requests ranks highest; among equals, the
/// tenant with the fewest marked requests in all. Marked requests go first, then row hits, then
/// higher-ranked tenants, then older ones. Source: 004, section 5.4.2; memory-interference.md,
/// section 2.2 (Mutlu and Moscibroda, ISCA 2008).
///
/// Simplified: batches of a controller do not wait for batches of others.  Writes that wait in a
/// queue of their own have batches of their own.
#include <array>
#include <bit>
#include <tuple>
#include <vector>

#include "core/parameters/parameters.hpp"
#include "core/statistics/statistics.hpp"
#include "models/memory/dram_scheduler/ordered_scheduler.hpp"

namespace lockstep {
namespace {

struct ParBsParameters {
  std::uint32_t cap = 0;
  static auto schema() {
    return parameters<ParBsParameters>().field(
        "cap", &ParBsParameters::cap, 5, range(1, 4096),
        "requests of a tenant that a batch takes from a bank at most", "requests");
  }
};

struct ParBsStatistics {
  Counter batches;
  PerTenant<Counter> marked;
  Histogram<16> batch_length;
  static auto schema() {
    using S = ParBsStatistics;
    return statistics<S>()
        .counter("batches", &S::batches, "batches", "batches that were formed")
        .per_tenant("marked", &S::marked, "requests", "requests that were in a batch")
        .histogram("batch_length", &S::batch_length, "cycles",
                   "DRAM cycles from the forming of a batch to its last column command");
  }
};

class ParBs final : public OrderedScheduler<ParBs> {
 public:
  explicit ParBs(const PartitionPolicySetup& setup)
      : OrderedScheduler(setup.parameters.dram, Cycles{0}),
        cap_(setup.choice.parameters<ParBsParameters>().cap),
        random_(setup.random(0)),
        marked_(setup.parameters.dram.queue + setup.parameters.dram.write_queue) {
    for (Batch& batch : batches_) batch.ranks.resize(setup.tenants);
    loads_.resize(setup.tenants);
    set_tenants(statistics_, setup.tenants);
  }

  std::uint32_t key(const DramQueue& queue, std::uint32_t place, bool hit, bool) const {
    const std::uint32_t rank = batch(queue).ranks[queue[place].tenant];
    return std::uint32_t{marked_[place]} << 17 | std::uint32_t{hit} << 16 | rank;
  }
  bool update(const DramQueue& queue, DramCycle now) {
    if (batch(queue).left != 0 || queue.active_banks() == 0) return false;
    form_batch(queue, now);
    return true;
  }
  DramCycle next_update() const { return DramCycle::never(); }

  void on_served(const DramQueue& queue, std::uint32_t place, DramCycle now) override {
    if (!marked_[place]) return;
    marked_[place] = 0;
    Batch& of = batch(queue);
    if (--of.left == 0) statistics_.batch_length.add(static_cast<std::uint64_t>(now - of.since));
  }

  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override { archive(marked_, batches_, random_, statistics_); }

 private:
  /// Marked requests of one direction.
  struct Batch {
    std::uint32_t left = 0;
    DramCycle since;
    std::vector<std::uint16_t> ranks;  ///< rank of each tenant; higher goes first
    template <class Archive>
    void serialize(Archive& archive) {
      archive(left, since, ranks);
    }
  };
  /// Marked requests of one tenant in a batch.
  struct Load {
    std::uint32_t in_bank = 0, most = 0, total = 0;
  };

  Batch& batch(const DramQueue& queue) { return batches_[queue.served(false) ? 0 : 1]; }
  const Batch& batch(const DramQueue& queue) const { return batches_[queue.served(false) ? 0 : 1]; }

  void form_batch(const DramQueue& queue, DramCycle now) {
    Batch& of = batch(queue);
    of.since = now;
    ++statistics_.batches;
    std::fill(loads_.begin(), loads_.end(), Load{});
    for (std::uint64_t rest = queue.active_banks(); rest != 0; rest &= rest - 1)
      mark(queue, static_cast<std::uint32_t>(std::countr_zero(rest)), of);
    rank(of);
  }

  void mark(const DramQueue& queue, std::uint32_t bank, Batch& of) {
    for (Load& load : loads_) load.in_bank = 0;
    for (std::uint32_t place = queue.oldest(bank); place != DramEntry::none;
         place = queue.younger(place)) {
      const std::uint16_t tenant = queue[place].tenant;
      Load& load = loads_[tenant];
      if (load.in_bank == cap_) continue;
      marked_[place] = 1;
      ++of.left;
      ++statistics_.marked[tenant];
      ++load.total;
      load.most = std::max(load.most, ++load.in_bank);
    }
  }

  /// Ranks tenants by the number of others with more requests to serve; equal ones are put in
  /// random order.
  void rank(Batch& of) {
    const std::size_t tenants = loads_.size();
    if (tenants == 1) return;
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::size_t>;
    order_.clear();
    for (std::size_t tenant = 0; tenant < tenants; ++tenant) {
      const Load& load = loads_[tenant];
      if (load.total != 0)
        order_.push_back(Key{load.most, load.total, random_.next_uint32(), tenant});
    }
    std::sort(order_.begin(), order_.end(), std::greater<Key>());
    std::fill(of.ranks.begin(), of.ranks.end(), std::uint16_t{0});
    for (std::size_t i = 0; i < order_.size(); ++i)
      of.ranks[std::get<3>(order_[i])] = static_cast<std::uint16_t>(i);
  }

  const std::uint32_t cap_;
  Random random_;
  std::vector<std::uint8_t> marked_;  ///< marks by place in the queue
  std::array<Batch, 2> batches_;      ///< batches of reads and of writes
  // While a batch is formed.
  std::vector<Load> loads_;
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::size_t>> order_;
  ParBsStatistics statistics_;
};

}  // namespace

PolicyRegistry<DramSchedulerFactory>::Row par_bs_scheduler() {
  return {"par-bs",
          "batches, within them tenants with little to serve first (004, section 5.4.2)",
          {[](const PartitionPolicySetup& setup) -> std::unique_ptr<DramScheduler> {
             return std::make_unique<ParBs>(setup);
           },
           nullptr, &statistics_schema_of<ParBsStatistics>},
          &schema_of<ParBsParameters>()};
}

}  // namespace lockstep
