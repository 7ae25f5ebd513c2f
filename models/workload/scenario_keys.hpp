#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// Keys of a scenario file, after load_scenario() has replaced names by files and applied
/// overrides.
struct ScenarioKeys {
  Node gpu, gpus, host, fabric, simulation, override_node, policies, tenants;

  static auto schema() {
    using P = ScenarioKeys;
    return parameters<P>()
        .part("gpu", &P::gpu, "file or map (required without a list of gpus)",
              "a file of configs/gpus by name, another file, or the parameters themselves")
        .part("gpus", &P::gpus, "number or list",
              "number of GPUs, or instead of gpu one entry for each GPU: [v100, a100]; numbered "
              "from 0 (docs/many_gpus.md)")
        .part("host", &P::host, "file or map (required)",
              "a file of configs/hosts by name, another file, or the parameters themselves")
        .part("fabric", &P::fabric, "file or map",
              "links between several GPUs: a file of configs/fabrics by name, another file, or the "
              "parameters themselves (docs/many_gpus.md)")
        .part("simulation", &P::simulation, "map", "sampling, seed and end")
        .part("override", &P::override_node, "map",
              "values of the machine, of policies or of tenants, by dotted key: {gpu.sm.count: 16}")
        .part("policies", &P::policies, "map",
              "the policy at each plug point: a name, or {name: ..., its parameters}")
        .part("tenants", &P::tenants, "list (required)", "one or more applications");
  }
};

}  // namespace lockstep
