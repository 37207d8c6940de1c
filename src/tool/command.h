/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * command: the verbs. idmap.c finds the verb and hands over argc and argv from the verb's own word
 * on, with "idmap" in argv[0]'s place for getopt's messages; what a verb returns is the exit
 * status: 0 done, 1 refused or failed, 2 usage. A verb answers -h and --help itself.
 */

enum { COMMAND_DONE = 0, COMMAND_FAILED = 1, COMMAND_USAGE = 2 };

int cmd_write(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_lookup(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_who(int argc, char **argv);

/* Print "idmap: MESSAGE" on stderr and free MESSAGE (NULL: no memory was left for it). Returns
 * STATUS, to be returned in turn. */
int command_fail(int status, char *message);
