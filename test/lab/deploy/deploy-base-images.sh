#!/usr/bin/env bash
# Creates replacements for the images debian:bookworm-slim and node:26-bookworm-slim, for hosts without a registry:
# debian.tar and node.tar. The first is a minimal Debian without the files that the published image leaves out; the
# second adds this clone's Node, this host's npm and trusted CAs, and the user `node`. Usage: deploy-base-images.sh
# DIRECTORY
set -euo pipefail

lab=image
source "$(dirname "$(readlink -f "$0")")/../lab.sh"
target=$1
clone=$(dirname "$self")/../../..

# make_base NAME OPTION...: does nothing if the image exists
make_base() {
  local name=$1 excluded options=()
  shift
  [ ! -s "$target/$name.tar" ] || return 0
  for excluded in doc groff info lintian locale man; do
    options+=("--dpkgopt=path-exclude=/usr/share/$excluded/*")
  done
  # Without usr-is-merged, apt would install usrmerge, which depends on all of Perl: 46 MB.
  mmdebstrap --quiet --variant=minbase --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
    "${options[@]}" --dpkgopt='path-include=/usr/share/doc/*/copyright' "$@" bookworm "$target/$name.part.tar"
  mv "$target/$name.part.tar" "$target/$name.tar"
}

{ [ ! -s "$target/debian.tar" ] || [ ! -s "$target/node.tar" ]; } || exit 0
install_missing mmdebstrap ca-certificates
mkdir -p "$target"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/usr/local/{bin,etc,lib/node_modules} "$tree/etc/ssl/certs"
cp "$(readlink -f "$clone/node_modules/.bin/node")" "$tree/usr/local/bin/node"
cp "$(dirname "$(readlink -f "$clone/node_modules/.bin/node")")/../LICENSE" "$tree/usr/local/"
# npm is bin/npm-cli.js in its package.
cp -a "$(readlink -f "$(dirname "$(readlink -f "$(command -v npm)")")/..")" "$tree/usr/local/lib/node_modules/npm"
for command in npm npx; do
  ln -s "../lib/node_modules/npm/bin/$command-cli.js" "$tree/usr/local/bin/$command"
done
cp /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"
echo 'cafile=/etc/ssl/certs/ca-certificates.crt' >"$tree/usr/local/etc/npmrc"
make_base debian --include=usr-is-merged
make_base node --include=usr-is-merged,libatomic1 --customize-hook="sync-in $tree /" \
  --customize-hook='chroot "$1" groupadd --gid 1000 node' \
  --customize-hook='chroot "$1" useradd --uid 1000 --gid node --create-home node'
