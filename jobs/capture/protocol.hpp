/// Requests of a captured program to `lockstep capture`, and the answers.  One request and one
/// answer at a time go over a socket; each is a header of numbers with bytes behind it.
///
/// Memory that the program's CPU code shares with the GPU is a file in memory that both map; the
/// offset in the file is the address minus the first address.
#pragma once

#include <cstdint>

namespace lockstep::capture {

/// Environment variable with the numbers of socket and memory file: "5,6".
inline constexpr const char* channel_variable = "LOCKSTEP_CAPTURE_CHANNEL";

/// Possible begins of the GPU's memory.  The first one that is free in the program is used, since
/// pointers to shared memory are equal on both sides.  The second is for programs under the address
/// sanitizer, whose shadow lies around the first.
inline constexpr std::uint64_t first_addresses[] = {0x1'0000'0000, 0x2000'0000'0000};
inline constexpr std::uint64_t address_space = std::uint64_t{1} << 40;

/// Mark behind the memory in its file: a byte other than 0 says that a child of the program needed
/// the GPU as well.  The process that uses the GPU holds a lock on the byte.
inline constexpr std::uint64_t child_mark = address_space, file_bytes = address_space + 4096;
/// Mark in the next byte: the program has loaded the driver's library.
inline constexpr std::uint64_t driver_mark = child_mark + 1;

/// Shift of the device in a stream's number: the default stream of device 1 is 1 << 24.
inline constexpr unsigned device_shift = 24;
constexpr std::uint64_t device_of_stream(std::uint64_t stream) {
  return stream >> device_shift;
}
constexpr std::uint64_t number_of_stream(std::uint64_t stream) {
  return stream & ((std::uint64_t{1} << device_shift) - 1);
}
inline constexpr std::uint32_t most_devices = 16;

enum class Operation : std::uint32_t {
  hello,  ///< n0: process id, n1: first address; answer bytes: DeviceDescription
  /// n0: read the module at once, n1: bytes of the name of the library with the module, 0: the
  /// program, bytes: that name, fat binary or PTX; answer n0: module.
  register_module,
  /// n0: module, n1: the function may be missing, bytes: name; answer: FunctionDescription, then
  /// parameters.
  find_function,
  /// n0: module, n1: managed, n2: the variable may be missing, bytes: name; answer n0: address,
  /// n1: bytes.
  find_variable,
  /// n0: MemoryKind, n1: bytes, n2, n3: begin and bytes of the recorded part, 0: all, n4: device;
  /// answer n0: address.
  allocate,
  release,      ///< n0: address
  copy_in,      ///< n0: address, n1: stream, n2: waits, bytes
  copy_out,     ///< n0: address, n1: bytes, n2: stream, n3: waits; answer bytes
  copy_within,  ///< n0: to, n1: from, n2: bytes, n3: stream, n4: waits
  fill,         ///< n0: address, n1: bytes, n2: value, n3: bytes of the value, n4: stream
  launch,       ///< bytes: LaunchDescription, then the parameters
  synchronize,  ///< n0: all streams of the device, n1: stream
  order,        ///< n0: stream that waits, n1: stream that it waits for
  prefetch,     ///< n0: address, n1: bytes, n2: to the GPU, n3: stream
  advise,       ///< n0: address, n1: bytes, n2: Advice
  touch,        ///< bytes: Touch...: the CPU's touches of managed memory
  occupancy,    ///< n0: function, n1: threads, n2: dynamic shared bytes, n3: blocks of a
                ///< cluster; answer n0: blocks of an SM, n1: clusters of the GPU
  memory_left,  ///< n0: device; answer n0: free, n1: total
  unsupported,  ///< bytes: name of an entry
  event_time,   ///< the program has asked for the time between events
  /// n0: device, n1: device that sees the memory of n0, n2: 1: from now on, 0: no more.
  peer_access,
  other_runtime,  ///< n0: 1: the program itself, bytes: file with a CUDA runtime inside
  collective,     ///< n0: RecordedCollective::Operation, n1: ElementKind, n2: Reduction, n3: root,
               ///< n4: elements, bytes: CollectiveEnd of each GPU, of an exchange of each message
};

/// Numbers of ncclDataType_t and ncclRedOp_t.
enum class ElementKind : std::uint64_t { i8, u8, i32, u32, i64, u64, f16, f32, f64, bf16 };
inline constexpr std::uint64_t element_kinds = 10;
enum class Reduction : std::uint64_t { sum, product, maximum, minimum, average };
inline constexpr std::uint64_t reductions = 5;
struct CollectiveEnd {
  std::uint64_t send = 0, receive = 0, stream = 0;
  std::uint64_t count = 0;  ///< elements of a message
};

enum class MemoryKind : std::uint64_t { device, managed, pinned };
enum class Advice : std::uint64_t {
  prefer_gpu,
  prefer_host,
  prefer_none,
  read_mostly,
  not_read_mostly
};

struct Request {
  Operation operation = Operation::hello;
  std::uint32_t unused = 0;
  std::uint64_t numbers[5] = {};
  std::uint64_t bytes = 0;  ///< bytes that follow this header
};

struct Answer {
  std::int32_t status = 0;  ///< status of the CUDA runtime: 0, or the error
  std::uint32_t unused = 0;
  std::uint64_t numbers[2] = {};
  std::uint64_t bytes = 0;    ///< bytes that follow this header
  std::uint64_t printed = 0;  ///< bytes of text behind those, for the program's standard output
};

struct LaunchDescription {
  std::uint64_t function = 0;
  std::uint32_t blocks[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0, stream = 0;
  /// 1: the launch may overlap with the one ahead of it in its stream.
  std::uint32_t programmatic = 0;
  std::uint32_t non_portable_cluster = 0;  ///< 1: a cluster may have more than 8 blocks
  std::uint32_t cluster[3] = {0, 0, 0};    ///< blocks of a cluster; 0: the program names none
  std::uint32_t unused = 0;
};

struct FunctionDescription {
  std::uint64_t function = 0;
  std::uint32_t registers = 0, shared_bytes = 0, local_bytes = 0, constant_bytes = 0;
  std::uint32_t maximum_threads = 0, parameters = 0;
  std::uint32_t architecture = 0;      ///< architecture of the PTX, such as 75
  std::uint32_t explicit_cluster = 0;  ///< 1: the kernel must be launched in clusters
  std::uint32_t required_cluster[3] = {
      0, 0, 0};  ///< extents of the cluster that the kernel is made for; 0: none
  std::uint32_t unused = 0;
};

struct ParameterDescription {
  std::uint32_t offset = 0, bytes = 0;
};

/// The CPU read or wrote pages of managed memory since the last launch.
struct Touch {
  std::uint64_t address = 0, bytes = 0, wrote = 0;
};

struct DeviceDescription {
  char name[64] = {};
  std::uint64_t memory_bytes = 0, l2_bytes = 0;
  std::uint32_t sms = 0, clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;
  std::uint32_t registers_per_sm = 0, threads_per_sm = 0, blocks_per_sm = 0;
  std::uint32_t shared_bytes_per_sm = 0, shared_bytes_per_block = 0;
  std::uint32_t shared_bytes_reserved = 0;  ///< bytes of a block reserved for the system
  /// Bytes of a block unless a kernel's attribute says more.
  std::uint32_t shared_bytes_unasked = 0;
  std::uint32_t major = 0, minor = 0;
  std::uint32_t devices = 1, unused = 0;
};

/// Errors of the CUDA runtime that are returned, with the numbers of its documentation.
enum Status : std::int32_t {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  initialization_error = 3,
  invalid_configuration = 9,
  invalid_symbol = 13,
  invalid_copy_direction = 21,
  invalid_device_function = 98,
  invalid_device = 101,
  invalid_image = 200,
  no_kernel_image = 209,
  peer_access_unsupported = 217,
  peer_access_enabled = 704,
  peer_access_not_enabled = 705,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  assertion_failure = 710,
  cooperative_launch_too_large = 720,
  launch_failure = 719,
  not_permitted = 800,
  not_supported = 801,
  graph_update_failure = 910,
  invalid_cluster_size = 912,
  unknown_error = 999,
};

}  // namespace lockstep::capture
