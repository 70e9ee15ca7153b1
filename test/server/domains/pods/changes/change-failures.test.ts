import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../../../adapters/podman/reasons.ts";
import { createStepFaults } from "../../../../../adapters/sandbox/step-faults.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import { appImage, createChangesUnderTest, createSubject, leftOf, refusal } from "./changes-under-test.ts";

test("a failure contains the runtime's message, and is not retried when that is pointless", async (t) => {
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
    "the started containers are stopped again",
  );
  t.match(await changes.make("pullImage", { reference: "docker.io/missing/x:1" }), {
    state: "failed",
    failure: { reason: "IMAGE_PULL_FAILED" },
    steps: [{ name: "pull", attempt: 1 }],
  });
});

test("a failed change that cannot be reverted is reported", async (t) => {
  const { runtime, changes, image } = await createSubject(t, {
    faults: createStepFaults((step) => {
      if (step.kind === "startPod") {
        // A container of the pod was running before: the started ones keep running.
        return undefined;
      }
      if (step.kind === "removePod") {
        runtime.pods.removePod(step.podId, true);
      } else if (step.kind === "stopPod") {
        runtime.pods.endPod(step.podId, 0);
      } else if (step.kind === "removeImage") {
        runtime.pods.removeImage(step.imageId, true);
      }
      return new InfraError(podmanReasons.PODMAN_FAILED, "Podman refused: something is broken");
    }),
  });
  const attention = (left: RegExp) => ({
    state: "needsAttention",
    failure: { reason: "PODMAN_FAILED" },
    attention: { left: [left] },
  });
  const stopped = await changes.make("stopPod", { pod: "web" });
  t.match(stopped, attention(/: in pod web, .*server is no longer running, proxy is no longer running\.$/));
  await changes.make("startPod", { pod: "web" });
  await changes.operations.retry(stopped.id);
  t.match(
    await changes.end(stopped),
    { state: "failed" },
    "once the pod is in its previous state, nothing is left",
  );
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
    attention: { left: [/in pod half, .*-infra is running, fine is running\.$/] },
  });
});

test("an unavailable runtime is waited for", async (t) => {
  let failures = 2;
  const away = () => {
    failures -= 1;
    return failures >= 0 ? new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "connection refused") : undefined;
  };
  const { runtime, changes } = await createSubject(t, { faults: createStepFaults(away) });
  t.match(await changes.make("stopPod", { pod: "web" }), {
    state: "completed",
    steps: [{ attempt: 1 }, { attempt: 3 }],
  });
  runtime.setOutage(new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "connection refused"));
  await t.rejects(
    changes.begin("startPod", { pod: "web" }),
    refusal("PODMAN_UNAVAILABLE", /connection refused/),
  );
});

test("what an earlier attempt has removed or killed counts as done; what another user has removed does not", async (t) => {
  let isAnswerLost = true;
  const { runtime, changes, pod, image } = await createSubject(t, {
    // The change is made, and the response is lost.
    faults: createStepFaults((step) => {
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
      return new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "the connection was lost");
    }),
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
  const started = await idle.begin("removePod", { pod: "new" });
  const removal = await idle.begin("removeImage", { image: await image(appImage), force: true });
  runtime.pods.removeImage(await image(appImage), true);
  runtime.pods.removePod(id, true);
  idle.operations.begin();
  t.match(await idle.end(started), { state: "failed", failure: { reason: "POD_NOT_FOUND" } });
  t.match(await idle.end(removal), { state: "failed", failure: { reason: "IMAGE_NOT_FOUND" } });
});

test("an operation started with another Podman store is not continued with this one", async (t) => {
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
    failure: { reason: "POD_NOT_FOUND", message: /it belongs to podman/ },
  });
  t.match(await after.end(image), { state: "failed", failure: { reason: "IMAGE_NOT_FOUND" } });
  t.match(await leftOf(runtime), { pods: ["new created", "web running"] });
  await changes.close();
});
