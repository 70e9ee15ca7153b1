import { timestampMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import { createPodmanSandbox } from "../../../../adapters/podman/sandbox.ts";
import {
  PodContainerState,
  PodService,
  PodState,
  type WatchPodsResponse,
} from "../../../../gen/hostplane/v1/pod_pb.ts";
import { methodRuleOf } from "../../../../server/gateway/method-rules.ts";
import { containerOf, createReadersUnderTest, idOf, imageOf, podOf, runtimeOf } from "./pods-under-test.ts";

const { listPods, watchPods, listImages } = PodService.method;

test("pods are listed with their containers, and with those that could not be read", async (t) => {
  const pod = podOf("aaaa", {
    phase: "exited",
    startedAtNs: 1_700_000_001_000_000_002n,
    labels: new Map([["role", "web"]]),
    networks: [{ name: "net", ipv4: "10.0.0.2", ipv6: "" }],
    containers: [
      containerOf("infra", { isInfra: true }),
      containerOf("server", {
        state: "exited",
        exitCode: 0,
        startedAtNs: 1_700_000_001_000_000_002n,
        exitedAtNs: 1_700_000_002_000_000_003n,
      }),
      containerOf("late", { state: "created" }),
    ],
  });
  const broken = ["dddd", "cccc"].map((digits) => podOf(digits));
  const unreadable = broken.map(({ id, uuid }) => ({ podId: id, podUuid: uuid, why: "it is being removed" }));
  const { call } = createReadersUnderTest(runtimeOf(t, { pods: [pod, podOf("bbbb")], unreadable }));
  const { message, headers } = await call(listPods);
  t.match(message.pods, [
    {
      id: pod.uuid,
      name: "pod-aaaa",
      state: PodState.EXITED,
      createdAt: { seconds: 1_700_000_000n, nanos: 1 },
      startedAt: { seconds: 1_700_000_001n, nanos: 2 },
      containers: [
        {
          name: "server",
          state: PodContainerState.EXITED,
          imageId: idOf("1a"),
          imageName: "localhost/web:2.0",
          exitCode: 0,
          exitedAt: { seconds: 1_700_000_002n, nanos: 3 },
        },
        { name: "late", state: PodContainerState.CREATED, exitCode: undefined, startedAt: undefined },
      ],
      networks: [{ name: "net", ipv4: "10.0.0.2" }],
      labels: { role: "web" },
    },
    { state: PodState.RUNNING, startedAt: undefined, containers: [] },
  ]);
  t.equal(message.pods[0]?.containers.length, 2, "without the infra container");
  t.match(message.unreadable, [
    { id: broken[1]?.uuid, reason: "it is being removed" },
    { id: broken[0]?.uuid },
  ]);
  t.match(headers.get("hostplane-snapshot-age"), /^\d+$/);
});

test("calls for the same state share the same list, until a pod has changed", async (t) => {
  const runtime = createPodmanSandbox({ pods: [] });
  t.teardown(() => runtime.close());
  const { call } = createReadersUnderTest(runtime);
  const { message } = await call(listPods);
  const again = await call(listPods);
  t.equal(again.message, message);
  t.match(again.headers.get("hostplane-snapshot-age"), /^\d+$/);
  runtime.pods.createPod({ name: "web", containers: [] });
  t.match((await call(listPods)).message.pods, [{ name: "web" }]);
  t.same(message.pods, [], "an earlier response stays unchanged");
});

test("images are listed with all names, and with the number of containers that use them", async (t) => {
  const pods = [podOf("aaaa", { containers: [containerOf("a", { isInfra: true }), containerOf("b")] })];
  const images = [imageOf("1a", { names: ["localhost/web:2.0", "localhost/web:2"] }), imageOf("2b")];
  const importedAtNs = (id: string) => (id === idOf("2b") ? 1_800_000_000_000_000_004n : undefined);
  const { call } = createReadersUnderTest(runtimeOf(t, { pods, images }), importedAtNs);
  const { message, headers } = await call(listImages);
  t.match(message.images, [
    {
      id: idOf("1a"),
      names: ["localhost/web:2.0", "localhost/web:2"],
      sizeBytes: 1n,
      builtAt: { seconds: 1_700_000_000n, nanos: 999_999_999 },
      importedAt: undefined,
      containerCount: 2,
    },
    { names: [], importedAt: { seconds: 1_800_000_000n, nanos: 4 }, containerCount: 0 },
  ]);
  t.match(headers.get("hostplane-snapshot-age"), /^\d+$/);
});

test("all watchers of a state receive the same message", async (t) => {
  const runtime = createPodmanSandbox({ pods: [] });
  t.teardown(() => runtime.close());
  const { stream } = createReadersUnderTest(runtime);
  const ending = new AbortController();
  const watchers = [stream(watchPods, ending), stream(watchPods, ending)];
  const next = () => Promise.all(watchers.map(async (one) => (await one.next()).value as WatchPodsResponse));
  const [first, same] = await next();
  t.equal(same, first);
  const changed = next();
  await new Promise((resolve) => setImmediate(resolve));
  runtime.pods.createPod({ name: "web", containers: [] });
  const [second, alike] = await changed;
  t.match(second?.pods, [{ name: "web" }]);
  t.equal(alike, second);
  ending.abort();
});

test("a watcher receives the pods at once and after each change of a pod, and nothing else", async (t) => {
  const runtime = createPodmanSandbox({ pods: [] });
  t.teardown(() => runtime.close());
  const ending = new AbortController();
  const stream = createReadersUnderTest(runtime).stream(watchPods, ending);
  const next = async () => (await stream.next()).value as WatchPodsResponse;
  const first = await next();
  t.same(first.pods, []);
  t.ok(first.readAt !== undefined && Math.abs(Date.now() - timestampMs(first.readAt)) < 10_000);
  const changed = next();
  runtime.pods.addImage("localhost/new:1");
  await new Promise((resolve) => setImmediate(resolve));
  const id = runtime.pods.createPod({ name: "web", containers: [] });
  t.match(
    (await changed).pods,
    [{ name: "web", state: PodState.CREATED }],
    "the new image caused no message",
  );
  runtime.pods.removePod(id, false);
  t.same((await next()).pods, []);
  runtime.setOutage(new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "it is stopped"));
  runtime.pods.createPod({ name: "other", containers: [] });
  await t.rejects(stream.next(), { name: "InfraError", reason: "PODMAN_UNAVAILABLE" });
});

test("reading requires the role viewer", async (t) => {
  for (const method of [listPods, watchPods, listImages]) {
    t.match(methodRuleOf(method), { role: "viewer", mutation: false }, method.name);
  }
});
