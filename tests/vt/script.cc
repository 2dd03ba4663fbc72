#include "script.h"

#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <map>

#include "../support/dump.h"

namespace ttyward::test {
namespace {

using namespace ttyward::vt;

std::string color_name(Color color) {
  return color.kind() == Color::Kind::Palette ? std::to_string(color.index())
                                              : fmt::format("#{:06x}", color.rgb_value());
}

std::string style_name(const Screen& screen, const Style& style) {
  std::string out;
  const auto add = [&](const std::string& word) { out += (out.empty() ? "" : " ") + word; };
  static constexpr std::pair<uint16_t, const char*> kNames[] = {
      {Style::kBold, "bold"},     {Style::kDim, "dim"},           {Style::kItalic, "italic"},
      {Style::kBlink, "blink"},   {Style::kInverse, "inverse"},   {Style::kHidden, "hidden"},
      {Style::kStrike, "strike"}, {Style::kOverline, "overline"}, {Style::kProtected, "protected"}};
  for (const auto& [bit, name] : kNames) {
    if (style.has(bit)) add(name);
  }
  if (style.underline() != Underline::None) add(fmt::format("ul={}", static_cast<int>(style.underline())));
  if (!style.foreground.is_default()) add("fg=" + color_name(style.foreground));
  if (!style.background.is_default()) add("bg=" + color_name(style.background));
  if (!style.underline_color.is_default()) add("ulc=" + color_name(style.underline_color));
  if (style.link != 0) add("link=" + screen.link(style.link).uri);
  return out;
}

std::string flag_names(uint16_t flags) {
  static constexpr std::pair<uint16_t, const char*> kNames[] = {{Row::kDoubleWidth, "double_width"},
                                                                {Row::kDoubleTop, "double_top"},
                                                                {Row::kDoubleBottom, "double_bottom"},
                                                                {Row::kPromptStart, "prompt"},
                                                                {Row::kInputStart, "input"},
                                                                {Row::kOutputStart, "output"},
                                                                {Row::kCommandEnd, "end"}};
  std::string out;
  for (const auto& [bit, name] : kNames) {
    if ((flags & bit) != 0) out += (out.empty() ? "" : " ") + std::string(name);
  }
  return out;
}

// Words of a line: bare, or in double quotes with escapes.
std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  for (size_t i = 0; i < line.size();) {
    if (line[i] == ' ') {
      i++;
    } else if (line[i] == '"') {
      size_t end = i + 1;
      while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
      words.push_back(unescaped(std::string_view(line).substr(i + 1, end - i - 1)));
      i = end + 1;
    } else {
      const size_t end = std::min(line.find(' ', i), line.size());
      words.push_back(line.substr(i, end - i));
      i = end;
    }
  }
  return words;
}

std::pair<int, int> two_numbers(const std::string& word) {
  const size_t comma = word.find(',');
  return {std::stoi(word), std::stoi(word.substr(comma + 1))};
}

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string out;
  for (const std::string& word : words) out += word + separator;
  return out;
}

// Runs one case; what a step expects and what is there are compared as text.
class Runner {
 public:
  explicit Runner(const ScriptCase& test_case) : case_(test_case) { make({}); }

  std::string run() {
    for (const ScriptStep& step : case_.steps) {
      const auto check = checks().find(step.command);
      if (act(step)) continue;
      if (check == checks().end()) {
        wrong_ += fmt::format("line {}: unknown command {}\n", step.line, step.command);
        continue;
      }
      const auto [wanted, got] = check->second(*this, step.words);
      if (wanted != got) {
        wrong_ += fmt::format("line {}: {}: expected \"{}\", got \"{}\"\n", step.line, step.command,
                              escaped(wanted), escaped(got));
      }
    }
    if (const std::string broken = broken_invariant(*screen_); !broken.empty()) wrong_ += broken + "\n";
    return wrong_;
  }

 private:
  using Words = const std::vector<std::string>&;
  using Pair = std::pair<std::string, std::string>;
  using Check = std::function<Pair(Runner&, Words)>;

  struct Kind {
    bool conformance = false;
    bool lf_is_crlf = false;
  };
  void make(Kind kind) {
    ScreenOptions options;
    options.cols = case_.cols;
    options.rows = case_.rows;
    options.conformance = kind.conformance;
    options.lf_is_crlf = kind.lf_is_crlf;
    screen_ = std::make_unique<Screen>(options);
  }

  bool act(const ScriptStep& step) {
    if (step.command == "push") {
      screen_->feed(joined(step.words, ""));
    } else if (step.command == "resize") {
      const auto [cols, rows] = two_numbers(step.words.at(0));
      screen_->resize(cols, rows);
    } else if (step.command == "conformance") {
      make({.conformance = true});
    } else if (step.command == "lf-is-crlf") {
      make({.lf_is_crlf = true});
    } else {
      return false;
    }
    return true;
  }

  static const std::map<std::string, Check>& checks() {
    static const std::map<std::string, Check> kChecks = {
        {"cursor",
         [](Runner& r, Words w) {
           const Cursor c = r.screen_->cursor();
           return Pair(joined(w, " "),
                       fmt::format("{},{} {}", c.row, c.col, c.pending_wrap ? "pending " : ""));
         }},
        {"rows",
         [](Runner& r, Words w) {
           std::string wanted = joined(w, "\n");
           wanted.erase(wanted.find_last_not_of('\n') + 1);
           return Pair(wanted, screen_text(*r.screen_));
         }},
        {"row", [](Runner& r, Words w) { return Pair(w.at(1), row_text(*r.screen_, std::stoi(w.at(0)))); }},
        {"history", [](Runner& r, Words w) { return Pair(joined(w, "\n"), history_text(*r.screen_)); }},
        {"style",
         [](Runner& r, Words w) {
           const auto [row, col] = two_numbers(w.at(0));
           return Pair(w.at(1), style_name(*r.screen_, r.screen_->style(r.screen_->cell(row, col).style)));
         }},
        {"wrapped",
         [](Runner& r, Words w) {
           return Pair(w.at(1), r.screen_->line(std::stoi(w.at(0))).wrapped ? "yes" : "no");
         }},
        {"flags",
         [](Runner& r, Words w) {
           return Pair(w.at(1), flag_names(r.screen_->line(std::stoi(w.at(0))).flags));
         }},
        {"reply", [](Runner& r, Words w) { return Pair(joined(w, ""), r.screen_->take_replies()); }},
        {"event",
         [](Runner& r, Words w) {
           std::string got;
           for (const Event& event : r.screen_->take_events()) got += to_text(event) + "\n";
           std::string wanted = joined(w, "\n");
           return Pair(wanted == "\n" ? "" : wanted, got);
         }},
        {"title", [](Runner& r, Words w) { return Pair(w.at(0), r.screen_->title()); }},
        {"icon", [](Runner& r, Words w) { return Pair(w.at(0), r.screen_->icon_title()); }},
        {"mode",
         [](Runner& r, Words w) {
           for (const ModeRow& row : mode_table()) {
             if (w.at(0) == row.name) return Pair(w.at(1), r.screen_->modes().has(row.mode) ? "on" : "off");
           }
           return Pair("a mode's name", w.at(0));
         }},
        {"alternate",
         [](Runner& r, Words w) { return Pair(w.at(0), r.screen_->is_alternate() ? "yes" : "no"); }},
        {"size",
         [](Runner& r, Words w) {
           return Pair(w.at(0), fmt::format("{},{}", r.screen_->cols(), r.screen_->rows()));
         }},
        {"margins",
         [](Runner& r, Words w) {
           const Screen::Margins m = r.screen_->margins();
           return Pair(w.at(0), fmt::format("{},{},{},{}", m.top, m.bottom, m.left, m.right));
         }},
        {"kitty",
         [](Runner& r, Words w) { return Pair(w.at(0), std::to_string(r.screen_->keyboard().kitty_flags)); }},
        {"shape",
         [](Runner& r, Words w) {
           static constexpr const char* kShapes[] = {"block", "underline", "bar"};
           return Pair(joined(w, " "), std::string(kShapes[static_cast<int>(r.screen_->cursor_shape())]) +
                                           (r.screen_->cursor_blinks() ? " blinking " : " "));
         }},
    };
    return kChecks;
  }

  const ScriptCase& case_;
  std::unique_ptr<Screen> screen_;
  std::string wrong_;
};

}  // namespace

std::vector<ScriptCase> read_script(const std::string& path) {
  std::vector<ScriptCase> cases;
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); number++) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("== ")) {
      ScriptCase& added = cases.emplace_back();
      added.name = line.substr(3);
      const size_t open = line.rfind('(');
      const size_t by = line.find('x', open);
      if (line.back() == ')' && open != std::string::npos && by != std::string::npos) {
        added.cols = std::stoi(line.substr(open + 1));
        added.rows = std::stoi(line.substr(by + 1));
        added.name = line.substr(3, open - 4);
      }
      continue;
    }
    std::vector<std::string> words = split_words(line);
    ScriptStep step{number, words.at(0), {}};
    step.words.assign(words.begin() + 1, words.end());
    cases.back().steps.push_back(std::move(step));
  }
  return cases;
}

std::string run_case(const ScriptCase& test_case) {
  return Runner(test_case).run();
}

}  // namespace ttyward::test
