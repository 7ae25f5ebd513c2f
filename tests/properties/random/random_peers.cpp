#include "tests/properties/random/random_peers.hpp"

#include <random>
#include <sstream>

#include "models/driver/peer_policy/peer_policy.hpp"
#include "tests/properties/random/random_paging.hpp"
#include "tests/properties/random/random_program.hpp"
#include "tests/properties/random/random_statements.hpp"

namespace lockstep::testing {
namespace {

using Random = std::mt19937_64;

/// Adds `gpu:` to device buffers and launches.  A kernel waits for the one before in its stream.
std::string spread(const std::string& workload, unsigned gpus, Random& random) {
  std::istringstream lines(workload);
  std::string text, line, last;
  while (std::getline(lines, line)) {
    const std::string gpu = ", gpu: " + number(random() % gpus);
    if (const auto at = line.find(", memory: device"); at != line.npos) {
      line.insert(at, gpu);
    } else if (line.find("- launch: {kernel: ") != line.npos) {
      const auto begin = line.find("kernel: ");
      const std::string kernel = line.substr(begin, line.find(',', begin) - begin);
      if (!last.empty() && kernel != last) text += "  - synchronize\n";
      last = kernel;
      line.insert(line.find(", grid:"), gpu);
    }
    text += line + "\n";
  }
  return text;
}

void replace(std::string& line, const std::string& from, const std::string& to) {
  if (const auto at = line.find(from); at != line.npos) line.replace(at, from.size(), to);
}

/// The module without its variable, which would be on each GPU: constants instead.
std::string without_variable(const std::string& ptx) {
  std::istringstream lines(ptx);
  std::string text, line;
  bool follows = false;  // a load of the variable
  while (std::getline(lines, line)) {
    if (line.starts_with(".global ")) continue;
    if (line.find("mov.u64 %y2, words") != line.npos) follows = true;
    replace(line, "mov.u64 %y2, words", "mov.u64 %y2, table");
    if (follows && line.find("[%y1]") != line.npos) {
      replace(line, "ld.global.u32", "ld.const.u32");
      follows = false;
    }
    text += line + "\n";
  }
  return text;
}

std::string random_fabric(Random& random) {
  static const char* const rates[] = {"1GB/s", "20GB/s", "300GB/s"};
  static const char* const latencies[] = {"20ns", "130ns", "700ns"};
  static const char* const tags[] = {"1", "3", "64", "1024"};
  static const char* const ports[] = {"switch", "direct", "switch, links: 12", "direct"};
  return std::string("{name: random, kind: ") + ports[random() % 4] +
         ", rate: " + rates[random() % 3] + ", latency: " + latencies[random() % 3] +
         ", tags: " + tags[random() % 4] + "}";
}

}  // namespace

RandomPeers::RandomPeers(std::uint64_t seed) {
  Random random(seed * 0x9e3779b97f4a7c15 + 21);
  gpus = 2 + seed % 2;
  const RandomProgram program(seed);
  ptx = without_variable(program.ptx());
  workload = spread(program.workload(), gpus, random);
  tenant = gpus == 2 ? "gpus: [1, 0]" : "gpus: [0, 2, 1]";
  settings = random_paged_machine(seed, 6);
  for (std::string& setting : settings) {  // mosaic moves pages that GPUs know of each other
    if (setting.starts_with("policies.page_manager=") && setting.find("mosaic") != setting.npos)
      setting = "policies.page_manager=mixed-pages";
    if (setting.starts_with("gpu.memory.capacity=")) setting = "gpu.memory.capacity=24MiB";
  }
  settings.push_back("gpus=" + number(gpus));
  settings.push_back("fabric=" + random_fabric(random));
  const auto& rows = peer_policy_registry().rows();
  settings.push_back("policies.peer_policy.name=" + rows[random() % rows.size()].name);
  settings.push_back("simulation.record_faults=true");
}

}  // namespace lockstep::testing
