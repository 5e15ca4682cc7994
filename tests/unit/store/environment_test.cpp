#include "store/environment.h"

#include <doctest/doctest.h>

#include "trees.h"

using namespace cachetool;
using namespace cachetool::store;
using namespace store_tests;

TEST_SUITE("store/environment") {
  TEST_CASE("paths are made absolute in the text") {
    const Environment environment = plain_environment();
    CHECK(absolute_path(environment, "a/b") == "/here/a/b");
    CHECK(absolute_path(environment, "./a//b/../c/") == "/here/a/c");
    CHECK(absolute_path(environment, "/x/./y") == "/x/y");
    CHECK(absolute_path(environment, "../../..") == "/");
    CHECK(absolute_path(environment, "") == "/here");
  }

  TEST_CASE("where the working directory has no name, relative paths stay as they are") {
    Environment environment = plain_environment();
    environment.working_directory.clear();
    CHECK(absolute_path(environment, "a/./b/..") == "a");
    CHECK(absolute_path(environment, ".") == ".");
    CHECK(absolute_path(environment, "../a/../../b") == "../../b");
    CHECK(absolute_path(environment, "/x/../../y") == "/y");
  }

  TEST_CASE("the user's name comes from the first variable that isn't empty, then passwd, then the uid") {
    Environment environment = plain_environment();
    CHECK(cache_user_name(environment) == "ada");
    environment.variables["USERNAME"] = "last";
    CHECK(cache_user_name(environment) == "last");
    environment.variables["USER"] = "bob";
    environment.variables["LOGNAME"] = "";
    CHECK(cache_user_name(environment) == "bob");
    environment.variables["LOGNAME"] = "DOMAIN\\b:o|b";
    CHECK(cache_user_name(environment) == "DOMAIN_b_o_b");
    environment.variables.clear();
    environment.passwd_name.reset();
    CHECK(cache_user_name(environment) == "uid_1000");
  }

  TEST_CASE("the temporary directory is the first in which the user may create files") {
    MemoryFileSystem fs;
    for (const char* path : {"/tmp", "/var/tmp", "/mine", "/theirs"}) fs.add_dir(path);
    const auto set_mode = [&](const char* path, std::uint32_t uid, std::uint32_t mode) {
      fs.change_stat(path, [&](FileStat& stat) { stat.uid = uid, stat.gid = uid, stat.mode = mode; });
    };
    set_mode("/tmp", 0, 01777);
    set_mode("/mine", 1000, 0700);
    set_mode("/theirs", 0, 0755);
    Environment environment = plain_environment();
    CHECK(temporary_directory(fs, environment) == "/tmp");
    environment.variables["TMP"] = "/mine";
    environment.variables["TEMP"] = "/missing";
    environment.variables["TMPDIR"] = "/theirs";
    CHECK(temporary_directory(fs, environment) == "/mine");
    environment.uid = 0;
    CHECK(temporary_directory(fs, environment) == "/theirs");
    environment.variables.clear();
    environment.uid = 1000;
    fs.remove("/tmp");
    set_mode("/var/tmp", 0, 01777);
    CHECK(temporary_directory(fs, environment) == "/var/tmp");
    CHECK(default_inductor_root(fs, environment) == "/var/tmp/torchinductor_ada");
  }

  TEST_CASE("this process has a working directory and at least one group") {
    const Environment environment = Environment::of_process();
    CHECK(environment.working_directory.starts_with('/'));
    CHECK_FALSE(environment.groups.empty());
  }
}
