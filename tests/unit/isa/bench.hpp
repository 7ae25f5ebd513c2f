#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/isa/interpreter/interpreter.hpp"
#include "models/isa/load.hpp"

namespace lockstep::isa {

/// Runs kernels of a module on flat memory, in the form before or after lowering.
class IsaBench {
 public:
  explicit IsaBench(const std::string& text, bool lowered = false,
                    const std::string& file = "test.ptx")
      : module_(load_module_text(text, file)), lowered_(lowered) {
    map_globals(0x7'0000'0000);
  }
  static IsaBench from_file(const std::string& path, bool lowered = false) {
    return IsaBench(load_module(path), lowered);
  }

  /// Address of a new buffer.
  std::uint64_t allocate(std::uint64_t bytes) {
    const std::uint64_t address = next_;
    memory_.map(address, bytes);
    next_ += (bytes + 4095) / 4096 * 4096 + 4096;
    return address;
  }
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
    const int index = module_.kernel_index(kernel);
    if (index < 0) throw std::runtime_error("no kernel " + kernel);
    const Program& program = module_.kernels[static_cast<std::size_t>(index)].reference;
    std::vector<std::byte> parameters(program.parameter_bytes);
    std::size_t n = 0;
    (place(parameters, program.parameters.at(n++), arguments), ...);
    Launch launch{module_, index, grid, block, dynamic_shared, parameters, globals_, lowered_};
    return interpret(launch, memory_);
  }

  std::uint32_t dynamic_shared = 0;
  const Module& module() const { return module_; }
  FlatMemory& memory() { return memory_; }
  const std::vector<std::uint64_t>& globals() const { return globals_; }

 private:
  IsaBench(Module module, bool lowered) : module_(std::move(module)), lowered_(lowered) {
    map_globals(0x7'0000'0000);
  }
  /// Maps the module's global variables from `address` on and writes their initial content.
  void map_globals(std::uint64_t address) {
    for (const GlobalVariable& global : module_.globals) {
      const std::uint64_t alignment = std::max<std::uint64_t>(global.alignment, 256);
      address = (address + alignment - 1) / alignment * alignment;
      globals_.push_back(address);
      if (global.bytes != 0) memory_.map(address, global.bytes);
      address += global.bytes;
    }
    for (std::size_t g = 0; g < globals_.size(); ++g) {
      std::vector<std::byte> initial = module_.globals[g].initial;
      relocate(initial, module_.globals[g].relocations, module_, globals_);
      memory_.write(globals_[g], initial.data(), initial.size());
    }
  }
  template <class T>
  static void place(std::vector<std::byte>& parameters, const KernelParameter& to, T value) {
    if (sizeof(T) != to.bytes) throw std::runtime_error("size of argument " + to.name);
    std::memcpy(parameters.data() + to.offset, &value, sizeof(T));
  }

  Module module_;
  FlatMemory memory_;
  std::vector<std::uint64_t> globals_;
  std::uint64_t next_ = first_global_address;
  bool lowered_;
};

/// A kernel `k` with one pointer parameter `out`, around `body`; %rd1 holds the pointer, %r1 the
/// thread's index in the block, %rd2 the address of the thread's 32-bit element.
inline std::string kernel_text(const std::string& body, const std::string& before = "") {
  return R"(.version 7.8
.target sm_75
.address_size 64
)" + before +
         R"(
.visible .entry k(.param .u64 out)
{
.reg .pred %p<10>;
.reg .b16 %rs<10>;
.reg .b32 %r<40>;
.reg .b64 %rd<20>;
.reg .f32 %f<10>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd2, %rd1, %rd2;
)" + body +
         R"(
}
)";
}

/// What the threads of one block wrote into their elements.
inline std::vector<std::uint32_t> run_block(const std::string& text, std::uint32_t threads,
                                            bool lowered) {
  IsaBench bench(text, lowered);
  const std::uint64_t out = bench.buffer(std::vector<std::uint32_t>(threads));
  bench.run("k", {1, 1, 1}, {threads, 1, 1}, out);
  return bench.values<std::uint32_t>(out, threads);
}

/// Tests that hold before and after lowering.
class BothForms : public testing::TestWithParam<bool> {};
#define LOCKSTEP_BOTH_FORMS(suite)                                          \
  class suite : public BothForms {};                                        \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::Bool(), [](const auto& form) { \
    return std::string(form.param ? "lowered" : "reference");               \
  })

}  // namespace lockstep::isa
