/// Execution units of an SM, and the time that each class of operations takes: tables by class.
/// Source: gpu-parameters.md, sections 3 to 5 and 10; of matrix products modern-isa.md, section 4.1
/// (A100; Volta's forms V100).
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/memory/enum_table.hpp"
#include "core/parameters/parameters.hpp"
#include "models/isa/instruction.hpp"

namespace lockstep {

/// A class without units of its own uses others: integer and half use fp32, fp64 uses special.
struct SmUnitParameters {
  EnumTable<isa::Unit, std::uint32_t> counts;

  std::uint32_t& operator[](isa::Unit unit) { return counts[unit]; }
  std::uint32_t operator[](isa::Unit unit) const { return counts[unit]; }

  static auto schema() {
    using P = SmUnitParameters;
    using U = isa::Unit;
    const auto limits = range(0, 32);
    return parameters<P>()
        .row("integer", &P::counts, U::integer, 4, limits, "integer and logic units", "units")
        .row("fp32", &P::counts, U::fp32, 4, range(1, 32), "single precision units", "units")
        .row("fp64", &P::counts, U::fp64, 4, limits, "double precision units", "units")
        .row("special", &P::counts, U::special, 4, limits, "special function units", "units")
        .row("half", &P::counts, U::half, 0, limits, "half precision units", "units")
        .row("memory", &P::counts, U::memory, 4, range(1, 32), "address generation units", "units")
        .row("control", &P::counts, U::control, 4, range(1, 32), "branch units", "units")
        .row("tensor", &P::counts, U::tensor, 4, limits,
             "matrix units; 0: kernels that multiply matrices are refused", "units");
  }
};

/// A latency class: its key; its cycles from operands to result and between two instructions of a
/// unit, for a GPU that sets none; and its instructions.
struct LatencyClassFacts {
  const char* key;
  isa::LatencyClass which;
  std::int64_t latency, interval;  ///< cycles
  const char* doc;
};
inline constexpr LatencyClassFacts usual_classes[] = {
    {"integer", isa::LatencyClass::integer, 2, 2, "integer add, logic, shift, compare"},
    {"integer_multiply", isa::LatencyClass::integer_multiply, 3, 2, "integer multiply-add"},
    {"fp32", isa::LatencyClass::fp32, 2, 2, "single precision"},
    {"fp64", isa::LatencyClass::fp64, 6, 4, "double precision"},
    {"special", isa::LatencyClass::special, 20, 8, "transcendental functions"},
    {"half", isa::LatencyClass::half, 3, 1, "half precision"},
    {"convert", isa::LatencyClass::convert, 8, 8, "conversions"},
    {"pack", isa::LatencyClass::pack, 4, 4,
     "conversions of pairs: to halves from single precision, to and from 8-bit floats"},
    {"shuffle", isa::LatencyClass::shuffle, 20, 4, "shuffles and votes"},
    {"move", isa::LatencyClass::move, 2, 2, "moves and special registers"},
    {"predicate", isa::LatencyClass::predicate, 4, 2, "instructions that set predicates"},
};
inline constexpr LatencyClassFacts matrix_classes[] = {
    {"mma_f16_k8", isa::LatencyClass::mma_f16_k8, 16, 4, "matrix product, m16n8k8 of f16 and bf16"},
    {"mma_f16_k16", isa::LatencyClass::mma_f16_k16, 23, 8,
     "matrix product, m16n8k16 of f16 and bf16"},
    {"mma_f16_volta", isa::LatencyClass::mma_f16_volta, 16, 8, "matrix product, m8n8k4 of f16"},
    {"wmma_f16_volta", isa::LatencyClass::wmma_f16_volta, 52, 32,
     "matrix product, 16x16x16 of f16 in four steps, chained"},
    {"mma_tf32_k4", isa::LatencyClass::mma_tf32_k4, 16, 4, "matrix product, m16n8k4 of tf32"},
    {"mma_tf32_k8", isa::LatencyClass::mma_tf32_k8, 23, 8, "matrix product, m16n8k8 of tf32"},
    {"mma_s8_m8", isa::LatencyClass::mma_s8_m8, 14, 4, "matrix product, m8n8k16 of bytes"},
    {"mma_s8_k16", isa::LatencyClass::mma_s8_k16, 16, 4, "matrix product, m16n8k16 of bytes"},
    {"mma_s8_k32", isa::LatencyClass::mma_s8_k32, 24, 8, "matrix product, m16n8k32 of bytes"},
    {"mma_s4_m8", isa::LatencyClass::mma_s4_m8, 14, 4, "matrix product, m8n8k32 of 4-bit integers"},
    {"mma_s4_k32", isa::LatencyClass::mma_s4_k32, 16, 4,
     "matrix product, m16n8k32 of 4-bit integers"},
    {"mma_s4_k64", isa::LatencyClass::mma_s4_k64, 24, 8,
     "matrix product, m16n8k64 of 4-bit integers"},
    {"mma_b1_m8", isa::LatencyClass::mma_b1_m8, 14, 4, "matrix product, m8n8k128 of bits"},
    {"mma_b1_k128", isa::LatencyClass::mma_b1_k128, 16, 4, "matrix product, m16n8k128 of bits"},
    {"mma_b1_k256", isa::LatencyClass::mma_b1_k256, 24, 8, "matrix product, m16n8k256 of bits"},
    {"mma_fp8_k16", isa::LatencyClass::mma_fp8_k16, 16, 4, "matrix product, m16n8k16 of fp8"},
    {"mma_fp8_k32", isa::LatencyClass::mma_fp8_k32, 23, 8, "matrix product, m16n8k32 of fp8"},
    {"mma_f64_m8", isa::LatencyClass::mma_f64_m8, 24, 16, "matrix product, m8n8k4 of f64"},
    {"mma_f64_k4", isa::LatencyClass::mma_f64_k4, 24, 32, "matrix product, m16n8k4 of f64"},
    {"mma_f64_k8", isa::LatencyClass::mma_f64_k8, 26, 64, "matrix product, m16n8k8 of f64"},
    {"mma_f64_k16", isa::LatencyClass::mma_f64_k16, 30, 128, "matrix product, m16n8k16 of f64"},
};

struct SmLatencyParameters {
  EnumTable<isa::LatencyClass, Cycles> classes;
  Cycles multiply_wide, multiply_high, bit_count;  ///< latencies of parts of expansions
  Cycles division_check;
  Cycles taken_branch;  ///< cycles of a taken branch; 0: `control`

  Cycles& operator[](isa::LatencyClass c) { return classes[c]; }
  Cycles operator[](isa::LatencyClass c) const { return classes[c]; }

  static auto schema() {
    using namespace literals;
    using P = SmLatencyParameters;
    const auto limits = range(1_cycles, 1000_cycles);
    auto keys = parameters<P>();
    const auto add = [&](const LatencyClassFacts& c) {
      keys.row(c.key, &P::classes, c.which, Cycles(c.latency), limits, c.doc);
    };
    std::ranges::for_each(usual_classes, add);
    keys.row("control", &P::classes, isa::LatencyClass::control, 4_cycles, limits,
             "branches: until the warp's next instruction can issue")
        .field("multiply_high", &P::multiply_high, 10_cycles, limits,
               "upper half of an integer product")
        .field("multiply_wide", &P::multiply_wide, 4_cycles, limits, "64-bit products")
        .field("bit_count", &P::bit_count, 13_cycles, limits, "bits counted, found or reversed")
        .field("division_check", &P::division_check, 22_cycles, limits,
               "check of the operands of a single-precision division (FCHK)")
        .field("taken_branch", &P::taken_branch, 0_cycles, range(0_cycles, 1000_cycles),
               "branches, calls and returns that lanes take: until the warp's next instruction, "
               "which is fetched anew, can issue; a branch that no lane takes then costs "
               "`control`; 0: taken ones cost `control`, others a cycle");
    std::ranges::for_each(matrix_classes, add);
    return keys;
  }
};

struct SmIntervalParameters {
  EnumTable<isa::LatencyClass, Cycles> classes;
  Cycles multiply_wide, division_check;  ///< intervals of parts of expansions

  Cycles& operator[](isa::LatencyClass c) { return classes[c]; }
  Cycles operator[](isa::LatencyClass c) const { return classes[c]; }

  static auto schema() {
    using namespace literals;
    using P = SmIntervalParameters;
    const auto limits = range(1_cycles, 200_cycles);
    auto keys = parameters<P>();
    const auto add = [&](const LatencyClassFacts& c) {
      keys.row(c.key, &P::classes, c.which, Cycles(c.interval), limits, c.doc);
    };
    std::ranges::for_each(usual_classes, add);
    keys.row("control", &P::classes, isa::LatencyClass::control, 2_cycles, limits,
             "branches, barriers, fences")
        .field("multiply_wide", &P::multiply_wide, 4_cycles, limits,
               "64-bit products and their upper halves")
        .field("division_check", &P::division_check, 16_cycles, limits,
               "check of the operands of a single-precision division (FCHK)");
    std::ranges::for_each(matrix_classes, add);
    return keys;
  }
};

}  // namespace lockstep
