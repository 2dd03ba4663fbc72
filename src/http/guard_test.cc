#include "http/guard.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/secret_file.h"

namespace ttyward::http {
namespace {

Request get(Headers headers) {
  Request request;
  request.method = "GET";
  request.target = "/";
  request.headers = std::move(headers);
  return request;
}

TEST(Guard, only_loopback_names_and_our_port) {
  for (const char* good : {"localhost", "localhost:80", "127.0.0.1:80", "[::1]:80", "[::1]", "LOCALHOST:80"})
    EXPECT_TRUE(is_local_host(good, 80)) << good;
  for (const char* bad : {"", "evil.com", "localhost:81", "127.0.0.1.evil.com", "localhost.evil.com:80",
                          "127.0.0.2", "0.0.0.0:80", "[::1]evil:80", "user@localhost"})
    EXPECT_FALSE(is_local_host(bad, 80)) << bad;
  for (const char* good : {"http://localhost:5173", "https://127.0.0.1", "http://[::1]:9"})
    EXPECT_TRUE(is_local_origin(good)) << good;
  for (const char* bad :
       {"null", "", "http://evil.com", "file://", "http://localhost.evil.com", "http://evil.com/localhost"})
    EXPECT_FALSE(is_local_origin(bad)) << bad;
}

TEST(Guard, a_token_or_a_cookie_lets_in) {
  Admission admission;
  admission.port = 80;
  admission.token = "the-token";
  admission.cookie_name = "ttyward-80";
  admission.is_good_cookie = [](std::string_view value) { return value == "good"; };
  const auto status = [&](Headers headers) {
    headers.emplace_back("Host", "localhost:80");
    return check(get(std::move(headers)), admission).status;
  };
  EXPECT_EQ(status({}), 401);
  EXPECT_EQ(status({{"Authorization", "Bearer the-token"}}), 0);
  EXPECT_EQ(status({{"authorization", "bearer the-token"}}), 0);
  EXPECT_EQ(status({{"Authorization", "Bearer the-token2"}}), 401);
  EXPECT_EQ(status({{"Authorization", "Bearer "}}), 401);
  EXPECT_EQ(status({{"Cookie", "a=b; ttyward-80=good"}}), 0);
  EXPECT_EQ(status({{"Cookie", "ttyward-80=bad"}}), 401);
  EXPECT_EQ(status({{"Cookie", "ttyward-80=good; ttyward-80=bad"}}), 401) << "which one is ours?";
  EXPECT_EQ(status({{"Cookie", "xttyward-80=good"}}), 401);
}

TEST(Guard, without_any_secret_the_machine_is_let_in_but_no_page_from_elsewhere) {
  Admission admission;
  admission.port = 80;
  const auto status = [&](Headers headers) { return check(get(std::move(headers)), admission).status; };
  EXPECT_EQ(status({{"Host", "localhost:80"}}), 0);
  EXPECT_EQ(status({}), 403);
  EXPECT_EQ(status({{"Host", "localhost:80"}, {"Host", "localhost:80"}}), 403) << "two hosts";
  EXPECT_EQ(status({{"Host", "localhost:80"}, {"Origin", "http://localhost:5173"}}), 0);
  EXPECT_EQ(status({{"Host", "localhost:80"}, {"Origin", "http://evil.com"}}), 403);
  EXPECT_EQ(status({{"Host", "localhost:80"}, {"Origin", "null"}}), 403);
}

TEST(Guard, for_pages_only_the_very_same_origin_counts) {
  Admission admission;
  admission.port = 80;
  admission.own_name = "q7x2.localhost";
  admission.origins = Admission::Origins::Same;
  const auto status = [&](const char* method, const char* host, const char* origin, bool upgrade = false) {
    Request request = get({{"Host", host}});
    request.method = method;
    request.is_upgrade = upgrade;
    if (origin != nullptr) request.headers.emplace_back("Origin", origin);
    return check(request, admission).status;
  };
  EXPECT_EQ(status("GET", "localhost:80", nullptr), 0);
  EXPECT_EQ(status("POST", "localhost:80", nullptr), 403);
  EXPECT_EQ(status("GET", "localhost:80", nullptr, true), 403) << "a WebSocket has to say where it is from";
  EXPECT_EQ(status("POST", "localhost:80", "http://localhost:80"), 0);
  EXPECT_EQ(status("GET", "localhost:80", "http://localhost:80", true), 0);
  EXPECT_EQ(status("GET", "localhost:80", "http://localhost:81", true), 403)
      << "another port of this machine";
  EXPECT_EQ(status("GET", "localhost:80", "http://127.0.0.1:80", true), 403);
  EXPECT_EQ(status("POST", "q7x2.localhost:80", "http://q7x2.localhost:80"), 0);
  EXPECT_EQ(status("GET", "other.localhost:80", nullptr), 403);
}

TEST(Guard, token_files_are_ours_alone) {
  char folder[] = "/tmp/ttyward-token-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/token";
  const auto made = make_token_file(path);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->size(), 64u);
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(base::read_secret_file(path).value(), *made);
  ::chmod(path.c_str(), 0644);
  EXPECT_FALSE(base::read_secret_file(path));
  const auto next = make_token_file(path);
  ASSERT_TRUE(next) << "a new one replaces it";
  remove_token_file(path, *made);
  EXPECT_EQ(base::read_secret_file(path).value(), *next) << "the file is another server's by now";
  const std::string link = std::string(folder) + "/link";
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  EXPECT_FALSE(base::read_secret_file(link));
  ::unlink(link.c_str());
  remove_token_file(path, *next);
  EXPECT_NE(::stat(path.c_str(), &status), 0);
  ::rmdir(folder);
}

}  // namespace
}  // namespace ttyward::http
