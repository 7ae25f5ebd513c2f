#include "models/workload/cpu/cpu_program.hpp"

#include "core/parameters/document.hpp"
#include "core/parameters/suggest.hpp"
#include "models/workload/cpu/cpu_profiles.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

namespace {

constexpr std::uint64_t default_memory = std::uint64_t{16} << 20;

CpuTraffic traffic_of(const Node& profile) {
  std::vector<std::string> names;
  for (const CpuProfile& known : cpu_profiles()) {
    if (profile.text() == known.name) return known.traffic;
    names.emplace_back(known.name);
  }
  throw profile.error("no profile \"" + profile.text() + "\"", suggest(profile.text(), names));
}

void read_number(const Node& map, const char* key, double low, double high, double& value) {
  const Node node = map.find(key);
  if (!node.exists()) return;
  value = node.real();
  if (value >= low && value <= high) return;
  const auto text = [](double bound) {
    std::string digits = std::to_string(bound);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits;
  };
  throw node.error("is not between " + text(low) + " and " + text(high), "write a number of these");
}

void read_traffic(const Node& node, CpuTraffic& traffic) {
  read_number(node, "misses", 0.001, 500, traffic.misses);
  read_number(node, "row_locality", 0, 1, traffic.row_locality);
  read_number(node, "bank_parallelism", 1, 64, traffic.bank_parallelism);
  read_number(node, "write_share", 0, 0.9, traffic.write_share);
}

}  // namespace

CpuProgram read_cpu_program(const Node& node) {
  if (!node.is_map())
    throw node.error("needs a map", "write cpu: {profile: NAME} or cpu: {trace: FILE}");
  CpuProgram program;
  program.where = node.where();
  program.memory_bytes = default_memory;
  if (const Node memory = node.find("memory"); memory.exists()) {
    program.memory_bytes = memory.bytes().count();
    if (program.memory_bytes < 4096 || program.memory_bytes % cpu_line_bytes != 0)
      throw memory.error("is no multiple of a line of 64 bytes, of 4KiB or more",
                         "write a size such as 64MiB");
  }
  const Node profile = node.find("profile"), trace = node.find("trace");
  if (profile.exists() == trace.exists())
    throw node.error(
        profile.exists() ? "has both a profile and a trace" : "has neither a profile nor a trace",
        "give it one of them");
  if (profile.exists()) {
    program.profile = profile.text();
    program.traffic = traffic_of(profile);
    read_traffic(node, program.traffic);
  } else {
    program.trace_file = resolve_file_name(trace);
    require_file(program.trace_file, trace.where());
    read_cpu_trace(program.trace_file, trace.where(), program);
  }
  node.reject_unknown_keys();
  return program;
}

}  // namespace lockstep
