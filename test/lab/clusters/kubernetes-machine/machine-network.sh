# The network that a lab's machines share, and what is done with all of them. machine.sh and vm-machine.sh read this; `down` is theirs.

lab=kubelab
source "$(dirname "$(readlink -f "$0")")/../../lab.sh"
# Names of namespaces and cgroups begin with this.
prefix=kubelab-$(cksum <<<"$dir" | cut -d ' ' -f 1)
lan=$prefix-lan
addresses=${KUBELAB_PREFIX:-10.77.0}

lan() {
  mkdir -p "$dir/machines" "$dir/seeds"
  ! [ -e "/run/netns/$lan" ] || return 0
  ip netns add "$lan"
  ip -n "$lan" link set lo up
  ip -n "$lan" link add br0 type bridge
  ip -n "$lan" link set br0 up
  ip -n "$lan" addr add "$addresses.1/24" dev br0
  watch_owner "$dir/machines"
}

# Not by `ip netns exec`, whose mounts hide the cgroups and new namespaces.
in_lan() { exec nsenter --net="/run/netns/$lan" "$@"; }

list() { ls "$dir/machines" 2>/dev/null || true; }

destroy() {
  local name
  for name in $(list); do
    down "$name"
  done
  ip netns del "$lan" 2>/dev/null || true
  rm -rf "$dir"
}
