#include "jobs/supervise/cores.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "jobs/options.hpp"
#include "jobs/supervise/core_quota.hpp"

namespace lockstep {
namespace {

int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

/// A rank's account of where it runs.
struct RankPlace {
  char computer[256];
  int threads;
  int lent;         ///< cores that all ranks of the job have on the computer
  cpu_set_t cores;  ///< cores that the rank may use
};

struct Computer {
  int ranks = 0, threads = 0, lent = no_core_quota;
  cpu_set_t cores{};

  int usable() const { return std::min(CPU_COUNT(&cores), lent); }
};

RankPlace own_place(int threads) {
  RankPlace place{};
  gethostname(place.computer, sizeof place.computer - 1);
  place.threads = threads;
  place.lent = core_quota();
  if (const int of_job = number_in("SLURM_CPUS_ON_NODE"); of_job > 0)
    place.lent = std::min(place.lent, of_job);
  if (sched_getaffinity(0, sizeof place.cores, &place.cores) != 0) place.threads = 0;
  return place;
}

/// Returns the computers and their ranks, on rank 0. Collective.
std::map<std::string, Computer> find_computers(int threads, Communicator& communicator) {
  const RankPlace own = own_place(threads);
  Communicator::Bytes bytes(sizeof own);
  std::memcpy(bytes.data(), &own, sizeof own);

  std::map<std::string, Computer> computers;
  for (const Communicator::Bytes& from : communicator.gather(bytes)) {
    RankPlace place{};
    std::memcpy(&place, from.data(), sizeof place);
    Computer& computer = computers[place.computer];
    ++computer.ranks;
    computer.threads += place.threads;
    computer.lent = std::min(computer.lent, place.lent);
    CPU_OR(&computer.cores, &computer.cores, &place.cores);
  }
  return computers;
}

}  // namespace

int threads_of(int asked, Communicator& communicator) {
  if (asked != CommandLine::threads_auto) return asked;
  std::int64_t most[1] = {no_core_quota};
  if (const int own = number_in("SLURM_CPUS_PER_TASK"); own > 0) most[0] = own;
  for (const auto& [name, computer] : find_computers(1, communicator))
    most[0] = std::min<std::int64_t>(most[0], computer.usable() / computer.ranks);
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
    const int cores = computer.usable();
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
