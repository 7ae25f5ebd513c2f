/// Writes the file of a recorded program (recorded_step.hpp); equal blocks of data are stored once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/isa/interpreter/inexact/inexact_floats.hpp"
#include "models/isa/matrix/form.hpp"
#include "models/workload/recording/recorded_step.hpp"

namespace lockstep {

class RecordingWriter {
 public:
  /// `has_devices`: whether the program may use several devices.
  explicit RecordingWriter(const std::string& file, bool has_devices = false);

  void add(const RecordedStep& step);
  /// Writes a launch's parameters. Returns their place.
  std::uint64_t add_arguments(std::span<const std::byte> bytes);
  /// Writes the data, except for blocks already stored. Returns their place.
  std::uint64_t add_data(std::span<const std::byte> bytes);
  /// Adds the floats of the last added data that may differ in a replay.
  void add_inexact(std::uint64_t data, std::span<const isa::InexactFloats> floats);
  /// Returns the index of a kernel.
  std::uint32_t kernel(const std::string& name);

  /// Notes whose tensor cores computed the program's results.
  void set_arithmetic(isa::MatrixArithmetic arithmetic) { arithmetic_ = arithmetic; }

  std::uint64_t steps() const { return step_count_; }
  std::uint64_t launches() const { return launches_; }
  const std::vector<std::string>& kernel_names() const { return kernels_; }
  /// Returns the bytes of data of all steps; stored_bytes() returns those stored.
  std::uint64_t data_bytes() const { return data_bytes_; }
  std::uint64_t stored_bytes() const { return blocks_count_ * recording_format::block_bytes; }

  /// Writes the remaining rows. Nothing may be added afterwards.
  void finish();

 private:
  /// 128 bits of a block: different blocks have different ones in practice.
  struct Fingerprint {
    std::uint64_t low = 0, high = 0;
    bool operator==(const Fingerprint&) const = default;
  };
  struct FingerprintHash {
    std::size_t operator()(const Fingerprint& print) const { return print.low; }
  };
  static Fingerprint fingerprint(std::span<const std::byte> block);

  std::uint64_t block(std::span<const std::byte> bytes);

  h5::File file_;
  h5::Series steps_, arguments_, parts_, blocks_;
  std::optional<h5::Series> inexact_;  ///< inexact floats; made with the first one
  std::vector<RecordedStep> waiting_steps_;
  std::vector<std::uint64_t> waiting_parts_;
  std::vector<std::byte> waiting_arguments_;
  std::vector<RecordedFloats> waiting_inexact_;
  std::uint64_t step_count_ = 0, launches_ = 0, argument_count_ = 0, part_count_ = 0;
  std::uint64_t blocks_count_ = 0, data_bytes_ = 0;
  std::unordered_map<Fingerprint, std::uint64_t, FingerprintHash> known_blocks_;
  std::optional<isa::MatrixArithmetic> arithmetic_;
  std::vector<std::string> kernels_;
  std::unordered_map<std::string, std::uint32_t> kernel_indices_;
};

}  // namespace lockstep
