/* ttyward for C, and for every language that can call C: run a command and learn exactly how it ended, show
 * what bytes for a terminal would look like, ask what policy says to a command line.
 *
 *   cc yours.c -lttyward-c
 *
 * Promises: functions and structures are only added to, never changed, while TTYWARD_ABI stays the same.
 * Structures carry their size, so that a program built against an older header keeps working. No exception
 * leaves the library, and no signal handler is installed. Texts are UTF-8; what is not becomes U+FFFD. All
 * functions may be called from several threads at once. */
#ifndef TTYWARD_H
#define TTYWARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TTYWARD_ABI 1

/* The ABI of the library that is loaded; it must be TTYWARD_ABI. */
int ttyward_abi(void);
/* Its version, such as "0.1.0". */
const char* ttyward_version(void);

/* How to run a command. Set everything to 0 and `size` to sizeof(ttyward_run_options), then what you need. */
typedef struct ttyward_run_options {
  size_t size;
  const char* cwd; /* NULL: this process's */
  const char* const*
      environment; /* NAME=value …, ended by NULL, beside the harmless part of this process's; NULL: none */
  uint64_t timeout_ms;        /* 0: no limit */
  uint64_t input_patience_ms; /* with a command that asks what nobody can answer; 0: a second */
} ttyward_run_options;

/* How a command ended. Texts belong to it, and are gone with it. */
typedef struct ttyward_result ttyward_result;

/* Runs a line of bash in a terminal of its own, and waits for its end. `options` may be NULL. NULL only if
 * `command` is NULL, `options` is not right, or there is no memory. Free it with ttyward_result_free. */
ttyward_result* ttyward_run(const char* command, const ttyward_run_options* options);
void ttyward_result_free(ttyward_result* result); /* NULL is fine */

/* "exited", "signaled", "timed_out", "awaiting_input", "failed_to_start", … */
const char* ttyward_result_state(const ttyward_result* result);
/* 1, and the code; 0 if there was none, because none was observed. */
int ttyward_result_exit_code(const ttyward_result* result, int* code);
/* The signal that killed it, such as "KILL"; "" if none did. */
const char* ttyward_result_signal(const ttyward_result* result);
/* What it printed, as a person would have seen it. `length` may be NULL. */
const char* ttyward_result_output(const ttyward_result* result, size_t* length);
/* Why, where the state needs a reason; else "". */
const char* ttyward_result_reason(const ttyward_result* result);
/* What a shell would make of it: the code, 128 + signal, 124 for a time limit. */
int ttyward_result_shell_code(const ttyward_result* result);
int64_t ttyward_result_duration_ms(const ttyward_result* result);

/* What a terminal of this size shows after these bytes, as "text", "ansi", "json", "html" or "svg". NULL: the
 * format is not one of these, a size is not between 1 and 10000, or there is no memory. Free it with
 * ttyward_free. */
char* ttyward_render(const char* bytes, size_t length, int columns, int rows, const char* format);

/* What policy says to a command line of an agent in this folder, with no rules of anybody's, as JSON:
 * decision ("allow", "ask" or "deny"), risk, reasons, effects. NULL: an argument is NULL, or there is no
 * memory. Free it with ttyward_free. */
char* ttyward_check(const char* command, const char* cwd);

void ttyward_free(char* text); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
