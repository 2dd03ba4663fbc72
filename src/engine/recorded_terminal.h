// For tests: a terminal's journal and log as files, written literally.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "journal/reader.h"
#include "journal/scratch_folder.h"
#include "journal/writer.h"
#include "shell/mark_nonce.h"

namespace ttyward::engine::testing {

inline constexpr char kSecret[] = "5eed";

// A mark of the shell's, with the nonce of its `command`-th command.
inline std::string mark(const std::string& body, uint64_t command) {
  return "\x1b]633;" + body + ";" + shell::mark_nonce(kSecret, command) + "\a";
}

// Journals in a folder of their own.
class RecordedJournals {
 public:
  RecordedJournals() : folder_(journal::Folder::open(scratch_.journals()).value()) {}

  // `write` adds marks and the exit.
  journal::Reader make(const std::string& id, std::string_view bytes) {
    auto writer = begin(id);
    put(writer, bytes);
    return open(id);
  }
  journal::Writer begin(const std::string& id) {
    journal::WriterOptions options;
    options.id = id;
    return journal::Writer::create(folder_, options).value();
  }
  static void put(journal::Writer& writer, std::string_view bytes) {
    const auto all = std::as_bytes(std::span(bytes.data(), bytes.size()));
    EXPECT_EQ(writer.append(all, journal::Stream::Terminal), bytes.size());
  }
  journal::Reader open(const std::string& id) {
    return journal::Reader::open(scratch_.journals(), id).value();
  }

 private:
  journal::ScratchFolder scratch_;
  std::shared_ptr<journal::Folder> folder_;
};

inline boost::json::object record(const std::string& text) {
  return boost::json::parse(text).as_object();
}

}  // namespace ttyward::engine::testing
