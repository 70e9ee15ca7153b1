import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { createPodman } from "../../../../../adapters/podman/podman.ts";
import { podmanReasons } from "../../../../../adapters/podman/reasons.ts";
import { createPodmanSandbox } from "../../../../../adapters/podman/sandbox.ts";
import { createPodmanInspector } from "../../../../../server/domains/pods/doctor/inspect-podman.ts";

test("doctor reports whether Podman answers", async (t) => {
  const runtime = createPodmanSandbox();
  t.teardown(() => runtime.close());
  const inspector = createPodmanInspector(runtime);
  t.equal(inspector.name, "podman");
  t.match(await inspector.inspect(), { findings: [{ ok: true }] });
  runtime.setOutage(new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "connection refused"));
  t.match(await inspector.inspect(), { findings: [{ ok: false, what: "connection refused", fix: /./ }] });
});

test("doctor reports how to enable the socket when it is missing or another program answers", async (t) => {
  // Short, since the length of a socket's path is limited.
  const directory = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const away = createPodman({ socketPath: join(directory, "none.sock") });
  t.teardown(() => away.close());
  t.match(await createPodmanInspector(away).inspect(), {
    findings: [
      {
        ok: false,
        what: /none\.sock .*the socket does not exist/,
        fix: /systemctl enable --now podman\.socket/,
      },
    ],
  });
  const socketPath = join(directory, "p.sock");
  const other = createServer((socket) => socket.end("SSH-2.0-x\r\n")).listen(socketPath);
  t.teardown(() => other.close());
  const runtime = createPodman({ socketPath });
  t.teardown(() => runtime.close());
  t.match(await createPodmanInspector(runtime).inspect(), { findings: [{ ok: false }] });
});
