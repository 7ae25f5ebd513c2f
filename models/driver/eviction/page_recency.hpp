#pragma once

#include "models/driver/eviction/eviction.hpp"
#include "models/driver/eviction/recency_list.hpp"

namespace lockstep {

/// Order in which pages were used last, for policies that start from the oldest page.
class PageRecency : public Eviction {
 public:
  void arrived(ManagedPage page) override { order_.touch(number(page)); }
  void accessed(ManagedPage page) override {
    if (order_.contains(number(page))) order_.touch(number(page));
  }
  void left(ManagedPage page) override { order_.remove(number(page)); }
  void serialize(Archive& archive) override { archive(order_); }

 protected:
  const RecencyList& order() const { return order_; }

 private:
  static std::uint32_t number(ManagedPage page) { return static_cast<std::uint32_t>(page.value()); }

  RecencyList order_;
};

}  // namespace lockstep
