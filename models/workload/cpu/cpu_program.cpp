#include "models/workload/cpu/cpu_program.hpp"

#include "core/parameters/document.hpp"
#include "core/parameters/idle_keys.hpp"
#include "core/parameters/suggest.hpp"
#include "models/workload/cpu/cpu_profiles.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

namespace {

CpuTraffic traffic_of(const Node& profile) {
  std::vector<std::string> names;
  for (const CpuProfile& known : cpu_profiles()) {
    if (profile.text() == known.name) return known.traffic;
    names.emplace_back(known.name);
  }
  throw profile.error("no profile \"" + profile.text() + "\"", suggest(profile.text(), names));
}

/// Fills in the keys that the tenant lacks from its profile.
void complete(CpuTraffic& traffic, const CpuTraffic& profile) {
  const auto take = [&](double CpuTraffic::*value) {
    if (traffic.*value == CpuKeys::of_profile) traffic.*value = profile.*value;
  };
  take(&CpuTraffic::misses);
  take(&CpuTraffic::row_locality);
  take(&CpuTraffic::bank_parallelism);
  take(&CpuTraffic::write_share);
}

}  // namespace

CpuProgram read_cpu_program(const Node& node) {
  if (!node.is_map())
    throw node.error("needs a map", "write cpu: {profile: NAME} or cpu: {trace: FILE}");
  CpuProgram program;
  program.where = node.where();
  CpuKeys& keys = program;
  schema_of<CpuKeys>().read(node, &keys);
  for (const IdleKey& key : idle_keys(schema_of<CpuKeys>(), &keys, node))
    throw key.node.error("does nothing: only " + key.when, "leave it out");
  if (program.memory.count() % cpu_line_bytes != 0)
    throw node.find("memory").error("is no multiple of a line of 64 bytes",
                                    "write a size such as 64MiB");
  if (!program.profile.empty()) {
    complete(program, traffic_of(node.find("profile")));
  } else {
    const Node trace = node.find("trace");
    program.trace_file = resolve_file_name(trace);
    require_file(program.trace_file, trace.where());
    read_cpu_trace(program.trace_file, trace.where(), program);
  }
  return program;
}

}  // namespace lockstep
