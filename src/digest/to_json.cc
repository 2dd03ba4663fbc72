#include "base/json_text.h"
#include "digest/digest.h"

namespace ttyward::digest {
namespace {

template <typename Range, typename Write>
std::string array_of(const Range& range, Write&& write) {
  std::string out = "[";
  for (const auto& item : range) {
    if (out.size() > 1) out += ',';
    out += write(item);
  }
  return out + "]";
}

const char* name_of(Piece::Kind kind) {
  switch (kind) {
    case Piece::Kind::Text:
      return "text";
    case Piece::Kind::Fold:
      return "fold";
    case Piece::Kind::Gap:
      return "gap";
    case Piece::Kind::Note:
      return "note";
  }
  return "text";
}

int64_t signed_of(uint64_t n) {
  return static_cast<int64_t>(n);
}

}  // namespace

std::string to_json(const Digest& digest) {
  base::JsonObject out;
  out.text("text", digest.text());
  out.number("total_lines", signed_of(digest.total_lines))
      .number("total_bytes", signed_of(digest.total_bytes));
  out.raw(
      "pieces", array_of(digest.pieces, [](const Piece& piece) {
        base::JsonObject o;
        o.text("kind", name_of(piece.kind));
        if (piece.first_line > 0)
          o.number("first_line", signed_of(piece.first_line)).number("last_line", signed_of(piece.last_line));
        return o.text("text", piece.text).str();
      }));
  const Facts& facts = digest.facts;
  if (!facts.diagnostics.empty()) {
    out.raw("diagnostics", array_of(facts.diagnostics, [](const Diagnostic& d) {
              base::JsonObject o;
              if (!d.file.empty()) o.text("file", d.file);
              if (d.line > 0) o.number("line", signed_of(d.line));
              if (d.column > 0) o.number("column", signed_of(d.column));
              o.text("severity", d.severity);
              if (!d.code.empty()) o.text("code", d.code);
              return o.text("message", d.message).number("at", signed_of(d.at)).str();
            }));
  }
  if (!facts.tests.empty()) {
    out.raw("tests", array_of(facts.tests, [](const TestOutcome& t) {
              base::JsonObject o;
              o.text("name", t.name).text("outcome", t.outcome);
              if (!t.message.empty()) o.text("message", t.message);
              return o.number("at", signed_of(t.at)).str();
            }));
  }
  if (!facts.counts.empty()) {
    base::JsonObject counts;
    for (const Count& count : facts.counts) counts.number(count.what, signed_of(count.number));
    out.raw("counts", counts.str());
  }
  if (!facts.entries.empty()) {
    out.raw("entries", array_of(facts.entries, [](const Entry& e) {
              base::JsonObject o;
              o.text("name", e.name);
              if (!e.state.empty()) o.text("state", e.state);
              if (e.size > 0) o.number("size", signed_of(e.size));
              if (e.added + e.removed > 0)
                o.number("added", signed_of(e.added)).number("removed", signed_of(e.removed));
              return o.str();
            }));
  }
  if (!facts.commits.empty()) {
    out.raw("commits", array_of(facts.commits, [](const Commit& c) {
              base::JsonObject o;
              o.text("hash", c.hash);
              if (!c.author.empty()) o.text("author", c.author);
              if (!c.date.empty()) o.text("date", c.date);
              return o.text("subject", c.subject).str();
            }));
  }
  if (!facts.suggestions.empty()) {
    out.raw("suggestions", array_of(facts.suggestions,
                                    [](const std::string& command) { return base::json_quoted(command); }));
  }
  return out.str();
}

}  // namespace ttyward::digest
