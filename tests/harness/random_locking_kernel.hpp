#pragma once

#include "tests/harness/random_kernel.hpp"

namespace lockstep::isa {

/// A random kernel in which threads, wherever they stand, take a lock of their block around a loop
/// and count under it.  Each stores the count that all have reached together.
class RandomLockingKernel : public RandomKernel {
 public:
  using RandomKernel::RandomKernel;

  /// The word of a thread's part of `out` that holds the count.
  static constexpr unsigned count_word = 47;

  std::string text() {
    std::string text = RandomKernel::text();
    const std::string store =
        "bar.sync 0;\nld.volatile.shared.u32 %t0, [before+4];\nst.global.u32 [%out+" +
        std::to_string(4 * count_word) + "], %t0;\n";
    return text.insert(text.rfind("ret;"), store);
  }

 protected:
  void statement(unsigned depth) override {
    if (!chance(6)) return RandomKernel::statement(depth);
    const std::string taken = label();
    body_ += taken +
             ":\natom.shared.cas.b32 %t0, [before], 0, 1;\nsetp.ne.u32 %q3, %t0, 0;\n@%q3 bra " +
             taken + ";\n";
    if (chance(2)) RandomKernel::statement(3);
    body_ +=
        "ld.volatile.shared.u32 %t1, [before+4];\nadd.u32 %t1, %t1, 1;\n"
        "st.volatile.shared.u32 [before+4], %t1;\nmembar.cta;\n"
        "atom.shared.exch.b32 %t0, [before], 0;\n";
  }
};

}  // namespace lockstep::isa
