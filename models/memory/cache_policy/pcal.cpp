/// Priority-based cache allocation: all warps may look up, but only requests of warps with a token
/// leave lines behind.
///
/// Each period an SM's tokens go to the warps that used the L2 in the last one, and the rest to
/// warps in the order in which they use it.
/// Source: 004, section 4.4 (PCAL as modelled there, at the L2); memory-interference.md,
/// section 3.2 (AMB-22: period of 100,000 cycles, tokens to be swept).
///
/// Simplified: each SM has tokens of its own; among warps that used the L2 they go by slot number.
#include <vector>

#include "core/parameters/parameters.hpp"
#include "models/memory/cache_policy/cache_policy.hpp"
#include "models/memory/cache_policy/period.hpp"

namespace lockstep {
namespace {

struct PcalParameters {
  std::uint32_t tokens = 0;
  Cycles period;
  static auto schema() {
    using namespace literals;
    using P = PcalParameters;
    return parameters<P>()
        .field("tokens", &P::tokens, 16, range(0, 1024), "tokens of an SM", "warps")
        .field("period", &P::period, 100'000_cycles, range(1000_cycles, 10'000'000'000_cycles),
               "L2 cycles after which tokens are handed out anew");
  }
};

class Tokens final : public SmSide {
 public:
  explicit Tokens(const SmSideSetup& setup)
      : Tokens(setup, setup.choice.parameters<PcalParameters>()) {}

  void mark(MemoryRequest& request, Time now) override {
    if (period_.begun(now)) hand_out();
    Warp& warp = warps_[request.warp];
    warp.used = true;
    if (!warp.token && left_ != 0) {
      warp.token = true;
      --left_;
    }
    if (warp.token) request.marks |= mark_may_allocate;
  }
  void serialize(Archive& archive) override { archive(period_, left_, warps_); }

 private:
  struct Warp {
    bool token = false, used = false;
    template <class A>
    void serialize(A& archive) {
      archive(token, used);
    }
  };

  Tokens(const SmSideSetup& setup, const PcalParameters& p)
      : all_(p.tokens),
        period_(setup.cycle * p.period.count()),
        left_(p.tokens),
        warps_(setup.warps) {}

  void hand_out() {
    left_ = all_;
    for (Warp& warp : warps_) {
      warp.token = warp.used && left_ != 0;
      if (warp.token) --left_;
      warp.used = false;
    }
  }

  const std::uint32_t all_;
  Period period_;
  std::uint32_t left_;  ///< tokens that no warp has yet
  std::vector<Warp> warps_;
};

/// Part of the policy in the L2.
class Pcal final : public CachePolicy {
 public:
  Pcal() : CachePolicy(inserts) {}

  /// Walks and other requests without a warp allocate freely.
  CacheInsertion on_insertion(const MemoryRequest& request, std::uint64_t, Time) override {
    return {.allocate = request.source != SourceKind::sm || request.walk_level != 0 ||
                        (request.flags & (flag_context | flag_code)) != 0 ||
                        (request.marks & mark_may_allocate) != 0};
  }
};

}  // namespace

PolicyRegistry<CachePolicyFactory>::Row pcal_cache_policy() {
  return {"pcal",
          "only warps with a token leave lines behind (004, section 4.4)",
          {.make = [](const PartitionPolicySetup&) -> std::unique_ptr<CachePolicy> {
             return std::make_unique<Pcal>();
           },
           .sm_side = {[](const SmSideSetup& setup) -> std::unique_ptr<SmSide> {
             return std::make_unique<Tokens>(setup);
           }}},
          &schema_of<PcalParameters>()};
}

}  // namespace lockstep
