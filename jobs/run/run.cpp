/// `lockstep run`: one simulation from scenario to HDF5 file.
#include "jobs/run/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "core/engine/engine.hpp"
#include "core/output/run_output.hpp"
#include "jobs/options.hpp"
#include "jobs/profile/profile.hpp"
#include "jobs/run/check.hpp"
#include "jobs/run/checkpoints.hpp"
#include "jobs/run/epoch_rows.hpp"
#include "jobs/run/identity.hpp"
#include "jobs/run/preemptions.hpp"
#include "jobs/run/print_line.hpp"
#include "jobs/run/results.hpp"
#include "jobs/run/same_run.hpp"
#include "jobs/run/thread_blocks.hpp"
#include "jobs/run/weights.hpp"
#include "jobs/supervise/cores.hpp"
#include "jobs/supervise/progress.hpp"
#include "jobs/supervise/signals.hpp"
#include "jobs/supervise/supervisor.hpp"
#include "models/gpu/configuration.hpp"
#include "models/gpu/policy_check.hpp"
#include "partitioner/partitioner.hpp"

namespace lockstep {
namespace {

/// What only rank 0 has.
struct Output {
  RunOutput file;
  GrowingTable kernels;
  StatisticsRecorder recorder;

  template <class... Resumed>
  Output(const std::string& path, const std::string& configuration, const Identity& identity,
         const Machine& machine, Resumed... resumed)
      : file(path, resumed...),
        kernels(file, table_schema_of<KernelRow>(), machine.longest_kernel_name()),
        recorder(
            (file.write_config(configuration), file.set_run("scenario_digest", identity.digest()),
             file.set_run("run_digest", identity.run_digest()), file),
            machine.statistics_layout(), machine.tenant_names()) {
    recorder.add(kernels);
  }
};

/// Other ranks may still read what rank 0 is about to replace, and nobody wants to lose it.
void refuse_inputs(const std::string& output, const CommandLine& line, const Scenario& scenario) {
  const auto refuse = [&](const std::string& input, const std::string& what) {
    std::error_code absent;
    if (!input.empty() && std::filesystem::equivalent(output, input, absent)) {
      throw UserError(output, "is both " + what + " and the output", "choose another --output");
    }
  };
  refuse(line.weights, "--weights");
  refuse(line.resume, "--resume");
  for (const Tenant& tenant : scenario.tenants) {
    refuse(tenant.workload.module_file, "a module");
    if (tenant.cpu) refuse(tenant.cpu->trace_file, "a trace");
    for (const Buffer& buffer : tenant.workload.buffers)
      refuse(buffer.initial.file, "the initial content of buffer " + buffer.name);
  }
}

/// A run before its first event.
struct Prepared {
  const Scenario scenario;
  const MachineParameters parameters;
  const Machine machine;
  const Assignment assignment;
  const std::string configuration;
  const Identity identity;
  std::unique_ptr<Output> output;  ///< on rank 0

  Prepared(const CommandLine& line, const ScenarioChange& change, int ranks)
      : scenario(change(read_scenario(line.scenario, line.settings))),
        parameters(read_machine(scenario)),
        machine(scenario, parameters, {.capture = line.check, .lowering = {}, .print = print_line}),
        assignment(
            partition(machine.graph(), {.ranks = ranks,
                                        .threads = line.threads,
                                        .weights = read_weights(line.weights, machine.graph()),
                                        .on_rank_0 = machine.host()})),
        configuration(configuration_text(scenario, parameters)),
        identity(line, scenario, configuration) {
    refuse_inputs(output_path(line), line, scenario);
  }

  std::string output_path(const CommandLine& line) const {
    if (!line.output.empty()) return line.output;
    return line.resume.empty() ? scenario.name + ".h5" : output_of_checkpoint(line.resume);
  }

  void open_output(const CommandLine& line) {
    const std::string path = output_path(line);
    if (line.checkpoint_seconds > 0) require_place_of_checkpoint(checkpoint_path(path));
    if (line.resume.empty()) {
      output = std::make_unique<Output>(path, configuration, identity, machine);
    } else {
      output =
          std::make_unique<Output>(path, configuration, identity, machine, RunOutput::Resumed{});
    }
  }
};

void write_run(RunOutput& file, const CommandLine& line, const RunCost& cost, const Totals& totals,
               int ranks) {
  const std::uint64_t warps = totals.sum_over_tenants("sm", "warp_instructions");
  const std::uint64_t threads = totals.sum_over_tenants("sm", "thread_instructions");
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
  file.set_run("ranks", static_cast<std::uint64_t>(ranks));
  file.set_run("threads", static_cast<std::uint64_t>(line.threads));
  file.set_run("host", std::string(host));
  file.set_run("version", std::string(LOCKSTEP_VERSION));
  file.set_run("command_line", line.text);
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

Host& find_host(const Engine& engine, const Machine& machine) {
  for (const LocalComponent& local : engine.components()) {
    if (local.id == machine.host()) return static_cast<Host&>(*local.component);
  }
  throw InternalError("the host does not live on rank 0");
}

/// Links between SMs or CPU cores and partitions are the machine; any other short cycle is worth a
/// word.
void warn_of_limit(const Engine& engine) {
  const std::string expected[] = {"sm", "partition", "cpu"};
  const std::string all = engine.limiting_cycle(), other = engine.limiting_cycle(expected);
  if (all == other && !other.empty()) {
    std::fprintf(stderr, "lockstep: note: windows are limited by %s\n", other.c_str());
  }
}

/// What all ranks know of, on rank 0 after the run.
struct Gathered {
  RunProfile profile;
  std::vector<BlockRow> blocks;
  std::vector<PreemptedBlockRow> preemptions;
};

/// Rank 0, after the run: tables, final values, the result for people.
RunOutcome finish(const CommandLine& line, const Scenario& scenario, const Machine& machine,
                  const Engine& engine, const RunSummary& summary, const RunCost& cost,
                  const Gathered& gathered, Output& output) {
  Host& host = find_host(engine, machine);
  const StatisticsLayout& layout = output.recorder.layout();
  const Totals totals(layout, output.recorder.totals());
  const std::vector<TenantRow> rows = tenant_rows(scenario, machine, host, totals, summary.end);
  output.kernels.append(kernel_rows(host.kernels().take_all()));
  output.recorder.finish();
  CheckResult check;
  if (line.check) {
    check = check_tenants(scenario, machine, host, [] { return Signals::status() != exit_done; });
  }
  output.file.finish_epochs();
  output.recorder.write_totals();
  output.file.write_table(rows);
  output.file.write_table(arrival_rows(scenario, host));
  if (machine.parameters().simulation.record_faults) output.file.write_table(fault_rows(host));
  if (machine.parameters().simulation.record_blocks) output.file.write_table(gathered.blocks);
  if (preempts(machine.parameters().policies)) output.file.write_table(gathered.preemptions);
  write_saved_buffers(output.file, scenario, host);
  output.file.write_final("end", "fs", "simulated time at which the run ended",
                          static_cast<std::uint64_t>(summary.end.femtoseconds()));
  write_interference(output.file.file(), totals, machine.parameters().gpu, layout.tenants());
  write_digests(check, output.file);
  write_run(output.file, line, cost, totals, engine.communicator().size());
  if (line.profile) write_profile(output.file, gathered.profile);
  output.file.close();

  if (!line.quiet) {
    const std::uint64_t warps = totals.sum_over_tenants("sm", "warp_instructions");
    std::fputs(result_table(rows, machine, layout, totals).c_str(), stdout);
    std::fputs(
        fmt::format("{:.3f} us simulated in {:.2f} s, {:.2f} million warp instructions/s; "
                    "synchronisation {:.1f}%, imbalance {:.1f}%; {}\n",
                    static_cast<double>(summary.end.femtoseconds()) * 1e-9, cost.wall_seconds,
                    static_cast<double>(warps) / std::max(cost.wall_seconds, 1e-9) * 1e-6,
                    100 * cost.synchronisation_share(), 100 * cost.imbalance_share(),
                    output.file.path())
            .c_str(),
        stdout);
    if (line.profile) {
      std::fputs(profile_report(gathered.profile).c_str(), stdout);
    }
  }
  if (line.check) std::fputs(check.text.c_str(), check.passed ? stdout : stderr);
  const std::string failed = failures(scenario, host);
  std::fputs(failed.c_str(), stderr);
  if (!failed.empty()) return {exit_error, rows};
  if (!check.complete) return {Signals::status(), rows};
  return {check.passed ? exit_done : exit_check_failed, rows};
}

EngineOptions engine_options(const CommandLine& line, const SimulationParameters& simulation) {
  EngineOptions options;
  options.threads = line.threads;
  options.epoch = simulation.epoch;
  if (simulation.stop_at > Time::zero()) options.stop_at = simulation.stop_at;
  options.profile = line.profile;
  return options;
}

/// On rank 0: the run is over, or has been left.
RunOutcome conclude(const CommandLine& line, const Prepared& run, const Engine& engine,
                    const RunSummary& summary, const Gathered& gathered, int status,
                    const Checkpoints& checkpoints) {
  if (!summary.finished) {
    const std::string where = line.resumable ? " - go on with --resume " + checkpoints.path() : "";
    std::fprintf(stderr, "lockstep: ended by %s%s\n", signal_name(status), where.c_str());
    return {status, {}};
  }
  const RunOutcome outcome = finish(line, run.scenario, run.machine, engine, summary,
                                    checkpoints.cost(summary), gathered, *run.output);
  // One that was stopped, or not checked for lack of time, may go on.
  const bool is_whole = outcome.status != exit_terminated && outcome.status != exit_interrupted;
  if (is_whole && find_host(engine, run.machine).finished()) checkpoints.remove();
  return outcome;
}

}  // namespace

RunOutcome simulate(const CommandLine& line, const ScenarioChange& change,
                    Communicator& communicator) {
  std::unique_ptr<Prepared> run;
  together(communicator,
           [&] { run = std::make_unique<Prepared>(line, change, communicator.size()); });
  require_same_run(line, run->configuration, communicator);
  const Machine& machine = run->machine;
  std::optional<CheckpointReader> source;
  together(communicator, [&] {
    if (!line.resume.empty()) source.emplace(line.resume);
    if (communicator.rank() == 0) run->open_output(line);
  });
  Output* const output = run->output.get();
  Checkpoints checkpoints(run->identity, run->output_path(line), output ? &output->file : nullptr,
                          output ? &output->recorder : nullptr);
  const StatisticsLayout layout = machine.statistics_layout();
  EpochStatistics statistics(machine.graph(), layout, output ? &output->recorder : nullptr);
  EpochRows observer(statistics, output ? &output->kernels : nullptr);
  Engine engine(
      machine.graph(), run->assignment,
      [&](ComponentId component) { return machine.build(component); }, communicator,
      engine_options(line, run->parameters.simulation));
  together(communicator, [&] {
    if (source && output) checkpoints.restore(*source, line.resume);
    if (source) engine.restore(*source);
    if (output) output->file.start();
    if (output && !source && line.resumable) checkpoints.remove();
  });
  const std::string cores = note_of_cores(line.threads, communicator);
  if (output && !line.quiet) {
    warn_of_limit(engine);
    if (!cores.empty()) std::fprintf(stderr, "lockstep: %s\n", cores.c_str());
  }
  RunSummary summary;
  int status = exit_done;
  {
    ProgressLine progress(line.quiet, output ? &output->recorder : nullptr);
    Supervisor supervisor(engine, progress, line.resumable ? &checkpoints : nullptr,
                          line.checkpoint_seconds);
    summary = engine.run(observer, supervisor);
    status = supervisor.status();
  }
  Gathered gathered;
  if (line.profile) gathered.profile = gather_profile(engine, machine.graph(), summary);
  if (run->parameters.simulation.record_blocks) gathered.blocks = gather_blocks(engine);
  if (preempts(run->parameters.policies)) gathered.preemptions = gather_preemptions(engine);
  if (!output) return {summary.finished ? exit_done : status, {}};
  return conclude(line, *run, engine, summary, gathered, status, checkpoints);
}

int run_command(const CommandLine& line, Communicator& communicator) {
  CommandLine resumable = line;
  resumable.resumable = true;
  return simulate(
             resumable, [](Scenario scenario) { return scenario; }, communicator)
      .status;
}

}  // namespace lockstep
