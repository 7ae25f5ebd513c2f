#include "models/isa/lowering/allocation/live_ranges.hpp"

#include <algorithm>

#include "models/isa/lowering/analysis/liveness.hpp"
#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

namespace {

class Builder {
 public:
  explicit Builder(const ir::Function& function)
      : function_(function),
        walker_(function),
        ranges_(function.registers.size()),
        end_(function.registers.size()) {}

  std::vector<LiveRange> run() {
    const Flow flow(function_);
    const Liveness liveness(function_, flow);
    std::uint32_t position = 0;
    for (std::uint32_t b = 0; b < function_.blocks.size(); ++b) {
      const auto size = static_cast<std::uint32_t>(function_.blocks[b].operations.size());
      if (flow.reachable(b)) add_block(liveness, b, position, flow.loop_depth[b]);
      position += 2 * size;
    }
    for (LiveRange& range : ranges_) join(range);
    return std::move(ranges_);
  }

 private:
  void add_block(const Liveness& liveness, std::uint32_t b, std::uint32_t first,
                 std::uint32_t depth) {
    const auto& operations = function_.blocks[b].operations;
    const double weight = weight_at(depth);
    walker_.begin(liveness.live_out[b]);
    const std::uint32_t last = first + 2 * static_cast<std::uint32_t>(operations.size());
    for (const std::uint32_t r : walker_.live().members()) end_[r] = last;
    for (auto o = static_cast<std::uint32_t>(operations.size()); o-- > 0;) {
      const ir::Operation& operation = operations[o];
      const std::uint32_t reads = first + 2 * o, writes = reads + 1;
      if (operation.opcode == Opcode::ret)
        for (const ir::Operand& result : function_.results)
          if (is_register(result) && !walker_.live().contains(result.index)) {
            walker_.keep(result.index);
            end_[result.index] = writes;
          }
      note_live(operation);
      walker_.step_back(operation);
      auto was_live = live_after_.begin();
      for_each_definition(operation, [&](const ir::Operand& d) {
        ranges_[d.index].weight += weight;
        if (!*was_live++) {
          add(d.index, writes, writes + 1);  // the register is written and never read
        } else if (!walker_.live().contains(d.index)) {
          add(d.index, writes, end_[d.index]);
        } else if (reads_itself(operation, d.index) && !is_guarded(operation)) {
          add(d.index, writes, end_[d.index]);
          end_[d.index] = writes;
        }
      });
      for_each_use(operation, [&](const ir::Operand& u) {
        ranges_[u.index].weight += weight;
        if (!*was_live++) end_[u.index] = writes;
      });
    }
    for (const std::uint32_t r : walker_.live().members()) add(r, first, end_[r]);
  }

  /// Notes for each register that the operation writes, then for each that it reads, whether it is
  /// live behind the operation.
  void note_live(const ir::Operation& operation) {
    live_after_.clear();
    const auto note = [&](const ir::Operand& o) {
      live_after_.push_back(walker_.live().contains(o.index));
    };
    for_each_definition(operation, note);
    for_each_use(operation, note);
  }

  static bool reads_itself(const ir::Operation& operation, std::uint32_t index) {
    bool reads = false;
    for_each_use(operation, [&](const ir::Operand& u) { reads = reads || u.index == index; });
    return reads;
  }

  void add(std::uint32_t r, std::uint32_t from, std::uint32_t to) {
    if (from < to) ranges_[r].segments.push_back({from, to});
  }

  static void join(LiveRange& range) {
    auto& segments = range.segments;
    std::sort(segments.begin(), segments.end(),
              [](const auto& a, const auto& b) { return a.from < b.from; });
    std::vector<LiveRange::Segment> joined;
    for (const auto& segment : segments)
      if (!joined.empty() && segment.from <= joined.back().to)
        joined.back().to = std::max(joined.back().to, segment.to);
      else
        joined.push_back(segment);
    segments = std::move(joined);
  }

  const ir::Function& function_;
  LiveWalker walker_;
  std::vector<bool> live_after_;
  std::vector<LiveRange> ranges_;
  std::vector<std::uint32_t> end_;  ///< end of the live stretch that is being walked
};

}  // namespace

double weight_at(std::uint32_t depth) {
  double weight = 1;
  for (std::uint32_t d = 0; d < std::min(depth, 6U); ++d) weight *= 10;
  return weight;
}

std::vector<LiveRange> live_ranges(const ir::Function& function) {
  return Builder(function).run();
}

}  // namespace lockstep::isa::lowering
