/// Stretches of copies that a partition has been sent (models/noc/copy_stretch.hpp): the requests
/// of their lines, made when their times come, and the answers to them.
///
/// The acknowledgements of a stretch to the GPU leave as one message, when the last of them would.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/message/message.hpp"
#include "core/time/time.hpp"
#include "models/noc/copy_stretch.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

class CopyStretches {
 public:
  /// `initial`: may be empty if no copy comes in stretches.
  explicit CopyStretches(InitialBytes initial) : initial_(std::move(initial)) {}

  void take(const MessageHeader& message);
  /// Returns the arrival of the next line.
  Time next() const { return next_; }
  /// Returns whether the next line comes before a message that has arrived.
  bool comes_before(const MessageHeader& message) const {
    return next_ < message.arrival || (next_ == message.arrival && link_ <= message.link);
  }
  /// Returns the physical address of the next line.
  std::uint64_t next_address() const {
    const Stretch& stretch = stretches_[first_];
    return stretch.lines[stretch.at].address;
  }
  /// Takes the next line.  Returns its request, as if it were a message; valid until the next call.
  /// The tag of a line to the GPU is the number that answered() takes.
  const MessageHeader& take_line();
  /// Returns whether take_line() made the message.
  bool made(const MessageHeader& message) const {
    return static_cast<const void*>(&message) == request_.data();
  }
  /// Notes the acknowledgement of a line to the GPU.  Returns what the host is told if it was the
  /// stretch's last.
  std::optional<StretchDone> answered(std::uint32_t number);
  /// Returns whether no line is still to come or to be acknowledged.
  bool empty() const { return stretches_.size() == free_.size(); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(stretches_, free_);
    find_next();
  }

 private:
  struct Stretch {
    CopyStretch said;
    LinkId link;
    std::uint32_t at = 0;        ///< line that comes next
    std::uint32_t answered = 0;  ///< lines to the GPU that are acknowledged
    std::vector<CopiedLine> lines;
    std::vector<std::byte> bytes;  ///< 128 for each line to the GPU; none: initial content

    template <class Archive>
    void serialize(Archive& archive) {
      archive(said, link, at, answered, lines, bytes);
    }
  };

  void find_next();
  /// Ends a stretch with no line to come or to be acknowledged.
  void release(std::uint32_t number);
  void write_bytes(const Stretch& stretch, const CopiedLine& line, std::byte* to);

  InitialBytes initial_;
  std::vector<Stretch> stretches_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint64_t> request_;  ///< words of the request that take_line() made last
  // Of the next line: its arrival, the stretch's number, and the link that it comes over.
  Time next_ = Time::never();
  std::uint32_t first_ = 0;
  LinkId link_;
};

}  // namespace lockstep
