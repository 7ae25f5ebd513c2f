#include "core/output/hdf5.hpp"

#include <hdf5.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <numeric>

#include "core/error/error.hpp"

namespace lockstep::h5 {
namespace {

constexpr std::uint64_t largest_chunk = 1 << 20;  // elements of a chunk of a fixed array

/// The operating system's words for the last failure, as HDF5 found them.
std::string last_reason() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_DOWNWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        *static_cast<std::string*>(out) = error->desc;  // the deepest one stays
        return 0;
      },
      &text);
  const std::string key = "error message = '";
  const std::size_t begin = text.find(key);
  if (begin == std::string::npos) return text;
  return text.substr(begin + key.size(), text.find('\'', begin + key.size()) - begin - key.size());
}

[[noreturn]] void fail(const std::string& file, const std::string& what,
                       const std::string& advice) {
  const std::string reason = last_reason();
  throw UserError(file, what + (reason.empty() ? "" : ": " + reason), advice);
}

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

/// Errors become exceptions: the library shall neither print them nor, after a full disk, try to
/// write once more when the process ends.
void take_over_errors() {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Handle owned_type(hid_t id) {
  return {id, H5Tclose};
}
Handle owned_space(hid_t id) {
  return {id, H5Sclose};
}
Handle owned_list(hid_t id) {
  return {id, H5Pclose};
}
Handle owned_dataset(hid_t id) {
  return {id, H5Dclose};
}
Handle owned_object(hid_t id) {
  return {id, H5Oclose};
}
Handle owned_attribute(hid_t id) {
  return {id, H5Aclose};
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

/// Fixed length, padded with zeros: the only kind that SWMR allows.
Handle text_type(std::size_t length) {
  Handle type = owned_type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.id(), std::max<std::size_t>(length, 1));
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

Handle member_type(const Member& member) {
  if (const auto* scalar = std::get_if<Scalar>(&member.type)) return number_type(*scalar);
  return text_type(std::get<std::size_t>(member.type));
}

Handle simple_space(const Shape& shape, const Shape& limit) {
  if (shape.empty()) return owned_space(H5Screate(H5S_SCALAR));
  const std::vector<hsize_t> size(shape.begin(), shape.end()), most(limit.begin(), limit.end());
  return owned_space(H5Screate_simple(int(size.size()), size.data(), most.data()));
}

/// Groups on the way, and no time stamps: equal runs make equal files.
Handle link_properties() {
  Handle list = owned_list(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(list.id(), 1);
  return list;
}

Handle dataset_properties(const Shape& chunk) {
  Handle list = owned_list(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(list.id(), false);
  if (!chunk.empty()) {
    const std::vector<hsize_t> size(chunk.begin(), chunk.end());
    H5Pset_chunk(list.id(), int(size.size()), size.data());
    H5Pset_shuffle(list.id());
    H5Pset_deflate(list.id(), 1);
  }
  return list;
}

Handle create_dataset(const Handle& file, const std::string& name, const std::string& path,
                      const Handle& type, const Handle& space, const Shape& chunk) {
  return owned_dataset(
      written(H5Dcreate2(file.id(), path.c_str(), type.id(), space.id(), link_properties().id(),
                         dataset_properties(chunk).id(), H5P_DEFAULT),
              name));
}

std::uint64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

void write_whole(const Handle& file, const std::string& name, const std::string& path,
                 const Handle& type, const Shape& shape, const void* data) {
  Shape chunk = shape;
  for (std::uint64_t& side : chunk) {
    while (side > 1 && product(chunk) > largest_chunk) side = (side + 1) / 2;
  }
  const bool compress = product(shape) * H5Tget_size(type.id()) > 4096;
  const Handle dataset = create_dataset(file, name, path, type, simple_space(shape, shape),
                                        compress ? chunk : Shape{});
  if (product(shape) == 0) return;
  written(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data), name);
}

Handle access_properties() {
  Handle list = owned_list(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(list.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(list.id(), H5F_CLOSE_STRONG);
  // Chunks are small and written once: a large cache for each of hundreds of series buys nothing.
  H5Pset_cache(list.id(), 0, 31, 128 << 10, 1.0);
  return list;
}

std::vector<char> padded(const std::vector<std::string>& texts, std::size_t length) {
  std::vector<char> bytes(texts.size() * length);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::copy(texts[i].begin(), texts[i].end(), bytes.begin() + std::ptrdiff_t(i * length));
  }
  return bytes;
}

Shape shape_of(hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> size(std::size_t(std::max(rank, 0)));
  H5Sget_simple_extent_dims(space, size.data(), nullptr);
  return {size.begin(), size.end()};
}

ElementType describe_type(hid_t id);

ElementType describe_compound(hid_t id) {
  ElementType type;
  type.bytes = H5Tget_size(id);
  type.description = "{";
  for (unsigned i = 0; i < unsigned(H5Tget_nmembers(id)); ++i) {
    const Handle member = owned_type(H5Tget_member_type(id, i));
    const ElementType inner = describe_type(member.id());
    char* name = H5Tget_member_name(id, i);
    Member entry{name, inner.bytes, H5Tget_member_offset(id, i)};
    H5free_memory(name);
    if (const auto* scalar = std::get_if<Scalar>(&inner.number)) entry.type = *scalar;
    type.description += (i ? ", " : "") + entry.name + ": " + inner.description;
    type.members.push_back(std::move(entry));
  }
  type.description += "}";
  return type;
}

ElementType describe_type(hid_t id) {
  if (H5Tget_class(id) == H5T_COMPOUND) return describe_compound(id);
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
  return type;  // an empty description: a type that no output of ours has
}

}  // namespace

std::size_t size_of(Scalar type) {
  return H5Tget_size(number_type(type).id());
}

bool Handle::close() {
  if (id_ < 0) return true;
  const bool good = release_(id_) >= 0;
  id_ = -1;
  return good;
}

Series::Series(std::string file, Handle dataset, Scalar type, Shape row)
    : file_(std::move(file)), dataset_(std::move(dataset)), type_(type), row_(std::move(row)) {}

void Series::append(const void* rows, std::uint64_t count) {
  take_over_errors();
  std::vector<hsize_t> start(row_.size() + 1, 0), size(row_.begin(), row_.end()), whole;
  start[0] = length_;
  size.insert(size.begin(), count);
  whole = size;
  whole[0] = length_ + count;
  written(H5Dset_extent(dataset_.id(), whole.data()), file_);
  const Handle space = owned_space(H5Dget_space(dataset_.id()));
  H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr);
  const Handle memory = owned_space(H5Screate_simple(int(size.size()), size.data(), nullptr));
  written(
      H5Dwrite(dataset_.id(), number_type(type_).id(), memory.id(), space.id(), H5P_DEFAULT, rows),
      file_);
  length_ += count;
}

void Series::flush() {
  written(H5Dflush(dataset_.id()), file_);
}

// Any call clears the library's account of the last failure: property lists outlive the check.

File File::create(const std::string& path) {
  take_over_errors();
  const Handle properties = access_properties();
  Handle file{H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, properties.id()), H5Fclose};
  if (file.id() < 0) fail(path, "cannot create", "choose a writable place with --output");
  return {path, std::move(file)};
}

File File::open(const std::string& path) {
  take_over_errors();
  const Handle properties = access_properties();
  Handle file{written(H5Fopen(path.c_str(), H5F_ACC_RDWR, properties.id()), path), H5Fclose};
  return {path, std::move(file)};
}

File File::open_to_read(const std::string& path) {
  take_over_errors();
  const Handle properties = access_properties();
  hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, properties.id());
  if (id < 0) {
    id = H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, properties.id());
  }
  return {path, Handle{was_read(id, path), H5Fclose}};
}

void File::start_swmr() {
  written(H5Fstart_swmr_write(file_.id()), path_);
}

void File::flush() {
  written(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), path_);
}

void File::close() {
  take_over_errors();
  if (!file_.close()) written(-1, path_);
}

void File::create_group(const std::string& path) {
  Handle properties = owned_list(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(properties.id(), false);
  const Handle group{written(H5Gcreate2(file_.id(), path.c_str(), link_properties().id(),
                                        properties.id(), H5P_DEFAULT),
                             path_),
                     H5Gclose};
}

void File::write_text(const std::string& path, const std::string& text) {
  write_whole(file_, path_, path, text_type(text.size()), {}, text.empty() ? "\0" : text.data());
}

void File::write_array(const std::string& path, Scalar type, const Shape& shape, const void* data) {
  write_whole(file_, path_, path, number_type(type), shape, data);
  if (type == Scalar::bf16) set_attribute(path, "encoding", std::string("bfloat16"));
}

void File::write_texts(const std::string& path, const std::vector<std::string>& texts) {
  std::size_t length = 1;
  for (const std::string& text : texts) length = std::max(length, text.size());
  write_whole(file_, path_, path, text_type(length), {texts.size()}, padded(texts, length).data());
}

void File::write_table(const std::string& path, const std::vector<Member>& members,
                       std::size_t row_bytes, std::uint64_t rows, const void* data) {
  const Handle type = owned_type(H5Tcreate(H5T_COMPOUND, row_bytes));
  for (const Member& member : members) {
    H5Tinsert(type.id(), member.name.c_str(), member.offset, member_type(member).id());
  }
  write_whole(file_, path_, path, type, {rows}, data);
}

Series File::create_series(const std::string& path, Scalar type, const Shape& row,
                           std::uint64_t chunk_rows) {
  Shape start = row, limit = row, chunk = row;
  start.insert(start.begin(), 0);
  limit.insert(limit.begin(), H5S_UNLIMITED);
  chunk.insert(chunk.begin(), chunk_rows);
  return {path_,
          create_dataset(file_, path_, path, number_type(type), simple_space(start, limit), chunk),
          type, row};
}

void File::set_attribute(const std::string& path, const std::string& name,
                         const std::variant<std::string, std::uint64_t, double>& value) {
  Handle type = number_type(Scalar::u64);
  const void* data = std::get_if<std::uint64_t>(&value);
  if (const auto* real = std::get_if<double>(&value)) {
    type = number_type(Scalar::f64);
    data = real;
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    type = text_type(text->size());
    data = text->empty() ? "\0" : text->data();
  }
  const Handle object =
      owned_object(written(H5Oopen(file_.id(), path.c_str(), H5P_DEFAULT), path_));
  const Handle space = simple_space({}, {});
  const Handle attribute = owned_attribute(written(
      H5Acreate2(object.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
      path_));
  written(H5Awrite(attribute.id(), type.id(), data), path_);
}

void File::make_scale(const std::string& path, const std::string& label) {
  const Handle scale =
      owned_dataset(written(H5Dopen2(file_.id(), path.c_str(), H5P_DEFAULT), path_));
  written(H5DSset_scale(scale.id(), label.c_str()), path_);
}

void File::attach_scale(const std::string& dataset, unsigned axis, const std::string& scale) {
  const Handle data =
      owned_dataset(written(H5Dopen2(file_.id(), dataset.c_str(), H5P_DEFAULT), path_));
  const Handle values =
      owned_dataset(written(H5Dopen2(file_.id(), scale.c_str(), H5P_DEFAULT), path_));
  written(H5DSattach_scale(data.id(), values.id(), axis), path_);
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
  was_read(H5Ovisit(file_.id(), H5_INDEX_NAME, H5_ITER_INC, visit, &result), path_);
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
  return shape_of(owned_space(H5Dget_space(data.id())).id());
}

std::vector<std::byte> File::read(const std::string& dataset, std::uint64_t first,
                                  std::uint64_t count) const {
  const Handle data =
      owned_dataset(was_read(H5Dopen2(file_.id(), dataset.c_str(), H5P_DEFAULT), path_));
  const Handle type = owned_type(H5Dget_type(data.id()));
  const Handle space = owned_space(H5Dget_space(data.id()));
  const Shape shape = shape_of(space.id());
  std::vector<hsize_t> start(shape.size(), 0), size(shape.begin(), shape.end());
  hid_t memory = H5S_ALL;
  Handle selection;
  if (!shape.empty()) {
    start[0] = first;
    size[0] = count;
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr);
    selection = owned_space(H5Screate_simple(int(size.size()), size.data(), nullptr));
    memory = selection.id();
  }
  const std::uint64_t elements =
      std::accumulate(size.begin(), size.end(), std::uint64_t{1}, std::multiplies<>());
  std::vector<std::byte> bytes(elements * H5Tget_size(type.id()));
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
    entry.data.resize(product(entry.shape) * entry.type.bytes);
    was_read(H5Aread(attribute.id(), type.id(), entry.data.data()), path_);
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace lockstep::h5
