#include "core/engine/mail/message_log.hpp"

#include <new>

namespace lockstep {

MessageLog::MessageLog(std::size_t most)
    : memory_(aligned_bytes<sharing_bytes>(sizeof(Head) + (most + ahead) * sizeof(MailBundle))),
      further_(most) {
  new (memory_.get()) Head;
  bytes_.append(cache_line_bytes);
  bytes_.clear();
}

void MessageLog::reuse(std::uint64_t window) {
  for (; crowded_ > 0; --crowded_) {
    further_[crowded_ - 1].places.clear();
    further_[crowded_ - 1].bytes.clear();
  }
  *head() = {window, bytes_.bytes().data(), 0};
  bytes_.clear();
  for (std::size_t i = 0; i < write_ahead; ++i) warm_to_write(bundles() + i);
  for (std::size_t at = 0; at < ByteBuffer::margin; at += cache_line_bytes)
    warm_to_write(bytes_.bytes().data() + at);
}

std::byte* MessageLog::add_further(std::uint32_t index, Time arrival, std::uint64_t order,
                                   std::uint32_t size) {
  Further& further = further_[index];
  crowded_ = std::max<std::size_t>(crowded_, index + 1);
  const auto offset = static_cast<std::uint32_t>(further.bytes.bytes().size());
  std::byte* message = further.bytes.append(size);
  further.places.push_back({arrival, order, offset, size});
  MailBundle& bundle = bundles()[index];
  bundle.further = further.places.data();
  bundle.further_bytes = further.bytes.bytes().data();
  return message;
}

}  // namespace lockstep
