#include "tests/harness/spinning_kernels.hpp"

namespace lockstep {
namespace {

/// Takes the lock at [%rd1 + `lock`].
std::string take(unsigned lock, const std::string& label) {
  const std::string at = "[%rd1+" + std::to_string(lock) + "]";
  return label + ":\natom.global.cas.b32 %r2, " + at +
         ", 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra " + label + ";\n";
}
std::string give(unsigned lock) {
  return "membar.gl;\natom.global.exch.b32 %r3, [%rd1+" + std::to_string(lock) + "], 0;\n";
}
/// Not atomic: right only under a lock.
std::string count(unsigned word) {
  const std::string at = "[%rd1+" + std::to_string(word) + "]";
  return "ld.volatile.global.u32 %r4, " + at + ";\nadd.u32 %r4, %r4, 1;\nst.volatile.global.u32 " +
         at + ", %r4;\n";
}
std::string poll(const std::string& load, unsigned word, const std::string& value,
                 const std::string& label) {
  return label + ":\n" + load + " %r5, [%rd1+" + std::to_string(word) +
         "];\nsetp.ne.u32 %p2, %r5, " + value + ";\n@%p2 bra " + label + ";\n";
}

/// Lane 0 sets the word that the others poll; `first`: the polling lanes are the arm that runs
/// first.
std::string flag(const std::string& load, bool first) {
  const std::string waits = poll(load, 0, "7", "POLL");
  const std::string sets = "membar.gl;\nst.volatile.global.u32 [%rd1], 7;\n";
  return "setp." + std::string(first ? "eq" : "ne") + ".u32 %p1, %r1, 0;\n@%p1 bra OTHER;\n" +
         (first ? waits : sets) + "bra DONE;\nOTHER:\n" + (first ? sets : waits) + "DONE:\n" +
         "setp.eq.u32 %p3, %r1, 0;\n@!%p3 st.global.u32 [%rd3], %r5;\n";
}

std::vector<std::uint32_t> with_first(std::uint32_t first, std::uint32_t others) {
  std::vector<std::uint32_t> words(32, others);
  words[0] = first;
  return words;
}

const std::string take_function =
    ".func take_lock(.param .b64 lock) {\n.reg .b32 %o;\n.reg .b64 %l;\n.reg .pred %q;\n"
    "ld.param.u64 %l, [lock];\nTRY:\natom.global.cas.b32 %o, [%l], 0, 1;\n"
    "setp.ne.u32 %q, %o, 0;\n@%q bra TRY;\nret;\n}\n";
const std::string call_take =
    "{\n.param .b64 l;\nst.param.b64 [l], %rd1;\ncall take_lock, (l);\n}\n";
const std::string try_function =
    ".func (.param .b32 old) try_lock(.param .b64 lock) {\n.reg .b32 %o;\n.reg .b64 %l;\n"
    "ld.param.u64 %l, [lock];\natom.global.cas.b32 %o, [%l], 0, 1;\nst.param.b32 [old], %o;\n"
    "ret;\n}\n";
const std::string call_try =
    "{\n.param .b64 l;\n.param .b32 o;\nst.param.b64 [l], %rd1;\ncall (o), try_lock, (l);\n"
    "ld.param.b32 %r2, [o];\n}\n";

std::vector<SpinningKernel> make() {
  std::vector<SpinningKernel> kernels;
  const auto add = [&](const std::string& name, const std::string& body,
                       std::vector<std::uint32_t> expected, std::uint32_t threads = 32,
                       const std::string& functions = "") {
    kernels.push_back({name, spinning_text(body, functions), threads, std::move(expected)});
  };
  add("lock", take(0, "TRY") + count(4) + give(0), {0, 32});
  // Its own branches are unconditional, as where C++ barriers wait with a sleep that grows.
  add("flag that is polled between unconditional branches",
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra SETS;\nPOLL:\nld.volatile.global.u32 %r5, [%rd1];\n"
      "setp.ne.u32 %p2, %r5, 7;\n@%p2 bra AGAIN;\nbra.uni DONE;\nAGAIN:\nnanosleep.u32 20;\n"
      "bra.uni POLL;\nSETS:\nst.volatile.global.u32 [%rd1], 7;\nmov.u32 %r5, 7;\nDONE:\n"
      "st.global.u32 [%rd3], %r5;\n",
      with_first(7, 7));
  add("lock of two warps", take(0, "TRY") + count(4) + give(0), {0, 64}, 64);
  add(
      "lock, then a barrier",
      take(0, "TRY") + count(4) + give(0) + "bar.sync 0;\n" +
          "ld.volatile.global.u32 %r6, [%rd1+4];\nadd.u64 %rd3, %rd3, 8;\nst.global.u32 [%rd3], "
          "%r6;\n",
      [] {
        std::vector<std::uint32_t> words(66, 64);
        words[0] = 0;
        return words;
      }(),
      64);
  add("lock in a loop",
      "mov.u32 %r7, 0;\nAGAIN:\n" + take(0, "TRY") + count(4) + give(0) +
          "add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p3, %r7, 10;\n@%p3 bra AGAIN;\n",
      {0, 320});
  add("nested locks",
      take(0, "OUTER") + take(4, "INNER") + count(8) + give(4) + count(12) + give(0),
      {0, 0, 32, 32});
  add("lock in a function", call_take + count(4) + give(0), {0, 32}, 32, take_function);
  add("tried in a function",
      "TRY:\n" + call_try + "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra TRY;\n" + count(4) + give(0),
      {0, 32}, 32, try_function);
  add("lock with a pause",
      "TRY:\natom.global.cas.b32 %r2, [%rd1], 0, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra GOT;\n"
      "mov.u32 %r8, 0;\nPAUSE:\nadd.u32 %r8, %r8, 1;\nsetp.lt.u32 %p3, %r8, 20;\n@%p3 bra PAUSE;\n"
      "nanosleep.u32 20;\nbra TRY;\nGOT:\n" +
          count(4) + give(0),
      {0, 32});
  for (const bool first : {false, true}) {
    const std::string order = first ? ", before it is set" : ", behind it";
    add("volatile word" + order, flag("ld.volatile.global.u32", first), with_first(7, 7));
    add("acquired word" + order, flag("ld.acquire.gpu.global.u32", first), with_first(7, 7));
    add("weakly read word" + order, flag("ld.global.u32", first), with_first(7, 7));
  }
  add("word that lanes at the meeting point set",
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra MEET;\n" +
          poll("ld.volatile.global.u32", 0, "7", "POLL") +
          "MEET:\n@%p1 st.volatile.global.u32 [%rd1], 7;\n@!%p1 st.global.u32 [%rd3], %r5;\n",
      with_first(7, 7));
  // Lane 0 waits for an even number, lane 1 for an odd one; each adds one.
  add("two lanes in turn",
      "setp.gt.u32 %p1, %r1, 1;\n@%p1 bra DONE;\nmov.u32 %r7, %r1;\nROUND:\nPOLL:\n"
      "ld.volatile.global.u32 %r5, [%rd1];\nsetp.ne.u32 %p2, %r5, %r7;\n@%p2 bra POLL;\n"
      "ld.volatile.global.u32 %r6, [%rd1+4];\nadd.u32 %r6, %r6, %r5;\n"
      "st.volatile.global.u32 [%rd1+4], %r6;\nmembar.gl;\nadd.u32 %r5, %r5, 1;\n"
      "st.volatile.global.u32 [%rd1], %r5;\nadd.u32 %r7, %r7, 2;\nsetp.lt.u32 %p3, %r7, 20;\n"
      "@%p3 bra ROUND;\nDONE:\n",
      {20, 190});
  add("shared word",
      ".shared .align 4 .b32 word;\nmov.u32 %r10, word;\nsetp.eq.u32 %p1, %r1, 0;\n"
      "@%p1 st.shared.u32 [%r10], 0;\nbar.warp.sync 0xffffffff;\n@%p1 bra MEET;\nPOLL:\n"
      "ld.volatile.shared.u32 %r5, [%r10];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra POLL;\nMEET:\n"
      "@%p1 st.volatile.shared.u32 [%r10], 9;\n@!%p1 st.global.u32 [%rd3], %r5;\n",
      with_first(0, 9));
  // The upper half waits for the lower one, whose lanes take turns with a lock.
  add("lock while others wait for the warp",
      "setp.gt.u32 %p3, %r1, 15;\n@%p3 bra MEET;\n" + take(0, "TRY") + count(4) + give(0) +
          "MEET:\nbar.warp.sync 0xffffffff;\nld.volatile.global.u32 %r6, [%rd1+4];\n"
          "add.u64 %rd3, %rd3, 8;\nst.global.u32 [%rd3], %r6;\n",
      [] {
        std::vector<std::uint32_t> words(34, 16);
        words[0] = 0;
        return words;
      }());
  add("lock while others wait at another instruction",
      "setp.gt.u32 %p3, %r1, 15;\n@%p3 bra OTHER;\n" + take(0, "TRY") + count(4) + give(0) +
          "bar.warp.sync 0xffffffff;\nbra DONE;\nOTHER:\nbar.warp.sync 0xffffffff;\n" +
          take(0, "TRY2") + count(4) + give(0) + "DONE:\n",
      {0, 32});
  // Lanes that the lock has parted exchange values again.
  add("lock, then a shuffle",
      take(0, "TRY") + count(4) + give(0) +
          "shfl.sync.bfly.b32 %r6, %r1, 1, 31, 0xffffffff;\nadd.u64 %rd3, %rd3, 8;\n"
          "st.global.u32 [%rd3], %r6;\n",
      [] {
        std::vector<std::uint32_t> words{0, 32};
        for (std::uint32_t lane = 0; lane < 32; ++lane) words.push_back(lane ^ 1);
        return words;
      }());
  // Lane 0 leaves in its round 3; the others see at the end of a round whether it is still there.
  for (const std::string barrier : {"bar.warp.sync 0xffffffff", "bar.sync 0"})
    add("lane that leaves a loop of others, " + barrier,
        "mov.u32 %r7, 0;\nROUND:\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra TOGETHER;\n"
        "setp.eq.u32 %p2, %r7, 3;\n@%p2 bra DONE;\nTOGETHER:\n" +
            barrier +
            ";\nactivemask.b32 %r5;\nand.b32 %r6, %r5, 1;\nsetp.eq.u32 %p3, %r6, 0;\n"
            "@%p3 bra DONE;\nadd.u32 %r7, %r7, 1;\nbra ROUND;\nDONE:\n"
            "st.global.u32 [%rd3], %r7;\n",
        std::vector<std::uint32_t>(32, 3));
  return kernels;
}

}  // namespace

std::string spinning_text(const std::string& body, const std::string& functions) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + functions +
         ".visible .entry k(.param .u64 a) {\n.reg .b32 %r<30>;\n.reg .b64 %rd<10>;\n"
         ".reg .pred %p<10>;\nld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\n"
         "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" +
         body + "ret;\n}\n";
}

const std::vector<SpinningKernel>& spinning_kernels() {
  static const std::vector<SpinningKernel> kernels = make();
  return kernels;
}

}  // namespace lockstep
