#include "models/reference/check.hpp"

#include "core/error/error.hpp"
#include "models/workload/comparison.hpp"

namespace lockstep {

namespace {

std::optional<Mismatch> compare(const Buffer& buffer, std::span<const std::byte> expected,
                                std::span<const std::byte> got) {
  LOCKSTEP_CHECK(expected.size() == buffer.bytes() && got.size() == buffer.bytes(),
                 "an image of buffer " + buffer.name + " has the wrong size");
  const auto difference = find_difference(buffer, 0, expected, got);
  if (!difference) return std::nullopt;
  Mismatch mismatch;
  mismatch.index = difference->offset / isa::bytes_of(buffer.type);
  mismatch.type = difference->type == buffer.type ? "" : element_type_name(difference->type);
  mismatch.expected = difference->expected;
  mismatch.got = difference->got;
  return mismatch;
}

/// The two copies of a device buffer, or the one copy of another, wherever it ended.
std::optional<Mismatch> compare_images(const Buffer& buffer, const BufferImage& expected,
                                       const BufferImage& got) {
  if (buffer.memory != MemoryKind::device) {
    std::optional<Mismatch> mismatch =
        compare(buffer, expected.device.value_or(expected.host), got.device.value_or(got.host));
    if (mismatch) mismatch->on_device = got.device.has_value();
    return mismatch;
  }
  if (std::optional<Mismatch> mismatch = compare(buffer, expected.host, got.host)) return mismatch;
  LOCKSTEP_CHECK(expected.device && got.device,
                 "the GPU's copy of buffer " + buffer.name + " was not kept");
  std::optional<Mismatch> mismatch = compare(buffer, *expected.device, *got.device);
  if (mismatch) mismatch->on_device = true;
  return mismatch;
}

}  // namespace

std::string Mismatch::text() const {
  return "tenant " + tenant + ", buffer " + buffer + " (" + (on_device ? "GPU" : "host") +
         " copy), " + (type.empty() ? "element " : type + " at byte ") + std::to_string(index) +
         ": expected " + expected + ", got " + got;
}

std::optional<Mismatch> find_mismatch(const std::string& tenant, const Workload& workload,
                                      const TenantImages& expected, const TenantImages& got) {
  LOCKSTEP_CHECK(
      expected.size() == workload.buffers.size() && got.size() == workload.buffers.size(),
      "tenant " + tenant + " has other buffers than its workload");
  for (std::size_t b = 0; b < workload.buffers.size(); ++b) {
    const Buffer& buffer = workload.buffers[b];
    if (!buffer.check) continue;
    std::optional<Mismatch> mismatch = compare_images(buffer, expected[b], got[b]);
    if (!mismatch) continue;
    mismatch->tenant = tenant;
    mismatch->buffer = buffer.name;
    return mismatch;
  }
  return std::nullopt;
}

}  // namespace lockstep
