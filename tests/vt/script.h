// Screens from scripts: files of small cases that push bytes and say what must then be seen.
//
//   == wraps only when the next character comes (10x3)      a case; 20x5 where no size is given
//   push "0123456789"                                      \e \n \r \t \b \a \\ \" \xHH
//   cursor 0,9 pending                                     rows and columns from 0
//   rows "0123456789" ""                                   from the top; rows not named are blank
//   row 1 "text"                                           one row
//   history "oldest" "newest"                              everything that scrolled away
//   style 0,3 "bold fg=1"                                  how a cell looks; "" is the default
//   wrapped 0 yes     flags 0 "double_width prompt"        a row's soft wrap; its size and marks
//   reply "\e[0n"     event "bell"                         since the last of these; "" for none
//   resize 10,3       columns, rows
//   title "x"   icon "x"   mode origin on   alternate yes   margins 0,3,0,9   kitty 5   shape underline
//   conformance       the case's screen answers like xterm
#pragma once

#include <string>
#include <vector>

namespace ttyward::test {

struct ScriptStep {
  int line = 0;
  std::string command;
  std::vector<std::string> words;  // quoted words are unescaped
};

struct ScriptCase {
  std::string name;
  int cols = 20;
  int rows = 5;
  std::vector<ScriptStep> steps;
};

std::vector<ScriptCase> read_script(const std::string& path);

// Empty, or one line for everything that was not as stated.
std::string run_case(const ScriptCase& test_case);

}  // namespace ttyward::test
