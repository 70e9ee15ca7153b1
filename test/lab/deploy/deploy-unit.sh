# The steps of an administrator from docs/how-to/deploy.md, inside the machine of deploy-image.test.ts.
deploy=/usr/lib/hostplane/deploy
units=/etc/systemd/system
# systemd mounts credentials in a separate namespace; they are only visible if /run is shared. systemd shares it on a
# host, but podman does not in a container.
mount --make-shared /run
ln -sf /usr/local/bin/hostplane /usr/local/bin/node /usr/bin/
install -Dm644 $deploy/sysusers.d/hostplane.conf /usr/lib/sysusers.d/hostplane.conf
install -Dm644 -t /usr/lib/tmpfiles.d $deploy/tmpfiles.d/*.conf
systemd-sysusers
mkdir -m 0700 /run/podman
systemd-tmpfiles --create hostplane.conf hostplane-podman.conf
install -Dm644 -t $units $deploy/systemd/hostplane.service
install -Dm644 -t $units/hostplane.service.d $deploy/systemd/hostplane.service.d/credentials.conf
(
  umask 077
  head -c 32 /dev/urandom | base64 >/etc/hostplane/key
  head -c 24 /dev/urandom | base64 >/etc/hostplane/admin-password
)
printf '[Service]\nExecStart=\nExecStart=/usr/bin/hostplane serve --sandbox\n' >$units/hostplane.service.d/sandbox.conf
systemctl daemon-reload
systemctl start hostplane
