#include "core/parameters/parameters.hpp"

#include <gtest/gtest.h>

#include "core/parameters/document.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"
#include "tests/unit/core/parameters/sample.hpp"

namespace lockstep::parameters_test {
namespace {

using namespace sample;

MachineParameters read(const std::string& text) {
  return read_parameters<MachineParameters>(parse_document(text, "m.yaml", "gpu"));
}
std::string error_of(const std::string& text) {
  return message_of([&] { read(text); });
}

TEST(Parameters, DefaultsComeFromTheDeclaration) {
  const auto m = defaults<MachineParameters>();
  EXPECT_EQ(m.l1.size, 96_KiB);
  EXPECT_EQ(m.l2.hit_latency, 30_cycles);
  EXPECT_EQ(m.clock.hertz(), 1312e6);
  EXPECT_EQ(m.hash_bits, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(m.prefetcher.name(), "none");
}

TEST(Parameters, ReadingConvertsUnits) {
  const MachineParameters m = read(
      "name: big\nl2: {size: 2MiB, hit_latency: 12, write: through, sectored: false, mshrs: 128}\n"
      "clock: 1.5GHz\nbandwidth: 32GB/s\nfault_cost: 10us\nbias: 4\nseed: 18446744073709551615\n"
      "hash_bits: [3, 4, 5]\nshares: [0.25, 1]\n");
  EXPECT_EQ(m.l1.size, 96_KiB);
  EXPECT_EQ(m.l2.size, 2_MiB);
  EXPECT_EQ(m.l2.hit_latency, 12_cycles);
  EXPECT_EQ(m.l2.write, WritePolicy::through);
  EXPECT_FALSE(m.l2.sectored);
  EXPECT_EQ(m.l2.mshrs, 128u);
  EXPECT_EQ(m.clock.hertz(), 1.5e9);
  EXPECT_EQ(m.bandwidth.bytes_per_second(), 32e9);
  EXPECT_EQ(m.fault_cost, 10_us);
  EXPECT_EQ(m.bias, 4);
  EXPECT_EQ(m.seed, ~std::uint64_t{0});
  EXPECT_EQ(m.hash_bits, (std::vector<std::uint32_t>{3, 4, 5}));
  EXPECT_EQ(m.shares, (std::vector<double>{0.25, 1}));
}

TEST(Parameters, PolicyShortFormTakesTheDefaults) {
  const MachineParameters m = read("name: x\nprefetcher: tree\n");
  EXPECT_EQ(m.prefetcher.name(), "tree");
  EXPECT_EQ(m.prefetcher.parameters<TreeParameters>().threshold, 0.5);
}

TEST(Parameters, PolicyParametersStandBesideItsName) {
  const MachineParameters m = read("name: x\nprefetcher: {name: tree, threshold: 0.75}\n");
  EXPECT_EQ(m.prefetcher.parameters<TreeParameters>().threshold, 0.75);
}

TEST(Parameters, PolicyParametersOfAnotherPolicyAreABug) {
  const MachineParameters m = read("name: x\nprefetcher: none\n");
  EXPECT_THROW(m.prefetcher.parameters<TreeParameters>(), InternalError);
}

TEST(Parameters, ErrorsNamePlaceProblemAndRemedy) {
  EXPECT_EQ(error_of("name: x\nl1:\n  siez: 4KiB\n"),
            "m.yaml:3:3: gpu.l1.siez: unknown key \"siez\" - did you mean \"size\"? (hit_latency, "
            "mshrs, sectored, size, write)");
  EXPECT_EQ(error_of("name: x\nl1: {size: 1KiB}\n"),
            "m.yaml:2:12: gpu.l1.size: 1KiB is out of range - allowed: from 4KiB to 64MiB");
  EXPECT_EQ(
      error_of("name: x\nl1: {mshrs: 63}\n"),
      "m.yaml:2:13: gpu.l1.mshrs: 63 is out of range - allowed: from 1 to 4096, a power of two");
  EXPECT_EQ(error_of("name: x\nl1: {size: 1000}\n"),
            "m.yaml:2:12: gpu.l1.size: \"1000\" has no unit - write it as 96KiB, 2MiB or 16GB, "
            "from 4KiB to 64MiB");
  EXPECT_EQ(error_of("l1: {}\n"),
            "m.yaml:1:1: gpu: \"name\" is missing - add it: what reports call this machine");
  EXPECT_EQ(error_of("name: x\nl1: {write: bakc}\n"),
            "m.yaml:2:13: gpu.l1.write: no such choice \"bakc\" - did you mean \"back\"? (back, "
            "through)");
  EXPECT_EQ(error_of("name: x\nprefetcher: tre\n"),
            "m.yaml:2:13: gpu.prefetcher: no policy \"tre\" - did you mean \"tree\"? (none, tree)");
  EXPECT_EQ(error_of("name: x\nprefetcher: {name: none, threshold: 1}\n"),
            "m.yaml:2:26: gpu.prefetcher.threshold: unknown key \"threshold\" - known are (name)");
  EXPECT_EQ(error_of("name: x\nhash_bits: [1, 64]\n"),
            "m.yaml:2:16: gpu.hash_bits.1: 64 is out of range - allowed: from 0 to 63");
  EXPECT_EQ(error_of("name: x\nhash_bits: 1\n"),
            "m.yaml:2:12: gpu.hash_bits: is a single value, not a list - write [a, b], or a line "
            "\"- a\" for each entry");
  EXPECT_EQ(error_of("name: x\nl1: 3\n"),
            "m.yaml:2:5: gpu.l1: is a single value, not a map - write {key: value}, or indented "
            "lines \"key: value\"");
}

TEST(Parameters, ConditionsBetweenFieldsAreChecked) {
  EXPECT_EQ(error_of("name: x\nl1: {size: 1MiB}\n"),
            "m.yaml:1:1: gpu: l1.size is larger than l2.size - lower it");
}

TEST(Parameters, ResolvedYamlReadsBackToTheSameText) {
  const MachineParameters m =
      read("name: \"a: b\"\nprefetcher: {name: tree, threshold: 0.1}\nshares: [0.3]\nseed: 77\n");
  const std::string text = to_yaml(m);
  EXPECT_EQ(to_yaml(read(text)), text);
  EXPECT_NE(text.find("name: \"a: b\"\n"), std::string::npos);
  EXPECT_NE(text.find("l1:\n  size: 96KiB\n  hit_latency: 30\n"), std::string::npos);
  EXPECT_NE(text.find("prefetcher:\n  name: tree\n  threshold: 0.1\n"), std::string::npos);
}

TEST(Parameters, EmptyListReadsBack) {
  MachineParameters m = defaults<MachineParameters>();
  m.name = "x";
  EXPECT_EQ(read(to_yaml(m)).shares, std::vector<double>{});
}

TEST(Parameters, DescribeListsEveryFieldWithUnitDefaultRangeAndMeaning) {
  const std::string text = describe(schema_of<MachineParameters>(), "gpu.");
  for (const char* part : {"gpu.l1.size", "gpu.l2.mshrs", "gpu.prefetcher{tree}.threshold", "96KiB",
                           "4KiB .. 64MiB", "1 .. 4096, power of two", "back | through",
                           "none | tree", "(required)", "capacity of a slice", "lines"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(describe(schema_of<MachineParameters>(), "gpu.", "gpu.l1.si"),
            "gpu.l1.size  amount of memory  96KiB  4KiB .. 64MiB  capacity of a slice\n");
}

TEST(Parameters, ReferencePageHasATablePerGroup) {
  const std::string page = reference_page(schema_of<MachineParameters>(), "`gpu`");
  EXPECT_NE(page.find("## `gpu.l1`\n\n| key |"), std::string::npos) << page;
  EXPECT_NE(page.find("| `size` | amount of memory | 96KiB | 4KiB .. 64MiB |"), std::string::npos);
  EXPECT_NE(page.find("**`gpu.prefetcher: tree`** a binary tree of 2 MiB."), std::string::npos);
}

using Make = int (*)(const PolicyChoice&);

TEST(PolicyRegistry, FindsTheFactoryOfAChoice) {
  const PolicyRegistry<Make> registry{{"one", "the first", [](const PolicyChoice&) { return 1; }},
                                      {"two", "the second", [](const PolicyChoice&) { return 2; }}};
  EXPECT_EQ(registry.list().size(), 2u);
  const PolicyChoice choice{registry.list()[1]};
  EXPECT_EQ(registry.factory(choice)(choice), 2);
}

}  // namespace
}  // namespace lockstep::parameters_test
