// Rows of a command corpus: tab separated, # begins a comment line. Columns are the command, what is expected
// of it and the least risk; an id may stand before them.
#pragma once

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "policy/verdict.h"

namespace ttyward::policy {

struct CorpusRow {
  std::string id;
  std::string command;
  Decision expected = Decision::Ask;
  Risk least_risk = Risk::Low;
};

// \\ is a backslash, \n, \t, \xNN one byte.
inline std::string unescape_row(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out.push_back(text[i]);
      continue;
    }
    const char c = text[++i];
    if (c == 'x' && i + 2 < text.size()) {
      out.push_back(static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)));
      i += 2;
    } else {
      out.push_back(c == 'n' ? '\n' : c == 't' ? '\t' : c);
    }
  }
  return out;
}

// Rows without an id get their number.
inline std::vector<CorpusRow> read_corpus(const std::string& path) {
  std::vector<CorpusRow> rows;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> columns;
    for (size_t from = 0; from <= line.size();) {
      const size_t tab = std::min(line.find('\t', from), line.size());
      columns.push_back(line.substr(from, tab - from));
      from = tab + 1;
    }
    CorpusRow row;
    const bool bare = columns.size() >= 3 && parse_decision(columns[1], row.expected);
    const size_t first = bare ? 0 : 1;
    if (columns.size() < first + 3) continue;
    row.id = bare ? std::to_string(rows.size() + 1) : columns[0];
    row.command = unescape_row(columns[first]);
    if (!parse_decision(columns[first + 1], row.expected)) continue;
    if (!parse_risk(columns[first + 2], row.least_risk)) continue;
    rows.push_back(std::move(row));
  }
  return rows;
}

inline std::string everyday_path() {
  return TTYWARD_SOURCE_DIR "/tests/policy/everyday.tsv";
}

inline std::string looking_path() {
  return TTYWARD_SOURCE_DIR "/tests/policy/looking.tsv";
}

inline std::string forms_path() {
  return TTYWARD_SOURCE_DIR "/tests/policy/forms.tsv";
}
inline std::string commands_path() {
  return TTYWARD_SOURCE_DIR "/tests/policy/commands.tsv";
}

}  // namespace ttyward::policy
