#include "models/sm/ports/request_marks.hpp"

#include <gtest/gtest.h>

#include "models/sm/ports/request_tag.hpp"
#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::request_marks_test {
namespace {

/// What a side was shown: "asked 3 at 7 ns", "answered 3 pc 5 at 9 ns".
std::vector<std::string> shown;

class Watches final : public SmSide {
 public:
  void mark(MemoryRequest& request, Time now) override {
    shown.push_back("asked " + std::to_string(request.warp) + at(now));
    request.marks = mark_bypass;
  }
  void on_answer(const MemoryResponse& answer, std::uint32_t pc, Time now) override {
    shown.push_back("answered " + std::to_string(answer.warp) + " pc " + std::to_string(pc) +
                    at(now));
  }

 private:
  static std::string at(Time now) { return " at " + std::to_string(now.femtoseconds()); }
};

void with_side(SmSetup& setup) {
  SmSideChoice side;
  side.factory.make = [](const SmSideSetup&) -> std::unique_ptr<SmSide> {
    return std::make_unique<Watches>();
  };
  setup.sides.push_back(side);
  shown.clear();
}

MemoryRequest request_of(std::uint16_t warp, std::uint32_t pc, bool host) {
  MemoryRequest request;
  request.warp = warp;
  request.pc = pc;
  request.tag = RequestTag::make(RequestTag::fill, 9, host);
  return request;
}

MemoryResponse answer_of(std::uint16_t warp, std::uint32_t tag) {
  MemoryResponse answer;
  answer.warp = warp;
  answer.tag = tag;
  return answer;
}

std::string at(const SmWorld& world, SmCycle cycle) {
  return " at " + std::to_string(world.constants.time_of(cycle).femtoseconds());
}

TEST(RequestMarks, ASideMarksARequestAndHearsItsAnswerWithThePc) {
  SmWorld world("", with_side);
  MemoryRequest request = request_of(3, 4096 + 5, false);
  world.ports.marks().mark(request, SmCycle(7));
  EXPECT_EQ(request.marks, mark_bypass);
  EXPECT_EQ(RequestTag::index(request.tag), 9);
  EXPECT_EQ(RequestTag::kind(request.tag), RequestTag::fill);
  EXPECT_FALSE(RequestTag::host(request.tag));
  world.ports.marks().answered(answer_of(3, request.tag), SmCycle(9));
  EXPECT_EQ(shown, (std::vector<std::string>{"asked 3" + at(world, SmCycle(7)),
                                             "answered 3 pc 5" + at(world, SmCycle(9))}));
}

TEST(RequestMarks, ASideDoesNotSeeWhatIsNoRequestOfAWarpToGpuMemory) {
  SmWorld world("", with_side);
  MemoryRequest request = request_of(3, 5, true);
  world.ports.marks().mark(request, SmCycle(7));
  EXPECT_EQ(request.marks, 0);
  world.ports.marks().answered(answer_of(3, request.tag), SmCycle(9));
  for (const auto kind : {RequestTag::write_back, RequestTag::context})
    world.ports.marks().answered(answer_of(3, RequestTag::make(kind, 0, false)), SmCycle(9));
  EXPECT_TRUE(shown.empty());
}

TEST(RequestMarks, WithoutSidesARequestStaysAsItIs) {
  SmWorld world;
  MemoryRequest request = request_of(3, 5, false);
  const std::uint32_t tag = request.tag;
  world.ports.marks().mark(request, SmCycle(7));
  EXPECT_EQ(request.marks, 0);
  EXPECT_EQ(request.tag, tag);
  EXPECT_TRUE(world.ports.marks().epochs().idle());
}

}  // namespace
}  // namespace lockstep::request_marks_test
