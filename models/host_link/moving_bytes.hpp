/// Bytes of a transfer while a link unit (link_unit.hpp) moves them.
///
/// Bytes that are still a buffer's initial content do not come from the host: the unit makes them
/// when their lines leave, a page at a time.  Bytes for the host go on as soon as a piece of them
/// is complete.  So nobody handles a whole transfer in one window, in which all others would wait,
/// and untouched buffers take no memory of the host.
///
/// Source: design of the project (many GPUs, "Host").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "models/host_link/link_messages.hpp"
#include "models/noc/copy_stretch.hpp"

namespace lockstep {

class MovingBytes {
 public:
  /// Largest message in which bytes go to the host.
  static constexpr std::uint64_t piece_bytes = 64 * 1024;

  MovingBytes() = default;
  explicit MovingBytes(const LinkTransfer& transfer);

  /// Takes bytes from the host, for the GPU.
  void hand_over(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Returns the bytes of a line for the GPU, valid until the next call.
  std::span<std::byte> line(std::uint64_t offset, std::uint64_t bytes, const InitialBytes& initial);
  /// Takes a line of the GPU, for the host.  Each byte comes once.  Calls `take(offset, bytes)` for
  /// a piece that is complete; `offset`: offset in the transfer.
  template <class Take>
  void arrive(std::uint64_t offset, std::span<const std::byte> bytes, const Take& take) {
    while (!bytes.empty()) {
      const std::uint64_t begin = offset - offset % piece_bytes;
      const std::uint64_t size = std::min(piece_bytes, transfer_.bytes - begin);
      const std::uint64_t count = std::min<std::uint64_t>(bytes.size(), begin + size - offset);
      Piece& piece = pieces_[begin / piece_bytes];
      piece.bytes.resize(size);
      std::memcpy(piece.bytes.data() + (offset - begin), bytes.data(), count);
      piece.arrived += count;
      if (piece.arrived == size) {
        take(begin, std::span<const std::byte>(piece.bytes));
        piece = {};
      }
      offset += count;
      bytes = bytes.subspan(count);
    }
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(transfer_, handed_over_, pieces_);
    page_.clear();
  }

 private:
  struct Piece {
    std::vector<std::byte> bytes;  ///< none: no line has come, or all have gone on
    std::uint64_t arrived = 0;     ///< number of bytes that have come
    template <class Archive>
    void serialize(Archive& archive) {
      archive(bytes, arrived);
    }
  };

  LinkTransfer transfer_;
  std::vector<std::byte> handed_over_;
  std::vector<Piece> pieces_;
  /// Page of initial content that lines leave from, with the rest of its last line.
  std::vector<std::byte> page_;
  std::uint64_t page_begin_ = 0;  ///< offset of the page in the buffer
};

}  // namespace lockstep
