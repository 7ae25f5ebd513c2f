/// Reading files, whoever wrote them.
#include <hdf5.h>

#include <algorithm>
#include <filesystem>

#include "core/error/error.hpp"
#include "core/error/input_file.hpp"
#include "core/output/hdf5_library.hpp"
#include "core/output/superblock.hpp"

namespace lockstep::h5 {
namespace {

constexpr std::uint64_t most_attribute_bytes = 64 << 20;
/// A data set may have this much that was never written.
constexpr std::uint64_t most_unwritten_bytes = 64 << 20;

/// Describes the type of a number or text; another type has no description.
ElementType describe_simple(hid_t id) {
  ElementType type;
  type.bytes = H5Tget_size(id);
  if (H5Tget_class(id) == H5T_STRING && H5Tis_variable_str(id) == 0) {
    type.is_text = true;
    type.description = "text of " + std::to_string(type.bytes);
    return type;
  }
  constexpr std::pair<Scalar, const char*> names[] = {
      {Scalar::u8, "u8"},   {Scalar::u16, "u16"}, {Scalar::u32, "u32"}, {Scalar::u64, "u64"},
      {Scalar::i8, "i8"},   {Scalar::i16, "i16"}, {Scalar::i32, "i32"}, {Scalar::i64, "i64"},
      {Scalar::f16, "f16"}, {Scalar::f32, "f32"}, {Scalar::f64, "f64"}};
  for (const auto& [scalar, name] : names) {
    if (H5Tequal(id, number_type(scalar).id()) <= 0) continue;
    type.number = scalar;
    type.description = name;
  }
  return type;
}

/// Describes a compound type; without a description if a member is no number and no text.
ElementType describe_compound(hid_t id) {
  ElementType type;
  type.bytes = H5Tget_size(id);
  bool known = true;
  for (unsigned i = 0; i < unsigned(std::max(H5Tget_nmembers(id), 0)); ++i) {
    const Handle member = owned_type(H5Tget_member_type(id, i));
    const ElementType inner = describe_simple(member.id());
    char* name = H5Tget_member_name(id, i);
    Member entry{name ? name : "", std::size_t{0}, H5Tget_member_offset(id, i)};
    H5free_memory(name);
    if (const auto* scalar = std::get_if<Scalar>(&inner.number)) entry.type = *scalar;
    if (inner.is_text) entry.type = inner.bytes;
    known = known && !inner.description.empty() && entry.offset <= type.bytes &&
            inner.bytes <= type.bytes - entry.offset;
    type.description += (i ? ", " : "{") + entry.name + ": " + inner.description;
    type.members.push_back(std::move(entry));
  }
  type.description = known ? type.description + "}" : "";
  return type;
}

ElementType describe_type(hid_t id) {
  return H5Tget_class(id) == H5T_COMPOUND ? describe_compound(id) : describe_simple(id);
}

/// Returns whether a value of this type is a place in memory where the data themselves are stored.
bool has_values_elsewhere(hid_t type) {
  return H5Tdetect_class(type, H5T_VLEN) != 0 || H5Tdetect_class(type, H5T_REFERENCE) != 0 ||
         (H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) != 0);
}

[[noreturn]] void fail_damaged(const std::string& file, const std::string& what) {
  throw UserError(file, what, "it may be damaged or no output of lockstep");
}

/// Returns how many bytes the elements of a shape take.
std::uint64_t checked_bytes(const Shape& shape, std::size_t element, const std::string& file,
                            const std::string& path) {
  std::uint64_t bytes = element;
  for (const std::uint64_t side : shape) {
    if (__builtin_mul_overflow(bytes, side, &bytes))
      fail_damaged(file, path + " is larger than any memory");
  }
  return bytes;
}

/// Returns the bytes that the file holds of a data set, uncompressed.
std::uint64_t stored_bytes(hid_t data, hid_t space, std::size_t element, std::uint64_t file_bytes) {
  const Handle list = owned_list(H5Dget_create_plist(data));
  if (H5Pget_layout(list.id()) != H5D_CHUNKED)
    return std::min<std::uint64_t>(H5Dget_storage_size(data), file_bytes);
  const Shape shape = shape_of(space);
  std::vector<hsize_t> chunk(shape.size());
  H5Pget_chunk(list.id(), int(chunk.size()), chunk.data());
  hsize_t chunks = 0;
  if (H5Dget_num_chunks(data, space, &chunks) < 0) return 0;
  std::uint64_t bytes = chunks * element;
  for (const hsize_t side : chunk) {
    if (__builtin_mul_overflow(bytes, side, &bytes)) return ~std::uint64_t{0};
  }
  return bytes;
}

/// Returns whether the data set has as many rows as there are epochs, whose times are all stored (a
/// series does not store chunks of zeros). A reader of a running simulation may already see more
/// rows.
bool has_a_row_per_epoch(hid_t file, hid_t space, std::uint64_t file_bytes) {
  const Shape shape = shape_of(space);
  if (shape.empty() || H5Lexists(file, "/epochs", H5P_DEFAULT) <= 0 ||
      H5Lexists(file, "/epochs/time", H5P_DEFAULT) <= 0)
    return false;
  const Handle times = owned_dataset(H5Dopen2(file, "/epochs/time", H5P_DEFAULT));
  if (times.id() < 0) return false;
  const Handle epochs = owned_space(H5Dget_space(times.id()));
  const Shape known = shape_of(epochs.id());
  const std::uint64_t stored =
      stored_bytes(times.id(), epochs.id(), sizeof(std::int64_t), file_bytes);
  return known.size() == 1 && known[0] <= stored / sizeof(std::int64_t) && shape[0] / 2 <= known[0];
}

/// Refuses claimed sizes that exceed the memory or time of any computer.
void check_size(hid_t id, hid_t data, hid_t space, std::size_t element, std::uint64_t file_bytes,
                const std::string& file, const std::string& path) {
  const std::uint64_t claimed = checked_bytes(shape_of(space), element, file, path);
  if (claimed <= most_unwritten_bytes) return;
  const std::uint64_t stored = stored_bytes(data, space, element, file_bytes);
  if (claimed - most_unwritten_bytes > stored && !has_a_row_per_epoch(id, space, file_bytes)) {
    fail_damaged(file, path + " claims " + std::to_string(claimed) +
                           " bytes, of which the file holds " + std::to_string(stored));
  }
}

// Version 1.12 changed the structure that describes an object, and with it the name of this
// function.
#if H5_VERSION_GE(1, 12, 0)
constexpr auto visit_objects = H5Ovisit3;
#else
constexpr auto visit_objects = H5Ovisit2;
#endif

}  // namespace

// Any call clears the library's account of the last failure: property lists outlive the check.
File File::open_to_read(const std::string& path) {
  take_over_errors();
  if (const std::string reason = why_unreadable(path); !reason.empty())
    throw UserError(path, "cannot read: " + reason, "name an output of lockstep");
  std::error_code ignored;
  if (std::filesystem::file_size(path, ignored) == 0)
    throw UserError(
        path, "cannot read: it is empty; its run has just begun, or was ended before it wrote",
        "wait for it, or run it again");
  const Handle properties = access_properties();
  // Before each attempt the library waits twice as long as before the last one, from 1 ns on.
  H5Pset_metadata_read_attempts(properties.id(), 20);
  hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, properties.id());
  if (id < 0 && is_marked_as_written(path)) {
    id = H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, properties.id());
  }
  return {path, Handle{was_read(id, path), H5Fclose}};
}

bool is_hdf5(const std::string& path) {
  take_over_errors();
  return H5Fis_hdf5(path.c_str()) > 0;
}

bool File::has(const std::string& path) const {
  for (std::size_t slash = 0; slash != std::string::npos;) {
    slash = path.find('/', slash + 1);
    if (H5Lexists(file_.id(), path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

std::vector<Object> File::objects() const {
  std::vector<Object> result;
  const auto visit = [](hid_t, const char* name, const H5O_info_t* info, void* out) -> herr_t {
    if (std::string(name) == ".") return 0;
    static_cast<std::vector<Object>*>(out)->push_back(
        {"/" + std::string(name), info->type == H5O_TYPE_DATASET});
    return 0;
  };
  was_read(visit_objects(file_.id(), H5_INDEX_NAME, H5_ITER_INC, visit, &result, H5O_INFO_BASIC),
           path_);
  return result;
}

ElementType File::type(const std::string& dataset) const {
  const Handle data =
      owned_dataset(was_read(H5Dopen2(file_.id(), dataset.c_str(), H5P_DEFAULT), path_));
  return describe_type(owned_type(H5Dget_type(data.id())).id());
}

Shape File::shape(const std::string& dataset) const {
  const Handle data =
      owned_dataset(was_read(H5Dopen2(file_.id(), dataset.c_str(), H5P_DEFAULT), path_));
  const Handle space = owned_space(H5Dget_space(data.id()));
  const Handle type = owned_type(H5Dget_type(data.id()));
  check_size(file_.id(), data.id(), space.id(), H5Tget_size(type.id()), size(), path_, dataset);
  return shape_of(space.id());
}

std::vector<std::byte> File::read(const std::string& dataset, std::uint64_t first,
                                  std::uint64_t count) const {
  const Handle data =
      owned_dataset(was_read(H5Dopen2(file_.id(), dataset.c_str(), H5P_DEFAULT), path_));
  const Handle type = owned_type(H5Dget_type(data.id()));
  const Handle space = owned_space(H5Dget_space(data.id()));
  if (has_values_elsewhere(type.id()))
    fail_damaged(path_, dataset + " holds values of a type that no output of lockstep has");
  if (H5Sget_simple_extent_type(space.id()) == H5S_NULL) return {};
  const Shape shape = shape_of(space.id());
  std::vector<hsize_t> start(shape.size(), 0), extent(shape.begin(), shape.end());
  hid_t memory = H5S_ALL;
  Handle selection;
  if (!shape.empty()) {
    start[0] = first;
    extent[0] = count;
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr);
    selection = owned_space(H5Screate_simple(int(extent.size()), extent.data(), nullptr));
    memory = selection.id();
  }
  std::vector<std::byte> bytes(
      checked_bytes({extent.begin(), extent.end()}, H5Tget_size(type.id()), path_, dataset));
  if (bytes.empty()) return bytes;
  was_read(H5Dread(data.id(), type.id(), memory, space.id(), H5P_DEFAULT, bytes.data()), path_);
  return bytes;
}

std::vector<Attribute> File::attributes(const std::string& object) const {
  const Handle owner =
      owned_object(was_read(H5Oopen(file_.id(), object.c_str(), H5P_DEFAULT), path_));
  std::vector<std::string> names;
  const auto visit = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  was_read(H5Aiterate2(owner.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &names), path_);
  std::vector<Attribute> result;
  for (const std::string& name : names) {
    if (name == "DIMENSION_LIST" || name == "REFERENCE_LIST") continue;
    const Handle attribute =
        owned_attribute(was_read(H5Aopen(owner.id(), name.c_str(), H5P_DEFAULT), path_));
    const Handle type = owned_type(H5Aget_type(attribute.id()));
    Attribute entry{name, describe_type(type.id()), {}, {}};
    entry.shape = shape_of(owned_space(H5Aget_space(attribute.id())).id());
    const std::uint64_t bytes = checked_bytes(entry.shape, entry.type.bytes, path_, name);
    if (bytes > most_attribute_bytes) fail_damaged(path_, "attribute " + name + " is too large");
    entry.data.resize(bytes);
    // Unknown types may hold pointers, which are never read here.
    if (entry.type.description.empty()) {
      result.push_back(std::move(entry));
      continue;
    }
    was_read(H5Aread(attribute.id(), type.id(), entry.data.data()), path_);
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace lockstep::h5
