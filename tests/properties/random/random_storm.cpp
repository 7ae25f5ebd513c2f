#include "tests/properties/random/random_storm.hpp"

#include <random>

#include "models/driver/peer_policy/peer_policy.hpp"
#include "tests/harness/policy_named.hpp"
#include "tests/properties/random/random_paging.hpp"
#include "tests/properties/random/random_statements.hpp"

namespace lockstep::testing {
namespace {

constexpr const char* kernels = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry storm(.param .u64 words, .param .u64 totals, .param .u64 table,
                      .param .u32 me, .param .u32 gpus, .param .u32 rounds)
{
  .reg .pred %p<3>;
  .reg .b32 %r<20>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [words];
  ld.param.u64 %d2, [totals];
  ld.param.u64 %d3, [table];
  ld.param.u32 %r1, [me];
  ld.param.u32 %r2, [gpus];
  ld.param.u32 %r3, [rounds];
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %ctaid.x;
  mov.u32 %r6, %tid.x;
  mad.lo.u32 %r7, %r5, %r4, %r6;
  mad.lo.u32 %r8, %r7, %r2, %r1;
  mul.wide.u32 %d4, %r8, 4;
  add.u64 %d1, %d1, %d4;
  mul.lo.u32 %r9, %r8, 7;
again:
  ld.volatile.global.u32 %r10, [%d1];
  and.b32 %r11, %r9, 2047;
  mul.wide.u32 %d5, %r11, 4;
  add.u64 %d5, %d3, %d5;
  ld.global.u32 %r12, [%d5];
  mad.lo.u32 %r13, %r10, 3, %r12;
  st.volatile.global.u32 [%d1], %r13;
  and.b32 %r14, %r7, 511;
  mul.wide.u32 %d6, %r14, 4;
  add.u64 %d6, %d2, %d6;
  and.b32 %r15, %r10, 1;
  add.u32 %r15, %r15, 1;
  red.global.add.u32 [%d6], %r15;
  add.u32 %r9, %r9, 129;
  add.u32 %r7, %r7, 1;
  sub.u32 %r3, %r3, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra again;
  ret;
}
.visible .entry change(.param .u64 table, .param .u32 factor)
{
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [table];
  ld.param.u32 %r1, [factor];
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r3, %r2, %r4;
  mul.wide.u32 %d2, %r5, 4;
  add.u64 %d1, %d1, %d2;
  ld.global.u32 %r6, [%d1];
  mad.lo.u32 %r7, %r6, %r1, 5;
  st.global.u32 [%d1], %r7;
  ret;
}
)";

using Random = std::mt19937_64;

/// A step between two storms.
std::string between(Random& random, unsigned gpus) {
  switch (random() % 5) {
    case 0:
      return "  - read: table\n";
    case 1:
      return "  - write: words\n";
    case 2:
      return "  - read: totals\n";
    default:
      return "  - launch: {kernel: change, gpu: " + number(random() % gpus) +
             ", grid: [32], block: [64], arguments: [table, " + number(random() % 9) +
             "]}\n  - synchronize\n";
  }
}

}  // namespace

RandomStorm::RandomStorm(std::uint64_t seed) {
  ptx = kernels;
  Random random(seed * 0x2545f4914f6cdd1d + 9);
  gpus = 2 + seed % 2;
  const unsigned block = 32u << random() % 2, blocks = 1 + random() % 8;
  const std::uint64_t words = std::uint64_t{block} * blocks * gpus;
  workload = "module: kernels.ptx\nbuffers:\n  words: {type: u32, count: " + number(words) +
             ", memory: managed, init: {linear: {start: 1, step: 3}}}\n"
             "  totals: {type: u32, count: 512, memory: managed}\n"
             "  table: {type: u32, count: 2048, memory: managed, init: {linear: {start: 9, step: "
             "2}}}\nprogram:\n";
  for (unsigned storm = 0; storm < 2; ++storm) {
    const std::string rounds = number(1 + random() % 40);
    for (unsigned gpu = 0; gpu < gpus; ++gpu)
      workload += "  - launch: {kernel: storm, gpu: " + number(gpu) + ", grid: [" + number(blocks) +
                  "], block: [" + number(block) + "], arguments: [words, totals, table, " +
                  number(gpu) + ", " + number(gpus) + ", " + rounds + "]}\n";
    workload += "  - synchronize\n" + between(random, gpus);
  }
  tenant = gpus == 2 ? "gpus: [1, 0]" : "gpus: [0, 1, 2]";

  settings = random_paged_machine(seed, 2);
  for (std::string& setting : settings)  // it moves pages, and GPUs would know them of each other
    if (setting.starts_with("policies.page_manager=") && setting.find("mosaic") != setting.npos)
      setting = "policies.page_manager=mixed-pages";
  settings.push_back("gpus=" + number(gpus));
  static const char* const fabrics[] = {
      "", "fabric={name: f, kind: switch, rate: 20GB/s, latency: 130ns}",
      "fabric={name: f, kind: direct, rate: 5GB/s, latency: 40ns, pairs: [{gpus: [0, 1]}]}"};
  const std::uint64_t fabric = random() % 3;
  const auto& rows = peer_policy_registry().rows();
  const std::string policy = rows[random() % rows.size()].name;
  const bool is_whole = fabric == 1 || (fabric == 2 && gpus == 2);
  const bool needs_ways = make_peer_policy(policy_named(peer_policies(), policy))->needs_ways();
  if (fabric != 0 || needs_ways)
    settings.emplace_back(fabrics[needs_ways && !is_whole ? 1 : fabric]);
  settings.push_back("policies.peer_policy.name=" + policy);
  if (policy == "remote" || policy == "grit")
    settings.push_back("policies.peer_policy.threshold=" + number(random() % 3 * 17));
  if (policy == "grit")
    settings.push_back("policies.peer_policy.faults=" + number(1 + random() % 5));
  if (policy == "driver")
    settings.push_back("policies.peer_policy.events=" + number(1 + random() % 3));
  const char* const places[] = {"host", "neighbour", "least-loaded"};
  settings.push_back("policies.peer_policy.spill=" + std::string(places[random() % 3]));
  if (random() % 4 == 0) settings.emplace_back("policies.peer_policy.page_route=host");
  const char* const times[] = {"0us", "300ns", "2us", "30us"};
  settings.push_back("policies.peer_policy.stays=" + std::string(times[random() % 4]));
  settings.push_back("simulation.record_faults=true");
}

}  // namespace lockstep::testing
