import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import tap, { test } from "tap";
import { createPodman } from "../../../adapters/podman/podman.ts";
import { OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { PodContainerState } from "../../../gen/hostplane/v1/pod_pb.ts";
import { createChangesUnderTest } from "../../server/domains/pods/changes/changes-under-test.ts";
import { rpcErrorOf } from "../../server/harness/rpc-error.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { podmanSkipReason } from "./podman.ts";
import {
  createGateways,
  deaf,
  emptyLab,
  makePod,
  polite,
  remoteImage,
  stateOf,
  until,
  untilLayerRequested,
} from "./pods-changes-lab.ts";

const skip = podmanSkipReason();
tap.setTimeout(600_000);

test("each change makes the calls of its plan", { skip }, async (t) => {
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

test("a failure has Podman's message and leaves nothing behind", { skip }, async (t) => {
  const lab = await emptyLab();
  const gateway = await (await createGateways(t, lab))();
  const { pods } = gateway;
  await makePod(lab, "broken", polite, ["/no/such/program"]);
  t.match(await gateway.end(await pods.startPod({ pod: "broken" })), {
    state: OperationState.FAILED,
    error: { reason: "POD_START_FAILED", message: /no such file/ },
  });
  t.match(await stateOf(lab, "broken-0"), /^exited /, "the started container is stopped again");
  t.match(await gateway.end(await pods.pullImage({ reference: "127.0.0.1:1/lab/none:1" })), {
    state: OperationState.FAILED,
    error: { reason: "IMAGE_PULL_FAILED", message: /connection refused/ },
  });
  await writeFile(join(lab.registry, "hold"), "");
  await writeFile(join(lab.registry, "requests"), "");
  const pull = await pods.pullImage({ reference: remoteImage });
  await untilLayerRequested(lab);
  await gateway.operations.cancelOperation({ id: pull.operation?.id ?? "" });
  t.match(await gateway.end(pull), { state: OperationState.CANCELLED });
  await rm(join(lab.registry, "hold"));
  await t.rejects(lab.podman("image", "inspect", remoteImage), "a cancelled pull leaves no image");
  await gateway.kill("SIGTERM");
});

test("Podman's events for a change are attributed to its operation", { skip }, async (t) => {
  const lab = await emptyLab();
  await makePod(lab, "web", polite, deaf);
  const runtime = createPodman({ socketPath: lab.socketPath });
  t.teardown(() => runtime.close());
  const changes = createChangesUnderTest(t, { runtime, store: await openOwnStore(t) });
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const reported: { readonly what: string; readonly operationId: string | undefined }[] = [];
  await runtime.read();
  const listening = (async () => {
    for await (const batch of runtime.events({}, leaving.signal)) {
      for (const event of batch) {
        if ("imageId" in event) {
          const { kind, imageId, imageNames, timeNs } = event;
          const operationId = changes.own.operationOfImage(imageId, imageNames, timeNs);
          reported.push({ what: kind, operationId });
        } else if ("podUuid" in event) {
          const operationId = changes.own.operationOf(`pods/${event.podUuid}`, event.timeNs);
          reported.push({ what: event.kind, operationId });
        }
      }
    }
  })();
  const expected: string[] = [];
  const expectEvents = async (operation: { readonly id: string }, ...kinds: string[]) => {
    const already = expected.length;
    expected.push(...kinds);
    await until(async () => reported.length >= expected.length);
    const since = reported.slice(already);
    t.same(since.map(({ what }) => what).toSorted(), kinds.toSorted());
    t.same([...new Set(since.map(({ operationId }) => operationId))], [operation.id], kinds.join());
  };
  const three = (kind: string) => [kind, kind, kind];
  await expectEvents(await changes.make("startPod", { pod: "web" }), ...three("containerStarted"));
  await expectEvents(
    await changes.make("stopPod", { pod: "web", graceSeconds: 1 }),
    ...three("containerExited"),
  );
  await lab.podman("pod", "start", "web");
  await until(async () => reported.length >= expected.length + 3);
  t.same(
    reported.slice(expected.length).map(({ operationId }) => operationId),
    three("").map(() => undefined),
    "outside events have no operation",
  );
  expected.push(...three("containerStarted"));
  await expectEvents(await changes.make("killPod", { pod: "web" }), ...three("containerExited"));
  const removed = await changes.make("removePod", { pod: "web", force: true });
  await expectEvents(removed, ...three("containerRemoved"), "podRemoved");
  await expectEvents(await changes.make("pullImage", { reference: remoteImage }), "imageAdded");
  await expectEvents(await changes.make("removeImage", { image: remoteImage }), "imageRemoved");
  leaving.abort();
  await listening;
});

test("a paused pod is stopped as its plan says, and is not resumed for anything else", {
  skip,
}, async (t) => {
  const lab = await emptyLab();
  const gateway = await (await createGateways(t, lab))();
  const { pods, plans } = gateway;
  await makePod(lab, "held", polite, polite);
  await lab.podman("pod", "start", "held");
  await lab.podman("pause", "held-0");
  await until(async () => {
    const { containers = [] } = (await pods.listPods({})).pods[0] ?? {};
    return containers.some(({ state }) => state === PodContainerState.PAUSED);
  });
  const refused = { reason: "POD_STATE", message: /held-0/ };
  t.match(await rpcErrorOf(pods.startPod({ pod: "held" })), refused);
  t.match(await rpcErrorOf(pods.killPod({ pod: "held", signal: "SIGTERM" })), refused);
  const method = "hostplane.v1.PodService/StopPod";
  const plan = await plans.plan({ method, request: { case: "json", value: { pod: "held" } } });
  t.match(plan.changes, [
    "held-0 of pod held is resumed in order to stop",
    /^pod held is stopped: held-0, held-1 /,
  ]);
  t.match(await gateway.end(await pods.stopPod({ pod: "held" })), { state: OperationState.COMPLETED });
  t.equal(await stateOf(lab, "held-0"), "exited 0");
  t.equal(await stateOf(lab, "held-1"), "exited 0");
  await gateway.kill("SIGTERM");
});

test("a container outside pods keeps an image, and is named before it is removed with it", {
  skip,
}, async (t) => {
  const lab = await emptyLab();
  const gateway = await (await createGateways(t, lab))();
  const { pods, plans } = gateway;
  await gateway.end(await pods.pullImage({ reference: remoteImage }));
  await lab.podman("run", "-d", "--network", "none", "--name", "alone", remoteImage, ...polite);
  t.match(await rpcErrorOf(pods.removeImage({ image: remoteImage })), {
    reason: "IMAGE_IN_USE",
    message: /the container alone/,
  });
  const method = "hostplane.v1.PodService/RemoveImage";
  const json = { image: remoteImage, force: true };
  const plan = await plans.plan({ method, request: { case: "json", value: json } });
  t.match(plan.losses, [/^the container alone, which is in no pod, /]);
  t.match(await gateway.end(await pods.removeImage(json)), { state: OperationState.COMPLETED });
  t.equal(await stateOf(lab, "alone"), "gone");
  await gateway.kill("SIGTERM");
});
