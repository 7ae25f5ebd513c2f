/// Decisions on the number of tokens of each tenant and the length of its turns at the DRAM.
///
/// Source: 004, sections 6.4.2, 6.4.4 (Equation 6.1) and 6.5; memory-interference.md,
/// sections 5.3.3 and 5.3.5.
///
/// Simplified: a tenant without requests in an epoch keeps its tokens and turns.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "models/vm/tlb_fill/mask/mask.hpp"

namespace lockstep {
namespace {

class MaskDecisions final : public EpochController {
 public:
  explicit MaskDecisions(const EpochControllerSetup& setup)
      : parameters_(setup.choice.parameters<MaskFillParameters>()),
        period_(setup.cycle * parameters_.epoch.count()),
        tenants_(setup.tenants) {
    for (Tenant& tenant : tenants_)
      tenant.decision.turn = std::max<std::uint64_t>(1, parameters_.turns / setup.tenants);
  }

  Time period() const override { return period_; }
  void add(std::span<const std::uint64_t> increments) override {
    const std::uint64_t head = increments[0];
    const std::uint64_t* word = &increments[1];
    for (Tenant& tenant : tenants_) {
      if (head == MaskReport::gmmu) {
        tenant.gmmu = {word[0], word[1], word[2], word[3]};
        word += 4;
      } else {
        if (word[0] != 0) tenant.warps[head] = word[0];
        tenant.waited += word[1];
        word += 2;
      }
    }
  }
  void decide(std::uint64_t, std::vector<std::uint64_t>& values) override {
    for (Tenant& tenant : tenants_) decide_tokens(tenant);
    decide_turns();
    for (Tenant& tenant : tenants_) {
      tenant.decision.append_to(values);
      tenant.warps.clear();
      tenant.gmmu = {};
      tenant.waited = 0;
    }
  }
  void serialize(Archive& archive) override {
    for (Tenant& t : tenants_)
      archive(t.warps, t.waited, t.gmmu.lookups, t.gmmu.misses, t.gmmu.walks, t.gmmu.at_once,
              t.miss_rate, t.rises, t.decision.first_without, t.decision.tokens, t.decision.turn);
  }

 private:
  static constexpr std::int64_t one = 1'000'000;  ///< unit of rates: one millionth
  static constexpr std::uint64_t most = 63;       ///< counters in hardware have six bits

  struct Tenant {
    std::map<std::uint64_t, std::uint64_t> warps;  ///< warps that ran on each SM
    std::uint64_t waited = 0;
    MaskReport::OfGmmu gmmu;
    std::int64_t miss_rate = -1;  ///< miss rate of the epoch before; -1: there is none
    bool rises = false;           ///< hill-climb: true: tokens increase when they change
    MaskDecision decision;
  };

  void decide_tokens(Tenant& tenant) {
    std::uint64_t warps = 0;
    for (const auto& [sm, bits] : tenant.warps) warps += static_cast<unsigned>(std::popcount(bits));
    if (warps == 0) return;
    const bool first = tenant.miss_rate < 0;
    const auto share = [&](double part) {
      return static_cast<std::int64_t>(std::llround(part * static_cast<double>(warps)));
    };
    std::int64_t tokens = first
                              ? share(parameters_.initial_tokens)
                              : static_cast<std::int64_t>(std::min(tenant.decision.tokens, warps));
    if (tenant.gmmu.lookups != 0) {
      const auto rate = static_cast<std::int64_t>(tenant.gmmu.misses * one / tenant.gmmu.lookups);
      const std::int64_t change = first ? 0 : rate - tenant.miss_rate;
      const std::int64_t band = std::llround(parameters_.miss_band * one);
      const std::int64_t step = std::max<std::int64_t>(1, share(parameters_.token_step));
      if (change > band) tokens += worse(tenant) ? step : -step;
      if (change < -band) tokens += better(tenant) ? step : -step;
      tenant.miss_rate = rate;
    } else if (first) {
      tenant.miss_rate = 0;
    }
    const auto floor = static_cast<std::int64_t>(tenant.warps.size());  // one token for each SM
    tokens = std::clamp(tokens, floor, static_cast<std::int64_t>(warps));
    tenant.decision.tokens = static_cast<std::uint64_t>(tokens);
    tenant.decision.first_without = first_without(tenant, warps);
  }

  /// Returns whether there are to be more tokens, because the miss rate has risen, or fallen.
  bool worse(Tenant& tenant) const {
    if (parameters_.token_rule == TokenRule::threshold) return false;
    tenant.rises = !tenant.rises;
    return tenant.rises;
  }
  bool better(const Tenant& tenant) const {
    return parameters_.token_rule == TokenRule::threshold || tenant.rises;
  }

  static std::uint64_t first_without(const Tenant& tenant, std::uint64_t warps) {
    if (tenant.decision.tokens == warps) return MaskDecision::all_warps;
    std::uint64_t left = tenant.decision.tokens;
    for (std::uint64_t warp = 0; warp < 64; ++warp)
      for (const auto& [sm, bits] : tenant.warps)
        if ((bits >> warp & 1) != 0 && left-- == 0) return MaskDecision::order_of(warp, sm);
    return MaskDecision::all_warps;
  }

  void decide_turns() {
    const auto product = [](const Tenant& tenant) -> std::uint64_t {
      if (tenant.gmmu.walks == 0) return 0;
      const std::uint64_t waited = tenant.waited * one / tenant.gmmu.walks;
      return std::min(tenant.gmmu.at_once, most) * std::min<std::uint64_t>(waited, most * one);
    };
    std::uint64_t sum = 0;
    for (const Tenant& tenant : tenants_) sum += product(tenant);
    for (Tenant& tenant : tenants_) {
      const std::uint64_t turn = sum == 0 ? parameters_.turns / tenants_.size()
                                          : (parameters_.turns * product(tenant) + sum / 2) / sum;
      tenant.decision.turn = std::max<std::uint64_t>(1, turn);
    }
  }

  const MaskFillParameters parameters_;
  const Time period_;
  std::vector<Tenant> tenants_;
};

}  // namespace

std::unique_ptr<EpochController> make_mask_decisions(const EpochControllerSetup& setup) {
  return std::make_unique<MaskDecisions>(setup);
}

}  // namespace lockstep
