#include "base/mask_secrets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace ttyward::base {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_alnum(char c) {
  return is_digit(c) || is_upper(c) || is_lower(c);
}
bool is_name(char c) {
  return is_alnum(c) || c == '_' || c == '-';
}
bool is_token(char c) {
  return is_name(c) || c == '.' || c == '/' || c == '+' || c == '=' || c == '~';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_quote(char c) {
  return c == '"' || c == '\'';
}
// Ends a word of the shell, outside quotes.
bool is_delimiter(char c) {
  return is_blank(c) || c == ';' || c == '|' || c == '&' || c == '(' || c == ')' || c == '<' || c == '>' ||
         c == '`';
}
char lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}
bool starts_with_any_case(std::string_view text, std::string_view lower_prefix) {
  if (text.size() < lower_prefix.size()) return false;
  for (size_t i = 0; i < lower_prefix.size(); ++i)
    if (lower(text[i]) != lower_prefix[i]) return false;
  return true;
}

// apiKey, API_KEY and api-key are all {api, key}.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  std::string part;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool separator = name[i] == '_' || name[i] == '-';
    const bool hump = i > 0 && is_upper(name[i]) && is_lower(name[i - 1]);
    if ((separator || hump) && !part.empty()) parts.push_back(std::exchange(part, {}));
    if (!separator) part += lower(name[i]);
  }
  while (!part.empty() && is_digit(part.back())) part.pop_back();  // TOKEN2
  if (!part.empty()) parts.push_back(part);
  return parts;
}

// Whether the value only stands for one: $NAME, ${NAME}, $(command), `command`.
bool is_reference(std::string_view value) {
  if (value.empty()) return true;
  if (value.front() == '`') return true;
  if (value.front() != '$') return false;
  if (value.size() == 1) return true;  // what follows is (…), which ends a word
  if (value[1] == '{') return value.find('}') == value.size() - 1;
  if (value[1] == '(') return value.back() == ')';
  return std::all_of(value.begin() + 1, value.end(), [](char c) { return is_alnum(c) || c == '_'; });
}

using Spans = std::vector<SecretSpan>;

// Goes through a text once, copying it, and replaces what its user finds to be a value. Where that was goes
// to `found`.
class Copier {
 public:
  Copier(std::string_view text, Spans& found) : text_(text), found_(found) { out_.reserve(text.size()); }

  bool at_end() const { return at_ >= text_.size(); }
  char now() const { return text_[at_]; }
  char before() const { return at_ == 0 ? '\0' : text_[at_ - 1]; }
  std::string_view rest() const { return text_.substr(at_); }

  void copy(size_t count = 1) {
    count = std::min(count, text_.size() - at_);
    for (const char c : text_.substr(at_, count)) track(c);
    out_ += text_.substr(at_, count);
    at_ += count;
  }
  void mask(size_t count) {
    const size_t begin = at_;
    out_ += kMasked;
    at_ += std::min(count, text_.size() - at_);
    found_.push_back({begin, at_});
  }
  // Masks the word of the shell that begins here, unless it stands for something else.
  void mask_word() {
    if (at_end()) return;
    if (is_quote(now()) && now() != quote_) {
      mask_quoted();
      return;
    }
    if (rest().starts_with("\\\"")) {  // JSON inside double quotes
      const size_t end = rest().find("\\\"", 2);
      if (end == std::string_view::npos || is_reference(rest().substr(2, end - 2))) return;
      copy(2);
      mask(end - 2);
      return;
    }
    if (rest().starts_with("$'")) {  // a literal in spite of its dollar
      copy(1);
      mask_quoted();
      return;
    }
    const size_t size = word_size();
    if (!is_reference(rest().substr(0, size))) mask(size);
  }
  // Masks up to the end of the line or of the quotes around it.
  void mask_line() {
    size_t size = 0;
    while (size < rest().size() && rest()[size] != '\n' && rest()[size] != '\r' && !is_quote(rest()[size]))
      ++size;
    if (!is_reference(rest().substr(0, size))) mask(size);
  }

  std::string take() { return std::move(out_); }

 private:
  void track(char c) {
    if (quote_ == '\0' && is_quote(c) && before_quote_ != '\\') {
      quote_ = c;
    } else if (c == quote_ && (c == '\'' || before_quote_ != '\\')) {
      quote_ = '\0';
    }
    before_quote_ = c;
  }
  void mask_quoted() {
    const char quote = now();
    size_t end = 1;
    while (end < rest().size() && rest()[end] != quote) end += quote == '"' && rest()[end] == '\\' ? 2 : 1;
    end = std::min(end, rest().size());
    if (is_reference(rest().substr(1, end - 1))) return;
    out_ += quote;
    ++at_;
    mask(end - 1);
    if (!at_end()) out_ += text_[at_++];
  }
  size_t word_size() const {
    char inner = '\0';  // quotes in the middle of the word
    size_t size = 0;
    for (; size < rest().size(); ++size) {
      const char c = rest()[size];
      if (inner != '\0') {
        if (c == inner) inner = '\0';
      } else if (c == '\\' && quote_ == '\0') {
        ++size;
      } else if (is_quote(c)) {
        if (quote_ != '\0') break;
        inner = c;
      } else if (is_delimiter(c)) {
        break;
      }
    }
    return std::min(size, rest().size());
  }

  std::string_view text_;
  Spans& found_;
  std::string out_;
  size_t at_ = 0;
  char quote_ = '\0';  // the quotes we are in
  char before_quote_ = '\0';
};

std::string mask_pem(std::string_view text, Spans& found) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kEnd = "-----END ";
  std::string out;
  const char* const first = text.data();
  while (true) {
    const size_t begin = text.find(kBegin);
    if (begin == std::string_view::npos) return out.append(text);
    const size_t label = begin + kBegin.size();
    const size_t body = text.find("-----", label);
    if (body == std::string_view::npos) return out.append(text);
    if (text.substr(label, body - label).find("PRIVATE KEY") == std::string_view::npos) {
      out.append(text.substr(0, body));
      text.remove_prefix(body);
      continue;
    }
    out.append(text.substr(0, body + 5)).append(kMasked);
    const size_t end = text.find(kEnd, body);
    const auto at = static_cast<size_t>(text.data() - first);
    found.push_back({at + body + 5, at + std::min(end, text.size())});
    if (end == std::string_view::npos) return out;
    out.append(text.substr(end, kEnd.size()));
    text.remove_prefix(end + kEnd.size());
  }
}

// NAME=value, --name=value, --name value, "name": "value"
std::string mask_named(std::string_view text, Spans& found) {
  Copier copier(text, found);
  while (!copier.at_end()) {
    if (!is_name(copier.now()) || is_name(copier.before())) {
      copier.copy();
      continue;
    }
    const std::string_view rest = copier.rest();
    size_t size = 0;
    while (size < rest.size() && is_name(rest[size])) ++size;
    const std::string_view name = rest.substr(0, size);
    const std::string_view after = rest.substr(size);
    copier.copy(size);
    if (!is_secret_name(name)) continue;
    if (after.starts_with("=") && !after.starts_with("==")) {
      copier.copy();
      copier.mask_word();
      continue;
    }
    if (name.starts_with("-") && (after.starts_with(" ") || after.starts_with("\t"))) {
      while (!copier.at_end() && (copier.now() == ' ' || copier.now() == '\t')) copier.copy();
      if (!copier.at_end() && copier.now() != '-' && !is_delimiter(copier.now())) copier.mask_word();
      continue;
    }
    // JSON: the name's closing quote, a colon, and the value's opening quote.
    size_t colon = after.starts_with("\\\"") ? 2 : after.starts_with("\"") ? 1 : 0;
    if (colon == 0) continue;
    while (colon < after.size() && is_blank(after[colon])) ++colon;
    if (colon >= after.size() || after[colon] != ':') continue;
    ++colon;
    while (colon < after.size() && is_blank(after[colon])) ++colon;
    if (colon < after.size() && (after[colon] == '"' || after[colon] == '\\')) {
      copier.copy(colon);
      copier.mask_word();
    }
  }
  return copier.take();
}

constexpr std::array<std::string_view, 6> kHeaders = {
    "authorization", "proxy-authorization", "x-api-key", "x-auth-token", "private-token", "x-vault-token"};
constexpr std::array<std::string_view, 6> kSchemes = {"bearer", "basic",  "token",
                                                      "digest", "apikey", "negotiate"};

std::string mask_headers(std::string_view text, Spans& found) {
  constexpr size_t kShortestBearer = 16;
  Copier copier(text, found);
  while (!copier.at_end()) {
    if (is_name(copier.before()) || !is_name(copier.now())) {
      copier.copy();
      continue;
    }
    const std::string_view rest = copier.rest();
    size_t size = 0;
    while (size < rest.size() && is_name(rest[size])) ++size;
    const std::string name = lowered(rest.substr(0, size));
    const bool header = std::find(kHeaders.begin(), kHeaders.end(), name) != kHeaders.end();
    copier.copy(size);
    if (header && copier.rest().starts_with(":")) {
      copier.copy();
      while (!copier.at_end() && copier.now() == ' ') copier.copy();
      for (const std::string_view scheme : kSchemes) {
        if (starts_with_any_case(copier.rest(), scheme) &&
            copier.rest().substr(scheme.size()).starts_with(" ")) {
          copier.copy(scheme.size());
          while (!copier.at_end() && copier.now() == ' ') copier.copy();
          break;
        }
      }
      copier.mask_line();
      continue;
    }
    if (name == "bearer" && copier.rest().starts_with(" ")) {
      const std::string_view value = copier.rest().substr(1);
      size_t length = 0;
      while (length < value.size() && is_token(value[length])) ++length;
      if (length >= kShortestBearer) {
        copier.copy();
        copier.mask(length);
      }
    }
  }
  return copier.take();
}

// scheme://user:password@host, https://token@host
std::string mask_urls(std::string_view text, Spans& found) {
  constexpr size_t kShortestToken = 16;
  std::string out;
  const char* const first = text.data();
  const auto put = [&](std::string_view part, bool secret) {
    out.append(secret ? kMasked : part);
    const auto at = static_cast<size_t>(part.data() - first);
    if (secret) found.push_back({at, at + part.size()});
  };
  while (true) {
    const size_t mark = text.find("://");
    if (mark == std::string_view::npos) return out.append(text);
    const size_t begin = mark + 3;
    size_t end = begin;
    while (end < text.size() && !is_delimiter(text[end]) && !is_quote(text[end]) && text[end] != '/' &&
           text[end] != '?' && text[end] != '#')
      ++end;
    const std::string_view authority = text.substr(begin, end - begin);
    const size_t at = authority.rfind('@');
    const size_t colon = authority.find(':');
    out.append(text.substr(0, begin));
    if (at == std::string_view::npos) {
      out.append(authority);
    } else if (colon != std::string_view::npos && colon < at) {
      const std::string_view password = authority.substr(colon + 1, at - colon - 1);
      out.append(authority.substr(0, colon + 1));
      put(password, !is_reference(password));
      out.append(authority.substr(at));
    } else {
      const std::string_view user = authority.substr(0, at);
      const bool token = text.substr(0, mark).ends_with("http") || text.substr(0, mark).ends_with("https");
      put(user, token && user.size() >= kShortestToken && !is_reference(user));
      out.append(authority.substr(at));
    }
    text.remove_prefix(end);
  }
}

struct Shape {
  std::string_view prefix;
  size_t least;  // characters after the prefix
  bool mixed;    // these must hold a digit and a letter: the prefix alone is too common
};
constexpr std::array<Shape, 32> kShapes = {{
    {"ghp_", 20, false},
    {"gho_", 20, false},
    {"ghu_", 20, false},
    {"ghs_", 20, false},
    {"ghr_", 20, false},
    {"github_pat_", 20, false},
    {"glpat-", 16, false},
    {"sk-ant-", 16, false},
    {"sk-proj-", 16, false},
    {"sk-", 20, true},
    {"sk_live_", 10, false},
    {"sk_test_", 10, false},
    {"rk_live_", 10, false},
    {"rk_test_", 10, false},
    {"AKIA", 16, false},
    {"ASIA", 16, false},
    {"AIzaSy", 30, false},
    {"xoxa-", 10, false},
    {"xoxb-", 10, false},
    {"xoxp-", 10, false},
    {"xoxr-", 10, false},
    {"xoxs-", 10, false},
    {"npm_", 30, false},
    {"hf_", 30, true},
    {"pypi-AgE", 20, false},
    {"dckr_pat_", 16, false},
    {"ya29.", 20, false},
    {"SG.", 40, true},
    {"AGE-SECRET-KEY-1", 20, false},
    {"dop_v1_", 40, false},  // DigitalOcean: personal, OAuth, refresh
    {"doo_v1_", 40, false},
    {"dor_v1_", 40, false},
}};

// How much of `text` is a token of this look, prefix included; 0 if it is none.
size_t shape_size(std::string_view text, const Shape& shape) {
  constexpr size_t kLongestPlain = 200;  // no token goes on for so long without a digit
  if (!text.starts_with(shape.prefix)) return 0;
  const bool access_key = shape.prefix == "AKIA" || shape.prefix == "ASIA";
  size_t size = shape.prefix.size();
  bool digit = false;
  bool letter = false;
  const auto fits = [&](char c) {
    if (access_key) return is_digit(c) || is_upper(c);
    return is_name(c) || (c == '.' && (shape.prefix == "SG." || shape.prefix == "ya29."));
  };
  while (size < text.size() && fits(text[size])) {
    digit |= is_digit(text[size]);
    letter |= is_alnum(text[size]) && !is_digit(text[size]);
    if (shape.mixed && !(digit && letter) && size > kLongestPlain) return 0;
    ++size;
  }
  if (size - shape.prefix.size() < shape.least) return 0;
  if (access_key && (size != 20 || (size < text.size() && is_name(text[size])))) return 0;
  return shape.mixed && !(digit && letter) ? 0 : size;
}

// eyJ….….… : three parts of base64url, the first being JSON.
size_t jwt_size(std::string_view text) {
  if (!text.starts_with("eyJ")) return 0;
  size_t size = 0;
  for (int part = 0; part < 3; ++part) {
    const size_t begin = size;
    while (size < text.size() && is_name(text[size])) ++size;
    if (size - begin < (part < 2 ? 8U : 0U)) return 0;
    if (part == 2) return size;
    if (size >= text.size() || text[size] != '.') return 0;
    ++size;
  }
  return 0;
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

// Twilio: SK (an API key) and 32 hexadecimal digits. AC… is an account's name, which is not secret.
size_t twilio_size(std::string_view text) {
  constexpr size_t kSize = 34;
  if (!text.starts_with("SK") || text.size() < kSize) return 0;
  if (!std::all_of(text.begin() + 2, text.begin() + kSize, is_hex)) return 0;
  return text.size() > kSize && is_name(text[kSize]) ? 0 : kSize;
}

// Telegram: a bot's number, a colon and 35 characters.
size_t telegram_size(std::string_view text, size_t& number) {
  constexpr size_t kSecret = 35;
  number = 0;
  while (number < text.size() && number < 11 && is_digit(text[number])) ++number;
  if (number < 8 || number >= text.size() || text[number] != ':') return 0;
  size_t size = number + 1;
  while (size < text.size() && is_name(text[size])) ++size;
  const std::string_view secret = text.substr(number + 1, size - number - 1);
  const bool mixed = std::any_of(secret.begin(), secret.end(), is_lower) &&
                     std::any_of(secret.begin(), secret.end(), is_upper);
  return secret.size() == kSecret && mixed ? size : 0;
}

std::string mask_shapes(std::string_view text, Spans& found) {
  Copier copier(text, found);
  while (!copier.at_end()) {
    // Telegram's stands in its addresses, right behind a word: …/bot123456789:AA…
    size_t kept = 0;
    if (is_digit(copier.now()) && !is_digit(copier.before())) {
      if (const size_t bot = telegram_size(copier.rest(), kept); bot > 0) {
        copier.copy(kept + 1);
        copier.mask(bot - kept - 1);
        continue;
      }
    }
    if (is_alnum(copier.before()) || copier.before() == '_' || !is_alnum(copier.now())) {
      copier.copy();
      continue;
    }
    size_t size = jwt_size(copier.rest());
    kept = size > 0 ? 3 : 0;
    if (size == 0) {
      size = twilio_size(copier.rest());
      kept = size > 0 ? 2 : 0;
    }
    for (size_t i = 0; size == 0 && i < kShapes.size(); ++i) {
      size = shape_size(copier.rest(), kShapes[i]);
      if (size > 0) kept = kShapes[i].prefix.size();
    }
    copier.copy(size == 0 ? 1 : kept);
    if (size > 0) copier.mask(size - kept);
  }
  return copier.take();
}

// Short options that mean a password in one program and something harmless in others.
constexpr std::string_view kOwnOnly = "*";
struct PasswordOption {
  std::string_view program;
  std::string_view subcommand;  // empty: any; kOwnOnly: before the program it starts
  std::string_view option;
  bool attached;               // -pSECRET
  bool separate;               // -p SECRET
  std::string_view separator;  // in user:password only what follows it is secret; empty: all is
};
constexpr std::array<PasswordOption, 24> kPasswordOptions = {{
    {"mysql", "", "-p", true, false, ""},
    {"mysqldump", "", "-p", true, false, ""},
    {"mysqladmin", "", "-p", true, false, ""},
    {"mysqlimport", "", "-p", true, false, ""},
    {"mariadb", "", "-p", true, false, ""},
    {"mariadb-dump", "", "-p", true, false, ""},
    {"sshpass", kOwnOnly, "-p", true, true, ""},
    {"curl", "", "-u", true, true, ":"},
    {"curl", "", "--user", false, true, ":"},
    {"curl", "", "--proxy-user", false, true, ":"},
    {"docker", "login", "-p", true, true, ""},
    {"podman", "login", "-p", true, true, ""},
    {"redis-cli", "", "-a", false, true, ""},
    {"ldapsearch", "", "-w", false, true, ""},
    {"ldapmodify", "", "-w", false, true, ""},
    {"ldapadd", "", "-w", false, true, ""},
    {"smbclient", "", "-U", false, true, "%"},
    {"mongosh", "", "-p", false, true, ""},
    {"mongodump", "", "-p", false, true, ""},
    {"openssl", "", "-passin", false, true, "pass:"},
    {"openssl", "", "-passout", false, true, "pass:"},
    {"openssl", "", "-pass", false, true, "pass:"},
    {"openssl", "enc", "-k", false, true, ""},
    {"openssl", "enc", "-K", false, true, ""},
}};

class OptionMasker {
 public:
  OptionMasker(std::string_view text, Spans& found) : copier_(text, found) {}

  std::string run() {
    while (!copier_.at_end()) {
      if (is_delimiter(copier_.now()) || is_quote(copier_.now())) {
        if (copier_.now() != ' ' && copier_.now() != '\t' && !is_quote(copier_.now())) {
          words_.clear();
          last_ = {};
        }
        copier_.copy();
        continue;
      }
      word();
    }
    return copier_.take();
  }

 private:
  void word() {
    const std::string_view rest = copier_.rest();
    size_t size = 0;
    while (size < rest.size() && !is_delimiter(rest[size]) && !is_quote(rest[size])) ++size;
    const std::string_view all = rest.substr(0, size);
    for (const PasswordOption& rule : kPasswordOptions) {
      if (!all.starts_with(rule.option) || !applies(rule)) continue;
      if (all.size() == rule.option.size()) {
        const bool value_follows = rest.substr(size).starts_with(" ") || is_attached_quote(rule, rest, size);
        if (!value_follows || (!rule.separate && rest.substr(size).starts_with(" "))) continue;
        copier_.copy(size);
        while (!copier_.at_end() && copier_.now() == ' ') copier_.copy();
        if (!copier_.at_end() && copier_.now() != '-') value(rule);
        return;
      }
      if (rule.attached) {
        copier_.copy(rule.option.size());
        value(rule);
        return;
      }
    }
    if (!all.starts_with("-")) note(all.substr(all.rfind('/') + 1));
    copier_.copy(size);
  }
  static bool is_attached_quote(const PasswordOption& rule, std::string_view rest, size_t size) {
    return rule.attached && size < rest.size() && is_quote(rest[size]);
  }
  void note(std::string_view word) {
    last_ = word;
    for (const PasswordOption& rule : kPasswordOptions) {
      const bool known = word == rule.program || word == rule.subcommand;
      if (known && std::find(words_.begin(), words_.end(), word) == words_.end()) words_.push_back(word);
    }
  }
  bool applies(const PasswordOption& rule) const {
    const auto has = [&](std::string_view word) {
      return std::find(words_.begin(), words_.end(), word) != words_.end();
    };
    if (rule.subcommand == kOwnOnly) return last_ == rule.program;
    return has(rule.program) && (rule.subcommand.empty() || has(rule.subcommand));
  }
  void value(const PasswordOption& rule) {
    if (rule.separator.empty()) {
      copier_.mask_word();
      return;
    }
    size_t size = 0;
    const std::string_view rest = copier_.rest();
    const char quote = !rest.empty() && is_quote(rest[0]) ? rest[0] : '\0';
    if (quote != '\0') copier_.copy();
    const std::string_view inside = copier_.rest();
    while (size < inside.size() &&
           (quote != '\0' ? inside[size] != quote : !is_delimiter(inside[size]) && !is_quote(inside[size])))
      ++size;
    const size_t separator = inside.substr(0, size).find(rule.separator);
    if (separator == std::string_view::npos) {
      copier_.copy(size);
      return;
    }
    const size_t user = separator + rule.separator.size();
    copier_.copy(user);
    if (!is_reference(inside.substr(user, size - user))) {
      copier_.mask(size - user);
    } else {
      copier_.copy(size - user);
    }
  }

  Copier copier_;
  std::vector<std::string_view> words_;  // of this simple command, those that rules speak of
  std::string_view last_;                // its last word that is no option
};

std::string mask_options(std::string_view text, Spans& found) {
  return OptionMasker(text, found).run();
}

// Each pass reads what the one before it left.
using Pass = std::string (*)(std::string_view text, Spans& found);
constexpr std::array<Pass, 6> kPasses = {&mask_pem,  &mask_named,  &mask_headers,
                                         &mask_urls, &mask_shapes, &mask_options};

// `known` are places in the original text, of which each is now as long as kMasked; `found` are places in
// the text as it is now. Both are in order.
Spans merged(const Spans& known, const Spans& found) {
  Spans out;
  size_t next = 0;    // of the known ones
  size_t gone = 0;    // bytes of the original that masks before here have replaced,
  size_t masked = 0;  // and bytes of those masks
  const auto now = [&](size_t original) { return original - gone + masked; };
  const auto original = [&](size_t place) { return place - masked + gone; };
  const auto pass = [&] {
    gone += known[next].end - known[next].begin;
    masked += kMasked.size();
    next++;
  };
  for (const SecretSpan& span : found) {
    while (next < known.size() && now(known[next].begin) + kMasked.size() <= span.begin) {
      out.push_back(known[next]);
      pass();
    }
    const bool inside = next < known.size() && now(known[next].begin) < span.begin;
    SecretSpan made{inside ? known[next].begin : original(span.begin), 0};
    bool to_mask = false;  // it ends within one
    while (next < known.size() && now(known[next].begin) < span.end) {
      to_mask = now(known[next].begin) + kMasked.size() >= span.end;
      made.end = known[next].end;
      pass();
    }
    if (!to_mask) made.end = original(span.end);
    out.push_back(made);
  }
  out.insert(out.end(), known.begin() + static_cast<std::ptrdiff_t>(next), known.end());
  return out;
}

}  // namespace

bool is_secret_name(std::string_view name) {
  const std::vector<std::string> parts = parts_of(name);
  if (parts.empty()) return false;
  const std::string& last = parts.back();
  for (const std::string_view word :
       {"password", "passwd", "passphrase", "secret", "token", "apikey", "credential", "credentials"})
    if (last.ends_with(word)) return true;
  if (last == "pass" && (parts.size() > 1 || name.starts_with("--") || name == "PASS")) return true;
  if (parts.size() < 2) return false;
  if (last == "pwd" || last == "pat") return true;
  if (last != "key") return false;
  const std::string& kind = parts[parts.size() - 2];
  for (const std::string_view word : {"api", "access", "secret", "private", "auth", "encryption", "signing",
                                      "account", "storage", "master"})
    if (kind == word) return true;
  return false;
}

std::string mask_secrets(std::string_view text) {
  std::string masked(text);
  for (const Pass pass : kPasses) {
    Spans found;
    masked = pass(masked, found);
  }
  return masked;
}

std::vector<SecretSpan> secret_spans(std::string_view text) {
  Spans spans;
  std::string masked(text);
  for (const Pass pass : kPasses) {
    Spans found;
    masked = pass(masked, found);
    if (!found.empty()) spans = merged(spans, found);
  }
  return spans;
}

}  // namespace ttyward::base
