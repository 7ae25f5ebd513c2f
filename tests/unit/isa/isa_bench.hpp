#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "models/isa/interpreter/interpreter.hpp"
#include "models/isa/load.hpp"

namespace lockstep::isa {

/// Runs kernels of a module on flat memory, in the form before or after lowering.
class IsaBench {
 public:
  explicit IsaBench(const std::string& text, bool lowered = false,
                    const std::string& file = "test.ptx");
  IsaBench(Module module, bool lowered);
  ~IsaBench();
  static IsaBench from_file(const std::string& path, bool lowered = false);

  /// Address of a new buffer.
  std::uint64_t allocate(std::uint64_t bytes);
  template <class T>
  std::uint64_t buffer(const std::vector<T>& values) {
    const std::uint64_t address = allocate(values.size() * sizeof(T));
    memory_.write(address, values.data(), values.size() * sizeof(T));
    return address;
  }
  template <class T>
  std::vector<T> values(std::uint64_t address, std::size_t count) {
    std::vector<T> result(count);
    memory_.read(address, result.data(), count * sizeof(T));
    return result;
  }

  /// Arguments are laid out by the kernel's parameters.
  template <class... Arguments>
  InterpreterCounts run(const std::string& kernel, std::array<std::uint32_t, 3> grid,
                        std::array<std::uint32_t, 3> block, Arguments... arguments) {
    return launch(kernel, grid, block, {std::as_bytes(std::span(&arguments, 1))...});
  }

  std::uint32_t dynamic_shared = 0;
  ClusterShape cluster = no_cluster;  ///< one block: launched without clusters
  MachineSize machine;
  RaceList* races = nullptr;
  FloatTrace* floats = nullptr;
  unsigned threads = 1;              ///< of the host
  std::vector<std::string> printed;  ///< by all launches
  const Module& module() const { return module_; }
  FlatMemory& memory() { return memory_; }
  const std::vector<std::uint64_t>& globals() const { return globals_; }

 private:
  /// Maps the module's global variables from `address` on and writes their initial content.
  void map_globals(std::uint64_t address);
  InterpreterCounts launch(const std::string& kernel, std::array<std::uint32_t, 3> grid,
                           std::array<std::uint32_t, 3> block,
                           const std::vector<std::span<const std::byte>>& arguments);

  Module module_;
  FlatMemory memory_;
  std::vector<std::uint64_t> globals_;
  std::uint64_t next_ = first_global_address;
  bool lowered_;
};

/// A kernel `k` with one pointer parameter `out`, around `body`; %rd1 holds the pointer, %r1 the
/// thread's index in the block, %rd2 the address of the thread's 32-bit element.
std::string kernel_text(const std::string& body, const std::string& before = "");

/// What the threads of one block wrote into their elements.
std::vector<std::uint32_t> run_block(const std::string& text, std::uint32_t threads, bool lowered);

/// Tests that hold before and after lowering.
class BothForms : public testing::TestWithParam<bool> {};
#define LOCKSTEP_BOTH_FORMS(suite)                                            \
  class suite : public BothForms {}; /* NOLINT(bugprone-macro-parentheses) */ \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::Bool(), [](const auto& form) {   \
    return std::string(form.param ? "lowered" : "reference");                 \
  })

}  // namespace lockstep::isa
