#include "jobs/capture/libraries/numbering.hpp"

namespace lockstep::capture {

bool known_type(int type, Element& element) {
  constexpr int r_32f = 0, r_16f = 2, r_16bf = 14;
  switch (type) {
    case r_32f:
      element = Element::f32;
      return true;
    case r_16f:
      element = Element::f16;
      return true;
    case r_16bf:
      element = Element::bf16;
      return true;
    default:
      return false;
  }
}

bool sums_in_f32(int compute) {
  return compute == in_32f || compute == in_32f_pedantic || compute == in_32f_fast_16f ||
         compute == in_32f_fast_16bf || compute == in_32f_fast_tf32;
}

const char* name_of_status(int status) {
  switch (status) {
    case success:
      return "CUBLAS_STATUS_SUCCESS";
    case not_initialized:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case no_memory:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case invalid_value:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case failed:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case lacking:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "CUBLAS_STATUS_UNKNOWN";
  }
}

}  // namespace lockstep::capture
