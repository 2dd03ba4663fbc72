// Readers for two of git's file formats: settings and the index.
#include <algorithm>

#include "policy/git_repository.h"

namespace ttyward::policy {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

// https://git-scm.com/docs/git-config#_syntax
class SettingsReader {
 public:
  SettingsReader(std::string_view text, std::vector<GitSetting>& out) : text_(text), out_(out) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  bool run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#' || c == ';') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        ++at_;
      } else if (c == '[') {
        if (!section()) return false;
      } else if (!setting()) {
        return false;
      }
    }
    return true;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\n'; }

  bool section() {
    section_.clear();
    subsection_.clear();
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ']') {
        ++at_;
        return !section_.empty();
      }
      if (c == ' ' || c == '\t') return quoted_subsection();
      if (!is_key_char(c) && c != '.') return false;
      section_.push_back(lower(c));
    }
    return false;
  }

  bool quoted_subsection() {
    while (peek() == ' ' || peek() == '\t') ++at_;
    if (peek() != '"') return false;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') return false;
      if (c == '"') {
        ++at_;
        if (peek() != ']') return false;
        ++at_;
        return !section_.empty();
      }
      if (c == '\\' && ++at_ == text_.size()) return false;
      subsection_.push_back(text_[at_]);
    }
    return false;
  }

  bool setting() {
    GitSetting found;
    found.section = section_;
    found.subsection = subsection_;
    // [a.b] is the old way to write [a "b"].
    if (const size_t dot = section_.find('.'); dot != std::string::npos && subsection_.empty()) {
      found.section = section_.substr(0, dot);
      found.subsection = section_.substr(dot + 1);
    }
    while (at_ < text_.size() && is_key_char(text_[at_])) found.key.push_back(lower(text_[at_++]));
    if (found.key.empty() || section_.empty()) return false;
    while (peek() == ' ' || peek() == '\t') ++at_;
    if (peek() == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    if (peek() == '\n') {
      found.value = "true";
    } else if (peek() == '#' || peek() == ';') {
      return false;
    } else if (text_[at_] != '=' || !value(found.value)) {
      return false;
    }
    out_.push_back(std::move(found));
    return true;
  }

  bool value(std::string& out) {
    bool quote = false;
    bool comment = false;
    for (++at_; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '\n') {
        if (quote) return false;
        break;
      }
      if (comment) continue;
      if (c == '\r') continue;
      if (!quote && (c == '#' || c == ';')) {
        comment = true;
        continue;
      }
      if (c == '"') {
        quote = !quote;
        continue;
      }
      if (c == '\\') {
        if (++at_ == text_.size()) return false;
        c = text_[at_];
        if (c == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') c = text_[++at_];
        if (c == '\n') continue;
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
      } else if (!quote && (c == ' ' || c == '\t') && out.empty()) {
        continue;
      }
      out.push_back(c);
    }
    if (quote) return false;
    while (!out.empty() && (out.back() == ' ' || out.back() == '\t')) out.pop_back();
    return true;
  }

  std::string_view text_;
  std::vector<GitSetting>& out_;
  size_t at_ = 0;
  std::string section_;
  std::string subsection_;
};

// https://git-scm.com/docs/index-format
class IndexReader {
 public:
  IndexReader(std::string_view bytes, std::vector<GitIndexEntry>& out) : bytes_(bytes), out_(out) {}

  bool run() {
    if (!bytes_.starts_with("DIRC") || bytes_.size() < 12) return false;
    const uint32_t version = number(4, 4);
    const uint32_t count = number(8, 4);
    if (version < 2 || version > 4 || count > bytes_.size() / 62) return false;
    at_ = 12;
    out_.reserve(count);
    for (uint32_t i = 0; i < count; ++i) {
      if (!entry(version)) return false;
    }
    return extensions();
  }

 private:
  uint32_t number(size_t at, size_t width) const {
    uint32_t value = 0;
    for (size_t i = 0; i < width; ++i) value = value << 8U | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }

  // "link" says that most entries are in another file, "sdir" that one entry stands for a whole folder. An
  // extension whose name begins with a small letter must be understood, says git; these are all there are.
  bool extensions() const {
    constexpr size_t kChecksum = 20;
    for (size_t at = at_; at + kChecksum + 8 <= bytes_.size(); at += 8 + number(at + 4, 4)) {
      if (bytes_[at] >= 'a' && bytes_[at] <= 'z') return false;
    }
    return true;
  }

  bool entry(uint32_t version) {
    const size_t begin = at_;
    if (bytes_.size() - at_ < 62) return false;
    const uint32_t mode = number(at_ + 24, 4);
    // Repositories with SHA-256 have longer names; their entries do not fit here and end the reading.
    const uint32_t flags = number(at_ + 60, 2);
    at_ += 62;
    if ((flags & 0x4000U) != 0) at_ += 2;
    if (at_ >= bytes_.size()) return false;
    std::string path;
    if (version == 4) {
      size_t cut = 0;
      if (!offset(cut) || cut > previous_.size()) return false;
      path = previous_.substr(0, previous_.size() - cut);
    }
    const size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) return false;
    path += bytes_.substr(at_, end - at_);
    if ((flags & 0xFFFU) != 0xFFFU && path.size() != (flags & 0xFFFU)) return false;
    at_ = version == 4 ? end + 1 : begin + (end - begin + 8) / 8 * 8;
    if (at_ > bytes_.size()) return false;
    previous_ = path;
    out_.push_back({mode, std::move(path)});
    return true;
  }

  bool offset(size_t& value) {
    value = 0;
    for (int i = 0; i < 5; ++i) {
      if (at_ >= bytes_.size()) return false;
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value = value << 7U | (byte & 0x7FU);
      if ((byte & 0x80U) == 0) return true;
      ++value;
    }
    return false;
  }

  std::string_view bytes_;
  std::vector<GitIndexEntry>& out_;
  size_t at_ = 0;
  std::string previous_;
};

}  // namespace

bool read_git_settings(std::string_view text, std::vector<GitSetting>& out) {
  return SettingsReader(text, out).run();
}

bool read_git_index(std::string_view bytes, std::vector<GitIndexEntry>& out) {
  return IndexReader(bytes, out).run();
}

}  // namespace ttyward::policy
