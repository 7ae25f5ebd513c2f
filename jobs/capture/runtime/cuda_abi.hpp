/// The part of the CUDA runtime's binary interface that programs use: types by their sizes and
/// layouts, and numbers of its enumerations.
///
/// Source: CUDA Runtime API reference, "Data types used by CUDA Runtime", and the layouts that
/// programs built by nvcc 11, 12 and 13 use (tests/scenarios/commands/capture/programs/device.cu
/// looks at them).
#pragma once

#include <cstddef>
#include <cstdint>

/// Versions 12 and 13 changed some structures and signatures; one library is built for each.
#ifndef LOCKSTEP_CUDA_MAJOR
#define LOCKSTEP_CUDA_MAJOR 13
#endif

#define LOCKSTEP_EXPORT extern "C" __attribute__((visibility("default")))

namespace lockstep::capture {

using Error = std::int32_t;
using StreamHandle = void*;
using EventHandle = void*;

struct Dimensions {
  std::uint32_t x = 1, y = 1, z = 1;
};

enum CopyKind : int { host_to_host, host_to_device, device_to_host, device_to_device, by_address };

struct Extent {
  std::size_t width = 0, height = 0, depth = 0;
};
struct Position {
  std::size_t x = 0, y = 0, z = 0;
};
struct PitchedPointer {
  void* pointer = nullptr;
  std::size_t pitch = 0, width = 0, height = 0;
};
struct Copy3D {
  void* source_array = nullptr;
  Position source_position;
  PitchedPointer source;
  void* target_array = nullptr;
  Position target_position;
  PitchedPointer target;
  Extent extent;
  int kind = by_address;
};

struct KernelNodeParameters {
  void* function = nullptr;
  Dimensions blocks, threads;
  unsigned shared_bytes = 0;
  void** arguments = nullptr;
  void** packed = nullptr;  ///< names and values instead of arguments, as for cuLaunchKernel
};
struct FillNodeParameters {
  void* to = nullptr;
  std::size_t pitch = 0;
  unsigned value = 0, element_bytes = 1;
  std::size_t width = 0, height = 0;
};
struct HostNodeParameters {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
};
struct AnyNodeParameters {
  int type = 0;
  int reserved[3] = {};
  char parameters[232] = {};
};
struct GraphUpdateResult {
  int result = 0;
  void *node = nullptr, *from = nullptr;
};

struct FunctionAttributes {
  std::size_t shared_bytes = 0, constant_bytes = 0, local_bytes = 0;
  int maximum_threads = 0, registers = 0, ptx_version = 0, binary_version = 0, cache_mode = 0;
  int maximum_dynamic_shared_bytes = 0, preferred_carveout = 0;
#if LOCKSTEP_CUDA_MAJOR >= 12
  int cluster_must_be_set = 0, required_cluster[3] = {}, cluster_policy = 0;
  int non_portable_cluster = 0;
  int reserved[16] = {};
#endif
};
static_assert(sizeof(FunctionAttributes) == (LOCKSTEP_CUDA_MAJOR >= 12 ? 144 : 56));

struct PointerAttributes {
  int type = 0;  ///< 0: unregistered, 1: host, 2: device, 3: managed
  int device = 0;
  void *device_pointer = nullptr, *host_pointer = nullptr;
#if LOCKSTEP_CUDA_MAJOR >= 13
  long reserved[8] = {};
#endif
};

struct LaunchAttribute {
  int id = 0;
  char padding[4] = {};
  char value[64] = {};
};
inline constexpr int cooperative_attribute = 2, cluster_attribute = 4, programmatic_attribute = 6,
                     programmatic_event_attribute = 7;

struct LaunchConfiguration {
  Dimensions blocks, threads;
  std::size_t shared_bytes = 0;
  StreamHandle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(LaunchConfiguration) == 56);

struct MemoryLocation {
  int type = 0;  ///< 1: device, 2: host
  int id = 0;
};

/// Wrapper that nvcc puts before a fat binary.
struct FatBinaryWrapper {
  std::int32_t magic, version;
  const unsigned char* data;
  void* file_or_list;
};
inline constexpr std::int32_t fat_binary_wrapper_magic = 0x466243b1;

}  // namespace lockstep::capture
