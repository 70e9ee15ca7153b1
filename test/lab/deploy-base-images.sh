#!/usr/bin/env bash
# Makes what stands for the image node:26-bookworm-slim where there is no registry of images: Debian's smallest system, this
# clone's Node and this host's npm, and the user `node`. Usage: deploy-node-image.sh FILE.tar
# It trusts the authorities that this host trusts.
set -euo pipefail

lab=image
source "$(dirname "$(readlink -f "$0")")/lab.sh"
target=$1
clone=$(dirname "$self")/../..

[ ! -s "$target" ] || exit 0
install_missing mmdebstrap ca-certificates
mkdir -p "$(dirname "$target")"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/usr/local/bin" "$tree/usr/local/etc" "$tree/usr/local/lib/node_modules" "$tree/etc/ssl/certs"
cp "$(readlink -f "$clone/node_modules/.bin/node")" "$tree/usr/local/bin/node"
cp -a "$(npm root --global 2>/dev/null)/npm" "$tree/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$tree/usr/local/bin/npm"
cp /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"
echo 'cafile=/etc/ssl/certs/ca-certificates.crt' >"$tree/usr/local/etc/npmrc"
mmdebstrap --quiet --variant=minbase --include=libatomic1 --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --customize-hook="sync-in $tree /" \
  --customize-hook='chroot "$1" groupadd --gid 1000 node' \
  --customize-hook='chroot "$1" useradd --uid 1000 --gid node --create-home node' \
  bookworm "$target.part.tar"
mv "$target.part.tar" "$target"
