# What an administrator does by docs/deploy.md, inside of the machine of deploy-image.test.ts.
deploy=/usr/lib/hostplane/deploy
units=/etc/systemd/system
ln -sf /usr/local/bin/hostplane /usr/local/bin/node /usr/bin/
install -Dm644 $deploy/sysusers.d/hostplane.conf /usr/lib/sysusers.d/hostplane.conf
install -Dm644 -t /usr/lib/tmpfiles.d $deploy/tmpfiles.d/*.conf
systemd-sysusers
mkdir -m 0700 /run/podman
systemd-tmpfiles --create hostplane.conf hostplane-podman.conf
install -Dm644 -t $units $deploy/systemd/hostplane.service
mkdir -p $units/hostplane.service.d
printf '[Service]\nExecStart=\nExecStart=/usr/bin/hostplane serve --sandbox\n' >$units/hostplane.service.d/sandbox.conf
systemctl daemon-reload
systemctl start hostplane
