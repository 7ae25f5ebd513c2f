#include "core/output/run_output.hpp"

namespace lockstep {

RunOutput::RunOutput(const std::string& path) : claim_(path), file_(h5::File::create(path)) {
  file_.set_attribute("/", "file type", std::string("lockstep run"));
  // Raised when a reader of the old layout could misread the new one.
  file_.set_attribute("/", "file version", std::uint64_t{1});
  file_.create_group("/run");
}

RunOutput::~RunOutput() = default;

void RunOutput::write_config(const std::string& yaml) {
  file_.write_text("/config", yaml);
  file_.set_attribute("/config", "description",
                      std::string("the resolved configuration: every parameter with its unit"));
}

void RunOutput::start() {
  file_.start_swmr();
}

void RunOutput::finish_epochs() {
  const std::string path = file_.path();
  file_.close();
  file_ = h5::File::open(path);
}

void RunOutput::write_final(const std::string& name, const std::string& unit,
                            const std::string& doc, std::uint64_t value) {
  const std::string path = "/final/" + name;
  file_.write_array(path, h5::Scalar::u64, {}, &value);
  file_.set_attribute(path, "unit", unit);
  file_.set_attribute(path, "description", doc);
}

void RunOutput::write_final(const std::string& name, const std::string& unit,
                            const std::string& doc, const std::string& value) {
  const std::string path = "/final/" + name;
  file_.write_text(path, value);
  file_.set_attribute(path, "unit", unit);
  file_.set_attribute(path, "description", doc);
}

void RunOutput::write_buffer(const std::string& tenant, const std::string& name, h5::Scalar type,
                             const std::vector<std::uint64_t>& shape,
                             std::span<const std::byte> data) {
  file_.write_array("/buffers/" + tenant + "/" + name, type, shape, data.data());
}

void RunOutput::set_run(const std::string& name, const std::string& value) {
  file_.set_attribute("/run", name, value);
}
void RunOutput::set_run(const std::string& name, std::uint64_t value) {
  file_.set_attribute("/run", name, value);
}
void RunOutput::set_run(const std::string& name, double value) {
  file_.set_attribute("/run", name, value);
}

void RunOutput::close() {
  file_.close();
}

}  // namespace lockstep
