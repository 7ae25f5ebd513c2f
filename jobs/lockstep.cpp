/// The program: reads the command line, runs one subcommand, turns errors into one line.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <functional>
#include <new>
#include <optional>

#include "core/engine/engine.hpp"
#include "core/error/error.hpp"
#include "core/exec/mpi_communicator.hpp"
#include "core/parameters/suggest.hpp"
#include "jobs/options.hpp"
#include "jobs/run/same_run.hpp"
#include "jobs/supervise/signals.hpp"

namespace lockstep {
namespace {

using Command = std::function<int()>;

void add_scenario(CLI::App& command, CommandLine& line) {
  command.add_option("scenario", line.scenario, "scenario file (YAML)")->required();
  command.add_option("--set", line.settings, "key=value, replaces what the scenario says")
      ->allow_extra_args(false);
}

void add_run(CLI::App& app, CommandLine& line) {
  CLI::App& run = *app.add_subcommand("run", "simulate a scenario and write an HDF5 file");
  add_scenario(run, line);
  run.add_option("--threads", line.threads, "worker threads of each rank")
      ->check(CLI::Range(1, 1024));
  run.add_option("--output", line.output, "HDF5 file (default: <scenario>.h5)")
      ->check([](const std::string& path) {
        return path.empty() ? "is empty: leave it out or name a file" : "";
      });
  run.add_flag("--check", line.check, "compare every buffer with a functional run");
  run.add_option("--checkpoint-every", line.checkpoint_seconds,
                 "wall time between two checkpoints beside the output, such as 30min")
      ->transform(
          CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"h", 3600}},
                                CLI::AsNumberWithUnit::UNIT_REQUIRED, "DURATION"))
      ->check(CLI::PositiveNumber);
  run.add_option("--resume", line.resume, "checkpoint (.ckpt) to go on from");
  run.add_flag("--profile", line.profile, "record what each component cost");
  run.add_option("--weights", line.weights,
                 "output file of a run with --profile: ranks and threads get equal shares of that");
  run.add_flag("--quiet", line.quiet, "no progress, no table");
}

void add_compare(CLI::App& app, CommandLine& line) {
  CLI::App& compare =
      *app.add_subcommand("compare", "slowdown of each tenant against running alone, fairness");
  add_scenario(compare, line);
  compare.get_option("scenario")->required(false);
  compare.add_option("--threads", line.threads, "worker threads of each rank")
      ->check(CLI::Range(1, 1024));
  compare.add_option("--output", line.output, "folder of the files (default: here)");
  compare.add_option("--shared", line.shared_file, "HDF5 file of the shared run: is not simulated");
  compare
      .add_option("--alone", line.alone_files,
                  "tenant=FILE, HDF5 file of a tenant's run alone: is not simulated")
      ->allow_extra_args(false);
  compare.add_flag("--quiet", line.quiet, "no progress, no tables of the runs");
}

void add_sweep(CLI::App& app, CommandLine& line) {
  CLI::App& sweep = *app.add_subcommand("sweep", "run every point of a sweep that is not done");
  sweep.add_option("sweep", line.scenario, "sweep file (YAML)")->required();
  CLI::Option* jobs = sweep.add_option("--jobs", line.jobs, "runs at a time (default: cores)")
                          ->check(CLI::Range(1, 4096));
  CLI::Option* slurm = sweep.add_option("--slurm", line.slurm_script,
                                        "batch script: submit the points as a job array");
  sweep.add_option("--point", line.point, "run only this one, counted from 0")
      ->check(CLI::NonNegativeNumber)
      ->excludes(jobs)
      ->excludes(slurm);
  sweep.add_flag("--quiet", line.quiet, "no progress");
  CLI::App& collect =
      *app.add_subcommand("collect", "write the results of a sweep into one HDF5 file");
  collect.add_option("sweep", line.scenario, "sweep file (YAML)")->required();
  collect.add_option("--output", line.output, "HDF5 file (default: <folder of the sweep>.h5)");
}

int dispatch(const CLI::App& app, const CommandLine& line, Communicator& communicator) {
  if (app.got_subcommand("run")) return run_command(line, communicator);
  if (app.got_subcommand("compare")) return compare_command(line, communicator);
  if (communicator.rank() != 0) return exit_done;
  if (app.got_subcommand("validate")) return validate_command(line);
  if (app.got_subcommand("describe")) return describe_command(line);
  if (app.got_subcommand("partition")) return partition_command(line);
  if (app.got_subcommand("sweep")) return sweep_command(line);
  if (app.got_subcommand("collect")) return collect_command(line);
  return diff_command(line);
}

int fail(const std::string& what) {
  std::fprintf(stderr, "lockstep: %s\n", what.c_str());
  return exit_error;
}

/// For failures that the ranks do not agree upon: the others may be waiting for this one.
int fail_alone(const std::string& what, const Communicator& communicator) {
  fail(what);
  if (communicator.size() > 1) MpiSession::abort(exit_error);
  return exit_error;
}

/// What reaches this as UserError or RunError reaches it on one rank only; the others stop without
/// a word.
int guarded(const Command& command, Communicator& communicator) {
  try {
    return command();
  } catch (const StoppedElsewhere&) {
    return exit_error;
  } catch (const UserError& error) {
    return fail(error.what());
  } catch (const RunError& error) {
    return fail(error.what());
  } catch (const std::bad_alloc&) {
    return fail_alone("out of memory on this machine - simulate less memory or use more nodes",
                      communicator);
  } catch (const std::exception& error) {
    return fail_alone(std::string("internal error: ") + error.what(), communicator);
  }
}

/// "run: scenario is required - lockstep run --help tells what it takes"
std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> used = app.get_subcommands();
  const std::vector<std::string> unknown = app.remaining();
  if (used.empty() && !unknown.empty()) {
    std::vector<std::string> known;
    for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
    return UserError(unknown.front(), "there is no such command", suggest(unknown.front(), known))
        .what();
  }
  const std::string name = used.empty() ? "" : used.front()->get_name();
  return UserError(name, error.what(),
                   "`lockstep " + name + (name.empty() ? "" : " ") + "--help` tells what it takes")
      .what();
}

int run_program(int argc, char** argv, Communicator& communicator) {
  CommandLine line;
  for (int i = 0; i < argc; ++i) line.text += (i ? " " : "") + std::string(argv[i]);

  CLI::App app("Lockstep: a parallel simulator of GPUs that several applications share");
  app.require_subcommand(1);
  add_run(app, line);
  add_compare(app, line);
  add_sweep(app, line);
  add_scenario(*app.add_subcommand("validate", "read a scenario and report its first mistake"),
               line);
  app.add_subcommand("describe", "list parameters: key, type, default, range, meaning")
      ->add_option("key", line.key, "only what begins with this key");
  CLI::App& partition = *app.add_subcommand("partition", "show which rank would own what");
  add_scenario(partition, line);
  partition.add_option("--ranks", line.ranks, "MPI ranks")->check(CLI::Range(1, 65536));
  partition.add_option("--profile", line.weights,
                       "output file of a run with --profile: ranks and threads get equal shares");
  partition.add_option("--threads", line.threads, "worker threads of each rank")
      ->check(CLI::Range(1, 1024));
  CLI::App& diff = *app.add_subcommand("diff", "compare two output files");
  diff.add_option("a", line.first_file, "HDF5 file")->required();
  diff.add_option("b", line.second_file, "HDF5 file")->required();

  const Command understand_and_do = [&]() -> int {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      const bool is_help = error.get_exit_code() == 0;
      require_same_command(is_help ? "help" : "a mistake: " + std::string(error.what()),
                           communicator);
      if (communicator.rank() == 0 && is_help) app.exit(error);
      if (communicator.rank() == 0 && !is_help) fail(usage_text(app, error));
      return is_help ? exit_done : exit_usage;
    }
    require_same_command(app.get_subcommands().front()->get_name(), communicator);
    return dispatch(app, line, communicator);
  };
  return guarded(understand_and_do, communicator);
}

/// Such a command ends in order after a signal, whenever it comes.
bool simulates(const std::string& command) {
  return command == "run" || command == "compare" || command == "sweep";
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  using namespace lockstep;
  std::optional<Signals> signals;
  if (argc > 1 && simulates(argv[1])) signals.emplace();
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit becomes an error of the write, with a message
  try {
    MpiSession mpi(argc, argv);
    const int status = run_program(argc, argv, mpi.communicator());
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return fail("standard output: cannot be written - is the disk full?");
    return status;
  } catch (const UserError& error) {  // of MPI itself
    return fail(error.what());
  }
}
