#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// The part of HDF5 that Lockstep uses, with owning handles.  Every failure is a UserError that
/// names the file; only hdf5_*.cpp call the C library.
namespace lockstep::h5 {

/// Element types of arrays.  Readers know no HDF5 type for bf16, which is stored as u16 with an
/// attribute `encoding`.
enum class Scalar : std::uint8_t { u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64 };
std::size_t size_of(Scalar type);

using Shape = std::vector<std::uint64_t>;

/// Choice whether the library keeps a checksum of each chunk and checks it when reading.
enum class Sums : std::uint8_t { none, checked };

/// An identifier of the library and the function that releases it.
class Handle {
 public:
  Handle() = default;
  Handle(std::int64_t id, int (*release)(std::int64_t)) : id_(id), release_(release) {}
  Handle(Handle&& other) noexcept { swap(other); }
  Handle& operator=(Handle&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) release_(id_);
  }
  std::int64_t id() const { return id_; }
  /// Releases now; false if that failed.
  bool close();
  /// Leaves it to the end of the process.
  void abandon() { id_ = -1; }

 private:
  void swap(Handle& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(release_, other.release_);
  }
  std::int64_t id_ = -1;
  int (*release_)(std::int64_t) = nullptr;
};

using AttributeValue = std::variant<std::string, std::uint64_t, double>;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// A data set that grows along its first axis.
class Series {
 public:
  Series() = default;
  /// Makes a series.  `chunk_rows`: rows in a chunk; chunks of zeros take no space and no time; 0:
  /// all are written.
  Series(std::string file, Handle dataset, Handle type, Shape row, std::uint64_t chunk_rows);

  /// Appends `count` rows, which are contiguous in memory.
  void append(const void* rows, std::uint64_t count);
  struct Word {
    std::uint32_t row;    ///< row among the appended ones
    std::uint32_t index;  ///< index within the row
    std::uint64_t value;
  };
  /// Appends `count` rows of 64-bit numbers that are 0 except for `words`, which are in the order
  /// of their rows.
  void append(std::uint64_t count, std::span<const Word> words);
  void set_attributes(const Attributes& attributes);
  /// Makes appended rows visible to readers.
  void flush();
  /// Ends appending; does nothing without an open data set.
  void close();
  /// Abandons the data set as File::abandon does.
  void abandon() { dataset_.abandon(); }
  /// Returns the open data set.
  const Handle& dataset() const { return dataset_; }

 private:
  void grow(std::uint64_t count);
  void write(std::uint64_t first, const void* rows, std::uint64_t count);

  std::string file_;
  Handle dataset_;
  Handle type_;
  Shape row_;
  std::uint64_t chunk_rows_ = 0;
  std::uint64_t length_ = 0;
};

/// A member of a compound type in memory; text has a fixed length in bytes.
struct Member {
  std::string name;
  std::variant<Scalar, std::size_t> type;  ///< number type, or the length of a text; 0: neither
  std::size_t offset = 0;
};

/// Type as a reader sees it: enough to compare and print.
struct ElementType {
  std::size_t bytes = 0;  ///< bytes of an element in memory
  bool is_text = false;
  std::variant<std::monostate, Scalar> number;
  std::vector<Member> members;  ///< members of a compound
  /// Description, equal for equal types; empty: a type unknown to Lockstep.
  std::string description;
};

struct Attribute {
  std::string name;
  ElementType type;
  Shape shape;
  std::vector<std::byte> data;
};

struct Object {
  std::string path;
  bool is_dataset = false;
};

/// Returns whether a file begins as HDF5 files do.
bool is_hdf5(const std::string& path);

/// A data set, and the scales of each of its axes.
struct ScaledAxes {
  std::string path;
  std::vector<std::vector<std::string>> scales;  ///< names of the scales of each axis
  const Handle* open = nullptr;                  ///< the data set, if it is open
};

class File {
 public:
  File() = default;
  /// Errors call it `name` if that is not empty.
  static File create(const std::string& path, const std::string& name = "");
  /// Opens a file to write more into it.
  static File open(const std::string& path, const std::string& name = "");
  /// Opens a file to read. It may still be written, or its writer may have died.
  static File open_to_read(const std::string& path);

  const std::string& path() const { return path_; }
  bool is_open() const { return file_.id() >= 0; }
  void start_swmr();
  void flush();
  void close();
  /// Leaves the file open for ever, since the library would write once more when closing it. The
  /// file on disk stays.
  void abandon() {
    latest_.abandon();
    group_.abandon();
    file_.abandon();
  }
  /// Returns the number of bytes that the file has, or will have once the library has written all.
  std::uint64_t size() const;

  // Writing.  Groups on the way are made.
  void create_group(const std::string& path);
  void write_text(const std::string& path, const std::string& text);
  void write_array(const std::string& path, Scalar type, const Shape& shape, const void* data);
  void write_texts(const std::string& path, const std::vector<std::string>& texts);
  void write_texts(const std::string& path, const Shape& shape,
                   const std::vector<std::string>& texts);
  void write_table(const std::string& path, const std::vector<Member>& members,
                   std::size_t row_bytes, std::uint64_t rows, const void* data);
  /// Writes the bytes contiguously, neither chunked nor compressed.
  void write_bytes(const std::string& path, std::span<const std::byte> bytes);
  /// Creates an empty series of bytes, chunked by `chunk`, not compressed.
  Series create_bytes(const std::string& path, std::uint64_t chunk);
  /// Creates an empty series, chunked by `chunk_rows`, compressed.
  Series create_series(const std::string& path, Scalar type, const Shape& row,
                       std::uint64_t chunk_rows, Sums sums = Sums::none);
  /// Creates an empty series of the compound type with these members, chunked by `chunk_rows` and
  /// compressed.
  Series create_table(const std::string& path, const std::vector<Member>& members,
                      std::size_t row_bytes, std::uint64_t chunk_rows, Sums sums = Sums::none);
  void set_attribute(const std::string& path, const std::string& name, const AttributeValue& value);
  void set_attributes(const std::string& path, const Attributes& attributes);
  /// Makes `path` a dimension scale, and names its axis.
  void make_scale(const std::string& path, const std::string& label);
  /// Attaches all scales of a file at once: the library's own call, which takes one at a time,
  /// reads and writes the list of all data sets of a scale again each time.
  void attach_scales(const std::vector<ScaledAxes>& data_sets);

  // Reading.
  /// Returns everything below the root in the order of names.
  std::vector<Object> objects() const;
  ElementType type(const std::string& dataset) const;
  /// Returns the shape of the data set.  Throws UserError if the file's data are shorter than that.
  Shape shape(const std::string& dataset) const;
  /// Returns rows [first, first + count) along the first axis; a scalar is one row. Throws
  /// UserError for types whose values are stored elsewhere, such as texts of variable length.
  std::vector<std::byte> read(const std::string& dataset, std::uint64_t first,
                              std::uint64_t count) const;
  /// Returns the attributes in the order of names, without the data of types unknown to Lockstep
  /// and without references of dimension scales.
  std::vector<Attribute> attributes(const std::string& object) const;
  bool has(const std::string& path) const;

  // Functions below read data of a known type and shape, and throw UserError for any other
  // (hdf5_typed.cpp).
  /// Returns the length of the first axis.
  std::uint64_t rows(const std::string& dataset) const;
  /// Returns the length of the first axis of a data set with rows of this shape.
  std::uint64_t rows_of(const std::string& dataset, Scalar type, const Shape& row) const;
  /// Numbers of 64 bits: rows [first, first + count) along the first axis.
  std::vector<std::uint64_t> words(const std::string& dataset, std::uint64_t first,
                                   std::uint64_t count) const;
  /// Returns the word of a data set that holds a single one.
  std::uint64_t word(const std::string& dataset) const;
  /// Returns all entries.
  std::vector<std::string> texts(const std::string& dataset) const;
  std::string text(const std::string& dataset) const;
  /// Returns a text attribute; "" if there is none, or if it is no text.
  std::string text_attribute(const std::string& object, const std::string& name) const;
  [[noreturn]] void refuse(const std::string& dataset, const std::string& what) const;

 private:
  File(std::string path, Handle file) : path_(std::move(path)), file_(std::move(file)) {}

  /// Keeps an object open that was just written: its attributes often follow, and to find it costs
  /// more than they do.
  void keep(const std::string& path, Handle object);
  /// Returns the object at `path`, open until the next call.
  const Handle& object(const std::string& path);
  void close_latest();
  /// An object as seen from another one.
  struct Place {
    std::int64_t from;
    std::string name;
  };
  /// Returns where the path is found: seen from its group if the path before it had the same one,
  /// because to find a group costs as much as to make an object in it.
  Place place_of(const std::string& path);
  Handle create_dataset(const std::string& path, const Handle& type, const Handle& space,
                        const Shape& chunk, bool compress = true, Sums sums = Sums::none);
  Handle write_whole(const std::string& path, const Handle& type, const Shape& shape,
                     const void* data);

  std::string path_;
  Handle file_;
  std::string latest_path_;  ///< path of the object that is open; empty: none
  Handle latest_;
  std::string group_path_;  ///< group of the path that was used last; it is open if group_ is
  Handle group_;
};

}  // namespace lockstep::h5
