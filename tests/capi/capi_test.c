/* The C interface, from C. */
#include "capi/ttyward.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

static void runs_commands(void) {
  int code = -1;
  size_t length = 0;
  ttyward_result* result = ttyward_run("echo hello; exit 3", NULL);
  EXPECT(result != NULL);
  EXPECT(strcmp(ttyward_result_state(result), "exited") == 0);
  EXPECT(ttyward_result_exit_code(result, &code) == 1 && code == 3);
  EXPECT(strcmp(ttyward_result_output(result, &length), "hello\n") == 0 && length == 6);
  EXPECT(ttyward_result_shell_code(result) == 3);
  EXPECT(strcmp(ttyward_result_signal(result), "") == 0);
  EXPECT(ttyward_result_duration_ms(result) >= 0);
  ttyward_result_free(result);

  const char* const environment[] = {"GREETING=good morning", NULL};
  ttyward_run_options options = {.size = sizeof options, .cwd = "/", .environment = environment};
  result = ttyward_run("pwd; echo $GREETING; kill -KILL $$", &options);
  EXPECT(result != NULL);
  EXPECT(strcmp(ttyward_result_output(result, NULL), "/\ngood morning\n") == 0);
  EXPECT(strcmp(ttyward_result_state(result), "signaled") == 0);
  EXPECT(ttyward_result_exit_code(result, &code) == 0);
  EXPECT(strstr(ttyward_result_signal(result), "KILL") != NULL);
  ttyward_result_free(result);

  options.timeout_ms = 300;
  result = ttyward_run("sleep 100", &options);
  EXPECT(result != NULL && strcmp(ttyward_result_state(result), "timed_out") == 0);
  EXPECT(ttyward_result_shell_code(result) == 124);
  ttyward_result_free(result);

  options.size = 3;
  EXPECT(ttyward_run("true", &options) == NULL);
  EXPECT(ttyward_run(NULL, NULL) == NULL);
  ttyward_result_free(NULL);
}

static void renders(void) {
  char* text = ttyward_render("a\033[2Jone\rtwo\n", 14, 20, 3, "text");
  EXPECT(text != NULL && strstr(text, "two") != NULL && strstr(text, "one") == NULL);
  ttyward_free(text);
  EXPECT(ttyward_render("a", 1, 20, 3, "pdf") == NULL);
  EXPECT(ttyward_render("a", 1, 0, 3, "text") == NULL);
  EXPECT(ttyward_render("a", 1, 20, 1000000, "text") == NULL);
}

static void checks(void) {
  char* verdict = ttyward_check("ls -l", "/tmp");
  EXPECT(verdict != NULL && strstr(verdict, "\"allow\"") != NULL);
  ttyward_free(verdict);
  verdict = ttyward_check("rm -rf /", "/tmp");
  EXPECT(verdict != NULL && strstr(verdict, "\"allow\"") == NULL);
  ttyward_free(verdict);
  EXPECT(ttyward_check(NULL, "/") == NULL);
  ttyward_free(NULL);
}

int main(void) {
  EXPECT(ttyward_abi() == TTYWARD_ABI);
  EXPECT(strlen(ttyward_version()) >= 5);
  runs_commands();
  renders();
  checks();
  puts("all well");
  return 0;
}
