/// Nanoseconds for one warp instruction's semantics over its 32 lanes, by x86-64 level, with all
/// lanes and with some.
#include "models/isa/semantics/semantics.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace lockstep::isa {
namespace {

struct Case {
  std::string name;
  Opcode opcode;
  Type type, source_type;
  unsigned sources;
  std::function<void(ir::Operation&)> change;
};

void run(benchmark::State& state, const Case& which, CpuLevel level, std::uint32_t active) {
  ir::Operation operation;
  operation.opcode = which.opcode;
  operation.type = which.type;
  operation.source_type = which.source_type;
  operation.sources.resize(which.sources);
  operation.destinations.resize(1);
  for (ir::Operand& source : operation.sources) source.kind = ir::Operand::Kind::reg;
  operation.destinations[0].kind = ir::Operand::Kind::reg;
  which.change(operation);
  Instruction instruction;
  if (!bind_semantics(operation, instruction, level)) {
    state.SkipWithError("no such semantics");
    return;
  }
  alignas(64) std::array<std::uint32_t, 16 * warp_size> rows;
  for (std::size_t i = 0; i < rows.size(); ++i)  // ordinary numbers, also when read as floats
    rows[i] = 0x3f000000 + static_cast<std::uint32_t>(i) * 0x1357;
  std::array<std::uint32_t, 4> predicates{0x12345678, 0x0ff00ff0, 0, 0};
  WarpIdentity identity;
  WarpContext context;
  context.bases = {rows.data(), rows.data(), rows.data(), rows.data()};
  context.predicates = predicates.data();
  context.identity = &identity;
  context.active = context.path = active;
  for (std::uint16_t k = 0; k < 4; ++k)
    instruction.source[k] = Operand(Operand::registers, static_cast<std::uint16_t>(2 * k));
  instruction.destination[0] = Operand(Operand::registers, 8);
  instruction.predicate_source[0] = 0;
  instruction.predicate_destination[0] = 2;
  for (auto _ : state) {
    instruction.execute(instruction, context);
    benchmark::ClobberMemory();
  }
}

std::vector<Case> cases() {
  const auto plain = [](ir::Operation&) {};
  const auto low = [](ir::Operation& op) { op.part = ir::MulPart::lo; };
  const auto wide = [](ir::Operation& op) { op.part = ir::MulPart::wide; };
  const auto less = [](ir::Operation& op) { op.comparison = Comparison::lt; };
  const auto approximate = [](ir::Operation& op) { op.approximate = true; };
  const auto down = [](ir::Operation& op) { op.mode = 1; };
  constexpr Type none = Type::none;
  return {{"add.s32", Opcode::add, Type::s32, none, 2, plain},
          {"add.s64", Opcode::add, Type::s64, none, 2, plain},
          {"mad.lo.s32", Opcode::mad, Type::s32, none, 3, low},
          {"mul.wide.s32", Opcode::mul, Type::s32, none, 2, wide},
          {"shl.b32", Opcode::shl, Type::b32, none, 2, plain},
          {"div.u32", Opcode::div, Type::u32, none, 2, plain},
          {"setp.lt.s32", Opcode::setp, Type::s32, none, 2, less},
          {"selp.b32", Opcode::selp, Type::b32, none, 2, plain},
          {"add.f32", Opcode::add, Type::f32, none, 2, plain},
          {"fma.f32", Opcode::fma, Type::f32, none, 3, plain},
          {"div.rn.f32", Opcode::div, Type::f32, none, 2, plain},
          {"sin.f32", Opcode::sin, Type::f32, none, 1, approximate},
          {"ex2.f32", Opcode::ex2, Type::f32, none, 1, approximate},
          {"fma.f64", Opcode::fma, Type::f64, none, 3, plain},
          {"fma.f16x2", Opcode::fma, Type::f16x2, none, 3, plain},
          {"cvt.s64.s32", Opcode::cvt, Type::s64, Type::s32, 1, plain},
          {"cvt.f16.f32", Opcode::cvt, Type::f16, Type::f32, 1, plain},
          {"shfl.down", Opcode::shfl, Type::b32, none, 4, down}};
}

}  // namespace
}  // namespace lockstep::isa

int main(int argc, char** argv) {
  using namespace lockstep::isa;
  for (const Case& which : cases())
    for (int level = 2; level <= static_cast<int>(best_cpu_level()); ++level)
      for (const std::uint32_t active : {0xffffffffu, 0x0f5ff3a7u})
        benchmark::RegisterBenchmark(
            (which.name + "/v" + std::to_string(level) + (active + 1 == 0 ? "/all" : "/some"))
                .c_str(),
            [=](benchmark::State& state) {
              run(state, which, static_cast<CpuLevel>(level), active);
            });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
