# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# support: what every bench-* script loads.
#
#	. "${BASH_SOURCE%/*}/support.bash"
#	enter_private "$@"
#
# $RESULTS: the folder for tables and plots. $PROGRAMS: the folder of the compiled programs.

: "${IDMAP_BUILDDIR:=$PWD}"
BENCHES=$(realpath "${BASH_SOURCE%/*}")
: "${IDMAP_SRCDIR:=${BENCHES%/tests/bench}}"
export PROGRAMS=$IDMAP_BUILDDIR/tests/bench
export RESULTS=$IDMAP_BUILDDIR/bench
export IDMAP_BUILDDIR IDMAP_SRCDIR
mkdir -p "$RESULTS"

# Run this script again in the private namespaces of the tests, if it is not there yet.
enter_private() {
	[ -z "${HELPERS_SETUID-}" ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		echo "${0##*/}: needs root, to make files, users and namespaces of its own" >&2
		exit 1
	fi
	exec "$IDMAP_SRCDIR/tests/in-private" "$0" "$@"
}

# as_alice CMD [ARG]...: as the ordinary user of the tests, without capabilities.
as_alice() {
	HOME=/run/home/alice USER=alice LOGNAME=alice XDG_RUNTIME_DIR=/run/user/1001 \
		setpriv --reuid alice --regid alice --init-groups --inh-caps=-all -- "$@"
}

# medians RUNS ROUNDS [OPTION]... -- COMMAND...: time whole processes by hyperfine, as alice and
# without a shell between; print the median of each COMMAND in ms, one a line. The commands take
# turns for ROUNDS rounds of RUNS runs, so that what else the machine does hits all alike.
medians() {
	local runs=$1 rounds=$2 options=() round csv log
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	csv=$(mktemp -d)
	chmod 777 "$csv"
	log=$csv/log
	for ((round = 0; round < rounds; round++)); do
		as_alice hyperfine -N --style basic --runs "$runs" "${options[@]}" \
			--export-csv "$csv/$round.csv" -- "$@" >"$log" 2>&1 || {
			cat "$log" >&2
			return 1
		}
	done
	local line
	for ((line = 2; line < $# + 2; line++)); do
		sed -sn "${line}p" "$csv"/*.csv | awk -F, '{ print $4 * 1000 }' | median
	done
	rm -r "$csv"
}

# The median of the numbers on stdin.
median() {
	sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# of_best: on stdin a number and figures, separated by tabs; on stdout behind each figure what it is of
# the best in its column.
of_best() {
	awk -F '\t' '{
		for (i = 1; i <= NF; i++) {
			value[NR, i] = $i
			if ($i > best[i])
				best[i] = $i
		}
	}
	END {
		for (row = 1; row <= NR; row++) {
			printf "%s", value[row, 1]
			for (i = 2; i <= NF; i++)
				printf "\t%s\t%.2f", value[row, i], value[row, i] / best[i]
			print ""
		}
	}'
}

# publish NAME: show the table on stdin and keep it.
publish() {
	column -t -s $'\t' | tee "$RESULTS/$1.txt"
}

# plot NAME: gnuplot's commands on stdin draw NAME.svg; $data is NAME.tsv.
plot() {
	gnuplot - <<-END
		set terminal svg size 900,500 dynamic background rgb 'white'
		set output '$RESULTS/$1.svg'
		set datafile separator tab
		data = '$RESULTS/$1.tsv'
		$(cat)
	END
}

# Owners of the files in the benchmarks below: 340 outer IDs, 1000, 1002, .. 1678.
owner() {
	echo $((1000 + 2 * ($1 % 340)))
}

# make_namespaces N...: user namespaces that idmap sets up with N extents each; their PIDs are in
# NAMESPACES. All owners are mapped, in N equal shares: with 5 the first extent is 0:1000:135, for
# 68 owners, the next one 136:1136:135; the gap keeps them from being merged.
make_namespaces() {
	local n i maps
	NAMESPACES=()
	for n; do
		unshare -U sleep infinity &
		NAMESPACES+=("$!")
		until [ "$(readlink "/proc/$!/ns/user")" != "$(readlink /proc/self/ns/user)" ]; do
			sleep 0.01
		done
		maps=()
		for ((i = 0; i < n; i++)); do
			local from=$((340 * i / n)) to=$((340 * (i + 1) / n))
			maps+=("$((2 * from)):$((1000 + 2 * from)):$((2 * (to - from) - 1))")
		done
		"$IDMAP" "$!" "${maps[@]}"
	done
}
