/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * setting: the two questions the helpers ask of the system's configuration. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

/*
 * login.defs(5): is NAME set to yes (in any case)? Of several lines the last counts; a value may
 * stand in double quotes; no line means no.
 */
bool setting_login_defs(const char *text, size_t len, const char *name);

/*
 * nsswitch.conf(5): the first service of database subid. Returns false when the files are meant
 * (no line, an empty one, or "files") and leaves "", else true with the name, cut to 63 bytes.
 */
bool setting_subid_service(const char *text, size_t len, char ret_service[64]);
