#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ubuntu.sh OUT_FOLDER COMMIT [-D...]: the .deb for Ubuntu 24.04, built in a system of its own below build/ (as
# root; Ubuntu's own mirror, or BELFRY_UBUNTU_MIRROR). Ubuntu's archive keys are no package of Debian
# 12: BELFRY_UBUNTU_KEYRING names their file where it is not /usr/share/keyrings/ubuntu-archive-keyring.gpg.
# Called by installer/release.sh --ubuntu. GPU kernels are compiled where /usr/local/cuda has nvcc.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$(cd "$1" && pwd)
commit=$2
shift 2
keyring=${BELFRY_UBUNTU_KEYRING:-/usr/share/keyrings/ubuntu-archive-keyring.gpg}
if [ "$(id -u)" -ne 0 ] || [ ! -r "$keyring" ]; then
    echo "ubuntu.sh: needs root, and Ubuntu's archive keys in $keyring (or BELFRY_UBUNTU_KEYRING):" >&2
    echo "they are in Ubuntu's package ubuntu-keyring, usr/share/keyrings/ubuntu-archive-keyring.gpg" >&2
    exit 1
fi
system=$root/build/ubuntu-24.04
if [ ! -f "$system/etc/belfry-ready" ]; then
    # Debian 12's debootstrap is older than noble, whose script is that of all of Ubuntu.
    script=/usr/share/debootstrap/scripts/noble
    [ -e "$script" ] || script=/usr/share/debootstrap/scripts/gutsy
    debootstrap --variant=minbase --keyring="$keyring" --components=main,universe noble "$system" \
        "${BELFRY_UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}" "$script"
    touch "$system/etc/belfry-ready"
fi
rm -rf "$system/belfry"
mkdir -p "$system/belfry" "$system/usr/local/cuda"
git -c safe.directory="$root" -C "$root" archive "$commit" | tar -x -C "$system/belfry"
cp -L /etc/resolv.conf "$system/etc/resolv.conf"
cat >"$system/belfry-build.sh" <<END
set -eu
cd /belfry
apt-get update -q
packages=\$(sed -e 's/#.*//' scripts/packages.txt)
DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \$packages dpkg-dev lintian
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DBELFRY_BUILD_TESTS=OFF -DBELFRY_PACKAGED=ON \
    -DBELFRY_COMMIT=$commit -DBELFRY_RELEASE_DATE=$(date -u -d "@$SOURCE_DATE_EPOCH" +%F) \
    "-DBELFRY_CUDA_ARCHS=75;80;86;89;90;120;75-virtual;90-virtual" $*
cmake --build build -j $(nproc)
export SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH
sh installer/linux/deb.sh build out
lintian --fail-on error out/*.deb
END
# Mounts in a name space of their own: they are gone when the command ends, however it ends.
BELFRY_SYSTEM=$system unshare --mount --pid --fork sh -euc '
    mount -t proc proc "$BELFRY_SYSTEM/proc"
    [ ! -d /usr/local/cuda ] || mount --rbind -o ro /usr/local/cuda "$BELFRY_SYSTEM/usr/local/cuda"
    chroot "$BELFRY_SYSTEM" sh /belfry-build.sh'
cp "$system"/belfry/out/*.deb "$out/"
