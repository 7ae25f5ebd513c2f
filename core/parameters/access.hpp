#pragma once

#include <string>
#include <vector>

#include "core/error/error.hpp"
#include "core/parameters/schema.hpp"
#include "core/time/bytes.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// Calls `function.operator()<M>(wide)` with the member type and the scalar alternative of `type`.
template <class Function>
decltype(auto) with_member_type(ParameterType type, Function&& function) {
  switch (type) {
    case ParameterType::boolean:
      return function.template operator()<bool, bool>();
    case ParameterType::uint32:
      return function.template operator()<std::uint32_t, std::uint64_t>();
    case ParameterType::uint64:
      return function.template operator()<std::uint64_t, std::uint64_t>();
    case ParameterType::int32:
      return function.template operator()<std::int32_t, std::int64_t>();
    case ParameterType::int64:
      return function.template operator()<std::int64_t, std::int64_t>();
    case ParameterType::real:
      return function.template operator()<double, double>();
    case ParameterType::text:
      return function.template operator()<std::string, std::string>();
    case ParameterType::bytes:
      return function.template operator()<Bytes, std::uint64_t>();
    case ParameterType::time:
      return function.template operator()<Time, std::int64_t>();
    case ParameterType::cycles:
      return function.template operator()<Cycles, std::int64_t>();
    case ParameterType::frequency:
      return function.template operator()<Frequency, double>();
    case ParameterType::bandwidth:
      return function.template operator()<Bandwidth, double>();
    default:
      break;
  }
  internal_error(__FILE__, __LINE__, "member type", "no plain parameter");
}

inline std::uint64_t to_scalar(Bytes value) {
  return value.count();
}
inline std::int64_t to_scalar(Time value) {
  return value.femtoseconds();
}
inline std::int64_t to_scalar(Cycles value) {
  return value.count();
}
inline double to_scalar(Frequency value) {
  return value.hertz();
}
inline double to_scalar(Bandwidth value) {
  return value.bytes_per_second();
}
template <class T>
const T& to_scalar(const T& value) {
  return value;
}

/// Stores values, already checked, in the member of `values` that `field` describes.
void store(const ParameterField& field, const std::vector<ParameterScalar>& scalars, void* values);
/// Returns the member's value: one scalar, or the elements of a list.
std::vector<ParameterScalar> fetch(const ParameterField& field, const void* values);

inline void* member_of(const ParameterField& field, void* values) {
  return static_cast<char*>(values) + field.offset;
}
inline const void* member_of(const ParameterField& field, const void* values) {
  return static_cast<const char*>(values) + field.offset;
}

/// Returns a value as YAML text: with its unit, enumerations by word, and quoted where YAML would
/// misread it.
std::string to_text(const ParameterField& field, const ParameterScalar& value);
/// Returns a whole member: a value or `[a, b]`.
std::string to_text(const ParameterField& field, const std::vector<ParameterScalar>& values);

}  // namespace lockstep
