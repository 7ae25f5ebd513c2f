#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/parameters/policy.hpp"
#include "core/time/time.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// A grid that has not finished, as a sharing policy sees it.
struct GridView {
  GridId grid;
  TenantId tenant;
  std::uint32_t priority = 0;
  bool ready = false;  ///< the launch latency is over, and the grid before lets this one begin
  std::uint64_t blocks_waiting = 0;
  std::uint64_t blocks_running = 0;
  /// Largest share of an SM's resources that a block takes, in parts of BlockResources::whole.
  std::uint64_t block_share = 0;
  std::uint32_t primary = 0;  ///< 1 + the grid beside which this one may begin; 0: there is none

  /// Returns whether a policy may choose the grid.
  bool offers_blocks() const { return ready && blocks_waiting > 0; }
};

/// Facts about the machine and its tenants that a policy may know from the start.
struct SharingSetup {
  std::uint32_t sm_count = 0;
  static constexpr std::uint32_t no_sms = ~std::uint32_t{0};
  /// SMs that each tenant asked for; 0: an equal part of the rest; no_sms: it runs on a CPU core.
  std::vector<std::uint32_t> sms_per_tenant;
};

/// Plug point `sharing`: it chooses the grid whose blocks an SM runs.
///
/// Contract: `grids` are in order of arrival; `choose` names a grid that is ready and has waiting
/// blocks, or nothing; every grid ends if its blocks end.  The choice depends only on the arguments
/// and the policy's own state, and changes neither the machine nor the grids.
/// Source: architecture.md, section 3 (plug points).
class Sharing {
 public:
  virtual ~Sharing() = default;
  virtual std::optional<std::size_t> choose(std::span<const GridView> grids, SmId sm) const = 0;
  /// Returns the number of SMs that can have blocks of the tenant: as many as it gets when it runs
  /// alone for a comparison.
  virtual std::uint32_t sms_of(TenantId tenant) const = 0;
  /// Returns whether the SM can have blocks of the tenant.
  virtual bool may_have(TenantId /*tenant*/, SmId /*sm*/) const { return true; }
  /// Returns the time for which a tenant has the GPU while others wait; never: as long as it has
  /// work.
  virtual Time slice() const { return Time::never(); }
  /// Returns whether tenants share SMs, and a preemption takes a part of an SM.
  virtual bool in_parts() const { return false; }
  /// A policy without state of its own has nothing to add.
  virtual void serialize(Archive& /*archive*/) {}
};

/// Trait: a more urgent tenant, or the next slice, may take SMs.
inline constexpr const char* lets_sms_be_taken = "lets SMs be taken";
/// Trait: blocks of several tenants stand in an SM.
inline constexpr const char* shares_sms = "shares SMs";

using MakeSharing = std::unique_ptr<Sharing> (*)(const PolicyChoice&, const SharingSetup&);
using SharingRow = PolicyRegistry<MakeSharing>::Row;
const PolicyRegistry<MakeSharing>& sharing_registry();
const PolicyList& sharing_policies();
/// Returns whether the policy has slices.
bool is_time_sliced(const PolicyChoice& choice);
/// Returns whether the policy shares SMs in parts.
bool is_in_parts(const PolicyChoice& choice);
std::unique_ptr<Sharing> make_sharing(const PolicyChoice& choice, const SharingSetup& setup);

}  // namespace lockstep
