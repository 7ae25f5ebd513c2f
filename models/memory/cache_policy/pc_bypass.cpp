/// Instructions that mostly miss bypass the L2.
///
/// Each SM has a table of hits and lookups, indexed by a hash of the program counter, so that two
/// instructions may share an entry. Source: 004, section 4.4 (PC-Byp, against which MeDiC is
/// compared); memory-interference.md, section 3.2 (AMB-23: 128 places, 20 % of hits, program
/// counters folded by XOR).
///
/// Simplified: eleven bits of a program counter tell instructions apart.  The table begins anew
/// each period, because requests past the L2 are not measured.
#include <vector>

#include "core/parameters/parameters.hpp"
#include "models/memory/cache_policy/hit_counts.hpp"
#include "models/memory/cache_policy/marked_bypass.hpp"
#include "models/memory/cache_policy/period.hpp"

namespace lockstep {
namespace {

struct PcBypassParameters {
  std::uint32_t entries = 0, threshold = 0, profile = 0;
  Cycles period;
  static auto schema() {
    using namespace literals;
    using P = PcBypassParameters;
    return parameters<P>()
        .field("entries", &P::entries, 128, range(1, 1024).powers_of_two(), "places of the table")
        .field("threshold", &P::threshold, 20, range(0, 100),
               "share of hits up to which an instruction bypasses", "%")
        .field("profile", &P::profile, 30, range(1, 511),
               "lookups before an instruction may bypass", "requests")
        .field("period", &P::period, 100'000_cycles, range(1000_cycles, 10'000'000'000_cycles),
               "L2 cycles after which the table begins anew");
  }
};

class MissingInstructions final : public SmSide {
 public:
  explicit MissingInstructions(const SmSideSetup& setup)
      : parameters_(setup.choice.parameters<PcBypassParameters>()),
        period_(setup.cycle * parameters_.period.count()),
        table_(parameters_.entries) {}

  void mark(MemoryRequest& request, Time now) override {
    begin_period(now);
    const HitCounts& counts = place_of(request.pc & ((1u << pc_bits) - 1));
    if (counts.lookups() >= parameters_.profile && counts.at_most(parameters_.threshold))
      request.marks |= mark_bypass;
  }
  void on_answer(const MemoryResponse& answer, std::uint32_t pc, Time now) override {
    begin_period(now);
    if ((answer.flags & flag_past_l2) == 0) place_of(pc).add(answer.l2_hits == answer.sectors);
  }
  void serialize(Archive& archive) override { archive(period_, table_); }

 private:
  void begin_period(Time now) {
    if (period_.begun(now)) table_.assign(table_.size(), {});
  }
  HitCounts& place_of(std::uint32_t pc) {
    std::uint32_t folded = 0;
    for (; pc != 0; pc /= parameters_.entries == 1 ? 2 : parameters_.entries) folded ^= pc;
    return table_[folded % parameters_.entries];
  }

  const PcBypassParameters parameters_;
  Period period_;
  std::vector<HitCounts> table_;
};

}  // namespace

PolicyRegistry<CachePolicyFactory>::Row pc_bypass_cache_policy() {
  return {"pc-bypass",
          "instructions that mostly miss bypass (004, section 4.4)",
          {.make = [](const PartitionPolicySetup&) -> std::unique_ptr<CachePolicy> {
             return std::make_unique<MarkedBypass>();
           },
           .sm_side = {[](const SmSideSetup& setup) -> std::unique_ptr<SmSide> {
             return std::make_unique<MissingInstructions>(setup);
           }}},
          &schema_of<PcBypassParameters>()};
}

}  // namespace lockstep
