/// What is read of instructions of thread block clusters, and what is refused.  The forms are those
/// that ptxas 13 takes, or refuses, for sm_90a.
#include "models/isa/cluster.hpp"

#include <gtest/gtest.h>

#include "models/isa/bulk/bulk_copy.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"
#include "tests/unit/isa/reader/read_instructions.hpp"

namespace lockstep::isa::cluster_reader_test {
namespace {

std::string kernel_text(const std::string& line, const std::string& directives = "") {
  return R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) )" +
         directives + R"(
{
.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %rd<10>; .reg .f32 %f<4>;
.shared .align 16 .b8 room[1024];
ld.param.u64 %rd1, [p];
mov.u32 %r1, room;
mov.u32 %r2, 1;
mov.u64 %rd2, room;
mov.u16 %h1, 3;
mov.f32 %f1, 0f3f800000;
mov.b64 %rd5, 7;
)" + line +
         "\nret;\n}\n";
}

Instruction read_one(const std::string& line, Category category) {
  const auto found = read_instructions(kernel_text(line), category);
  EXPECT_EQ(found.size(), 1u) << line;
  return found.empty() ? Instruction() : found[0];
}

std::string error_of(const std::string& line, bool has_clusters = true) {
  LoweringOptions options;
  options.clusters = has_clusters;
  return message_of([&] { load_module_text(kernel_text(line), "bad.ptx", options); });
}

void expect_error(const std::string& line, const std::string& part) {
  EXPECT_NE(error_of(line).find(part), std::string::npos) << line << ": " << error_of(line);
  EXPECT_EQ(error_of(line).find("bad.ptx:15:"), 0u) << error_of(line);
}

TEST(ClusterDirectives, SayForWhichClustersAKernelIsMade) {
  const auto program = [](const std::string& directives) {
    return load_module_text(kernel_text("", directives), "k.ptx").kernels[0];
  };
  const auto both = [](const Kernel& kernel) {
    return std::array<const Program*, 2>{&kernel.reference, &kernel.lowered};
  };
  for (const Program* p : both(program(".explicitcluster\n.reqnctapercluster 2, 4\n"))) {
    EXPECT_EQ(p->required_cluster, (ClusterShape{2, 4, 1}));
    EXPECT_TRUE(p->explicit_cluster);
  }
  for (const Program* p : both(program(".maxclusterrank 8"))) {
    EXPECT_EQ(p->maximum_cluster, 8u);
    EXPECT_EQ(p->required_cluster[0], 0u);
    EXPECT_FALSE(p->explicit_cluster);
  }
  for (const char* directives : {".reqnctapercluster 2 .maxclusterrank 2", ".maxclusterrank 0",
                                 ".reqnctapercluster 0", ".reqnctapercluster 8, 4"}) {
    const std::string error = message_of([&] { program(directives); });
    EXPECT_EQ(error.find("k.ptx:4:"), 0u) << directives << ": " << error;
  }
}

TEST(ClusterBarriers, ArriveAndWaitWithTheirOrder) {
  struct Expected {
    const char* line;
    ir::ClusterBarrierStep step;
    Ordering ordering;
  };
  using enum ir::ClusterBarrierStep;
  for (const Expected& e :
       {Expected{"barrier.cluster.arrive;", arrive, Ordering::release},
        Expected{"barrier.cluster.arrive.release.aligned;", arrive, Ordering::release},
        Expected{"barrier.cluster.arrive.relaxed;", arrive, Ordering::relaxed},
        Expected{"barrier.cluster.arrive.aligned.relaxed;", arrive, Ordering::relaxed},
        Expected{"barrier.cluster.wait;", wait, Ordering::acquire},
        Expected{"barrier.cluster.wait.acquire.aligned;", wait, Ordering::acquire}}) {
    const Instruction i = read_one(e.line, Category::cluster_barrier);
    EXPECT_EQ(i.detail, static_cast<std::uint16_t>(e.step)) << e.line;
    EXPECT_EQ(i.memory.ordering, e.ordering) << e.line;
    EXPECT_EQ(i.memory.scope, Scope::cluster) << e.line;
  }
  for (const char* line : {"barrier.cluster.wait.relaxed;", "barrier.cluster.arrive.acquire;",
                           "barrier.cluster.sync;", "barrier.cluster.arrive 0;"})
    expect_error(line, line == std::string("barrier.cluster.arrive 0;") ? "operands" : "");
}

TEST(ClusterMemory, IsReachedByLoadsStoresAndAtomics) {
  const auto expect = [](const std::string& line, Category category, Scope scope) {
    const Instruction i = read_one(line, category);
    EXPECT_EQ(i.memory.space, Space::shared_cluster) << line;
    EXPECT_EQ(i.memory.scope, scope) << line;
  };
  expect("ld.shared::cluster.u32 %r3, [%r1+4];", Category::load, Scope::none);
  expect("ld.relaxed.cluster.shared::cluster.u32 %r3, [%rd2];", Category::load, Scope::cluster);
  expect("st.shared::cluster.v4.u32 [%r1], {%r2, %r2, %r2, %r2};", Category::store, Scope::none);
  expect("atom.shared::cluster.add.u32 %r3, [%r1], 1;", Category::atomic, Scope::gpu);
  expect("atom.relaxed.cluster.shared::cluster.cas.b64 %rd3, [%r1], %rd5, %rd5;", Category::atomic,
         Scope::cluster);
  expect("red.shared::cluster.add.f32 [%r1], %f1;", Category::atomic, Scope::gpu);
  EXPECT_EQ(read_one("fence.acq_rel.cluster;", Category::fence).memory.scope, Scope::cluster);
  expect_error("prefetch.shared::cluster.L1 [%rd2];", "shared::cluster");
  expect_error("ldmatrix.sync.aligned.m8n8.x1.shared::cluster.b16 {%r3}, [%r1];", "");
}

TEST(ClusterMemory, OfAnotherBlocksBarrierTakesArrivalsWithoutAState) {
  for (const auto& [line, atomic] : {
           std::pair("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];",
                     AtomicOperation::arrive),
           std::pair("mbarrier.arrive.shared::cluster.b64 _, [%r1], 3;", AtomicOperation::arrive),
           std::pair("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r1], 16;",
                     AtomicOperation::arrive_and_expect),
           std::pair("mbarrier.arrive_drop.shared::cluster.b64 _, [%r1];",
                     AtomicOperation::arrive_drop),
           std::pair("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r1], 16;",
                     AtomicOperation::expect_transactions),
           std::pair("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r1], 16;",
                     AtomicOperation::complete_transactions),
       }) {
    const Instruction i = read_one(line, Category::atomic);
    EXPECT_EQ(i.memory.space, Space::shared_cluster) << line;
    EXPECT_EQ(i.memory.scope, Scope::cluster) << line;
    EXPECT_EQ(i.memory.atomic, atomic) << line;
    EXPECT_FALSE(i.memory.returns) << line;
  }
  EXPECT_EQ(read_one("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], 0;",
                     Category::phase_wait)
                .memory.scope,
            Scope::cluster);
  expect_error("mbarrier.arrive.shared::cluster.b64 %rd3, [%r1];", "returns no state");
  expect_error("mbarrier.arrive.noComplete.shared::cluster.b64 _, [%r1], 1;", ".noComplete");
  expect_error("mbarrier.try_wait.parity.shared::cluster.b64 %p1, [%r1], 0;", "block itself");
  expect_error("mbarrier.init.shared::cluster.b64 [%r1], 1;", "block itself");
}

TEST(AsyncStores, AreReadWithTheirDataAndTheirBarrier) {
  const std::string completes = ".shared::cluster.mbarrier::complete_tx::bytes";
  struct Expected {
    std::string line;
    Type type;
    unsigned elements;
    AtomicOperation atomic = AtomicOperation::none;
  };
  for (const Expected& e : {
           Expected{"st.async.weak" + completes + ".u32 [%r1], %r2, [%r1];", Type::u32, 1},
           Expected{"st.async" + completes + ".v4.b32 [%r1], {%r2, %r2, %r2, %r2}, [%r1+16];",
                    Type::b32, 4},
           Expected{"st.async" + completes + ".v2.b64 [%rd2], {%rd5, %rd5}, [%rd2];", Type::b64, 2},
           Expected{"st.async" + completes + ".f32 [%r1+8], %f1, [%r1];", Type::f32, 1},
           Expected{"st.async.mbarrier::complete_tx::bytes.u64 [%rd2], %rd5, [%rd2];", Type::u64,
                    1},
           Expected{"red.async.relaxed.cluster" + completes + ".inc.u32 [%r1], %r2, [%r1];",
                    Type::u32, 1, AtomicOperation::inc},
           Expected{"red.async.relaxed.cluster" + completes + ".add.u64 [%r1], %rd5, [%r1];",
                    Type::u64, 1, AtomicOperation::add},
           Expected{"red.async.relaxed.cluster" + completes + ".min.s32 [%r1], %r2, [%r1];",
                    Type::s32, 1, AtomicOperation::min},
           Expected{"red.async.relaxed.cluster" + completes + ".xor.b32 [%r1], %r2, [%r1];",
                    Type::b32, 1, AtomicOperation::logical_xor},
       }) {
    const Instruction i = read_one(e.line, Category::async_store);
    EXPECT_EQ(i.memory.space, Space::shared_cluster) << e.line;
    EXPECT_EQ(i.memory.type, e.type) << e.line;
    EXPECT_EQ(i.memory.elements, e.elements) << e.line;
    EXPECT_EQ(i.memory.atomic, e.atomic) << e.line;
    for (unsigned source = 0; source < 5; ++source)
      EXPECT_EQ(i.source[source].valid(), source <= e.elements) << e.line;
  }
  for (const char* rest :
       {".v4.b64 [%r1], {%rd5, %rd5, %rd5, %rd5}, [%r1];", ".u16 [%r1], %h1, [%r1];"})
    expect_error("st.async" + completes + rest, "no such type");
  for (const char* rest : {".and.u32 [%r1], %r2, [%r1];", ".and.b64 [%r1], %rd5, [%r1];",
                           ".inc.s32 [%r1], %r2, [%r1];", ".min.u64 [%r1], %rd5, [%r1];"})
    expect_error("red.async.relaxed.cluster" + completes + rest, "no such type");
  expect_error("red.async" + completes + ".min.u32 [%r1], %r2, [%r1];", ".relaxed.cluster");
  expect_error("st.async.shared::cluster.u32 [%r1], %r2, [%r1];", "complete_tx");
}

TEST(BulkCopiesOfClusters, GoToOneBlockOrToThoseOfAMask) {
  const std::string completes = ".mbarrier::complete_tx::bytes";
  const auto form_of = [](const std::string& line) {
    return BulkCopyForm::unpack(read_one(line, Category::bulk_copy).target);
  };
  const Instruction sent = read_one(
      "cp.async.bulk.shared::cluster.shared::cta" + completes + " [%r1], [%r1], 16, [%r1];",
      Category::bulk_copy);
  EXPECT_EQ(BulkCopyForm::unpack(sent.target).step, ir::BulkCopyStep::send);
  EXPECT_EQ(sent.memory.space, Space::shared);
  for (const char* hint : {"", ".L2::cache_hint"})
    for (const char* mask : {"%h1", "5"}) {
      const std::string behind = *hint == 0 ? ";" : ", %rd5;";
      const std::string line = "cp.async.bulk.shared::cluster.global" + completes +
                               ".multicast::cluster" + hint + " [%r1], [%rd1], 16, [%r1], " + mask +
                               behind;
      const BulkCopyForm form = form_of(line);
      EXPECT_TRUE(form.multicast) << line;
      EXPECT_EQ(form.step, ir::BulkCopyStep::load);
      const RanksPlace place = ranks_place(form);
      EXPECT_TRUE(read_one(line, Category::bulk_copy).source[place.source].valid()) << line;
    }
  std::string coordinates;
  for (unsigned rank = 1; rank <= 5; ++rank) {
    coordinates += rank == 1 ? "%r2" : ", %r2";
    const std::string line =
        "cp.async.bulk.tensor." + std::to_string(rank) + "d.shared::cluster.global.tile" +
        completes + ".multicast::cluster [%r1], [%rd1, {" + coordinates + "}], [%r1], %h1;";
    const BulkCopyForm form = form_of(line);
    EXPECT_TRUE(form.multicast);
    EXPECT_EQ(form.rank, rank);
    EXPECT_TRUE(read_one(line, Category::bulk_copy).source[ranks_place(form).source].valid());
  }
  expect_error("cp.async.bulk.shared::cta.global" + completes +
                   ".multicast::cluster [%r1], [%rd1], 16, [%r1], %h1;",
               ".multicast::cluster");
  expect_error("cp.async.bulk.shared::cluster.global" + completes +
                   ".multicast::cluster [%r1], [%rd1], 16, [%r1], %r2;",
               "%r2");
}

TEST(ClusterAddresses, AreComputedByMapaAndGetctarank) {
  for (const char* line :
       {"mapa.shared::cluster.u32 %r3, %r1, 1;", "mapa.shared::cluster.u32 %r3, room, %r2;",
        "mapa.shared::cluster.u64 %rd3, %rd2, %r2;", "mapa.u64 %rd3, %rd2, 1;",
        "getctarank.shared::cluster.u32 %r3, %r1;", "getctarank.u64 %r3, %rd2;",
        "cvta.shared::cluster.u64 %rd3, %rd2;", "isspacep.shared::cluster %p1, %rd2;",
        "mov.u32 %r3, %cluster_ctarank;", "mov.u32 %r3, %nclusterid.z;",
        "mov.pred %p1, %is_explicit_cluster;", "@%is_explicit_cluster bra L;\nL:"})
    EXPECT_EQ(error_of(line), "no error") << line;
  expect_error("getctarank.u64 %rd3, %rd2;", "%rd3");
  expect_error("mapa.u64 %rd3, %rd2, %rd5;", "%rd5");
  expect_error("mapa.f32 %f1, %f1, 1;", ".u32 or .u64");
  expect_error("mov.u32 %r3, %is_explicit_cluster;", "");
}

TEST(ClusterInstructions, AreRefusedByAMachineWithoutClusters) {
  const std::string completes = ".mbarrier::complete_tx::bytes";
  for (const std::string& line :
       {std::string("barrier.cluster.arrive;"),
        std::string("mapa.shared::cluster.u32 %r3, %r1, 1;"),
        std::string("getctarank.u64 %r3, %rd2;"), std::string("ld.shared::cluster.u32 %r3, [%r1];"),
        std::string("mbarrier.arrive.shared::cluster.b64 _, [%r1];"),
        std::string("mov.u32 %r3, %cluster_ctarank;"),
        "st.async.shared::cluster" + completes + ".u32 [%r1], %r2, [%r1];",
        "cp.async.bulk.shared::cluster.shared::cta" + completes + " [%r1], [%r1], 16, [%r1];",
        "cp.async.bulk.shared::cluster.global" + completes +
            ".multicast::cluster [%r1], [%rd1], 16, [%r1], %h1;"}) {
    const std::string error = error_of(line, false);
    EXPECT_EQ(error.find("bad.ptx:15:"), 0u) << error;
    EXPECT_NE(error.find("needs thread block clusters of compute capability 9.0"),
              std::string::npos)
        << error;
  }
  // Where it is another name of the block's own memory.
  EXPECT_EQ(
      error_of("cp.async.bulk.shared::cluster.global" + completes + " [%r1], [%rd1], 16, [%r1];",
               false),
      "no error");
}

}  // namespace
}  // namespace lockstep::isa::cluster_reader_test
