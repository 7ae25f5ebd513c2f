/// Launches, attributes of kernels and occupancy.
#include "jobs/capture/runtime/launches.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "jobs/capture/runtime/address_book.hpp"
#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/graphs/graphs.hpp"
#include "jobs/capture/runtime/shared_pages.hpp"
#include "jobs/capture/runtime/streams.hpp"

namespace lockstep::capture {
namespace {

thread_local std::vector<CallConfiguration> call_configurations;

/// Returns whether all blocks of a cooperative launch, which run at once, find room.
bool has_room(const Function& function, const CallConfiguration& how) {
  const Connection::Reply room = Connection::get().ask(
      Operation::occupancy,
      {function.description.function, std::uint64_t{how.threads.x} * how.threads.y * how.threads.z,
       how.shared_bytes});
  const std::uint64_t blocks = std::uint64_t{how.blocks.x} * how.blocks.y * how.blocks.z;
  return blocks <= room.numbers[0] * Connection::get().device().sms;
}

Error occupancy(int* blocks, const void* host, int threads, std::size_t shared_bytes) {
  const Function* function = AddressBook::get().function(host);
  if (!function) return last_error(false);
  const Connection::Reply reply = Connection::get().ask(
      Operation::occupancy,
      {function->description.function, static_cast<std::uint64_t>(threads), shared_bytes});
  if (threads <= 0) return noted(invalid_value);
  return reply.status == success ? give(blocks, reply.numbers[0]) : noted(reply.status);
}

Error clusters_of(std::uint64_t& clusters, const Function& function, const CallConfiguration& how,
                  std::uint64_t blocks) {
  const std::uint64_t threads = std::uint64_t{how.threads.x} * how.threads.y * how.threads.z;
  const Connection::Reply reply = Connection::get().ask(
      Operation::occupancy, {function.description.function, threads, how.shared_bytes, blocks});
  clusters = reply.numbers[1];
  return threads == 0 ? invalid_value : static_cast<Error>(reply.status);
}

}  // namespace

Error active_clusters(int* clusters, const void* host, const CallConfiguration& how) {
  const Function* function = AddressBook::get().function(host);
  if (!function) return last_error(false);
  LaunchDescription description;
  set_cluster(*function, how, description);
  const std::uint32_t* shape = description.cluster;
  if (shape[0] == 0) shape = function->description.required_cluster;
  const std::uint64_t blocks = std::uint64_t{shape[0]} * shape[1] * shape[2];
  const std::uint32_t most = function->takes_non_portable_cluster ? 16 : 8;
  if (blocks > most) return noted(invalid_cluster_size);
  std::uint64_t found = 0;
  const Error error = clusters_of(found, *function, how, std::max<std::uint64_t>(blocks, 1));
  return error == success ? give(clusters, found) : noted(error);
}

Error potential_cluster(int* blocks, const void* host, const CallConfiguration& how) {
  const Function* function = AddressBook::get().function(host);
  if (!function) return last_error(false);
  for (std::uint64_t most = function->takes_non_portable_cluster ? 16 : 8; most > 0; --most) {
    std::uint64_t clusters = 0;
    if (const Error error = clusters_of(clusters, *function, how, most); error != success)
      return noted(error);
    if (clusters > 0) return give(blocks, most);
  }
  return give(blocks, 0);
}

Error read_attributes(const LaunchAttribute* attributes, unsigned count, CallConfiguration& how,
                      bool& cooperative) {
  if (count > 0 && !attributes) return noted(invalid_value);
  for (unsigned i = 0; i < count; ++i) {
    int value = 0;
    std::memcpy(&value, attributes[i].value, sizeof value);
    if (attributes[i].id == programmatic_event_attribute)
      return unsupported("cudaLaunchAttributeProgrammaticEvent");
    if (attributes[i].id == cooperative_attribute) cooperative = value != 0;
    if (attributes[i].id == programmatic_attribute) how.programmatic = value != 0;
    if (attributes[i].id != cluster_attribute) continue;
    std::memcpy(&how.cluster, attributes[i].value, sizeof how.cluster);
    how.has_cluster = true;
  }
  return success;
}

Arguments packed_arguments(void* const* list) {
  enum : std::uintptr_t { end = 0, buffer = 1, size = 2 };
  Arguments arguments;
  for (; list && reinterpret_cast<std::uintptr_t>(*list) != end; list += 2) {
    if (reinterpret_cast<std::uintptr_t>(*list) == buffer) arguments.buffer = list[1];
    if (reinterpret_cast<std::uintptr_t>(*list) == size)
      arguments.buffer_bytes = *static_cast<const std::size_t*>(list[1]);
  }
  return arguments;
}

/// Returns the largest dynamic shared memory; a kernel has more than the usual amount only if its
/// attribute says so.
std::size_t most_dynamic_shared_bytes(const Function& function) {
  const std::uint32_t of_kernel = function.description.shared_bytes,
                      usual = Connection::get().device().shared_bytes_unasked;
  return std::max(function.dynamic_shared_limit, usual - std::min(usual, of_kernel));
}

Error make_call(const void* host, const CallConfiguration& how, const Arguments& arguments,
                KernelCall& call) {
  const Function* function = AddressBook::get().function(host);
  if (!function) return last_error(false);
  if (how.shared_bytes > most_dynamic_shared_bytes(*function)) return invalid_value;
  call = {host, how, {}, {}};
  std::size_t end = 0;
  for (const ParameterDescription& parameter : function->parameters) {
    call.offsets.push_back(parameter.offset);
    end = std::max<std::size_t>(end, parameter.offset + parameter.bytes);
  }
  if (!arguments.each && !arguments.buffer && end > 0) return invalid_value;
  call.parameters.resize(end);
  if (!arguments.each) {
    if (end > 0)
      std::memcpy(call.parameters.data(), arguments.buffer, std::min(end, arguments.buffer_bytes));
    return success;
  }
  for (std::size_t i = 0; i < function->parameters.size(); ++i)
    if (!arguments.each[i]) return invalid_value;
  for (std::size_t i = 0; i < function->parameters.size(); ++i)
    std::memcpy(call.parameters.data() + call.offsets[i], arguments.each[i],
                function->parameters[i].bytes);
  return success;
}

void set_cluster(const Function& function, const CallConfiguration& how,
                 LaunchDescription& description) {
  description.non_portable_cluster = function.takes_non_portable_cluster ? 1 : 0;
  const Dimensions& asked = how.cluster;
  const std::uint32_t given[] = {asked.x, asked.y, asked.z};
  const std::uint32_t* const cluster = how.has_cluster ? given : function.required_cluster;
  std::copy_n(cluster, 3, description.cluster);
}

Error run(const KernelCall& call) {
  const Function* function = AddressBook::get().function(call.function);
  if (!function) return last_error(false);
  const CallConfiguration& how = call.how;
  LaunchDescription description{function->description.function,
                                {how.blocks.x, how.blocks.y, how.blocks.z},
                                {how.threads.x, how.threads.y, how.threads.z},
                                static_cast<std::uint32_t>(how.shared_bytes),
                                static_cast<std::uint32_t>(stream_number(how.stream)),
                                static_cast<std::uint32_t>(how.programmatic)};
  set_cluster(*function, how, description);
  std::vector<char> bytes(sizeof description + call.parameters.size());
  std::memcpy(bytes.data(), &description, sizeof description);
  std::copy(call.parameters.begin(), call.parameters.end(), bytes.begin() + sizeof description);
  report_touches();
  const Error error = Connection::get().ask(Operation::launch, {}, bytes).status;
  take_pages();
  return error;
}

Error launch(const void* host, const CallConfiguration& how, const Arguments& arguments,
             bool cooperative) {
  auto call = std::make_shared<KernelCall>();
  if (const Error error = make_call(host, how, arguments, *call); error != success)
    return noted(error);
  if (!is_on_current_device(how.stream)) return noted(invalid_handle);
  const Function& function = *AddressBook::get().function(host);
  const std::uint32_t* const required = function.required_cluster;
  const bool is_required = required[0] != 0;
  const bool is_other = how.has_cluster && is_required &&
                        (how.cluster.x != required[0] || how.cluster.y != required[1] ||
                         how.cluster.z != required[2]);
  if (is_other || (function.cluster_must_be_set && !how.has_cluster && !is_required))
    return noted(invalid_cluster_size);
  if (cooperative && !has_room(function, how)) return noted(cooperative_launch_too_large);
  return in_stream(how.stream, std::move(call));
}

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
  return launch(function, {blocks, threads, shared_bytes, stream}, {arguments});
}
LOCKSTEP_EXPORT Error __cudaLaunchKernel(void* kernel, Dimensions blocks, Dimensions threads,
                                         void** arguments, std::size_t shared_bytes,
                                         StreamHandle stream) {
  return launch(kernel, {blocks, threads, shared_bytes, stream}, {arguments});
}
LOCKSTEP_EXPORT Error cudaLaunchCooperativeKernel(const void* function, Dimensions blocks,
                                                  Dimensions threads, void** arguments,
                                                  std::size_t shared_bytes, StreamHandle stream) {
  return launch(function, {blocks, threads, shared_bytes, stream}, {arguments}, true);
}
LOCKSTEP_EXPORT Error cudaLaunchKernelExC(const LaunchConfiguration* how, const void* function,
                                          void** arguments) {
  if (!how) return noted(invalid_value);
  CallConfiguration call{how->blocks, how->threads, how->shared_bytes, how->stream};
  bool cooperative = false;
  if (const Error error = read_attributes(how->attributes, how->attribute_count, call, cooperative);
      error != success)
    return error;
  return launch(function, call, {arguments}, cooperative);
}

LOCKSTEP_EXPORT Error cudaFuncGetAttributes(FunctionAttributes* attributes, const void* host) {
  const Function* function = AddressBook::get().function(host);
  if (!function) return last_error(false);
  if (!attributes) return noted(invalid_value);
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
  attributes->maximum_dynamic_shared_bytes = static_cast<int>(most_dynamic_shared_bytes(*function));
  attributes->preferred_carveout = -1;
#if LOCKSTEP_CUDA_MAJOR >= 12
  attributes->cluster_must_be_set = function->cluster_must_be_set || from.explicit_cluster != 0;
  for (int axis = 0; axis < 3; ++axis)
    attributes->required_cluster[axis] =
        static_cast<int>(from.required_cluster[axis] != 0 ? from.required_cluster[axis]
                                                          : function->required_cluster[axis]);
  attributes->cluster_policy = function->cluster_policy;
  attributes->non_portable_cluster = function->takes_non_portable_cluster ? 1 : 0;
#endif
  return success;
}
LOCKSTEP_EXPORT Error cudaFuncSetAttribute(const void* host, int attribute, int value) {
  constexpr int dynamic_shared = 8, carveout = 9, must_be_set = 10, width = 11, depth = 13,
                non_portable = 14, policy = 15;
  Function* function = AddressBook::get().function(host);
  if (!function) return last_error(false);
  const auto most = static_cast<std::int64_t>(Connection::get().device().shared_bytes_per_block) -
                    function->description.shared_bytes;
  if (attribute < dynamic_shared || attribute > policy ||
      (attribute == dynamic_shared && (value < 0 || value > most)) ||
      (attribute == carveout && (value < -1 || value > 100)) ||
      (attribute >= must_be_set && value < 0))
    return noted(invalid_value);
  if (attribute >= width && attribute <= depth) {
    const std::uint32_t made_for = function->description.required_cluster[attribute - width];
    if (made_for != 0 && value != static_cast<int>(made_for)) return noted(invalid_value);
    function->required_cluster[attribute - width] = static_cast<std::uint32_t>(value);
  }
  if (attribute == must_be_set) function->cluster_must_be_set = value != 0;
  if (attribute == non_portable) function->takes_non_portable_cluster = value != 0;
  if (attribute == policy) function->cluster_policy = value;
  if (attribute == dynamic_shared)
    function->dynamic_shared_limit = static_cast<std::uint32_t>(value);
  return success;
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
/// Returns the most shared memory that leaves room for this number of blocks. The function tries
/// each amount, from the largest allowed one downwards.
LOCKSTEP_EXPORT Error cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                                const void* host, int blocks,
                                                                int threads) {
  constexpr std::size_t step = 256;
  if (!bytes) return noted(invalid_value);
  for (*bytes = Connection::get().device().shared_bytes_per_block / step * step;; *bytes -= step) {
    int fitting = 0;
    if (const Error error = occupancy(&fitting, host, threads, *bytes); error != success)
      return error;
    if (fitting >= blocks || *bytes == 0) return success;
  }
}
LOCKSTEP_EXPORT Error cudaOccupancyMaxActiveClusters(int* clusters, const void* host,
                                                     const LaunchConfiguration* how) {
  if (!how) return noted(invalid_value);
  CallConfiguration call{how->blocks, how->threads, how->shared_bytes, how->stream};
  bool cooperative = false;
  if (const Error error = read_attributes(how->attributes, how->attribute_count, call, cooperative);
      error != success)
    return error;
  return active_clusters(clusters, host, call);
}
LOCKSTEP_EXPORT Error cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* host,
                                                           const LaunchConfiguration* how) {
  if (!how) return noted(invalid_value);
  return potential_cluster(blocks, host,
                           {how->blocks, how->threads, how->shared_bytes, how->stream});
}
LOCKSTEP_EXPORT Error cudaFuncGetName(const char** name, const void* host) {
  const Function* function = AddressBook::get().function(host);
  if (!function) return last_error(false);
  return give(name, function->name.c_str());
}
LOCKSTEP_EXPORT Error cudaFuncGetParamInfo(const void* host, std::size_t index, std::size_t* offset,
                                           std::size_t* bytes) {
  const Function* function = AddressBook::get().function(host);
  if (!function) return last_error(false);
  if (index >= function->parameters.size()) return noted(invalid_value);
  if (!offset) return noted(invalid_value);
  *offset = function->parameters[index].offset;
  if (bytes) *bytes = function->parameters[index].bytes;
  return success;
}

}  // namespace lockstep::capture
