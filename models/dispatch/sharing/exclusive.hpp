#pragma once

#include "models/dispatch/sharing/sharing.hpp"

namespace lockstep {

/// Exclusive sharing, with one kernel at a time on the whole GPU: see exclusive.cpp.
class Exclusive : public Sharing {
 public:
  explicit Exclusive(std::uint32_t sm_count) : sm_count_(sm_count) {}

  std::optional<std::size_t> choose(std::span<const GridView> grids, SmId sm) const override;
  std::uint32_t sms_of(TenantId) const override { return sm_count_; }

 private:
  const std::uint32_t sm_count_;
};

}  // namespace lockstep
