#include "tests/properties/random/random_preemption.hpp"

#include <algorithm>
#include <random>

#include "models/sm/parameters/context_kind.hpp"

namespace lockstep::testing {
namespace {

bool has(const std::vector<std::string>& settings, std::string_view setting) {
  return std::find(settings.begin(), settings.end(), setting) != settings.end();
}

/// What blocks take along that leave, of any kind; the same for all that save blocks.
std::string contexts(const std::vector<std::string>& settings, std::mt19937_64& random) {
  const std::string key = "policies.block_switching.context=";
  for (const std::string& setting : settings)
    if (setting.starts_with(key)) return setting.substr(key.size());
  return context_kinds().words[random() % 4];
}

/// Blocks do not leave because of faults.
bool switches_for_preemption_alone(const std::vector<std::string>& settings) {
  return !has(settings, "policies.block_switching.name=on-fault");
}

/// Without traffic, if it may.
bool moves_at_its_share(const std::vector<std::string>& settings, std::mt19937_64& random) {
  return switches_for_preemption_alone(settings) && random() % 3 == 0;
}

}  // namespace

void preempt_at_random(std::vector<std::string>& settings,
                       std::vector<MachineBench::Application>& tenants, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (MachineBench::Application& tenant : tenants)
    tenant.options = "priority: " + std::to_string(random() % 3) +
                     ", latency_bound: " + std::to_string(1 + random() % 5000) + "ns";
  const char* const techniques[] = {"none",    "drain",        "flush",       "switch",
                                    "chimera", "chimera-plus", "dual-kernel", "oracle"};
  const std::string technique = techniques[random() % std::size(techniques)];
  settings.push_back("policies.preemption.name=" + technique);
  if (technique != "none" && technique != "drain" && technique != "switch" && random() % 2 == 0)
    settings.push_back("policies.preemption.idempotence=exact");
  const bool may_be_sliced = technique == "drain" || technique == "switch";
  if (!may_be_sliced || random() % 2 != 0) {
    settings.push_back("policies.sharing=exclusive");
  } else {
    settings.push_back("policies.sharing.name=time-sliced");
    settings.push_back("policies.sharing.slice=" + std::to_string(1 + random() % 40) + "us");
  }
  if (may_be_sliced && random() % 2 == 0)
    settings.push_back("policies.preemption.signal=" + std::to_string(200 + random() % 5000));
  if (technique == "none" || technique == "drain" || technique == "flush") return;
  settings.push_back("policies.preemption.context=" + contexts(settings, random));
  if (moves_at_its_share(settings, random)) settings.push_back("policies.preemption.traffic=share");
  settings.push_back(std::string("policies.preemption.points=") +
                     (random() % 2 == 0 ? "none" : "selective"));
  if ((technique == "dual-kernel" || technique == "oracle") && random() % 2 == 0)
    settings.push_back("policies.preemption.rounds=serial");
  if (technique == "switch" && switches_for_preemption_alone(settings) && random() % 2 == 0)
    settings.push_back("policies.preemption.in_place=true");
}

void share_every_sm(std::vector<std::string>& settings, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  settings.push_back("policies.sharing=smk");
  if (random() % 4 == 0) return;
  settings.push_back("policies.preemption.name=switch");
  settings.push_back("policies.preemption.context=" + contexts(settings, random));
  if (moves_at_its_share(settings, random)) settings.push_back("policies.preemption.traffic=share");
}

void place_blocks(std::vector<std::string>& settings, std::uint64_t seed) {
  const char* const placements[] = {"summed", "packed", "aligned"};
  const bool in_place = has(settings, "policies.preemption.in_place=true");
  settings.push_back(std::string("gpu.sm.placement=") + placements[seed / 3 % (in_place ? 2 : 3)]);
}

std::string cooperative_kernel() {
  return R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry meet(.param .u64 out, .param .u32 rounds) {
  .reg .b64 %rd<12>;
  .reg .b32 %r<16>;
  .reg .pred %p<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r11, [rounds];
  mov.u32 %r8, %envreg2;
  cvt.u64.u32 %rd3, %r8;
  mov.u32 %r9, %envreg1;
  cvt.u64.u32 %rd4, %r9;
  bfi.b64 %rd5, %rd4, %rd3, 32, 32;
  mov.u32 %r3, %nctaid.x;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r1, %tid.x;
  sub.u32 %r5, 0x80000001, %r3;
  setp.eq.u32 %p1, %r4, 0;
  selp.b32 %r5, %r5, 1, %p1;
  setp.ne.u32 %p2, %r1, 0;
  mul.wide.u32 %rd6, %r4, 4096;
  add.s64 %rd6, %rd1, %rd6;
  add.u32 %r12, %r4, 1;
  rem.u32 %r13, %r12, %r3;
  mul.wide.u32 %rd7, %r13, 4096;
  add.s64 %rd7, %rd1, %rd7;
  mov.u32 %r10, 0;
round:
  @!%p2 st.volatile.global.u32 [%rd6], %r12;
  barrier.sync 0;
  @%p2 bra met;
  atom.add.release.gpu.u32 %r6, [%rd5+4], %r5;
wait:
  ld.acquire.gpu.u32 %r7, [%rd5+4];
  xor.b32 %r7, %r7, %r6;
  setp.gt.s32 %p3, %r7, -1;
  @%p3 bra wait;
met:
  barrier.sync 0;
  ld.volatile.global.u32 %r14, [%rd7];
  mad.lo.u32 %r12, %r12, 3, %r14;
  barrier.sync 0;
  @%p2 bra again;
  atom.add.release.gpu.u32 %r6, [%rd5+4], %r5;
wait2:
  ld.acquire.gpu.u32 %r7, [%rd5+4];
  xor.b32 %r7, %r7, %r6;
  setp.gt.s32 %p3, %r7, -1;
  @%p3 bra wait2;
again:
  barrier.sync 0;
  add.u32 %r10, %r10, 1;
  setp.lt.u32 %p4, %r10, %r11;
  @%p4 bra round;
  ret;
}
)";
}

std::string cooperative_workload(unsigned blocks, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text =
      "module: kernels.ptx\nbuffers:\n  out: {type: u32, count: " + std::to_string(blocks * 1024) +
      ", memory: managed, init: {linear: {start: 3, step: 7}}}\nprogram:\n";
  for (std::uint64_t launches = 1 + random() % 3; launches > 0; --launches)
    text += "  - launch: {kernel: meet, grid: [" + std::to_string(blocks) +
            "], block: [64], arguments: [out, " + std::to_string(1 + random() % 6) + "]}\n";
  return text + "  - synchronize\n  - read: out\n";
}

void let_large_pages_meet(std::vector<std::string>& settings) {
  if (has(settings, "gpu.vm.far_fault_mshrs=1") &&
      has(settings, "policies.page_manager=large-pages") &&
      !switches_for_preemption_alone(settings)) {
    settings.push_back("gpu.vm.far_fault_mshrs=2");
    settings.push_back("gpu.memory.capacity=24MiB");
  }
}

}  // namespace lockstep::testing
