/// Serves the transfers of a GPU's host link, or of the links of all GPUs behind an uplink, beside
/// the host.
///
/// The unit stands on the way between the host and the GPU: its latency to the host and that to the
/// GPU are the link's together.  It lives by the host's clock, as much later as a message of the
/// host takes to it: what the host hands over at a time, it begins at this time by that clock, and
/// a line that leaves it then reaches the GPU when it would if the host had sent it.  Answers of
/// the GPU come earlier than they would at the host, so that the unit can say in time when a
/// transfer is done; they make room for other lines when they would at the host.  Hence whatever
/// happens takes place at the femtosecond at which it would if the host served the link itself;
/// what the unit has counted at an epoch's end stands by that clock.
///
/// Source: design of the project (many GPUs, "Host").
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/component.hpp"
#include "models/host_link/moving_bytes.hpp"
#include "models/host_link/transfer_lines.hpp"
#include "models/noc/grid_intervals.hpp"

namespace lockstep {

class LinkUnit final : public Component, public GridCounter {
 public:
  /// Link of a GPU.
  struct PortSetup {
    HostParameters parameters;
    AddressMapping mapping;
    std::vector<std::uint32_t> priorities;  ///< priorities of the GPU's tenants
    std::vector<std::uint32_t> tenants;     ///< numbers of the GPU's tenants among all
    InitialBytes initial;                   ///< contents of the tenants' buffers
    std::optional<std::uint32_t> group;     ///< group of the GPU's components in the graph
    Link to_host;
    std::vector<Link> to_partitions, to_sms;
    bool stretches = false;  ///< no remote access can come (transfer_lines.hpp)
  };
  struct Setup {
    std::vector<PortSetup> ports;
    std::vector<std::uint32_t> port_of_link;  ///< number of the port that hears each link
    std::optional<Bandwidth> uplink;          ///< bandwidth that the ports share
    std::size_t tenants = 0;                  ///< tenants of all GPUs
    Time from_host;                           ///< latency of the host's messages
  };
  explicit LinkUnit(Setup setup);

  Time next_activity() const override;
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  /// The unit has no statistics of its own: those of the links and of the uplink are parts.
  StatisticsView statistics(Time now) override;
  std::vector<StatisticsView> parts(Time now) override;
  void take_grid_counts(Time now, std::vector<GridContribution>& taken) override;
  std::string waiting_for() const override;

 private:
  /// A transfer that the host has handed over, with the host's number.
  struct Moving {
    MovingBytes bytes;
    std::uint64_t acknowledged = 0;  ///< bytes moved as far as is known, ahead of the host's clock
    template <class Archive>
    void serialize(Archive& archive) {
      archive(bytes, acknowledged);
    }
  };
  struct Port {
    Port(PortSetup setup, UplinkPort uplink);

    std::optional<std::uint32_t> group;
    Link to_host;
    std::vector<Link> to_partitions, to_sms;
    InitialBytes initial;
    std::vector<Moving> moving;
    TransferLines lines;
    GridIntervals grids;
    void serialize(Archive& archive);
  };
  /// An answer that makes room when the host's clock says so.
  struct Answer {
    Time due;
    std::uint32_t port = 0, line = 0;
    StretchDone stretch;  ///< lines of a stretch; none: the answer is for `line`
    template <class Archive>
    void serialize(Archive& archive) {
      archive(due, port, line, stretch);
    }
  };

  /// Returns the time by the host's clock.
  Time by_host(Time now) const { return now - from_host_; }
  void take(const MessageHeader& message, Outbox& outbox);
  void take_over(Port& port, const MessageHeader& message, Time now);
  void hear(std::uint32_t port, const MessageHeader& message, Outbox& outbox);
  void hear_of_stretch(std::uint32_t port, const MessageHeader& message, Outbox& outbox);
  /// Counts bytes of a transfer that an answer says have moved.
  void count(Port& port, const Transfer& transfer, std::uint64_t bytes, Time now, Outbox& outbox);
  /// Returns when the host would have an answer, rounded to its clock.
  Time due_at_host(const Port& port, Time now) const {
    return now + port.to_host.latency() + from_host_;
  }
  void report(Port& port, const Transfer& transfer, Time now, Outbox& outbox);
  void pass_on(Port& port, const MessageHeader& message, Outbox& outbox);
  /// Lets the links act at `now`; lines of a stretch leave up to `until`.
  void act(Time now, Time until, Outbox& outbox);

  const Time from_host_;
  const std::vector<std::uint32_t> port_of_link_;
  std::unique_ptr<Uplink> uplink_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::deque<Answer> answers_;
};

}  // namespace lockstep
