#include "tests/properties/random/random_machine.hpp"

#include <initializer_list>
#include <random>

namespace lockstep::testing {
namespace {

class Settings {
 public:
  explicit Settings(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15 + 1) {}

  std::uint64_t pick(std::initializer_list<std::uint64_t> choices) {
    return choices.begin()[random_() % choices.size()];
  }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + random_() % (high - low + 1);
  }
  void set(const std::string& key, const std::string& value) { list_.push_back(key + "=" + value); }
  void set(const std::string& key, std::uint64_t value) { set(key, std::to_string(value)); }
  std::string one_of(std::initializer_list<const char*> words) {
    return words.begin()[random_() % words.size()];
  }
  void choose(const std::string& key, std::initializer_list<const char*> words) {
    set(key, one_of(words));
  }
  std::vector<std::string> list() { return std::move(list_); }

 private:
  std::mt19937_64 random_;
  std::vector<std::string> list_;
};

/// Periods and profiles so short that small kernels see many.
void set_cache_policy(Settings& s) {
  const std::string policy = s.one_of(
      {"lru", "lru", "{name: medic, resample: 1500, profile: 3}",
       "{name: medic, resample: 4000, profile: 6, reuse: true, insertion: false}",
       "{name: medic, bypass: false}",
       "{name: medic, resample: 3000, profile: 3, grids: true, order: stack, arriving: hit, "
       "judged_by: loads, bypasses_miss: true, while_profiled: plain}",
       "{name: medic, resample: 2000, profile: 5, order: stack, while_profiled: balanced}",
       "{name: medic, resample: 2000, profile: 4, walks: true, walk_levels: {epoch: 1500}}",
       "{name: random, period: 1000}", "{name: pc-bypass, period: 2000, profile: 3, entries: 4}",
       "{name: pcal, tokens: 1, period: 2000}", "{name: eaf, recent: 3}",
       "{name: mask, epoch: 1500, least: 3, probe: 4}"});
  s.set("policies.cache_policy", policy);
  // Lines come in at a place of theirs, which `random` has not.
  const bool orders =
      policy.find("eaf") != std::string::npos || policy.find("stack") != std::string::npos;
  s.set("policies.replacement", s.one_of({"lru", "srrip", "{name: drrip, leaders: 4, bimodal: 3}",
                                          orders ? "{name: srrip, bits: 1}" : "random"}));
  if (policy.find("medic") != std::string::npos && s.pick({0, 1}) != 0)
    s.choose("policies.dram_scheduler",
             {"medic", "{name: medic, high: 4, open_rows: true, age_limit: 0}",
              "{name: medic, high: 2, first: bank, open_rows: true, writes: false}"});
}

void set_latencies(Settings& s) {
  s.set("gpu.noc.request_latency", s.pick({1, 5, 60, 140, 400}));
  s.set("gpu.noc.response_latency", s.pick({1, 20, 90}));
  s.set("gpu.noc.credits", s.pick({1, 2, 3, 8, 64}));
  s.set("gpu.dispatch.link_latency", s.pick({1, 10, 45}));
  s.set("gpu.dispatch.block_interval", s.pick({1, 7, 100}));
  s.set("gpu.sm.port.queue", s.pick({1, 2, 8, 64}));
  s.set("gpu.sm.port.injection_latency", s.pick({0, 1, 10}));
  s.set("gpu.sm.memory_queue", s.pick({1, 2, 8}));
  s.set("gpu.sm.memory_interval", s.pick({1, 2, 9}));
  s.set("gpu.sm.operand_read", s.pick({0, 2, 5}));
  s.set("gpu.sm.constant_latency", s.pick({1, 26, 100}));
  s.set("gpu.sm.barrier_latency", s.pick({1, 8, 50}));
  s.set("gpu.sm.latency.integer", s.pick({1, 2, 30}));
  s.set("gpu.sm.latency.control", s.pick({1, 4, 20}));
  s.set("gpu.sm.latency.predicate", s.pick({1, 4, 25}));
  s.set("gpu.sm.latency.shuffle", s.pick({1, 20}));
  s.set("gpu.sm.l1.mshrs", s.pick({1, 2, 5, 256}));
  s.set("gpu.sm.l1.merges", s.pick({1, 2, 8}));
  s.set("gpu.sm.l1.hit_latency", s.pick({1, 5, 28, 100}));
  s.set("gpu.sm.l1.fill_latency", s.pick({1, 8, 60}));
  s.set("gpu.memory.l2.latency", s.pick({1, 10, 50}));
  s.set("gpu.memory.l2.mshrs", s.pick({4, 8, 64}));
  s.set("gpu.memory.l2.merges", s.pick({1, 2, 4}));
  s.set("gpu.memory.l2.ports", s.pick({1, 2}));
  s.set("gpu.memory.l2.bank_queue", s.pick({1, 2, 8}));
  s.set("gpu.memory.l2.fill_queue", s.pick({1, 2, 8}));
  s.set("gpu.memory.l2.response_queue", s.pick({1, 2, 8}));
  s.set("gpu.memory.l2.response_rate", s.pick({1, 2}));
  s.set("gpu.memory.dram.queue", s.pick({1, 2, 32}));
  s.set("gpu.memory.dram.path_latency", s.pick({1, 60, 200}));
  s.choose("policies.dram_scheduler",
           {"fcfs", "fr-fcfs", "cfr-fcfs", "par-bs", "{name: atlas, quantum: 3000, starve: 500}",
            "{name: tcm, quantum: 3000, shuffle_interval: 100}", "ctcm"});
  if (s.pick({0, 0, 0, 1}) != 0) {
    s.set("gpu.memory.dram.write_queue", 0);
    s.choose("policies.dram_scheduler",
             {"sms", "{name: sms, bypass_below: 2, gpu_fifo: 2, bank_fifo: 1}"});
  }
  set_cache_policy(s);
  s.choose("policies.warp_scheduler", {"lrr", "gto", "two-level"});
  const std::uint64_t places_past = s.pick({0, 0, 1, 8});
  s.set("gpu.memory.l2.bypass_queue", places_past);
  if (places_past > 0) s.choose("gpu.memory.l2.bypass_path", {"shared", "own"});
}

void set_sizes(Settings& s) {
  s.set("gpu.sm.count", s.between(1, 4));
  const std::uint64_t warps = s.pick({4, 5, 8, 16, 64});
  s.set("gpu.sm.warps", warps);
  s.set("gpu.sm.threads", 32 * warps);
  s.set("gpu.sm.blocks", s.pick({1, 2, 3, 16}));
  s.set("gpu.sm.schedulers", s.pick({1, 2, 4}));
  s.set("gpu.sm.issue_width", s.pick({1, 1, 2}));
  s.choose("gpu.sm.sub_cores", {"true", "false"});
  s.set("gpu.sm.l1.sets", s.pick({1, 2, 4}));
  s.set("gpu.sm.l1.lines_per_cycle", s.pick({1, 2, 4}));
  s.choose("gpu.sm.l1.allocation", {"on-miss", "on-fill"});
  s.choose("gpu.sm.l1.fetch", {"sectors", "sectors", "line"});
  s.choose("gpu.sm.l1.global_writes", {"write-through", "write-evict"});
  s.choose("gpu.sm.l1.caches_global_loads", {"true", "true", "true", "false"});
  if (s.between(0, 2) > 0) {
    s.set("gpu.sm.l1.unified_bytes", "0KiB");
    s.set("gpu.sm.l1.bytes", std::to_string(s.pick({1, 1, 2, 4, 16})) + "KiB");
    s.set("gpu.sm.shared.bytes", "32KiB");
    s.set("gpu.sm.shared.bytes_per_block", "32KiB");
  }
  s.set("gpu.memory.partitions", s.between(1, 4));
  s.set("gpu.memory.capacity", "12MiB");
  s.choose("gpu.noc.mapping", {"plain", "hashed", "frame"});
  const std::uint64_t banks = s.pick({1, 2, 4}), ways = s.pick({1, 2, 4, 8});
  const std::uint64_t least = 1024 / (128 * banks * ways) + 1;
  const std::uint64_t sets = least <= 1 ? s.pick({1, 2, 8}) : s.pick({8, 16});
  s.set("gpu.memory.l2.slices", s.pick({1, 2}));
  s.set("gpu.memory.l2.banks", banks);
  s.set("gpu.memory.l2.ways", ways);
  s.set("gpu.memory.l2.size", std::to_string(banks * ways * sets * 128) + "B");
  s.choose("gpu.memory.l2.write", {"back", "through"});
  s.set("gpu.memory.l2.bank_width", s.pick({32, 64, 128}));
}

/// A log of so few bytes makes warps wait for it; it holds any instruction of the random programs.
void set_exceptions(Settings& s) {
  s.choose("gpu.sm.source_release", {"issue", "operand-read"});
  const std::string scheme = s.one_of({"stall-on-fault", "stall-on-fault", "warp-disable-commit",
                                       "warp-disable-last-check", "replay-queue", "operand-log"});
  s.set("policies.exception_scheme.name", scheme);
  const bool queues = scheme == "replay-queue" || scheme == "operand-log";
  if (queues) s.set("policies.exception_scheme.entries", s.pick({0, 0, 1, 3}));
  if (scheme == "operand-log")
    s.set("policies.exception_scheme.bytes", std::to_string(s.pick({2, 8, 16})) + "KiB");
}

/// What some machines do and others do not, drawn apart so that all else stays as it was drawn.
void set_switches(Settings& s) {
  s.choose("gpu.sm.expansions", {"slots", "sequence"});
  s.choose("gpu.sm.multiply_unit", {"integer", "fp32"});
  s.choose("gpu.sm.unroll_loops", {"true", "false"});
  s.choose("gpu.dispatch.launch_overlap", {"false", "true"});
  s.set("gpu.sm.block_start", s.pick({1, 1, 30, 240}));
  s.choose("gpu.sm.l1.set_index", {"folded", "scattered"});
  s.choose("gpu.sm.l1.banked", {"false", "true"});
  s.choose("gpu.memory.l2.fetch", {"sectors", "line"});
  s.set("gpu.memory.l2.dirty_ways", s.pick({0, 0, 1, 2}));
  s.set("gpu.memory.dram.rfc_bank", s.pick({0, 0, 20}));
  s.set("gpu.memory.dram.channels", s.pick({1, 1, 2, 4}));
  s.choose("gpu.sm.instruction_cache.l0_bytes", {"0B", "512B", "2KiB"});
  s.set("gpu.sm.instruction_cache.ahead", s.pick({0, 1, 8}));
  s.choose("gpu.sm.constant_cache.l0_bytes", {"0B", "256B", "2KiB"});
  s.choose("gpu.vm.gpc_tlb.enabled", {"false", "true"});
  s.set("gpu.vm.gpc_tlb.entries", s.pick({2, 16}));
  s.set("gpu.vm.gpc_tlb.large_entries", s.pick({0, 1, 16}));
  const std::uint64_t large = s.pick({0, 0, 1});
  s.choose("gpu.sm.stores_drain_with", {"block", "grid"});
  s.set("gpu.noc.halves.crossing_latency", s.pick({0, 0, 1, 35}));
  s.set("gpu.noc.halves.crossing_rate", s.pick({1, 2, 8}));
  s.choose("gpu.sm.l1.recency", {"hits", "tags"});
  s.choose("gpu.sm.l1.tag_banks", {"false", "true"});
  s.choose("gpu.sm.l1.allocates_stores", {"false", "false", "true"});
  s.set("gpu.sm.constant_interval", s.pick({0, 0, 2, 7}));
  s.choose("gpu.memory.dram.turnaround", {"channel", "channel", "bank"});
  if (large == 0) return;
  s.choose("gpu.vm.device_pages", {"large", "shared"});
  s.set("gpu.memory.capacity", "96MiB");  // each buffer takes 2 MiB
}

}  // namespace

std::vector<std::string> random_machine(std::uint64_t seed) {
  Settings settings(seed);
  set_sizes(settings);
  set_latencies(settings);
  set_exceptions(settings);
  Settings switches(~seed);
  set_switches(switches);
  std::vector<std::string> all = settings.list();
  for (const std::string& setting : switches.list()) all.push_back(setting);
  return all;
}

std::vector<std::string> random_latencies(std::uint64_t seed) {
  Settings settings(seed);
  set_latencies(settings);
  set_exceptions(settings);
  return settings.list();
}

}  // namespace lockstep::testing
