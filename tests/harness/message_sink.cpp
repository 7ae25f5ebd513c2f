#include "tests/harness/message_sink.hpp"

namespace lockstep {

MessageSink::MessageSink(std::size_t components) : components_(components), log_(components) {
  std::vector<MailTarget> targets;
  for (std::uint32_t i = 0; i < components; ++i) targets.push_back({&log_, &floor_, i});
  outbox_.attach(std::move(targets));
}

MessageSink::~MessageSink() = default;

std::vector<const MessageHeader*> MessageSink::to(std::size_t component) const {
  std::vector<const MessageHeader*> messages;
  for (std::size_t i = 0; i < log_.size(); ++i) {
    const Mail mail = log_[i];
    if (mail.destination != component) continue;
    mail.for_each([&](const MessagePlace&, const std::byte* message) {
      messages.push_back(reinterpret_cast<const MessageHeader*>(message));
    });
  }
  return messages;
}

std::vector<const MessageHeader*> MessageSink::all() const {
  std::vector<const MessageHeader*> messages;
  for (std::size_t component = 0; component < components_; ++component)
    for (const MessageHeader* message : to(component)) messages.push_back(message);
  return messages;
}

void MessageSink::clear() {
  log_.reuse(0);
}

}  // namespace lockstep
