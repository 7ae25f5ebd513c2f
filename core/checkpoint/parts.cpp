#include "core/checkpoint/parts.hpp"

#include <istream>
#include <ostream>

#include "core/error/error.hpp"

namespace lockstep {

PartWriter::PartWriter(Sink sink) : sink_(std::move(sink)), chunk_(chunk_bytes) {
  setp(chunk_.data(), chunk_.data() + chunk_.size());
}

void PartWriter::finish() {
  const auto count = static_cast<std::size_t>(pptr() - pbase());
  if (count > 0) sink_(std::as_bytes(std::span(chunk_).first(count)));
  setp(chunk_.data(), chunk_.data() + chunk_.size());
}

PartWriter::int_type PartWriter::overflow(int_type next) {
  finish();
  if (!traits_type::eq_int_type(next, traits_type::eof())) sputc(traits_type::to_char_type(next));
  return traits_type::not_eof(next);
}

PartReader::int_type PartReader::underflow() {
  chunk_ = source_.read(part_, next_++);
  setg(chunk_.data(), chunk_.data(), chunk_.data() + chunk_.size());
  return chunk_.empty() ? traits_type::eof() : traits_type::to_int_type(chunk_.front());
}

PartReader::pos_type PartReader::seekoff(off_type offset, std::ios_base::seekdir from,
                                         std::ios_base::openmode) {
  if (offset != 0 || from == std::ios_base::beg) return off_type{-1};
  if (from == std::ios_base::end) return static_cast<off_type>(source_.size(part_));
  const std::size_t before = next_ == 0 ? 0 : (next_ - 1) * PartWriter::chunk_bytes;
  return static_cast<off_type>(before + static_cast<std::size_t>(gptr() - eback()));
}

PartReader::pos_type PartReader::seekpos(pos_type place, std::ios_base::openmode which) {
  return place == seekoff(0, std::ios_base::cur, which) ? place : pos_type(off_type{-1});
}

bool PartReader::all_was_read() {
  return gptr() == egptr() && traits_type::eq_int_type(underflow(), traits_type::eof());
}

void save_part(PartSink& sink, const std::string& part,
               const std::function<void(Archive&)>& values) {
  sink.begin(part);
  PartWriter bytes([&](std::span<const std::byte> chunk) { sink.write(chunk); });
  std::ostream out(&bytes);
  Archive archive = Archive::saving(out);
  values(archive);
  bytes.finish();
  sink.end();
}

void restore_part(PartSource& source, const std::string& part,
                  const std::function<void(Archive&)>& values) {
  PartReader bytes(source, part);
  std::istream in(&bytes);
  Archive archive = Archive::restoring(in, part);
  values(archive);
  if (!bytes.all_was_read()) {
    throw UserError(part, "the checkpoint holds more than this program reads",
                    "resume with the program that wrote it");
  }
}

}  // namespace lockstep
