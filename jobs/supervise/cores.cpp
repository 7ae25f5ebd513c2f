#include "jobs/supervise/cores.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <map>

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

}  // namespace

std::string note_of_cores(int threads, Communicator& communicator) {
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
  for (const auto& [name, computer] : computers) {
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
