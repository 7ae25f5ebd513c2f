/// What every registered exception scheme must keep when pages are refused and come later: every
/// access goes out once and gets its answer, nobody is forgotten, the end is the same after saving
/// and restoring in the middle.  Registering one enrols it.
#include <gtest/gtest.h>

#include <memory>

#include "models/sm/exception_scheme/registry.hpp"
#include "models/vm/messages.hpp"
#include "tests/harness/policy_named.hpp"
#include "tests/harness/policy_variants.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::exception_scheme_contract_test {
namespace {

/// Every thread loads from one page, stores to another and counts itself with an atomic.
constexpr const char* body = R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 16;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r5, [%rd3];
  add.u32 %r5, %r5, 1;
  add.u64 %rd4, %rd0, %rd2;
  st.global.u32 [%rd4], %r5;
  atom.global.add.u32 %r6, [%rd0+65536], 1;
)";

class Faulting {
 public:
  explicit Faulting(const std::string& scheme, const char* kernel = body,
                    Cycles gmmu_latency = Cycles{10})
      : machine_(kernel_of(kernel), options(scheme, gmmu_latency)) {
    machine_.record = true;
    for (std::uint32_t i = 0; i < 1024; ++i) machine_.put<std::uint32_t>(32768 + 16 * i, 3 * i);
    for (auto& [page, state] : machine_.pages) state = {TranslationStatus::refused, {}};
    machine_.launch("k", {4, 1, 1}, {256, 1, 1}, {machine_.address(0), machine_.address(32768), 0});
  }
  /// Pages come one after the other, and a replay for each.
  void run() {
    for (const auto& [page, state] : machine_.pages) {
      machine_.run_to(machine_.cycle() + 400);
      machine_.page_comes(page);
    }
    machine_.run();
  }
  void run_to(std::int64_t cycle) { machine_.run_to(cycle); }
  void end_tenant_at(std::int64_t cycle) {
    machine_.post(0, cycle, MessageKind::abort_tenant, TenantNotice{0, {}});
  }
  IdealMachine& machine() { return machine_; }

 private:
  static IdealMachine::Options options(const std::string& scheme, Cycles gmmu_latency) {
    IdealMachine::Options options;
    options.gmmu_latency = gmmu_latency;
    options.knows_pages = false;
    options.memory_bytes = 1 << 17;
    options.exception_scheme = scheme;
    return options;
  }
  IdealMachine machine_;
};

class ExceptionSchemeContract : public testing::TestWithParam<std::string> {};

void expect_results(IdealMachine& machine) {
  for (std::uint32_t i = 0; i < 1024; ++i)
    ASSERT_EQ(machine.get<std::uint32_t>(16 * i), 3 * i + 1) << i;
  EXPECT_EQ(machine.get<std::uint32_t>(65536), 1024u);
}

TEST_P(ExceptionSchemeContract, EveryAccessGoesOutOnceAndNobodyIsForgotten) {
  Faulting faulting(GetParam());
  faulting.run();
  expect_results(faulting.machine());
  std::size_t stores = 0, atomic_lanes = 0;
  for (const auto& seen : faulting.machine().seen) {
    stores += seen.request.operation == MemoryOperation::store;
    if (seen.request.operation == MemoryOperation::atomic) atomic_lanes += seen.request.lanes;
  }
  EXPECT_EQ(stores, 1024u * 16 / line_bytes);
  EXPECT_EQ(atomic_lanes, 1024u);
}

TEST_P(ExceptionSchemeContract, EndsTheSameAfterSavingAndRestoringAmidFaults) {
  Faulting whole(GetParam()), saved(GetParam());
  whole.run_to(300);
  saved.run_to(300);
  saved.machine().save_and_restore();
  whole.run();
  saved.run();
  expect_results(saved.machine());
  EXPECT_EQ(saved.machine().cycle(), whole.machine().cycle());
  EXPECT_EQ(saved.machine().seen.size(), whole.machine().seen.size());
}

TEST_P(ExceptionSchemeContract, ActsTheSameWhereverItStands) {
  Faulting first(GetParam());
  const auto elsewhere = std::make_unique<Faulting>(GetParam());
  first.run();
  elsewhere->run();
  EXPECT_EQ(first.machine().cycle(), elsewhere->machine().cycle());
  ASSERT_EQ(first.machine().seen.size(), elsewhere->machine().seen.size());
  for (std::size_t i = 0; i < first.machine().seen.size(); ++i)
    ASSERT_EQ(first.machine().seen[i].departure, elsewhere->machine().seen[i].departure) << i;
}

/// The page of the younger load comes first: as the other one comes, that load still waits for its
/// translation.
constexpr const char* younger_load_first = R"(
  ld.global.u32 %r1, [%rd1+4096];
  ld.global.u32 %r2, [%rd1];
  add.u32 %r1, %r1, %r2;
  st.global.u32 [%rd0], %r1;
)";

TEST_P(ExceptionSchemeContract, ATenantThatEndsAtAnyMomentLeavesNothingBehind) {
  for (std::int64_t moment = 150; moment < 6000; moment += 53) {
    SCOPED_TRACE(moment);
    Faulting faulting(GetParam(), younger_load_first, Cycles{600});
    faulting.end_tenant_at(moment);
    faulting.run();
    EXPECT_EQ(faulting.machine().sm().waiting_for(), "");
    faulting.machine().launch("k", {4, 1, 1}, {256, 1, 1},
                              {IdealMachine::address(0), IdealMachine::address(32768), 0});
    faulting.machine().run();
    EXPECT_EQ(faulting.machine().get<std::uint32_t>(0), 3u * 256);
  }
}

/// Variants but logs in which an instruction of a block finds no room: launches refuse those.
std::vector<std::string> variants() {
  std::vector<std::string> all = policy_variants(exception_scheme_policies());
  std::erase_if(all, [](const std::string& variant) {
    return log_entries_of(policy_written<exception_scheme_policies>(variant)) == 1;
  });
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryScheme, ExceptionSchemeContract, testing::ValuesIn(variants()),
                         [](const auto& test) { return variant_name(test.param); });

}  // namespace
}  // namespace lockstep::exception_scheme_contract_test
