/// Fences between ways to memory, of which this machine has one.
#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::proxy_fences_test {
namespace {

std::vector<Instruction> instructions_of(const std::string& line) {
  const Module module = load_module_text(kernel_text(line + "\nret;"), "test.ptx");
  return module.kernels[0].lowered.instructions;
}

TEST(ProxyFences, WithNothingToOrderThereIsNoInstruction) {
  const std::size_t without = instructions_of("").size();
  for (const std::string kind :
       {"alias", "async", "async.global", "async.shared::cta", "async.shared::cluster"})
    EXPECT_EQ(instructions_of("fence.proxy." + kind + ";").size(), without) << kind;
}

TEST(ProxyFences, ThoseOfTensorMapsAreFencesBetweenThreads) {
  const auto release = instructions_of("fence.proxy.tensormap::generic.release.gpu;");
  const auto acquire = instructions_of("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;");
  for (const auto& [code, ordering] :
       {std::pair(release, Ordering::release), std::pair(acquire, Ordering::acquire)}) {
    const Instruction& fence = code[code.size() - 2];
    EXPECT_EQ(fence.category, Category::fence);
    EXPECT_EQ(fence.memory.ordering, ordering);
    EXPECT_EQ(fence.memory.scope, Scope::gpu);
  }
}

TEST(ProxyFences, AnUnknownKindIsAnErrorWhereItStands) {
  try {
    instructions_of("fence.proxy.texture;");
    ADD_FAILURE() << "loaded";
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              "test.ptx:16:1: fence.proxy.texture: unknown kind of proxy (.alias, .async and "
              ".tensormap::generic are there) - write it as fence{.sc, .acq_rel}.scope with .cta, "
              ".cluster, .gpu or .sys");
  }
}

}  // namespace
}  // namespace lockstep::isa::proxy_fences_test
