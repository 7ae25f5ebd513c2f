#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/deque.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <iosfwd>
#include <memory>

namespace lockstep {

/// Saves or restores state, so that a component has one `serialize` for both directions.
class Archive {
 public:
  static Archive saving(std::ostream& out) { return Archive(&out, nullptr); }
  static Archive restoring(std::istream& in) { return Archive(nullptr, &in); }

  bool is_saving() const { return output_ != nullptr; }

  /// Types with `serialize` are asked themselves; containers and plain values are cereal's.
  template <class... Values>
  Archive& operator()(Values&&... values) {
    (one(values), ...);
    return *this;
  }

  /// Raw bytes of a known size.
  void bytes(void* data, std::size_t size) {
    if (output_) {
      output_->saveBinary(data, static_cast<std::streamsize>(size));
    } else {
      input_->loadBinary(data, static_cast<std::streamsize>(size));
    }
  }

 private:
  template <class Value>
  void one(Value& value) {
    if constexpr (requires { value.serialize(*this); }) {
      value.serialize(*this);
    } else if (output_) {
      (*output_)(value);
    } else {
      (*input_)(value);
    }
  }

  Archive(std::ostream* out, std::istream* in) {
    if (out) output_ = std::make_unique<cereal::BinaryOutputArchive>(*out);
    if (in) input_ = std::make_unique<cereal::BinaryInputArchive>(*in);
  }

  std::unique_ptr<cereal::BinaryOutputArchive> output_;
  std::unique_ptr<cereal::BinaryInputArchive> input_;
};

}  // namespace lockstep
