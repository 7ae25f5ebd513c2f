#include "core/output/hdf5_library.hpp"

#include <algorithm>
#include <numeric>

#include "core/error/error.hpp"
#include "core/error/file_advice.hpp"

namespace lockstep::h5 {
namespace {

/// Returns the operating system's words for the last failure, as HDF5 found them.
std::string last_reason() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_DOWNWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        // The deepest error is visited last and stays.
        *static_cast<std::string*>(out) = error->desc;
        return 0;
      },
      &text);
  const std::string key = "error message = '";
  const std::size_t begin = text.find(key);
  if (begin == std::string::npos) return text;
  return text.substr(begin + key.size(), text.find('\'', begin + key.size()) - begin - key.size());
}

}  // namespace

void fail(const std::string& file, const std::string& what, const std::string& advice) {
  const std::string reason = last_reason();
  throw UserError(file, what + (reason.empty() ? "" : ": " + reason), file_advice(reason, advice));
}

void take_over_errors() {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Handle number_type(Scalar type) {
  switch (type) {
    case Scalar::u8:
      return owned_type(H5Tcopy(H5T_STD_U8LE));
    case Scalar::u16:
    case Scalar::bf16:
      return owned_type(H5Tcopy(H5T_STD_U16LE));
    case Scalar::u32:
      return owned_type(H5Tcopy(H5T_STD_U32LE));
    case Scalar::u64:
      return owned_type(H5Tcopy(H5T_STD_U64LE));
    case Scalar::i8:
      return owned_type(H5Tcopy(H5T_STD_I8LE));
    case Scalar::i16:
      return owned_type(H5Tcopy(H5T_STD_I16LE));
    case Scalar::i32:
      return owned_type(H5Tcopy(H5T_STD_I32LE));
    case Scalar::i64:
      return owned_type(H5Tcopy(H5T_STD_I64LE));
    case Scalar::f32:
      return owned_type(H5Tcopy(H5T_IEEE_F32LE));
    case Scalar::f64:
      return owned_type(H5Tcopy(H5T_IEEE_F64LE));
    case Scalar::f16:
      break;
  }
  Handle half = owned_type(H5Tcopy(H5T_IEEE_F32LE));
  H5Tset_fields(half.id(), 15, 10, 5, 0, 10);
  H5Tset_size(half.id(), 2);
  H5Tset_ebias(half.id(), 15);
  return half;
}

Handle access_properties() {
  Handle list = owned_list(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(list.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(list.id(), H5F_CLOSE_STRONG);
  // Chunks are small and written once: large caches for hundreds of series gain nothing.
  H5Pset_cache(list.id(), 0, 31, 128 << 10, 1.0);
  return list;
}

/// A null dataspace is a list of nothing.
Shape shape_of(hid_t space) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return {0};
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> size(std::size_t(std::max(rank, 0)));
  H5Sget_simple_extent_dims(space, size.data(), nullptr);
  return {size.begin(), size.end()};
}

std::uint64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

std::size_t size_of(Scalar type) {
  switch (type) {  // called for each value of a table, so it makes no call of the library
    case Scalar::u8:
    case Scalar::i8:
      return 1;
    case Scalar::u16:
    case Scalar::i16:
    case Scalar::f16:
    case Scalar::bf16:
      return 2;
    case Scalar::u32:
    case Scalar::i32:
    case Scalar::f32:
      return 4;
    case Scalar::u64:
    case Scalar::i64:
    case Scalar::f64:
      return 8;
  }
  return 0;
}

bool Handle::close() {
  if (id_ < 0) return true;
  const bool good = release_(id_) >= 0;
  id_ = -1;
  return good;
}

}  // namespace lockstep::h5
