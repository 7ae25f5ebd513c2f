/// Far-fault MSHRs: pages that are not in GPU memory, and who was refused them.
///
/// A page's entry is made by the first refusal, which the host is told of; later ones join it.
/// When the page has come, those listed are told to ask again, and the page is no victim until each
/// has said that what waited has gone out, or was refused once more.
/// Source: 001, section B.2 and Figure 1; architecture.md, section 8, rule 7.
///
/// Simplified: as many entries as there are pages; the papers give no number.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/vm/messages.hpp"

namespace lockstep {

class FarFaults {
 public:
  struct Asker {
    std::uint16_t sm = 0;
    std::uint8_t write = 0;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(sm, write);
    }
  };
  using Askers = std::vector<Asker>;

  /// True for the first refusal of a page.
  bool refuse(const TranslateRequest& request);
  /// Calls came(page, askers) for each page of the span that somebody waits for, in their order;
  /// nobody waits afterwards.
  template <class Came>
  void take(const PageSpan& span, Came&& came) {
    const auto begin = waiting_.lower_bound(key(span.tenant, span.page));
    const auto end = waiting_.lower_bound(key(span.tenant, span.page + span.count));
    for (auto fault = begin; fault != end; ++fault) came(fault->first.second, fault->second);
    waiting_.erase(begin, end);
  }

  void replaying(std::uint16_t tenant, std::uint64_t page, const Askers& askers,
                 std::int64_t cycle);
  /// The cycle in which the page's replays began, if this was the last of them; -1 otherwise.
  std::int64_t replayed(std::uint16_t tenant, std::uint64_t page, std::uint16_t sm);
  /// Replays of pages of the span have not completed.
  bool replays_in(const PageSpan& span) const;

  std::size_t waiting() const { return waiting_.size(); }
  std::size_t replays() const { return replays_.size(); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(waiting_, replays_);
  }

 private:
  struct Replay {
    std::int64_t began = 0;          ///< cycle
    std::vector<std::uint16_t> sms;  ///< that have not completed

    template <class Archive>
    void serialize(Archive& archive) {
      archive(began, sms);
    }
  };
  using Key = std::pair<std::uint16_t, std::uint64_t>;  ///< tenant, page
  static Key key(std::uint16_t tenant, std::uint64_t page) { return {tenant, page}; }

  std::map<Key, Askers> waiting_;
  std::map<Key, Replay> replays_;
};

}  // namespace lockstep
