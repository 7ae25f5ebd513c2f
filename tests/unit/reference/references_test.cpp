// Every shipped workload, executed functionally, against its reference in plain C++.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/parameters/document.hpp"
#include "models/isa/load.hpp"
#include "models/reference/functional_run.hpp"
#include "models/workload/content/content.hpp"
#include "models/workload/element.hpp"
#include "models/workload/kernel_arguments.hpp"
#include "tests/references/all.hpp"

namespace lockstep::references_test {
namespace {

using reference::Reference;

class References : public testing::TestWithParam<Reference> {};

Workload read_shipped(const std::string& name, const Node& parameters = Node()) {
  const std::string file =
      std::string(LOCKSTEP_SOURCE_DIR) + "/configs/workloads/" + name + ".yaml";
  return read_workload(load_document(file), parameters);
}

/// Kernels for sm_90a use matrix units that only Hopper has.
isa::Module load_for_its_target(const Workload& workload) {
  std::ifstream text(workload.module_file);
  const std::string ptx(std::istreambuf_iterator<char>(text), {});
  isa::LoweringOptions options;
  if (ptx.find(".target sm_90a") != std::string::npos)
    options.matrices = isa::MatrixArithmetic::hopper;
  isa::ModuleLoader loader = isa::open_modules(workload.module_files(), options);
  isa::Module module = loader.module();
  loader.load_all(module);
  return module;
}

reference::Buffers initial_content(const Workload& workload) {
  reference::Buffers buffers;
  const auto contents = make_contents(workload);
  for (std::size_t b = 0; b < contents.size(); ++b) {
    std::vector<std::byte>& bytes = buffers.bytes[workload.buffers[b].name];
    bytes.resize(workload.buffers[b].bytes());
    if (contents[b]) contents[b]->read(0, bytes);
  }
  return buffers;
}

/// The first element of a buffer that differs, as text; "" when none does.
std::string difference(const Buffer& buffer, double tolerance,
                       const std::vector<std::byte>& expected, const std::vector<std::byte>& got) {
  const std::size_t size = isa::bytes_of(buffer.type);
  for (std::uint64_t i = 0; i < buffer.count; ++i) {
    const std::byte *a = expected.data() + i * size, *b = got.data() + i * size;
    if (std::equal(a, a + size, b)) continue;
    const double wanted = load_element(buffer.type, a), found = load_element(buffer.type, b);
    if (tolerance > 0 && reference::within(tolerance, wanted, found)) continue;
    return buffer.name + "[" + std::to_string(i) + "] is " + number_text(found) + ", not " +
           number_text(wanted);
  }
  return "";
}

void expect_agreement(const Reference& reference, const Workload& workload) {
  const isa::Module module = load_for_its_target(workload);
  validate_workload(workload, module);
  reference::Buffers expected = initial_content(workload);
  reference.run(workload.parameters, expected);
  const FunctionalResult result = run_functionally("tenant", workload, module);
  EXPECT_GT(result.warp_instructions, 0u);
  for (std::size_t name = 0; name < workload.buffers.size(); ++name) {
    const Buffer& buffer = workload.buffers[name];
    if (!buffer.check) continue;
    const auto tolerance = reference.tolerance.find(buffer.name);
    const FunctionalResult::BufferContent& content = result.buffers[result.meaning[name]];
    EXPECT_EQ(difference(buffer, tolerance == reference.tolerance.end() ? 0 : tolerance->second,
                         expected.bytes.at(buffer.name),
                         (content.device ? *content.device : content.host).copy()),
              "");
  }
}

TEST_P(References, FunctionalRunAgrees) {
  expect_agreement(GetParam(), read_shipped(GetParam().workload));
}

/// Kernels of a workload, and ways through them, that its own parameters leave out.
struct OtherWay {
  const char *workload, *parameters;
};
class OtherWays : public testing::TestWithParam<OtherWay> {};

TEST_P(OtherWays, FunctionalRunAgrees) {
  const auto [name, parameters] = GetParam();
  const std::vector<Reference> all = reference::all();
  const auto listed =
      std::find_if(all.begin(), all.end(), [&](const Reference& r) { return r.workload == name; });
  ASSERT_NE(listed, all.end());
  expect_agreement(*listed, read_shipped(name, parse_document(parameters, name)));
}

INSTANTIATE_TEST_SUITE_P(
    Workloads, OtherWays,
    testing::Values(OtherWay{"flash_attention_hopper", "{width: 64, scale: 0.125}"},
                    OtherWay{"flash_attention_hopper", "{causal: 0, length: 384}"},
                    OtherWay{"flash_attention_hopper",
                             "{causal: 0, width: 64, batch: 2, length: 128}"},
                    OtherWay{"frames", "{work: 3, n: 16384}"},
                    OtherWay{"bfs_persistent", "{range: 500, blocks: 3}"},
                    OtherWay{"inverted_index_persistent", "{range: 100, blocks: 3}"},
                    OtherWay{"page_view_count_persistent", "{range: 0, blocks: 3}"},
                    OtherWay{"survey_propagation_persistent", "{range: 100, blocks: 3}"}));

/// A reference, workload or tolerance that nobody looks at is a mistake in the list.
TEST(ReferenceList, NamesEveryShippedWorkload) {
  std::set<std::string> listed, shipped;
  for (const Reference& reference : reference::all()) listed.insert(reference.workload);
  const std::filesystem::path folder =
      std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "configs/workloads";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") shipped.insert(entry.path().stem().string());
  }
  EXPECT_EQ(listed, shipped);
}

INSTANTIATE_TEST_SUITE_P(Workloads, References, testing::ValuesIn(reference::all()),
                         [](const auto& of) { return of.param.workload; });

}  // namespace
}  // namespace lockstep::references_test
