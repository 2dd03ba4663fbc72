// Lines that look like one command and are two, and lines that only some shells read so.
#include "syntax/parse.h"

#include <gtest/gtest.h>

namespace ttyward::syntax {
namespace {

// The simple commands of the line in order, substitutions not included, as "program argument…".
void collect(const List& list, std::vector<std::string>& out);

void collect(const Command& command, std::vector<std::string>& out) {
  if (command.kind == CommandKind::Simple) {
    std::string text;
    for (const Word& word : command.words) {
      if (!text.empty()) text += ' ';
      for (const Part& part : word.parts) text += part.kind == PartKind::Text ? part.text : std::string("$");
    }
    out.push_back(text);
  }
  for (const List& list : command.lists) collect(list, out);
  for (const CaseItem& item : command.cases) collect(item.body, out);
  if (command.body) collect(*command.body, out);
}

void collect(const List& list, std::vector<std::string>& out) {
  for (const AndOr& item : list.items) {
    for (const Pipeline& pipeline : item.pipelines) {
      for (const Command& command : pipeline.commands) collect(command, out);
    }
  }
}

using Commands = std::vector<std::string>;

Commands commands_of(std::string_view text, Dialect dialect = Dialect::Bash) {
  std::vector<ByteRole> roles;
  const auto tree = parse(text, {dialect, Manner::Script}, &roles);
  if (!tree) return {"not understood: " + tree.error().why};
  for (size_t i = 0; i < text.size(); ++i) EXPECT_NE(roles[i], ByteRole::Unread) << text << " at " << i;
  Commands out;
  collect(*tree, out);
  return out;
}

bool understood(std::string_view text, Dialect dialect = Dialect::Bash, Manner manner = Manner::Script) {
  return parse(text, {dialect, manner}).has_value();
}

TEST(Parse, a_line_end_is_a_line_end_wherever_it_looks_like_a_part_of_a_word) {
  EXPECT_EQ(commands_of("ls\n\\\ntouch pwned"), (Commands{"ls", "touch pwned"}));
  EXPECT_EQ(commands_of("true =~\ntouch x"), (Commands{"true =~", "touch x"}));
  EXPECT_EQ(commands_of("ls ==\ntouch x"), (Commands{"ls ==", "touch x"}));
  EXPECT_EQ(commands_of("cat <<<$\ntouch x"), (Commands{"cat", "touch x"}));
  EXPECT_EQ(commands_of("x=a$\ntouch x"), (Commands{"", "touch x"}));
  EXPECT_FALSE(understood("declare x=1$\\\n\ntouch x"));
}

TEST(Parse, a_hash_is_a_comment_only_at_the_start_of_a_token) {
  EXPECT_EQ(commands_of("[ -n x ]#;touch x"), (Commands{"[ -n x ]#", "touch x"}));
  EXPECT_EQ(commands_of("ls a#b; touch x"), (Commands{"ls a#b", "touch x"}));
  EXPECT_EQ(commands_of("ls 'a'#b; touch x"), (Commands{"ls a#b", "touch x"}));
  EXPECT_EQ(commands_of("ls #b; touch x"), (Commands{"ls"}));
  EXPECT_EQ(commands_of("(ls)#;touch x"), (Commands{"ls"}));
  EXPECT_FALSE(understood("a=(1)# touch x"));
  EXPECT_FALSE(understood("a=(1)touch x"));
}

TEST(Parse, what_another_shell_reads_in_another_way_is_refused_for_it) {
  for (const char* text : {"[[ x || ./evil ]]", "[[ a > f ]]", "echo $'\\'; touch x #'", "ls &>f",
                           "ls |& cat", "cat <<< x", "a=(1 2)", "diff <(ls) <(ls)", "((x))", "x[1]=2", "x+=1",
                           "echo ${x/a/b}", "echo ${x:1}", "f-g() { ls; }", "for ((;;)); do ls; done"}) {
    EXPECT_FALSE(understood(text, Dialect::Posix)) << text;
  }
  EXPECT_TRUE(understood("for x in a b; do ls \"$x\"; done && echo ${x:-y} 2>&1 | wc -l", Dialect::Posix));
  for (const char* text : {"echo =ls", "echo $x[1]", "echo $x:h", "echo }", ">f", "{ls}", "echo *(e:'x':)",
                           "cat <1-5>", "echo a^b", "x[1]=2", "export x=1"}) {
    EXPECT_FALSE(understood(text, Dialect::Zsh)) << text;
  }
  EXPECT_TRUE(understood("git log --oneline | head -5 && ls *.c", Dialect::Zsh));
  EXPECT_FALSE(understood("ls # x; touch y", Dialect::Zsh, Manner::Typed));
  for (const char* text : {"echo (touch x)", "ls $x", "a&b", "ls # x", "echo 'a\\'b'",
                           "set x 1; if true; end", "x=1", "echo {a,b}", "ls &", "eval ls", "and ls"}) {
    EXPECT_FALSE(understood(text, Dialect::Fish)) << text;
  }
  EXPECT_EQ(commands_of("git log | head -5; and-more 'a b'", Dialect::Fish),
            (Commands{"git log", "head -5", "and-more a b"}));
}

TEST(Parse, a_subscript_in_the_first_word_does_not_swallow_operators) {
  for (const char* text : {"zz[ a; touch x ]", "x=1 zz[ a\ntouch x\n]", "if zz[ a || touch x ]; then ls; fi",
                           "a[x;y]=3", "a[$(touch x)]=1", "a[i]=1"})
    EXPECT_FALSE(understood(text)) << text;
  EXPECT_TRUE(understood("a[0]=1; echo a[x]"));
}

TEST(Parse, what_is_evaluated_in_expansions_is_refused) {
  for (const char* text : {"echo ${x@P}",
                           "echo ${!x}",
                           "echo ${@:n}",
                           "echo ${#a[$n]}",
                           "echo ${a[$n]}",
                           "echo ${x:n}",
                           "echo $[1+1]",
                           "echo $((a[1]))",
                           "echo $((`id`))",
                           "echo ${ ls; }",
                           "echo ${|ls; }",
                           "echo $\"x\"",
                           "echo \"${x:-'}\"; touch y #'}\"",
                           "coproc ls",
                           "select x in a; do ls; done",
                           "function f { ls; }",
                           "time -p ls",
                           "! ! ls",
                           "ls >| f",
                           "ls {v}>f",
                           "ls 12>f",
                           "ls >&$x",
                           "echo @(a|b)",
                           "a | ! b"})
    EXPECT_FALSE(understood(text)) << text;
  EXPECT_TRUE(understood("echo ${x:-y} ${x%.c} ${x//a/b} ${#x} ${a[@]} ${x:1:2} $((x + 1)) $((16#ff))"));
}

TEST(Parse, here_documents_end_where_every_shell_ends_them) {
  EXPECT_EQ(commands_of("cat <<'E' | wc\n$(touch x)\nE\nls"), (Commands{"cat", "wc", "ls"}));
  EXPECT_EQ(commands_of("cat <<A <<B\nx\nA\ny\nB\nls"), (Commands{"cat", "ls"}));
  EXPECT_EQ(commands_of("git commit -m \"$(cat <<'EOF'\nmessage\nEOF\n)\""), (Commands{"git commit -m $"}));
  for (const char* text : {"cat <<E\nx", "cat <<E\nx\\\nE\n", "cat <<$x\ny\n$x", "cat <<E \"a\nE\n\"\nx\nE",
                           "cat <<a\"b\"\nx\nab", "echo $(cat <<E); touch x\ny\nE", "cat <<E\n`touch x`\nE",
                           "cat <<E \\\n| sh\nx\nE"})
    EXPECT_FALSE(understood(text)) << text;
}

TEST(Parse, everyday_lines_are_understood) {
  for (const char* text : {"git status",
                           "cd src && make -j4 2>&1 | tail -20",
                           "for f in *.c; do echo \"$f\"; done",
                           "if [ -f a ]; then cat a; else echo none >&2; fi",
                           "find . -name '*.py' -not -path './x/*' | xargs grep -n foo",
                           "python3 -c 'print(1)'",
                           "echo \"a $HOME ${x:-b} $(date +%s)\"",
                           "npm test -- --grep 'a b'",
                           "while read -r l; do echo \"$l\"; done < f",
                           "cat > f <<'EOF'\nhello $x\nEOF",
                           "x=$(ls | wc -l); echo $x",
                           "[[ -f a && $x == y* ]] && ls",
                           "a=(1 2 3); echo ${a[@]}",
                           "ls \\\n  -l \\\n  -a",
                           "! grep -q x f",
                           "diff <(sort a) <(sort b)",
                           "case $x in a|b) ls;; *) pwd;; esac",
                           "f() { ls; }; f",
                           "((x > 1)) && ls",
                           "grep 'foo$' f; grep foo$ f",
                           "echo a{b,c}d {1..3}",
                           "ls; # done",
                           "time make",
                           "(cd x && ls)"})
    EXPECT_TRUE(understood(text)) << text << ": " << parse(text, {}).error().why;
}

TEST(Parse, typed_keys_and_odd_bytes_are_refused) {
  EXPECT_FALSE(understood("ls\tx", Dialect::Bash, Manner::Typed));
  EXPECT_TRUE(understood("ls\tx"));
  for (const char* text : {"ls \x01", "ls \x7f", "ls \xff", "ls\xc2\xa0x", "ls \xe2\x80\x8bx", "ls\rx"})
    EXPECT_FALSE(understood(text)) << text;
}

TEST(Parse, depth_is_bounded) {
  std::string deep = "ls";
  for (int i = 0; i < 5000; ++i) deep = "( " + deep + " )";
  EXPECT_FALSE(understood(deep));
  std::string substitutions = "ls";
  for (int i = 0; i < 5000; ++i) substitutions = "echo $(" + substitutions + ")";
  EXPECT_FALSE(understood(substitutions));
  std::string braces;
  for (int i = 0; i < 5000; ++i) braces += "${x:-";
  EXPECT_FALSE(understood("echo " + braces));
}

TEST(Parse, says_where_it_stopped) {
  const auto tree = parse("ls; echo ${!x}", {});
  ASSERT_FALSE(tree.has_value());
  EXPECT_EQ(tree.error().offset, 11U);
  EXPECT_NE(tree.error().why, "");
}

}  // namespace
}  // namespace ttyward::syntax
