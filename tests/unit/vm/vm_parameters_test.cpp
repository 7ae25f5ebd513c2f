/// Parameters of address translation that do not go together.
#include "models/vm/vm_parameters.hpp"

#include <gtest/gtest.h>

#include "core/error/error.hpp"
#include "core/parameters/document.hpp"

namespace lockstep::vm_parameters_test {
namespace {

/// What reading a `vm:` with one more line says; "" if nothing.
std::string refused(const std::string& line) {
  try {
    read_parameters<VmParameters>(parse_document("vm:\n  " + line + "\n", "gpu.yaml").at("vm"));
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(VmParameters, WaysDivideEntriesOfEveryArray) {
  EXPECT_EQ(refused("l1_tlb: {entries: 16, ways: 3}"),
            "gpu.yaml:2:11: vm.l1_tlb: entries (16) are no multiple of ways (3) - make them one, "
            "or ways 0 (fully associative)");
  EXPECT_EQ(refused("l2_tlb: {large_entries: 16, large_ways: 32}"),
            "gpu.yaml:2:11: vm.l2_tlb: large_entries (16) are no multiple of large_ways (32) - "
            "make them one, or large_ways 0 (fully associative)");
  for (const char* line :
       {"l1_tlb: {entries: 16, ways: 17}", "l1_tlb: {large_entries: 10, large_ways: 4}",
        "l2_tlb: {entries: 500}", "walk_cache: {entries: 8}", "walk_cache: {entries: 64, ways: 7}"})
    EXPECT_NE(refused(line), "") << line;
}

TEST(VmParameters, AnyNumberOfEntriesIsFullyAssociative) {
  EXPECT_EQ(refused("l1_tlb: {entries: 7, ways: 0, large_entries: 3}"), "");
  EXPECT_EQ(refused("l2_tlb: {entries: 48, ways: 16, large_entries: 12, large_ways: 12}"), "");
  EXPECT_EQ(refused("walk_cache: {entries: 5, ways: 1}"), "");
}

}  // namespace
}  // namespace lockstep::vm_parameters_test
