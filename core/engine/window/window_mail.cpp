/// Messages that leave or reach this rank, and messages that wait between two windows.
#include <algorithm>
#include <cstring>

#include "core/engine/window/window.hpp"

namespace lockstep {
namespace {

/// Header before the messages of one component in a bundle between ranks.
struct BundleHeader {
  std::uint32_t component;
  std::uint32_t unused = 0;
  std::uint64_t bytes;
};

template <class T>
void append_bytes(std::vector<std::byte>& into, const T* data, std::size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  into.insert(into.end(), begin, begin + size);
}

void append_bundle(std::vector<std::byte>& into, const Mail& mail) {
  BundleHeader header{mail.destination, 0, 0};
  mail.for_each([&](const MessagePlace& place, const std::byte*) { header.bytes += place.size; });
  append_bytes(into, &header, sizeof header);
  mail.for_each([&](const MessagePlace& place, const std::byte* message) {
    append_bytes(into, message, place.size);
  });
}

}  // namespace

void Window::collect_remote(std::span<std::vector<std::byte>> into, std::vector<Time>& sent) {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    for (std::size_t neighbour = 0; neighbour < into.size(); ++neighbour) {
      MessageLog& log = worker->remote[neighbour];
      for (std::size_t i = 0; i < log.size(); ++i) append_bundle(into[neighbour], log[i]);
      log.reuse(window_);
    }
    for (std::size_t kind = 0; kind < sent.size(); ++kind) {
      sent[kind] = std::min(sent[kind], worker->remote_floor[kind]);
      worker->remote_floor[kind] = Time::never();
    }
  }
}

void Window::deliver(std::span<const std::byte> bytes) {
  Arrivals& arrivals = arrivals_[window_ % 2];
  if (arrivals.bag.window() != window_) arrivals.bag.reuse(window_);
  while (!bytes.empty()) {
    BundleHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const auto messages = bytes.subspan(sizeof header, header.bytes);
    MailTarget& target = arrivals.targets[local_[header.component]];
    for (std::size_t at = 0; at < messages.size();) {
      MessageHeader message;
      std::memcpy(&message, messages.data() + at, sizeof message);
      const std::size_t size = message.total_bytes();
      std::memcpy(target.log->add(message, target), messages.data() + at + sizeof message,
                  size - sizeof message);
      at += size;
    }
    bytes = bytes.subspan(sizeof header + header.bytes);
  }
  for (std::size_t kind = 0; kind < next_.size(); ++kind) {
    next_[kind] = std::min(next_[kind], arrivals_floor_[kind]);
    arrivals_floor_[kind] = Time::never();
  }
}

void Window::settle() {
  const auto keep_mail = [&](Mailbag& bag) {
    if (bag.window() == window_) {
      for (const MessageLog& log : bag.logs) {
        for (std::size_t i = 0; i < log.size(); ++i) {
          const Mail mail = log[i];
          mail.for_each([&](const MessagePlace& place, const std::byte* message) {
            slots_[mail.destination].pending.keep(place, message);
          });
        }
      }
    }
    bag.reuse(window_);
  };
  for (const std::unique_ptr<Worker>& worker : workers_) keep_mail(worker->bags[window_ % 2]);
  keep_mail(arrivals_[window_ % 2].bag);

  next_.assign(next_.size(), Time::never());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.next = slot.component->next_activity();
    const Time due = std::min(slot.next, slot.pending.earliest());
    shares_[slot.share].due[positions_[i]] = due;
    next_[slot.kind] = std::min(next_[slot.kind], due);
  }
}

}  // namespace lockstep
