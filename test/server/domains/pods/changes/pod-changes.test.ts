import { test } from "tap";
import { appImage, createSubject, leftOf, refusal } from "./changes-under-test.ts";

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
  t.equal(
    (await changes.make("startPod", { pod: "new" })).state,
    "completed",
    "a running pod stays as it is",
  );
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
  t.match(
    (await runtime.read()).value.pods.map(({ containers }) => containers.map(({ isInfra }) => isInfra)),
    [[true], [true]],
    "with the containers that use it",
  );
});

test("requests that are known to fail are rejected, and nothing is started", async (t) => {
  const { changes, changeCalls, pod } = await createSubject(t);
  const { uuid } = await pod("web");
  for (const changeCall of changeCalls) {
    for (const name of ["startPod", "stopPod", "killPod", "removePod"] as const) {
      await t.rejects(
        changeCall(name, { pod: "none" }),
        refusal("POD_NOT_FOUND", /pod none not found/),
        name,
      );
      await t.rejects(changeCall(name, { pod: "" }), refusal("INVALID_FIELD", /^pod: /), name);
    }
    await t.rejects(
      changeCall("removePod", { pod: uuid.slice(0, 8) }),
      refusal("POD_NOT_FOUND", /pod \S+ not found/),
    );
    await t.rejects(
      changeCall("removePod", { pod: "web" }),
      refusal("POD_STATE", /web is running: stop it first/),
    );
    await t.rejects(
      changeCall("killPod", { pod: "new" }),
      refusal("POD_STATE", /no container of pod new is running/),
    );
    for (const signal of ["TERM", "SIGFOO", "sigterm", "9", "SIGTERM&x=1"]) {
      await t.rejects(
        changeCall("killPod", { pod: "web", signal }),
        refusal("INVALID_FIELD", /^signal: /),
        signal,
      );
    }
    for (const graceSeconds of [-1, 3_601]) {
      await t.rejects(
        changeCall("stopPod", { pod: "web", graceSeconds }),
        refusal("INVALID_FIELD", /^grace_seconds: must be from 0 to 3600/),
      );
    }
    for (const reference of ["", "busybox", "dir:/etc", "docker.io/x?y", "https://docker.io/x"]) {
      await t.rejects(
        changeCall("pullImage", { reference }),
        refusal("INVALID_FIELD", /^reference: /),
        reference,
      );
    }
    await t.rejects(changeCall("removeImage", { image: "" }), refusal("INVALID_FIELD", /^image: /));
    await t.rejects(
      changeCall("removeImage", { image: "localhost/test/app" }),
      refusal("IMAGE_NOT_FOUND", /image \S+ not found/),
    );
    await t.rejects(
      changeCall("removeImage", { image: appImage }),
      refusal("IMAGE_IN_USE", /localhost\/test\/app:1 is used by pod (web, pod new|new, pod web)/),
    );
  }
  const { operations } = await changes.operations.list({}, { belowSeq: undefined, limit: 10 });
  t.same(operations, []);
});

test("real-time signals are known", async (t) => {
  const { changes } = await createSubject(t);
  for (const signal of ["SIGHUP", "SIGRTMIN", "SIGRTMIN+3", "SIGRTMAX-14"]) {
    t.match(await changes.plan("killPod", { pod: "web", signal }), {
      plan: { changes: [`${signal} is sent to pod web: server, proxy`], losses: [] },
    });
  }
});

test("a pod that was just created is found", async (t) => {
  const { runtime, changes } = await createSubject(t);
  const starting = changes.make("startPod", { pod: "late" });
  runtime.pods.createPod({
    name: "late",
    containers: [{ name: "x", image: appImage, program: { kind: "tick", everyMs: 60_000 } }],
  });
  t.match(await starting, { state: "completed" });
});
