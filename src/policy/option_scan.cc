#include "policy/option_scan.h"

#include <algorithm>

namespace ttyward::policy {
namespace {

class Scanner {
 public:
  Scanner(const ProgramRow& row, std::span<const Field> argv, OptionScan& scan)
      : row_(row), argv_(argv), scan_(scan) {}

  void run(ScanStop stop) {
    scan_.options_end = argv_.size();
    for (at_ = 1; at_ < argv_.size(); ++at_) {
      const Field& field = argv_[at_];
      if (only_arguments_) {
        argument(field);
      } else if (field.text == "--") {
        only_arguments_ = true;
        if (stop == ScanStop::AtFirstArgument) {
          scan_.options_end = std::min(scan_.options_end, at_ + 1);
        }
      } else if (field.text.size() > 1 && field.text[0] == '-') {
        option(field);
      } else {
        if (field.may_be_option()) scan_.doubtful.push_back(&field);
        argument(field);
        if (stop == ScanStop::AtFirstArgument) only_arguments_ = true;
      }
      if (field.may_split() && field.text[0] != kAnyFields && !only_arguments_)
        scan_.doubtful.push_back(&field);
    }
  }

 private:
  void argument(const Field& field) {
    scan_.options_end = std::min(scan_.options_end, at_);
    scan_.arguments.push_back(field);
  }

  void hit(const OptionRow& option, bool attached, std::string_view attached_value, const Field& field) {
    OptionHit found{&option, {}, false};
    if (attached) {
      found.value = field;
      found.value.text = std::string(attached_value);
      found.has_value = true;
    } else if (option.value == OptionValue::Required && at_ + 1 < argv_.size()) {
      found.value = argv_[++at_];
      found.has_value = true;
    }
    // An unquoted value that splits leaves more words behind: options, files, or a command.
    if (found.has_value && found.value.may_split()) {
      const Field& written = attached ? field : argv_[at_];
      scan_.doubtful.push_back(&written);
      Field rest = written;
      rest.text = std::string(1, kAnyFields);
      argument(rest);
    }
    scan_.hits.push_back(std::move(found));
  }

  void option(const Field& field) {
    const std::string_view text = field.text;
    const bool all_digits = std::all_of(text.begin() + 1, text.end(),
                                        [](char c) { return (c >= '0' && c <= '9') || c == kDigits; });
    if (row_.numbers && all_digits) return;
    if (text.starts_with("--")) return long_option(field, text.substr(2));
    if (row_.dash_words) {
      if (const OptionRow* option = find_option(row_, text.substr(1, text.find('=') - 1))) {
        const size_t equals = text.find('=');
        return hit(*option, equals != std::string_view::npos,
                   equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1), field);
      }
      scan_.unknown.emplace_back(text);
      return;
    }
    for (size_t i = 1; i < text.size(); ++i) {
      const std::string_view letter = text.substr(i, 1);
      if (const OptionRow* option = find_option(row_, letter)) {
        if (option->value == OptionValue::None) {
          hit(*option, false, {}, field);
          continue;
        }
        if (row_.apart) {
          hit(*option, false, {}, field);
          continue;
        }
        const std::string_view value = text.substr(i + 1);
        hit(*option, !value.empty(), value, field);
        return;
      }
      if (row_.numbers && letter[0] >= '0' && letter[0] <= '9') continue;
      if (row_.flags.find(letter) == std::string_view::npos) {
        scan_.unknown.emplace_back(text);
        return;
      }
    }
  }

  void long_option(const Field& field, std::string_view text) {
    const size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const bool attached = equals != std::string_view::npos;
    const std::string_view value = attached ? text.substr(equals + 1) : std::string_view();
    if (!Field{std::string(name), {}, {}}.constant()) scan_.doubtful.push_back(&field);
    if (const OptionRow* option = name.size() > 1 ? find_option(row_, name) : nullptr) {
      // A value where none belongs: the program is not the one that the table knows.
      if (attached && option->value == OptionValue::None)
        scan_.unknown.emplace_back("--" + std::string(text));
      return hit(*option, attached, value, field);
    }
    // getopt_long takes any unambiguous beginning of a name. That of an option that does harm counts as that
    // option, others are not known.
    for (const OptionRow& option : row_.options) {
      if (option.name.size() < 2 || name.empty() || !option.name.starts_with(name)) continue;
      const bool harms = option.asks || (option.use != Use::Text && option.use != Use::Recursive);
      if (harms) return hit(option, attached, value, field);
    }
    scan_.unknown.emplace_back("--" + std::string(name));
  }

  const ProgramRow& row_;
  std::span<const Field> argv_;
  OptionScan& scan_;
  size_t at_ = 1;
  bool only_arguments_ = false;
};

}  // namespace

bool OptionScan::has(std::string_view name) const {
  return std::any_of(hits.begin(), hits.end(), [&](const OptionHit& hit) { return hit.row->name == name; });
}

const Field* OptionScan::value(std::string_view name) const {
  for (const OptionHit& hit : hits) {
    if (hit.row->name == name && hit.has_value) return &hit.value;
  }
  return nullptr;
}

OptionScan scan_options(const ProgramRow& row, std::span<const Field> argv, ScanStop stop) {
  OptionScan scan;
  Scanner(row, argv, scan).run(stop);
  return scan;
}

}  // namespace ttyward::policy
