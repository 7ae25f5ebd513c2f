#pragma once

#include <cstdint>
#include <memory>

#include "core/parameters/policy.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// A fault on a page of managed memory that other GPUs of the tenant have.
struct PeerFault {
  bool write = false;
};

enum class PeerWay : std::uint8_t {
  move,  ///< the others give the page up, then it comes
  copy,  ///< it comes read-only, and others may keep copies of their own
};

/// Plug point `peer_policy`: how the GPUs of a tenant share a page of managed memory.
///
/// Contract: answers depend on the arguments alone.  A store needs the page alone, so that `copy`
/// answers reads only.
/// Source: design of the project, after UVM's va_block (open-gpu-kernel-modules) and GRIT.
class PeerPolicy {
 public:
  virtual ~PeerPolicy() = default;
  virtual PeerWay way(const PeerFault& fault) const = 0;
  /// A page that nobody has comes read-only for a read, so that others can have copies.
  virtual bool copies_reads() const { return false; }
  /// How long a page stays at least on the GPU to which it came before another one takes it:
  /// whoever faulted uses it meanwhile.
  virtual Time stays() const = 0;
};

using MakePeerPolicy = std::unique_ptr<PeerPolicy> (*)(const PolicyChoice&);
using PeerPolicyRow = PolicyRegistry<MakePeerPolicy>::Row;
const PolicyRegistry<MakePeerPolicy>& peer_policy_registry();
const PolicyList& peer_policies();
std::unique_ptr<PeerPolicy> make_peer_policy(const PolicyChoice& choice);

}  // namespace lockstep
