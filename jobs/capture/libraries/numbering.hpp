/// Statuses, types and operations, as cuBLAS 12 and 13 number them.
#pragma once

namespace lockstep::capture {

/// Numbers that matrices hold.  tf32: f32 in memory.
enum class Element : int { f32 = 0, f16 = 1, bf16 = 2, tf32 = 3 };

enum Status : int {
  success = 0,
  not_initialized = 1,
  no_memory = 3,
  invalid_value = 7,
  failed = 13,
  lacking = 15
};

enum Operation : int { plain = 0, turned = 1, conjugated = 2 };

enum ComputeType : int {
  in_32f = 68,
  in_32f_pedantic = 69,
  in_32f_fast_16f = 74,
  in_32f_fast_16bf = 75,
  in_32f_fast_tf32 = 77,
};

/// Returns whether the kernels know cuBLAS's number of a type.
bool known_type(int type, Element& element);
/// Returns whether sums are to be in f32.
bool sums_in_f32(int compute);
const char* name_of_status(int status);

}  // namespace lockstep::capture
