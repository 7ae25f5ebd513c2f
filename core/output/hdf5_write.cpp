/// Writing files: groups, data sets of a fixed size, series that grow.
#include <hdf5.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "core/error/error.hpp"
#include "core/output/hdf5_library.hpp"

namespace lockstep::h5 {
namespace {

constexpr std::uint64_t largest_chunk = 1 << 20;  // most elements in a chunk of a fixed array

// Making a type, a space or a list of properties costs more than using it, and a file has thousands
// of attributes.  So those that come again are made once and kept for ever.

/// Returns the type of texts of a fixed length, padded with zeros: the only kind that SWMR allows.
Handle make_text_type(std::size_t length) {
  Handle type = owned_type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.id(), std::max<std::size_t>(length, 1));
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

const Handle& text_type(std::size_t length) {
  static auto& types = *new std::map<std::size_t, Handle>;
  const auto [type, is_new] = types.try_emplace(length);
  if (is_new) type->second = make_text_type(length);
  return type->second;
}

const Handle& kept_number_type(Scalar number) {
  static auto& types = *new std::map<Scalar, Handle>;
  const auto [type, is_new] = types.try_emplace(number);
  if (is_new) type->second = number_type(number);
  return type->second;
}

const Handle& member_type(const Member& member) {
  if (const auto* scalar = std::get_if<Scalar>(&member.type)) return kept_number_type(*scalar);
  return text_type(std::get<std::size_t>(member.type));
}

Handle compound_type(const std::vector<Member>& members, std::size_t bytes) {
  Handle type = owned_type(H5Tcreate(H5T_COMPOUND, bytes));
  for (const Member& member : members) {
    H5Tinsert(type.id(), member.name.c_str(), member.offset, member_type(member).id());
  }
  return type;
}

const Handle& scalar_space() {
  static const auto& space = *new Handle(owned_space(H5Screate(H5S_SCALAR)));
  return space;
}

Handle simple_space(const Shape& shape, const Shape& limit) {
  if (shape.empty()) return owned_space(H5Screate(H5S_SCALAR));
  const std::vector<hsize_t> size(shape.begin(), shape.end()), most(limit.begin(), limit.end());
  return owned_space(H5Screate_simple(int(size.size()), size.data(), most.data()));
}

Handle list_space(std::uint64_t count) {
  return simple_space({count}, {count});
}

/// Returns properties with groups on the way, and without time stamps, so that equal runs make
/// equal files.
const Handle& link_properties() {
  static const auto& list = *new Handle([] {
    Handle made = owned_list(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(made.id(), 1);
    return made;
  }());
  return list;
}

Handle make_dataset_properties(const Shape& chunk, bool compress, Sums sums) {
  Handle list = owned_list(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(list.id(), false);
  if (!chunk.empty()) {
    const std::vector<hsize_t> size(chunk.begin(), chunk.end());
    H5Pset_chunk(list.id(), int(size.size()), size.data());
  }
  if (!chunk.empty() && compress) {
    H5Pset_shuffle(list.id());
    H5Pset_deflate(list.id(), 1);
  }
  if (sums == Sums::checked) H5Pset_fletcher32(list.id());
  return list;
}

const Handle& dataset_properties(const Shape& chunk, bool compress, Sums sums) {
  static auto& lists = *new std::map<std::tuple<Shape, bool, Sums>, Handle>;
  const auto [list, is_new] = lists.try_emplace({chunk, compress, sums});
  if (is_new) list->second = make_dataset_properties(chunk, compress, sums);
  return list->second;
}

bool is_zero(const char* bytes, std::size_t count) {
  return count == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, count - 1) == 0);
}

std::vector<char> padded(const std::vector<std::string>& texts, std::size_t length) {
  std::vector<char> bytes(texts.size() * length);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::copy(texts[i].begin(), texts[i].end(), bytes.begin() + std::ptrdiff_t(i * length));
  }
  return bytes;
}

}  // namespace

Series::Series(std::string file, Handle dataset, Handle type, Shape row, std::uint64_t chunk_rows)
    : file_(std::move(file)),
      dataset_(std::move(dataset)),
      type_(std::move(type)),
      row_(std::move(row)),
      chunk_rows_(chunk_rows) {}

/// Appends chunk by chunk, from the first row that is not 0 to the last. Its bytes decide whether a
/// chunk is stored, and not the sizes of appends, so that equal runs make equal files.
void Series::append(const void* rows, std::uint64_t count) {
  const std::uint64_t begin = length_;
  grow(count);
  if (chunk_rows_ == 0) return write(begin, rows, count);
  const std::size_t row_bytes = product(row_) * H5Tget_size(type_.id());
  const auto* bytes = static_cast<const char*>(rows);
  const auto row_is_zero = [&](std::uint64_t row) {
    return is_zero(bytes + row * row_bytes, row_bytes);
  };
  for (std::uint64_t first = 0; first < count;) {
    const std::uint64_t next_chunk = ((begin + first) / chunk_rows_ + 1) * chunk_rows_ - begin;
    const std::uint64_t end = std::min(next_chunk, count);
    std::uint64_t last = end;
    while (first < last && row_is_zero(first)) ++first;
    while (first < last && row_is_zero(last - 1)) --last;
    if (first < last) write(begin + first, bytes + first * row_bytes, last - first);
    first = end;
  }
}

void Series::append(std::uint64_t count, std::span<const Word> words) {
  LOCKSTEP_CHECK(H5Tget_size(type_.id()) == sizeof(std::uint64_t),
                 "a series of words has another type");
  const std::uint64_t begin = length_;
  grow(count);
  const std::size_t row_words = product(row_);
  std::vector<std::uint64_t> part;
  for (std::size_t i = 0; i < words.size();) {
    const std::uint64_t first = words[i].row, chunk = (begin + first) / chunk_rows_;
    part.clear();
    for (; i < words.size() && (begin + words[i].row) / chunk_rows_ == chunk; ++i) {
      part.resize((words[i].row - first + 1) * row_words);
      part[(words[i].row - first) * row_words + words[i].index] = words[i].value;
    }
    write(begin + first, part.data(), part.size() / row_words);
  }
}

void Series::grow(std::uint64_t count) {
  take_over_errors();
  length_ += count;
  Shape whole = row_;
  whole.insert(whole.begin(), length_);
  const std::vector<hsize_t> extent(whole.begin(), whole.end());
  written(H5Dset_extent(dataset_.id(), extent.data()), file_);
}

void Series::write(std::uint64_t first, const void* rows, std::uint64_t count) {
  std::vector<hsize_t> start(row_.size() + 1, 0), size(row_.begin(), row_.end());
  start[0] = first;
  size.insert(size.begin(), count);
  const Handle space = owned_space(H5Dget_space(dataset_.id()));
  H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr);
  const Handle memory = owned_space(H5Screate_simple(int(size.size()), size.data(), nullptr));
  written(H5Dwrite(dataset_.id(), type_.id(), memory.id(), space.id(), H5P_DEFAULT, rows), file_);
}

void Series::flush() {
  written(H5Dflush(dataset_.id()), file_);
}

void Series::close() {
  close_written(dataset_, file_);
}

// Any call clears the library's account of the last failure: property lists outlive the check.

File File::create(const std::string& path, const std::string& name) {
  take_over_errors();
  const Handle properties = access_properties();
  const Handle creation = owned_list(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_obj_track_times(creation.id(), false);
  Handle file{H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), properties.id()), H5Fclose};
  const std::string& shown = name.empty() ? path : name;
  if (file.id() < 0) fail(shown, "cannot create", "choose a writable place with --output");
  return {shown, std::move(file)};
}

File File::open(const std::string& path, const std::string& name) {
  take_over_errors();
  const std::string& shown = name.empty() ? path : name;
  const Handle properties = access_properties();
  Handle file{written(H5Fopen(path.c_str(), H5F_ACC_RDWR, properties.id()), shown), H5Fclose};
  return {shown, std::move(file)};
}

std::uint64_t File::size() const {
  hsize_t bytes = 0;
  if (H5Fget_filesize(file_.id(), &bytes) < 0)
    fail(path_, "has no size", "check that file system, or choose another with --output");
  return bytes;
}

void File::keep(const std::string& path, Handle object) {
  close_written(latest_, path_);
  latest_ = std::move(object);
  latest_path_ = path;
}

const Handle& File::object(const std::string& path) {
  if (path != latest_path_)
    keep(path, owned_object(written(H5Oopen(file_.id(), path.c_str(), H5P_DEFAULT), path_)));
  return latest_;
}

/// Closes what is open beside the file itself.
void File::close_latest() {
  latest_path_.clear();
  close_written(latest_, path_);
  group_path_.clear();
  close_written(group_, path_);
}

void File::start_swmr() {
  close_latest();
  written(H5Fstart_swmr_write(file_.id()), path_);
}

void File::flush() {
  close_latest();
  written(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), path_);
}

void File::close() {
  take_over_errors();
  close_latest();
  if (!file_.close()) written(-1, path_);
}

File::Place File::place_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string group = path.substr(0, slash);
  if (group.empty()) return {file_.id(), path};
  if (group != group_path_) {
    close_written(group_, path_);
    group_path_ = group;
    return {file_.id(), path};
  }
  if (group_.id() < 0)
    group_ = {written(H5Gopen2(file_.id(), group.c_str(), H5P_DEFAULT), path_), H5Gclose};
  return {group_.id(), path.substr(slash + 1)};
}

Handle File::create_dataset(const std::string& path, const Handle& type, const Handle& space,
                            const Shape& chunk, bool compress, Sums sums) {
  const Place place = place_of(path);
  return owned_dataset(written(
      H5Dcreate2(place.from, place.name.c_str(), type.id(), space.id(), link_properties().id(),
                 dataset_properties(chunk, compress, sums).id(), H5P_DEFAULT),
      path_));
}

Handle File::write_whole(const std::string& path, const Handle& type, const Shape& shape,
                         const void* data) {
  Shape chunk = shape;
  for (std::uint64_t& side : chunk) {
    while (side > 1 && product(chunk) > largest_chunk) side = (side + 1) / 2;
  }
  const bool compress = product(shape) * H5Tget_size(type.id()) > 4096;
  Handle dataset =
      create_dataset(path, type, simple_space(shape, shape), compress ? chunk : Shape{});
  if (product(shape) > 0)
    written(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data), path_);
  return dataset;
}

void File::create_group(const std::string& path) {
  Handle properties = owned_list(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(properties.id(), false);
  Handle group{written(H5Gcreate2(file_.id(), path.c_str(), link_properties().id(), properties.id(),
                                  H5P_DEFAULT),
                       path_),
               H5Gclose};
  close_written(group, path_);
}

void File::write_text(const std::string& path, const std::string& text) {
  keep(path, write_whole(path, text_type(text.size()), {}, text.empty() ? "\0" : text.data()));
}

void File::write_array(const std::string& path, Scalar type, const Shape& shape, const void* data) {
  keep(path, write_whole(path, kept_number_type(type), shape, data));
  if (type == Scalar::bf16) set_attribute(path, "encoding", std::string("bfloat16"));
}

void File::write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  const Handle type = number_type(Scalar::u8);
  const Shape shape{bytes.size()};
  Handle dataset = create_dataset(path, type, simple_space(shape, shape), {});
  if (!bytes.empty())
    written(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), path_);
  close_written(dataset, path_);
}

void File::write_texts(const std::string& path, const std::vector<std::string>& texts) {
  write_texts(path, {texts.size()}, texts);
}

void File::write_texts(const std::string& path, const Shape& shape,
                       const std::vector<std::string>& texts) {
  std::size_t length = 1;
  for (const std::string& text : texts) length = std::max(length, text.size());
  keep(path, write_whole(path, text_type(length), shape, padded(texts, length).data()));
}

void File::write_table(const std::string& path, const std::vector<Member>& members,
                       std::size_t row_bytes, std::uint64_t rows, const void* data) {
  keep(path, write_whole(path, compound_type(members, row_bytes), {rows}, data));
}

Series File::create_series(const std::string& path, Scalar type, const Shape& row,
                           std::uint64_t chunk_rows, Sums sums) {
  Shape start = row, limit = row, chunk = row;
  start.insert(start.begin(), 0);
  limit.insert(limit.begin(), H5S_UNLIMITED);
  chunk.insert(chunk.begin(), chunk_rows);
  Handle element = number_type(type);
  Handle dataset = create_dataset(path, element, simple_space(start, limit), chunk, true, sums);
  return {path_, std::move(dataset), std::move(element), row, chunk_rows};
}

Series File::create_table(const std::string& path, const std::vector<Member>& members,
                          std::size_t row_bytes, std::uint64_t chunk_rows, Sums sums) {
  Handle type = compound_type(members, row_bytes);
  Handle dataset =
      create_dataset(path, type, simple_space({0}, {H5S_UNLIMITED}), {chunk_rows}, true, sums);
  return {path_, std::move(dataset), std::move(type), {}, 0};
}

Series File::create_bytes(const std::string& path, std::uint64_t chunk) {
  Handle type = number_type(Scalar::u8);
  const Handle space = simple_space({0}, {H5S_UNLIMITED});
  Handle dataset = create_dataset(path, type, space, {chunk}, false);
  return {path_, std::move(dataset), std::move(type), {}, 0};
}

namespace {

void put_attribute(const Handle& object, const std::string& file, const std::string& name,
                   const Handle& type, const Handle& space, const void* data) {
  Handle attribute = owned_attribute(written(
      H5Acreate2(object.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
      file));
  written(H5Awrite(attribute.id(), type.id(), data), file);
  close_written(attribute, file);
}

void write_attribute(const Handle& object, const std::string& file, const std::string& name,
                     const AttributeValue& value) {
  if (const auto* real = std::get_if<double>(&value)) {
    put_attribute(object, file, name, kept_number_type(Scalar::f64), scalar_space(), real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    put_attribute(object, file, name, text_type(text->size()), scalar_space(),
                  text->empty() ? "\0" : text->data());
  } else {
    put_attribute(object, file, name, kept_number_type(Scalar::u64), scalar_space(),
                  &std::get<std::uint64_t>(value));
  }
}

}  // namespace

void File::set_attribute(const std::string& path, const std::string& name,
                         const AttributeValue& value) {
  set_attributes(path, {{name, value}});
}

void File::set_attributes(const std::string& path, const Attributes& attributes) {
  const Handle& at = object(path);
  for (const auto& [name, value] : attributes) write_attribute(at, path_, name, value);
}

void Series::set_attributes(const Attributes& attributes) {
  for (const auto& [name, value] : attributes) write_attribute(dataset_, file_, name, value);
}

void File::make_scale(const std::string& path, const std::string& label) {
  written(H5DSset_scale(object(path).id(), label.c_str()), path_);
}

// The attributes that HDF5's Dimension Scale specification names.
void File::attach_scales(const std::vector<ScaledAxes>& data_sets) {
  struct Use {
    hobj_ref_t data_set;
    unsigned axis;
  };
  const auto reference_to = [&](std::int64_t from, const std::string& name) {
    hobj_ref_t reference;
    written(H5Rcreate(&reference, from, name.c_str(), H5R_OBJECT, -1), path_);
    return reference;
  };
  struct Scale {
    hobj_ref_t reference;
    std::vector<Use> uses;
  };
  std::map<std::string, Scale> scales;
  const Handle list = owned_type(H5Tvlen_create(H5T_STD_REF_OBJ));
  for (const ScaledAxes& data_set : data_sets) {
    Handle opened;
    if (data_set.open == nullptr)
      opened =
          owned_dataset(written(H5Dopen2(file_.id(), data_set.path.c_str(), H5P_DEFAULT), path_));
    const Handle& object = data_set.open != nullptr ? *data_set.open : opened;
    const hobj_ref_t reference = reference_to(object.id(), ".");
    const auto rank = static_cast<std::size_t>(
        written(H5Sget_simple_extent_ndims(owned_space(H5Dget_space(object.id())).id()), path_));
    std::vector<std::vector<hobj_ref_t>> references(data_set.scales.size());
    std::vector<hvl_t> axes(rank, hvl_t{0, nullptr});  // axes without scales keep an empty entry
    for (unsigned axis = 0; axis < references.size(); ++axis) {
      for (const std::string& path : data_set.scales[axis]) {
        const auto [scale, is_new] = scales.try_emplace(path);
        if (is_new) scale->second.reference = reference_to(file_.id(), path);
        scale->second.uses.push_back({reference, axis});
        references[axis].push_back(scale->second.reference);
      }
      axes.at(axis) = {references[axis].size(), references[axis].data()};
    }
    put_attribute(object, path_, "DIMENSION_LIST", list, list_space(axes.size()), axes.data());
    close_written(opened, path_);
  }
  const Handle use = owned_type(H5Tcreate(H5T_COMPOUND, sizeof(Use)));
  H5Tinsert(use.id(), "dataset", HOFFSET(Use, data_set), H5T_STD_REF_OBJ);
  H5Tinsert(use.id(), "dimension", HOFFSET(Use, axis), H5T_NATIVE_INT);
  for (const auto& [path, scale] : scales) {
    Handle object = owned_object(written(H5Oopen(file_.id(), path.c_str(), H5P_DEFAULT), path_));
    put_attribute(object, path_, "REFERENCE_LIST", use, list_space(scale.uses.size()),
                  scale.uses.data());
    close_written(object, path_);
  }
}

}  // namespace lockstep::h5
