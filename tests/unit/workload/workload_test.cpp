#include "models/workload/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness_workload/sample_workload.hpp"

namespace lockstep::workload_test {
namespace {

using sample::error_of;
using sample::read;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// A workload with one buffer; its map begins at line 4, column 6.
std::string with_buffer(const std::string& buffer) {
  return "module: sample.ptx\n"
         "parameters: {n: 16}\n"
         "buffers:\n"
         "  b: " +
         buffer + "\nprogram: []\n";
}

Initializer initial_of(const std::string& text) {
  return read(with_buffer("{type: f32, count: n, memory: device, init: " + text + "}"))
      .buffers.front()
      .initial;
}

std::string initial_error(const std::string& text) {
  return error_of(with_buffer("{type: f32, count: n, memory: device, init: " + text + "}"));
}

const char graph[] =
    "module: sample.ptx\n"
    "parameters: {v: 4}\n"
    "buffers:\n"
    "  row: {type: u32, count: %ROWS, memory: device,\n"
    "        init: {csr_graph: {kind: %KIND, vertices: v, edges: 9, seed: 3, columns: %COLUMNS, "
    "weights: w}}}\n"
    "  column: {type: u32, count: 9, memory: device}\n"
    "  w: {type: f32, count: 9, memory: device}\n"
    "program: []\n";

std::string graph_text(const std::string& rows, const std::string& kind,
                       const std::string& columns) {
  std::string text = graph;
  const auto put = [&](const std::string& what, const std::string& with) {
    text.replace(text.find(what), what.size(), with);
  };
  put("%ROWS", rows), put("%KIND", kind), put("%COLUMNS", columns);
  return text;
}

TEST(WorkloadReader, UnknownKeysOfInitialContentNameTheNearest) {
  EXPECT_THAT(initial_error("{uniform: {lo: 1}}"), AllOf(HasSubstr("lo"), HasSubstr("low")));
  EXPECT_THAT(initial_error("{linear: {stop: 1}}"), AllOf(HasSubstr("stop"), HasSubstr("step")));
  EXPECT_THAT(initial_error("{file: {name: x.raw, dataset: y}}"), HasSubstr("data_set"));
}

TEST(WorkloadReader, UnknownInitialContentNamesTheKnownKinds) {
  for (const char* text : {"ones", "linear", "{ones: 1}"})
    EXPECT_THAT(initial_error(text),
                AllOf(HasSubstr("no initial content is called"),
                      HasSubstr("zero, value, linear, uniform, normal, permutation, csr_graph, "
                                "file, texture")));
  EXPECT_THAT(initial_error("{zero: 1}"), HasSubstr("zero stands alone"));
}

TEST(WorkloadReader, ParametersMayUseEarlierOnes) {
  const Workload workload = read(sample::workload_text("  []\n"));
  EXPECT_EQ(workload.parameters.at("half"), 8);
}

TEST(WorkloadReader, TenantOverridesParametersBeforeTheyAreUsed) {
  const Workload workload = read(sample::workload_text("  []\n"), "{n: 64}");
  EXPECT_EQ(workload.parameters.at("half"), 32);
  EXPECT_EQ(workload.buffers.front().count, 64u);
}

TEST(WorkloadReader, OverrideOfAnUnknownParameterNamesTheKnownOnes) {
  EXPECT_THAT(
      error_of(sample::workload_text("  []\n"), "{m: 64}"),
      AllOf(StartsWith("s.yaml:1:5: "), HasSubstr("no such parameter"), HasSubstr("half, n")));
}

TEST(WorkloadReader, BufferHasItsTypeCountAndMemory) {
  const Workload workload = read(sample::workload_text("  []\n"));
  ASSERT_EQ(workload.buffers.size(), 4u);
  EXPECT_EQ(workload.buffers[2].name, "m");
  EXPECT_EQ(workload.buffers[2].type, isa::Type::u32);
  EXPECT_EQ(workload.buffers[2].memory, MemoryKind::managed);
  EXPECT_EQ(workload.buffers[3].bytes(), 16u * 8);
}

TEST(WorkloadReader, EveryElementTypeHasAName) {
  for (const char* name :
       {"u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"}) {
    EXPECT_EQ(element_type_name(element_type(name)), name);
  }
  EXPECT_EQ(element_type("float"), isa::Type::none);
}

TEST(WorkloadReader, CheckIsOnWithoutToleranceUnlessSaid) {
  const Buffer plain = read(with_buffer("{type: f32, count: 1, memory: device}")).buffers.front();
  EXPECT_TRUE(plain.check);
  EXPECT_EQ(plain.tolerance, 0);
  const Buffer loose =
      read(with_buffer("{type: f32, count: 1, memory: device, check: false, tolerance: 1.0e-3}"))
          .buffers.front();
  EXPECT_FALSE(loose.check);
  EXPECT_EQ(loose.tolerance, 1e-3);
}

TEST(WorkloadReader, UnknownTypeNamesTheKnownOnes) {
  EXPECT_THAT(error_of(with_buffer("{type: float, count: 1, memory: device}")),
              AllOf(StartsWith("w.yaml:4:13: "), HasSubstr("no type is called \"float\""),
                    HasSubstr("f32")));
}

TEST(WorkloadReader, UnknownMemoryNamesTheKnownOnes) {
  EXPECT_THAT(error_of(with_buffer("{type: f32, count: 1, memory: unified}")),
              AllOf(StartsWith("w.yaml:4:36: "), HasSubstr("no memory is called \"unified\""),
                    HasSubstr("device, managed, pinned")));
}

TEST(WorkloadReader, BufferWithoutElementsIsAnError) {
  EXPECT_THAT(error_of(with_buffer("{type: f32, count: floor(n / 17), memory: device}")),
              AllOf(StartsWith("w.yaml:4:25: "), HasSubstr("is 0, not a whole number from 1")));
}

TEST(WorkloadReader, FractionalCountIsAnError) {
  EXPECT_THAT(error_of(with_buffer("{type: f32, count: n / 3, memory: device}")),
              AllOf(StartsWith("w.yaml:4:25: "), HasSubstr("5.33")));
}

TEST(WorkloadReader, UnknownBufferKeyNamesTheNearest) {
  EXPECT_THAT(error_of(with_buffer("{type: f32, count: 1, memory: device, chek: false}")),
              AllOf(StartsWith("w.yaml:4:44: "), HasSubstr("check")));
}

TEST(WorkloadReader, MissingBufferKeyIsNamed) {
  EXPECT_THAT(error_of(with_buffer("{type: f32, memory: device}")),
              AllOf(StartsWith("w.yaml:4:6: "), HasSubstr("count")));
}

TEST(WorkloadReader, UnknownTopLevelKeyIsAnError) {
  EXPECT_THAT(error_of("modul: x.ptx\nmodule: x.ptx\nbuffers: {}\nprogram: []\n"),
              AllOf(StartsWith("w.yaml:1:1: "), HasSubstr("module")));
}

TEST(WorkloadReader, MissingModuleIsAnError) {
  EXPECT_THAT(error_of("buffers: {}\nprogram: []\n"),
              AllOf(StartsWith("w.yaml:1:1: "), HasSubstr("module")));
}

TEST(WorkloadReader, ContentIsZeroByDefault) {
  EXPECT_EQ(initial_of("zero").kind, Initializer::Kind::zero);
  EXPECT_EQ(read(with_buffer("{type: f32, count: 1, memory: device}")).buffers[0].initial.kind,
            Initializer::Kind::zero);
}

TEST(WorkloadReader, ContentOfOneValue) {
  const Initializer initial = initial_of("{value: n / 4}");
  EXPECT_EQ(initial.kind, Initializer::Kind::value);
  EXPECT_EQ(initial.first, 4);
}

TEST(WorkloadReader, LinearContentStartsAtZeroWithStepOne) {
  const Initializer initial = initial_of("{linear: {}}");
  EXPECT_EQ(initial.kind, Initializer::Kind::linear);
  EXPECT_EQ(initial.first, 0);
  EXPECT_EQ(initial.second, 1);
  EXPECT_EQ(initial_of("{linear: {start: 3, step: -0.5}}").second, -0.5);
}

TEST(WorkloadReader, RandomContentHasBoundsAndSeed) {
  const Initializer uniform = initial_of("{uniform: {low: -1, high: n, seed: 7}}");
  EXPECT_EQ(uniform.kind, Initializer::Kind::uniform);
  EXPECT_EQ(uniform.first, -1);
  EXPECT_EQ(uniform.second, 16);
  EXPECT_EQ(uniform.seed, 7u);
  const Initializer normal = initial_of("{normal: {mean: 2, deviation: 0.5, seed: 8}}");
  EXPECT_EQ(normal.kind, Initializer::Kind::normal);
  EXPECT_EQ(normal.first, 2);
  EXPECT_EQ(normal.second, 0.5);
}

TEST(WorkloadReader, PermutationWorksWithAndWithoutSeed) {
  EXPECT_EQ(initial_of("permutation").kind, Initializer::Kind::permutation);
  EXPECT_EQ(initial_of("{permutation: {seed: 5}}").seed, 5u);
}

TEST(WorkloadReader, FilesStandBesideTheWorkload) {
  EXPECT_THAT(initial_of("{file: in.bin}").file, testing::EndsWith("in.bin"));
  const Initializer set = initial_of("{file: {name: in.h5, data_set: /a/b}}");
  EXPECT_EQ(set.kind, Initializer::Kind::file);
  EXPECT_EQ(set.data_set, "/a/b");
}

TEST(WorkloadReader, GraphFillsTheBuffersItNames) {
  const Workload workload = read(graph_text("5", "rmat", "column"));
  EXPECT_EQ(workload.buffers[0].initial.kind, Initializer::Kind::csr_row);
  EXPECT_EQ(workload.buffers[1].initial.kind, Initializer::Kind::csr_column);
  EXPECT_EQ(workload.buffers[2].initial.kind, Initializer::Kind::csr_weight);
  for (const Buffer& buffer : workload.buffers) {
    EXPECT_TRUE(buffer.initial.rmat);
    EXPECT_EQ(buffer.initial.vertices, 4u);
    EXPECT_EQ(buffer.initial.edges, 9u);
    EXPECT_EQ(buffer.initial.seed, 3u);
  }
}

TEST(WorkloadReader, GraphNeedsRoomForAllRows) {
  EXPECT_THAT(error_of(graph_text("4", "rmat", "column")),
              AllOf(StartsWith("w.yaml:5:27: "),
                    HasSubstr("buffer row has 4 elements, the graph needs 5")));
}

TEST(WorkloadReader, GraphOfUnknownKindIsAnError) {
  EXPECT_THAT(error_of(graph_text("5", "kronecker", "column")),
              AllOf(StartsWith("w.yaml:5:34: "), HasSubstr("rmat or uniform")));
}

TEST(WorkloadReader, GraphInAnUnknownBufferIsAnError) {
  EXPECT_THAT(error_of(graph_text("5", "uniform", "colum")),
              AllOf(StartsWith("w.yaml:5:"), HasSubstr("there is no buffer \"colum\"")));
}

TEST(WorkloadReader, UnknownContentNamesTheKnownOnes) {
  EXPECT_THAT(initial_error("random"), AllOf(StartsWith("w.yaml:4:50: "), HasSubstr("uniform")));
  EXPECT_THAT(initial_error("{random: {}}"),
              AllOf(StartsWith("w.yaml:4:50: "), HasSubstr("uniform")));
}

TEST(WorkloadReader, UnknownContentKeyIsAnError) {
  EXPECT_THAT(initial_error("{uniform: {lo: 1}}"),
              AllOf(StartsWith("w.yaml:4:61: "), HasSubstr("low")));
}

TEST(WorkloadReader, TwoContentsAreAnError) {
  EXPECT_THAT(initial_error("{value: 1, linear: {}}"),
              AllOf(StartsWith("w.yaml:4:50: "), HasSubstr("one entry")));
}

}  // namespace
}  // namespace lockstep::workload_test
