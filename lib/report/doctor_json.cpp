#include "report/doctor_report.h"
#include "report/json_members.h"
#include "torch/release.h"

namespace cachetool::report {
namespace {

using verify::DoctorReport;

template <class Texts>
void write_texts(JsonWriter& json, std::string_view name, const Texts& texts) {
  json.key(name);
  json.begin_array();
  for (const auto& text : texts) json.string(text);
  json.end_array();
}

void flag_or_null(JsonWriter& json, std::string_view name, std::optional<bool> flag) {
  json.key(name);
  flag ? json.boolean(*flag) : json.null();
}

void write_choice(JsonWriter& json, const verify::CacheChoice& choice) {
  json.key("directory");
  json.begin_object();
  json.member("path", choice.path);
  json.member("source", choice_source_name(choice.source));
  json.member("why", choice.why);
  json.member("default", choice.default_root);
  json.key("torch");
  json.begin_array();
  for (const verify::Outcome& outcome : choice.outcomes) {
    json.begin_object();
    json.member("first", torch::family_name(outcome.first));
    json.member("last", torch::family_name(outcome.last));
    text_or_null(json, "path", outcome.path);
    text_or_null(json, "failure", outcome.failure);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_findings(JsonWriter& json, const DoctorReport& report) {
  json.key("findings");
  json.begin_array();
  for (const verify::Finding& finding : report.findings) {
    json.begin_object();
    json.member("check", finding.check->id);
    json.member("severity", verify::severity_name(finding.severity));
    text_or_null(json, "path", finding.path);
    json.member("message", finding.message);
    text_or_null(json, "hint", finding.hint);
    json.end_object();
  }
  json.end_array();
  json.key("not_checked");
  json.begin_array();
  for (const verify::NotChecked& open : report.not_checked) {
    json.begin_object();
    json.member("check", open.check->id);
    text_or_null(json, "path", open.path);
    json.member("reason", open.reason);
    json.end_object();
  }
  json.end_array();
}

void write_volume(JsonWriter& json, const verify::Volume& volume) {
  json.key("file_system");
  json.begin_object();
  text_or_null(json, "type", volume.type);
  json.member("kind", volume_kind_name(volume.kind));
  text_or_null(json, "mount_point", volume.mount_point);
  text_or_null(json, "source", volume.source);
  write_texts(json, "options", volume.options);
  json.member("read_only", volume.space.read_only);
  json.member("no_exec", volume.space.no_exec);
  json.member("no_atime", volume.no_atime);
  flag_or_null(json, "case_sensitive", volume.case_sensitive);
  json.member("free_bytes", volume.space.free_bytes);
  json.member("total_bytes", volume.space.total_bytes);
  json.member("free_inodes", volume.space.free_inodes);
  json.member("total_inodes", volume.space.total_inodes);
  json.end_object();
}

void write_size(JsonWriter& json, const std::optional<verify::TreeSize>& size) {
  json.key("size");
  if (!size) return json.null();
  json.begin_object();
  json.member("files", size->files);
  json.member("bytes", size->bytes);
  json.member("complete", size->complete);
  json.end_object();
}

void write_steps(JsonWriter& json, const verify::PathWalk& walk) {
  json.key("steps");
  json.begin_array();
  for (const verify::PathStep& step : walk.steps) {
    json.begin_object();
    json.member("path", step.path);
    json.member("uid", step.stat.uid);
    json.member("gid", step.stat.gid);
    json.member("mode", step.stat.mode);
    text_or_null(json, "link_to", step.target);
    json.end_object();
  }
  json.end_array();
}

void write_places(JsonWriter& json, const DoctorReport& report) {
  json.key("places");
  json.begin_array();
  for (const verify::Place& place : report.places) {
    json.begin_object();
    json.member("role", place.role);
    json.member("path", place.path);
    json.member("real_path", place.walk.real);
    json.member("why", place.why);
    json.member("exists", place.walk.exists);
    flag_or_null(json, "may_be_written", place.may_create);
    json.member("locks", lock_support_name(place.locks));
    text_or_null(json, "lock_file", place.lock_file);
    write_size(json, place.size);
    if (place.volume) {
      write_volume(json, *place.volume);
    } else {
      json.key("file_system");
      json.null();
    }
    write_steps(json, place.walk);
    json.end_object();
  }
  json.end_array();
}

void write_caches(JsonWriter& json, const DoctorReport& report) {
  json.key("other_caches");
  json.begin_array();
  for (const verify::OtherCache& other : report.others) {
    json.begin_object();
    json.member("kind", other.kind);
    json.member("path", other.path);
    json.member("why", other.why);
    write_size(json, other.size);
    json.end_object();
  }
  json.end_array();
}

void write_machine(JsonWriter& json, const DoctorReport& report) {
  const verify::Machine& machine = report.machine;
  json.key("machine");
  json.begin_object();
  json.member("architecture", machine.cpu.architecture);
  text_or_null(json, "processor", machine.cpu.model);
  write_texts(json, "features", machine.cpu.usable.names());
  write_texts(json, "disabled_features", machine.cpu.disabled.names());
  json.key("vector_isa");
  json.begin_array();
  for (const verify::VectorChoice& choice : machine.vector_isa) {
    json.begin_object();
    json.member("first", torch::family_name(choice.first));
    json.member("last", torch::family_name(choice.last));
    json.member("isa", choice.isa);
    json.end_object();
  }
  json.end_array();
  json.key("gpus");
  json.begin_array();
  for (const verify::Gpu& gpu : machine.gpus) {
    json.begin_object();
    json.member("vendor", gpu.vendor);
    text_or_null(json, "model", gpu.model);
    json.member("address", gpu.address);
    json.end_object();
  }
  json.end_array();
  text_or_null(json, "nvidia_driver", machine.nvidia_driver);
  write_texts(json, "device_nodes", machine.device_nodes);
  text_or_null(json, "kernel", machine.kernel);
  json.member("uid", report.uid);
  text_or_null(json, "home", report.home.path);
  json.key("umask");
  report.umask ? json.unsigned_integer(*report.umask) : json.null();
  json.end_object();
}

void write_software(JsonWriter& json, const DoctorReport& report) {
  json.key("packages");
  json.begin_array();
  for (const verify::Package& package : report.software.packages) {
    json.begin_object();
    json.member("name", package.name);
    json.member("version", package.version);
    text_or_null(json, "backend", package.backend);
    json.member("path", package.path);
    json.member("from", package.from);
    json.end_object();
  }
  json.end_array();
  json.key("programs");
  json.begin_array();
  for (const verify::Program& program : report.software.programs) {
    json.begin_object();
    json.member("use", program.use);
    json.member("name", program.name);
    text_or_null(json, "path", program.path);
    json.member("from", program.from);
    json.end_object();
  }
  json.end_array();
}

void write_variables(JsonWriter& json, const DoctorReport& report) {
  json.key("environment");
  json.begin_array();
  for (const verify::Variable& variable : report.variables) {
    json.begin_object();
    json.member("name", variable.name);
    json.member("value", variable.value);
    json.member("source", value_source_name(variable.source));
    text_or_null(json, "meaning", variable.meaning);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_doctor_json(OutputSink& sink, const DoctorReport& report, JsonStyle style) {
  {
    JsonWriter json(sink, style);
    json.begin_object();
    json.member("schema", "cachetool.doctor/1");
    json.member("verdict", verdict_name(report));
    write_choice(json, report.choice);
    write_findings(json, report);
    write_places(json, report);
    write_caches(json, report);
    write_machine(json, report);
    write_software(json, report);
    write_variables(json, report);
    json.end_object();
  }
  sink.write("\n");
}

}  // namespace cachetool::report
