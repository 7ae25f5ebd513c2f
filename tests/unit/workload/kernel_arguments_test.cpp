#include "models/workload/kernel_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/harness_workload/sample_workload.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::kernel_arguments_test {
namespace {

using isa::Type;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t addresses[] = {0x1'0000'1000, 0x1'0000'3000, 0x1'0000'5000, 0x1'0000'7000};

/// A kernel `k` with parameters of these types, placed as a compiler does.
isa::Program kernel(const std::vector<Type>& types) {
  isa::Program program;
  program.name = "k";
  for (const Type type : types) {
    const std::uint32_t bytes = isa::bytes_of(type);
    program.parameter_bytes = (program.parameter_bytes + bytes - 1) / bytes * bytes;
    program.parameters.push_back({"", type, program.parameter_bytes, bytes});
    program.parameter_bytes += bytes;
  }
  return program;
}

isa::Module module_with(const isa::Program& program) {
  isa::Module module;
  module.file = "m.ptx";
  module.kernels.push_back({program, {}});
  return module;
}

/// A launch at line 9; its first argument stands at column 60.
Step launch(const std::string& arguments) {
  return sample::with_program("  - launch: {kernel: k, grid: [1], block: [1], arguments: [" +
                              arguments + "]}\n")
      .program.front();
}

std::vector<std::byte> pack(const std::vector<Type>& types, const std::string& arguments) {
  return pack_arguments(kernel(types), launch(arguments), {{"n", 16}}, addresses);
}

std::string error(const std::vector<Type>& types, const std::string& arguments) {
  return message_of([&] { pack(types, arguments); });
}

template <class T>
T value(const std::vector<Type>& types, const std::string& arguments, std::size_t offset = 0) {
  T result;
  std::memcpy(&result, pack(types, arguments).data() + offset, sizeof result);
  return result;
}

TEST(KernelArguments, LiteralsAreExactBeyondDoubles) {
  EXPECT_EQ(value<std::uint64_t>({Type::u64}, "9007199254740993"), (1ull << 53) + 1);
  EXPECT_EQ(value<std::uint64_t>({Type::u64}, "18446744073709551615"), ~0ull);
  EXPECT_EQ(value<std::uint64_t>({Type::u64}, "0xfedcba9876543211"), 0xfedcba9876543211ull);
  EXPECT_EQ(value<std::int64_t>({Type::s64}, "-9223372036854775807"), -9223372036854775807ll);
  EXPECT_EQ(value<std::uint32_t>({Type::u32}, "0xffffffff"), 0xffffffffu);
  EXPECT_THAT(error({Type::u32}, "0x100000000"), HasSubstr("no 32-bit integer"));
  EXPECT_THAT(error({Type::u64}, "-9223372036854775809"), HasSubstr("no 64-bit integer"));
  EXPECT_THAT(error({Type::u64}, "18446744073709551616"), HasSubstr("no 64-bit integer"));
}

TEST(KernelArguments, BuffersBecomeAddresses) {
  EXPECT_EQ(value<std::uint64_t>({Type::u64, Type::u64}, "twin, m", 8), addresses[2]);
}

TEST(KernelArguments, NumbersTakeTheTypeAndPlaceOfTheParameter) {
  const std::vector<Type> types{Type::u32, Type::f64, Type::u8, Type::f32};
  EXPECT_EQ(pack(types, "n, 0.1, 255, 0.1").size(), 24u);
  EXPECT_EQ(value<std::uint32_t>(types, "n, 0.1, 255, 0.1"), 16u);
  EXPECT_EQ(value<double>(types, "n, 0.1, 255, 0.1", 8), 0.1);
  EXPECT_EQ(value<std::uint8_t>(types, "n, 0.1, 255, 0.1", 16), 255);
  EXPECT_EQ(value<float>(types, "n, 0.1, 255, 0.1", 20), 0.1f);
}

TEST(KernelArguments, NegativeNumbersFitUnsignedParameters) {
  EXPECT_EQ(value<std::int32_t>({Type::u32}, "-1"), -1);
  EXPECT_EQ(value<std::int64_t>({Type::u64}, "-1"), -1);
}

TEST(KernelArguments, WholeRangeOfATypeIsAccepted) {
  EXPECT_EQ(value<std::uint32_t>({Type::s32}, "4294967295"), 4294967295u);
  EXPECT_EQ(value<std::int32_t>({Type::u32}, "-2147483648"), -2147483647 - 1);
}

TEST(KernelArguments, NumberOutsideTheTypeIsReportedAtTheArgument) {
  EXPECT_THAT(error({Type::u32}, "4294967296"),
              AllOf(StartsWith("w.yaml:9:60: argument 1 of kernel k"), HasSubstr("4294967296"),
                    HasSubstr("32-bit")));
  EXPECT_THAT(error({Type::u32}, "-2147483649"), StartsWith("w.yaml:9:60: "));
  EXPECT_THAT(error({Type::u64, Type::u8}, "a, 256"), StartsWith("w.yaml:9:63: argument 2"));
  EXPECT_THAT(error({Type::f32}, "1e39"), HasSubstr("too large"));
  EXPECT_THAT(error({Type::f16}, "65520"), HasSubstr("too large"));
}

TEST(KernelArguments, FractionForAnIntegerIsReported) {
  EXPECT_THAT(error({Type::u32}, "n / 3"), AllOf(StartsWith("w.yaml:9:60: "), HasSubstr("5.33")));
}

TEST(KernelArguments, BufferForANumberIsReported) {
  EXPECT_THAT(error({Type::u32}, "a"),
              AllOf(StartsWith("w.yaml:9:60: argument 1 of kernel k"), HasSubstr("32-bit number")));
  EXPECT_THAT(error({Type::f64}, "a"), HasSubstr("64-bit float number"));
}

TEST(KernelArguments, WrongNumberOfArgumentsIsReportedAtTheStep) {
  EXPECT_THAT(error({Type::u64, Type::u32}, "a"),
              AllOf(StartsWith("w.yaml:9:5: kernel k takes 2 arguments, got 1")));
  EXPECT_THAT(error({}, "a"), HasSubstr("takes 0 arguments, got 1"));
}

TEST(KernelArguments, StructureByValueIsReported) {
  isa::Program program = kernel({Type::b8});
  program.parameters[0].bytes = program.parameter_bytes = 12;
  EXPECT_THAT(message_of([&] { pack_arguments(program, launch("n"), {}, addresses); }),
              AllOf(StartsWith("w.yaml:9:60: "), HasSubstr("structure of 12 bytes")));
}

/// A kernel with one structure of so many bytes.
isa::Program kernel_of_structure(std::uint32_t bytes) {
  isa::Program program = kernel({Type::u8});
  program.parameters.front().bytes = program.parameter_bytes = bytes;
  return program;
}

TEST(KernelArguments, StructuresAreListsOfNumbersAndBuffers) {
  const std::vector<std::byte> packed = pack_arguments(
      kernel_of_structure(22), launch("[-2, n, twin, 0xffffffff, 513]"), {{"n", 16}}, addresses);
  ASSERT_EQ(packed.size(), 22u);
  const auto word = [&]<class T>(T, std::size_t offset) {
    T value;
    std::memcpy(&value, packed.data() + offset, sizeof value);
    return value;
  };
  EXPECT_EQ(word(std::int32_t{}, 0), -2);
  EXPECT_EQ(word(std::int32_t{}, 4), 16);
  EXPECT_EQ(word(std::uint64_t{}, 8), addresses[1]);
  EXPECT_EQ(word(std::uint32_t{}, 16), 0xffffffffu);
  EXPECT_EQ(word(std::uint16_t{}, 20), 513);
}

TEST(KernelArguments, ListsGiveTheBitsOfNumbersThatFormulasCannotSay) {
  EXPECT_EQ(value<std::uint32_t>({Type::f32}, "[0x7fc00001]"), 0x7fc00001u);
  EXPECT_EQ(value<std::uint64_t>({Type::f64}, "[1, 0x80000000]"), 0x80000000'00000001ull);
}

TEST(KernelArguments, ListsOfAnotherSizeAreRefused) {
  const auto error_of = [](std::uint32_t bytes, const char* list) {
    return message_of(
        [&] { pack_arguments(kernel_of_structure(bytes), launch(list), {}, addresses); });
  };
  EXPECT_THAT(error_of(12, "[1, 2]"),
              AllOf(StartsWith("w.yaml:9:60: "), HasSubstr("has 12 bytes, the list makes 8")));
  EXPECT_THAT(error_of(12, "[1, 2, 3, 4]"), HasSubstr("the list makes 16"));
  EXPECT_THAT(error_of(12, "[1, twin, 3]"), HasSubstr("the list makes 16"));
  EXPECT_THAT(error_of(6, "[twin]"), HasSubstr("the list makes 8"));
  EXPECT_THAT(error_of(6, "[1, 65536]"),
              AllOf(StartsWith("w.yaml:9:64: "), HasSubstr("no 16-bit integer")));
  EXPECT_THAT(error_of(8, "[1, [2]]"), HasSubstr("a list in a list"));
}

TEST(KernelArguments, UnknownKernelIsReportedWithTheNearest) {
  isa::Program program = kernel({});
  program.name = "kk";
  const Workload workload = sample::with_program(
      "  - repeat: {times: 1, program: [{launch: {kernel: k, grid: [1], block: [1]}}]}\n");
  EXPECT_THAT(message_of([&] { validate_workload(workload, module_with(program)); }),
              AllOf(StartsWith("w.yaml:9:"), HasSubstr("module m.ptx has no kernel \"k\""),
                    HasSubstr("did you mean \"kk\"")));
}

TEST(KernelArguments, AKernelWithACxxNameIsReportedWithThatName) {
  isa::Program program = kernel({});
  program.name = "_Z1kPfi";
  const Workload workload =
      sample::with_program("  - launch: {kernel: k, grid: [1], block: [1]}\n");
  EXPECT_THAT(message_of([&] { validate_workload(workload, module_with(program)); }),
              AllOf(HasSubstr("has no kernel \"k\""),
                    HasSubstr("write extern \"C\" before it, or name it \"_Z1kPfi\"")));
}

TEST(KernelArguments, ValidationNeedsNoCounters) {
  const Workload workload = sample::with_program(
      "  - repeat: {times: 2, counter: i, program: [{launch: {kernel: k, grid: [1], block: [1], "
      "arguments: [a, i]}}]}\n");
  EXPECT_EQ(message_of([&] {
              validate_workload(workload, module_with(kernel({Type::u64, Type::u32})));
            }),
            "no error");
  EXPECT_THAT(message_of([&] { validate_workload(workload, module_with(kernel({Type::u64}))); }),
              HasSubstr("takes 1 arguments, got 2"));
}

LaunchShape shape(const isa::Program& program, const std::string& launch_keys) {
  const Workload workload = sample::with_program("  - launch: {kernel: k, " + launch_keys + "}\n");
  return launch_shape(program, workload.program.front(), {{"n", 16}});
}

std::string shape_error(const isa::Program& program, const std::string& launch_keys) {
  return message_of([&] { shape(program, launch_keys); });
}

TEST(LaunchShape, MissingDimensionsAreOne) {
  const LaunchShape result = shape(kernel({}), "grid: [n, 2], block: [32], shared: 4 * n");
  EXPECT_EQ(result.blocks, (std::array<std::uint32_t, 3>{16, 2, 1}));
  EXPECT_EQ(result.threads, (std::array<std::uint32_t, 3>{32, 1, 1}));
  EXPECT_EQ(result.dynamic_shared_bytes, 64u);
}

TEST(LaunchShape, EmptyGridIsReportedAtTheSize) {
  EXPECT_THAT(shape_error(kernel({}), "grid: [n - 16], block: [1]"),
              AllOf(StartsWith("w.yaml:9:32: "), HasSubstr("is 0, not a whole number from 1")));
}

TEST(LaunchShape, RegistersOfAThreadMayBeStated) {
  EXPECT_EQ(shape(kernel({}), "grid: [1], block: [1]").registers, 0u);
  EXPECT_EQ(shape(kernel({}), "grid: [1], block: [1], registers: 2 * n").registers, 32u);
  EXPECT_THAT(shape_error(kernel({}), "grid: [1], block: [1], registers: 0"),
              AllOf(StartsWith("w.yaml:9:"), HasSubstr("is 0, not a whole number from 1 to 255")));
  EXPECT_THAT(shape_error(kernel({}), "grid: [1], block: [1], registers: 16 * n"),
              HasSubstr("is 256, not a whole number from 1 to 255"));
}

TEST(LaunchShape, TooManyThreadsAreReportedAtTheStep) {
  EXPECT_THAT(shape_error(kernel({}), "grid: [1], block: [64, 32]"),
              AllOf(StartsWith("w.yaml:9:5: "), HasSubstr("2048 threads, the limit is 1024")));
}

TEST(LaunchShape, KernelMayLimitItsBlocks) {
  isa::Program limited = kernel({});
  limited.maximum_threads = 64;
  EXPECT_EQ(shape_error(limited, "grid: [1], block: [64]"), "no error");
  EXPECT_THAT(shape_error(limited, "grid: [1], block: [65]"), HasSubstr("the limit is 64"));
  isa::Program exact = kernel({});
  exact.required_block = {16, 4, 1};
  EXPECT_EQ(shape_error(exact, "grid: [1], block: [16, 4]"), "no error");
  EXPECT_THAT(shape_error(exact, "grid: [1], block: [64]"),
              HasSubstr("requires blocks of 16 x 4 x 1 threads, got 64 x 1 x 1"));
}

TEST(LaunchShape, ClustersAreThoseOfTheLaunchOrOfTheKernel) {
  const LaunchShape none = shape(kernel({}), "grid: [n], block: [1]");
  EXPECT_EQ(none.cluster, isa::no_cluster);
  EXPECT_FALSE(none.is_explicit_cluster);
  const LaunchShape asked = shape(kernel({}), "grid: [n, 4], block: [1], cluster: [n / 8, 4]");
  EXPECT_EQ(asked.cluster, (isa::ClusterShape{2, 4, 1}));
  EXPECT_TRUE(asked.is_explicit_cluster);
  EXPECT_TRUE(shape(kernel({}), "grid: [1], block: [1], cluster: [1]").is_explicit_cluster);
  isa::Program made = kernel({});
  made.required_cluster = {4, 1, 1};
  EXPECT_EQ(shape(made, "grid: [n], block: [1]").cluster, (isa::ClusterShape{4, 1, 1}));
  EXPECT_EQ(shape(made, "grid: [n], block: [1], cluster: [4]").cluster,
            (isa::ClusterShape{4, 1, 1}));
}

TEST(LaunchShape, ClustersThatNoGpuHasAreReportedAtTheirKey) {
  const auto expect = [](const isa::Program& program, const std::string& keys,
                         const std::string& where, const std::string& part) {
    EXPECT_THAT(shape_error(program, keys), AllOf(StartsWith(where), HasSubstr(part))) << keys;
  };
  expect(kernel({}), "grid: [n], block: [1], cluster: [3]",
         "w.yaml:9:58: ", "a grid of 16 x 1 x 1 blocks, no multiple of its clusters of 3 x 1 x 1");
  expect(kernel({}), "grid: [4, 3], block: [1], cluster: [2, 2]",
         "w.yaml:9:61: ", "no multiple of its clusters of 2 x 2 x 1");
  expect(kernel({}), "grid: [n], block: [1], cluster: [n]",
         "w.yaml:9:58: ", "clusters of 16 blocks, more than the portable 8");
  expect(kernel({}), "grid: [n, 2], block: [1], cluster: [n, 2], non_portable_cluster: true",
         "w.yaml:9:61: ", "clusters of 32 blocks, the limit is 16");
  expect(kernel({}), "grid: [n], block: [1], cluster: [0]", "w.yaml:9:58: ", "not a whole number");
  EXPECT_EQ(
      shape_error(kernel({}), "grid: [n], block: [1], cluster: [n], non_portable_cluster: true"),
      "no error");
}

TEST(LaunchShape, ClustersThatTheKernelIsNotMadeForAreReported) {
  isa::Program made = kernel({});
  made.required_cluster = {2, 2, 1};
  EXPECT_THAT(shape_error(made, "grid: [2, 2], block: [1], cluster: [4]"),
              AllOf(StartsWith("w.yaml:9:61: "),
                    HasSubstr("requires clusters of 2 x 2 x 1 blocks, got 4 x 1 x 1")));
  EXPECT_THAT(shape_error(made, "grid: [2, 3], block: [1]"),
              AllOf(StartsWith("w.yaml:9:5: "), HasSubstr("no multiple of its clusters")));
  isa::Program limited = kernel({});
  limited.maximum_cluster = 4;
  EXPECT_EQ(shape_error(limited, "grid: [8], block: [1], cluster: [4]"), "no error");
  EXPECT_THAT(shape_error(limited, "grid: [8], block: [1], cluster: [8]"),
              HasSubstr("at most 4 blocks (.maxclusterrank), got 8"));
  isa::Program explicitly = kernel({});
  explicitly.explicit_cluster = true;
  EXPECT_THAT(shape_error(explicitly, "grid: [8], block: [1]"),
              AllOf(StartsWith("w.yaml:9:5: "), HasSubstr("launched in clusters")));
  EXPECT_EQ(shape_error(explicitly, "grid: [8], block: [1], cluster: [1]"), "no error");
}

}  // namespace
}  // namespace lockstep::kernel_arguments_test
