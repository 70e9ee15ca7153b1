import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import tap, { type Test, test } from "tap";
import { createPodman } from "../../adapters/podman/podman.ts";
import { type Operation, OperationService, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { PlanService } from "../../gen/hostplane/v1/plan_pb.ts";
import { PodService } from "../../gen/hostplane/v1/pod_pb.ts";
import { createChangesUnderTest } from "../server/domains/pods/changes/changes-under-test.ts";
import { rpcErrorOf } from "../server/rpc-error.ts";
import { openOwnStore } from "../server/store/own-store.ts";
import { type Failpoint, type GatewayProcess, startGatewayProcess } from "./gateway-process.ts";
import { labImage, type PodmanService, podmanSkipReason, startPodmanService } from "./podman.ts";

const skip = podmanSkipReason();
tap.setTimeout(600_000);

const remoteImage = "127.0.0.1:5000/lab/remote:1";
const deaf = ["sh", "-c", "trap '' TERM; while :; do sleep 0.2; done"];
const polite = ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"];

interface Lab extends PodmanService {
  /** What the registry keeps, and is told by. */
  readonly registry: string;
}

let shared: Promise<Lab> | undefined;

/** One for all tests, without pods. */
async function emptyLab(): Promise<Lab> {
  shared ??= startLab();
  const lab = await shared;
  await lab.podman("pod", "rm", "-f", "-t", "0", "-a");
  await lab.podman("rm", "-f", "-t", "0", "-a");
  await lab.podman("rmi", "-f", remoteImage).catch(() => {});
  return lab;
}

/** Podman and a registry beside it, which has an image with a layer that Podman has not. */
async function startLab(): Promise<Lab> {
  const service = await startPodmanService();
  tap.teardown(service.destroy);
  const { podman } = service;
  const directory = dirname(service.socketPath);
  const registry = join(directory, "registry");
  await mkdir(registry);
  const fill = ["sh", "-c", "head -c 1000000 /dev/urandom >/blob"];
  await podman("run", "--name", "filled", "--network", "none", labImage, ...fill);
  await podman("commit", "-q", "filled", "localhost/lab/filled:1");
  await podman("push", "-q", "localhost/lab/filled:1", `dir:${registry}`);
  await podman("rm", "filled");
  await podman("rmi", "localhost/lab/filled:1");
  const insecure = '\n[[registry]]\nlocation = "127.0.0.1:5000"\ninsecure = true\n';
  await appendFile(join(directory, "conf/registries.conf"), insecure);
  await service.stop();
  await service.start();
  const [script, program] = ["podman.sh", "directory-registry.ts"].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  const argv = ["inside", process.execPath, program ?? "", registry];
  const env = { ...process.env, PODMAN_DIR: directory, NODE_OPTIONS: "" };
  // It ends with Podman's namespaces.
  const child = spawn(script ?? "", argv, { env, stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.stdout.destroy();
  child.unref();
  return { ...service, registry };
}

async function makePod({ podman }: PodmanService, name: string, ...programs: (readonly string[])[]) {
  const id = (await podman("pod", "create", "--name", name, "--network", "none")).trim();
  for (const [index, program] of programs.entries()) {
    const options = ["--pod", name, "--name", `${name}-${index}`, "--stop-timeout", "3"];
    await podman("create", ...options, labImage, ...program);
  }
  return id;
}

async function stateOf({ podman }: PodmanService, container: string): Promise<string> {
  const format = "{{.State.Status}} {{.State.ExitCode}}";
  const told = await podman("container", "inspect", "--format", format, container).catch(() => "gone");
  return told.trim();
}

async function until(what: () => Promise<boolean>): Promise<void> {
  while (!(await what())) {
    await sleep(50);
  }
}

interface Gateway extends GatewayProcess {
  readonly pods: Client<typeof PodService>;
  readonly plans: Client<typeof PlanService>;
  readonly operations: Client<typeof OperationService>;
  /** The operation once it has ended. */
  end(begun: { readonly operation?: Operation | undefined }): Promise<Operation>;
}

/** Starts gateways on the lab, one after the other, with the same data. */
async function createGateways(t: Test, { socketPath }: PodmanService) {
  const directory = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const config = join(directory, "hostplane.yaml");
  return async (failpoint?: Failpoint): Promise<Gateway> => {
    const more = { pods: { podman: { socket: socketPath } } };
    const gateway = await startGatewayProcess(config, undefined, more, failpoint);
    t.teardown(() => gateway.kill("SIGKILL"));
    const transport = createGrpcTransport({ baseUrl: gateway.url });
    const operations = createClient(OperationService, transport);
    return {
      ...gateway,
      pods: createClient(PodService, transport),
      plans: createClient(PlanService, transport),
      operations,
      async end({ operation }) {
        const id = operation?.id ?? "";
        for await (const message of operations.watchOperation({ id })) {
          operation = message.operation ?? operation;
        }
        if (operation === undefined) {
          throw new Error("there is no operation");
        }
        return operation;
      },
    };
  };
}

test("each change is made by the calls that its plan has told", { skip }, async (t) => {
  const lab = await emptyLab();
  const gateway = await (await createGateways(t, lab))();
  const { pods, plans, operations } = gateway;
  await makePod(lab, "web", polite, polite);
  type Change = "startPod" | "stopPod" | "killPod" | "removePod" | "pullImage" | "removeImage";
  const make = async (name: Change, json: Record<string, string | number | boolean>) => {
    const method = `hostplane.v1.PodService/${name[0]?.toUpperCase()}${name.slice(1)}`;
    const plan = await plans.plan({ method, request: { case: "json", value: json } });
    const operation = await gateway.end(await pods[name](json));
    t.match(operation, { state: OperationState.COMPLETED, kind: plan.kind, resource: plan.resource }, name);
    const { commands } = await operations.listCommands({ id: operation.id });
    const planned = plan.steps.map(({ command }) => command).filter((command) => command.length > 0);
    t.same(
      commands.map(({ command }) => command),
      planned,
      `${name}: ${planned}`,
    );
    return operation;
  };
  await make("startPod", { pod: "web" });
  t.equal(await stateOf(lab, "web-1"), "running 0");
  await make("startPod", { pod: "web" });
  await make("killPod", { pod: "web", signal: "SIGTERM" });
  await until(async () => (await stateOf(lab, "web-1")) === "exited 0");
  await lab.podman("pod", "start", "web");
  await make("stopPod", { pod: "web", graceSeconds: 0 });
  t.match(await stateOf(lab, "web-0"), /^exited 137$/);
  await make("stopPod", { pod: "web" });
  await lab.podman("pod", "start", "web");
  t.match(await rpcErrorOf(pods.removePod({ pod: "web" })), { reason: "POD_STATE" });
  await make("removePod", { pod: "web", force: true });
  t.equal(await stateOf(lab, "web-0"), "gone");
  await makePod(lab, "new");
  await make("removePod", { pod: "new" });

  const pulled = await make("pullImage", { reference: remoteImage });
  const id = String(pulled.result?.imageId);
  t.match((await lab.podman("image", "inspect", "--format", "{{.Id}}", remoteImage)).trim(), id);
  await lab.podman("tag", remoteImage, "localhost/lab/second:1");
  await makePod(lab, "user");
  await lab.podman("create", "--pod", "user", "--name", "user-0", remoteImage, "true");
  const usersOf = async () =>
    (await pods.listImages({})).images.find((image) => image.id === id)?.containerCount;
  await until(async () => (await usersOf()) === 1);
  t.match(await rpcErrorOf(pods.removeImage({ image: id })), { reason: "IMAGE_IN_USE", message: /pod user/ });
  await lab.podman("rm", "user-0");
  await make("removeImage", { image: "localhost/lab/second:1" });
  await t.rejects(lab.podman("image", "inspect", id));
  await gateway.kill("SIGTERM");
});

test("what fails is told with Podman's words and leaves nothing", { skip }, async (t) => {
  const lab = await emptyLab();
  const gateway = await (await createGateways(t, lab))();
  const { pods } = gateway;
  await makePod(lab, "broken", polite, ["/no/such/program"]);
  t.match(await gateway.end(await pods.startPod({ pod: "broken" })), {
    state: OperationState.FAILED,
    error: { reason: "POD_START_FAILED", message: /no such file/ },
  });
  t.match(await stateOf(lab, "broken-0"), /^exited /, "what was started is stopped again");
  t.match(await gateway.end(await pods.pullImage({ reference: "127.0.0.1:1/lab/none:1" })), {
    state: OperationState.FAILED,
    error: { reason: "IMAGE_PULL_FAILED", message: /connection refused/ },
  });
  await writeFile(join(lab.registry, "hold"), "");
  await writeFile(join(lab.registry, "requests"), "");
  const pull = await pods.pullImage({ reference: remoteImage });
  await untilLayerAsked(lab);
  await gateway.operations.cancelOperation({ id: pull.operation?.id ?? "" });
  t.match(await gateway.end(pull), { state: OperationState.CANCELLED });
  await rm(join(lab.registry, "hold"));
  await t.rejects(lab.podman("image", "inspect", remoteImage), "a cancelled pull brings no image");
  await gateway.kill("SIGTERM");
});

async function untilLayerAsked({ registry }: Lab): Promise<void> {
  const { layers } = JSON.parse(await readFile(join(registry, "manifest.json"), "utf8")) as {
    layers: readonly { digest: string }[];
  };
  const last = layers.at(-1)?.digest ?? "";
  await until(async () => (await readFile(join(registry, "requests"), "utf8")).includes(`/blobs/${last}`));
}

test("a gateway that is killed in the middle of a change has it done when it is back", {
  skip,
}, async (t) => {
  const lab = await emptyLab();
  const start = await createGateways(t, lab);
  await makePod(lab, "slow", deaf);
  await makePod(lab, "gone", deaf);
  await lab.podman("pod", "start", "slow", "gone");
  await writeFile(join(lab.registry, "hold"), "");
  await writeFile(join(lab.registry, "requests"), "");
  const first = await start();
  const stop = await first.pods.stopPod({ pod: "slow", graceSeconds: 4 });
  const removal = await first.pods.removePod({ pod: "gone", force: true });
  const pull = await first.pods.pullImage({ reference: remoteImage });
  await untilLayerAsked(lab);
  const asked = async (id: string) => (await first.operations.getOperation({ id })).operation?.step;
  await until(async () => (await asked(stop.operation?.id ?? "")) === "stop");
  await until(async () => (await asked(removal.operation?.id ?? "")) === "remove");
  await first.kill("SIGKILL");
  t.match(await stateOf(lab, "slow-0"), /^(running|stopping) /, "the stop goes on");
  await rm(join(lab.registry, "hold"));
  const second = await start();
  const ended = { state: OperationState.COMPLETED, steps: [{}, { attempt: 2 }] };
  t.match(await second.end(stop), ended);
  t.equal(await stateOf(lab, "slow-0"), "exited 137");
  t.match(await second.end(removal), ended);
  t.equal(await stateOf(lab, "gone-0"), "gone");
  t.match(await second.end(pull), { state: OperationState.COMPLETED, steps: [{ attempt: 2 }] });
  await lab.podman("image", "inspect", remoteImage);
  await second.kill("SIGTERM");
});

test("a change outlives Podman's service", { skip }, async (t) => {
  const lab = await emptyLab();
  const gateway = await (await createGateways(t, lab))();
  await makePod(lab, "slow", deaf);
  await lab.podman("pod", "start", "slow");
  await writeFile(join(lab.registry, "hold"), "");
  await writeFile(join(lab.registry, "requests"), "");
  const stop = await gateway.pods.stopPod({ pod: "slow", graceSeconds: 3 });
  const pull = await gateway.pods.pullImage({ reference: remoteImage });
  await untilLayerAsked(lab);
  await lab.kill();
  await rm(join(lab.registry, "hold"));
  await lab.start();
  t.match(await gateway.end(stop), { state: OperationState.COMPLETED });
  t.equal(await stateOf(lab, "slow-0"), "exited 137");
  t.match(await gateway.end(pull), { state: OperationState.COMPLETED });
  await lab.podman("image", "inspect", remoteImage);
  await gateway.kill("SIGTERM");
});

test("what Podman records of a change is known as the operation's work", { skip }, async (t) => {
  const lab = await emptyLab();
  await makePod(lab, "web", polite, deaf);
  const runtime = createPodman({ socketPath: lab.socketPath });
  t.teardown(() => runtime.close());
  const changes = createChangesUnderTest(t, { runtime, store: await openOwnStore(t) });
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const told: { readonly what: string; readonly operationId: string | undefined }[] = [];
  await runtime.read();
  const listening = (async () => {
    for await (const batch of runtime.events({}, leaving.signal)) {
      for (const event of batch) {
        if ("imageId" in event) {
          const { kind, imageId, imageNames, timeNs } = event;
          const operationId = changes.own.operationOfImage(imageId, imageNames, timeNs);
          told.push({ what: kind, operationId });
        } else if ("podUuid" in event) {
          const operationId = changes.own.operationOf(`pods/${event.podUuid}`, event.timeNs);
          told.push({ what: event.kind, operationId });
        }
      }
    }
  })();
  const wanted: string[] = [];
  const expectTold = async (operation: { readonly id: string }, ...kinds: string[]) => {
    const already = wanted.length;
    wanted.push(...kinds);
    await until(async () => told.length >= wanted.length);
    const since = told.slice(already);
    t.same(since.map(({ what }) => what).toSorted(), kinds.toSorted());
    t.same([...new Set(since.map(({ operationId }) => operationId))], [operation.id], kinds.join());
  };
  const three = (kind: string) => [kind, kind, kind];
  await expectTold(await changes.make("startPod", { pod: "web" }), ...three("containerStarted"));
  await expectTold(
    await changes.make("stopPod", { pod: "web", graceSeconds: 1 }),
    ...three("containerExited"),
  );
  await lab.podman("pod", "start", "web");
  await until(async () => told.length >= wanted.length + 3);
  t.same(
    told.slice(wanted.length).map(({ operationId }) => operationId),
    three("").map(() => undefined),
    "not what somebody else does",
  );
  wanted.push(...three("containerStarted"));
  await expectTold(await changes.make("killPod", { pod: "web" }), ...three("containerExited"));
  const removed = await changes.make("removePod", { pod: "web", force: true });
  await expectTold(removed, ...three("containerRemoved"), "podRemoved");
  await expectTold(await changes.make("pullImage", { reference: remoteImage }), "imageAdded");
  await expectTold(await changes.make("removeImage", { image: remoteImage }), "imageRemoved");
  leaving.abort();
  await listening;
});

const steps = ["start", "stop", "remove", "pull"] as const;

for (const step of steps) {
  test(`a gateway that dies around the step ${step} has it done when it is back`, { skip }, async (t) => {
    const lab = await emptyLab();
    const start = await createGateways(t, lab);
    const inner = [`forward ${step}`, "operations.beginStep", "operations.endStep"];
    const all = inner.flatMap((name) => [`before ${name}`, `after ${name}`]);
    // Everything is done by then, and nothing of it is written down.
    for (const boundary of process.env.LAB_FULL === "1" ? all : [`after forward ${step}`]) {
      await lab.podman("pod", "rm", "-f", "-t", "0", "-a");
      await lab.podman("rmi", "-f", remoteImage).catch(() => {});
      await makePod(lab, "web", polite);
      await lab.podman(...(step === "stop" || step === "remove" ? ["pod", "start", "web"] : ["version"]));
      // The step before it passes the same boundaries of the store.
      const isStores = boundary.includes("operations.");
      const mortal = await start({ boundary, visit: isStores && step !== "pull" ? 2 : 1 });
      const { pods } = mortal;
      const begun =
        step === "start"
          ? await pods.startPod({ pod: "web" })
          : step === "stop"
            ? await pods.stopPod({ pod: "web" })
            : step === "remove"
              ? await pods.removePod({ pod: "web", force: true })
              : await pods.pullImage({ reference: remoteImage });
      await mortal.ended;
      const heir = await start();
      t.match(await heir.end(begun), { state: OperationState.COMPLETED }, boundary);
      const left = { start: /^running /, stop: /^exited 0$/, remove: /^gone$/, pull: /^created / };
      t.match(await stateOf(lab, "web-0"), left[step], boundary);
      if (step === "pull") {
        await lab.podman("image", "inspect", remoteImage);
      }
      await heir.kill("SIGTERM");
    }
  });
}
