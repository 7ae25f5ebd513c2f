/// List scheduling within a block: operations that others wait for long are issued early, as far as
/// registers allow.
///
/// Stretches between scheduling barriers (bar, fence, atomic, volatile, call, branch) are scheduled
/// one by one, top down, by the length of the path that hangs on an operation.  When more rows are
/// live than the limit, what frees rows goes first; a schedule may need no more rows than the limit
/// or the original order, whichever is more.  Source: architecture.md, section 3 "isa"; the limit
/// on rows is an own choice; how it grows follows what ptxas 11.8 makes of Parboil's sgemm with 8
/// to 64 sums per thread (34 to 123 registers).
///
/// Simplified: latencies come from a fixed table, with the machine's order of magnitude; no
/// scheduling across blocks, no software pipelining.
#include "models/isa/lowering/schedule/schedule.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <vector>

#include "models/isa/lowering/analysis/liveness.hpp"
#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/schedule/dependences.hpp"
#include "models/isa/lowering/schedule/pressure.hpp"

namespace lockstep::isa::lowering {

namespace {

unsigned latency(const ir::Operation& operation) {
  constexpr unsigned of_shared_memory = 24;
  const bool shared =
      category_of(operation.opcode) == Category::load && operation.space == Space::shared;
  return shared ? of_shared_memory : facts_of(operation.opcode).wait;
}

/// Operations that may be taken next.
class Ready {
 public:
  /// `rank`: rank of all operations, by which they are taken if rows suffice.
  Ready(const std::vector<std::uint32_t>& rank, const std::vector<std::uint32_t>& ranked)
      : rank_(rank), ranked_(ranked), change_(rank.size(), absent) {}

  bool contains(std::uint32_t n) const { return change_[n] != absent; }
  void add(std::uint32_t n, int change) {
    by_number_.push(n);
    set_change(n, change);
  }
  void set_change(std::uint32_t n, int change) {
    if (change_[n] == change) return;
    change_[n] = change;
    by_change_[change].push(rank_[n]);
  }
  /// Removes and returns the first operation by rank that adds no rows, or at most `room`.  If
  /// there is none, too many rows are live in any case, and the original order is used.
  std::optional<std::uint32_t> take(int room) {
    std::optional<std::uint32_t> best;
    for (auto& [change, heap] : by_change_) {
      if (change > 0 && change > room) break;
      while (!heap.empty() && change_[ranked_[heap.top()]] != change) heap.pop();
      if (!heap.empty() && (!best || heap.top() < *best)) best = heap.top();
    }
    while (!by_number_.empty() && !contains(by_number_.top())) by_number_.pop();
    if (by_number_.empty()) return {};
    const std::uint32_t taken = best ? ranked_[*best] : by_number_.top();
    change_[taken] = absent;
    return taken;
  }

 private:
  using Heap = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
  static constexpr int absent = std::numeric_limits<int>::max();
  const std::vector<std::uint32_t>& rank_;
  const std::vector<std::uint32_t>& ranked_;  ///< operations by rank
  std::vector<int> change_;                   ///< change of live rows by each operation
  std::map<int, Heap> by_change_;             ///< ranks by change; outdated ones are skipped
  Heap by_number_;
};

class Stretch {
 public:
  Stretch(const StretchRegisters& registers, ir::Operation* first, std::uint32_t count,
          const RowLimit& limit)
      : registers_(registers),
        first_(first),
        count_(count),
        limit_(static_cast<int>(limit.rows)),
        grows_(limit.grows),
        given_(limit.given) {}

  void run() {
    graph_ = dependences(first_, count_);
    rank();
    Pressure original(registers_);
    for (std::uint32_t n = 0; n < count_; ++n) original.take(n);
    // With few rows the greedy choice may overshoot: aim lower until it does not.
    const int allowed = grows_ && original.peak() > limit_ ? grow_to(original.peak())
                                                           : std::max(limit_, original.peak());
    if (given_) limit_ = allowed;
    std::vector<std::uint32_t> order = choose();
    while (peak_ > allowed && (limit_ -= std::max(2, limit_ / 64)) > 0) order = choose();
    if (peak_ > allowed) return;
    std::vector<ir::Operation> result;
    result.reserve(count_);
    for (std::uint32_t n : order) result.push_back(std::move(first_[n]));
    std::move(result.begin(), result.end(), first_);
  }

 private:
  /// Raises the limit: the code has this many live rows in any case, so loads may move ahead within
  /// them, and a few more.
  int grow_to(int rows) {
    limit_ = rows;
    return rows + rows / 8;
  }

  /// Ranks operations by the length of the dependent path behind them, then by the original order.
  void rank() {
    std::vector<unsigned> height(count_);
    for (std::uint32_t n = count_; n-- > 0;) {
      height[n] = latency(first_[n]);
      for (const Dependence& d : graph_[n])
        height[n] = std::max(height[n], height[d.to] + (d.carries_value ? latency(first_[n]) : 0));
    }
    ranked_.resize(count_);
    std::iota(ranked_.begin(), ranked_.end(), 0U);
    std::stable_sort(ranked_.begin(), ranked_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return height[a] > height[b]; });
    rank_.resize(count_);
    for (std::uint32_t k = 0; k < count_; ++k) rank_[ranked_[k]] = k;
  }

  std::vector<std::uint32_t> choose() {
    std::vector<std::uint32_t> waiting(count_), order;
    for (const auto& edges : graph_)
      for (const Dependence& d : edges) ++waiting[d.to];
    Pressure pressure(registers_);
    Ready ready(rank_, ranked_);
    // Writers of one register follow one another: at most one of them is ready.
    std::vector<std::uint32_t> writer(registers_.entries().size(), count_);
    const auto add = [&](std::uint32_t n) {
      for (const std::uint32_t w : registers_.of(n).writes) writer[w] = n;
      ready.add(n, pressure.change(n));
    };
    const auto look_again = [&](std::uint32_t n) {
      if (n < count_ && ready.contains(n)) ready.set_change(n, pressure.change(n));
    };
    for (std::uint32_t n = 0; n < count_; ++n)
      if (waiting[n] == 0) add(n);
    while (const auto taken = ready.take(limit_ - pressure.now())) {
      pressure.take(*taken);
      order.push_back(*taken);
      const StretchRegisters::Mentions& mentions = registers_.of(*taken);
      for (const auto* list : {&mentions.reads, &mentions.writes})
        for (const std::uint32_t entry : *list) {
          look_again(writer[entry]);
          pressure.with_last_reader(entry, look_again);
        }
      for (const Dependence& d : graph_[*taken])
        if (--waiting[d.to] == 0) add(d.to);
    }
    peak_ = pressure.peak();
    return order;
  }

  const StretchRegisters& registers_;
  ir::Operation* first_;
  std::uint32_t count_;
  int limit_;
  const bool grows_, given_;
  int peak_ = 0;
  std::vector<std::vector<Dependence>> graph_;
  /// Rank of each operation, and operation of each rank.
  std::vector<std::uint32_t> rank_, ranked_;
};

/// Schedules the stretches from the end of the block to its beginning: a stretch uses the liveness
/// of the original order.
void schedule_block(std::vector<ir::Operation>& operations, LiveWalker& walker,
                    StretchRegisters& registers, const RowLimit& limit) {
  for (std::size_t to = operations.size();;) {
    std::size_t from = to;
    while (from > 0 && !is_scheduling_barrier(operations[from - 1])) --from;
    const auto count = static_cast<std::uint32_t>(to - from);
    if (count > 1) {
      registers.begin(&operations[from], count, walker);
      Stretch(registers, &operations[from], count, limit).run();
    } else if (count == 1) {
      walker.step_back(operations[from]);
    }
    if (from == 0) return;
    walker.step_back(operations[from - 1]);
    to = from - 1;
  }
}

}  // namespace

void schedule(ir::Function& function, const RowLimit& limit) {
  const Flow flow(function);
  const Liveness liveness(function, flow);
  LiveWalker walker(function);
  StretchRegisters registers(function);
  for (std::uint32_t b : flow.order) {
    walker.begin(liveness.live_out[b]);
    schedule_block(function.blocks[b].operations, walker, registers, limit);
  }
}

}  // namespace lockstep::isa::lowering
