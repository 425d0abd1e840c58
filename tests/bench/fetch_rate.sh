#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fetch_rate.sh BUILD_FOLDER [MIB] [ROUNDS] [FOLDER]: how fast belfry-cli get brings a file of MIB (1024) from
# a server of this computer to FOLDER's disk (a folder of its own below it; default: the system's for
# temporary files), hashing included, beside what curl does with the same file from the same server. One
# after the other, ROUNDS (5) times; the ratio is that of the medians. Needs curl and the target hub_standin.
#
# What bounds it: 512 MiB cost curl 0.30 s of processor time and get 0.73 s, of which 0.33 s are SHA-256 by the
# processor's own instructions (1.6 GB/s, the latency of one stream), 0.27 s the same reading and writing as
# curl's, the rest Qt's buffers. On two cores of their own, server included, get took 0.43 s and curl 0.30 s
# (69 %; 0.57 s before writing and hashing had a thread each): both cores were full. With 16 cores (Xeon, an
# H100's host) and 1024 MiB: 71 and 74 % into memory (get 1192 and 1141 MB/s), 54 % (747 MB/s) onto its disk:
# the hash is one stream that cannot be divided, and takes 0.66 s of get's 0.9 s if that processor hashes as
# this one (not taken apart there). Two cores that others use as well give each program its share of them.
set -eu
build=$1
mib=${2:-1024}
rounds=${3:-5}
work=$(mktemp -d "${4:-${TMPDIR:-/tmp}}/belfry-fetch-XXXXXX")
trap 'exec 3>&-; rm -rf "$work"' EXIT
mkdir "$work/model"
printf '{"model_type": "gemma4"}' >"$work/model/config.json"
head -c "$((mib * 1048576))" /dev/urandom >"$work/model/model.safetensors"
mkfifo "$work/end"
"$build/tests/hub_standin" org/m "$work/model" <"$work/end" >"$work/told" &
exec 3>"$work/end" # the server ends when this does
until grep -q HF_ENDPOINT "$work/told"; do sleep 0.2; done
HF_ENDPOINT=$(sed -n 's/^HF_ENDPOINT=//p' "$work/told")
export HF_ENDPOINT
commit=$(printf 'b%.0s' $(seq 40))
now() { date +%s.%N; }
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    begin=$(now)
    curl -sfL -o "$work/curl" "$HF_ENDPOINT/org/m/resolve/$commit/model.safetensors"
    end=$(now)
    echo "curl $begin $end" >>"$work/times"
    rm -f "$work/curl"
    begin=$(now)
    HF_HOME=$work/home "$build/app/belfry-cli" get org/m --json >"$work/answer"
    end=$(now)
    echo "get $begin $end" >>"$work/times"
    rm -rf "$work/home"
done
awk -v mib="$mib" '
    { rate[$1, ++count[$1]] = mib * 1.048576 / ($3 - $2) }
    function median(who,   i, j, n, t, v) {
        n = count[who]
        for (i = 1; i <= n; ++i) { v[i] = rate[who, i] }
        for (i = 1; i <= n; ++i) for (j = i + 1; j <= n; ++j) if (v[j] < v[i]) { t = v[i]; v[i] = v[j]; v[j] = t }
        return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
    }
    END {
        c = median("curl"); g = median("get")
        printf "curl %.0f MB/s, belfry-cli get %.0f MB/s: %.0f %%\n", c, g, 100 * g / c
    }' "$work/times"
