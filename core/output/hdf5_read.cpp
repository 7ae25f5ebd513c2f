/// Reading files, whoever wrote them.
#include <hdf5.h>

#include <numeric>

#include "core/output/hdf5_library.hpp"

namespace lockstep::h5 {
namespace {

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

// Any call clears the library's account of the last failure: property lists outlive the check.
File File::open_to_read(const std::string& path) {
  take_over_errors();
  const Handle properties = access_properties();
  hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, properties.id());
  if (id < 0) {
    id = H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, properties.id());
  }
  return {path, Handle{was_read(id, path), H5Fclose}};
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
