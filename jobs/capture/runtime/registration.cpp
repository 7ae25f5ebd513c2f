/// Entries that the start-up code of programs calls to announce fat binaries, kernels and
/// variables.  Source: crt/host_runtime.h as used by nvcc 12 and 13.
#include <cstring>
#include <string>
#include <vector>

#include "jobs/capture/runtime/address_book.hpp"
#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/loaded_file.hpp"
#include "jobs/capture/runtime/shared_pages.hpp"

namespace lockstep::capture {
namespace {

/// Appends a container (see fat_binary.hpp); its header has the length.
void append_container(const void* data, std::vector<char>& to) {
  const char* begin = static_cast<const char*>(data);
  std::uint16_t header = 0;
  std::uint64_t bytes = 0;
  std::memcpy(&header, begin + 6, sizeof header);
  std::memcpy(&bytes, begin + 8, sizeof bytes);
  to.insert(to.end(), begin, begin + header + bytes);
}

/// Returns the container, or the containers from which device code was linked (-rdc=true).
std::vector<char> containers(const FatBinaryWrapper& wrapper) {
  constexpr std::int32_t linked = 2;
  std::vector<char> bytes;
  if (wrapper.version != linked || !wrapper.file_or_list) {
    append_container(wrapper.data, bytes);
  } else {
    for (const auto* data = static_cast<const void* const*>(wrapper.file_or_list); *data; ++data)
      append_container(*data, bytes);
  }
  return bytes;
}

std::uint64_t module_of(void** handle) {
  return reinterpret_cast<std::uint64_t>(*handle);
}

}  // namespace

LOCKSTEP_EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  const auto& binary = *static_cast<const FatBinaryWrapper*>(wrapper);
  const LoadedFile file = file_around(wrapper);
  const std::string library = file.is_program ? "" : file.name;
  std::vector<char> bytes(library.begin(), library.end());
  const std::vector<char> module = containers(binary);
  bytes.insert(bytes.end(), module.begin(), module.end());
  const Connection::Reply reply =
      Connection::get().ask(Operation::register_module, {0, library.size()}, bytes);
  return new void*(reinterpret_cast<void*>(reply.numbers[0]));
}

LOCKSTEP_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

/// Called at the end of the program: reads of results up to here belong to the recording.
LOCKSTEP_EXPORT void __cudaUnregisterFatBinary(void** handle) {
  report_touches();
  take_pages();
  delete handle;
}

LOCKSTEP_EXPORT void __cudaRegisterFunction(void** handle, const char* host, char*,
                                            const char* name, int, void*, void*, void*, void*,
                                            int*) {
  AddressBook::get().add_function(host, module_of(handle), name);
}

LOCKSTEP_EXPORT void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int,
                                       std::size_t bytes, int, int) {
  AddressBook::get().add_variable(host, {module_of(handle), name, bytes, nullptr, 0, false});
}

LOCKSTEP_EXPORT void __cudaRegisterManagedVar(void** handle, void** pointer, char*,
                                              const char* name, int, std::size_t bytes, int, int) {
  AddressBook::get().add_variable(pointer, {module_of(handle), name, bytes, pointer, 0, false});
}

LOCKSTEP_EXPORT char __cudaInitModule(void**) {
  AddressBook::get().place_managed_variables();
  return 1;
}

LOCKSTEP_EXPORT Error __cudaGetKernel(void** kernel, const void* host) {
  *kernel = const_cast<void*>(host);
  return success;
}

LOCKSTEP_EXPORT Error cudaGetKernel(void** kernel, const void* host) {
  return __cudaGetKernel(kernel, host);
}

LOCKSTEP_EXPORT Error cudaGetFuncBySymbol(void** function, const void* host) {
  return __cudaGetKernel(function, host);
}

}  // namespace lockstep::capture
