/* SPDX-License-Identifier: BSD-2-Clause */
#include "privs.h"

#include <errno.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

static cap_value_t capability(enum id_kind kind)
{
	return kind == ID_UID ? CAP_SETUID : CAP_SETGID;
}

/* Hold those of CAPS that are permitted now and nothing else; IN_EFFECT: also in effect. Returns how
 * many those are, up to the first that is not, or -errno. */
static int hold(const cap_value_t *caps, int n, bool in_effect)
{
	cap_t have = cap_get_proc(), want = cap_init();
	cap_flag_value_t permitted = CAP_SET;
	int held = 0, r;

	while (have && want && held < n) {
		cap_get_flag(have, caps[held], CAP_PERMITTED, &permitted);
		if (permitted == CAP_CLEAR)
			break;
		held++;
	}
	if (have && want) {
		cap_set_flag(want, CAP_PERMITTED, held, caps, CAP_SET);
		cap_set_flag(want, CAP_EFFECTIVE, in_effect ? held : 0, caps, CAP_SET);
	}
	r = have && want && cap_set_proc(want) == 0 ? held : -errno;
	cap_free(have);
	cap_free(want);
	return r;
}

int privs_narrow(enum id_kind kind)
{
	const cap_value_t keep[] = {capability(kind), CAP_SETFCAP};
	uid_t uid = getuid();
	int r;

	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	r = hold(keep, kind == ID_UID ? 2 : 1, false);
	if (r < 0)
		return r;
	if (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) < 0)
		return -errno;
	return uid != 0 && setresuid(uid, 0, uid) == 0 ? -ENOTRECOVERABLE : 0;
}

int privs_raise(enum id_kind kind, bool with_setfcap)
{
	const cap_value_t keep[] = {capability(kind), CAP_SETFCAP};

	return hold(keep, with_setfcap ? 2 : 1, true);
}

int privs_drop(void)
{
	cap_t want = cap_from_text("cap_setuid,cap_setgid,cap_setfcap=ep");
	uid_t uid = getuid();
	/* One that our user namespace lacks can't be set, and needs not where it is the only one. */
	bool same = uid == geteuid();
	int r = !same && setresuid(uid, uid, uid) < 0 ? -errno : hold(NULL, 0, false);

	if (r == 0 && (!want || cap_set_proc(want) == 0))
		r = -ENOTRECOVERABLE;
	cap_free(want);
	return r;
}
