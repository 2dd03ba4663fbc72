#include "fuzz/differential/normal_form.h"

namespace ttyward::fuzz {
namespace {

using namespace syntax;

class Printer {
 public:
  explicit Printer(std::string_view source) : source_(source) {}

  NormalForm take() { return {std::move(out_), std::move(documents_)}; }

  void list(const List& items, std::string_view separator) {
    for (size_t i = 0; i < items.items.size(); ++i) {
      if (i > 0) out_ += items.items[i - 1].background ? " " : separator;
      and_or(items.items[i]);
      if (items.items[i].background) out_ += " &";
    }
  }

 private:
  void and_or(const AndOr& item) {
    for (size_t i = 0; i < item.pipelines.size(); ++i) {
      if (i > 0) out_ += item.by_or[i - 1] ? " || " : " && ";
      pipeline(item.pipelines[i]);
    }
  }

  void pipeline(const Pipeline& item) {
    if (item.timed) out_ += "time ";
    if (item.negated) out_ += "! ";
    for (size_t i = 0; i < item.commands.size(); ++i) {
      command(item.commands[i]);
      if (i + 1 < item.commands.size()) out_ += item.with_stderr[i] ? " 2>&1 | " : " | ";
    }
  }

  void command(const Command& item) {
    switch (item.kind) {
      case CommandKind::Simple:
        simple(item);
        break;
      case CommandKind::Subshell:
        out_ += "( ";
        list(item.lists[0], "\n");
        out_ += " )";
        break;
      case CommandKind::Group:
        out_ += "{ ";
        list(item.lists[0], "\n");
        out_ += "\n}";
        break;
      case CommandKind::If:
        conditional(item, 0);
        break;
      case CommandKind::While:
      case CommandKind::Until:
        out_ += item.kind == CommandKind::While ? "while " : "until ";
        list(item.lists[0], "\n");
        out_ += "\ndo\n";
        list(item.lists[1], "\n");
        out_ += "\ndone";
        break;
      case CommandKind::For:
        out_ += "for " + item.name + " in";
        if (!item.has_in) out_ += " \"$@\"";
        for (const Word& value : item.words) {
          out_ += ' ';
          word(value);
        }
        out_ += "\ndo\n";
        list(item.lists[0], "\n");
        out_ += "\ndone";
        break;
      case CommandKind::ArithmeticFor:
        out_ += "for ((";
        for (size_t i = 0; i < 3; ++i) {
          if (i > 0) out_ += "\n";
          std::string expression = item.expressions[i];
          expression.erase(0, std::min(expression.find_first_not_of(' '), expression.size()));
          out_ += expression.find_first_not_of(' ') == std::string::npos ? "1" : expression;
        }
        out_ += "))\ndo\n";
        list(item.lists[0], "\n");
        out_ += "\ndone";
        break;
      case CommandKind::Case:
        out_ += "case ";
        word(item.words[0]);
        out_ += " in\n";
        for (const CaseItem& one : item.cases) {
          for (size_t i = 0; i < one.patterns.size(); ++i) {
            if (i > 0) out_ += " | ";
            word(one.patterns[i]);
          }
          out_ += ")\n";
          list(one.body, "\n");
          out_ += "\n";
        }
        out_ += "esac";
        break;
      case CommandKind::Function:
        out_ += item.name + " () \n{\n";
        if (item.body->kind == CommandKind::Group) {
          list(item.body->lists[0], "\n");
          out_ += "\n}";
          redirects(*item.body);
        } else {
          command(*item.body);
          out_ += "\n}";
        }
        return;
      case CommandKind::Test:
        test(item);
        break;
      case CommandKind::Arithmetic:
        out_ += "((" + item.expressions[0] + "))";
        break;
    }
    redirects(item);
  }

  void conditional(const Command& item, size_t at) {
    out_ += "if ";
    list(item.lists[at], "\n");
    out_ += "\nthen\n";
    list(item.lists[at + 1], "\n");
    out_ += "\n";
    const size_t left = item.lists.size() - at - 2;
    if (left == 1) {
      out_ += "else\n";
      list(item.lists[at + 2], "\n");
      out_ += "\n";
    } else if (left > 1) {
      out_ += "else\n";
      conditional(item, at + 2);
      out_ += "\n";
    }
    out_ += "fi";
  }

  void simple(const Command& item) {
    bool first = true;
    const auto separate = [&] {
      if (!first) out_ += ' ';
      first = false;
    };
    for (const Assignment& one : item.assignments) {
      separate();
      out_ += one.name;
      if (!one.subscript.empty()) out_ += "[" + one.subscript + "]";
      out_ += one.append ? "+=" : "=";
      word(one.value);
    }
    for (const Word& one : item.words) {
      separate();
      word(one);
    }
    redirects_begin_line_ = first;
  }

  void test(const Command& item) {
    out_ += "[[";
    for (const TestToken& token : item.test) {
      out_ += ' ';
      switch (token.kind) {
        case TestTokenKind::Open:
          out_ += '(';
          break;
        case TestTokenKind::Close:
          out_ += ')';
          break;
        case TestTokenKind::And:
          out_ += "&&";
          break;
        case TestTokenKind::Or:
          out_ += "||";
          break;
        case TestTokenKind::Not:
          out_ += '!';
          break;
        case TestTokenKind::Alone:
          out_ += "-n ";
          word(token.left);
          break;
        case TestTokenKind::Unary:
          out_ += token.op + ' ';
          word(token.left);
          break;
        case TestTokenKind::Binary:
          word(token.left);
          out_ += ' ' + token.op + ' ';
          word(token.right);
          break;
      }
    }
    out_ += " ]]";
  }

  void redirects(const Command& item) {
    const auto number = [](int fd, int usual) {
      return fd < 0 || fd == usual ? std::string() : std::to_string(fd);
    };
    for (size_t i = 0; i < item.redirects.size(); ++i) {
      const Redirect& one = item.redirects[i];
      const bool glued = i == 0 && item.kind == CommandKind::Simple && redirects_begin_line_;
      if (!glued) out_ += ' ';
      const int fd = one.fd < 0 ? (one.input ? 0 : 1) : one.fd;
      switch (one.op) {
        case RedirectOp::Read:
          out_ += number(one.fd, 0) + "< ";
          break;
        case RedirectOp::Write:
          out_ += number(one.fd, 1) + "> ";
          break;
        case RedirectOp::Append:
          out_ += number(one.fd, 1) + ">> ";
          break;
        case RedirectOp::ReadWrite:
          out_ += (one.fd == 1 ? "" : std::to_string(fd)) + "<> ";
          break;
        case RedirectOp::Both:
          out_ += source_[one.span.begin] == '>' ? ">&" : "&> ";
          break;
        case RedirectOp::BothAppend:
          out_ += "&>> ";
          break;
        case RedirectOp::Duplicate:
          out_ += std::to_string(fd) + (one.input ? "<&" : ">&") + std::to_string(one.target_fd);
          continue;
        case RedirectOp::Close:
          out_ += std::to_string(fd) + ">&-";
          continue;
        case RedirectOp::HereString:
          out_ += number(one.fd, 0) + "<<< ";
          break;
        case RedirectOp::HereDoc: {
          const HereDoc& here = *one.here;
          const std::string quote = here.raw ? "'" : "";
          out_ += number(one.fd, 0) + (here.strip_tabs ? "<<-" : "<<") + quote + here.delimiter + quote;
          std::string body;
          bool line_start = true;
          for (const char c : source_.substr(here.body.begin, here.body.end - here.body.begin)) {
            if (line_start && here.strip_tabs && c == '\t') continue;
            line_start = c == '\n';
            body += c;
          }
          documents_.push_back(body + here.delimiter + "\n");
          continue;
        }
      }
      word(one.target);
    }
  }

  void word(const Word& item) {
    if (item.array) {
      parts(item.parts, item.span.begin, item.parts.empty() ? item.span.begin : item.parts.back().span.end);
      out_ += '(';
      for (size_t i = 0; i < item.elements.size(); ++i) {
        if (i > 0) out_ += ' ';
        word(item.elements[i]);
      }
      out_ += ')';
      return;
    }
    parts(item.parts, item.span.begin, item.span.end);
  }

  // The word as it is written, with what bash rewrites: substitutions are printed anew, continued lines are
  // joined, $'…' is decoded.
  void parts(const std::vector<Part>& items, uint32_t begin, uint32_t end) {
    uint32_t at = begin;
    for (const Part& part : items) {
      raw(at, part.span.begin, false);
      at = part.span.end;
      if ((part.kind == PartKind::Command && !part.expansion->backquotes) || part.kind == PartKind::Process) {
        out_ += part.kind == PartKind::Command ? "$(" : part.expansion->writes ? ">(" : "<(";
        const List& inner = *part.expansion->list;
        const CommandKind first =
            inner.items.empty() ? CommandKind::Simple : inner.items[0].pipelines[0].commands[0].kind;
        if ((first == CommandKind::Subshell || first == CommandKind::Arithmetic) &&
            !inner.items[0].pipelines[0].negated && !inner.items[0].pipelines[0].timed)
          out_ += ' ';
        list(inner, "\n");
        out_ += ')';
      } else if (part.kind == PartKind::Parameter && !part.expansion->argument.empty()) {
        // Substitutions inside the operator's word are printed anew as well.
        std::vector<const Part*> inner;
        uint32_t from = part.span.begin;
        for (const std::vector<Part>* side : {&part.expansion->argument, &part.expansion->replacement}) {
          if (side->empty()) continue;
          raw(from, side->front().span.begin, false);
          parts(*side, side->front().span.begin, side->back().span.end);
          from = side->back().span.end;
        }
        raw(from, part.span.end, false);
      } else if (part.quoting == Quoting::AnsiC) {
        if (part.text == "'") {
          out_ += "\\'";
          continue;
        }
        out_ += '\'';
        for (const char c : part.text) {
          if (c == '\'') {
            out_ += "'\\''";
          } else {
            out_ += c;
          }
        }
        out_ += '\'';
      } else {
        raw(part.span.begin, part.span.end, part.quoting == Quoting::Single);
      }
    }
    raw(at, end, false);
  }

  void raw(uint32_t from, uint32_t to, bool literal) {
    for (uint32_t i = from; i < to; ++i) {
      if (!literal && source_[i] == '\\' && i + 1 < to) {
        if (source_[i + 1] == '\n') {
          ++i;
          continue;
        }
        out_ += source_[i++];
      }
      out_ += source_[i];
    }
  }

  std::string_view source_;
  std::string out_;
  std::vector<std::string> documents_;
  bool redirects_begin_line_ = false;
};

}  // namespace

NormalForm normal_form(std::string_view source, const syntax::List& program) {
  Printer printer(source);
  printer.list(program, "\n");
  return printer.take();
}

std::string squeeze(std::string_view text, bool loose) {
  std::string out;
  bool blank = false;
  bool separator = false;
  for (const char c : text) {
    if (c == ' ' || c == '\t') {
      blank = true;
    } else if (c == '\n' || c == ';') {
      separator = true;
    } else {
      if (separator || blank) {
        // Behind these bash writes a blank or a line end, as it pleases.
        const bool free = out.ends_with('&') || out == "{" || out.ends_with(" {") || out.ends_with("\n{");
        // A here-document that was taken out leaves its line end before the closing parenthesis.
        if (!out.empty() && !(loose && c == ')')) out += separator && !loose && !free ? '\n' : ' ';
      }
      blank = separator = false;
      out += c;
    }
  }
  return out;
}

}  // namespace ttyward::fuzz
