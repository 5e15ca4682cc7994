#include "base/redact.h"

#include <doctest/doctest.h>

using cachetool::is_secret_name;
using cachetool::redact_value;

TEST_SUITE("base/redact") {
  TEST_CASE("names of secrets") {
    for (const char* name :
         {"VLLM_API_KEY", "HF_TOKEN", "hf_token", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "REDIS_PASS",
          "DB_PASSWORD", "MYSQL_PWD_PASSWD", "SSH_PASSPHRASE", "GOOGLE_APPLICATION_CREDENTIALS", "CREDENTIAL",
          "client-secret", "apiKey", "accessKeyId", "APIKEY", "API_KEY2", "TOKENS", "x.secret.y",
          "PASSWORDFILE"}) {
      CAPTURE(name);
      CHECK(is_secret_name(name));
    }
  }

  TEST_CASE("names that only look like them") {
    for (const char* name :
         {"", "PATH", "TOKENIZERS_PARALLELISM", "KEYBOARD", "TORCHINDUCTOR_CACHE_DIR", "HOME", "SECRETARY",
          "PASSIVE_MODE", "max_autotune", "CUDA_VISIBLE_DEVICES", "_", "123"}) {
      CAPTURE(name);
      CHECK_FALSE(is_secret_name(name));
    }
  }

  TEST_CASE("values of secrets are gone entirely, also empty ones") {
    CHECK(redact_value("HF_TOKEN", "hf_abcdef") == "[redacted]");
    CHECK(redact_value("HF_TOKEN", "") == "[redacted]");
  }

  TEST_CASE("user info in URLs") {
    CHECK(redact_value("REDIS_URL", "redis://user:pa:ss@host:6379/0") == "redis://[redacted]@host:6379/0");
    CHECK(redact_value("URL", "https://token@host") == "https://[redacted]@host");
    CHECK(redact_value("URL", "https://u:p@@host/a@b") == "https://[redacted]@host/a@b");
    CHECK(redact_value("URLS", "http://a:b@x,http://y/,ftp://c@z/") ==
          "http://[redacted]@x,http://y/,ftp://[redacted]@z/");
    CHECK(redact_value("URLS", "http://a:b@x http://c:d@y") == "http://[redacted]@x http://[redacted]@y");
  }

  TEST_CASE("everything else stays") {
    for (const char* value :
         {"", "://", "https://host/path?mail=a@b", "git@host:path", "/tmp/torchinductor_me", "a://"}) {
      CAPTURE(value);
      CHECK(redact_value("VALUE", value) == value);
    }
  }
}
