#include "models/gpu/described_keys.hpp"

#include <vector>

#include "models/fabric/fabric_parameters.hpp"
#include "models/gpu/machine_parameters.hpp"
#include "models/host_link/uplink.hpp"
#include "models/workload/arrivals.hpp"
#include "models/workload/cpu/cpu_keys.hpp"
#include "models/workload/init_keys.hpp"
#include "models/workload/scenario_keys.hpp"
#include "models/workload/step_keys.hpp"
#include "models/workload/workload_keys.hpp"

namespace lockstep {
namespace {

struct Described {
  const ParameterSchema& schema;
  std::string prefix;  ///< prefix of the keys
  std::string title;   ///< title on the page
};

std::vector<Described> all_described() {
  return {
      {schema_of<ScenarioKeys>(), "", "A scenario"},
      {schema_of<MachineParameters>(), "", "A scenario's machine"},
      {schema_of<UplinkParameters>(), "host.uplinks.", "An uplink: an entry of `host.uplinks`"},
      {schema_of<FabricParameters>(), "fabric.", "Links between GPUs: `fabric`"},
      {schema_of<TenantKeys>(), "tenants.", "A scenario's tenants: an entry of `tenants`"},
      {schema_of<ArrivalsKeys>(), "tenants.arrivals.", "When a tenant starts again: `arrivals`"},
      {schema_of<CpuKeys>(), "tenants.cpu.", "What a CPU core executes: `cpu` of a tenant"},
      {schema_of<WorkloadKeys>(), "workload.", "A workload"},
      {schema_of<BufferKeys>(), "workload.buffers.NAME.", "A buffer: an entry of `buffers`"},
      {schema_of<InitKeys>(), "workload.buffers.NAME.init.", "Initial content: `init`"},
      {schema_of<StepKeys>(), "workload.program.", "A step: an entry of `program`"}};
}

}  // namespace

std::string describe_keys(const std::string& only) {
  std::string begin_so, are_about;
  for (const Described& one : all_described()) {
    const std::string lines = describe(one.schema, one.prefix, only);
    (lines.starts_with(only) ? begin_so : are_about) += lines;
  }
  return begin_so.empty() ? are_about : begin_so;
}

std::string page_of_keys() {
  std::string page;
  for (const Described& one : all_described()) page += reference_page(one.schema, one.title);
  return page;
}

}  // namespace lockstep
