/// The program's end of the channel to `lockstep capture`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "jobs/capture/protocol.hpp"
#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

class Connection {
 public:
  /// Returns the connection.  Ends the program with one line when `lockstep capture` did not start
  /// it.
  static Connection& get();

  struct Reply {
    Error status = success;
    std::uint64_t numbers[2] = {};
    std::vector<char> bytes;
  };
  /// Asks and waits; calls from several threads follow each other.  Text that kernels printed goes
  /// to the program's standard output.
  Reply ask(Operation operation, std::initializer_list<std::uint64_t> numbers = {},
            std::span<const char> bytes = {});
  /// Asks and waits like ask(); the answer's bytes go to `to`, which must hold them.
  Error ask_into(Operation operation, std::initializer_list<std::uint64_t> numbers, void* to);

  const DeviceDescription& device() const { return device_; }
  int memory_file() const { return memory_; }
  /// Returns the first address of the GPU's memory.
  std::uint64_t first_address() const { return first_address_; }

 private:
  Connection();
  void send(const void* from, std::size_t bytes) const;
  void receive(void* to, std::size_t bytes) const;
  Answer exchange(Operation operation, std::initializer_list<std::uint64_t> numbers,
                  std::span<const char> bytes) const;
  void print(std::size_t bytes) const;
  /// A process that may not use the GPU: the recording is refused.
  [[noreturn]] void refuse_child(const char* what) const;

  std::mutex mutex_;
  int socket_ = -1, memory_ = -1;
  int process_ = 0;
  std::uint64_t first_address_ = 0;
  DeviceDescription device_;
};

/// Keeps the error for cudaGetLastError and gives it back.
Error noted(Error error);
/// Gives the program a value; a missing place for the value is an error.
template <class T, class Value>
Error give(T* to, const Value& value) {
  if (!to) return noted(invalid_value);
  *to = static_cast<T>(value);
  return success;
}
Error last_error(bool forget);
/// Reports an unsupported entry, once each.
Error unsupported(const char* name);

inline std::span<const char> bytes_of(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace lockstep::capture
