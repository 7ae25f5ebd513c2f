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
  int threads = 1;  ///< number of threads; threads_auto until simulate() has chosen
  int ranks = 2;
  double checkpoint_seconds = 0;    ///< wall time between two checkpoints; 0: none by the clock
  bool checkpoint_at_stop = false;  ///< true: a checkpoint is left at simulation.stop_at
  std::string resume;               ///< checkpoint to go on from
  std::string config_of;            ///< output of the run to be repeated; "": `scenario` is run
  bool resumable = false;           ///< the command writes checkpoints
  bool bounds = true;               ///< accesses outside of buffers end their tenant
  bool overwrite = false;           ///< the output of another run is replaced
  bool check = false, profile = false, quiet = false;
  bool verbose = false;  ///< true: notes that need no action are printed
  std::string first_file, second_file;
  std::vector<std::string> files;           ///< predict: files
  std::string shared_file;                  ///< compare: output of the run together
  std::vector<std::string> alone_files;     ///< compare: outputs of the runs alone, as tenant=FILE
  std::string alone_folder;                 ///< compare: folder in which runs alone are shared
  std::vector<std::string> alone_settings;  ///< compare: key=value for runs alone
  std::vector<double> gpu_weights = {1};    ///< compare: weights of the GPU
  int jobs = 0;                      ///< sweep: points at a time; 0: as many as there are cores
  int point = -1;                    ///< sweep: number of the only point to run; -1: all
  double interval_seconds = 1;       ///< watch: time between two looks
  bool same_time = false;            ///< plot: both runs have one axis of time
  std::string format, table;         ///< export: format and table
  std::string rows;                  ///< calibrate: rows; "": those of the source
  std::string help_format = "text";  ///< help: text, man or completion
  std::string slurm_script;          ///< sweep: batch script of an array
  std::vector<std::string> program;  ///< capture: the program and its arguments
  std::uint64_t first_launch = 0, last_launch = 0;  ///< extract: first and last launch
  bool strict = false;        ///< capture: allocations end with their last byte
  bool races = false;         ///< capture: races in shared memory are reported
  bool list = false;          ///< capture: list the calls that are missing
  bool host_time = false;     ///< capture: the CPU's time between calls is recorded
  std::string gpu = "v100";   ///< capture: GPU that the program finds
  std::uint32_t devices = 1;  ///< capture: number of such GPUs
  std::string version;        ///< version of the program, as --version prints it
  std::string text;           ///< command line itself, for /run
};

/// Exit statuses of the program.
enum ExitStatus : int {
  exit_done = 0,
  exit_error = 1,
  exit_usage = 2,
  exit_check_failed = 3,
  exit_unfinished = 4,     ///< simulation.stop_at came before some tenants were done
  exit_terminated = 75,    ///< ended by SIGTERM, to be resumed: "try again later" of sysexits.h
  exit_interrupted = 130,  ///< ended by SIGINT, the status that shells give
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
