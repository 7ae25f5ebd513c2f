#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

/// Values of the command line of `lockstep` (architecture.md, section 5).
struct CommandLine {
  std::string scenario, output, key;
  std::string weights;  ///< output file of a run with --profile
  std::vector<std::string> settings;
  static constexpr int threads_auto = 0;
  int threads = 1;  ///< threads_auto until simulate() has chosen
  int ranks = 2;
  double checkpoint_seconds = 0;  ///< of wall time between two checkpoints; 0: none by the clock
  std::string resume;             ///< checkpoint to go on from
  std::string config_of;          ///< output of the run to be repeated; "": `scenario` is run
  bool resumable = false;         ///< the command writes checkpoints
  bool bounds = true;             ///< accesses outside of buffers end their tenant
  bool overwrite = false;         ///< the output of another run is replaced
  bool check = false, profile = false, quiet = false;
  bool verbose = false;  ///< also print notes that need no action
  std::string first_file, second_file;
  std::vector<std::string> files;           ///< of predict
  std::string shared_file;                  ///< of compare
  std::vector<std::string> alone_files;     ///< of compare, tenant=FILE
  std::string alone_folder;                 ///< of compare, where runs alone are shared
  std::vector<std::string> alone_settings;  ///< of compare, key=value for runs alone
  std::vector<double> gpu_weights = {1};    ///< of compare
  int jobs = 0;                             ///< of sweep: at a time; 0: as many as there are cores
  int point = -1;                           ///< of sweep: only this one
  double interval_seconds = 1;              ///< of watch: between two looks
  bool same_time = false;                   ///< of plot: both runs have one axis of time
  std::string format, table;                ///< of export
  std::string rows;                         ///< of calibrate; "": the source's own
  std::string help_format = "text";         ///< of help: text, man, completion
  std::string slurm_script;                 ///< of sweep: batch script of an array
  std::vector<std::string> program;         ///< of capture: the program and its arguments
  std::uint64_t first_launch = 0, last_launch = 0;  ///< of extract
  bool strict = false;        ///< of capture: allocations end with their last byte
  bool races = false;         ///< of capture: races in shared memory are said
  bool list = false;          ///< of capture: list the calls that are not there
  bool host_time = false;     ///< of capture: the CPU's time between calls is recorded
  std::string gpu = "v100";   ///< of capture: what the program finds
  std::uint32_t devices = 1;  ///< of capture: so many of them
  std::string version;        ///< of the program, as --version says it
  std::string text;           ///< the command line itself, for /run
};

/// Exit statuses of the program.
enum ExitStatus : int {
  exit_done = 0,
  exit_error = 1,
  exit_usage = 2,
  exit_check_failed = 3,
  exit_unfinished = 4,     ///< simulation.stop_at came before some tenants were done
  exit_terminated = 75,    ///< by SIGTERM, to be resumed: "try again later" of sysexits.h
  exit_interrupted = 130,  ///< by SIGINT, as shells say it
};

class Communicator;

// The subcommands; each returns an ExitStatus or throws.
int run_command(const CommandLine& line, Communicator& communicator);
int compare_command(const CommandLine& line, Communicator& communicator);
int validate_command(const CommandLine& line);
int describe_command(const CommandLine& line);
int partition_command(const CommandLine& line);
int diff_command(const CommandLine& line);
int sweep_command(const CommandLine& line);
int collect_command(const CommandLine& line);
int watch_command(const CommandLine& line);
int report_command(const CommandLine& line);
int plot_command(const CommandLine& line);
int export_command(const CommandLine& line);
int capture_command(const CommandLine& line);
int extract_command(const CommandLine& line);
int predict_command(const CommandLine& line);
int calibrate_command(const CommandLine& line);

}  // namespace lockstep
