#include "verify/doctor/choice.h"

#include <doctest/doctest.h>

#include "fake_host.h"

using namespace cachetool;
using namespace doctor_tests;
using torch::ReleaseFamily;
using verify::CacheChoice;
using verify::ChoiceSource;

TEST_SUITE_BEGIN("verify/doctor/choice");

namespace {

CacheChoice choose(FakeMachine& machine, const std::string& argument = {}) {
  return verify::choose_cache(machine.fs, machine.environment, argument);
}

/// "path" or "!" for a failure, for a release.
std::string at(const CacheChoice& choice, ReleaseFamily family) {
  for (const verify::Outcome& outcome : choice.outcomes)
    if (outcome.first <= family && family <= outcome.last) return outcome.path.empty() ? "!" : outcome.path;
  return "not covered";
}

}  // namespace

TEST_CASE("without a variable all releases use the default of this user") {
  FakeMachine machine;
  const CacheChoice choice = choose(machine);
  CHECK(choice.source == ChoiceSource::kDefault);
  CHECK(choice.path == "/tmp/torchinductor_ada");
  CHECK(choice.outcomes.size() == 1);
  CHECK(at(choice, ReleaseFamily::k2_4) == choice.path);
  CHECK(at(choice, ReleaseFamily::k2_15) == choice.path);
  CHECK(choice.user_name_from == "passwd");
  CHECK(choice.temporary_from == "Python's list");
}

TEST_CASE("variables decide, in Python's order, and are named") {
  FakeMachine machine;
  machine.add_directory("/scratch", 1000, 0700);
  machine.environment.variables["TEMP"] = "/scratch";
  machine.environment.variables["USER"] = "eve";
  const CacheChoice choice = choose(machine);
  CHECK(choice.path == "/scratch/torchinductor_eve");
  CHECK(choice.temporary_from == "TEMP");
  CHECK(choice.user_name_from == "USER");
}

TEST_CASE("a read-only temporary directory is passed over") {
  FakeMachine machine;
  machine.add_directory("/var/tmp", 0, 01777);
  SpaceInfo space = FakeMachine::roomy();
  space.read_only = true;
  machine.mount("/tmp", "ext4", "ro", space);
  CHECK(choose(machine).path == "/var/tmp/torchinductor_ada");
}

TEST_CASE("a relative path is made absolute by 2.13 and later") {
  FakeMachine machine;
  machine.environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "sub/../cache";
  const CacheChoice choice = choose(machine);
  CHECK(choice.source == ChoiceSource::kEnvironment);
  CHECK(choice.path == "/data/cache");
  CHECK(at(choice, ReleaseFamily::k2_12) == "sub/../cache");
  CHECK(at(choice, ReleaseFamily::k2_13) == "/data/cache");
  CHECK(choice.default_root == "/tmp/torchinductor_ada");
}

TEST_CASE("an empty value fails to 2.12 and is the working directory later") {
  FakeMachine machine;
  machine.environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "";
  CHECK(at(choose(machine), ReleaseFamily::k2_4) == "!");
  CHECK(at(choose(machine), ReleaseFamily::k2_12) == "!");
  CHECK(at(choose(machine), ReleaseFamily::k2_14) == "/data");
}

TEST_CASE("without a user name releases to 2.12 fail, 2.8 to 2.12 even with a cache that is named") {
  FakeMachine machine;
  machine.environment.passwd_name.reset();
  CHECK(at(choose(machine), ReleaseFamily::k2_6) == "!");
  CHECK(at(choose(machine), ReleaseFamily::k2_13) == "/tmp/torchinductor_uid_1000");
  CHECK_FALSE(choose(machine).has_user_name);
  machine.environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "/data/cache";
  CHECK(at(choose(machine), ReleaseFamily::k2_7) == "/data/cache");
  CHECK(at(choose(machine), ReleaseFamily::k2_8) == "!");
  CHECK(at(choose(machine), ReleaseFamily::k2_12) == "!");
  CHECK(at(choose(machine), ReleaseFamily::k2_13) == "/data/cache");
}

TEST_CASE("an argument is looked at, and what torch would do is told all the same") {
  FakeMachine machine;
  const CacheChoice choice = choose(machine, "here");
  CHECK(choice.source == ChoiceSource::kArgument);
  CHECK(choice.path == "/data/here");
  CHECK(at(choice, ReleaseFamily::k2_9) == "/tmp/torchinductor_ada");
}

TEST_SUITE_END();
