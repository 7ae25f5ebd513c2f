#include "models/reference/check.hpp"

#include "core/error/error.hpp"
#include "models/workload/comparison.hpp"

namespace lockstep {

namespace {

/// Bytes of each side that are compared at a time.
constexpr std::uint64_t piece_bytes = std::uint64_t{256} << 10;

/// Calls function(offset, bytes) for the pieces of an image.
template <class Function>
void for_each_piece(std::uint64_t size, const std::function<void()>& pause,
                    const Function& function) {
  for (std::uint64_t offset = 0; offset < size; offset += piece_bytes) {
    if (pause) pause();
    function(offset, std::min(piece_bytes, size - offset));
  }
}

/// Returns the first element that differs of a piece that begins `offset` bytes behind the buffer.
std::optional<Mismatch> compare_piece(const Buffer& buffer, std::uint64_t offset,
                                      std::span<const std::byte> expected,
                                      std::span<const std::byte> got) {
  const auto difference = find_difference(buffer, offset, expected, got);
  if (!difference) return std::nullopt;
  Mismatch mismatch;
  mismatch.index = difference->offset / isa::bytes_of(buffer.type);
  mismatch.type = difference->type == buffer.type ? "" : element_type_name(difference->type);
  mismatch.expected = difference->expected;
  mismatch.got = difference->got;
  return mismatch;
}

std::optional<Mismatch> compare(const Buffer& buffer, const ImageBytes& expected,
                                const ImageBytes& got, const std::function<void()>& pause) {
  LOCKSTEP_CHECK(expected.size() == buffer.bytes() && got.size() == buffer.bytes(),
                 "an image of buffer " + buffer.name + " has the wrong size");
  std::vector<std::byte> one, other;
  std::optional<Mismatch> mismatch;
  for_each_piece(expected.size(), pause, [&](std::uint64_t offset, std::uint64_t bytes) {
    const Known known = expected.known(offset, bytes);
    if (mismatch || (known != Known::nothing && known == got.known(offset, bytes))) return;
    one.resize(bytes);
    other.resize(bytes);
    mismatch = compare_piece(buffer, offset, expected.look(offset, one), got.look(offset, other));
  });
  return mismatch;
}

/// Compares the two copies of a device buffer, or the one copy of another buffer, wherever it
/// ended.
std::optional<Mismatch> compare_images(const Buffer& buffer, const BufferImage& expected,
                                       const BufferImage& got, const std::function<void()>& pause) {
  if (buffer.memory != MemoryKind::device) {
    std::optional<Mismatch> mismatch = compare(buffer, expected.device.value_or(expected.host),
                                               got.device.value_or(got.host), pause);
    if (mismatch) mismatch->on_device = got.device.has_value();
    return mismatch;
  }
  if (auto mismatch = compare(buffer, expected.host, got.host, pause)) return mismatch;
  LOCKSTEP_CHECK(expected.device && got.device,
                 "the GPU's copy of buffer " + buffer.name + " was not kept");
  std::optional<Mismatch> mismatch = compare(buffer, *expected.device, *got.device, pause);
  if (mismatch) mismatch->on_device = true;
  return mismatch;
}

constexpr std::uint64_t fnv_prime = 0x100000001b3;

/// Returns base to the power of exponent, modulo 2^64: the factor of FNV-1a for as many zero bytes.
std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if ((exponent & 1) != 0) result *= base;
  return result;
}

}  // namespace

ImageBytes::ImageBytes(std::span<const std::byte> bytes)
    : size_(bytes.size()),
      known_([](std::uint64_t, std::uint64_t) { return Known::nothing; }),
      look_([bytes](std::uint64_t offset, std::span<std::byte> scratch) {
        return bytes.subspan(offset, scratch.size());
      }) {}

std::uint64_t digest_of(const ImageBytes& bytes, const std::function<void()>& pause) {
  std::uint64_t hash = 0xcbf29ce484222325;
  std::vector<std::byte> scratch;
  for_each_piece(bytes.size(), pause, [&](std::uint64_t offset, std::uint64_t count) {
    if (bytes.known(offset, count) == Known::zeros) {
      hash *= power(fnv_prime, count);
      return;
    }
    scratch.resize(count);
    for (const std::byte b : bytes.look(offset, scratch))
      hash = (hash ^ static_cast<std::uint64_t>(b)) * fnv_prime;
  });
  return hash;
}

std::string Mismatch::text() const {
  return "tenant " + tenant + ", buffer " + buffer + " (" + (on_device ? "GPU" : "host") +
         " copy), " + (type.empty() ? "element " : type + " at byte ") + std::to_string(index) +
         ": expected " + expected + ", got " + got;
}

std::optional<Mismatch> find_mismatch(const std::string& tenant, const Workload& workload,
                                      const TenantImages& expected, const TenantImages& got,
                                      const std::function<void()>& pause) {
  LOCKSTEP_CHECK(
      expected.size() == workload.buffers.size() && got.size() == workload.buffers.size(),
      "tenant " + tenant + " has other buffers than its workload");
  for (std::size_t b = 0; b < workload.buffers.size(); ++b) {
    const Buffer& buffer = workload.buffers[b];
    if (!buffer.check) continue;
    std::optional<Mismatch> mismatch = compare_images(buffer, expected[b], got[b], pause);
    if (!mismatch) continue;
    mismatch->tenant = tenant;
    mismatch->buffer = buffer.name;
    return mismatch;
  }
  return std::nullopt;
}

}  // namespace lockstep
