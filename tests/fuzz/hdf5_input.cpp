/// A file that HDF5 itself wrote, with shapes, types and attributes that nobody expects at places
/// where readers look.  (That bytes of a file are changed is for the scenario tests: the library's
/// own faults are not ours to find.)
#include <hdf5.h>

#include <array>

#include "core/output/checkpoint_file.hpp"
#include "core/output/compare.hpp"
#include "core/output/hdf5.hpp"
#include "core/output/table.hpp"
#include "tests/fuzz/cursor.hpp"
#include "tests/fuzz/inputs.hpp"

namespace lockstep {
namespace {

struct Row {
  std::string name;
  std::uint32_t number = 0;
  Time end;
  double share = 0;
  bool done = false;

  static auto schema() {
    return table<Row>("/rows", "as many outputs have them")
        .column("name", &Row::name, "name", "text")
        .column("number", &Row::number, "count", "u32")
        .column("end", &Row::end, "fs", "time")
        .column("share", &Row::share, "ratio", "double")
        .column("done", &Row::done, "", "truth");
  }
};

constexpr std::array paths{"/rows",  "/parts/a",  "/checksums/a", "/epoch",
                           "/stats", "/stats/sm", "/config",      "/run"};
constexpr std::array columns{"name", "number", "end", "share", "done", "other"};

/// Type identifiers leak: the process is short, or restarts.
hid_t simple_type(Cursor& cursor) {
  switch (cursor.below(12)) {
    case 0:
      return H5Tcopy(H5T_NATIVE_UINT8);
    case 1:
      return H5Tcopy(H5T_STD_I32BE);
    case 2:
      return H5Tcopy(H5T_NATIVE_UINT64);
    case 3:
      return H5Tcopy(H5T_NATIVE_DOUBLE);
    case 4:
      return H5Tcopy(H5T_NATIVE_INT64);
    case 5: {
      const hid_t text = H5Tcopy(H5T_C_S1);
      H5Tset_size(text, 1 + cursor.below(40));
      return text;
    }
    case 6: {
      const hid_t text = H5Tcopy(H5T_C_S1);
      H5Tset_size(text, H5T_VARIABLE);
      return text;
    }
    case 7:
      return H5Tcopy(H5T_STD_REF_OBJ);
    case 8: {
      const hsize_t extent = 1 + cursor.below(4);
      return H5Tarray_create2(H5T_NATIVE_INT16, 1, &extent);
    }
    case 9:
      return H5Tvlen_create(H5T_NATIVE_UINT32);
    case 10:
      return H5Tcreate(H5T_OPAQUE, 1 + cursor.below(16));
    default:
      return H5Tcopy(H5T_NATIVE_UINT32);
  }
}

hid_t any_type(Cursor& cursor) {
  if (cursor.below(2) == 0) return simple_type(cursor);
  const hid_t compound = H5Tcreate(H5T_COMPOUND, 256);
  for (const char* column : columns) {
    const std::size_t offset = cursor.below(216);
    if (cursor.below(4) == 0) continue;
    const hid_t member = simple_type(cursor);
    H5Tinsert(compound, column, offset, member);  // refused where it overlaps another
    H5Tclose(member);
  }
  if (H5Tget_nmembers(compound) == 0) H5Tinsert(compound, "x", 0, H5T_NATIVE_INT);
  return compound;
}

hid_t any_space(Cursor& cursor, bool& is_large) {
  const int rank = static_cast<int>(cursor.below(5)) - 1;
  if (rank < 0) return H5Screate(H5S_NULL);
  std::array<hsize_t, 3> extent{};
  for (int i = 0; i < rank; ++i)
    extent[static_cast<std::size_t>(i)] = hsize_t{cursor.below(5)}
                                          << (cursor.below(8) == 0 ? cursor.below(62) : 0);
  is_large = H5S_UNLIMITED != extent[0] && std::max({extent[0], extent[1], extent[2]}) > 1000;
  return rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, extent.data(), nullptr);
}

void add_object(hid_t file, Cursor& cursor) {
  const char* path = paths[cursor.below(paths.size())];
  const hid_t links = H5Pcreate(H5P_LINK_CREATE), creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  hid_t object = -1;
  bool is_large = false;
  const hid_t type = any_type(cursor), space = any_space(cursor, is_large);
  if (is_large) {  // holds nothing
    const std::array<hsize_t, 3> chunk{16, 16, 16};
    H5Pset_chunk(creation, H5Sget_simple_extent_ndims(space), chunk.data());
  }
  object = cursor.below(6) == 0 ? H5Gcreate2(file, path, links, H5P_DEFAULT, H5P_DEFAULT)
                                : H5Dcreate2(file, path, type, space, links, creation, H5P_DEFAULT);
  if (object < 0) object = H5Oopen(file, path, H5P_DEFAULT);
  const char* name = cursor.below(2) == 0 ? "format" : "encoding";
  if (object >= 0 && !is_large) {
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) H5Aclose(attribute);
  }
  if (object >= 0) H5Oclose(object);
  for (const hid_t id : {type}) H5Tclose(id);
  H5Sclose(space);
  H5Pclose(links);
  H5Pclose(creation);
}

void make_file(const std::string& path, const std::string& bytes) {
  Cursor cursor(bytes);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  for (int objects = 0; objects < 6 && !cursor.at_end(); ++objects) add_object(file, cursor);
  H5Fclose(file);
}

}  // namespace

void hdf5_input(const std::string& bytes) {
  const std::string path = scratch_file(".h5");
  make_file(path, bytes);
  refused_well([&] {
    const h5::File file = h5::File::open_to_read(path);
    for (const h5::Object& object : file.objects()) {
      refused_well([&] { file.attributes(object.path); });
      if (!object.is_dataset) continue;
      refused_well([&] {
        file.type(object.path);
        const h5::Shape shape = file.shape(object.path);
        file.read(object.path, 0, shape.empty() ? 1 : shape.front());
      });
    }
    read_table<Row>(file);
  });
  refused_well([&] { compare_files(path, path); });
  refused_well([&] { CheckpointReader(path).read("a", 0); });
}

}  // namespace lockstep
