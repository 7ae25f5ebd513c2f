#include "models/workload/program_cursor.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "tests/harness_workload/sample_workload.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::program_cursor_test {
namespace {

/// Delays stand for steps; their microseconds name them.
std::string word(const ProgramCursor& cursor) {
  const Step& step = *cursor.current();
  if (step.kind == Step::Kind::repeat_until) return "?";
  std::string text = std::to_string(step.duration.femtoseconds() / 1'000'000'000);
  for (const char* counter : {"i", "j"}) {
    const auto found = cursor.variables().find(counter);
    if (found != cursor.variables().end()) {
      text += counter + std::to_string(static_cast<int>(found->second));
    }
  }
  return text;
}

/// Every step in order; a repeat-until is left when it was asked `rounds` times.
std::string walk(ProgramCursor& cursor, int rounds = 0) {
  std::string text;
  for (int asked = 0; cursor.current();) {
    text += (text.empty() ? "" : " ") + word(cursor);
    if (cursor.current()->kind == Step::Kind::repeat_until) {
      const bool done = ++asked == rounds;
      if (done) asked = 0;
      cursor.answer(done);
    } else {
      cursor.advance();
    }
  }
  return text;
}

std::string walk(const std::string& program, int rounds = 0) {
  const Workload workload = sample::with_program(program);
  ProgramCursor cursor(workload);
  return walk(cursor, rounds);
}

const char nested[] =
    "  - delay: 1us\n"
    "  - repeat: {times: 2, counter: i, program: [{delay: 2us},\n"
    "      {repeat: {times: i + 1, counter: j, program: [{delay: 3us}, {delay: 4us}]}}]}\n"
    "  - delay: 5us\n";

TEST(ProgramCursor, StepsComeInOrder) {
  EXPECT_EQ(walk("  - delay: 1us\n  - delay: 2us\n"), "1 2");
}

TEST(ProgramCursor, EmptyProgramIsDoneAtOnce) {
  EXPECT_EQ(walk("  []\n"), "");
}

TEST(ProgramCursor, LoopRunsItsBodyAndCounts) {
  EXPECT_EQ(walk("  - repeat: {times: 3, counter: i, program: [{delay: 1us}]}\n"), "1i0 1i1 1i2");
}

TEST(ProgramCursor, InnerLoopMayDependOnTheOuterCounter) {
  EXPECT_EQ(walk(nested), "1 2i0 3i0j0 4i0j0 2i1 3i1j0 4i1j0 3i1j1 4i1j1 5");
}

TEST(ProgramCursor, LoopOfNoRoundsIsPassedOver) {
  EXPECT_EQ(walk("  - delay: 1us\n  - repeat: {times: n - 16, program: [{delay: 2us}]}\n"
                 "  - delay: 3us\n"),
            "1 3");
}

TEST(ProgramCursor, LoopOfNoRoundsMayBeTheWholeProgram) {
  EXPECT_EQ(walk("  - repeat: {times: 0, program: [{delay: 2us}]}\n"), "");
}

TEST(ProgramCursor, UntilIsAskedAfterEachRound) {
  const std::string program =
      "  - repeat: {until: {buffer: m, index: 0, equals: 0}, counter: i, program: [{delay: 1us}]}\n"
      "  - delay: 2us\n";
  EXPECT_EQ(walk(program, 1), "1i0 ? 2");
  EXPECT_EQ(walk(program, 3), "1i0 ? 1i1 ? 1i2 ? 2");
}

TEST(ProgramCursor, UntilInsideALoopStartsOverInEachRound) {
  EXPECT_EQ(walk("  - repeat: {times: 2, counter: i, program: [{repeat: {until: {buffer: m, "
                 "index: 0, equals: 0}, counter: j, program: [{delay: 1us}]}}]}\n",
                 2),
            "1i0j0 ? 1i0j1 ? 1i1j0 ? 1i1j1 ?");
}

TEST(ProgramCursor, NegativeRoundsAreReportedAtTheExpression) {
  const Workload workload =
      sample::with_program("  - repeat: {times: n - 17, program: [synchronize]}\n");
  EXPECT_EQ(message_of([&] { ProgramCursor cursor(workload); }).substr(0, 12), "w.yaml:9:21:");
}

TEST(ProgramCursor, CounterMayNotOutgrowItsLoopsParameters) {
  const Workload workload = sample::with_program(nested);
  ProgramCursor cursor(workload);
  EXPECT_EQ(cursor.variables().at("half"), 8);
}

TEST(ProgramCursor, RestoredCursorGoesOnWhereTheSavedOneStood) {
  const std::string until =
      "  - repeat: {times: 2, counter: i, program: [{delay: 2us}, {repeat: {until: {buffer: m, "
      "index: 0, equals: 0}, counter: j, program: [{delay: 3us}]}}]}\n";
  for (const std::string& program : {std::string(nested), until}) {
    const Workload workload = sample::with_program(program);
    for (int steps = 0; steps < 9; ++steps) {
      ProgramCursor cursor(workload);
      for (int s = 0; s < steps && cursor.current(); ++s) {
        if (cursor.current()->kind == Step::Kind::repeat_until) {
          cursor.answer(s % 2 == 0);
        } else {
          cursor.advance();
        }
      }
      std::stringstream bytes;
      Archive saving = Archive::saving(bytes);
      saving(cursor);
      ProgramCursor restored(workload);
      Archive restoring = Archive::restoring(bytes);
      restoring(restored);
      EXPECT_EQ(restored.variables().count("j"), cursor.variables().count("j")) << steps;
      EXPECT_EQ(walk(restored, 1), walk(cursor, 1)) << "after " << steps << " steps";
    }
  }
}

}  // namespace
}  // namespace lockstep::program_cursor_test
