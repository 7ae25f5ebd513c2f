#include "tests/properties/random_paging.hpp"

#include <random>
#include <sstream>

#include "tests/properties/random_machine.hpp"

namespace lockstep::testing {

namespace {

class Chooser {
 public:
  explicit Chooser(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15 + 77) {}

  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + random_() % (high - low + 1);
  }
  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  std::string of(std::initializer_list<const char*> words) {
    return words.begin()[random_() % words.size()];
  }

 private:
  std::mt19937_64 random_;
};

/// A step that changes no content.
std::string harmless_step(Chooser& choose, const std::string& buffer) {
  switch (choose.between(0, 6)) {
    case 0:
      return "  - synchronize\n";
    case 1:
      return "  - read: " + buffer + "\n";
    case 2:
      return "  - write: " + buffer + "\n";
    case 3:
      return "  - prefetch: {buffer: " + buffer + ", to: " + choose.of({"gpu", "host"}) +
             ", stream: " + choose.of({"0", "1", "2"}) + "}\n";
    case 4:
      return "  - advise: {buffer: " + buffer +
             ", preferred: " + choose.of({"gpu", "host", "none", "none"}) + "}\n";
    case 5:
      return "  - advise: {buffer: " + buffer + ", read_mostly: " + choose.of({"true", "false"}) +
             "}\n";
    default:
      return "  - delay: " + std::to_string(choose.between(1, 30)) + "us\n";
  }
}

}  // namespace

std::vector<std::string> random_paged_machine(std::uint64_t seed, unsigned tenants) {
  Chooser choose(seed);
  std::vector<std::string> settings = random_machine(seed);
  const auto set = [&](const std::string& key, const std::string& value) {
    settings.push_back(key + "=" + value);
  };
  const auto number = [&](const std::string& key, std::uint64_t low, std::uint64_t high) {
    set(key, std::to_string(choose.between(low, high)));
  };
  number("gpu.vm.link_latency", 1, 60);
  number("gpu.vm.walkers", 1, 8);
  set("gpu.vm.walk_latency", choose.of({"0", "0", "1", "100"}));
  number("gpu.vm.l1_tlb.entries", 1, 16);
  set("gpu.vm.l1_tlb.ways", choose.of({"0", "1"}));
  number("gpu.vm.l1_tlb.mshrs", 1, 8);
  number("gpu.vm.l2_tlb.entries", 1, 16);
  set("gpu.vm.l2_tlb.ways", choose.of({"0", "1"}));
  number("gpu.vm.l2_tlb.mshrs", 1, 8);
  number("gpu.vm.l2_tlb.ports", 1, 2);
  number("gpu.vm.walk_cache.entries", 1, 16);
  set("gpu.vm.shootdown", choose.of({"whole", "entry", "none"}));
  set("gpu.vm.shootdown_scope", choose.of({"tenant", "all"}));
  set("policies.translation", choose.of({"shared-tlb", "page-walk-cache", "ideal"}));
  set("policies.prefetcher", choose.of({"none", "random", "sequential-local", "tree"}));
  set("policies.eviction", choose.of({"lru", "random", "sequential-local", "tree"}));
  set("policies.fault_handling.name", "host");
  set("policies.fault_handling.replay", choose.of({"listed", "broadcast", "block-tlb"}));
  set("policies.fault_handling.cost_model", choose.of({"uvmsmart", "tanasic", "linear"}));
  set("policies.fault_handling.batch", choose.of({"per-page", "per-block", "per-batch"}));
  set("policies.fault_handling.split", choose.of({"upto", "isolate"}));
  set("policies.fault_handling.handling", choose.of({"1us", "5us"}));
  set("host.link_latency", choose.of({"20ns", "400ns"}));
  // Page tables, the modules' variables and the first page; the rest is for managed pages.
  const std::uint64_t fixed = 1 + 14ull * tenants;
  const std::uint64_t pages = fixed + (choose.one_in(3) ? 500 : choose.between(2, 24));
  set("gpu.memory.capacity", std::to_string((pages + 11) / 12 * 12 * 4) + "KiB");
  set("simulation.stop_at", "2000ms");
  set("simulation.epoch", "2us");
  return settings;
}

std::string with_managed_memory(const std::string& workload, std::uint64_t seed) {
  Chooser choose(seed + 1000);
  std::istringstream lines(workload);
  std::string text, line;
  std::vector<std::string> managed;
  while (std::getline(lines, line)) {
    if (line.find("- copy:") != std::string::npos) continue;
    if (const auto at = line.find("memory: device"); at != std::string::npos) {
      line.replace(at, 14, "memory: managed");
    }
    if (line.find("memory: managed") != std::string::npos) {
      managed.push_back(line.substr(2, line.find(':') - 2));
    }
    text += line + "\n";
    if (line.find("- launch:") == std::string::npos || managed.empty()) continue;
    for (std::uint64_t n = choose.between(0, 3); n > 0; --n) {
      text += harmless_step(choose, managed[choose.between(0, managed.size() - 1)]);
    }
  }
  return text;
}

}  // namespace lockstep::testing
