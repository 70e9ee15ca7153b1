# Common code of the labs' scripts. Each script sets `lab` to its name and sources this file. `dir` is then the
# directory for its files, and `self` the script. Environment variables start with the lab's name in capitals, such as
# PODMAN_DIR.

self=$(readlink -f "$0")
lab_variable=${lab^^}_DIR
dir=${!lab_variable:-/tmp/hostplane-$lab}

say() { echo "$lab $dir: $*" >&2; }
die() { say "$*"; exit 1; }
millis() { date +%s%3N; }

# install_missing PACKAGE...: installs the Debian packages that are missing
install_missing() {
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]}"
  apt-get update -qq -o DPkg::Lock::Timeout=600 || true
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o DPkg::Lock::Timeout=600 "${missing[@]}" >/dev/null
}

# watch_owner MARK: destroys the lab when its test is killed and cannot clean up. Ends when the file or directory MARK
# is gone.
watch_owner() {
  local owner=${lab^^}_OWNER_PID
  [ -n "${!owner:-}" ] || return 0
  setsid env "$owner=" "$lab_variable=$dir" bash -c '
    while [ -d "/proc/$1" ] && [ -e "$2" ]; do sleep 1; done
    [ ! -e "$2" ] || exec bash "$3" destroy
  ' watch "${!owner}" "$1" "$self" >/dev/null 2>&1 </dev/null &
}
