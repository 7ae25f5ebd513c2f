/// `lockstep sweep`: the runs of a sweep, several at a time on this computer or as a Slurm job
/// array.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

#include "core/error/error.hpp"
#include "jobs/options.hpp"
#include "jobs/supervise/signals.hpp"
#include "jobs/supervise/terminal.hpp"
#include "jobs/sweep/point_state.hpp"

namespace lockstep {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// The log of a point, which serves as a lock: the process that holds it runs the point.  A run
/// holds its log even if the sweep that began it ends.
class PointLog {
 public:
  explicit PointLog(const std::string& path)
      : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)),
        is_held_(file_ < 0 || flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {}
  ~PointLog() {
    if (file_ >= 0) close(file_);
  }
  PointLog(const PointLog&) = delete;
  PointLog& operator=(const PointLog&) = delete;

  /// Returns false if another sweep runs the point.
  bool is_held() const { return is_held_; }
  /// Takes the place of this process.
  [[noreturn]] void become(std::vector<std::string> words) const {
    if (file_ >= 0) {
      dup2(file_, STDOUT_FILENO);
      dup2(file_, STDERR_FILENO);
    }
    execvp(words.front().c_str(), pointers(words).data());
    std::perror(words.front().c_str());
    _exit(exit_error);
  }

 private:
  const int file_;
  const bool is_held_;
};

/// Returns a text such as "failed with status 1" or "was ended by SIGKILL".
std::string end_text(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by SIG{}", sigabbrev_np(WTERMSIG(status)));
  return fmt::format("failed with status {}", WEXITSTATUS(status));
}

void make_folder(const Sweep& sweep) {
  std::error_code error;
  std::filesystem::create_directories(sweep.folder, error);
  if (error || access(sweep.folder.c_str(), W_OK) != 0)
    throw UserError(sweep.folder, "is no folder that can be written to", "choose another `output`");
}

/// Runs points side by side, and shows their progress.
class Pool {
 public:
  Pool(const Sweep& sweep, unsigned jobs, bool quiet)
      : sweep_(sweep), jobs_(jobs), quiet_(quiet), terminal_(stderr) {}

  int run() {
    std::vector<const SweepPoint*> left, elsewhere;
    for (const SweepPoint& point : sweep_.points) left.push_back(&point);
    while (!left.empty() && Signals::status() == exit_done) {
      for (const SweepPoint* const point : left)
        if (!settle(*point)) elsewhere.push_back(point);
      // Points that another sweep runs are checked once more after everything else.
      left = std::exchange(elsewhere, {});
      if (!left.empty()) wait_a_moment();
    }
    while (!running_.empty()) wait_for_one();
    return conclude();
  }

 private:
  /// Begins the work on a point. Returns false if another sweep is working on it.
  bool settle(const SweepPoint& point) {
    while (running_.size() >= jobs_ && Signals::status() == exit_done) wait_for_one();
    if (Signals::status() != exit_done) return true;
    const PointLog log(sweep_.path(point, ".log"));
    if (!log.is_held()) return false;
    const PointState state = state_of(sweep_, point);
    if (state == PointState::done) {
      ++skipped_;
    } else {
      begin(point, state, log);
    }
    return true;
  }

  void begin(const SweepPoint& point, PointState state, const PointLog& log) {
    show();
    if (state == PointState::missing && is_whole(sweep_, point)) ++replaced_;
    const pid_t sweep = getpid(), child = fork();
    if (child < 0) throw UserError("", "no further process can be started", "use fewer --jobs");
    if (child == 0) {
      // A run whose sweep is killed leaves a checkpoint, from which the next sweep resumes.
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != sweep) _exit(exit_terminated);
      log.become(command_of(sweep_, point, state));
    }
    running_[child] = &point;
  }

  static void wait_a_moment() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

  /// A signal to end reaches the runs as well.
  void wait_for_one() {
    int status = 0;
    pid_t child = 0;
    while ((child = waitpid(-1, &status, WNOHANG)) == 0) {
      if (Signals::status() != exit_done && !told_) {
        told_ = true;
        for (const auto& [running, point] : running_) kill(running, SIGTERM);
      }
      wait_a_moment();
    }
    const auto found = running_.find(child);
    if (child < 0 || found == running_.end()) return;
    const bool good = WIFEXITED(status) &&
                      (WEXITSTATUS(status) == exit_done || WEXITSTATUS(status) == exit_unfinished);
    if (good) {
      ++done_;
    } else if (!left_when_told(status)) {
      failed_.push_back(found->second->name + " " + end_text(status) + advice(*found->second));
    }
    running_.erase(found);
    show();
  }

  /// Returns whether a run ended because the sweep was told to end: the next sweep goes on with it.
  bool left_when_told(int status) const {
    return told_ && (WIFEXITED(status) ? WEXITSTATUS(status) == exit_terminated
                                       : WTERMSIG(status) == SIGTERM);
  }

  std::string advice(const SweepPoint& point) const {
    const std::string log = sweep_.path(point, ".log");
    std::error_code absent;
    const auto bytes = std::filesystem::file_size(log, absent);
    if (absent) return fmt::format(", and {} cannot be written - choose another `output`", log);
    if (bytes == 0) return fmt::format(", and {} is empty - is the disk full?", log);
    return " - see " + log;
  }

  void show() const {
    if (quiet_ || !terminal_.is_one()) return;
    const std::string text = fmt::format("{}, {} running", summary(), running_.size());
    std::fprintf(stderr, "%s%.*s", terminal_.clear_line(),
                 static_cast<int>(terminal_.columns() - 1), text.c_str());
    std::fflush(stderr);
  }

  std::string summary() const {
    return fmt::format("{} of {} points done, {} of them before, {} failed", done_ + skipped_,
                       sweep_.points.size(), skipped_, failed_.size());
  }

  int conclude() const {
    if (!quiet_) {
      std::fprintf(stderr, "%slockstep: %s\n", terminal_.clear_line(), summary().c_str());
    }
    if (!quiet_ && replaced_ > 0)
      std::fprintf(stderr,
                   "lockstep: note: %zu of them had an output of other settings, which is "
                   "replaced\n",
                   replaced_);
    for (const std::string& failure : failed_)
      std::fprintf(stderr, "lockstep: %s\n", failure.c_str());
    // A signal that comes when every point is done leaves nothing to go on with.
    if (done_ + skipped_ == sweep_.points.size()) return exit_done;
    if (Signals::status() != exit_done) return Signals::status();
    return exit_error;
  }

  const Sweep& sweep_;
  const unsigned jobs_;
  const bool quiet_;
  const Terminal terminal_;
  std::map<pid_t, const SweepPoint*> running_;
  std::size_t done_ = 0, skipped_ = 0;
  std::size_t replaced_ = 0;         ///< outputs of another program, scenario or data
  std::vector<std::string> failed_;  ///< a line for each failed point
  bool told_ = false;
};

/// Returns the points that are not done, as Slurm takes them: "0,3,4".
std::string array_of(const Sweep& sweep) {
  std::string text;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (state_of(sweep, sweep.points[i]) == PointState::done) continue;
    text += (text.empty() ? "" : ",") + std::to_string(i);
  }
  return text;
}

int submit(const Sweep& sweep, const std::string& script) {
  const std::string array = array_of(sweep);
  if (array.empty()) {
    std::fprintf(stderr, "lockstep: all %zu points are done\n", sweep.points.size());
    return exit_done;
  }
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> words{"sbatch", "--array=" + array, script, program, sweep.file};
  Signals::leave_to_others();
  execvp("sbatch", pointers(words).data());
  throw UserError("sbatch", "cannot be started: " + std::string(std::strerror(errno)),
                  "load Slurm's commands, or leave --slurm out");
}

int run_point(const Sweep& sweep, std::size_t index) {
  if (index >= sweep.points.size()) {
    throw UserError("--point", "there are only " + std::to_string(sweep.points.size()) + " points",
                    "they are counted from 0");
  }
  const SweepPoint& point = sweep.points[index];
  const PointState state = state_of(sweep, point);
  if (state == PointState::done) return exit_done;
  const PointLog log(sweep.path(point, ".log"));
  if (!log.is_held())
    throw UserError(point.name, "is being run by another sweep", "wait for its end");
  log.become(command_of(sweep, point, state));
}

}  // namespace

int sweep_command(const CommandLine& line) {
  const Sweep sweep = read_sweep(line.scenario);
  if (line.point < 0)
    for (const SweepPoint& point : sweep.points) check_point(sweep, point);
  make_folder(sweep);
  if (!line.slurm_script.empty()) return submit(sweep, line.slurm_script);
  if (line.point >= 0) return run_point(sweep, static_cast<std::size_t>(line.point));
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  return Pool(sweep, line.jobs > 0 ? static_cast<unsigned>(line.jobs) : cores, line.quiet).run();
}

}  // namespace lockstep
