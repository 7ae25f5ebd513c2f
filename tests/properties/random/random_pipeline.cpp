#include "tests/properties/random/random_pipeline.hpp"

#include <fmt/format.h>

namespace lockstep::testing {

RandomPipeline::RandomPipeline(std::uint64_t seed, Copies copies) : random_(seed), copies_(copies) {
  threads_ = 2 + below(chance(3) ? 30 : 126);
  producers_ = 1 + below(threads_ - 1);
  if (chance(3) && threads_ > 64) producers_ = 32 * (1 + below(threads_ / 32 - 1));
  stages_ = 1 + below(4);
  tiles_ = stages_ + below(8);
  chunks_ = 1 + below(40);
  copy_bytes_ = 4u << below(3);
  blocks_ = 1 + below(6);
  arrival_ = static_cast<Arrival>(below(3));
  // Somebody stays to consume: of two consumers one is no multiple of five.
  if (tiles_ > stages_ && threads_ - producers_ > 1 && chance(3))
    leave_after_ = stages_ + below(tiles_ - stages_);
  ptx_ = kernel();
  workload_ = workload_text();
}

std::string RandomPipeline::wait(const std::string& address, const std::string& parity) {
  static constexpr const char* forms[] = {"try_wait.parity.shared::cta.b64",
                                          "try_wait.parity.acquire.cta.shared::cta.b64",
                                          "test_wait.parity.shared.b64"};
  const unsigned form = below(3);
  const std::string limit = form == 2 || chance(2) ? "" : fmt::format(", {}", 1u << below(20));
  return fmt::format(R"(
wait{0}:
  mbarrier.{1} %p5, [{2}], {3}{4};
  @!%p5 bra wait{0};
)",
                     waits_++, forms[form], address, parity, limit);
}

/// Thread t of the producers brings the chunks t, t + producers, ... of each tile.
std::string RandomPipeline::producer() {
  const std::string kind = copy_bytes_ == 16 && chance(2) ? "cg" : "ca";
  static constexpr const char* arrivals[] = {
      "  cp.async.mbarrier.arrive.noinc.shared.b64 [%r7];\n",
      "  cp.async.mbarrier.arrive.shared.b64 [%r7];\n  mbarrier.arrive.shared.b64 %rd9, [%r7];\n",
      "  cp.async.wait_all;\n  mbarrier.arrive.shared.b64 %rd9, [%r7];\n"};
  return fmt::format(R"(
produce:
  rem.u32 %r11, %r10, {0};
  div.u32 %r12, %r10, {0};
  and.b32 %r13, %r12, 1;
  xor.b32 %r14, %r13, 1;
  mad.lo.u32 %r6, %r11, 8, %r5;
  mad.lo.u32 %r7, %r11, 8, %r4;
{1}
  mov.u32 %r16, %r1;
copy:
  setp.ge.u32 %p3, %r16, {2};
  @%p3 bra copied;
  mad.lo.u32 %r17, %r11, {2}, %r16;
  mad.lo.u32 %r17, %r17, 16, %r3;
  mad.lo.u32 %r18, %r2, {3}, %r10;
  mad.lo.u32 %r18, %r18, {2}, %r16;
  mul.wide.u32 %rd3, %r18, 16;
  add.u64 %rd4, %rd2, %rd3;
  mad.lo.u32 %r19, %r18, 747796405, 2891336453;
  shr.u32 %r21, %r19, 20;
  rem.u32 %r21, %r21, {4};
  and.b32 %r22, %r19, 7168;
  setp.ne.u32 %p4, %r22, 0;
  @%p4 cp.async.{5}.shared.global [%r17], [%rd4], {6}, %r21;
  add.u32 %r16, %r16, {7};
  bra copy;
copied:
{8}
  add.u32 %r10, %r10, 1;
  setp.lt.u32 %p6, %r10, {3};
  @%p6 bra produce;
  bra done;
)",
                     stages_, wait("%r6", "%r14"), chunks_, tiles_, copy_bytes_ + 1, kind,
                     copy_bytes_, producers_, arrivals[static_cast<unsigned>(arrival_)]);
}

/// Thread t of the producers brings the chunks from t chunks / producers on of each tile.
std::string RandomPipeline::bulk_producer() {
  static constexpr const char* copy =
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r17], [%rd4], %r21, "
      "[%r7];\n";
  static constexpr const char* expect =
      "  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r7], %r21;\n";
  static constexpr const char* arrive = "  mbarrier.arrive.shared.b64 _, [%r7];\n";
  static constexpr const char* both =
      "  mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r7], %r21;\n";
  const std::string orders[] = {std::string(both) + copy, std::string(copy) + both,
                                std::string(expect) + copy + arrive,
                                std::string(copy) + expect + arrive};
  const std::string prefetch =
      chance(3) ? "  cp.async.bulk.prefetch.L2.global [%rd4], %r21;\n" : "";
  return fmt::format(R"(
  mul.lo.u32 %r19, %r1, {0};
  div.u32 %r19, %r19, {1};
  add.u32 %r21, %r1, 1;
  mul.lo.u32 %r21, %r21, {0};
  div.u32 %r21, %r21, {1};
  sub.u32 %r21, %r21, %r19;
  shl.b32 %r21, %r21, 4;
produce:
  rem.u32 %r11, %r10, {2};
  div.u32 %r12, %r10, {2};
  and.b32 %r13, %r12, 1;
  xor.b32 %r14, %r13, 1;
  mad.lo.u32 %r6, %r11, 8, %r5;
  mad.lo.u32 %r7, %r11, 8, %r4;
{3}
  mad.lo.u32 %r17, %r11, {0}, %r19;
  mad.lo.u32 %r17, %r17, 16, %r3;
  mad.lo.u32 %r18, %r2, {4}, %r10;
  mad.lo.u32 %r18, %r18, {0}, %r19;
  mul.wide.u32 %rd3, %r18, 16;
  add.u64 %rd4, %rd2, %rd3;
  fence.proxy.async.shared::cta;
{5}{6}
  add.u32 %r10, %r10, 1;
  setp.lt.u32 %p6, %r10, {4};
  @%p6 bra produce;
  bra done;
)",
                     chunks_, producers_, stages_, wait("%r6", "%r14"), tiles_, prefetch,
                     orders[below(4)]);
}

/// Stages are stored one by one, each as two copies of a group.
std::string RandomPipeline::bulk_stores() {
  std::string text = R"(
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra end;
  fence.proxy.async.shared::cta;
)";
  const unsigned bytes = 16 * chunks_;
  for (unsigned stage = 0; stage < stages_; ++stage) {
    const unsigned first = 16 * below(chunks_ + 1);
    text += fmt::format(R"(
  mad.lo.u32 %r9, %r2, {0}, {1};
  mul.wide.u32 %rd3, %r9, {2};
  add.u64 %rd4, %rd8, %rd3;
  cp.async.bulk.global.shared::cta.bulk_group [%rd4], [room+{3}], {4};
  cp.async.bulk.global.shared::cta.bulk_group [%rd4+{4}], [room+{5}], {6};
  cp.async.bulk.commit_group;
)",
                        stages_, stage, bytes, stage * bytes, first, stage * bytes + first,
                        bytes - first);
    if (chance(2))
      text += fmt::format("  cp.async.bulk.wait_group{} {};\n", chance(2) ? ".read" : "", below(3));
  }
  if (chance(2)) text += "  cp.async.bulk.wait_group 0;\n";
  return text + "end:\n";
}

/// Who leaves has seen the end of each phase at which it has arrived, so that it drops out of the
/// next.
std::string RandomPipeline::leaving() {
  if (leave_after_ == 0) return "";
  std::string text = fmt::format(R"(
  rem.u32 %r23, %r1, 5;
  setp.ne.u32 %p7, %r23, 0;
  setp.ne.u32 %p8, %r10, {};
  or.pred %p7, %p7, %p8;
  @%p7 bra stay;
)",
                                 leave_after_);
  for (unsigned stage = 0; stage < stages_; ++stage) {
    const unsigned last = (leave_after_ - 1 - stage) / stages_;
    const std::string empty = fmt::format("empty+{}", 8 * stage);
    text += wait(empty, std::to_string(last % 2)) +
            fmt::format("  mbarrier.arrive_drop.shared.b64 %rd9, [{}];\n", empty);
  }
  return text + "  bra done;\nstay:\n";
}

std::string RandomPipeline::consumer() {
  return fmt::format(R"(
consume:
{0}
  rem.u32 %r11, %r10, {1};
  div.u32 %r12, %r10, {1};
  and.b32 %r13, %r12, 1;
  mad.lo.u32 %r6, %r11, 8, %r5;
  mad.lo.u32 %r7, %r11, 8, %r4;
{2}
  mul.lo.u32 %r15, %r11, {3};
  add.u32 %r15, %r15, %r3;
  mad.lo.u32 %r16, %r1, 7, %r10;
  rem.u32 %r17, %r16, {4};
  mad.lo.u32 %r17, %r17, 4, %r15;
  ld.shared.u32 %r18, [%r17];
  mad.lo.u32 %r20, %r20, 33, %r18;
  mad.lo.u32 %r16, %r1, 13, %r16;
  rem.u32 %r17, %r16, {4};
  mad.lo.u32 %r17, %r17, 4, %r15;
  ld.shared.u32 %r18, [%r17];
  mad.lo.u32 %r20, %r20, 33, %r18;
  mbarrier.arrive.shared.b64 %rd9, [%r6];
  add.u32 %r10, %r10, 1;
  setp.lt.u32 %p6, %r10, {5};
  @%p6 bra consume;
)",
                     leaving(), stages_, wait("%r7", "%r13"), 16 * chunks_, 4 * chunks_, tiles_);
}

std::string RandomPipeline::kernel() {
  std::string init;
  for (unsigned stage = 0; stage < stages_; ++stage)
    init += fmt::format(
        "  mbarrier.init.shared.b64 [full+{0}], {1};\n"
        "  mbarrier.init.shared.b64 [empty+{0}], {2};\n",
        8 * stage, producers_, threads_ - producers_);
  const bool in_bulk = copies_ == Copies::in_bulk;
  const std::string produced = in_bulk ? bulk_producer() : producer(), consumed = consumer();
  return fmt::format(R"(
.version 8.6
.target {7}
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 stored) {{
  .reg .b64 %rd<10>;
  .reg .b32 %r<24>;
  .reg .pred %p<9>;
  .shared .align 16 .b8 room[{0}];
  .shared .align 8 .b8 full[{1}];
  .shared .align 8 .b8 empty[{1}];
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  ld.param.u64 %rd8, [stored];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, room;
  mov.u32 %r4, full;
  mov.u32 %r5, empty;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra ready;
{2}
ready:
  bar.sync 0;
  mov.u32 %r10, 0;
  mov.u32 %r20, %r1;
  setp.ge.u32 %p2, %r1, {3};
  @%p2 bra consume;
{4}
{5}
done:
  mad.lo.u32 %r8, %r2, {6}, %r1;
  mul.wide.u32 %rd5, %r8, 4;
  add.u64 %rd6, %rd1, %rd5;
  st.global.u32 [%rd6], %r20;
{8}
  ret;
}}
)",
                     16 * stages_ * chunks_, 8 * stages_, init, producers_, produced, consumed,
                     threads_, in_bulk ? "sm_90a" : "sm_80", in_bulk ? bulk_stores() : "");
}

std::vector<std::string> RandomPipeline::settings() {
  if (copies_ == Copies::by_lanes) return {};
  static constexpr unsigned lines[] = {1, 3, 16, 384};
  return {fmt::format("gpu.sm.bulk.lines_in_flight={}", lines[below(4)]),
          fmt::format("gpu.sm.bulk.lines_per_cycle={}", 1 + below(4)),
          fmt::format("gpu.sm.bulk.queue={}", 1 + below(8)),
          fmt::format("gpu.sm.bulk.start_latency={}", 1 + below(200)),
          fmt::format("gpu.sm.bulk.start_interval={}", 1 + below(60))};
}

std::string RandomPipeline::workload_text() {
  return fmt::format(R"(module: kernels.ptx
buffers:
  out: {{type: u32, count: {0}, memory: device}}
  in: {{type: u32, count: {1}, memory: device, init: {{uniform: {{low: 0, high: 4000000000, seed: 7}}}}}}
  stored: {{type: u32, count: {4}, memory: device}}
program:
  - copy: {{buffer: in, to: device}}
  - launch: {{kernel: k, grid: [{2}], block: [{3}], arguments: [out, in, stored]}}
  - copy: {{buffer: out, to: host}}
  - copy: {{buffer: stored, to: host}}
)",
                     blocks_ * threads_, 4 * blocks_ * tiles_ * chunks_, blocks_, threads_,
                     4 * blocks_ * stages_ * chunks_);
}

}  // namespace lockstep::testing
