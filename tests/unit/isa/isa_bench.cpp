#include "tests/unit/isa/isa_bench.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace lockstep::isa {

IsaBench::IsaBench(const std::string& text, bool lowered, const std::string& file)
    : IsaBench(load_module_text(text, file), lowered) {}

IsaBench::IsaBench(Module module, bool lowered) : module_(std::move(module)), lowered_(lowered) {
  map_globals(0x7'0000'0000);
}

IsaBench::~IsaBench() = default;

IsaBench IsaBench::from_file(const std::string& path, bool lowered) {
  return IsaBench(load_module(path), lowered);
}

std::uint64_t IsaBench::allocate(std::uint64_t bytes) {
  const std::uint64_t address = next_;
  memory_.map(address, bytes);
  next_ += (bytes + 4095) / 4096 * 4096 + 4096;
  return address;
}

void IsaBench::map_globals(std::uint64_t address) {
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

InterpreterCounts IsaBench::launch(const std::string& kernel, std::array<std::uint32_t, 3> grid,
                                   std::array<std::uint32_t, 3> block,
                                   const std::vector<std::span<const std::byte>>& arguments) {
  const int index = module_.kernel_index(kernel);
  if (index < 0) throw std::runtime_error("no kernel " + kernel);
  const Program& program = module_.kernels[static_cast<std::size_t>(index)].reference;
  std::vector<std::byte> parameters(program.parameter_bytes);
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    const KernelParameter& to = program.parameters.at(n);
    if (arguments[n].size() != to.bytes) throw std::runtime_error("size of argument " + to.name);
    std::memcpy(parameters.data() + to.offset, arguments[n].data(), to.bytes);
  }
  Launch launch{.module = module_,
                .kernel = index,
                .grid = grid,
                .block = block,
                .dynamic_shared_bytes = dynamic_shared,
                .parameters = parameters,
                .global_addresses = globals_,
                .cluster = cluster,
                .is_explicit_cluster = cluster != no_cluster,
                .lowered = lowered_};
  launch.printed = &printed;
  launch.machine = machine;
  launch.races = races;
  launch.floats = floats;
  return interpret(launch, memory_, threads);
}

std::string kernel_text(const std::string& body, const std::string& before) {
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

std::vector<std::uint32_t> run_block(const std::string& text, std::uint32_t threads, bool lowered) {
  IsaBench bench(text, lowered);
  const std::uint64_t out = bench.buffer(std::vector<std::uint32_t>(threads));
  bench.run("k", {1, 1, 1}, {threads, 1, 1}, out);
  return bench.values<std::uint32_t>(out, threads);
}

}  // namespace lockstep::isa
