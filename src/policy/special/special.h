// Readers for programs whose arguments are a language of their own.
//
// Each is named by `special` in programs.toml. They get the command with its
// words resolved and say what it does; what they cannot read they ask about.
#pragma once

#include "policy/danger.h"
#include "policy/judge.h"

namespace ttyward::policy::special {

void echo(Invocation& call, const ProgramRow& row);
void printf(Invocation& call, const ProgramRow& row);
void pass_through(Invocation& call, const ProgramRow& row);  // cat: prints what it is fed
void dirname(Invocation& call, const ProgramRow& row);
void translate(Invocation& call, const ProgramRow& row);  // tr and rev, as far as what they print is plain
void base64(Invocation& call, const ProgramRow& row);
void lister(Invocation& call, const ProgramRow& row);  // prints file names

void cd(Invocation& call, const ProgramRow& row);
void declare(Invocation& call, const ProgramRow& row);
void set(Invocation& call, const ProgramRow& row);
void shift(Invocation& call, const ProgramRow& row);
void pwd(Invocation& call, const ProgramRow& row);
void alias(Invocation& call, const ProgramRow& row);
void eval(Invocation& call, const ProgramRow& row);
void trap(Invocation& call, const ProgramRow& row);
void read(Invocation& call, const ProgramRow& row);
void test(Invocation& call, const ProgramRow& row);
void command(Invocation& call, const ProgramRow& row);
void exec(Invocation& call, const ProgramRow& row);
void poison(Invocation& call, const ProgramRow& row);  // what follows cannot be trusted
void unset(Invocation& call, const ProgramRow& row);
void printenv(Invocation& call, const ProgramRow& row);

void env(Invocation& call, const ProgramRow& row);
void source(Invocation& call, const ProgramRow& row);
void shell(Invocation& call, const ProgramRow& row);
void sudo(Invocation& call, const ProgramRow& row);
void xargs(Invocation& call, const ProgramRow& row);
void parallel(Invocation& call, const ProgramRow& row);
void remote(Invocation& call, const ProgramRow& row);
void multi_call(Invocation& call, const ProgramRow& row);
void interpreter(Invocation& call, const ProgramRow& row);
void any_inner(Invocation& call, const ProgramRow& row);

void find(Invocation& call, const ProgramRow& row);
void fd(Invocation& call, const ProgramRow& row);
void sed(Invocation& call, const ProgramRow& row);
void awk(Invocation& call, const ProgramRow& row);
void jq(Invocation& call, const ProgramRow& row);

void rm(Invocation& call, const ProgramRow& row);
void remove_trees(Invocation& call, const ProgramRow& row);
void service(Invocation& call, const ProgramRow& row);
void shred(Invocation& call, const ProgramRow& row);
void relay(Invocation& call, const ProgramRow& row);  // nc, socat
void database(Invocation& call, const ProgramRow& row);
void move(Invocation& call, const ProgramRow& row);
void change_mode(Invocation& call, const ProgramRow& row);
void dd(Invocation& call, const ProgramRow& row);
void tar(Invocation& call, const ProgramRow& row);
void unzip(Invocation& call, const ProgramRow& row);
void kill(Invocation& call, const ProgramRow& row);
void killall(Invocation& call, const ProgramRow& row);
void rsync(Invocation& call, const ProgramRow& row);
void output_argument(Invocation& call, const ProgramRow& row);  // a second argument is written
void few_arguments(Invocation& call, const ProgramRow& row);    // more than one argument changes something
void date(Invocation& call, const ProgramRow& row);
void curl(Invocation& call, const ProgramRow& row);

void ldd(Invocation& call, const ProgramRow& row);
void top(Invocation& call, const ProgramRow& row);
void compress(Invocation& call, const ProgramRow& row);
void ps(Invocation& call, const ProgramRow& row);
void pager(Invocation& call, const ProgramRow& row);
void grep(Invocation& call, const ProgramRow& row);
void lsof(Invocation& call, const ProgramRow& row);
void ag(Invocation& call, const ProgramRow& row);
void ss(Invocation& call, const ProgramRow& row);
void diff(Invocation& call, const ProgramRow& row);
void getent(Invocation& call, const ProgramRow& row);
void man(Invocation& call, const ProgramRow& row);
void build(Invocation& call, const ProgramRow& row);
void disk_tool(Invocation& call, const ProgramRow& row);
void container_run(Invocation& call, const ProgramRow& row);

void git(Invocation& call, const ProgramRow& row);
void git_ls_files(Invocation& call, const ProgramRow& row);
void git_list(Invocation& call, const ProgramRow& row);
void git_config(Invocation& call, const ProgramRow& row);
void git_reflog(Invocation& call, const ProgramRow& row);
void fed_commands(Invocation& call, const ProgramRow& row);  // at, crontab, make -f -, ed: their input is run
void git_push(Invocation& call, const ProgramRow& row);
void git_diff(Invocation& call, const ProgramRow& row);

}  // namespace ttyward::policy::special
