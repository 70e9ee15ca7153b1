import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";

/** A relay in front of Podman's unix socket that records requests. */
export interface PodmanGate {
  readonly socketPath: string;
  /** e.g. `GET /v4.0.0/libpod/pods/json`, one per request. */
  readonly calls: readonly string[];
}

/** Opens a gate that runs until the test ends. Each request must start a chunk, as those of undici do. */
export async function startPodmanGate(t: Test, socketPath: string): Promise<PodmanGate> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-gate-"));
  const calls: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const podman = connect(socketPath);
    for (const socket of [client, podman]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        open.delete(socket);
        client.destroy();
        podman.destroy();
      });
    }
    client.on("data", (chunk) => {
      const [, call] = /^([A-Z]+ \S+) HTTP\/1\.1\r\n/.exec(chunk.toString("latin1")) ?? [];
      if (call !== undefined) {
        calls.push(call);
      }
    });
    client.pipe(podman).pipe(client);
  });
  const gatePath = join(directory, "podman.sock");
  await once(server.listen(gatePath), "listening");
  t.teardown(async () => {
    server.close();
    for (const socket of open) {
      socket.destroy();
    }
    await rm(directory, { recursive: true, force: true });
  });
  return { socketPath: gatePath, calls };
}
