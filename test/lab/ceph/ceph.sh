#!/usr/bin/env bash
# A Ceph cluster with an S3 endpoint, for tests that need a real one. See ../README.md.
usage() {
  cat <<'TEXT'
usage: ceph.sh COMMAND

  prepare           install missing packages on this host (apt)
  up                create and start the cluster; does nothing if it is up
  s3-user NAME      create an S3 user; prints {"accessKeyId": ..., "secretAccessKey": ...}
  s3-session NAME   the same with keys that are valid for an hour and need the printed "sessionToken"
  start DAEMON      start a stopped daemon: mon.a mgr.a osd.0 .. mds.a rgw.a
  stop DAEMON       kill a daemon
  pause DAEMON      suspend a daemon until it is resumed
  resume DAEMON
  crash DAEMON      make a daemon abort and post its crash report; it stays stopped
  status            print for each daemon whether it is up, its process id and memory; exit code 1 if one is down
  destroy           kill every daemon and delete the directory

environment (default)
  CEPH_DIR (/tmp/hostplane-ceph)   directory of all files; at most 80 characters, because of unix sockets
  CEPH_OSDS (1)                    number of disks
  CEPH_MGRS (1)                    number of managers, of which one is active: mgr.a mgr.b ..
  CEPH_MDSS (0)                    number of metadata servers: mds.a mds.b ..; with any there is a filesystem, cephfs
  CEPH_STORE (memstore)            how disks are stored: memstore in memory, or bluestore in sparse files
  CEPH_DISK_BYTES (8 GiB)          size of each disk
  CEPH_OWNER_PID ()                destroy the cluster when this process ends

CEPH_DIR has files for clients: ceph.conf (of client.admin), s3-url, s3-https-url, and the self-signed cert.pem.
TEXT
}
set -euo pipefail

lab=ceph
source "$(dirname "$(readlink -f "$0")")/../lab.sh"
conf=$dir/ceph.conf
export CEPH_CONF=$conf
unset CEPH_ARGS CEPH_KEYRING

prepare() { install_missing ceph-mon ceph-mgr ceph-osd ceph-mds ceph-common radosgw openssl curl; }

# --- daemons ---------------------------------------------------------------------------------------------

daemons() {
  local number
  echo mon.a
  lettered mgr "$(cat "$dir/mgrs")"
  for ((number = 0; number < $(cat "$dir/osds"); number++)); do echo "osd.$number"; done
  lettered mds "$(cat "$dir/mdss")"
  echo rgw.a
}

# lettered KIND COUNT: KIND.a KIND.b ..
lettered() {
  local letters=abcdefghi number
  for ((number = 0; number < $2; number++)); do echo "$1.${letters:number:1}"; done
}

# Reads the process id of a daemon. It counts only if that process was started with this cluster's configuration.
pid_of() {
  local pid
  pid=$(cat "$dir/run/$1.pid" 2>/dev/null) && [ -n "$pid" ] &&
    tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF -- "$conf" && echo "$pid"
}

# The daemons move to the background once they have read their configuration. Waits for S3.
start() {
  local daemon=$1 program
  ! pid_of "$daemon" >/dev/null || return 0
  case $daemon in
    rgw.*) program=(radosgw -n "client.$daemon") ;;
    mon.* | mgr.* | osd.* | mds.*) program=("ceph-${daemon%.*}" -i "${daemon#*.}") ;;
    *) die "no daemon $daemon" ;;
  esac
  "${program[@]}" -c "$conf" </dev/null >>"$dir/log/$daemon.out" 2>&1 ||
    { tail -n 20 "$dir/log/$daemon".* >&2; die "$daemon does not start"; }
  [ "$daemon" != rgw.a ] || wait_for_s3
}

stop() {
  local pid
  pid=$(pid_of "$1") || return 0
  kill -KILL "$pid" 2>/dev/null || true
  while pid_of "$1" >/dev/null; do sleep 0.05; done
}

signal() {
  local pid
  pid=$(pid_of "$2") || die "$2 does not run"
  kill "-$1" "$pid"
}

crash() {
  local pid report deadline=$(($(millis) + 30000))
  pid=$(pid_of "$1") || die "$1 does not run"
  kill -ABRT "$pid"
  # The report's directory exists before the report is complete; the file `done` marks that.
  until report=$(find "$dir/crash" -mindepth 2 -name done 2>/dev/null | head -n 1) && [ -n "$report" ]; do
    [ "$(millis)" -lt "$deadline" ] || die "$1 left no report"
    sleep 0.1
  done
  while pid_of "$1" >/dev/null; do sleep 0.05; done
  ceph crash post -i "$(dirname "$report")/meta"
  rm -r "$(dirname "$report")"
}

status() {
  local daemon pid down=0
  [ -e "$dir/osds" ] || { echo down; return 1; }
  for daemon in $(daemons); do
    if pid=$(pid_of "$daemon"); then
      echo "$daemon up pid=$pid rssMiB=$(awk '/^VmRSS/ { print int($2 / 1024) }' "/proc/$pid/status")"
    else
      echo "$daemon down"
      down=1
    fi
  done
  return $down
}

# --- creation --------------------------------------------------------------------------------------------

# Ten ports for fixed addresses and ninety for the others, below the kernel's range for outgoing connections.
choose_ports() {
  local base offset
  while :; do
    base=$((12000 + RANDOM % 200 * 100))
    for offset in 0 1 2 3; do
      ! (exec 3<>"/dev/tcp/127.0.0.1/$((base + offset))") 2>/dev/null || continue 2
    done
    echo "$base"
    return 0
  done
}

write_configuration() {
  local base=$1 fsid=$2
  cat >"$conf" <<FILE
[global]
fsid = $fsid
mon host = [v2:127.0.0.1:$base,v1:127.0.0.1:$((base + 1))]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
ms bind port min = $((base + 10))
ms bind port max = $((base + 99))
keyring = $dir/keys/\$name
run dir = $dir/run
log file = $dir/log/\$type.\$id.log
pid file = $dir/run/\$type.\$id.pid
admin socket = $dir/run/\$type.\$id.asok
crash dir = $dir/crash
auth allow insecure global id reclaim = false
# Allows replicas on a single host.
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pg autoscale mode = off
mon max pg per osd = 800
[mon]
mon data = $dir/mon
# The default is /var/log/ceph.
mon cluster log file = $dir/log/cluster.\$channel.log
mon allow pool size one = true
mon warn on pool no redundancy = false
mon allow pool delete = true
# A daemon aborts when its disk is really full.
mon osd full ratio = 0.85
mon osd backfillfull ratio = 0.80
mon osd nearfull ratio = 0.75
mon data avail warn = 3
mon data avail crit = 1
# The defaults wait for other monitors.
paxos min wait = 0.01
paxos propose interval = 0.1
mon tick interval = 1
mon mgr beacon grace = 10
[mgr]
mgr data = $dir/mgr.\$id
mgr initial modules =
# Loading a module costs up to a second, whether it is enabled or not.
mgr disabled modules = alerts,cephadm,dashboard,diskprediction_local,influx,insights,k8sevents,localpool,mirroring,nfs,osd_perf_query,osd_support,prometheus,restful,rook,selftest,snap_schedule,stats,telegraf,test_orchestrator,zabbix
mgr stats period = 1
mgr tick period = 1
[osd]
osd data = $dir/osd.\$id
osd objectstore = ${CEPH_STORE:-memstore}
memstore device bytes = ${CEPH_DISK_BYTES:-8589934592}
bluestore block size = ${CEPH_DISK_BYTES:-8589934592}
bluestore block db create = false
bluestore block wal create = false
osd memory target = 939524096
osd heartbeat interval = 1
osd heartbeat grace = 5
osd recovery sleep hdd = 0
osd mclock skip benchmark = true
[client]
log file =
pid file =
admin socket =
# An unreachable cluster is an error, not a hang.
client mount timeout = 15
rados mount timeout = 15
rados mon op timeout = 60
[client.rgw.a]
log file = $dir/log/rgw.a.log
pid file = $dir/run/rgw.a.pid
admin socket = $dir/run/rgw.a.asok
rgw data = $dir/rgw
rgw frontends = beast endpoint=127.0.0.1:$((base + 2)) ssl_endpoint=127.0.0.1:$((base + 3)) ssl_certificate=$dir/cert.pem ssl_private_key=$dir/key.pem
rgw thread pool size = 32
rgw s3 auth use sts = true
rgw sts key = $(openssl rand -hex 8)
FILE
}

# make_key NAME CAPABILITY...
make_key() {
  ceph-authtool --create-keyring "$dir/keys/$1" --gen-key -n "$1" "${@:2}" >/dev/null
}

make_monitor() {
  local base=$1 fsid=$2
  make_key mon. --cap mon 'allow *'
  mv "$dir/keys/mon." "$dir/mon-key"
  make_key client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mds 'allow *' --cap mgr 'allow *'
  local daemon
  for daemon in $(lettered mgr "$(cat "$dir/mgrs")"); do
    make_key "$daemon" --cap mon 'allow profile mgr' --cap osd 'allow *' --cap mds 'allow *'
  done
  for daemon in $(lettered mds "$(cat "$dir/mdss")"); do
    make_key "$daemon" --cap mon 'allow profile mds' --cap osd 'allow *' --cap mds 'allow *' --cap mgr 'allow profile mds'
  done
  make_key client.rgw.a --cap mon 'allow rw' --cap osd 'allow rwx' --cap mgr 'allow rw'
  # Keys in the initial database need no command later.
  cat "$dir/mon-key" "$dir"/keys/* >"$dir/all-keys"
  # Without a monmap the monitor expects the default ports and waits forever.
  monmaptool --create --fsid "$fsid" --enable-all-features \
    --addv a "[v2:127.0.0.1:$base,v1:127.0.0.1:$((base + 1))]" "$dir/monmap"
  ceph-mon -c "$conf" --mkfs -i a --keyring "$dir/all-keys" --monmap "$dir/monmap"
  rm "$dir/all-keys"
}

make_disk() {
  local number=$1 uuid key
  uuid=$(cat /proc/sys/kernel/random/uuid)
  key=$(ceph-authtool --gen-print-key)
  mkdir "$dir/osd.$number"
  printf '[osd.%s]\n\tkey = %s\n' "$number" "$key" >"$dir/keys/osd.$number"
  echo "{\"cephx_secret\":\"$key\"}" | ceph osd new "$uuid" "$number" -i - >/dev/null
  ceph-osd -c "$conf" -i "$number" --mkfs --osd-uuid "$uuid" >>"$dir/log/osd.$number.out" 2>&1
  start "osd.$number"
}

make_filesystem() {
  local daemon
  ceph osd pool create cephfs.metadata 4 >/dev/null
  ceph osd pool create cephfs.data 4 >/dev/null
  ceph fs new cephfs cephfs.metadata cephfs.data >/dev/null
  for daemon in $(lettered mds "$(cat "$dir/mdss")"); do start "$daemon"; done
}

make_cluster() {
  local base fsid number osds=${CEPH_OSDS:-1} jobs=() job daemon
  umask 077
  mkdir -p "$dir"/{run,log,crash,keys,mon,rgw}
  echo "${CEPH_MGRS:-1}" >"$dir/mgrs"
  echo "${CEPH_MDSS:-0}" >"$dir/mdss"
  echo "$osds" >"$dir/osds"
  watch_owner "$dir/osds"
  base=$(choose_ports)
  fsid=$(cat /proc/sys/kernel/random/uuid)
  # Virtual machines reach this host's loopback as 10.0.2.2; s3.test is for clients behind a proxy.
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=s3.test \
    -addext subjectAltName=DNS:s3.test,DNS:localhost,IP:127.0.0.1,IP:10.0.2.2 \
    -keyout "$dir/key.pem" -out "$dir/cert.pem" 2>/dev/null
  write_configuration "$base" "$fsid"
  make_monitor "$base" "$fsid" >"$dir/log/make.out" 2>&1 || { cat "$dir/log/make.out" >&2; die "cannot create the monitor"; }
  start mon.a
  for daemon in $(lettered mgr "$(cat "$dir/mgrs")"); do
    start "$daemon" &
    jobs+=($!)
  done
  for ((number = 0; number < osds; number++)); do
    make_disk "$number" &
    jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job" || die "a daemon does not start"; done
  echo "http://127.0.0.1:$((base + 2))" >"$dir/s3-url"
  echo "https://127.0.0.1:$((base + 3))" >"$dir/s3-https-url"
  [ "$(cat "$dir/mdss")" = 0 ] || make_filesystem 2>>"$dir/log/make.out" || die "cannot create the file system"
  start rgw.a
  touch "$dir/made"
}

wait_for_s3() {
  local deadline=$(($(millis) + 60000))
  # The pid file is no sign of readiness, because it is written late.
  until curl --silent --fail --noproxy '*' --max-time 5 --output /dev/null "$(cat "$dir/s3-url")"; do
    [ "$(millis)" -lt "$deadline" ] || { tail -n 20 "$dir"/log/* >&2; die "the S3 endpoint does not respond"; }
    sleep 0.1
  done
}

up() {
  local started daemon
  prepare
  started=$(millis)
  if [ -e "$dir/made" ]; then
    for daemon in $(daemons); do start "$daemon"; done
  else
    [ ! -e "$dir/osds" ] || destroy
    make_cluster
  fi
  say "up after $(($(millis) - started)) ms, S3 at $(cat "$dir/s3-url")"
}

s3_user() {
  local user access secret
  user=$(radosgw-admin user create --uid="$1" --display-name="$1" --caps=user-policy=* 2>>"$dir/log/users.out") ||
    { tail -n 5 "$dir/log/users.out" >&2; die "no user $1"; }
  access=$(sed -nE 's/^ *"access_key": "(.*)",$/\1/p' <<<"$user")
  secret=$(sed -nE 's/^ *"secret_key": "(.*)"$/\1/p' <<<"$user")
  echo "{\"accessKeyId\": \"$access\", \"secretAccessKey\": \"$secret\"}"
}

s3_session() {
  local user access secret answer
  user=$(s3_user "$1")
  access=$(json_text accessKeyId <<<"$user")
  secret=$(json_text secretAccessKey <<<"$user")
  # A user needs a policy that allows them to request a session.
  signed_post "$access:$secret" iam Action=PutUserPolicy "UserName=$1" PolicyName=session \
    'PolicyDocument={"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sts:GetSessionToken"],"Resource":["*"]}]}' >/dev/null
  answer=$(signed_post "$access:$secret" sts Action=GetSessionToken)
  echo "{\"accessKeyId\": \"$(xml_text AccessKeyId <<<"$answer")\"," \
    "\"secretAccessKey\": \"$(xml_text SecretAccessKey <<<"$answer")\"," \
    "\"sessionToken\": \"$(xml_text SessionToken <<<"$answer")\"}"
}

# signed_post KEYS SERVICE FIELD=VALUE...
signed_post() {
  local keys=$1 service=$2 field fields=()
  shift 2
  for field in "$@"; do fields+=(--data-urlencode "$field"); done
  curl --silent --show-error --fail --noproxy '*' --max-time 20 --user "$keys" --aws-sigv4 "aws:amz:default:$service" \
    "${fields[@]}" "$(cat "$dir/s3-url")/"
}

json_text() { sed -E "s/.*\"$1\": \"([^\"]*)\".*/\1/"; }
xml_text() { sed -E "s|.*<$1>([^<]*)</$1>.*|\1|"; }

destroy() {
  local daemon
  [ -e "$dir/osds" ] || return 0
  for daemon in $(daemons); do stop "$daemon"; done
  rm -rf "$dir"
}

command=${1:-}
shift || true
case $command in
  prepare | up | destroy) [ "$(id -u)" = 0 ] || die "must run as root" ;;
esac
case $command in
  prepare | up | status | destroy) "$command" ;;
  start | stop | crash) "$command" "${1:?which daemon?}" ;;
  pause) signal STOP "${1:?which daemon?}" ;;
  resume) signal CONT "${1:?which daemon?}" ;;
  s3-user) s3_user "${1:?which name?}" ;;
  s3-session) s3_session "${1:?which name?}" ;;
  *) usage; exit 2 ;;
esac
