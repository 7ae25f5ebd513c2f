#pragma once

#include <cstdint>
#include <memory>

#include "core/parameters/policy.hpp"
#include "core/time/time.hpp"
#include "models/driver/peer_policy/peer_parameters.hpp"

namespace lockstep {

enum class PeerWay : std::uint8_t {
  move,  ///< the page comes when the other GPUs have given it up
  copy,  ///< the page comes read-only, and others may keep copies of their own
  map,   ///< the page stays where it is; loads, stores and atomics go there
};

/// Faults of GPUs on a page, as far as a policy remembers them.
struct PeerHistory {
  static constexpr std::uint8_t nobody = 0xff;

  Time last, pinned_until;
  std::uint32_t faults = 0, events = 0;
  std::uint8_t gpu = nobody;       ///< GPU that faulted last
  bool is_written = false;         ///< at least one fault was a store
  PeerWay scheme = PeerWay::move;  ///< the policy's choice for the page
  template <class Archive>
  void serialize(Archive& archive) {
    archive(last, pinned_until, faults, events, gpu, is_written, scheme);
  }
};

/// A fault on a page of managed memory that the tenant has on several GPUs.
struct PeerFault {
  bool write = false;
  /// the page is in the memory of a GPU that the faulting GPU can reach
  bool is_reachable = false;
  std::uint32_t gpu = 0;  ///< number of the faulting GPU among the tenant's
  Time now;
  PeerHistory history;
};

/// Plug point `peer_policy`: it decides how the GPUs of a tenant share a page of managed memory.
///
/// Contract: answers depend on the arguments alone.  A page's history keeps the policy's state for
/// the page; `note` updates it once for each served fault.  A store needs the page alone, so `copy`
/// is an answer for reads only; `map` is an answer for reachable pages.
/// Source: design of the project, after UVM's va_block (open-gpu-kernel-modules) and GRIT.
class PeerPolicy {
 public:
  virtual ~PeerPolicy() = default;
  virtual const PeerParameters& parameters() const = 0;
  virtual PeerWay way(const PeerFault& fault) const = 0;
  /// Returns whether a read maps a page read-only if no GPU has it, so that others can have copies.
  virtual bool copies_reads() const { return false; }
  /// Returns whether a read of a page with this history brings a copy, for policies that decide by
  /// page.
  virtual bool copies_reads(const PeerHistory&) const { return false; }
  virtual void note(const PeerFault&, PeerHistory&) const {}
  /// Returns whether pages of the same group should follow when a page's scheme has changed.
  virtual bool spreads_schemes() const { return false; }
  /// Returns the least time that a page stays on the GPU to which it came, so that the faulting
  /// warp can use it.
  virtual Time stays(const PeerHistory&) const { return parameters().stays; }
  /// Returns whether the policy is useless for GPUs without links to each other.
  virtual bool needs_ways() const { return false; }
  /// Returns the number of requests to a mapped page after which the page moves to their sender; 0:
  /// it stays.
  virtual std::uint32_t counts_to() const { return 0; }
};

using MakePeerPolicy = std::unique_ptr<PeerPolicy> (*)(const PolicyChoice&);
using PeerPolicyRow = PolicyRegistry<MakePeerPolicy>::Row;
const PolicyRegistry<MakePeerPolicy>& peer_policy_registry();
const PolicyList& peer_policies();
std::unique_ptr<PeerPolicy> make_peer_policy(const PolicyChoice& choice);

/// Makes a row for a policy with its parameters.
template <class Policy, class Parameters>
PeerPolicyRow peer_policy_row(const char* name, const char* doc) {
  return {name,
          doc,
          {[](const PolicyChoice& choice) -> std::unique_ptr<PeerPolicy> {
            return std::make_unique<Policy>(choice.parameters<Parameters>());
          }},
          &schema_of<Parameters>()};
}

}  // namespace lockstep
