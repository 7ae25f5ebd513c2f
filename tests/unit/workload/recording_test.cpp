/// The file of a recorded program, and the cursor that walks through it.
#include "models/workload/recording/recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"
#include "models/workload/program_cursor.hpp"
#include "models/workload/recording/collective_parts.hpp"
#include "models/workload/recording/recording_writer.hpp"

namespace lockstep::recording_test {
namespace {

using Kind = RecordedStep::Kind;
using testing::HasSubstr;

std::vector<std::byte> numbers(std::size_t count, unsigned first) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(first + i * i);
  return bytes;
}

RecordedStep step_of(Kind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t data) {
  RecordedStep step;
  step.kind = static_cast<std::uint32_t>(kind);
  step.address = address;
  step.bytes = bytes;
  step.data = data;
  return step;
}

class RecordingTest : public testing::Test {
 protected:
  RecordingTest()
      : file_((std::filesystem::temp_directory_path() /
               ("recording_" + std::to_string(::getpid()) + ".h5"))
                  .string()) {}
  ~RecordingTest() override { std::filesystem::remove(file_); }

  /// A program of `steps` copies of `bytes` each, to a buffer at 4 GiB.
  Workload copies(std::uint64_t steps, std::uint64_t bytes) {
    RecordingWriter writer(file_);
    for (std::uint64_t i = 0; i < steps; ++i)
      writer.add(step_of(Kind::copy_to_gpu, address + i, bytes,
                         writer.add_data(numbers(bytes, static_cast<unsigned>(i)))));
    writer.finish();
    Workload workload;
    Buffer& buffer = workload.buffers.emplace_back();
    buffer.name = "memory";
    buffer.type = isa::Type::u8;
    buffer.count = bytes + steps;
    buffer.address = address;
    workload.by_address = {0};
    workload.recording = std::make_shared<const Recording>(file_, "w.yaml:1:1");
    return workload;
  }

  static constexpr std::uint64_t address = 0x1'0000'0000;
  std::string file_;
};

TEST_F(RecordingTest, DataComesBackInPiecesOfAnySize) {
  const std::vector<std::byte> written = numbers(50'000, 3);
  RecordingWriter writer(file_);
  const std::uint64_t place = writer.add_data(written);
  writer.add(step_of(Kind::copy_to_gpu, address, written.size(), place));
  writer.finish();
  const Recording recording(file_, "w.yaml:1:1");
  std::vector<std::byte> read(33'333);
  recording.read({place, written.size()}, 12'345, read);
  EXPECT_TRUE(std::equal(read.begin(), read.end(), written.begin() + 12'345));
}

TEST_F(RecordingTest, SaysWhoseTensorCoresComputed) {
  for (const auto& arithmetic :
       {std::optional(isa::MatrixArithmetic::hopper), std::optional(isa::MatrixArithmetic::volta),
        std::optional<isa::MatrixArithmetic>()}) {
    RecordingWriter writer(file_);
    if (arithmetic) writer.set_arithmetic(*arithmetic);
    writer.add(step_of(Kind::synchronize, 0, 0, 0));
    writer.finish();
    EXPECT_EQ(Recording(file_, "w.yaml:1:1").arithmetic(), arithmetic);
  }
}

TEST_F(RecordingTest, EqualBlocksAreStoredOnce) {
  RecordingWriter writer(file_);
  const std::vector<std::byte> block = numbers(recording_format::block_bytes, 1);
  for (int i = 0; i < 10; ++i) writer.add_data(block);
  writer.finish();
  EXPECT_EQ(writer.data_bytes(), 10 * recording_format::block_bytes);
  EXPECT_EQ(writer.stored_bytes(), recording_format::block_bytes);
}

TEST_F(RecordingTest, ArgumentsOfALaunchAreItsOwn) {
  RecordingWriter writer(file_);
  const std::vector<std::byte> first = numbers(70'000, 1), second = numbers(24, 9);
  RecordedStep one = step_of(Kind::launch, 0, first.size(), writer.add_arguments(first));
  RecordedStep two = step_of(Kind::launch, 0, second.size(), writer.add_arguments(second));
  one.kernel = writer.kernel("a");
  two.kernel = writer.kernel("bb");
  writer.add(one);
  writer.add(two);
  writer.finish();
  const Recording recording(file_, "w.yaml:1:1");
  EXPECT_EQ(recording.arguments(recording.step(1)), second);
  EXPECT_EQ(recording.arguments(recording.step(0)), first);
  EXPECT_EQ(recording.kernel(recording.step(0)), "a");
  EXPECT_EQ(recording.kernel(recording.step(1)), "bb");
}

TEST_F(RecordingTest, CursorGoesThroughAllSteps) {
  const Workload workload = copies(3000, 16);
  ProgramCursor cursor(workload);
  std::uint64_t steps = 0;
  for (; cursor.current() != nullptr; cursor.advance(), ++steps) {
    EXPECT_EQ(cursor.current()->kind, Step::Kind::copy);
    EXPECT_EQ(cursor.current()->offset.text(), std::to_string(steps));
  }
  EXPECT_EQ(steps, 3000u);
}

TEST_F(RecordingTest, CursorIsSavedByItsPosition) {
  const Workload workload = copies(20, 16);
  ProgramCursor cursor(workload);
  for (int i = 0; i < 7; ++i) cursor.advance();
  std::stringstream bytes;
  Archive saving = Archive::saving(bytes);
  saving(cursor);
  ProgramCursor restored(workload);
  Archive restoring = Archive::restoring(bytes);
  restoring(restored);
  ASSERT_NE(restored.current(), nullptr);
  EXPECT_EQ(restored.current()->offset.text(), "7");
}

/// Two GPUs that sum 8 floats in a ring, and a step behind it.
Workload sums_in_a_ring(const std::string& file, std::uint64_t address) {
  RecordedCollective sums;
  sums.count = 8;
  const std::uint32_t other = recording_format::streams_of_a_device;
  sums.members = {{address, address, address + 64, 0, 3, 0},
                  {address + 128, address + 128, address + 192, 0, other + 1, 0}};
  RecordingWriter writer(file, true);
  sums.kernel = writer.kernel("sum");
  const std::vector<std::byte> packed = sums.pack();
  writer.add(step_of(Kind::collective, 0, packed.size(), writer.add_arguments(packed)));
  writer.add(step_of(Kind::synchronize, 0, 0, 0));
  writer.finish();
  Workload workload;
  for (std::uint32_t gpu = 0; gpu < 2; ++gpu) {
    Buffer& buffer = workload.buffers.emplace_back();
    buffer.name = "memory_" + std::to_string(gpu);
    buffer.type = isa::Type::u8;
    buffer.count = 128;
    buffer.gpu = gpu;
    buffer.address = address + 128 * gpu;
    workload.by_address.push_back(gpu);
  }
  workload.recording = std::make_shared<const Recording>(file, "w.yaml:1:1");
  return workload;
}

TEST_F(RecordingTest, CursorGoesThroughThePartsOfACollective) {
  const Workload workload = sums_in_a_ring(file_, address);
  using Step = Step::Kind;
  std::vector<Step> kinds;
  for (ProgramCursor cursor(workload); cursor.current(); cursor.advance()) {
    kinds.push_back(cursor.current()->kind);
    if (kinds.back() != Step::launch) continue;
    EXPECT_EQ(cursor.current()->kernel, "sum");
    EXPECT_EQ(cursor.current()->packed.size(), 36u);
  }
  constexpr Step copy = Step::peer_copy, sum = Step::launch, wait = Step::synchronize;
  EXPECT_EQ(kinds, (std::vector<Step>{copy, copy, wait, wait, sum, sum, wait, wait, copy, copy,
                                      wait, wait, wait}));
}

TEST_F(RecordingTest, CursorIsSavedWithinACollective) {
  const Workload workload = sums_in_a_ring(file_, address);
  for (int steps = 0; steps < 14; ++steps) {
    ProgramCursor cursor(workload);
    for (int s = 0; s < steps && cursor.current(); ++s) cursor.advance();
    std::stringstream bytes;
    Archive saving = Archive::saving(bytes);
    saving(cursor);
    ProgramCursor restored(workload);
    Archive restoring = Archive::restoring(bytes);
    restoring(restored);
    for (; cursor.current() && restored.current(); cursor.advance(), restored.advance()) {
      ASSERT_EQ(restored.current()->kind, cursor.current()->kind) << "after " << steps;
      ASSERT_EQ(restored.current()->stream, cursor.current()->stream) << "after " << steps;
    }
    EXPECT_EQ(restored.current() == nullptr, cursor.current() == nullptr);
    cursor.start_over();
    ASSERT_NE(cursor.current(), nullptr);
    EXPECT_EQ(cursor.current()->kind, Step::Kind::peer_copy);
  }
}

TEST_F(RecordingTest, BytesThatAreNoCollectiveAreReported) {
  RecordingWriter writer(file_, true);
  writer.add(step_of(Kind::collective, 0, 5, writer.add_arguments(numbers(5, 1))));
  writer.finish();
  Workload workload;
  workload.recording = std::make_shared<const Recording>(file_, "w.yaml:1:1");
  try {
    ProgramCursor cursor(workload);
    FAIL() << "it was taken";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("step 0: is no collective"));
  }
}

TEST_F(RecordingTest, StepOutsideOfAllBuffersIsReported) {
  Workload workload = copies(2, 16);
  workload.buffers[0].address = address + (4u << 20);
  try {
    const ProgramCursor cursor(workload);
    FAIL() << "it was taken";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("step 0: no buffer has the address 0x100000000"));
  }
}

TEST_F(RecordingTest, AnotherFileIsNoRecording) {
  EXPECT_THROW(Recording(__FILE__, "w.yaml:1:1"), UserError);
}

}  // namespace
}  // namespace lockstep::recording_test
