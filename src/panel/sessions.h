// Who may use the panel.
//
// A link carries a token that works once and for a minute. Its bearer gets two secrets: a cookie, and
// a key that the page keeps in its own storage. Both are needed. Cookies know no ports: the browser sends
// ours to every server of this machine, and every page of this machine can make the browser send it to us.
// The storage of a page belongs to its origin, port included. So a server that was sent our cookie lacks the
// key, and a page that rides on the cookie does, too.
//
// Only digests are kept. With a file they outlive the process, so that a page finds its panel again.
//
// Thread rule: one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace ttyward::panel {

enum class Role : uint8_t { Viewer, Person };
const char* role_name(Role role);

class Sessions {
 public:
  static constexpr int64_t kLinkLife = 60'000;               // ms
  static constexpr int64_t kSessionLife = 12 * 3'600'000LL;  // ms
  static constexpr size_t kMostLinks = 32;
  static constexpr size_t kMostSessions = 64;
  static constexpr size_t kMostWrong = 10;       // wrong secrets, in
  static constexpr int64_t kWrongTime = 60'000;  // so many ms; more are told to wait

  struct Options {
    Role most = Role::Person;  // no session ever gets more than this
    std::string file;          // where sessions were kept, read once; empty: nowhere
    // Keeps this text in that file, for the next panel; empty: sessions end with the process.
    std::function<void(std::string_view text)> keep = {};
    std::function<int64_t()> now = {};  // ms since the epoch; empty: the clock
  };
  explicit Sessions(Options options);

  // The token of a new link.
  std::string make_link(Role role);

  struct Made {
    std::string cookie;
    std::string key;
    Role role = Role::Viewer;
  };
  enum class Problem : uint8_t { Unknown, Used, Expired, TooMany };
  tl::expected<Made, Problem> redeem(std::string_view token);

  bool has_cookie(std::string_view cookie) { return find(cookie) != nullptr; }
  // The same for somebody who wants in: a wrong one counts.
  bool knows_cookie(std::string_view cookie);
  // Null: these two do not belong together.
  std::optional<Role> admit(std::string_view cookie, std::string_view key);
  // Whether so many secrets were wrong of late that the next wrong one is told to wait.
  bool is_guessing();
  void count_wrong();

 private:
  struct Link {
    std::string digest;
    Role role;
    int64_t until;
    bool used = false;
  };
  struct Session {
    std::string cookie;  // digests
    std::string key;
    Role role;
    int64_t until;
  };
  void load();
  void save() const;
  void forget_old();
  const Session* find(std::string_view cookie);

  const Options options_;
  std::vector<Link> links_;
  std::vector<Session> sessions_;
  std::deque<int64_t> wrong_;  // when
};

}  // namespace ttyward::panel
