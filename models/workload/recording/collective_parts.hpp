/// A recorded collective: a joint operation of a program's GPUs, and the copies and launches in
/// rings that carry it out.
///
/// Capture and replay take the same parts in the same order, so that sums of floats have the same
/// bits.  Every part of the buffers goes from GPU to GPU, all GPUs sending at the same time.
/// Source: design of the project; rings as in NCCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockstep {

/// A GPU's part in a collective; in an exchange: a message.
struct CollectiveMember {
  std::uint64_t send = 0, receive = 0;  ///< addresses of the two ends
  std::uint64_t scratch = 0;   ///< address of memory for two received parts; 0: none needed
  std::uint64_t count = 0;     ///< elements of a message
  std::uint32_t stream = 0;    ///< stream numbered as in recordings, with the device
  std::uint32_t is_local = 0;  ///< 1: the message stays on its GPU
};

struct RecordedCollective {
  enum class Operation : std::uint32_t {
    all_reduce,
    broadcast,
    reduce,
    all_gather,
    reduce_scatter,
    exchange,  ///< messages from one GPU to another, all at the same time
  };
  static constexpr std::uint32_t operations = 6;
  static constexpr std::uint32_t most_gpus = 64, most_messages = 4096;

  Operation operation = Operation::all_reduce;
  std::uint32_t root = 0;
  /// Index in /kernels of the kernel that combines, or copies where nothing is combined.
  std::uint32_t kernel = 0;
  std::uint32_t element_bytes = 4;
  /// Elements of each GPU: its input of an all_gather, its result of a reduce_scatter.
  std::uint64_t count = 0;
  std::vector<CollectiveMember> members;

  bool reduces() const {
    return operation == Operation::all_reduce || operation == Operation::reduce ||
           operation == Operation::reduce_scatter;
  }
  std::vector<std::byte> pack() const;
  /// Returns nothing for bytes that are no collective.
  static std::optional<RecordedCollective> unpack(std::span<const std::byte> bytes);
};

/// A copy between GPUs, a launch, or the wait for a stream.
struct CollectivePart {
  enum class Kind : std::uint8_t {
    copy,     ///< copies `bytes` bytes from `one` to `to`
    combine,  ///< to[i] = one[i] + other[i], or another operation of the kernel
    local,    ///< a copy within the GPU by a kernel
    wait,     ///< the host waits for the stream
  };
  Kind kind = Kind::wait;
  std::uint32_t stream = 0;
  std::uint64_t to = 0, one = 0, other = 0, count = 0, bytes = 0;
  std::uint32_t divisor = 1;  ///< averages: the last sum is divided by this

  bool is_launch() const { return kind == Kind::combine || kind == Kind::local; }
};

/// Parameters of the kernels that combine and copy.
struct CollectiveArguments {
  std::uint64_t to = 0, one = 0, other = 0, count = 0;
  std::uint32_t divisor = 1, unused = 0;

  static constexpr std::size_t bytes = 36;  ///< bytes of the parameters that a kernel has
};
inline constexpr std::uint32_t collective_threads = 256;  ///< threads of a block, one element each

std::vector<CollectivePart> parts_of(const RecordedCollective& collective);

/// Returns the elements of extra memory that a GPU needs besides its buffers.
std::uint64_t scratch_elements(RecordedCollective::Operation operation, std::uint64_t count,
                               std::size_t members);

}  // namespace lockstep
