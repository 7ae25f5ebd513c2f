/// Pages found by walks, for the eviction policies: the driver gets them with the next far-fault.
/// The newest 1024 are kept; a page several times in a row counts once.
/// Source: architecture.md, section 8, "The host" (policies see only what reaches the GMMU).
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "models/vm/messages.hpp"

namespace lockstep {

class AccessNotes {
 public:
  static constexpr std::size_t capacity = 1024;

  void add(TenantPage where) {
    AccessNote note;
    note.page = where.page.value();
    note.tenant = where.tenant.value();
    if (!notes_.empty() && notes_.back().page == note.page && notes_.back().tenant == note.tenant)
      return;
    if (notes_.size() == capacity) notes_.pop_front();
    notes_.push_back(note);
  }
  std::vector<AccessNote> take() {
    std::vector<AccessNote> notes(notes_.begin(), notes_.end());
    notes_.clear();
    return notes;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(notes_);
  }

 private:
  std::deque<AccessNote> notes_;
};

}  // namespace lockstep
