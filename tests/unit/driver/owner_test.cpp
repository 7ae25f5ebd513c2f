/// Owners of operations: no two parts of the host have the same word, and files keep theirs.
#include "models/host_link/owner.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "models/driver/mapping/owners.hpp"
#include "models/host_link/request_owner.hpp"
#include "models/host_link/transfer.hpp"

namespace lockstep::test::owner_test {
namespace {

template <class Owner>
struct OwnerTest : testing::Test {
  static std::vector<typename Owner::Part> parts();
};
template <>
std::vector<RequestPart> OwnerTest<RequestOwner>::parts() {
  return {RequestPart::transfer, RequestPart::mapping, RequestPart::rearrangement};
}
template <>
std::vector<TransferPart> OwnerTest<TransferOwner>::parts() {
  return {TransferPart::program, TransferPart::write_back, TransferPart::mapping,
          TransferPart::inspection};
}
template <>
std::vector<UnmappingPart> OwnerTest<UnmappingOwner>::parts() {
  return {UnmappingPart::departure, UnmappingPart::rearrangement, UnmappingPart::nobody};
}
template <>
std::vector<CopyPart> OwnerTest<CopyOwner>::parts() {
  return {CopyPart::rearrangement, CopyPart::foreign_page};
}
using Owners = testing::Types<RequestOwner, TransferOwner, UnmappingOwner, CopyOwner>;
TYPED_TEST_SUITE(OwnerTest, Owners);

TYPED_TEST(OwnerTest, EachPartAndNumberHasAWordOfItsOwn) {
  std::set<decltype(TypeParam{}.bits())> words;
  for (const auto part : TestFixture::parts()) {
    for (const auto number : {decltype(TypeParam::number){0}, decltype(TypeParam::number){1},
                              TypeParam::most - 1, TypeParam::most}) {
      const TypeParam owner{part, number};
      EXPECT_TRUE(words.insert(owner.bits()).second);
      EXPECT_EQ(TypeParam::of(owner.bits()), owner);
    }
  }
}

TEST(Owner, FilesKeepTheWordsThatTheyHad) {
  EXPECT_EQ((RequestOwner{RequestPart::transfer, 7}.bits()), 7u);
  EXPECT_EQ((RequestOwner{RequestPart::mapping, 7}.bits()), 1u << 31 | 7);
  EXPECT_EQ((RequestOwner{RequestPart::rearrangement, 7}.bits()), 1u << 31 | 1u << 29 | 7);
  EXPECT_EQ((TransferOwner{TransferPart::program, 7}.bits()), 7u);
  EXPECT_EQ((TransferOwner{TransferPart::write_back, 7}.bits()), std::uint64_t{1} << 62 | 7);
  EXPECT_EQ((TransferOwner{TransferPart::mapping, 7}.bits()), std::uint64_t{1} << 63 | 7);
  EXPECT_EQ((UnmappingOwner{UnmappingPart::departure, 7}.bits()), 7u);
  EXPECT_EQ((UnmappingOwner{UnmappingPart::rearrangement, 7}.bits()), 1u << 31 | 7);
  EXPECT_EQ(nobody_unmaps.bits(), ~0u);
  EXPECT_EQ((CopyOwner{CopyPart::rearrangement, 7}.bits()), 7u);
  EXPECT_EQ((CopyOwner{CopyPart::foreign_page, 7}.bits()), 1u << 31 | 7);
}

}  // namespace
}  // namespace lockstep::test::owner_test
