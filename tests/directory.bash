# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# directory: a directory service that grants IDs, for tests to fill. tests/root/libsubid_directory.c is
# its plugin.

PLUGINS=/run/lib
DIRECTORY=/run/directory

# Put the plugins where ld.so finds them, without a word to the machine's own cache of it.
install_plugins() {
	install -d "$PLUGINS" "$DIRECTORY"
	install -m 755 "$IDMAP_BUILDDIR"/tests/root/libsubid_*.so "$PLUGINS"
	echo "$PLUGINS" >/etc/ld.so.conf.d/plugins.conf
	[ ! -d /var/cache/ldconfig ] || mount -t tmpfs tmpfs /var/cache/ldconfig
	ldconfig -X
}

# service NAME: nsswitch.conf says that NAME has the grants.
service() {
	sed -i '/^subid:/d' /etc/nsswitch.conf
	echo "subid: $1" >>/etc/nsswitch.conf
}

# offers KEY LINE...: what the plugin says or does when it is asked for KEY, alice.uid or 100000.gid.
offers() {
	printf '%s\n' "${@:2}" >"$DIRECTORY/$1"
}

# withdraw: the service knows nobody.
withdraw() {
	rm -f "$DIRECTORY"/*
}
