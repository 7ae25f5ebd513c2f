#include "tests/properties/random/random_paging.hpp"

#include <algorithm>
#include <random>
#include <sstream>

#include "models/driver/eviction/eviction.hpp"
#include "models/driver/managed/fault_handling/fault_handling.hpp"
#include "models/driver/page_manager/page_manager.hpp"
#include "models/driver/prefetch/prefetcher.hpp"
#include "tests/harness/policy_named.hpp"
#include "tests/properties/random/random_machine.hpp"

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
  std::string of(const PolicyList& policies) { return policies[random_() % policies.size()].name; }

 private:
  std::mt19937_64 random_;
};

class PagingSettings {
 public:
  PagingSettings(Chooser& choose, std::vector<std::string> list)
      : choose_(choose), list_(std::move(list)) {}

  void set(const std::string& key, const std::string& value) { list_.push_back(key + "=" + value); }
  void number(const std::string& key, std::uint64_t low, std::uint64_t high) {
    set(key, std::to_string(choose_.between(low, high)));
  }
  void any(const std::string& key, std::initializer_list<const char*> words) {
    set(key, choose_.of(words));
  }
  bool has(const std::string& setting) const {
    return std::find(list_.begin(), list_.end(), setting) != list_.end();
  }
  std::vector<std::string> list() { return std::move(list_); }

 private:
  Chooser& choose_;
  std::vector<std::string> list_;
};

void set_translation(PagingSettings& s) {
  s.number("gpu.vm.link_latency", 1, 60);
  s.number("gpu.vm.walkers", 1, 8);
  s.any("gpu.vm.far_fault_mshrs", {"0", "0", "1", "3"});
  s.any("gpu.vm.fault_granule", {"4KiB", "64KiB", "2MiB"});
  s.any("gpu.vm.walk_latency", {"0", "0", "1", "100"});
  s.any("gpu.vm.memory_latency", {"0", "0", "7"});
  s.number("gpu.vm.l1_tlb.entries", 1, 16);
  s.any("gpu.vm.l1_tlb.ways", {"0", "1"});
  s.number("gpu.vm.l1_tlb.mshrs", 1, 8);
  s.number("gpu.vm.l2_tlb.entries", 1, 16);
  s.any("gpu.vm.l2_tlb.ways", {"0", "1"});
  s.number("gpu.vm.l2_tlb.mshrs", 1, 8);
  s.number("gpu.vm.l2_tlb.ports", 1, 2);
  s.any("gpu.vm.l2_tlb.together", {"false", "true"});
  s.number("gpu.vm.walk_cache.entries", 1, 16);
  s.any("gpu.vm.shootdown", {"whole", "entry", "none"});
  s.any("gpu.vm.shootdown_scope", {"tenant", "all"});
  s.any("policies.translation", {"shared-tlb", "page-walk-cache", "ideal"});
  if (!s.has("policies.translation=shared-tlb")) return;
  s.any("policies.tlb_fill", {"lru", "{name: mask, epoch: 1500, entries: 1, large_entries: 1}",
                              "{name: mask, epoch: 1200, token_rule: hill-climb}",
                              "{name: mask, epoch: 4000, tokens: false}"});
  if (!s.has("policies.tlb_fill=lru"))
    s.any("policies.dram_scheduler",
          {"mask", "{name: mask, golden: 1, silver_share: 0}",
           "{name: mask, first: bank, open_rows: true, writes: false, age_limit: 0}", "fcfs"});
}

/// With local handling also on a machine whose SMs stall, which only tests build.
void set_fault_handling(PagingSettings& s, const std::string& name) {
  s.set("policies.fault_handling.name", name);
  if (name == "local") {
    s.any("policies.fault_handling.handler", {"0us", "500ns", "3us", "20us"});
    s.number("policies.fault_handling.handlers_per_sm", 0, 3);
    s.number("policies.fault_handling.pool", 1, 4);
  }
  // Only what stalls can stand in a blocked TLB.
  if (s.has("policies.exception_scheme.name=stall-on-fault"))
    s.any("policies.fault_handling.replay", {"listed", "broadcast", "block-tlb"});
  else
    s.any("policies.fault_handling.replay", {"listed", "broadcast"});
  s.any("policies.fault_handling.cost_model", {"uvmsmart", "tanasic", "linear"});
  s.any("policies.fault_handling.batch", {"per-page", "per-block", "per-batch", "all-waiting"});
  s.any("policies.fault_handling.serialize", {"cpu+link", "whole-cost", "none"});
  s.any("policies.fault_handling.split", {"upto", "isolate"});
  s.any("policies.fault_handling.handling", {"1us", "5us"});
  s.any("host.link_latency", {"20ns", "400ns"});
}

/// Contexts take GPU memory beside what is drawn for pages: see MachineBench.
void set_block_switching(PagingSettings& s, Chooser& choose) {
  if (s.has("policies.exception_scheme.name=stall-on-fault") || choose.one_in(3)) return;
  s.set("policies.block_switching.name", "on-fault");
  s.any("policies.block_switching.extra_blocks", {"1", "2", "4"});
  s.any("policies.block_switching.threshold", {"0", "0", "1", "3"});
  s.any("policies.block_switching.context",
        {"occupied", "live", "live-compressed", "live-compressed-block"});
  s.any("policies.block_switching.ideal", {"false", "false", "true"});
  s.any("policies.block_switching.max_wait", {"1us", "3us", "20us"});
}

void set_prefetcher(PagingSettings& s, Chooser& choose) {
  const std::string name = choose.of(prefetcher_policies());
  s.set("policies.prefetcher.name", name);
  if (name == "tree") s.any("policies.prefetcher.threshold", {"0.5", "0.5", "0", "0.9"});
  if (name == "zheng-seq") s.number("policies.prefetcher.pages", 1, 40);
}

/// `plenty`: memory holds all there is, so that nobody needs room that eviction would make.
void set_eviction(PagingSettings& s, Chooser& choose, bool plenty) {
  const PolicyList& policies = eviction_policies();
  const PolicyInfo* policy = nullptr;
  do {
    policy = &policies[choose.between(0, policies.size() - 1)];
  } while (!plenty && !make_eviction(PolicyChoice(*policy))->evicts());
  s.set("policies.eviction.name", policy->name);
  if (policy->parameters == nullptr) return;
  for (const ParameterField& field : policy->parameters->fields())
    if (!field.choices.empty())
      s.set("policies.eviction." + field.key,
            field.choices[choose.between(0, field.choices.size() - 1)]);
}

/// Page tables, the modules' variables and the first page; the rest is for managed pages.
void set_memory(PagingSettings& s, Chooser& choose, unsigned tenants, bool plenty, bool local) {
  const bool mixed = choose.one_in(2);
  const std::string manager = mixed   ? "mixed-pages"
                              : local ? "base-pages"
                                      : choose.of(page_manager_policies());
  // SMs that squash must not stand still.
  s.set("policies.page_manager", manager == "mosaic" ? "{name: mosaic, stall: false}"
                                 : manager == "base-pages" && choose.one_in(2)
                                     ? "{name: base-pages, frames: random}"
                                     : manager);
  const PolicyChoice choice = policy_named(page_manager_policies(), manager);
  const bool large = make_page_manager(choice, {})->capacity_unit() > 1;
  if (manager == "mosaic") s.set("gpu.noc.mapping", "frame");
  const std::uint64_t fixed = large ? 1 + tenants : 1 + 14ull * tenants;
  const std::uint64_t most = large ? 8ull * tenants : 500;
  const std::uint64_t pages = fixed +
                              (plenty ? most : choose.between(large ? 1 : 2, large ? 4 : 24)) +
                              (local ? 4 * 16 : 0);
  // So that it divides into any number of partitions.
  const std::uint64_t kib = large ? (pages + 2) / 3 * 3 * 2048 : (pages + 11) / 12 * 12 * 4;
  s.set("gpu.memory.capacity", std::to_string(kib) + "KiB");
  s.set("gpu.vm.device_pages", "fitting");
}

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
  PagingSettings settings(choose, random_machine(seed));
  const bool plenty = choose.one_in(3);
  set_translation(settings);
  const std::string handling = Chooser(seed + 5).of(fault_handling_policies());
  set_fault_handling(settings, handling);
  set_prefetcher(settings, choose);
  set_eviction(settings, choose, plenty);
  set_memory(settings, choose, tenants, plenty, handling == "local");
  settings.any("gpu.vm.walk_cache.ways", {"0", "1"});
  settings.any("gpu.vm.l2_tlb.enabled", {"true", "true", "true", "false"});
  settings.any("policies.fault_handling.order", {"fifo", "round-robin", "priority"});
  settings.any("host.link_order", {"fifo", "round-robin", "priority"});
  settings.any("host.link_preempts_prefetch", {"true", "false"});
  settings.set("simulation.stop_at", "2000ms");
  settings.set("simulation.epoch", "2us");
  set_block_switching(settings, choose);
  return settings.list();
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
