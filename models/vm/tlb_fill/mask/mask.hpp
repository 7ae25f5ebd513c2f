/// MASK: walks for warps with a token fill the second-level TLB; other walks fill a small array
/// beside it.
///
/// Each SM reports the warps that ran in an epoch and the number that waited for each translation;
/// the GMMU reports lookups, misses and walks (mask.cpp).  The coordinator decides the tokens of
/// each tenant and the length of its turns at the DRAM (decisions.cpp); the warps with the lowest
/// numbers have tokens. Source: 004, sections 6.4.2 and 6.4.4; memory-interference.md, sections
/// 5.3.3 and 5.3.5.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parameters/parameters.hpp"
#include "models/coordinator/epoch_controller.hpp"
#include "models/coordinator/mask_decision.hpp"
#include "models/coordinator/sm_side.hpp"

namespace lockstep {

/// How the number of tokens follows the miss rate.
enum class TokenRule : std::uint8_t {
  threshold,  ///< fewer tokens when the miss rate rises, more when it falls (004, section 6.4.2)
  /// Same direction while the miss rate falls, back when it rises (004, section 6.6.4).
  hill_climb,
};

struct MaskFillParameters {
  bool tokens = true;
  TokenRule token_rule = TokenRule::threshold;
  Cycles epoch;
  double initial_tokens = 0, miss_band = 0, token_step = 0;
  std::uint32_t entries = 0, large_entries = 0, turns = 0;

  static auto schema() {
    using namespace literals;
    using P = MaskFillParameters;
    return parameters<P>()
        .field("tokens", &P::tokens, true, "false: measures only, all walks fill the TLB")
        .field("token_rule", &P::token_rule, TokenRule::threshold,
               choice({"threshold", "hill-climb"}),
               "threshold: fewer tokens when a tenant's miss rate rises, more when it falls; "
               "hill-climb: the number of tokens changes in one direction while the miss rate "
               "falls, and turns when it rises (004, 6.4.2 and 6.6.4)")
        .field("epoch", &P::epoch, 100'000_cycles, range(1000_cycles, 10'000'000'000_cycles),
               "GMMU cycles after which tokens and turns are computed again")
        .field("initial_tokens", &P::initial_tokens, 0.8, range(0.0, 1.0),
               "share of its warps for which a tenant gets tokens at first")
        .field("miss_band", &P::miss_band, 0.02, range(0.0, 1.0),
               "change of the miss rate that leaves the number of tokens as it is")
        .field("token_step", &P::token_step, 0.1, range(0.0, 1.0),
               "share of its warps by which a tenant's tokens change")
        .field("entries", &P::entries, 32, range(1, 4096),
               "entries of the small cache beside the TLB, for 4 KiB pages", "entries")
        .field("large_entries", &P::large_entries, 8, range(1, 4096),
               "entries of the small cache beside the TLB, for 2 MiB pages", "entries")
        .field("turns", &P::turns, MaskDecision::usual_turns, range(1, 1'000'000),
               "requests in the turns of all tenants together at a DRAM channel (dram_scheduler: "
               "mask)",
               "requests");
  }
};

/// Report of an SM or the GMMU, in 64-bit numbers: a head, then a part for each tenant.
struct MaskReport {
  /// A head that is not the number of an SM.
  static constexpr std::uint64_t gmmu = ~std::uint64_t{0};
  struct OfSm {
    std::uint64_t warps = 0;   ///< mask of the warps that ran
    std::uint64_t waited = 0;  ///< warps that waited for a translation, summed over translations
  };
  struct OfGmmu {
    std::uint64_t lookups = 0, misses = 0, walks = 0;
    std::uint64_t at_once = 0;  ///< most walks at once
  };
};

std::unique_ptr<SmSide> make_mask_warps(const SmSideSetup& setup);
std::unique_ptr<EpochController> make_mask_decisions(const EpochControllerSetup& setup);

}  // namespace lockstep
