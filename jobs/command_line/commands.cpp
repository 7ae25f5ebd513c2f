#include "jobs/command_line/commands.hpp"

#include <CLI/CLI.hpp>

#include "jobs/command_line/manual.hpp"

namespace lockstep {
namespace {

constexpr int most_threads = 1024, most_ranks = 65536, most_jobs = 4096;

CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& purpose) {
  CLI::App& command = *app.add_subcommand(name, purpose);
  command.footer(manual_of(name));
  return command;
}

/// Adds an option of one value that may be given many times.
void add_repeated(CLI::App& command, const std::string& name, const std::string& value,
                  std::vector<std::string>& all, const std::string& meaning) {
  command
      .add_option_function<std::string>(
          name, [&all](const std::string& given) { all.push_back(given); },
          meaning + "; as often as wanted")
      ->type_name(value)
      ->trigger_on_parse();
}

CLI::Option* add_scenario(CLI::App& command, CommandLine& line) {
  add_repeated(command, "--set", "KEY=VALUE", line.settings, "replaces what the scenario says");
  return command.add_option("scenario", line.scenario, "scenario file (YAML)");
}

/// Accepts a number of threads, or auto.
CLI::Validator threads_or_auto() {
  return {[](std::string& text) -> std::string {
            if (text != "auto") return CLI::Range(1, most_threads)(text);
            text = std::to_string(CommandLine::threads_auto);
            return "";
          },
          ""};
}

void add_threads(CLI::App& command, CommandLine& line) {
  command
      .add_option("--threads", line.threads,
                  "worker threads of each rank (default: 1), or auto: the cores that it may use")
      ->transform(threads_or_auto());
}

void add_weights(CLI::App& command, CommandLine& line) {
  command.add_option(
      "--weights", line.weights,
      "output file of a run with --profile: ranks and threads get equal shares of that (default: "
      "estimated costs)");
}

void add_bounds(CLI::App& command, CommandLine& line) {
  command.add_flag_callback(
      "--no-bounds", [&line] { line.bounds = false; },
      "accesses outside of buffers are not looked for where a page is there (default: the first "
      "one ends its tenant)");
}

void add_overwrite(CLI::App& command, CommandLine& line) {
  command.add_flag("--overwrite", line.overwrite,
                   "replace outputs of other runs (default: only those of the same run)");
}

CLI::Option* add_duration(CLI::App& command, const std::string& name, double& seconds,
                          const std::string& meaning) {
  return command.add_option(name, seconds, meaning)
      ->transform(
          CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"h", 3600}},
                                CLI::AsNumberWithUnit::UNIT_REQUIRED, "DURATION"))
      ->check(CLI::PositiveNumber)
      ->option_text("DURATION");
}

void add_run(CLI::App& app, CommandLine& line) {
  CLI::App& run = add_command(app, "run", "simulate a scenario and write an HDF5 file");
  CLI::Option* const scenario = add_scenario(run, line);
  CLI::Option* const again = run.add_option("--config-of", line.config_of,
                                            "output of a run that is to be repeated to the bit, "
                                            "instead of a scenario")
                                 ->excludes(scenario)
                                 ->excludes("--set");
  scenario->excludes(again);
  run.callback([&line] {
    if (line.scenario.empty() && line.config_of.empty())
      throw CLI::RequiredError("scenario (or --config-of)");
  });
  add_threads(run, line);
  run.add_option("--output", line.output, "HDF5 file (default: <scenario>.h5)")
      ->check([](const std::string& path) {
        return path.empty() ? "is empty: leave it out or name a file" : "";
      });
  add_overwrite(run, line);
  add_bounds(run, line);
  run.add_flag("--check", line.check, "compare every buffer with a functional run");
  add_duration(run, "--checkpoint-every", line.checkpoint_seconds,
               "wall time between two checkpoints beside the output, such as 30min (default: none "
               "by the clock)");
  run.add_flag("--checkpoint-at-stop", line.checkpoint_at_stop,
               "leave a checkpoint when simulation.stop_at comes, to go on from with a later one");
  run.add_option("--resume", line.resume, "checkpoint (.ckpt) to go on from");
  run.add_flag("--profile", line.profile, "record what each component cost");
  add_weights(run, line);
  run.add_flag("--quiet", line.quiet, "no progress, no table");
  run.add_flag("--verbose", line.verbose, "also what limits the simulation's windows");
}

void add_compare(CLI::App& app, CommandLine& line) {
  CLI::App& compare =
      add_command(app, "compare", "slowdown of each tenant against running alone, fairness");
  add_scenario(compare, line);
  add_threads(compare, line);
  compare.add_option("--output", line.output, "folder of the files (default: here)");
  add_overwrite(compare, line);
  add_bounds(compare, line);
  compare.add_option("--shared", line.shared_file, "HDF5 file of the shared run: is not simulated");
  add_repeated(compare, "--alone", "TENANT=FILE", line.alone_files,
               "HDF5 file of a tenant's run alone: is not simulated");
  compare.add_option("--alone-folder", line.alone_folder,
                     "folder of the runs alone, shared by comparisons: one that is there, of the "
                     "same machine and tenant, is not simulated again (default: none)");
  add_repeated(compare, "--alone-set", "KEY=VALUE", line.alone_settings,
               "as --set, for the runs alone: what they are compared with (default: as --set)");
  compare
      .add_option("--gpu-weight", line.gpu_weights,
                  "list such as 1,2,4: of tenants on the GPU beside those on CPU cores, for the "
                  "CPU+GPU weighted speedup (default: 1)")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber);
  compare.add_flag("--quiet", line.quiet, "no progress, no tables of the runs");
}

void add_sweep(CLI::App& app, CommandLine& line) {
  CLI::App& sweep = add_command(app, "sweep", "run every point of a sweep that is not done");
  sweep.add_option("sweep", line.scenario, "sweep file (YAML)")->required();
  CLI::Option* jobs = sweep.add_option("--jobs", line.jobs, "runs at a time (default: cores)")
                          ->check(CLI::Range(1, most_jobs));
  CLI::Option* slurm = sweep.add_option("--slurm", line.slurm_script,
                                        "batch script: submit the points as a job array");
  sweep.add_option("--point", line.point, "run only this one, counted from 0 (default: all)")
      ->check(CLI::NonNegativeNumber)
      ->excludes(jobs)
      ->excludes(slurm);
  sweep.add_flag("--quiet", line.quiet, "no progress");
  CLI::App& collect =
      add_command(app, "collect", "write the results of a sweep into one HDF5 file");
  collect.add_option("sweep", line.scenario, "sweep file (YAML)")->required();
  collect.add_option("--output", line.output, "HDF5 file (default: <folder of the sweep>.h5)");
}

void add_scenario_commands(CLI::App& app, CommandLine& line) {
  add_scenario(add_command(app, "validate", "read a scenario and report its first mistake"), line)
      ->required();
  add_command(app, "describe", "list parameters and policies, and what an output counts")
      .add_option("key", line.key,
                  "what begins with this key, or else parameters, policies, statistics and metrics "
                  "with this word in name or meaning; or the folder of a recording: what is in it "
                  "(default: all parameters)");
  CLI::App& partition = add_command(app, "partition", "show which rank would own what");
  add_scenario(partition, line)->required();
  partition.add_option("--ranks", line.ranks, "MPI ranks (default: 2)")
      ->check(CLI::Range(1, most_ranks));
  add_threads(partition, line);
  add_weights(partition, line);
}

void add_reading(CLI::App& app, CommandLine& line) {
  CLI::App& diff = add_command(app, "diff", "compare two output files");
  diff.add_option("a", line.first_file, "HDF5 file")->required();
  diff.add_option("b", line.second_file, "HDF5 file")->required();

  CLI::App& watch = add_command(app, "watch", "follow the output of a run in the terminal");
  watch.add_option("file", line.first_file, "HDF5 file")->required();
  add_duration(watch, "--every", line.interval_seconds, "time between two looks (default: 1s)");

  CLI::App& report = add_command(app, "report", "write one page with plots of one or two runs");
  report.add_option("file", line.first_file, "HDF5 file")->required();
  report.add_option("other", line.second_file, "HDF5 file to compare it with");
  report.add_option("--output", line.output, "HTML file (default: <file>.html)");

  CLI::App& plot = add_command(app, "plot", "draw one or two runs, and say what happened in words");
  plot.add_option("file", line.first_file, "HDF5 file")->required();
  plot.add_option("other", line.second_file, "HDF5 file to stand beside it");
  plot.add_option("--output", line.output,
                  "picture, PNG, PDF or SVG by its ending (default: <file>.png)");
  plot.add_flag("--same-time", line.same_time,
                "both runs on one axis of time (default: each has its own)");

  CLI::App& exports = add_command(app, "export", "write an output for other programs");
  exports.add_option("file", line.first_file, "HDF5 file")->required();
  exports.add_option("--format", line.format, "csv or perfetto")
      ->required()
      ->check(CLI::IsMember({"csv", "perfetto"}));
  exports.add_option("--table", line.table,
                     "only this table, such as kernels or thread_blocks (default: all counters)");
  exports.add_option("--output", line.output, "file (default: <file>.csv or <file>.perfetto.json)");
}

void add_capture(CLI::App& app, CommandLine& line) {
  CLI::App& capture =
      add_command(app, "capture", "run a CUDA program without a GPU and record it as a workload");
  CLI::Option* list = capture.add_flag(
      "--list", line.list, "only list the entries of the CUDA runtime that are not there");
  capture.add_option("--output", line.output, "folder of the recording, such as bfs.workload")
      ->excludes(list);
  capture.add_flag("--host-time", line.host_time,
                   "record how long the CPU computed between two calls, for replays to wait");
  capture.add_flag("--strict", line.strict,
                   "memory ends with its last byte, not with the next multiple of 512");
  capture.add_flag("--races", line.races,
                   "name accesses of shared memory that nothing orders, by their PTX lines");
  capture.add_option("--gpu", line.gpu, "GPU that the program finds (default: v100)");
  capture.add_option("--gpus", line.devices, "so many of them, which see each other (default: 1)")
      ->check(CLI::Range(1u, 16u));
  capture.add_option("program", line.program, "the program and its arguments, behind --")
      ->excludes(list);
}

void add_extract(CLI::App& app, CommandLine& line) {
  CLI::App& extract = add_command(
      app, "extract", "cut a recording to some launches, with the memory as it was there");
  extract.add_option("recording", line.first_file, "folder of the recording")->required();
  extract
      .add_option_function<std::vector<std::uint64_t>>(
          "--launches",
          [&line](const std::vector<std::uint64_t>& range) {
            line.first_launch = range[0];
            line.last_launch = range[1];
          },
          "first and last launch, counted from 0")
      ->required()
      ->expected(2);
  extract.add_option("--output", line.output, "folder of the new recording")->required();
}

void add_predict(CLI::App& app, CommandLine& line) {
  CLI::App& predict =
      add_command(app, "predict",
                  "speed-up on 2 to 1024 workers, and what limits it, from a run with --profile");
  predict
      .add_option("file", line.files,
                  "HDF5 files of one or more runs of a scenario with --profile on one rank; of "
                  "several, the least that each step cost counts")
      ->required();
  predict
      .add_option("--threads", line.threads,
                  "also ranks of so many threads each, such as the cores of a cache (default: 1)")
      ->check(CLI::Range(1, most_threads));
}

void add_calibrate(CLI::App& app, CommandLine& line) {
  CLI::App& calibrate = add_command(
      app, "calibrate", "tell which parameters of a GPU to change so that it is as one measured");
  calibrate.add_option("gpu", line.first_file, "configuration of a GPU (YAML)")->required();
  calibrate.add_option("measured", line.second_file, "what measure_gpu wrote (YAML)")->required();
  calibrate.add_option("--rows", line.rows,
                       "rows.yaml of the source's tests/validation: what is simulated for it "
                       "(default: of the sources that the program was built from)");
}

}  // namespace

void declare_commands(CLI::App& app, CommandLine& line) {
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", line.version, "what the program was built from");
  app.formatter(std::make_shared<ManualPage>());
  app.footer(manual_of(""));
  add_run(app, line);
  add_compare(app, line);
  add_sweep(app, line);
  add_scenario_commands(app, line);
  add_reading(app, line);
  add_capture(app, line);
  add_extract(app, line);
  add_predict(app, line);
  add_calibrate(app, line);
  CLI::App& help = add_command(app, "help", "tell what a command takes");
  help.add_option("command", line.key, "such as run");
  help.add_option("--as", line.help_format, "text, man or completion, of all (default: text)")
      ->check(CLI::IsMember({"text", "man", "completion"}));
}

}  // namespace lockstep
