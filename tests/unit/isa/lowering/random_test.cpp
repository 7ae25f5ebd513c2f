/// Lowering keeps the memory a kernel leaves behind: random kernels, every pass alone, all but one,
/// and with so few registers and predicates that values spill.
#include "models/isa/lowering/lowering.hpp"
#include "tests/harness/random_kernel.hpp"
#include "tests/harness/random_locking_kernel.hpp"
#include "tests/unit/isa/isa_bench.hpp"
#include "tests/unit/isa/lowering/pass_list.hpp"

namespace lockstep::isa::random_test {
namespace {

constexpr std::uint32_t threads = 50;  // the second warp is partly empty

std::vector<std::uint32_t> run(const Module& module, bool lowered) {
  FlatMemory memory;
  const std::uint64_t out = first_global_address, in = out + 0x10'0000;
  const std::uint64_t bytes = 64 * RandomKernel::words_per_thread * 4;
  memory.map(out, bytes);
  memory.map(in, RandomKernel::input_words * 4);
  for (std::uint32_t i = 0; i < RandomKernel::input_words; ++i) {
    const std::uint32_t value = i * 2654435761U;
    memory.write(in + 4 * i, &value, 4);
  }
  std::vector<std::byte> parameters(20);
  const std::uint32_t n = 12345;
  std::memcpy(parameters.data(), &out, 8);
  std::memcpy(parameters.data() + 8, &in, 8);
  std::memcpy(parameters.data() + 16, &n, 4);
  Launch launch{module, 0, {1, 1, 1}, {threads, 1, 1}, 0, parameters};
  launch.lowered = lowered;
  interpret(launch, memory);
  std::vector<std::uint32_t> result(bytes / 4);
  memory.read(out, result.data(), bytes);
  return result;
}

void expect_same_memory_of(const std::string& text, std::uint64_t seed,
                           const LoweringOptions& options, const std::string& what) {
  const Module module = load_module_text(text, "random.ptx", options);
  const auto expected = run(module, false), got = run(module, true);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(got[i], expected[i])
        << "seed " << seed << ", " << what << ", thread " << i / RandomKernel::words_per_thread
        << ", word " << i % RandomKernel::words_per_thread;
}

void expect_same_memory(std::uint64_t seed, const LoweringOptions& options,
                        const std::string& what) {
  expect_same_memory_of(RandomKernel(seed).text(), seed, options, what);
}

TEST(Lowering, KeepsTheMemoryOfRandomKernelsWhoseLanesWaitForEachOther) {
  for (std::uint64_t seed = 5000; seed < 5100; ++seed) {
    LoweringOptions options;
    options.unroll_loops = seed % 2 == 1;
    expect_same_memory_of(RandomLockingKernel(seed).text(), seed, options, "locks");
    if (HasFatalFailure()) return;
  }
}

TEST(Lowering, KeepsTheMemoryOfRandomKernels) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    LoweringOptions options;
    options.unroll_loops = seed % 2 == 1;
    expect_same_memory(seed, options, "all passes");
    if (HasFatalFailure()) return;
  }
}

TEST(Lowering, KeepsMemoryWithoutAnyPass) {
  for (std::uint64_t seed = 1000; seed < 1060; ++seed) {
    expect_same_memory(seed, LoweringOptions::none(), "no pass");
    if (HasFatalFailure()) return;
  }
}

TEST(Lowering, KeepsMemoryWithEachPassAlone) {
  for (const auto& [name, pass] : pass_list)
    for (std::uint64_t seed = 2000; seed < 2030; ++seed) {
      LoweringOptions options = LoweringOptions::none();
      options.*pass = true;
      expect_same_memory(seed, options, std::string("only ") + name);
      if (HasFatalFailure()) return;
    }
}

TEST(Lowering, KeepsMemoryWithAllPassesButOne) {
  for (const auto& [name, pass] : pass_list)
    for (std::uint64_t seed = 3000; seed < 3030; ++seed) {
      LoweringOptions options;
      options.*pass = false;
      expect_same_memory(seed, options, std::string("all but ") + name);
      if (HasFatalFailure()) return;
    }
}

TEST(Lowering, KeepsMemoryWhenValuesAndPredicatesSpill) {
  for (std::uint64_t seed = 4000; seed < 4080; ++seed) {
    LoweringOptions options;
    options.maximum_registers = 24;
    options.maximum_predicates = 4;
    expect_same_memory(seed, options, "24 registers, 4 predicates");
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace lockstep::isa::random_test
