#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/workload/workload.hpp"

namespace lockstep {

/// What a buffer holds after the run.
struct BufferImage {
  std::span<const std::byte> host;
  /// The GPU's bytes: of device buffers always, of managed ones when they ended there.
  std::optional<std::span<const std::byte>> device;
};

/// A tenant's buffers after a run, by index in its workload.
using TenantImages = std::vector<BufferImage>;

/// The first element that differs.
struct Mismatch {
  std::string tenant, buffer;
  bool on_device = false;   ///< which copy
  std::uint64_t index = 0;  ///< element
  std::string type;         ///< of a float among bytes, where `index` is the byte; else empty
  std::string expected, got;

  /// One line for people.
  std::string text() const;
};

/// Compares what the functional run left with what the machine left, buffer by buffer in the order
/// of the workload: both copies of device buffers, the one copy of others.  Buffers with `check:
/// false` are skipped.  Elements are equal as models/workload/comparison.hpp says.
/// Source: architecture.md, section 8, "What `--check` means".
std::optional<Mismatch> find_mismatch(const std::string& tenant, const Workload& workload,
                                      const TenantImages& expected, const TenantImages& got);

}  // namespace lockstep
