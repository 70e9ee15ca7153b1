import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ListPodsRequestSchema, PublicAPI } from "../../../gen/v1alpha/api_pb.ts";
import { startGatewayProcess } from "../../lab/gateway-process.ts";
import {
  labImage,
  type PodmanService,
  podmanSkipReason,
  startPodmanService,
} from "../../lab/podman/podman.ts";
import type { Bench, BenchRun } from "../bench.ts";
import { callGrpc } from "../load/grpc-call.ts";
import { openedRun } from "../load/opened-run.ts";

const pods = 100;
/** Number of calls in a round; a single call is too short for the clock. */
const calls = 50;

/** Lists all pods of a real Podman with their details: with the gateway, and with a process of `podman`. */
export function createPodmanList(): Bench {
  return {
    name: "podman-list",
    what: `ListPods with details of ${pods} pods of Podman over gRPC`,
    baseline: "`podman pod ps --format json`",
    unit: "ms",
    maxRatio: 0.1,
    rounds: 20,
    coldRounds: 5,
    isLab: true,
    skipReason: podmanSkipReason,
    start: () => openedRun(startRun),
  };
}

async function startRun(opened: AsyncDisposableStack): Promise<BenchRun> {
  const service = await startPodmanService();
  opened.defer(service.destroy);
  for (let number = 0; number < pods; number += 1) {
    const name = `pod-${number}`;
    await service.podman("pod", "create", "--name", name, "--network", "none");
    await service.podman("create", "--pod", name, "--name", `app-${number}`, labImage, "sleep", "1000");
  }
  const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const gateway = await startGatewayProcess(join(directory, "hostplane.yaml"), undefined, {
    pods: { podman: { socket: service.socketPath } },
  });
  opened.defer(() => gateway.kill("SIGTERM"));
  const listed = await createClient(PublicAPI, createGrpcTransport({ baseUrl: gateway.url })).listPods({});
  if (listed.pods.length !== pods) {
    throw new Error(`expected ${pods} pods, found ${listed.pods.length}`);
  }
  const connection = connect(gateway.url);
  opened.defer(() => connection.close());
  await once(connection, "connect");
  const request = toBinary(ListPodsRequestSchema, create(ListPodsRequestSchema, { detail: true }));
  const podman = await podmanBeside(service);
  return {
    baseline: { measure: () => meanMs(() => podman("pod", "ps", "--format", "json"), 1) },
    ours: {
      measure: () => meanMs(() => callGrpc(connection, "/v1alpha.PublicAPI/ListPods", request), calls),
    },
    stop: () => opened.disposeAsync(),
  };
}

/** Runs `podman` on the service's store, without the shell script that the lab uses. */
async function podmanBeside(service: PodmanService) {
  const pid = await service.pid();
  const variables = (await readFile(`/proc/${pid}/environ`, "utf8"))
    .split("\0")
    .filter((each) => each !== "");
  const env = Object.fromEntries(variables.map((each) => each.split(/=(.*)/s, 2)));
  const inside = ["--target", String(pid), "--pid", "--mount", "--net", "--", "podman"];
  return (...args: readonly string[]) =>
    promisify(execFile)("nsenter", [...inside, ...args], { env, maxBuffer: 64 << 20 });
}

/** Returns the mean time of a call in milliseconds; the calls run one after the other. */
async function meanMs(call: () => Promise<unknown>, count: number): Promise<number> {
  const beganAtMs = performance.now();
  for (let left = count; left > 0; left -= 1) {
    await call();
  }
  return (performance.now() - beganAtMs) / count;
}
