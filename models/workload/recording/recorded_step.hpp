/// A step of a recorded program, as stored in the table /steps of its file.
///
/// Memory is named by its address, which is the same on the machine that replays; data by its first
/// entry in /parts, which lists blocks of /blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/output/hdf5.hpp"
#include "models/isa/types.hpp"

namespace lockstep {

struct RecordedStep {
  enum class Kind : std::uint32_t {
    launch,              ///< launch; `data`, `bytes`: parameters in /arguments
    copy_to_gpu,         ///< copy; `data`: the host's bytes at that time
    copy_to_host,        ///< copy; `data`: the bytes that the program got
    write,               ///< the CPU writes to memory shared with the GPU
    read,                ///< the CPU reads memory shared with the GPU
    synchronize,         ///< the host waits for all streams
    synchronize_stream,  ///< the host waits for one stream
    prefetch_to_gpu,
    prefetch_to_host,
    prefer_gpu,
    prefer_host,
    prefer_none,
    read_mostly,
    not_read_mostly,
    delay,                ///< the host computes for `bytes` femtoseconds
    launch_programmatic,  ///< a launch that may overlap with the one ahead of it in its stream
    copy_to_peer,         ///< copy; `data`: destination on another device
    collective,  ///< collective; `data`, `bytes`: description in /arguments (collective_parts.hpp)
  };
  static constexpr std::uint32_t kinds = 18;

  /// A launch keeps its cluster in `address`: blocks along x, y and z, a byte each; 0: none.
  std::uint64_t address = 0, bytes = 0, data = 0;
  std::uint32_t kind = 0, stream = 0, waits = 0;  ///< `waits`: the host waits for this copy
  std::uint32_t kernel = 0;                       ///< index in /kernels
  std::uint32_t blocks[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0, unused = 0;

  Kind what() const { return static_cast<Kind>(kind); }
  bool is_launch() const { return what() == Kind::launch || what() == Kind::launch_programmatic; }
  std::array<std::uint32_t, 3> cluster() const {
    const auto extent = [&](unsigned axis) {
      return static_cast<std::uint32_t>(address >> 8 * axis & 0xff);
    };
    return {extent(0), extent(1), extent(2)};
  }
  void set_cluster(const std::array<std::uint32_t, 3>& size) {
    address = size[0] | size[1] << 8 | size[2] << 16;
  }
  bool has_data() const {
    return what() == Kind::copy_to_gpu || what() == Kind::copy_to_host || what() == Kind::write;
  }

  static std::vector<h5::Member> members() {
    using h5::Scalar;
    using S = RecordedStep;
    constexpr std::size_t word = sizeof(std::uint32_t);
    return {{"address", Scalar::u64, offsetof(S, address)},
            {"bytes", Scalar::u64, offsetof(S, bytes)},
            {"data", Scalar::u64, offsetof(S, data)},
            {"kind", Scalar::u32, offsetof(S, kind)},
            {"stream", Scalar::u32, offsetof(S, stream)},
            {"waits", Scalar::u32, offsetof(S, waits)},
            {"kernel", Scalar::u32, offsetof(S, kernel)},
            {"blocks_x", Scalar::u32, offsetof(S, blocks)},
            {"blocks_y", Scalar::u32, offsetof(S, blocks) + word},
            {"blocks_z", Scalar::u32, offsetof(S, blocks) + 2 * word},
            {"threads_x", Scalar::u32, offsetof(S, threads)},
            {"threads_y", Scalar::u32, offsetof(S, threads) + word},
            {"threads_z", Scalar::u32, offsetof(S, threads) + 2 * word},
            {"shared_bytes", Scalar::u32, offsetof(S, shared_bytes)}};
  }
};

/// Bytes that stand in a recording, from an entry of /parts on.
struct RecordedData {
  std::uint64_t first_part = 0, bytes = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(first_part, bytes);
  }
};

/// Floats of a copy to the host that may differ in a replay (isa::InexactFloats), as stored in the
/// table /inexact, in the order of the copies.  A recording without such floats has no table.
struct RecordedFloats {
  std::uint64_t data = 0;  ///< first entry of the copy in /parts
  /// Offset in bytes from the copy's begin; count in elements.
  std::uint64_t offset = 0, count = 0;
  double tolerance = 0, magnitude = 0;
  std::uint64_t type = 0;  ///< index in `types`
  static constexpr isa::Type types[] = {isa::Type::f32, isa::Type::f64, isa::Type::f16,
                                        isa::Type::bf16};

  static std::vector<h5::Member> members() {
    using h5::Scalar;
    using F = RecordedFloats;
    return {{"data", Scalar::u64, offsetof(F, data)},
            {"offset", Scalar::u64, offsetof(F, offset)},
            {"count", Scalar::u64, offsetof(F, count)},
            {"tolerance", Scalar::f64, offsetof(F, tolerance)},
            {"magnitude", Scalar::f64, offsetof(F, magnitude)},
            {"type", Scalar::u64, offsetof(F, type)}};
  }
};

/// The layout of a recording's file.
namespace recording_format {
inline constexpr std::uint64_t version = 1;
/// Version of recordings of programs with several devices: a stream's number includes its device.
inline constexpr std::uint64_t version_of_devices = 2;
inline constexpr std::uint32_t streams_of_a_device = 4096;
inline constexpr std::uint64_t block_bytes = 16384;
inline constexpr std::uint64_t step_rows = 1024, part_rows = 4096, argument_bytes = 65536,
                               inexact_rows = 1024;
inline constexpr const char *steps = "/steps", *kernels = "/kernels", *arguments = "/arguments",
                            *parts = "/parts", *blocks = "/blocks", *inexact = "/inexact",
                            *arithmetic = "/arithmetic";
}  // namespace recording_format

}  // namespace lockstep
