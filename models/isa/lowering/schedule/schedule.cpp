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
/// Simplified: latencies are a fixed table in the order of magnitude of the machine's; no
/// scheduling across blocks, no software pipelining.
#include "models/isa/lowering/schedule/schedule.hpp"

#include <algorithm>

#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/analysis/registers.hpp"
#include "models/isa/lowering/schedule/dependences.hpp"

namespace lockstep::isa::lowering {

namespace {

unsigned latency(const ir::Operation& operation) {
  constexpr unsigned of_shared_memory = 24;
  const bool shared =
      category_of(operation.opcode) == Category::load && operation.space == Space::shared;
  return shared ? of_shared_memory : facts_of(operation.opcode).wait;
}

/// Counts rows while operations are taken in some order, from their last users backwards known.
class Pressure {
 public:
  Pressure(const ir::Function& function, const ir::Operation* first, std::uint32_t count,
           const RegisterSet& live_before, const RegisterSet& live_after)
      : function_(function), live_(live_before), after_(live_after) {
    for (std::uint32_t n = 0; n < count; ++n)
      for_each_use(first[n], [&](const ir::Operand& u) { ++users_[u.index]; });
    live_.for_each([&](std::uint32_t r) { rows_ += rows(r); });
  }
  /// Rows more (or less, negative) after this operation than before.
  int change(const ir::Operation& operation) const {
    int sum = 0;
    for_each_definition(operation, [&](const ir::Operand& d) {
      if (!live_.contains(d.index)) sum += rows(d.index);
    });
    std::map<std::uint32_t, int> reads;
    for_each_use(operation, [&](const ir::Operand& u) { ++reads[u.index]; });
    for (const auto& [r, count] : reads)
      if (users_.at(r) == count && !after_.contains(r) && live_.contains(r)) sum -= rows(r);
    return sum;
  }
  void take(const ir::Operation& operation) {
    for_each_use(operation, [&](const ir::Operand& u) {
      if (--users_[u.index] == 0 && !after_.contains(u.index) && live_.contains(u.index)) {
        live_.erase(u.index);
        rows_ -= rows(u.index);
      }
    });
    for_each_definition(operation, [&](const ir::Operand& d) {
      if (live_.contains(d.index)) return;
      live_.insert(d.index);
      rows_ += rows(d.index);
    });
    peak_ = std::max(peak_, rows_);
  }
  int now() const { return rows_; }
  int peak() const { return peak_; }

 private:
  int rows(std::uint32_t r) const { return static_cast<int>(rows_of(function_.registers[r].type)); }
  const ir::Function& function_;
  RegisterSet live_;
  const RegisterSet& after_;
  std::map<std::uint32_t, int> users_;
  int rows_ = 0, peak_ = 0;
};

class Stretch {
 public:
  Stretch(const ir::Function& function, ir::Operation* first, std::uint32_t count,
          const RegisterSet& live_before, const RegisterSet& live_after, const RowLimit& limit)
      : function_(function),
        first_(first),
        count_(count),
        before_(live_before),
        after_(live_after),
        limit_(static_cast<int>(limit.rows)),
        grows_(limit.grows) {}

  void run() {
    if (count_ < 2) return;
    const auto graph = dependences(first_, count_);
    find_heights(graph);
    Pressure original(function_, first_, count_, before_, after_);
    for (std::uint32_t n = 0; n < count_; ++n) original.take(first_[n]);
    // Short of rows the greedy choice may overshoot: aim lower until it does not.
    const int allowed = grows_ && original.peak() > limit_ ? grow_to(original.peak())
                                                           : std::max(limit_, original.peak());
    std::vector<std::uint32_t> order = choose(graph);
    for (; peak_ > allowed && limit_ > 0; limit_ -= 2) order = choose(graph);
    if (peak_ > allowed) return;
    std::vector<ir::Operation> result;
    for (std::uint32_t n : order) result.push_back(std::move(first_[n]));
    std::move(result.begin(), result.end(), first_);
  }

 private:
  /// The code has so many rows live in any case: loads may go ahead within them, and a few more.
  int grow_to(int rows) {
    limit_ = rows;
    return rows + rows / 8;
  }

  void find_heights(const std::vector<std::vector<Dependence>>& graph) {
    height_.assign(count_, 0);
    for (std::uint32_t n = count_; n-- > 0;) {
      height_[n] = latency(first_[n]);
      for (const Dependence& d : graph[n])
        height_[n] =
            std::max(height_[n], height_[d.to] + (d.carries_value ? latency(first_[n]) : 0));
    }
  }

  std::vector<std::uint32_t> choose(const std::vector<std::vector<Dependence>>& graph) {
    std::vector<std::uint32_t> waiting(count_), order, ready;
    for (const auto& edges : graph)
      for (const Dependence& d : edges) ++waiting[d.to];
    for (std::uint32_t n = 0; n < count_; ++n)
      if (waiting[n] == 0) ready.push_back(n);
    Pressure pressure(function_, first_, count_, before_, after_);
    while (!ready.empty()) {
      const std::size_t best = best_of(ready, pressure);
      const std::uint32_t n = ready[best];
      ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(best));
      pressure.take(first_[n]);
      order.push_back(n);
      for (const Dependence& d : graph[n])
        if (--waiting[d.to] == 0) ready.push_back(d.to);
    }
    peak_ = pressure.peak();
    return order;
  }

  std::size_t best_of(const std::vector<std::uint32_t>& ready, const Pressure& pressure) const {
    std::size_t best = 0;
    for (std::size_t k = 1; k < ready.size(); ++k)
      if (better(ready[k], ready[best], pressure)) best = k;
    return best;
  }

  bool better(std::uint32_t a, std::uint32_t b, const Pressure& pressure) const {
    const int change_a = pressure.change(first_[a]), change_b = pressure.change(first_[b]);
    const bool fits_a = pressure.now() + change_a <= limit_ || change_a <= 0;
    const bool fits_b = pressure.now() + change_b <= limit_ || change_b <= 0;
    if (fits_a != fits_b) return fits_a;
    if (!fits_a) return a < b;  // too much is live either way: the original order
    if (height_[a] != height_[b]) return height_[a] > height_[b];
    return a < b;
  }

  const ir::Function& function_;
  ir::Operation* first_;
  std::uint32_t count_;
  const RegisterSet& before_;
  const RegisterSet& after_;
  int limit_;
  const bool grows_;
  int peak_ = 0;
  std::vector<unsigned> height_;
};

void schedule_block(ir::Function& function, std::uint32_t b, const Liveness& liveness,
                    const RowLimit& limit) {
  auto& operations = function.blocks[b].operations;
  std::vector<RegisterSet> live(operations.size() + 1);  // before each operation
  LiveWalker walker = liveness.walk(b);
  live.back() = walker.live();
  for (auto o = operations.size(); o-- > 0;) {
    walker.step_back(operations[o]);
    live[o] = walker.live();
  }
  for (std::size_t from = 0; from < operations.size();) {
    std::size_t to = from;
    while (to < operations.size() && !is_scheduling_barrier(operations[to])) ++to;
    Stretch(function, &operations[from], static_cast<std::uint32_t>(to - from), live[from],
            live[to], limit)
        .run();
    from = to + 1;
  }
}

}  // namespace

void schedule(ir::Function& function, const RowLimit& limit) {
  const Flow flow(function);
  const Liveness liveness(function, flow);
  for (std::uint32_t b : flow.order)
    if (!function.blocks[b].operations.empty()) schedule_block(function, b, liveness, limit);
}

}  // namespace lockstep::isa::lowering
