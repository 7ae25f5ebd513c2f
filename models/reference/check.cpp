#include "models/reference/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "core/error/error.hpp"
#include "models/workload/element.hpp"

namespace lockstep {

namespace {

bool within(double tolerance, double expected, double got) {
  if (!std::isfinite(expected) || !std::isfinite(got)) return expected == got;
  return std::fabs(expected - got) <= tolerance * std::max(1.0, std::fabs(expected));
}

/// The number, and for floats its bits, since two that print alike may differ.
std::string element_text(isa::Type type, const std::byte* place) {
  const unsigned size = isa::bytes_of(type);
  std::uint64_t bits = 0;
  std::memcpy(&bits, place, size);
  if (!isa::is_float(type)) {
    if (!isa::is_signed(type)) return std::to_string(bits);
    const unsigned unused = 64 - 8 * size;
    return std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  char text[64];
  std::snprintf(text, sizeof text, "%.17g (0x%0*llx)", load_element(type, place),
                static_cast<int>(2 * size), static_cast<unsigned long long>(bits));
  return text;
}

std::optional<Mismatch> compare(const Buffer& buffer, std::span<const std::byte> expected,
                                std::span<const std::byte> got) {
  LOCKSTEP_CHECK(expected.size() == buffer.bytes() && got.size() == buffer.bytes(),
                 "an image of buffer " + buffer.name + " has the wrong size");
  if (std::memcmp(expected.data(), got.data(), expected.size()) == 0) return std::nullopt;
  const std::size_t size = isa::bytes_of(buffer.type);
  for (std::uint64_t i = 0; i < buffer.count; ++i) {
    const std::byte *a = expected.data() + i * size, *b = got.data() + i * size;
    if (std::memcmp(a, b, size) == 0) continue;
    if (isa::is_float(buffer.type) && buffer.tolerance > 0 &&
        within(buffer.tolerance, load_element(buffer.type, a), load_element(buffer.type, b))) {
      continue;
    }
    Mismatch mismatch;
    mismatch.index = i;
    mismatch.expected = element_text(buffer.type, a);
    mismatch.got = element_text(buffer.type, b);
    return mismatch;
  }
  return std::nullopt;
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
         " copy), element " + std::to_string(index) + ": expected " + expected + ", got " + got;
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
