/// `lockstep run`: one simulation from scenario to HDF5 file.
#include "jobs/run/run.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>

#include "core/engine/engine.hpp"
#include "core/parameters/renamed_keys.hpp"
#include "jobs/options.hpp"
#include "jobs/run/block_profile.hpp"
#include "jobs/run/check.hpp"
#include "jobs/run/checkpoints.hpp"
#include "jobs/run/earlier_output.hpp"
#include "jobs/run/ending.hpp"
#include "jobs/run/epoch_rows.hpp"
#include "jobs/run/identity.hpp"
#include "jobs/run/output.hpp"
#include "jobs/run/preemptions.hpp"
#include "jobs/run/print_line.hpp"
#include "jobs/run/recipe.hpp"
#include "jobs/run/same_run.hpp"
#include "jobs/run/thread_blocks.hpp"
#include "jobs/run/weights.hpp"
#include "jobs/supervise/cores.hpp"
#include "jobs/supervise/expected_blocks.hpp"
#include "jobs/supervise/memory_allocator.hpp"
#include "jobs/supervise/progress.hpp"
#include "jobs/supervise/signals.hpp"
#include "jobs/supervise/supervisor.hpp"
#include "models/gpu/configuration.hpp"
#include "models/gpu/idle_settings.hpp"
#include "models/gpu/policy_check.hpp"
#include "models/host/host.hpp"
#include "models/memory/memory_partition.hpp"
#include "partitioner/partitioner.hpp"

namespace lockstep {
namespace {

/// Refuses an output that is also an input: other ranks may still read the file that rank 0 will
/// replace, and its content would be lost.
void refuse_inputs(const std::string& output, const CommandLine& line, const Scenario& scenario) {
  const auto refuse = [&](const std::string& input, const std::string& what) {
    std::error_code absent;
    if (!input.empty() && std::filesystem::equivalent(output, input, absent)) {
      throw UserError(output, "is both " + what + " and the output", "choose another --output");
    }
  };
  refuse(line.weights, "--weights");
  refuse(line.resume, "--resume");
  refuse(line.config_of, "--config-of");
  refuse(profile_of_blocks(scenario), "the profile of policies.preemption");
  refuse(plan_of_blocks(scenario), "the plan of policies.preemption");
  for (const Tenant& tenant : scenario.tenants) {
    for (const std::string& file : tenant.workload.module_files()) refuse(file, "a module");
    if (tenant.cpu) refuse(tenant.cpu->trace_file, "a trace");
    for (const Buffer& buffer : tenant.workload.buffers)
      refuse(buffer.initial.file, "the initial content of buffer " + buffer.name);
  }
}

/// Makes the folder of a file, as compare and sweep do. A failure is reported when the file is
/// opened.
void make_folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
}

/// A run before its first event.
struct Prepared {
  const Node document;
  const Scenario scenario;
  const MachineParameters parameters;
  const Machine machine;
  const Assignment assignment;
  const std::string configuration;
  const Node resolved;  ///< the configuration as a document
  const Identity identity;
  std::string note;                ///< note about a repeated run
  std::unique_ptr<Output> output;  ///< the output, on rank 0

  Prepared(const CommandLine& line, const ScenarioChange& change, int ranks)
      : document(scenario_document(line)),
        scenario(change(read_scenario(document, scenario_name(line)))),
        parameters(read_machine(scenario)),
        machine(scenario, parameters,
                {.capture = line.check,
                 .lowering = {},
                 .bounds = line.bounds,
                 .print = print_line,
                 .warn = print_warning,
                 .block_profile = read_block_profile(scenario, parameters)}),
        assignment(
            partition(machine.graph(), {.ranks = ranks,
                                        .threads = line.threads,
                                        .weights = read_weights(line.weights, machine.graph()),
                                        .on_rank_0 = machine.host()})),
        configuration(configuration_text(scenario, parameters)),
        resolved(parse_document(configuration, "the configuration")),
        identity(line, document, scenario, resolved) {
    refuse_inputs(output_path(line), line, scenario);
    note = compare_with_recipe(line, identity.facts());
  }

  std::string output_path(const CommandLine& line) const {
    if (!line.output.empty()) return line.output;
    return line.resume.empty() ? scenario.name + ".h5" : output_of_checkpoint(line.resume);
  }

  void open_output(const CommandLine& line) {
    const std::string path = output_path(line);
    if (!line.overwrite && line.resume.empty())
      require_own_output(path, line.resumable ? checkpoint_path(path) : "", identity);
    make_folder_of(path);
    if (line.checkpoint_seconds > 0 || line.checkpoint_at_stop)
      require_place_of_checkpoint(checkpoint_path(path));
    if (line.resume.empty()) {
      output = std::make_unique<Output>(path, configuration, resolved, identity, machine);
    } else {
      output = std::make_unique<Output>(path, configuration, resolved, identity, machine,
                                        RunOutput::Resumed{});
    }
    // The runs alone of compare are of no scenario that somebody wrote.
    if (line.resumable) write_recipe(output->file, recipe_text(document, parameters));
    write_facts(output->file, identity.facts());
  }
};

/// Notes a short cycle of links.  Cycles between SMs or CPU cores and partitions are part of the
/// machine and are not reported.
void tell_of_limit(const Engine& engine, const Machine& machine) {
  std::vector<std::string> expected;
  for (const auto& site : machine.sites())
    for (const char* kind : {"sm", "partition", "cpu"})
      expected.push_back(site->place().prefix + kind);
  const std::string all = engine.limiting_cycle(), other = engine.limiting_cycle(expected);
  if (all == other && !other.empty()) {
    std::fprintf(stderr, "lockstep: note: windows are limited by %s\n", other.c_str());
  }
}

/// Prints facts of the run that a user may not know, after `notes` on how it runs.
void tell(const Prepared& run, const CommandLine& line, std::vector<std::string> notes) {
  notes.push_back(run.note);
  notes.push_back(note_of_shares(run.scenario, run.parameters));
  std::ranges::move(run.machine.notes(), std::back_inserter(notes));
  std::ranges::move(notes_of_idle_settings(run.scenario), std::back_inserter(notes));
  std::ranges::move(take_renamed_keys(), std::back_inserter(notes));
  if (line.check) notes.push_back(note_of_check(run.scenario));
  if (!line.check)
    std::ranges::move(find_forgotten_copies(run.scenario, run.machine), std::back_inserter(notes));
  for (const std::string& note : notes)
    if (!note.empty()) std::fprintf(stderr, "lockstep: %s\n", note.c_str());
}

EngineOptions engine_options(const CommandLine& line, const Prepared& run, int ranks) {
  const SimulationParameters& simulation = run.parameters.simulation;
  EngineOptions options;
  options.threads = line.threads;
  options.epoch = simulation.epoch;
  if (simulation.stop_at > Time::zero()) options.stop_at = simulation.stop_at;
  options.profile = line.profile;
  if (line.profile && ranks == 1)
    options.apart = partition_by_groups(run.machine.graph(), run.machine.host());
  return options;
}

/// Waits at the end of the run until all GPU memory that the check reads has come; then frees the
/// memory of the partitions.
void gather_memory(Engine& engine, const Machine& machine) {
  const bool is_first = engine.communicator().rank() == 0;
  if (!engine.settle([&] { return !is_first || !find_host(engine, machine).inspects(); })) return;
  for (const LocalComponent& local : engine.components())
    if (auto* partition = dynamic_cast<MemoryPartition*>(local.component))
      partition->forget_bytes();
}

/// Checks a finished run on rank 0, while the other ranks wait.  If a signal cuts it short,
/// `status` is its exit status on all ranks, and there is a checkpoint to resume from.
std::optional<CheckResult> check(const Prepared& run, const CommandLine& line, Engine& engine,
                                 Checkpoints& checkpoints, Time end, int& status) {
  std::optional<CheckResult> result;
  Communicator& communicator = engine.communicator();
  gather_memory(engine, run.machine);
  together(communicator, [&] {
    if (!run.output) return;
    return_freed_memory();
    result = check_tenants(run.scenario, run.machine, find_host(engine, run.machine),
                           [] { return Signals::status() != exit_done; });
  });
  const bool is_cut_short = run.output && !result;
  std::int64_t heard[1] = {is_cut_short ? -Signals::status() : 0};
  communicator.minimum(heard);
  status = static_cast<int>(-heard[0]);
  if (status == exit_done || !line.resumable) return result;
  together(communicator,
           [&] { checkpoints.write_over(engine, end, run.parameters.simulation.stop_at); });
  return result;
}

/// Concludes on rank 0 a run that is over, or has been left.
RunOutcome conclude(const Ended& ended, const std::optional<CheckResult>& check, int status,
                    const Checkpoints& checkpoints, Output& output) {
  if (!check) {
    leave(ended, status, output);
    const std::string where =
        ended.line.resumable ? " - go on with --resume " + checkpoints.path() : "";
    std::fprintf(stderr, "lockstep: ended by %s%s\n", signal_name(status), where.c_str());
    return {status, {}};
  }
  RunOutcome outcome = finish(ended, *check, output);
  // One that was stopped may go on.
  if (find_host(ended.engine, ended.machine).finished()) checkpoints.remove();
  return outcome;
}

}  // namespace

Identity identity_of(const CommandLine& line, const ScenarioChange& change) {
  const Node document = scenario_document(line);
  const Scenario scenario = change(read_scenario(document, scenario_name(line)));
  const std::string configuration = configuration_text(scenario, read_machine(scenario));
  return {line, document, scenario, parse_document(configuration, "the configuration")};
}

RunOutcome simulate(const CommandLine& asked, const ScenarioChange& change,
                    Communicator& communicator) {
  CommandLine line = asked;
  line.threads = threads_of(asked.threads, communicator);
  std::unique_ptr<Prepared> run;
  together(communicator,
           [&] { run = std::make_unique<Prepared>(line, change, communicator.size()); });
  require_same_run(line, run->document, run->resolved, communicator);
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
  EpochRows observer(statistics, output, machine, run->parameters.simulation.on_no_progress);
  Engine engine(
      machine.graph(), run->assignment,
      [&](ComponentId component) { return machine.build(component); }, communicator,
      engine_options(line, *run, communicator.size()));
  together(communicator, [&] {
    if (source && output) checkpoints.restore(*source, line.resume);
    if (source) engine.restore(*source);
    if (output) output->file.start();
    if (output && !source && line.resumable) checkpoints.remove();
  });
  const std::string cores = note_of_cores(line.threads, communicator);
  if (output && !line.quiet) {
    if (line.verbose) tell_of_limit(engine, machine);
    tell(*run, line, {cores, note_of_tasks(communicator)});
  }
  RunSummary summary;
  int status = exit_done;
  const Time stop_at = run->parameters.simulation.stop_at;
  std::optional<Time> over;
  together(communicator, [&] { over = checkpoints.over_at(stop_at, communicator); });
  if (over) {
    summary.finished = true;
    summary.end = *over;
  } else {
    ProgressLine progress(line.quiet, output ? &output->recorder : nullptr,
                          expected_blocks(run->scenario));
    Supervisor supervisor(engine, progress, line.resumable ? &checkpoints : nullptr,
                          {line.checkpoint_seconds, line.checkpoint_at_stop});
    summary = engine.run(observer, supervisor);
    status = supervisor.status();
    if (!summary.finished) summary.end = engine.catch_up(observer);
  }
  std::optional<CheckResult> checked;  // result on rank 0; absent when a signal ends the run
  if (summary.finished && line.check) {
    checked = check(*run, line, engine, checkpoints, summary.end, status);
  } else if (summary.finished) {
    checked.emplace();
  }
  Gathered gathered;
  if (line.profile)
    gathered.profile = gather_profile(engine, machine.graph(), summary,
                                      output ? output->recorder.flush_times() : FlushTimes{});
  if (run->parameters.simulation.record_blocks) gathered.blocks = gather_blocks(engine, machine);
  if (preempts(run->parameters.policies))
    gathered.preemptions = gather_preemptions(engine, machine);
  if (!output) return {status, {}};
  const Ended ended{line,   run->scenario, run->resolved, machine,
                    engine, gathered,      summary.end,   checkpoints.cost(summary)};
  return conclude(ended, checked, status, checkpoints, *output);
}

int run_command(const CommandLine& line, Communicator& communicator) {
  CommandLine resumable = line;
  resumable.resumable = true;
  if (!line.config_of.empty()) resumable.check = was_checked(line.config_of);
  return simulate(
             resumable, [](Scenario scenario) { return scenario; }, communicator)
      .status;
}

}  // namespace lockstep
