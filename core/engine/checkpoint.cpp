/// Saves and restores a run between two windows.
///
/// The parts are: `engine` (the boundary and the number of components), then for each component its
/// simulated time, the messages on their way to it and its own state.  The places of components are
/// not saved.
///
/// Parts are streamed: rank 0 takes one chunk after the other from the rank of a component, and
/// writes each before it asks for the next.  So saving needs a few chunks of memory, however large
/// the components are.
#include <algorithm>
#include <array>
#include <exception>
#include <istream>
#include <ostream>

#include "core/checkpoint/archive.hpp"
#include "core/checkpoint/parts.hpp"
#include "core/engine/state.hpp"
#include "core/error/error.hpp"

namespace lockstep {
namespace {

/// Saves the header by fields, body and payload as their bytes.
void save_message(Archive& archive, const MessageHeader& message) {
  MessageHeader header = message;
  archive(header);
  archive.bytes(const_cast<MessageHeader*>(&message) + 1,
                message.body_bytes + message.payload_bytes);
}

void restore_message(Archive& archive, PendingMessages& pending,
                     std::vector<std::uint64_t>& words) {
  MessageHeader header;
  archive(header);
  archive.require(std::uint64_t{header.body_bytes} + header.payload_bytes);
  words.assign(header.total_bytes() / sizeof words[0], 0);
  std::memcpy(words.data(), &header, sizeof header);
  archive.bytes(reinterpret_cast<std::byte*>(words.data()) + sizeof header,
                header.body_bytes + header.payload_bytes);
  pending.keep(MessagePlace::of(header, 0), reinterpret_cast<const std::byte*>(words.data()));
}

void serialize_component(Archive& archive, Component& component) {
  const std::size_t sections = archive.sections();
  component.serialize(archive);
  LOCKSTEP_CHECK(archive.sections() > sections, "a component's state begins with no section");
}

void save_slot(std::streambuf& bytes, Slot& slot, Time reached) {
  std::ostream out(&bytes);
  Archive archive = Archive::saving(out);
  archive.section("engine", 1);
  archive(reached);
  const std::vector<const MessageHeader*> messages = slot.pending.sorted();
  std::uint64_t count = messages.size();
  archive(count);
  for (const MessageHeader* message : messages) save_message(archive, *message);
  serialize_component(archive, *slot.component);
}

/// Returns where the component stood.
Time restore_slot(PartReader& bytes, Slot& slot, const std::string& name) {
  std::istream in(&bytes);
  Archive archive = Archive::restoring(in, name);
  archive.section("engine", 1);
  Time reached;
  std::uint64_t count = 0;
  archive(reached, count);
  slot.pending = PendingMessages();
  std::vector<std::uint64_t> words;
  for (; count > 0; --count) restore_message(archive, slot.pending, words);
  serialize_component(archive, *slot.component);
  if (!bytes.all_was_read()) {
    throw UserError(name, "the checkpoint holds more than this program reads",
                    "resume with the program that wrote it");
  }
  return reached;
}

/// Calls `sink` with the chunks of a component, or with some of them if it cannot be saved.
void save_chunks(Slot& slot, Time reached, const PartWriter::Sink& sink,
                 std::exception_ptr& failure) {
  PartWriter chunks(sink);
  try {
    save_slot(chunks, slot, reached);
  } catch (...) {
    if (!failure) failure = std::current_exception();
  }
  chunks.finish();
}

/// A sink that is not used any more after a failure: other ranks still have to send their chunks.
class Guarded {
 public:
  explicit Guarded(std::exception_ptr& failure) : failure_(failure) {}
  template <class Action>
  void operator()(Action&& action) {
    if (failed_) return;
    try {
      action();
    } catch (...) {
      failed_ = true;
      if (!failure_) failure_ = std::current_exception();
    }
  }

 private:
  std::exception_ptr& failure_;
  bool failed_ = false;
};

std::string part_of(const Graph& graph, std::uint32_t id) {
  return "components/" + graph.name(ComponentId{id});
}

}  // namespace

bool Engine::save(PartSink* sink) {
  State& state = *state_;
  Communicator& communicator = state.communicator;
  state.window->settle();
  std::exception_ptr failure;
  Guarded guarded(failure);
  const auto keep = [&](std::span<const std::byte> chunk) { guarded([&] { sink->write(chunk); }); };
  const auto send = [&](std::span<const std::byte> chunk) { communicator.send(0, chunk); };
  const bool writes = communicator.rank() == 0;

  if (writes) {
    const auto boundary = [&](Archive& archive) { state.serialize(archive); };
    guarded([&] { save_part(*sink, "engine", boundary); });
  }
  std::span<Slot> slots = state.window->slots();
  std::size_t next = 0;  // slots are in the order of ids
  for (std::uint32_t id = 0; id < state.graph.nodes().size(); ++id) {
    const int owner = state.assignment.places[id].rank;
    if (writes) guarded([&] { sink->begin(part_of(state.graph, id)); });
    if (owner == communicator.rank()) {
      const Time before = state.restored.empty() ? Time::zero() : state.restored[next];
      Slot& slot = slots[next++];
      const Time reached = std::max(before, state.window->reached()[slot.kind]);
      save_chunks(slot, reached, writes ? PartWriter::Sink(keep) : PartWriter::Sink(send), failure);
      if (!writes) send({});  // an empty chunk follows the last one
    } else if (writes) {
      for (;;) {
        const Communicator::Bytes chunk = communicator.receive(owner);
        if (chunk.empty()) break;
        keep(chunk);
      }
    }
    if (writes) guarded([&] { sink->end(); });
  }
  std::array<std::int64_t, 1> complete{failure ? 0 : 1};
  communicator.minimum(complete);
  if (failure) std::rethrow_exception(failure);
  return complete[0] != 0;
}

void Engine::restore(PartSource& source) {
  State& state = *state_;
  state.window->settle();
  restore_part(source, "engine", [&](Archive& archive) { state.serialize(archive); });
  std::vector<Time> reached(state.graph.kinds().size(), Time::never());
  state.restored.clear();
  for (Slot& slot : state.window->slots()) {
    PartReader bytes(source, part_of(state.graph, slot.id.value()));
    state.restored.push_back(restore_slot(bytes, slot, state.graph.name(slot.id)));
    reached[slot.kind] = std::min(reached[slot.kind], state.restored.back());
  }
  for (Time& time : reached) {
    if (time == Time::never()) time = Time::zero();
  }
  if (*std::max_element(reached.begin(), reached.end()) > state.options.stop_at) {
    throw UserError("", "the checkpoint was taken after the time at which the run is to stop",
                    "choose a later simulation.stop_at");
  }
  state.window->set_reached(std::move(reached));
  state.window->settle();
}

void Engine::State::serialize(Archive& archive) {
  archive.section("engine", 2);
  std::uint64_t count = graph.nodes().size();
  archive(boundary, boundary_for, count);
  if (count != graph.nodes().size()) {
    throw UserError("", "the checkpoint is of another machine",
                    "resume with the configuration it was taken with");
  }
  if (archive.is_saving() || boundary == Time::zero()) return;
  // The restored boundary may be a stop time that no longer holds, with boundaries behind it
  // skipped.
  boundary = boundary_after(boundary_for);
}

}  // namespace lockstep
