#include "jobs/supervise/memory_left.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace lockstep {
namespace {

using std::filesystem::path;

constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();

std::uint64_t number_in(const path& file, std::uint64_t otherwise) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  return in >> value ? value : otherwise;  // "max" is no number
}

std::uint64_t available() {
  std::ifstream lines("/proc/meminfo");
  std::string key, unit;
  for (std::uint64_t kib = 0; lines >> key >> kib; std::getline(lines, unit))
    if (key == "MemAvailable:") return kib * 1024;
  return any;
}

std::uint64_t left_of(std::uint64_t limit, std::uint64_t used) {
  return limit == any ? any : limit - std::min(limit, used);
}

}  // namespace

std::uint64_t memory_left() {
  std::uint64_t least = available();
  std::ifstream groups("/proc/self/cgroup");  // lines have the form "number:controllers:group"
  for (std::string line; std::getline(groups, line);) {
    const std::size_t colon = line.find("::/");
    if (colon == std::string::npos) continue;
    for (path below = line.substr(colon + 3);; below = below.parent_path()) {
      const path group = path("/sys/fs/cgroup") / below;
      least = std::min(least, left_of(number_in(group / "memory.max", any),
                                      number_in(group / "memory.current", 0)));
      if (below.empty()) break;
    }
  }
  const path first_version = "/sys/fs/cgroup/memory";
  return std::min(least, left_of(number_in(first_version / "memory.limit_in_bytes", any),
                                 number_in(first_version / "memory.usage_in_bytes", 0)));
}

}  // namespace lockstep
