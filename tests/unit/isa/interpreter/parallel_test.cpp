/// Blocks on several threads.
#include <gtest/gtest.h>

#include <cstring>

#include "core/error/error.hpp"
#include "models/isa/interpreter/interpreter.hpp"
#include "models/isa/load.hpp"

namespace lockstep::isa::parallel_test {
namespace {

constexpr const char* header = ".version 7.0\n.target sm_70\n.address_size 64\n";

/// Each block writes its number, doubled; `extra` stands before the store.
std::string kernel(const std::string& extra) {
  return std::string(header) + R"(.visible .entry number(.param .u64 to)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<5>;
	ld.param.u64 %d1, [to];
	mov.u32 %r1, %ctaid.x;
	mul.wide.u32 %d2, %r1, 4;
	add.s64 %d3, %d1, %d2;
	shl.b32 %r2, %r1, 1;
)" + extra +
         R"(
	st.global.u32 [%d3], %r2;
	ret;
}
)";
}

constexpr std::uint64_t address = 0x1'0000'0000;
constexpr std::uint32_t blocks = 1000;

struct Result {
  std::vector<std::uint32_t> numbers;
  InterpreterCounts counts;
};

Result run(const std::string& text, unsigned threads, std::uint32_t launched = blocks) {
  const Module module = load_module_text(text, "number.ptx");
  std::vector<std::byte> parameters(sizeof address);
  std::memcpy(parameters.data(), &address, sizeof address);
  const Launch launch{
      .module = module, .grid = {launched, 1, 1}, .block = {1, 1, 1}, .parameters = parameters};
  FlatMemory memory;
  memory.map(address, 4 * blocks);
  Result result;
  result.counts = interpret(launch, memory, threads);
  result.numbers.resize(blocks);
  memory.read(address, result.numbers.data(), 4 * blocks);
  return result;
}

TEST(ParallelInterpreter, MemoryAndCountsAreThoseOfOneThread) {
  const Result one = run(kernel(""), 1), four = run(kernel(""), 4);
  EXPECT_EQ(one.numbers, four.numbers);
  EXPECT_EQ(four.numbers[999], 1998u);
  EXPECT_EQ(one.counts.warp_instructions, four.counts.warp_instructions);
  EXPECT_EQ(one.counts.thread_instructions, four.counts.thread_instructions);
}

TEST(ParallelInterpreter, AtomicsKeepTheirOrder) {
  const std::string count = "	atom.global.add.u32 %r2, [%d1], 1;\n";
  EXPECT_EQ(run(kernel(count), 1).numbers, run(kernel(count), 4).numbers);
}

TEST(ParallelInterpreter, MistakeOfOneBlockIsReported) {
  EXPECT_THROW(run(kernel(""), 4, blocks + 1), UserError);
}

TEST(FlatMemoryOfACaller, IsReadAndWrittenInPlace) {
  std::vector<std::byte> bytes(16);
  FlatMemory memory;
  memory.map(address, std::span(bytes));
  const std::uint32_t number = 77;
  memory.write(address + 4, &number, sizeof number);
  EXPECT_EQ(bytes[4], std::byte{77});
  EXPECT_EQ(memory.find(address + 13, 4), nullptr);
  EXPECT_EQ(memory.view().find(address, 16), bytes.data());
}

}  // namespace
}  // namespace lockstep::isa::parallel_test
