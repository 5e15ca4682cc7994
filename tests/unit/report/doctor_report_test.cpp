#include "report/doctor_report.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "unit/verify/doctor/fake_host.h"

using namespace cachetool;
using namespace doctor_tests;
using nlohmann::json;

TEST_SUITE_BEGIN("report/doctor_report");

namespace {

std::string text_of(FakeMachine& machine, const std::string& directory = {}) {
  StringSink sink;
  report::write_doctor(sink, machine.examine(directory), report::Format::kHuman, {});
  return sink.take();
}

json json_of(FakeMachine& machine, const std::string& directory = {}) {
  StringSink sink;
  report::write_doctor(sink, machine.examine(directory), report::Format::kJson, {});
  return json::parse(sink.text());
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the verdict comes first, then findings, then facts") {
  FakeMachine machine;
  machine.mount("/tmp", "nfs4", "rw,noexec");
  const std::string text = text_of(machine);
  const std::size_t place = text.find("Place /tmp/torchinductor_ada\n");
  const std::size_t verdict = text.find("not a good place: 1 error\n");
  const std::size_t error = text.find("place.no-exec");
  const std::size_t warning = text.find("place.network");
  const std::size_t facts = text.find("\nMachine\n");
  CHECK(place == 0);
  CHECK(place < verdict);
  CHECK(verdict < error);
  CHECK(error < warning);
  CHECK(warning < facts);
  CHECK(facts != std::string::npos);
  CHECK(has(text, "→ mount -o remount,exec /tmp\n"));
  CHECK(has(text, "nfs4 on /dev/test, mounted at /tmp (rw,noexec)"));
}

TEST_CASE("the verdict follows the worst finding") {
  FakeMachine machine;
  CHECK(has(text_of(machine), "a good place\n"));
  CHECK(json_of(machine)["verdict"] == "good");
  machine.set_umask("0002");
  CHECK(json_of(machine)["verdict"] == "good");
  machine.set_umask("0000");
  CHECK(has(text_of(machine), "works, with reservations: 1 warning\n"));
  CHECK(json_of(machine)["verdict"] == "reservations");
  machine.refused.insert("/tmp");
  CHECK(json_of(machine)["verdict"] == "unsuitable");
}

TEST_CASE("a document has every part, and null for what isn't known") {
  FakeMachine machine;
  machine.fs.remove("/proc");
  machine.environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "";
  const json document = json_of(machine);
  CHECK(document["schema"] == "cachetool.doctor/1");
  CHECK(document["directory"]["source"] == "environment");
  CHECK(document["directory"]["path"] == "/data");
  CHECK(document["directory"]["torch"][0]["path"].is_null());
  CHECK(document["directory"]["torch"][0]["last"] == "2.12");
  CHECK(document["directory"]["torch"][1]["path"] == "/data");
  CHECK(document["findings"][0]["check"] == "place.empty-variable");
  CHECK(document["findings"][0]["path"].is_null());
  CHECK(document["not_checked"][0]["check"] == "place.no-locks");
  CHECK(document["places"][0]["role"] == "cache");
  CHECK(document["places"][0]["exists"] == true);
  CHECK(document["places"][0]["file_system"]["mount_point"].is_null());
  CHECK(document["places"][0]["file_system"]["free_bytes"].is_number_unsigned());
  CHECK(document["places"][1]["role"] == "headers");
  CHECK(document["places"][1]["path"] == "/tmp/torchinductor_ada");
  CHECK(document["machine"]["umask"].is_null());
  CHECK(document["machine"]["features"] == json::array({"fma", "avx2"}));
  CHECK(document["packages"][0]["backend"] == "cuda 12.8");
  CHECK(document["programs"][0]["path"] == "/usr/bin/g++");
  CHECK(document["environment"][0]["name"] == "TORCHINDUCTOR_CACHE_DIR");
  CHECK(document["environment"][0]["source"] == "set");
}

TEST_CASE("text of the machine is escaped for a terminal") {
  FakeMachine machine;
  machine.environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "/data/\x1b[31m\nx";
  machine.processor.model = "evil\x1b]0;\a";
  const std::string text = text_of(machine);
  CHECK_FALSE(has(text, "\x1b"));
  CHECK(has(text, "\\x1b[31m\\nx"));
}

TEST_SUITE_END();
