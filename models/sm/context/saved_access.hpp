#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/sm/access/access.hpp"
#include "models/sm/exception_scheme/faultable_access.hpp"

namespace lockstep {

/// Logged operands of a squashed access, without the unused parts.
struct SavedOperands {
  Access access;

  void serialize(Archive& archive) {
    Access& a = access;
    archive(a.kind, a.bypass, a.contiguous, a.stride, a.groups, a.tenant, a.pc, a.active);
    for (unsigned g = 0; g < a.groups; ++g) archive(a.group[g]);
    if (!a.contiguous) archive(a.offset);
    archive.bytes(a.data.data(), a.data_bytes());
  }
};

/// A squashed access of a block that is not on chip: an entry of its replay list.
struct SavedAccess {
  SmCycle issued;
  std::uint32_t pc = 0;
  bool flies = false;  ///< results of the access are pending
  std::vector<SquashedLanes> lanes;
  std::optional<SavedOperands> operands;  ///< operands, if they are logged

  void serialize(Archive& archive) { archive(issued, pc, flies, lanes, operands); }
};

}  // namespace lockstep
