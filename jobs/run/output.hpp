#pragma once

#include <string>

#include "core/output/growing_table.hpp"
#include "core/output/recorder.hpp"
#include "core/output/run_output.hpp"
#include "core/parameters/document.hpp"
#include "jobs/run/identity.hpp"
#include "jobs/run/kernel_rows.hpp"
#include "jobs/tables.hpp"
#include "models/gpu/machine.hpp"

namespace lockstep {

/// Tables tell the GPU where there are several.
inline TableColumns columns_of(const Machine& machine) {
  return machine.parameters().has_several_gpus() ? TableColumns::all : TableColumns::required;
}

/// The file of a run, and the parts that write to it at each epoch.  Only rank 0 has it.
struct Output {
  RunOutput file;
  GrowingTable kernels;
  const KernelRows kernel_rows;
  StatisticsRecorder recorder;

  template <class... Resumed>
  Output(const std::string& path, const std::string& configuration, const Node& resolved,
         const Identity& identity, const Machine& machine, Resumed... resumed)
      : file(path, resumed...),
        kernels(file, table_schema_of<KernelRow>(columns_of(machine)),
                machine.longest_kernel_name()),
        kernel_rows(resolved),
        recorder(
            (file.write_config(configuration), file.set_run("scenario_digest", identity.digest()),
             file.set_run("run_digest", identity.run_digest()), file),
            machine.statistics_layout(), machine.tenant_names(), machine.tenant_groups()) {
    recorder.add(kernels);
  }
};

}  // namespace lockstep
