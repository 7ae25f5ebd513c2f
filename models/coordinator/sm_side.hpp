/// The part of a memory policy in every SM.
///
/// This part marks each request of a warp to memory, and gets each answer with its requester and
/// the sectors that the L2 had.  A policy names its SM part in its registry row; without such a
/// policy an SM calls none.
/// Source: memory-interference.md, sections 7.2 (state beside the warps) and 7.3.
#pragma once

#include <cstdint>
#include <memory>

#include "core/checkpoint/archive.hpp"
#include "core/parameters/policy.hpp"
#include "core/random/random.hpp"
#include "core/statistics/schema.hpp"
#include "models/coordinator/epoch_policy.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// Contract: depend on nothing but the arguments and what serialize keeps.  `now` never goes back.
/// Page walks, the host's requests, pinned memory of the host and contexts that move are not shown.
class SmSide : public EpochPolicy {
 public:
  static constexpr unsigned pc_bits = 11;

  /// Sets the marks of a warp's request that is about to leave.
  virtual void mark(MemoryRequest& request, Time now) = 0;
  /// Takes the answer to a marked request; with flag_past_l2 the request bypassed the L2. `pc`:
  /// that of the instruction, of which pc_bits come back.
  virtual void on_answer(const MemoryResponse& /*answer*/, std::uint32_t /*pc*/, Time /*now*/) {}
  /// Notes a translation for which warps waited.  `warps`: their mask.
  virtual void on_translation(TenantId, std::uint64_t /*warps*/, Time /*now*/) {}
  /// A grid begins on this SM.
  virtual void on_grid(TenantId) {}
  virtual void serialize(Archive&) {}
};

/// Setup of the side of one SM.
struct SmSideSetup {
  PolicyChoice choice;  ///< name and parameters of the policy
  Time cycle;           ///< clock period in which the parameters count
  std::uint32_t sm = 0;
  std::uint32_t warps = 0;  ///< warp slots of the SM
  std::size_t tenants = 0;
  std::uint64_t seed = 0;
  ComponentId component;

  /// Returns random numbers that are used by no other component, policy or purpose.
  Random random(std::uint32_t purpose) const { return {seed, component, purpose}; }
};

/// Factory of the sides of the policies under one name, if they have any.
struct SmSideFactory {
  std::unique_ptr<SmSide> (*make)(const SmSideSetup&) = nullptr;
  /// Schema of the sides' own counters, if they have any: a kind of statistics, of its plug point
  /// in the SMs.
  const StatisticsSchema& (*statistics)() = nullptr;
};

/// A side that an SM is to have.
struct SmSideChoice {
  EpochTopic topic = EpochTopic::cache_policy;
  SmSideFactory factory;
  SmSideSetup setup;
};

}  // namespace lockstep
