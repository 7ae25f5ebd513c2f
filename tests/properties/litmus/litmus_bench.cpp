#include "tests/properties/litmus/litmus_bench.hpp"

#include <gtest/gtest.h>

#include "tests/properties/machine_bench.hpp"
#include "tests/properties/random/random_machine.hpp"

namespace lockstep::testing {

std::string kernel(const std::string& name, const std::string& body) {
  return ".visible .entry " + name +
         R"((.param .u64 data, .param .u64 flag, .param .u64 out)
{
.reg .b32 %r<20>; .reg .b64 %rd<12>; .reg .pred %p<6>;
.shared .align 8 .b8 room[1024];
ld.param.u64 %rd1, [data];
ld.param.u64 %rd2, [flag];
ld.param.u64 %rd3, [out];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mov.u32 %r4, %nctaid.x;
mad.lo.u32 %r5, %r2, %r3, %r1;
)" + body +
         "\nret;\n}\n";
}

std::string workload(const std::string& launches, unsigned words) {
  const std::string count = std::to_string(words);
  return "module: kernels.ptx\nbuffers:\n  data: {type: u32, count: " + count +
         ", memory: device}\n  flag: {type: u32, count: " + count +
         ", memory: device}\n  out: {type: u32, count: " + count + ", memory: device}\nprogram:\n" +
         launches + "  - copy: {buffer: out, to: host}\n";
}

std::string launch(const std::string& name, unsigned blocks, unsigned threads) {
  return "  - launch: {kernel: " + name + ", grid: [" + std::to_string(blocks) + "], block: [" +
         std::to_string(threads) + "], arguments: [data, flag, out]}\n";
}

void expect_one_result(const std::string& ptx, const std::string& steps, bool needs_two_sms,
                       const std::vector<std::string>& more) {
  const std::uint64_t first = first_seed(1), cases = cases_to_run(40);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    std::vector<std::string> settings = random_latencies(seed);
    const std::uint64_t sms = needs_two_sms ? 2 + seed % 3 : 1 + seed % 4;
    settings.push_back("gpu.sm.count=" + std::to_string(sms));
    settings.push_back("gpu.memory.partitions=" + std::to_string(1 + seed % 2));
    if (needs_two_sms) settings.push_back("gpu.sm.blocks=1");  // blocks stand on different SMs
    settings.insert(settings.end(), more.begin(), more.end());
    std::string what = "LOCKSTEP_SEED=" + std::to_string(seed);
    for (const std::string& setting : settings) what += " --set " + setting;
    const HangGuard guard(what);
    MachineBench bench(module_head + ptx, workload(steps), settings);
    ASSERT_EQ(bench.run(Layout::random(seed)).problem, "") << what;
  }
}

}  // namespace lockstep::testing
