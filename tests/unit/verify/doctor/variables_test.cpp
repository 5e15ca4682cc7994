#include "verify/doctor/variables.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "fake_host.h"

using namespace cachetool;
using namespace doctor_tests;
using verify::ValueSource;
using verify::Variable;

TEST_SUITE_BEGIN("verify/doctor/variables");

namespace {

std::vector<Variable> list(FakeMachine& machine) {
  return verify::list_variables(machine.environment,
                                verify::choose_cache(machine.fs, machine.environment, {}));
}

const Variable* find(const std::vector<Variable>& variables, std::string_view name) {
  const auto found =
      std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

std::string misspelt(FakeMachine& machine) {
  std::string text;
  for (const verify::Misspelt& found : verify::find_misspelt(machine.environment))
    text += (text.empty() ? "" : ", ") + found.name + " -> " + std::string(found.meant);
  return text;
}

}  // namespace

TEST_CASE("known names are sorted and each is there once") {
  const auto known = verify::known_variables();
  CHECK(std::is_sorted(known.begin(), known.end()));
  CHECK(std::adjacent_find(known.begin(), known.end()) == known.end());
  for (const char* name : {"TORCHINDUCTOR_CACHE_DIR", "TORCH_LOGS", "TRITON_CACHE_DIR", "VLLM_CACHE_ROOT"})
    CHECK(std::binary_search(known.begin(), known.end(), std::string_view(name)));
}

TEST_CASE("what is set is told apart from what torch sets and from defaults") {
  FakeMachine machine;
  machine.environment.variables["TRITON_CACHE_DIR"] = "/t";
  machine.environment.variables["TORCHINDUCTOR_SOMETHING_NEW"] = "1";
  machine.environment.variables["UNRELATED"] = "1";
  const auto variables = list(machine);
  CHECK(variables[0].name == "TORCHINDUCTOR_CACHE_DIR");
  CHECK(variables[0].value == "/tmp/torchinductor_ada");
  CHECK(variables[0].source == ValueSource::kTorch);
  CHECK(find(variables, "TRITON_CACHE_DIR")->value == "/t");
  CHECK(find(variables, "TRITON_CACHE_DIR")->source == ValueSource::kSet);
  CHECK(find(variables, "TORCHINDUCTOR_FX_GRAPH_CACHE")->source == ValueSource::kDefault);
  CHECK(find(variables, "TORCHINDUCTOR_SOMETHING_NEW")->meaning.empty());
  CHECK(find(variables, "UNRELATED") == nullptr);
  CHECK(find(variables, "TMPDIR") == nullptr);
  machine.environment.variables.erase("TRITON_CACHE_DIR");
  machine.environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "/c";
  CHECK(find(list(machine), "TRITON_CACHE_DIR")->value == "/c/triton/<device>");
}

TEST_CASE("secrets are masked") {
  FakeMachine machine;
  machine.environment.variables["VLLM_API_KEY"] = "hunter2";
  machine.environment.variables["TORCHINDUCTOR_REDIS_URL"] = "redis://me:hunter2@host:6379";
  for (const Variable& variable : list(machine)) CHECK(variable.value.find("hunter2") == std::string::npos);
  CHECK(find(list(machine), "TORCHINDUCTOR_REDIS_URL")->value.find("host:6379") != std::string::npos);
}

TEST_CASE("names that are a slip away from a known one are told") {
  FakeMachine machine;
  auto& variables = machine.environment.variables;
  variables["TORCHINDUCTOR_CACHE_DIR"] = "/c";
  variables["TORCHINDUCTOR_COMPLETELY_UNKNOWN_OPTION"] = "1";
  variables["PATH_TO_TRITON"] = "1";
  CHECK(misspelt(machine).empty());
  variables["TORCHINDUCTOR_CACHEDIR"] = "/c";
  CHECK(misspelt(machine) == "TORCHINDUCTOR_CACHEDIR -> TORCHINDUCTOR_CACHE_DIR");
  variables.erase("TORCHINDUCTOR_CACHEDIR");
  variables["TORCH_INDUCTOR_CACHE_DIR"] = "/c";
  CHECK(misspelt(machine) == "TORCH_INDUCTOR_CACHE_DIR -> TORCHINDUCTOR_CACHE_DIR");
  variables.erase("TORCH_INDUCTOR_CACHE_DIR");
  variables["TRITON_CAHCE_DIR"] = "/c";
  CHECK(misspelt(machine) == "TRITON_CAHCE_DIR -> TRITON_CACHE_DIR");
  variables.erase("TRITON_CAHCE_DIR");
  variables["TORCH_" + std::string(100'000, 'X')] = "1";
  CHECK(misspelt(machine).empty());
}

TEST_CASE("switches are off for 0 and nothing, on for all else") {
  FakeMachine machine;
  auto& variables = machine.environment.variables;
  CHECK_FALSE(verify::switch_value(machine.environment, "SWITCH"));
  for (const auto& [text, value] : {std::pair{"0", false}, {"", false}, {"1", true}, {"false", true}}) {
    variables["SWITCH"] = text;
    CHECK(verify::switch_value(machine.environment, "SWITCH") == value);
  }
}

TEST_SUITE_END();
