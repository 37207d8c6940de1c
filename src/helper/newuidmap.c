/* SPDX-License-Identifier: BSD-2-Clause */
#include "helper.h"

int main(int argc, char **argv)
{
	return helper_main(ID_UID, argc, argv);
}
