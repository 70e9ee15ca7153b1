import { appendFile, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Test } from "tap";
import { EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { type GatewayProcess, startGatewayProcess } from "../gateway-process.ts";
import { type PodmanService, startPodman } from "./podman.ts";

/** A Podman, and a gateway in a separate process that publishes its events. */
export interface PodEventsLab {
  readonly podman: PodmanService;
  readonly url: () => string;
  /** Kills the gateway, and starts it again on its store. */
  restartGateway(whileDown?: () => Promise<void>): Promise<void>;
}

/** Starts both; they are stopped with the test. */
export async function startPodEventsLab(t: Test): Promise<PodEventsLab> {
  const podman = await startPodman(t);
  const folder = await mkdtemp(join(tmpdir(), "hostplane-pods-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const start = () =>
    startGatewayProcess(join(folder, "hostplane.yaml"), undefined, {
      pods: { podman: { socket: podman.socketPath } },
    });
  let gateway: GatewayProcess = await start();
  t.teardown(() => gateway.kill("SIGKILL"));
  return {
    podman,
    url: () => gateway.url,
    async restartGateway(whileDown = async () => {}) {
      await gateway.kill("SIGKILL");
      await whileDown();
      gateway = await start();
    },
  };
}

/** Waits until events of pods are published. */
export async function untilPublished({ podman, url }: PodEventsLab): Promise<void> {
  const client = createClient(EventService, createGrpcTransport({ baseUrl: url() }));
  const start = { case: "time" as const, value: timestampFromMs(0) };
  for await (const { message } of client.subscribe(
    { topics: ["pods"], start },
    { signal: AbortSignal.timeout(60_000) },
  )) {
    const type = message.case === "event" ? message.value.type : undefined;
    if (type === "gap") {
      // The gateway has read the first state.
      await podman.podman("pod", "create", "--name", "probe", "--network", "none");
    } else if (type === "pod.created") {
      return;
    }
  }
}

/** Fills the event log with copies of its records until Podman is about to rotate it. */
export async function fillEventsLog({ eventsLogPath }: PodmanService): Promise<void> {
  const last = (await readFile(eventsLogPath, "utf8")).trimEnd().split("\n").at(-1) ?? "";
  const missing = 990_000 - (await stat(eventsLogPath)).size;
  await appendFile(eventsLogPath, `${last}\n`.repeat(Math.max(0, Math.floor(missing / (last.length + 1)))));
}
