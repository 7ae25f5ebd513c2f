#include "models/noc/address_mapping.hpp"

#include "core/error/error.hpp"

namespace lockstep {
namespace {

constexpr unsigned chunk_shift(AddressMapping::Kind kind) {
  return kind == AddressMapping::Kind::frame ? 12 : 8;
}
constexpr bool is_hashed(AddressMapping::Kind kind) {
  return kind == AddressMapping::Kind::hashed || kind == AddressMapping::Kind::grouped;
}

}  // namespace

AddressMapping::AddressMapping(Kind kind, std::uint32_t partitions, MemoryGroups groups)
    : all_(is_hashed(kind), chunk_shift(kind), partitions) {
  if (kind != Kind::grouped) return;
  LOCKSTEP_CHECK(groups.count >= 1 && partitions % groups.count == 0,
                 "partitions do not divide into groups");
  const std::uint32_t in_each = partitions / groups.count;
  LOCKSTEP_CHECK(groups.bytes > 0 && groups.bytes % (chunk_bytes() * in_each) == 0,
                 "the memory of a group does not divide into chunks of its partitions");
  groups_ = groups;
  group_ = Interleaving(true, chunk_shift(kind), in_each);
  behind_ = PhysicalAddress{groups.count * groups.bytes};
  offset_behind_ = groups.bytes / in_each;
}

}  // namespace lockstep
