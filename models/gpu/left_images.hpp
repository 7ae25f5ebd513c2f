#pragma once

#include "models/host/tenant_run.hpp"
#include "models/reference/check.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// The buffers of a tenant as its first round left them, for comparison.  They stay where they are.
TenantImages left_images(const Workload& workload, TenantRun& run);

}  // namespace lockstep
