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

/// An access of one lane, and the registers that it takes.
struct Access {
  const char *form, *registers;
  unsigned bytes;
};

void PrintTo(const Access& access, std::ostream* out) {
  *out << access.form;
}

/// Even blocks store a number `count` times into all elements of a vector, odd blocks load it as
/// often and count those whose elements are not all the same.
std::string torn_kernel(const Access& access) {
  const std::string registers = access.registers;
  const bool is_wide = registers.find("d") != std::string::npos;
  std::string compare;
  std::size_t elements = 1;
  for (std::size_t at = registers.find(','); at != std::string::npos;
       at = registers.find(',', at + 1)) {
    const std::string kind = is_wide ? "u64 %p2, %d1" : "u32 %p2, %r1";
    compare += "	setp.ne." + kind + "0, " + (is_wide ? "%d1" : "%r1") +
               std::to_string(elements++) + ";\n	or.pred %p1, %p1, %p2;\n";
  }
  std::string fill;
  const std::string move = is_wide ? "cvt.u64.u32 %d1" : "mov.u32 %r1";
  for (std::size_t e = 0; e < elements; ++e) fill += move + std::to_string(e) + ", %r2;\n";
  return std::string(header) + R"(.visible .entry torn(.param .u64 to, .param .u32 count)
{
	.reg .pred %p<4>;
	.reg .b32 %r<20>;
	.reg .b64 %d<20>;
	ld.param.u64 %d1, [to];
	ld.param.u32 %r8, [count];
	mov.u32 %r1, %ctaid.x;
	shr.u32 %r3, %r1, 1;
	mul.wide.u32 %d2, %r3, 64;
	add.s64 %d3, %d1, %d2;
	mov.u32 %r2, 1;
	mov.u32 %r4, 0;
	and.b32 %r5, %r1, 1;
	setp.eq.u32 %p3, %r5, 0;
	@%p3 bra STORE;
LOAD:
	ld)" +
         access.form + " {" + registers + R"(}, [%d3];
	setp.ne.u32 %p1, %r4, %r4;
)" + compare +
         R"(	@%p1 add.u32 %r4, %r4, 1;
	add.u32 %r2, %r2, 1;
	setp.le.u32 %p3, %r2, %r8;
	@%p3 bra LOAD;
	st.global.u32 [%d3+32], %r4;
	ret;
STORE:
)" + fill +
         "	st" + access.form + " [%d3], {" + registers + R"(};
	add.u32 %r2, %r2, 1;
	setp.le.u32 %p3, %r2, %r8;
	@%p3 bra STORE;
	ret;
}
)";
}

class TornAccess : public testing::TestWithParam<Access> {};

TEST_P(TornAccess, NeverHappens) {
  constexpr std::uint32_t pairs = 2, count = 300'000;
  const Module module = load_module_text(torn_kernel(GetParam()), "torn.ptx");
  std::vector<std::byte> parameters(16);
  std::memcpy(parameters.data(), &address, sizeof address);
  std::memcpy(parameters.data() + 8, &count, sizeof count);
  const Launch launch{
      .module = module, .grid = {2 * pairs, 1, 1}, .block = {1, 1, 1}, .parameters = parameters};
  FlatMemory memory;
  memory.map(address, 64 * pairs);
  interpret(launch, memory, 2 * pairs);
  for (std::uint32_t pair = 0; pair < pairs; ++pair) {
    std::uint32_t torn = 0, stored = 0;
    memory.read(address + 64 * pair, &stored, 1);
    memory.read(address + 64 * pair + 32, &torn, sizeof torn);
    EXPECT_EQ(stored, count % 256);
    EXPECT_EQ(torn, 0u) << "of " << count;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , TornAccess,
    testing::Values(Access{".global.v2.u64", "%d10, %d11", 16}, Access{".v2.f64", "%d10, %d11", 16},
                    Access{".global.v4.u32", "%r10, %r11, %r12, %r13", 16},
                    Access{".global.v2.u32", "%r10, %r11", 8},
                    Access{".global.v4.u8", "%r10, %r11, %r12, %r13", 4},
                    Access{".volatile.global.v2.u64", "%d10, %d11", 16},
                    Access{".relaxed.gpu.global.v2.u64", "%d10, %d11", 16},
                    Access{".relaxed.sys.global.v4.u32", "%r10, %r11, %r12, %r13", 16}));

/// Each block waits until the one before has set its flag, doing the access or fence.
std::string chain_kernel(const std::string& load, const std::string& store,
                         const std::string& fence) {
  return std::string(header) + R"(.visible .entry chain(.param .u64 to)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %d<5>;
	ld.param.u64 %d1, [to];
	mov.u32 %r1, %ctaid.x;
	mul.wide.u32 %d2, %r1, 4;
	add.s64 %d3, %d1, %d2;
	mov.u32 %r2, 1;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra SET;
WAIT:
	)" +
         load +
         R"( %r3, [%d3+-4];
	)" +
         fence +
         R"(
	setp.eq.u32 %p1, %r3, 0;
	@%p1 bra WAIT;
	add.u32 %r2, %r3, 1;
SET:
	)" +
         store +
         R"( [%d3], %r2;
	ret;
}
)";
}

TEST(ParallelInterpreter, BlocksThatWaitForEachOtherDoTheSameEachTime) {
  struct Form {
    const char *load, *store, *fence;
  };
  for (const Form& form : {Form{"ld.volatile.global.u32", "st.volatile.global.u32", ""},
                           Form{"ld.relaxed.gpu.global.u32", "st.relaxed.gpu.global.u32", ""},
                           Form{"ld.acquire.gpu.u32", "st.release.gpu.u32", ""},
                           Form{"ld.acquire.sys.global.u32", "st.global.u32", ""},
                           Form{"ld.global.cv.u32", "st.global.u32", ""},
                           Form{"ld.global.u32", "st.global.u32", "membar.gl;"},
                           Form{"ld.global.u32", "st.global.u32", "fence.acq_rel.gpu;"}}) {
    const std::string text = chain_kernel(form.load, form.store, form.fence);
    const Result one = run(text, 1);
    EXPECT_EQ(one.numbers[blocks - 1], blocks);
    for (int attempt = 0; attempt < 5; ++attempt) {
      const Result four = run(text, 4);
      EXPECT_EQ(four.numbers, one.numbers);
      EXPECT_EQ(four.counts.warp_instructions, one.counts.warp_instructions) << form.load;
    }
  }
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
