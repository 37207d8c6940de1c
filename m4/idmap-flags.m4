# SPDX-License-Identifier: BSD-2-Clause
#
# Probes for compiler and linker flags. Each flag is tried alone and with -Werror: clang takes an
# unknown -W with a mere warning, gcc takes an unknown -Wno- in silence (so none is listed), and
# _FORTIFY_SOURCE warns when it can't work. The loops are the shell's, since m4_foreach_w would
# split "-Wl,-z,relro" at its commas.

# IDMAP_TRY_FLAG(FLAG, IF-GOOD, [IF-BAD])
# Does a program that includes a libc header compile and link with FLAG?
AC_DEFUN([IDMAP_TRY_FLAG], [
	AC_MSG_CHECKING([whether $CC takes $1])
	idmap_saved_CFLAGS=$CFLAGS
	CFLAGS="$CFLAGS -Werror $1"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdlib.h>]], [[return abs(0);]])],
		[idmap_flag_works=yes], [idmap_flag_works=no])
	CFLAGS=$idmap_saved_CFLAGS
	AC_MSG_RESULT([$idmap_flag_works])
	AS_IF([test "$idmap_flag_works" = yes], [$2], [$3])
])

# IDMAP_APPEND_FLAGS(VARIABLE, FLAGS)
# Append to VARIABLE each of FLAGS (separated by blanks) that works, and substitute it.
AC_DEFUN([IDMAP_APPEND_FLAGS], [
	for idmap_flag in m4_normalize([$2]); do
		IDMAP_TRY_FLAG([$idmap_flag], [AS_VAR_APPEND([$1], [" $idmap_flag"])])
	done
	AC_SUBST([$1])
])
