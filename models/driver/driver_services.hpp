#pragma once

#include "models/driver/driver.hpp"

namespace lockstep {

/// Services that the page manager may ask for at one point in time.
class Driver::Services final : public PageServices {
 public:
  Services(Driver& driver, const HostCycle& cycle) : driver_(driver), cycle_(cycle) {}

  bool coalesce(TenantId tenant, VirtualPage first) override;
  bool splinter(TenantId tenant, VirtualPage first) override;
  bool copy(TenantId tenant, VirtualPage page, Frame to) override;
  void move_foreign(std::uint32_t number, Frame to) override;

 private:
  /// Returns whether the pages are mapped in GPU memory and nothing is being done to them.
  bool at_rest(const TenantPages& pages) const;

  Driver& driver_;
  const HostCycle& cycle_;
};

}  // namespace lockstep
