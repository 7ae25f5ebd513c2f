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
  const OpenedBuffer mail = mail_[component].contents();
  for (const MessagePlace& place : mail.places()) messages.push_back(&mail.message(place));
  return messages;
}

void MessageSink::clear() {
  for (MessageBuffer& buffer : mail_) buffer.clear();
}

}  // namespace lockstep
