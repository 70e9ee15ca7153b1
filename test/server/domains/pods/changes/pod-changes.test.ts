import { type Test, test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { RuntimePod } from "../../../../../adapters/podman/runtime-state.ts";
import type { PodmanSandboxOptions } from "../../../../../adapters/podman/sandbox.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import { appImage, createChangesUnderTest, createRuntime, leftOf } from "./changes-under-test.ts";

async function createSubject(t: Test, options: PodmanSandboxOptions = {}) {
  const runtime = createRuntime(t, options);
  const changes = createChangesUnderTest(t, { runtime, store: await openOwnStore(t) });
  const pod = async (name: string): Promise<RuntimePod> => {
    const found = (await runtime.read()).value.pods.find((each) => each.name === name);
    if (found === undefined) {
      throw new Error(`there is no pod ${name}`);
    }
    return found;
  };
  const image = async (name: string) => {
    const found = (await runtime.read()).value.images.find(({ names }) => names.includes(name));
    return found?.id ?? "";
  };
  return { runtime, changes, pod, image };
}

const refusal = (reason: string, message: RegExp) => ({ name: "InfraError", reason, message });

test("a pod is started, stopped, killed and removed", async (t) => {
  const { runtime, changes, pod } = await createSubject(t);
  const { uuid, id } = await pod("new");
  const started = await changes.make("startPod", { pod: uuid.slice(0, 8) });
  t.match(started, {
    kind: "pods.start",
    resource: `pods/${uuid}`,
    backend: "sandbox-podman/alpha",
    host: "alpha",
    rpc: "hostplane.v1.PodService/StartPod",
    state: "completed",
    result: { podId: uuid, podName: "new" },
  });
  t.equal((await pod("new")).phase, "running");
  t.equal((await changes.make("startPod", { pod: "new" })).state, "completed", "what runs stays as it is");
  t.match(await changes.make("stopPod", { pod: uuid.toUpperCase(), graceSeconds: 0 }), {
    kind: "pods.stop",
    state: "completed",
    input: { podId: id, graceSeconds: 0 },
  });
  t.equal((await pod("new")).phase, "exited");
  t.match(await changes.make("stopPod", { pod: "new" }), { state: "completed", input: { graceSeconds: 10 } });
  t.match(await changes.make("killPod", { pod: "web" }), {
    kind: "pods.kill",
    state: "completed",
    input: { signal: "SIGKILL" },
  });
  t.match(await leftOf(runtime), { pods: ["new exited", "web exited"] });
  t.match(await changes.make("removePod", { pod: "web" }), { kind: "pods.remove", state: "completed" });
  await changes.make("startPod", { pod: "new" });
  t.match(await changes.make("removePod", { pod: uuid, force: true }), { state: "completed" });
  t.same((await leftOf(runtime)).pods, []);
});

test("an image is pulled and removed", async (t) => {
  const { runtime, changes, image } = await createSubject(t);
  const pulled = await changes.make("pullImage", { reference: "docker.io/library/busybox:1.35" });
  t.match(pulled, {
    kind: "images.pull",
    resource: "images/docker.io/library/busybox:1.35",
    state: "completed",
    result: { imageId: /^[0-9a-f]{64}$/, reference: "docker.io/library/busybox:1.35" },
  });
  t.same((await leftOf(runtime)).images, ["docker.io/library/busybox:1.35"]);
  const { imageId } = pulled.result as { imageId: string };
  t.match(await changes.make("removeImage", { image: `sha256:${imageId.toUpperCase()}` }), {
    kind: "images.remove",
    resource: `images/${imageId}`,
    state: "completed",
    result: { imageId, names: ["docker.io/library/busybox:1.35"] },
  });
  t.same((await leftOf(runtime)).images, []);
  t.match(await changes.make("removeImage", { image: appImage, force: true }), { state: "completed" });
  t.equal(await image(appImage), "");
  t.same((await leftOf(runtime)).pods, [], "with the containers that use it");
});

test("what can be known to fail is refused, and nothing is begun", async (t) => {
  const { changes, pod } = await createSubject(t);
  const { uuid } = await pod("web");
  const { begin, plan } = changes;
  type Ask = (...asked: Parameters<typeof begin>) => Promise<unknown>;
  for (const ask of [begin, plan] as readonly Ask[]) {
    for (const name of ["startPod", "stopPod", "killPod", "removePod"] as const) {
      await t.rejects(ask(name, { pod: "none" }), refusal("POD_NOT_FOUND", /there is no pod none/), name);
      await t.rejects(ask(name, { pod: "" }), refusal("INVALID_FIELD", /^pod: /), name);
    }
    await t.rejects(ask("removePod", { pod: uuid.slice(0, 8) }), refusal("POD_NOT_FOUND", /no pod/));
    await t.rejects(ask("removePod", { pod: "web" }), refusal("POD_STATE", /web runs: stop it first/));
    await t.rejects(ask("killPod", { pod: "new" }), refusal("POD_STATE", /nothing of pod new runs/));
    for (const signal of ["TERM", "SIGFOO", "sigterm", "9", "SIGTERM&x=1"]) {
      await t.rejects(ask("killPod", { pod: "web", signal }), refusal("INVALID_FIELD", /^signal: /), signal);
    }
    for (const graceSeconds of [-1, 3_601]) {
      await t.rejects(
        ask("stopPod", { pod: "web", graceSeconds }),
        refusal("INVALID_FIELD", /^grace_seconds: must be from 0 to 3600/),
      );
    }
    for (const reference of ["", "busybox", "dir:/etc", "docker.io/x?y", "https://docker.io/x"]) {
      await t.rejects(ask("pullImage", { reference }), refusal("INVALID_FIELD", /^reference: /), reference);
    }
    await t.rejects(ask("removeImage", { image: "" }), refusal("INVALID_FIELD", /^image: /));
    await t.rejects(
      ask("removeImage", { image: "localhost/test/app" }),
      refusal("IMAGE_NOT_FOUND", /no image/),
    );
    await t.rejects(
      ask("removeImage", { image: appImage }),
      refusal("IMAGE_IN_USE", /localhost\/test\/app:1 is used by pod (web, pod new|new, pod web)/),
    );
  }
  const { operations } = await changes.operations.list({}, { belowSeq: undefined, limit: 10 });
  t.same(operations, []);
});

test("signals of real time are known", async (t) => {
  const { changes } = await createSubject(t);
  for (const signal of ["SIGHUP", "SIGRTMIN", "SIGRTMIN+3", "SIGRTMAX-14"]) {
    t.match(await changes.plan("killPod", { pod: "web", signal }), {
      plan: { changes: [`${signal} is sent to pod web: server, proxy`], losses: [] },
    });
  }
});

test("a plan tells the call, what will be and what will be lost, and touches nothing", async (t) => {
  const { runtime, changes, pod, image } = await createSubject(t);
  const before = await runtime.read();
  const { id, uuid } = await pod("web");
  const facts = { resource: `pods/${uuid}`, backend: "sandbox-podman/alpha", pointOfNoReturn: 1 };
  t.same(await changes.plan("startPod", { pod: "web" }), {
    ...facts,
    kind: "pods.start",
    plan: { changes: [], losses: [] },
    steps: [
      { name: "look", command: [] },
      { name: "start", command: ["POST", `pods/${id}/start`] },
    ],
  });
  t.match(await changes.plan("startPod", { pod: "new" }), {
    plan: { changes: ["pod new is started with idle"], losses: [] },
  });
  t.same(await changes.plan("stopPod", { pod: "web", graceSeconds: 30 }), {
    ...facts,
    kind: "pods.stop",
    plan: {
      changes: ["pod web is stopped: server, proxy asked to end, and killed after 30 seconds"],
      losses: [],
    },
    steps: [
      { name: "look", command: [] },
      { name: "stop", command: ["POST", `pods/${id}/stop?t=30`] },
    ],
  });
  t.match(await changes.plan("killPod", { pod: "web" }), {
    plan: { losses: ["whatever server, proxy has not written"] },
    steps: [
      { name: "look", command: [] },
      { name: "signal", command: ["POST", `pods/${id}/kill?signal=SIGKILL`] },
    ],
  });
  t.match(await changes.plan("removePod", { pod: "web", force: true }), {
    plan: {
      changes: ["pod web is removed with server, proxy"],
      losses: ["whatever server, proxy does: it is ended", /^what server, proxy wrote /],
    },
    steps: [
      { name: "look", command: [] },
      { name: "remove", command: ["DELETE", `pods/${id}?force=true`] },
    ],
  });
  t.match(await changes.plan("pullImage", { reference: appImage }), {
    resource: `images/${appImage}`,
    plan: { changes: [/^localhost\/test\/app:1, which is [0-9a-f]{64} now, becomes what its registry has$/] },
    steps: [{ name: "pull", command: ["POST", "images/pull?reference=localhost%2Ftest%2Fapp%3A1"] }],
  });
  t.match(await changes.plan("pullImage", { reference: "docker.io/library/x" }), {
    resource: "images/docker.io/library/x:latest",
    plan: { changes: ["the image docker.io/library/x comes to this host"] },
  });
  t.match(await changes.plan("removeImage", { image: appImage, force: true }), {
    resource: `images/${await image(appImage)}`,
    plan: {
      changes: [/^the image localhost\/test\/app:1, [0-9a-f]{64} is removed$/],
      losses: [/ of pod (web|new), with what they do/, / of pod (web|new), with what they do/],
    },
  });
  t.same((await runtime.read()).value, before.value);
});

test("the same request is the operation that is under way, but for a signal", async (t) => {
  const { changes } = await createSubject(t, { stopMs: 300, pullMs: 300 });
  const [stop, again] = [
    await changes.begin("stopPod", { pod: "web" }),
    await changes.begin("stopPod", { pod: "web", graceSeconds: 10 }),
  ];
  t.equal(again.id, stop.id);
  const other = await changes.begin("stopPod", { pod: "web", graceSeconds: 5 });
  t.not(other.id, stop.id, "with another grace it is another");
  const reference = "docker.io/library/busybox:1.35";
  const [pull, pullAgain] = [
    await changes.begin("pullImage", { reference }),
    await changes.begin("pullImage", { reference }),
  ];
  t.equal(pullAgain.id, pull.id);
  const [kill, killAgain] = [
    await changes.begin("killPod", { pod: "web", signal: "SIGHUP" }),
    await changes.begin("killPod", { pod: "web", signal: "SIGHUP" }),
  ];
  t.not(killAgain.id, kill.id);
  for (const each of [stop, other, pull]) {
    t.match(await changes.end(each), { state: "completed" });
  }
});

test("a pod that its removal has taken already is that operation's while it is under way", async (t) => {
  const { runtime, changes, pod } = await createSubject(t, { stopMs: 0 });
  const { id, uuid } = await pod("web");
  const idle = createChangesUnderTest(t, { runtime, store: await openOwnStore(t), isIdle: true });
  const begun = await idle.begin("removePod", { pod: "web", force: true });
  runtime.pods.removePod(id, true);
  for (const name of ["web", uuid]) {
    t.equal((await idle.begin("removePod", { pod: name, force: true })).id, begun.id, name);
  }
  await t.rejects(idle.begin("removePod", { pod: "none" }), refusal("POD_NOT_FOUND", /none/));
  await t.rejects(changes.begin("removePod", { pod: "web" }), refusal("POD_NOT_FOUND", /web/));
});

test("a pod that somebody has made just now is found", async (t) => {
  const { runtime, changes } = await createSubject(t);
  const begun = changes.make("startPod", { pod: "late" });
  runtime.pods.createPod({
    name: "late",
    containers: [{ name: "x", image: appImage, program: { kind: "tick", everyMs: 60_000 } }],
  });
  t.match(await begun, { state: "completed" });
});

test("what fails has failed with the words of the runtime, and is not repeated in vain", async (t) => {
  const { runtime, changes } = await createSubject(t);
  runtime.pods.createPod({
    name: "broken",
    containers: [
      { name: "good", image: appImage, program: { kind: "tick", everyMs: 60_000 } },
      { name: "bad", image: appImage, program: { kind: "missing" } },
    ],
  });
  t.match(await changes.make("startPod", { pod: "broken" }), {
    state: "failed",
    failure: { reason: "POD_START_FAILED", message: /bad/ },
    steps: [{ attempt: 1 }, { name: "start", attempt: 1, state: "undone" }],
  });
  const { value } = await runtime.read();
  t.equal(
    value.pods.find(({ name }) => name === "broken")?.phase,
    "exited",
    "what was started is stopped again",
  );
  t.match(await changes.make("pullImage", { reference: "docker.io/missing/x:1" }), {
    state: "failed",
    failure: { reason: "IMAGE_PULL_FAILED" },
    steps: [{ name: "pull", attempt: 1 }],
  });
});

test("what has failed in its middle, and cannot be taken back, is told", async (t) => {
  const { runtime, changes, image } = await createSubject(t, {
    fault(step) {
      if (step.kind === "startPod") {
        // Something of the pod ran before: what was started stays.
        return undefined;
      }
      if (step.kind === "removePod") {
        runtime.pods.removePod(step.podId, true);
      } else if (step.kind === "stopPod") {
        runtime.pods.endPod(step.podId, 0);
      } else if (step.kind === "removeImage") {
        runtime.pods.removeImage(step.imageId, true);
      }
      return new InfraError("PODMAN_FAILED", "Podman refused: something is broken");
    },
  });
  const attention = (left: RegExp) => ({
    state: "needsAttention",
    failure: { reason: "PODMAN_FAILED" },
    attention: { left: [left] },
  });
  const stopped = await changes.make("stopPod", { pod: "web" });
  t.match(stopped, attention(/: of pod web .*server does not run any more, proxy does not run any more\.$/));
  await changes.make("startPod", { pod: "web" });
  await changes.operations.retry(stopped.id);
  t.match(await changes.end(stopped), { state: "failed" }, "once it is as it was, nothing is left");
  t.match(await changes.make("removePod", { pod: "new" }), attention(/: pod new is removed\.$/));
  const id = await image("localhost/test/idle:1");
  t.match(
    await changes.make("removeImage", { image: id }),
    attention(/: the image [0-9a-f]{64} is removed\.$/),
  );
  runtime.pods.createPod({
    name: "half",
    containers: [
      { name: "good", image: appImage, program: { kind: "tick", everyMs: 60_000 } },
      { name: "fine", image: appImage, program: { kind: "tick", everyMs: 60_000 } },
      { name: "bad", image: appImage, program: { kind: "missing" } },
    ],
  });
  const half = (await runtime.read()).value.pods.find(({ name }) => name === "half");
  runtime.pods.startContainer(half?.containers.find(({ name }) => name === "good")?.id ?? "");
  t.match(await changes.make("startPod", { pod: "half" }), {
    state: "needsAttention",
    attention: { left: [/of pod half .*-infra runs, fine runs\.$/] },
  });
});

test("a runtime that is away for a while is waited for", async (t) => {
  let failures = 2;
  const away = () => {
    failures -= 1;
    return failures >= 0 ? new InfraError("PODMAN_UNAVAILABLE", "nobody listens") : undefined;
  };
  const { runtime, changes } = await createSubject(t, { fault: away });
  t.match(await changes.make("stopPod", { pod: "web" }), {
    state: "completed",
    steps: [{ attempt: 1 }, { attempt: 3 }],
  });
  runtime.setOutage(new InfraError("PODMAN_UNAVAILABLE", "nobody listens"));
  await t.rejects(changes.begin("startPod", { pod: "web" }), refusal("PODMAN_UNAVAILABLE", /nobody listens/));
});

test("what an earlier attempt has removed or killed is done; what somebody else has removed is not", async (t) => {
  let isAnswerLost = true;
  const { runtime, changes, pod, image } = await createSubject(t, {
    // It is done, and the answer is lost.
    fault: (step) => {
      if (!isAnswerLost) {
        return undefined;
      }
      isAnswerLost = false;
      if (step.kind === "removePod") {
        runtime.pods.removePod(step.podId, true);
      } else if (step.kind === "killPod") {
        runtime.pods.endPod(step.podId, 137);
      } else if (step.kind === "removeImage") {
        runtime.pods.removeImage(step.imageId, true);
      }
      return new InfraError("PODMAN_UNAVAILABLE", "the connection was lost");
    },
  });
  t.match(await changes.make("killPod", { pod: "web" }), {
    state: "completed",
    steps: [{ attempt: 1 }, { attempt: 2 }],
  });
  isAnswerLost = true;
  t.match(await changes.make("removePod", { pod: "web" }), {
    state: "completed",
    steps: [{ attempt: 1 }, { attempt: 2 }],
  });
  isAnswerLost = true;
  t.match(await changes.make("removeImage", { image: "localhost/test/idle:1" }), { state: "completed" });
  const idle = createChangesUnderTest(t, { runtime, store: await openOwnStore(t), isIdle: true });
  const { id } = await pod("new");
  const begun = await idle.begin("removePod", { pod: "new" });
  const removal = await idle.begin("removeImage", { image: await image(appImage), force: true });
  runtime.pods.removeImage(await image(appImage), true);
  t.equal((await leftOf(runtime)).pods.length, 0, id);
  idle.operations.begin();
  t.match(await idle.end(begun), { state: "failed", failure: { reason: "POD_NOT_FOUND" } });
  t.match(await idle.end(removal), { state: "failed", failure: { reason: "IMAGE_NOT_FOUND" } });
});

test("what was begun with another Podman is not done with this one", async (t) => {
  const { changes, runtime } = await createSubject(t);
  const store = await openOwnStore(t);
  const other = { ...runtime, kind: "real" as const };
  const before = createChangesUnderTest(t, { runtime: other, store, isIdle: true });
  const pod = await before.begin("removePod", { pod: "web", force: true });
  const image = await before.begin("removeImage", { image: "localhost/test/idle:1" });
  t.equal(pod.backend, "podman/alpha:/sandbox/store");
  const after = createChangesUnderTest(t, { runtime, store });
  t.match(await after.end(pod), {
    state: "failed",
    failure: { reason: "POD_NOT_FOUND", message: /it is of podman/ },
  });
  t.match(await after.end(image), { state: "failed", failure: { reason: "IMAGE_NOT_FOUND" } });
  t.match(await leftOf(runtime), { pods: ["new created", "web running"] });
  await changes.close();
});
