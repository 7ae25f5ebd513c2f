#include "jobs/supervise/cores.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>

#include "jobs/options.hpp"

namespace lockstep {
namespace {

/// What a rank says of where it runs.
struct RankPlace {
  char computer[256];
  int threads;
  cpu_set_t cores;  ///< that it may use
};

struct Computer {
  int ranks = 0, threads = 0;
  cpu_set_t cores{};
};

std::map<std::string, Computer> find_computers(int threads, Communicator& communicator) {
  RankPlace own{};
  gethostname(own.computer, sizeof own.computer - 1);
  own.threads = threads;
  if (sched_getaffinity(0, sizeof own.cores, &own.cores) != 0) own.threads = 0;
  Communicator::Bytes bytes(sizeof own);
  std::memcpy(bytes.data(), &own, sizeof own);

  std::map<std::string, Computer> computers;
  for (const Communicator::Bytes& from : communicator.gather(bytes)) {
    RankPlace place{};
    std::memcpy(&place, from.data(), sizeof place);
    Computer& computer = computers[place.computer];
    ++computer.ranks;
    computer.threads += place.threads;
    CPU_OR(&computer.cores, &computer.cores, &place.cores);
  }
  return computers;
}

int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

/// Cores that the control group of this process may keep busy; a large number without a quota.
int quota_of_cores() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || period <= 0) return std::numeric_limits<int>::max();
  return std::max(1, static_cast<int>(quota / period));
}

}  // namespace

int threads_of(int asked, Communicator& communicator) {
  if (asked != CommandLine::threads_auto) return asked;
  std::int64_t most[1] = {quota_of_cores()};
  if (const int own = number_in("SLURM_CPUS_PER_TASK"); own > 0)
    most[0] = std::min<std::int64_t>(most[0], own);
  for (const auto& [name, computer] : find_computers(1, communicator))
    most[0] = std::min<std::int64_t>(most[0], CPU_COUNT(&computer.cores) / computer.ranks);
  communicator.minimum(most);
  return std::max(1, static_cast<int>(most[0]));
}

std::string note_of_tasks(const Communicator& communicator) {
  const int tasks = number_in("SLURM_STEP_NUM_TASKS");
  if (tasks <= 1 || communicator.size() > 1) return "";
  return fmt::format(
      "note: each of {} tasks of this Slurm step runs all of it, by itself - start it with srun "
      "--mpi=pmix, or with one task",
      tasks);
}

std::string note_of_cores(int threads, Communicator& communicator) {
  for (const auto& [name, computer] : find_computers(threads, communicator)) {
    const int cores = CPU_COUNT(&computer.cores);
    if (computer.threads <= cores) continue;
    return fmt::format(
        "note: {} threads ({} rank{}) share {} core{} on {}, and wait for each other - use at most "
        "{} (--threads, mpirun -n, --bind-to none)",
        computer.threads, computer.ranks, computer.ranks == 1 ? "" : "s", cores,
        cores == 1 ? "" : "s", name, cores);
  }
  return "";
}

}  // namespace lockstep
