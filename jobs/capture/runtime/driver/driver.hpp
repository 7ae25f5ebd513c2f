/// The CUDA driver's interface, on top of the runtime's: both have the same streams, events, memory
/// and error numbers.
///
/// Its entries live in the runtime's library, so that a program that uses both has one state;
/// libcuda.so.1 (driver/library.cpp) hands calls on to them.  Source: CUDA Driver API reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/cuda_abi.hpp"

/// Found by name only: libcuda.so.1 has the symbol that programs see.
#define LOCKSTEP_DRIVER extern "C" __attribute__((visibility("hidden")))

namespace lockstep::capture::driver {

using DeviceAddress = std::uint64_t;

inline void* pointer(DeviceAddress address) {
  return reinterpret_cast<void*>(address);
}

/// Makes a call whose error cudaGetLastError does not return.
template <class Call>
Error apart(const Call& call) {
  const Error before = last_error(true);
  const Error error = call();
  last_error(true);
  noted(before);
  return error;
}

/// Returns the entry of exactly this name; null: none.
void* entry_named(const std::string& name);
/// Returns the entry that programs of this CUDA version (12080 for 12.8) mean by the name; null:
/// none.
void* find_entry(const char* name, int version);

/// Returns the entry that programs of this CUDA version (12080 for 12.8) mean by the name; nullptr:
/// none.
struct LoadedModule;
Error load(LoadedModule** module, std::vector<char> image);
/// Returns the PTX, fat binary or machine code that begins at the address, whatever its length.
std::vector<char> image_at(const void* begin);
Error find_function(void** function, LoadedModule* module, const char* name);
/// `is_managed`: the program's CPU code sees it too.
Error find_variable(void** address, std::size_t* bytes, LoadedModule* module, const char* name,
                    bool is_managed);
Error read_file(const char* name, std::vector<char>& bytes);

}  // namespace lockstep::capture::driver
