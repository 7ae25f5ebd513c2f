#pragma once

#include <memory>
#include <string>

#include "models/memory/cache_policy/cache_policy.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep::test {

/// The SM side of a cache policy, with a cycle of a nanosecond, and warps that ask and are
/// answered.
class SmSideBench {
 public:
  static constexpr std::uint32_t warps = 8;

  explicit SmSideBench(const std::string& policy)
      : choice_(policy_written<cache_policies>(policy)), side_(make()) {}

  SmSide& side() { return *side_; }
  /// What a request of a warp is marked with.
  std::uint8_t marks(std::uint16_t warp, std::int64_t at, std::uint32_t pc = 0) {
    MemoryRequest request;
    request.warp = warp;
    request.pc = pc;
    request.sectors = 3;
    side_->mark(request, time(at));
    return request.marks;
  }
  /// Answers, of which the first `hits` found both their sectors in the L2, and the others one, and
  /// `arriving` on their way.
  void answer(std::uint16_t warp, unsigned lookups, unsigned hits, std::int64_t at,
              std::uint32_t pc = 0, unsigned arriving = 0) {
    MemoryResponse answer;
    answer.warp = warp;
    answer.sectors = 3;
    for (unsigned i = 0; i < lookups; ++i) {
      answer.l2_hits = static_cast<std::uint8_t>(i < hits ? 3 : 1 | arriving << 4);
      side_->on_answer(answer, pc, time(at));
    }
  }
  void answer_past_l2(std::uint16_t warp, std::int64_t at) {
    MemoryResponse answer;
    answer.warp = warp;
    answer.sectors = 3;
    answer.flags = flag_past_l2;
    side_->on_answer(answer, 0, time(at));
  }
  void tell(std::uint64_t value) {
    side_->on_epoch(EpochTopic::cache_policy, {&value, 1}, Time::zero());
  }
  std::unique_ptr<EpochController> controller() const {
    return cache_policy_registry().factory(choice_).controller({choice_, 2, cycle});
  }

 private:
  static constexpr Time cycle{1'000'000};
  static Time time(std::int64_t cycles) { return cycle * cycles; }
  std::unique_ptr<SmSide> make() const {
    return cache_policy_registry().factory(choice_).sm_side.make(
        {choice_, cycle, 0, warps, 2, 1, ComponentId{5}});
  }

  PolicyChoice choice_;
  std::unique_ptr<SmSide> side_;
};

}  // namespace lockstep::test
