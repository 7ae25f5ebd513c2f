/// A checkpoint is a row of parts: bytes with a name, in chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/archive.hpp"

namespace lockstep {

/// Destination of parts, written one after the other.
class PartSink {
 public:
  virtual ~PartSink() = default;
  virtual void begin(const std::string& part) = 0;
  /// Writes the next chunk of the part that has begun; all chunks but the last have
  /// PartWriter::chunk_bytes.
  virtual void write(std::span<const std::byte> chunk) = 0;
  virtual void end() = 0;
};

/// Source of parts, which are found in any order.
class PartSource {
 public:
  virtual ~PartSource() = default;
  /// Returns chunk `index` of a part as it was written; empty behind the last. Throws UserError if
  /// there is no such part, or if it is damaged.
  virtual std::vector<char> read(const std::string& part, std::size_t index) = 0;
  /// Returns the number of bytes of all chunks.
  virtual std::uint64_t size(const std::string& part) = 0;
};

/// Cuts written bytes into chunks, so that neither the writer nor the sink holds more of a part
/// than one chunk. The ends of chunks depend on the bytes alone.
class PartWriter final : public std::streambuf {
 public:
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  using Sink = std::function<void(std::span<const std::byte>)>;

  explicit PartWriter(Sink sink);
  /// Writes the remaining bytes.
  void finish();

 private:
  int_type overflow(int_type next) override;

  Sink sink_;
  std::vector<char> chunk_;
};

/// Reads a part from its beginning.
class PartReader final : public std::streambuf {
 public:
  PartReader(PartSource& source, std::string part) : source_(source), part_(std::move(part)) {}
  /// Returns whether the part has been read to its end.
  bool all_was_read();

 private:
  int_type underflow() override;
  /// Tells where it stands, and where the part ends.
  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode) override;
  /// Only seeks to the place where it stands.
  pos_type seekpos(pos_type place, std::ios_base::openmode which) override;

  PartSource& source_;
  std::string part_;
  std::vector<char> chunk_;
  std::size_t next_ = 0;
};

/// Saves a part that is not a component; `values` saves or restores it.
void save_part(PartSink& sink, const std::string& part,
               const std::function<void(Archive&)>& values);
void restore_part(PartSource& source, const std::string& part,
                  const std::function<void(Archive&)>& values);

}  // namespace lockstep
