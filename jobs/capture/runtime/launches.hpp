/// Launches of kernels, as the program asks for them.
#pragma once

#include <cstddef>
#include <vector>

#include "jobs/capture/protocol.hpp"
#include "jobs/capture/runtime/address_book.hpp"
#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

struct CallConfiguration {
  Dimensions blocks, threads;
  std::size_t shared_bytes = 0;
  StreamHandle stream = nullptr;
  bool programmatic = false;  ///< the launch may overlap with the one ahead of it in its stream
  bool has_cluster = false;
  Dimensions cluster{};
};

/// A launch with its arguments, to be executed now or when a graph is launched.
struct KernelCall {
  const void* function = nullptr;  ///< function as the address book knows it
  CallConfiguration how;
  std::vector<char> parameters;      ///< parameter buffer
  std::vector<std::size_t> offsets;  ///< offset of each parameter in the buffer
};

/// A pointer to each argument, or all arguments as the kernel's parameter buffer.
struct Arguments {
  void* const* each = nullptr;
  const void* buffer = nullptr;
  std::size_t buffer_bytes = 0;
};

/// Reads a list of names and values that ends with 0: 1 is the buffer, 2 the place of its size.
Arguments packed_arguments(void* const* list);

/// Reads attributes of a launch; attributes without an effect on the model are ignored.
/// `cooperative`: all its blocks must run at once.
Error read_attributes(const LaunchAttribute* attributes, unsigned count, CallConfiguration& how,
                      bool& cooperative);

/// Sets the clusters that a launch names, or those that the program has set for the function.
void set_cluster(const Function& function, const CallConfiguration& how,
                 LaunchDescription& description);
/// Tells how many clusters of a launch can be on the GPU at once.
Error active_clusters(int* clusters, const void* function, const CallConfiguration& how);
/// Tells how many blocks the largest cluster of a launch can have.
Error potential_cluster(int* blocks, const void* function, const CallConfiguration& how);

/// Takes copies of the arguments.
Error make_call(const void* function, const CallConfiguration& how, const Arguments& arguments,
                KernelCall& call);
/// Asks for the launch.
Error run(const KernelCall& call);
/// Launches the kernel in its stream, or adds it to the graph into which the stream is captured.
Error launch(const void* function, const CallConfiguration& how, const Arguments& arguments,
             bool cooperative = false);

}  // namespace lockstep::capture
