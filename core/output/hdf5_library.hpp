/// Parts of the HDF5 library that reading and writing both need: errors, owned identifiers, types.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>

#include "core/output/hdf5.hpp"

namespace lockstep::h5 {

/// Throws a UserError with the library's reason for the last failure.
[[noreturn]] void fail(const std::string& file, const std::string& what, const std::string& advice);

template <class Result>
Result written(Result result, const std::string& file) {
  if (result < 0) {
    fail(file, "cannot write", "free space on that file system, or choose another with --output");
  }
  return result;
}

template <class Result>
Result was_read(Result result, const std::string& file) {
  if (result < 0) fail(file, "cannot read", "it may be damaged or no output of lockstep");
  return result;
}

/// Closes a written object. Only then does the library write the bytes that it held back, and
/// report a failure.
inline void close_written(Handle& handle, const std::string& file) {
  written(handle.close() ? 0 : -1, file);
}

/// Turns errors into exceptions: the library must neither print them nor, after a full disk, try to
/// write once more at the end of the process.
void take_over_errors();

inline Handle owned_type(hid_t id) {
  return {id, H5Tclose};
}
inline Handle owned_space(hid_t id) {
  return {id, H5Sclose};
}
inline Handle owned_list(hid_t id) {
  return {id, H5Pclose};
}
inline Handle owned_dataset(hid_t id) {
  return {id, H5Dclose};
}
inline Handle owned_object(hid_t id) {
  return {id, H5Oclose};
}
inline Handle owned_attribute(hid_t id) {
  return {id, H5Aclose};
}

Handle number_type(Scalar type);
Handle access_properties();
Shape shape_of(hid_t space);
std::uint64_t product(const Shape& shape);

}  // namespace lockstep::h5
