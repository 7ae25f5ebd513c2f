/// The program: reads the command line, runs one subcommand, turns errors into one line.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <functional>
#include <new>

#include "core/engine/engine.hpp"
#include "core/error/error.hpp"
#include "core/exec/mpi_communicator.hpp"
#include "core/parameters/suggest.hpp"
#include "jobs/command_line/commands.hpp"
#include "jobs/command_line/manual.hpp"
#include "jobs/command_line/shell.hpp"
#include "jobs/options.hpp"
#include "jobs/run/identity.hpp"
#include "jobs/run/same_run.hpp"
#include "jobs/supervise/signals.hpp"
#include "jobs/supervise/terminal.hpp"

namespace lockstep {
namespace {

using Command = std::function<int()>;

int dispatch(const CLI::App& app, const CommandLine& line, Communicator& communicator) {
  if (app.got_subcommand("run")) return run_command(line, communicator);
  if (app.got_subcommand("compare")) return compare_command(line, communicator);
  if (communicator.rank() != 0) return exit_done;
  if (app.got_subcommand("validate")) return validate_command(line);
  if (app.got_subcommand("describe")) return describe_command(line);
  if (app.got_subcommand("partition")) return partition_command(line);
  if (app.got_subcommand("sweep")) return sweep_command(line);
  if (app.got_subcommand("collect")) return collect_command(line);
  if (app.got_subcommand("watch")) return watch_command(line);
  if (app.got_subcommand("report")) return report_command(line);
  if (app.got_subcommand("plot")) return plot_command(line);
  if (app.got_subcommand("export")) return export_command(line);
  if (app.got_subcommand("capture")) return capture_command(line);
  if (app.got_subcommand("extract")) return extract_command(line);
  if (app.got_subcommand("predict")) return predict_command(line);
  if (app.got_subcommand("calibrate")) return calibrate_command(line);
  return diff_command(line);
}

int fail(const std::string& what) {
  std::fprintf(stderr, "%s %s\n", Terminal(stderr).bold("lockstep:").c_str(), what.c_str());
  return exit_error;
}

/// Ends after a failure on this rank alone: the others may be waiting for it.
int fail_alone(const std::string& what, const Communicator& communicator) {
  fail(what);
  if (communicator.size() > 1) MpiSession::abort(exit_error);
  return exit_error;
}

/// Runs a command.  A UserError or RunError arrives here on one rank only; the others stop
/// silently.
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

UserError no_such_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  return UserError(name, "there is no such command", suggest(name, known));
}

/// Returns a text such as "run: scenario is required - lockstep run --help tells what it takes".
std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> used = app.get_subcommands();
  const std::vector<std::string> unknown = app.remaining();
  if (used.empty() && !unknown.empty()) return no_such_command(app, unknown.front()).what();
  const std::string name = used.empty() ? "" : used.front()->get_name();
  const std::vector<std::string> extra = used.empty() ? unknown : used.front()->remaining();
  if (!extra.empty() && extra.front().starts_with("--")) {
    std::vector<std::string> known;
    for (const CLI::Option* option : used.front()->get_options({}))
      if (!option->get_lnames().empty()) known.push_back("--" + option->get_lnames().front());
    return UserError(name + " " + extra.front(), "there is no such option",
                     suggest(extra.front(), known))
        .what();
  }
  if (!extra.empty() && extra.front().find('=') != std::string::npos)
    return UserError(name, "\"" + extra.front() + "\" stands alone",
                     "each setting needs a --set of its own")
        .what();
  return UserError(name, error.what(),
                   "`lockstep " + name + (name.empty() ? "" : " ") + "--help` tells what it takes")
      .what();
}

/// Runs `lockstep help run`, and `lockstep` alone.
int help_command(const CLI::App& app, const CommandLine& line) {
  const CLI::App* about = line.key.empty() ? &app : nullptr;
  for (const CLI::App* other : app.get_subcommands({}))
    if (other->get_name() == line.key) about = other;
  if (!about) throw no_such_command(app, line.key);
  const std::string text = line.help_format == "man"          ? man_page(app)
                           : line.help_format == "completion" ? bash_completion(app)
                                                              : help_of(*about);
  std::fputs(text.c_str(), stdout);
  return exit_done;
}

int run_program(int argc, char** argv, Communicator& communicator) {
  CommandLine line;
  line.version = "lockstep, " + program_version() + ", " + program_build();
  for (int i = 0; i < argc; ++i) line.text += (i ? " " : "") + std::string(argv[i]);

  CLI::App app("a parallel simulator of GPUs that several applications share");
  declare_commands(app, line);

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
    const std::string command =
        app.get_subcommands().empty() ? "help" : app.get_subcommands().front()->get_name();
    require_same_command(command, communicator);
    if (command == "help") return communicator.rank() == 0 ? help_command(app, line) : exit_done;
    return dispatch(app, line, communicator);
  };
  return guarded(understand_and_do, communicator);
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  using namespace lockstep;
  if (argc > 1) Signals::listen(argv[1]);
  // A write beyond the file size limit becomes an error with a message.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    MpiSession mpi(argc, argv);
    const int status = run_program(argc, argv, mpi.communicator());
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return fail("standard output: cannot be written - is the disk full?");
    return status;
  } catch (const UserError& error) {  // errors of MPI itself
    return fail(error.what());
  }
}
