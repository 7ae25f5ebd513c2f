#include "jobs/supervise/core_quota.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace lockstep {
namespace {

using std::filesystem::path;

struct Quota {
  double busy = 0, period = 0;
};

std::optional<double> number_in(const path& file) {
  std::ifstream in(file);
  double value = 0;
  return in >> value ? std::optional(value) : std::nullopt;
}

Quota version_2(const path& group) {
  std::ifstream in(group / "cpu.max");
  Quota quota;
  return in >> quota.busy >> quota.period ? quota : Quota{};  // "max" is no number
}

Quota version_1(const path& group) {
  return {number_in(group / "cpu.cfs_quota_us").value_or(-1),
          number_in(group / "cpu.cfs_period_us").value_or(0)};
}

/// Returns the least quota of a group and its parents, up to `root`.  In a container the root may
/// be the group itself, with a name that is valid outside.
template <class Read>
int least(const path& root, const std::string& group, const Read& read) {
  int cores = no_core_quota;
  for (path below = path(group).relative_path();; below = below.parent_path()) {
    const Quota quota = read(root / below);
    if (quota.busy > 0 && quota.period > 0)
      cores = std::min(cores, std::max(1, static_cast<int>(quota.busy / quota.period)));
    if (below.empty()) return cores;
  }
}

bool has_cpu(const std::string& controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

}  // namespace

int core_quota() {
  const path mounted = "/sys/fs/cgroup";
  std::ifstream groups("/proc/self/cgroup");  // lines have the form "number:controllers:group"
  int cores = no_core_quota;
  for (std::string line; std::getline(groups, line);) {
    std::istringstream parts(line);
    std::string number, controllers, group;
    std::getline(parts, number, ':');
    std::getline(parts, controllers, ':');
    std::getline(parts, group);
    if (controllers.empty()) cores = std::min(cores, least(mounted, group, version_2));
    if (has_cpu(controllers)) cores = std::min(cores, least(mounted / "cpu", group, version_1));
  }
  return cores;
}

}  // namespace lockstep
