#pragma once

#include "models/host/tenant_run.hpp"
#include "models/reference/check.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// Returns the buffers of a tenant after its first round, for comparison.  The buffers stay in
/// place.
TenantImages left_images(const Workload& workload, TenantRun& run);

}  // namespace lockstep
