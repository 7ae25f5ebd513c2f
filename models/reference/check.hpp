#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/workload/content/content.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// Bytes of a buffer that are looked at piece by piece.
class ImageBytes {
 public:
  using KnownOf = std::function<Known(std::uint64_t offset, std::uint64_t bytes)>;
  /// Returns bytes [offset, offset + scratch.size()), where they stand or in `scratch`.
  using Look =
      std::function<std::span<const std::byte>(std::uint64_t offset, std::span<std::byte> scratch)>;
  ImageBytes() = default;
  ImageBytes(std::uint64_t size, KnownOf known, Look look)
      : size_(size), known_(std::move(known)), look_(std::move(look)) {}
  ImageBytes(std::span<const std::byte> bytes);
  ImageBytes(const std::vector<std::byte>& bytes) : ImageBytes(std::span(bytes)) {}
  /// `bytes` stays where it is.
  template <class Bytes>
  static ImageBytes of(const Bytes& bytes) {
    return {
        bytes.size(),
        [&bytes](std::uint64_t offset, std::uint64_t count) { return bytes.known(offset, count); },
        [&bytes](std::uint64_t offset, std::span<std::byte> scratch) {
          return bytes.look(offset, scratch);
        }};
  }

  std::uint64_t size() const { return size_; }
  Known known(std::uint64_t offset, std::uint64_t bytes) const { return known_(offset, bytes); }
  std::span<const std::byte> look(std::uint64_t offset, std::span<std::byte> scratch) const {
    return look_(offset, scratch);
  }

 private:
  std::uint64_t size_ = 0;
  KnownOf known_;
  Look look_;
};

/// Returns the FNV-1a of the bytes, for readers who compare two runs. `pause` is called at
/// intervals.
std::uint64_t digest_of(const ImageBytes& bytes, const std::function<void()>& pause = {});

/// Content of a buffer after the run.
struct BufferImage {
  ImageBytes host;
  /// Bytes on the GPU: always for device buffers, and for managed ones that ended there.
  std::optional<ImageBytes> device;
};

/// A tenant's buffers after a run, by index in its workload.
using TenantImages = std::vector<BufferImage>;

/// The first element that differs.
struct Mismatch {
  std::string tenant, buffer;
  bool on_device = false;   ///< true: the GPU's copy differs; false: the host's
  std::uint64_t index = 0;  ///< index of the element
  std::string type;         ///< type of the float at byte `index`; empty: bytes
  std::string expected, got;

  /// Returns a line for readers.
  std::string text() const;
};

/// Compares the final bytes of the functional run with those of the machine, buffer by buffer in
/// the order of the workload: both copies of device buffers, the one copy of others.  Buffers with
/// `check: false` are skipped.  Elements are equal as models/workload/comparison.hpp says. Bytes
/// known to be unchanged on both sides are skipped.  `pause` is called at intervals.
/// Source: architecture.md, section 8, "What `--check` means".
std::optional<Mismatch> find_mismatch(const std::string& tenant, const Workload& workload,
                                      const TenantImages& expected, const TenantImages& got,
                                      const std::function<void()>& pause = {});

}  // namespace lockstep
