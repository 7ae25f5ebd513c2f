#include "tests/harness/message_sink.hpp"

namespace lockstep {

MessageSink::MessageSink(std::size_t components) : mail_(components) {
  std::vector<MessageBuffer*> targets;
  for (MessageBuffer& buffer : mail_) targets.push_back(&buffer);
  outbox_.attach(targets);
}

MessageSink::~MessageSink() = default;

std::vector<const MessageHeader*> MessageSink::to(std::size_t component) const {
  std::vector<const MessageHeader*> messages;
  const std::span<const std::byte> bytes = mail_[component].bytes();
  for (std::size_t at = 0; at < bytes.size(); at += messages.back()->total_bytes()) {
    messages.push_back(reinterpret_cast<const MessageHeader*>(bytes.data() + at));
  }
  return messages;
}

void MessageSink::clear() {
  for (MessageBuffer& buffer : mail_) buffer.clear();
}

}  // namespace lockstep
