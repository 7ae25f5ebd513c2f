/// Launches, attributes of kernels and occupancy.
#include <algorithm>
#include <cstring>
#include <vector>

#include "jobs/capture/runtime/address_book.hpp"
#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/graphs.hpp"
#include "jobs/capture/runtime/shared_pages.hpp"
#include "jobs/capture/runtime/streams.hpp"

namespace lockstep::capture {
namespace {

struct CallConfiguration {
  Dimensions blocks, threads;
  std::size_t shared_bytes = 0;
  StreamHandle stream = nullptr;
};
thread_local std::vector<CallConfiguration> call_configurations;

Error launch(const void* host, const CallConfiguration& how, void** arguments, bool cooperative) {
  const Function* function = AddressBook::get().function(host);
  if (!function) return last_error(false);
  LaunchDescription description{function->description.function,
                                {how.blocks.x, how.blocks.y, how.blocks.z},
                                {how.threads.x, how.threads.y, how.threads.z},
                                static_cast<std::uint32_t>(how.shared_bytes),
                                static_cast<std::uint32_t>(stream_number(how.stream))};
  if (cooperative) {
    const Connection::Reply room = Connection::get().ask(
        Operation::occupancy,
        {description.function, std::uint64_t{how.threads.x} * how.threads.y * how.threads.z,
         how.shared_bytes});
    const std::uint64_t blocks = std::uint64_t{how.blocks.x} * how.blocks.y * how.blocks.z;
    if (blocks > room.numbers[0] * Connection::get().device().sms)
      return noted(cooperative_launch_too_large);
  }
  std::size_t end = 0;
  for (const ParameterDescription& parameter : function->parameters)
    end = std::max<std::size_t>(end, parameter.offset + parameter.bytes);
  std::vector<char> bytes(sizeof description + end);
  std::memcpy(bytes.data(), &description, sizeof description);
  for (std::size_t i = 0; i < function->parameters.size(); ++i)
    std::memcpy(bytes.data() + sizeof description + function->parameters[i].offset, arguments[i],
                function->parameters[i].bytes);
  return in_stream(how.stream, [bytes = std::move(bytes), stream = how.stream]() mutable {
    const auto number = static_cast<std::uint32_t>(stream_number(stream));
    std::memcpy(bytes.data() + offsetof(LaunchDescription, stream), &number, sizeof number);
    report_touches();
    const Error error = Connection::get().ask(Operation::launch, {}, bytes).status;
    take_pages();
    return error;
  });
}

Error occupancy(int* blocks, const void* host, int threads, std::size_t shared_bytes) {
  const Function* function = AddressBook::get().function(host);
  if (!function) return last_error(false);
  const Connection::Reply reply = Connection::get().ask(
      Operation::occupancy,
      {function->description.function, static_cast<std::uint64_t>(threads), shared_bytes});
  *blocks = static_cast<int>(reply.numbers[0]);
  return noted(reply.status);
}

}  // namespace

LOCKSTEP_EXPORT unsigned __cudaPushCallConfiguration(Dimensions blocks, Dimensions threads,
                                                     std::size_t shared_bytes,
                                                     StreamHandle stream) {
  call_configurations.push_back({blocks, threads, shared_bytes, stream});
  return 0;
}

LOCKSTEP_EXPORT Error __cudaPopCallConfiguration(Dimensions* blocks, Dimensions* threads,
                                                 std::size_t* shared_bytes, void* stream) {
  if (call_configurations.empty()) return noted(invalid_configuration);
  const CallConfiguration top = call_configurations.back();
  call_configurations.pop_back();
  *blocks = top.blocks;
  *threads = top.threads;
  *shared_bytes = top.shared_bytes;
  *static_cast<StreamHandle*>(stream) = top.stream;
  return success;
}

LOCKSTEP_EXPORT Error cudaLaunchKernel(const void* function, Dimensions blocks, Dimensions threads,
                                       void** arguments, std::size_t shared_bytes,
                                       StreamHandle stream) {
  return launch(function, {blocks, threads, shared_bytes, stream}, arguments, false);
}
LOCKSTEP_EXPORT Error __cudaLaunchKernel(void* kernel, Dimensions blocks, Dimensions threads,
                                         void** arguments, std::size_t shared_bytes,
                                         StreamHandle stream) {
  return launch(kernel, {blocks, threads, shared_bytes, stream}, arguments, false);
}
LOCKSTEP_EXPORT Error cudaLaunchCooperativeKernel(const void* function, Dimensions blocks,
                                                  Dimensions threads, void** arguments,
                                                  std::size_t shared_bytes, StreamHandle stream) {
  return launch(function, {blocks, threads, shared_bytes, stream}, arguments, true);
}
LOCKSTEP_EXPORT Error cudaLaunchKernelExC(const LaunchConfiguration* how, const void* function,
                                          void** arguments) {
  bool cooperative = false;
  for (unsigned i = 0; i < how->attribute_count; ++i) {
    int value = 0;
    std::memcpy(&value, how->attributes[i].value, sizeof value);
    cooperative |= how->attributes[i].id == cooperative_attribute && value != 0;
  }
  return launch(function, {how->blocks, how->threads, how->shared_bytes, how->stream}, arguments,
                cooperative);
}

LOCKSTEP_EXPORT Error cudaFuncGetAttributes(FunctionAttributes* attributes, const void* host) {
  const Function* function = AddressBook::get().function(host);
  if (!function) return last_error(false);
  const FunctionDescription& from = function->description;
  const DeviceDescription& device = Connection::get().device();
  *attributes = {};
  attributes->shared_bytes = from.shared_bytes;
  attributes->constant_bytes = from.constant_bytes;
  attributes->local_bytes = from.local_bytes;
  attributes->maximum_threads = static_cast<int>(from.maximum_threads);
  attributes->registers = static_cast<int>(from.registers);
  attributes->ptx_version = static_cast<int>(from.architecture);
  attributes->binary_version = static_cast<int>(10 * device.major + device.minor);
  attributes->maximum_dynamic_shared_bytes = static_cast<int>(
      device.shared_bytes_per_block - std::min(from.shared_bytes, device.shared_bytes_per_block));
  attributes->preferred_carveout = -1;
  return success;
}
LOCKSTEP_EXPORT Error cudaFuncSetAttribute(const void* host, int, int) {
  return AddressBook::get().function(host) ? success : last_error(false);
}
LOCKSTEP_EXPORT Error cudaFuncSetCacheConfig(const void* host, int) {
  return AddressBook::get().function(host) ? success : last_error(false);
}
LOCKSTEP_EXPORT Error cudaFuncSetSharedMemConfig(const void* host, int) {
  return AddressBook::get().function(host) ? success : last_error(false);
}
LOCKSTEP_EXPORT Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host,
                                                                    int threads,
                                                                    std::size_t shared_bytes) {
  return occupancy(blocks, host, threads, shared_bytes);
}
LOCKSTEP_EXPORT Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* host, int threads, std::size_t shared_bytes, unsigned) {
  return occupancy(blocks, host, threads, shared_bytes);
}

}  // namespace lockstep::capture
