#include "base/mask_secrets.h"

#include <gtest/gtest.h>

namespace ttyward::base {
namespace {

// Tokens are put together here so that no scanner takes this file for a leak.
const std::string kGitHub = std::string("ghp") + "_0123456789abcdefghijABCDEFGHIJ012345";
const std::string kOpen = std::string("sk") + "-abcdEFGH1234ijklMNOP5678";
const std::string kAws = std::string("AKIA") + "IOSFODNN7EXAMPLE";
const std::string kDigitalOcean = std::string("dop_v1") + "_" + std::string(64, 'a');
const std::string kTwilio = std::string("SK") + "0123456789abcdef0123456789abcdef";
const std::string kTelegram = std::string("123456789:") + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0";
const std::string kJwt = std::string("eyJ") + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4";

struct Case {
  std::string given;
  std::string kept;
};

TEST(MaskSecrets, what_must_be_masked) {
  const Case cases[] = {
      {"PASSWORD=hunter2 ./run", "PASSWORD=*** ./run"},
      {"export DB_PASSWORD='a b c'; ls", "export DB_PASSWORD='***'; ls"},
      {"env API_KEY=\"x y\" tool", "env API_KEY=\"***\" tool"},
      {"TOKEN=abc\"d e\"f tool", "TOKEN=*** tool"},
      {"TOKEN=a\\ b tool", "TOKEN=*** tool"},
      {"bash -c \"TOKEN=abc tool\"", "bash -c \"TOKEN=*** tool\""},
      {"bash -c 'TOKEN=abc' x", "bash -c 'TOKEN=***' x"},
      {"SECRET=$'a\\tb' x", "SECRET=$'***' x"},
      {"MYSQL_PWD=pw mysql", "MYSQL_PWD=*** mysql"},
      {"GH_PAT=abc gh pr list", "GH_PAT=*** gh pr list"},
      {"AWS_SECRET_ACCESS_KEY=abc/def+1 aws s3 ls", "AWS_SECRET_ACCESS_KEY=*** aws s3 ls"},
      {"TOKEN2=abc x", "TOKEN2=*** x"},
      {"tool --password hunter2 --force", "tool --password *** --force"},
      {"tool --password=hunter2", "tool --password=***"},
      {"tool --api-key 'a b' x", "tool --api-key '***' x"},
      {"tool -password hunter2", "tool -password ***"},
      {"tool --authToken=abc", "tool --authToken=***"},
      {"kubectl create secret generic x --from-literal=password=hunter2",
       "kubectl create secret generic x --from-literal=password=***"},
      {"curl 'https://x.test/?token=abc&b=1'", "curl 'https://x.test/?token=***&b=1'"},
      {R"(curl -d '{"user":"a","password":"hunter2"}' u)", R"(curl -d '{"user":"a","password":"***"}' u)"},
      {R"(curl -d "{\"apiKey\": \"abc\"}" u)", R"(curl -d "{\"apiKey\": \"***\"}" u)"},
      {"curl -H 'Authorization: Bearer abc.def' u", "curl -H 'Authorization: Bearer ***' u"},
      {"curl -H \"authorization: Basic dXNlcjpwYXNz\" u", "curl -H \"authorization: Basic ***\" u"},
      {"curl -H 'X-Api-Key: abc' u", "curl -H 'X-Api-Key: ***' u"},
      {"curl -H 'PRIVATE-TOKEN: abc' u", "curl -H 'PRIVATE-TOKEN: ***' u"},
      {"failed with bearer abcdefghijklmnop0123", "failed with bearer ***"},
      {"git clone https://user:pw@host.test/r.git", "git clone https://user:***@host.test/r.git"},
      {"psql postgres://u:p@ss@h/db", "psql postgres://u:***@h/db"},
      {"git clone https://0123456789abcdef0123@h.test/r", "git clone https://***@h.test/r"},
      {"git push https://" + kGitHub + "@github.com/a/b", "git push https://***@github.com/a/b"},
      {"echo " + kGitHub, "echo ghp_***"},
      {"echo " + kOpen + "; ls", "echo sk-***; ls"},
      {"aws configure set x " + kAws, "aws configure set x AKIA***"},
      {"jwt decode " + kJwt, "jwt decode eyJ***"},
      {"mysql -uroot -phunter2 db", "mysql -uroot -p*** db"},
      {"mysql -u root -p'hunter 2' db", "mysql -u root -p'***' db"},
      {"sudo /usr/bin/mysqldump -phunter2 db", "sudo /usr/bin/mysqldump -p*** db"},
      {"sshpass -p hunter2 ssh -p 22 host", "sshpass -p *** ssh -p 22 host"},
      {"curl -u user:hunter2 https://h", "curl -u user:*** https://h"},
      {"curl --user 'user:hunter 2' https://h", "curl --user 'user:***' https://h"},
      {"docker login -u me -p hunter2 r.test", "docker login -u me -p *** r.test"},
      {"redis-cli -a hunter2 ping", "redis-cli -a *** ping"},
      {"openssl rsa -passin pass:hunter2 -in k", "openssl rsa -passin pass:*** -in k"},
      {"openssl enc -aes-256-cbc -pass pass:hunter2 -in a", "openssl enc -aes-256-cbc -pass pass:*** -in a"},
      {"openssl genrsa -passout 'pass:a b' 2048", "openssl genrsa -passout 'pass:***' 2048"},
      {"openssl enc -k hunter2 -in a", "openssl enc -k *** -in a"},
      {"doctl auth init -t " + kDigitalOcean, "doctl auth init -t dop_v1_***"},
      {"twilio api -u " + kTwilio + " x", "twilio api -u SK*** x"},
      {"curl https://api.telegram.test/bot" + kTelegram + "/getMe",
       "curl https://api.telegram.test/bot123456789:***/getMe"},
      {"echo " + kTelegram, "echo 123456789:***"},
      {"echo '-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----' > k",
       "echo '-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----' > k"},
      {"-----BEGIN OPENSSH PRIVATE KEY-----\nabc", "-----BEGIN OPENSSH PRIVATE KEY-----***"},
      {"PASSWORD=unclosed\"quote here", "PASSWORD=***"},
      {"PASSWORD='unclosed", "PASSWORD='***"},
  };
  for (const Case& each : cases) EXPECT_EQ(mask_secrets(each.given), each.kept);
}

TEST(MaskSecrets, what_must_stay) {
  const std::string cases[] = {
      "",
      "ls -la /tmp",
      "PWD=/tmp OLDPWD=/ ls",
      "COMPASS=north bypass=1 ls",
      "KEY=value monkey=1 SSH_KEY=/home/u/.ssh/id",
      "max_tokens=100 ./run",
      "TOKENIZERS_PARALLELISM=false python x.py",
      "PASSWORD_FILE=/run/secrets/pw ./run",
      "tool --password-file /run/pw --token-url https://h/t",
      "docker login --password-stdin",
      "TOKEN=$(cat token) ./run",
      "TOKEN=$SAVED ./run",
      "TOKEN=\"$SAVED\" ./run",
      "TOKEN=${SAVED:-} ./run",
      "TOKEN=`pass show x` ./run",
      "PASSWORD= ./run",
      "grep -rn password= src",
      "if [ $token == x ]; then ls; fi",
      "tool --password",
      "tool --password --force",
      "tool --token | cat",
      "curl -H \"Authorization: Bearer $TOKEN\" u",
      "curl -H 'Accept: application/json' u",
      "mkdir -p a/b",
      "openssl enc -pass file:/run/pw -in a",
      "openssl rsa -passin env:PW -in k",
      "openssl dgst -k x",
      "git show SK0123456789abcdef0123456789abcdef0123",
      "sleep 12345678:30",
      "docker run -p 12345678:thirtyfivecharactersalllowercaseabcd",
      "doctl auth init -t dop_v1_short",
      "ssh -p 2222 host",
      "docker run -p 8080:80 image",
      "mysql -p db",
      "ps -p 1",
      "curl -u user https://h",
      "curl -u \"user:$PASS\" https://h",
      "ssh://git@github.com/a/b",
      "git clone git@github.com:a/b.git",
      "git clone https://github.com/a/b@v1",
      "pip install sk-learn-contrib-extras-and-more",
      "ls ghp_short AKIA AKIAX",
      "echo eyJ eyJabc.def",
      "npm_config_x=1 npm run npm_something",
      "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
      "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
      "echo \"don't\" > note",
      "bearer of news",
  };
  for (const std::string& each : cases) EXPECT_EQ(mask_secrets(each), each);
  for (const std::string& each : cases) EXPECT_TRUE(secret_spans(each).empty()) << each;
}

std::string with_masks(std::string text) {
  const std::vector<SecretSpan> spans = secret_spans(text);
  for (size_t i = spans.size(); i-- > 0;)
    text.replace(spans[i].begin, spans[i].end - spans[i].begin, kMasked);
  return text;
}

TEST(MaskSecrets, spans_are_what_is_replaced) {
  for (const std::string& each :
       {std::string("PASSWORD=hunter2 x --token abc y"), "TOKEN=x " + kJwt + " " + kGitHub + " end",
        std::string("curl -u a:b https://u:p@h -H 'Authorization: Basic xyz' --token t"),
        std::string("-----BEGIN PRIVATE KEY-----\na\n-----END PRIVATE KEY----- PASSWORD=x"),
        std::string("-----BEGIN PRIVATE KEY-----\nabc"),
        std::string("https://u:PASSWORD=x@h TOKEN=https://u:p@h"),
        "URL=https://" + kGitHub + "@h/x?token=" + kGitHub})
    EXPECT_EQ(with_masks(each), mask_secrets(each)) << each;
  EXPECT_EQ(secret_spans("a TOKEN=bcd e"), (std::vector<SecretSpan>{{8, 11}}));
}

TEST(MaskSecrets, masking_twice_is_masking_once) {
  for (const std::string& each : {std::string("PASSWORD=hunter2 x"),
                                  std::string("curl -u a:b https://u:p@h -H 'Authorization: Basic xyz'"),
                                  std::string("mysql -phunter2"), "x " + kJwt + " " + kGitHub,
                                  std::string("-----BEGIN PRIVATE KEY-----\na\n-----END PRIVATE KEY-----")}) {
    const std::string once = mask_secrets(each);
    EXPECT_EQ(mask_secrets(once), once);
  }
}

TEST(MaskSecrets, any_bytes_are_taken) {
  const std::string alphabet = "PASSWORD=\"'\\$({`:/@-sk ghp_\n\xff\xc3;|&eyJ.";
  uint32_t state = 1;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525U + 1013904223U;
      text += alphabet[(state >> 8) % alphabet.size()];
    }
    const std::string given = "TOKEN=" + text + " --password " + text;
    mask_secrets(given);
    size_t at = 0;
    for (const SecretSpan& span : secret_spans(given)) {
      ASSERT_LE(at, span.begin) << given;
      ASSERT_LE(span.begin, span.end) << given;
      at = span.end;
    }
    ASSERT_LE(at, given.size());
  }
}

// Each of these took time that grew with the square of the length once.
TEST(MaskSecrets, long_texts_of_the_worst_kind_are_taken) {
  std::string prefixes;
  std::string options = "mysql";
  for (int i = 0; i < 100'000; ++i) {
    prefixes += "sk-";
    options += " -p x";
  }
  EXPECT_EQ(mask_secrets(prefixes), prefixes);
  EXPECT_EQ(mask_secrets(options), options);
}

TEST(MaskSecrets, names) {
  for (const char* name :
       {"PASSWORD", "db_password", "apiKey", "API_KEY", "auth-token", "authtoken", "PGPASSWORD", "SECRET",
        "clientSecret", "DB_PASS", "passphrase", "AWS_SECRET_ACCESS_KEY"})
    EXPECT_TRUE(is_secret_name(name)) << name;
  for (const char* name :
       {"", "-", "PATH", "PWD", "key", "TOKENS", "secretary", "keyboard", "pass", "pat", "SSH_KEY"})
    EXPECT_FALSE(is_secret_name(name)) << name;
}

}  // namespace
}  // namespace ttyward::base
