#include "jobs/run/ending.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "core/error/error.hpp"
#include "core/parameters/document.hpp"
#include "jobs/run/identity.hpp"
#include "jobs/run/results.hpp"
#include "jobs/supervise/signals.hpp"
#include "models/gpu/policy_check.hpp"
#include "models/host/host.hpp"

namespace lockstep {
namespace {

void write_run(RunOutput& file, const Ended& run, const Totals& totals) {
  const std::uint64_t warps = totals.sum_over_tenants("sm", "warp_instructions");
  const std::uint64_t threads = totals.sum_over_tenants("sm", "thread_instructions");
  const RunCost& cost = run.cost;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  file.set_run("wall_seconds", cost.wall_seconds);
  file.set_run("warp_instructions", warps);
  file.set_run("thread_instructions", threads);
  file.set_run("warp_instructions_per_second",
               static_cast<double>(warps) / std::max(cost.wall_seconds, 1e-9));
  file.set_run("segments", cost.segments);
  file.set_run("windows", cost.windows);
  file.set_run("exchanges", cost.exchanges);
  file.set_run("synchronisation_share", cost.synchronisation_share());
  file.set_run("imbalance_share", cost.imbalance_share());
  file.set_run("peak_memory_bytes", cost.peak_memory_bytes);
  file.set_run("ranks", static_cast<std::uint64_t>(run.engine.communicator().size()));
  file.set_run("threads", static_cast<std::uint64_t>(run.line.threads));
  file.set_run("host", std::string(host));
  file.set_run("version", std::string(LOCKSTEP_VERSION));
  file.set_run("program", program_version());
  file.set_run("git_revision", program_revision());
  file.set_run("build", program_build());
  file.set_run("command_line", run.line.text);
}

h5::Scalar scalar_of(isa::Type type) {
  switch (type) {
    case isa::Type::u8:
      return h5::Scalar::u8;
    case isa::Type::u16:
      return h5::Scalar::u16;
    case isa::Type::u32:
      return h5::Scalar::u32;
    case isa::Type::u64:
      return h5::Scalar::u64;
    case isa::Type::s8:
      return h5::Scalar::i8;
    case isa::Type::s16:
      return h5::Scalar::i16;
    case isa::Type::s32:
      return h5::Scalar::i32;
    case isa::Type::s64:
      return h5::Scalar::i64;
    case isa::Type::f16:
      return h5::Scalar::f16;
    case isa::Type::bf16:
      return h5::Scalar::bf16;
    case isa::Type::f64:
      return h5::Scalar::f64;
    default:
      return h5::Scalar::f32;
  }
}

void write_saved_buffers(RunOutput& file, const Scenario& scenario, const Host& host) {
  for (std::size_t t = 0; t < scenario.tenants.size(); ++t) {
    for (const TenantProgram::Saved& saved : host.tenant(t).saved()) {
      const Buffer& buffer = scenario.tenants[t].workload.buffers[saved.buffer];
      file.write_buffer(scenario.tenants[t].name, buffer.name, scalar_of(buffer.type),
                        {buffer.count}, saved.bytes);
    }
  }
}

/// Counts of a run, by their names.
struct Counted {
  Host& host;
  const Totals totals;
  const std::vector<TenantRow> tenants;

  Counted(const Ended& run, const StatisticsRecorder& recorder)
      : host(find_host(run.engine, run.machine)),
        totals(recorder.layout(), recorder.totals()),
        tenants(tenant_rows(run.scenario, run.machine, host, totals, run.end)) {}
};

/// Finishes the epochs, and the tables that grow with them.
void finish_epochs(const Counted& counted, Time end, Output& output) {
  output.kernels.append(output.kernel_rows.of(counted.host.kernels().take_all(), end));
  output.recorder.finish();
}

/// Writes the tables that do not grow during the run.
void write_tables(const Ended& run, const Counted& counted, Output& output) {
  const MachineParameters& parameters = run.machine.parameters();
  RunOutput& file = output.file;
  file.finish_epochs();
  output.recorder.write_totals();
  const TableColumns columns = columns_of(run.machine);
  file.write_table(counted.tenants, columns);
  file.write_table(arrival_rows(run.scenario, counted.host));
  if (parameters.simulation.record_faults)
    file.write_table(fault_rows(run.machine, counted.host), columns);
  if (parameters.simulation.record_blocks) file.write_table(run.gathered.blocks, columns);
  if (preempts(parameters.policies)) file.write_table(run.gathered.preemptions, columns);
  write_interference(file.file(), counted.totals, run.machine);
  write_run(file, run, counted.totals);
  if (run.line.profile) write_profile(file, run.gathered.profile);
}

void print(const Ended& run, const Counted& counted, const Output& output) {
  const std::uint64_t warps = counted.totals.sum_over_tenants("sm", "warp_instructions");
  const RunCost& cost = run.cost;
  const auto kernels = sum_of_kernels(h5::File::open_to_read(output.file.path()),
                                      counted.tenants.size(), run.configuration);
  std::fputs(
      result_table(run.scenario, counted.tenants, run.machine, counted.totals, kernels).c_str(),
      stdout);
  std::fputs(fmt::format("{:.3f} us simulated in {:.2f} s, {:.2f} million warp instructions/s;\n"
                         "synchronisation {:.1f}%, imbalance {:.1f}%; {}\n",
                         static_cast<double>(run.end.femtoseconds()) * 1e-9, cost.wall_seconds,
                         static_cast<double>(warps) / std::max(cost.wall_seconds, 1e-9) * 1e-6,
                         100 * cost.synchronisation_share(), 100 * cost.imbalance_share(),
                         output.file.path())
                 .c_str(),
             stdout);
  if (run.line.profile) std::fputs(profile_report(run.gathered.profile).c_str(), stdout);
}

}  // namespace

Host& find_host(const Engine& engine, const Machine& machine) {
  for (const LocalComponent& local : engine.components()) {
    if (local.id == machine.host()) return static_cast<Host&>(*local.component);
  }
  throw InternalError("the host does not live on rank 0");
}

RunOutcome finish(const Ended& run, const CheckResult& check, Output& output) {
  const Counted counted(run, output.recorder);
  finish_epochs(counted, run.end, output);
  write_tables(run, counted, output);
  write_saved_buffers(output.file, run.scenario, counted.host);
  output.file.write_final("end", "fs", "simulated time at which the run ended",
                          static_cast<std::uint64_t>(run.end.femtoseconds()));
  write_digests(check, output.file);
  if (run.line.check)
    output.file.set_run("check", std::string(check.passed ? check_passed : "failed"));
  output.file.close();

  if (!run.line.quiet) print(run, counted, output);
  if (run.line.check) std::fputs(check.text.c_str(), check.passed ? stdout : stderr);
  const std::string failed = failures(run.scenario, counted.host);
  std::fputs(failed.c_str(), stderr);
  if (!failed.empty()) return {exit_error, counted.tenants};
  if (!check.passed) return {exit_check_failed, counted.tenants};
  const std::string late = unfinished(run.scenario, counted.tenants, run.end);
  std::fputs(late.c_str(), stderr);
  return {late.empty() ? exit_done : exit_unfinished, counted.tenants};
}

void leave(const Ended& run, int status, Output& output) {
  const Counted counted(run, output.recorder);
  finish_epochs(counted, run.end, output);
  write_tables(run, counted, output);
  output.file.set_run("ended_by", std::string(signal_name(status)));
  output.file.close();
}

}  // namespace lockstep
