/// Execution units of an SM, and how long what they execute takes: tables by class.
/// Source: gpu-parameters.md, sections 3 to 5 and 10; of matrix products modern-isa.md, section 4.1
/// (A100; Volta's forms V100).
#pragma once

#include <cstdint>

#include "core/memory/enum_table.hpp"
#include "core/parameters/parameters.hpp"
#include "models/isa/instruction.hpp"

namespace lockstep {

/// A class without units uses another's: integer and half use fp32, fp64 uses special.
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

struct SmLatencyParameters {
  EnumTable<isa::LatencyClass, Cycles> classes;
  Cycles multiply_wide, multiply_high, bit_count;  ///< of parts of expansions

  Cycles& operator[](isa::LatencyClass c) { return classes[c]; }
  Cycles operator[](isa::LatencyClass c) const { return classes[c]; }

  static auto schema() {
    using namespace literals;
    using P = SmLatencyParameters;
    using C = isa::LatencyClass;
    const auto limits = range(1_cycles, 1000_cycles);
    return parameters<P>()
        .row("integer", &P::classes, C::integer, 2_cycles, limits,
             "integer add, logic, shift, compare")
        .row("integer_multiply", &P::classes, C::integer_multiply, 3_cycles, limits,
             "integer multiply-add")
        .row("fp32", &P::classes, C::fp32, 2_cycles, limits, "single precision")
        .row("fp64", &P::classes, C::fp64, 6_cycles, limits, "double precision")
        .row("special", &P::classes, C::special, 20_cycles, limits, "transcendental functions")
        .row("half", &P::classes, C::half, 3_cycles, limits, "half precision")
        .row("convert", &P::classes, C::convert, 8_cycles, limits, "conversions")
        .row("shuffle", &P::classes, C::shuffle, 20_cycles, limits, "shuffles and votes")
        .row("move", &P::classes, C::move, 2_cycles, limits, "moves and special registers")
        .row("predicate", &P::classes, C::predicate, 4_cycles, limits,
             "instructions that set predicates")
        .row("control", &P::classes, C::control, 4_cycles, limits,
             "branches: until the warp's next instruction can issue")
        .field("multiply_high", &P::multiply_high, 10_cycles, limits,
               "upper half of an integer product")
        .field("multiply_wide", &P::multiply_wide, 4_cycles, limits, "64-bit products")
        .field("bit_count", &P::bit_count, 13_cycles, limits, "bits counted, found or reversed")
        .row("mma_f16_k8", &P::classes, C::mma_f16_k8, 16_cycles, limits,
             "matrix product, m16n8k8 of f16 and bf16")
        .row("mma_f16_k16", &P::classes, C::mma_f16_k16, 23_cycles, limits,
             "matrix product, m16n8k16 of f16 and bf16")
        .row("mma_f16_volta", &P::classes, C::mma_f16_volta, 16_cycles, limits,
             "matrix product, m8n8k4 of f16")
        .row("wmma_f16_volta", &P::classes, C::wmma_f16_volta, 52_cycles, limits,
             "matrix product, 16x16x16 of f16 in four steps, chained")
        .row("mma_tf32_k4", &P::classes, C::mma_tf32_k4, 16_cycles, limits,
             "matrix product, m16n8k4 of tf32")
        .row("mma_tf32_k8", &P::classes, C::mma_tf32_k8, 23_cycles, limits,
             "matrix product, m16n8k8 of tf32")
        .row("mma_s8_m8", &P::classes, C::mma_s8_m8, 14_cycles, limits,
             "matrix product, m8n8k16 of bytes")
        .row("mma_s8_k16", &P::classes, C::mma_s8_k16, 16_cycles, limits,
             "matrix product, m16n8k16 of bytes")
        .row("mma_s8_k32", &P::classes, C::mma_s8_k32, 24_cycles, limits,
             "matrix product, m16n8k32 of bytes")
        .row("mma_s4_m8", &P::classes, C::mma_s4_m8, 14_cycles, limits,
             "matrix product, m8n8k32 of 4-bit integers")
        .row("mma_s4_k32", &P::classes, C::mma_s4_k32, 16_cycles, limits,
             "matrix product, m16n8k32 of 4-bit integers")
        .row("mma_s4_k64", &P::classes, C::mma_s4_k64, 24_cycles, limits,
             "matrix product, m16n8k64 of 4-bit integers")
        .row("mma_b1_m8", &P::classes, C::mma_b1_m8, 14_cycles, limits,
             "matrix product, m8n8k128 of bits")
        .row("mma_b1_k128", &P::classes, C::mma_b1_k128, 16_cycles, limits,
             "matrix product, m16n8k128 of bits")
        .row("mma_b1_k256", &P::classes, C::mma_b1_k256, 24_cycles, limits,
             "matrix product, m16n8k256 of bits")
        .row("mma_fp8_k16", &P::classes, C::mma_fp8_k16, 16_cycles, limits,
             "matrix product, m16n8k16 of fp8")
        .row("mma_fp8_k32", &P::classes, C::mma_fp8_k32, 23_cycles, limits,
             "matrix product, m16n8k32 of fp8")
        .row("mma_f64_m8", &P::classes, C::mma_f64_m8, 24_cycles, limits,
             "matrix product, m8n8k4 of f64")
        .row("mma_f64_k4", &P::classes, C::mma_f64_k4, 24_cycles, limits,
             "matrix product, m16n8k4 of f64")
        .row("mma_f64_k8", &P::classes, C::mma_f64_k8, 26_cycles, limits,
             "matrix product, m16n8k8 of f64")
        .row("mma_f64_k16", &P::classes, C::mma_f64_k16, 30_cycles, limits,
             "matrix product, m16n8k16 of f64");
  }
};

struct SmIntervalParameters {
  EnumTable<isa::LatencyClass, Cycles> classes;
  Cycles multiply_wide;  ///< of parts of expansions

  Cycles& operator[](isa::LatencyClass c) { return classes[c]; }
  Cycles operator[](isa::LatencyClass c) const { return classes[c]; }

  static auto schema() {
    using namespace literals;
    using P = SmIntervalParameters;
    using C = isa::LatencyClass;
    const auto limits = range(1_cycles, 200_cycles);
    return parameters<P>()
        .row("integer", &P::classes, C::integer, 2_cycles, limits,
             "integer add, logic, shift, compare")
        .row("integer_multiply", &P::classes, C::integer_multiply, 2_cycles, limits,
             "integer multiply-add")
        .row("fp32", &P::classes, C::fp32, 2_cycles, limits, "single precision")
        .row("fp64", &P::classes, C::fp64, 4_cycles, limits, "double precision")
        .row("special", &P::classes, C::special, 8_cycles, limits, "transcendental functions")
        .row("half", &P::classes, C::half, 1_cycles, limits, "half precision")
        .row("convert", &P::classes, C::convert, 8_cycles, limits, "conversions")
        .row("shuffle", &P::classes, C::shuffle, 4_cycles, limits, "shuffles and votes")
        .row("move", &P::classes, C::move, 2_cycles, limits, "moves and special registers")
        .row("predicate", &P::classes, C::predicate, 2_cycles, limits,
             "instructions that set predicates")
        .row("control", &P::classes, C::control, 2_cycles, limits, "branches, barriers, fences")
        .field("multiply_wide", &P::multiply_wide, 4_cycles, limits,
               "64-bit products and their upper halves")
        .row("mma_f16_k8", &P::classes, C::mma_f16_k8, 4_cycles, limits,
             "matrix product, m16n8k8 of f16 and bf16")
        .row("mma_f16_k16", &P::classes, C::mma_f16_k16, 8_cycles, limits,
             "matrix product, m16n8k16 of f16 and bf16")
        .row("mma_f16_volta", &P::classes, C::mma_f16_volta, 8_cycles, limits,
             "matrix product, m8n8k4 of f16")
        .row("wmma_f16_volta", &P::classes, C::wmma_f16_volta, 32_cycles, limits,
             "matrix product, 16x16x16 of f16 in four steps, chained")
        .row("mma_tf32_k4", &P::classes, C::mma_tf32_k4, 4_cycles, limits,
             "matrix product, m16n8k4 of tf32")
        .row("mma_tf32_k8", &P::classes, C::mma_tf32_k8, 8_cycles, limits,
             "matrix product, m16n8k8 of tf32")
        .row("mma_s8_m8", &P::classes, C::mma_s8_m8, 4_cycles, limits,
             "matrix product, m8n8k16 of bytes")
        .row("mma_s8_k16", &P::classes, C::mma_s8_k16, 4_cycles, limits,
             "matrix product, m16n8k16 of bytes")
        .row("mma_s8_k32", &P::classes, C::mma_s8_k32, 8_cycles, limits,
             "matrix product, m16n8k32 of bytes")
        .row("mma_s4_m8", &P::classes, C::mma_s4_m8, 4_cycles, limits,
             "matrix product, m8n8k32 of 4-bit integers")
        .row("mma_s4_k32", &P::classes, C::mma_s4_k32, 4_cycles, limits,
             "matrix product, m16n8k32 of 4-bit integers")
        .row("mma_s4_k64", &P::classes, C::mma_s4_k64, 8_cycles, limits,
             "matrix product, m16n8k64 of 4-bit integers")
        .row("mma_b1_m8", &P::classes, C::mma_b1_m8, 4_cycles, limits,
             "matrix product, m8n8k128 of bits")
        .row("mma_b1_k128", &P::classes, C::mma_b1_k128, 4_cycles, limits,
             "matrix product, m16n8k128 of bits")
        .row("mma_b1_k256", &P::classes, C::mma_b1_k256, 8_cycles, limits,
             "matrix product, m16n8k256 of bits")
        .row("mma_fp8_k16", &P::classes, C::mma_fp8_k16, 4_cycles, limits,
             "matrix product, m16n8k16 of fp8")
        .row("mma_fp8_k32", &P::classes, C::mma_fp8_k32, 8_cycles, limits,
             "matrix product, m16n8k32 of fp8")
        .row("mma_f64_m8", &P::classes, C::mma_f64_m8, 16_cycles, limits,
             "matrix product, m8n8k4 of f64")
        .row("mma_f64_k4", &P::classes, C::mma_f64_k4, 32_cycles, limits,
             "matrix product, m16n8k4 of f64")
        .row("mma_f64_k8", &P::classes, C::mma_f64_k8, 64_cycles, limits,
             "matrix product, m16n8k8 of f64")
        .row("mma_f64_k16", &P::classes, C::mma_f64_k16, 128_cycles, limits,
             "matrix product, m16n8k16 of f64");
  }
};

}  // namespace lockstep
