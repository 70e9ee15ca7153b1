import { test } from "tap";
import { openOwnStore } from "../../../store/own-store.ts";
import { appImage, createChangesUnderTest, createSubject, refusal } from "./changes-under-test.ts";

test("the same request returns the running operation, except for a signal", async (t) => {
  const { changes } = await createSubject(t, { stopMs: 300, pullMs: 300 });
  const [stop, again] = [
    await changes.begin("stopPod", { pod: "web" }),
    await changes.begin("stopPod", { pod: "web", graceSeconds: 10 }),
  ];
  t.equal(again.id, stop.id);
  const other = await changes.begin("stopPod", { pod: "web", graceSeconds: 5 });
  t.not(other.id, stop.id, "a different grace period is a different request");
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

test("for a pod that its removal has already removed, the same request returns that operation while it is running", async (t) => {
  const { runtime, changes, pod } = await createSubject(t, { stopMs: 0 });
  const { id, uuid } = await pod("web");
  const idle = createChangesUnderTest(t, { runtime, store: await openOwnStore(t), isIdle: true });
  const started = await idle.begin("removePod", { pod: "web", force: true });
  runtime.pods.removePod(id, true);
  for (const name of ["web", uuid, id, id.toUpperCase()]) {
    t.equal((await idle.begin("removePod", { pod: name, force: true })).id, started.id, name);
  }
  await t.rejects(
    idle.begin("removePod", { pod: "web" }),
    refusal("POD_NOT_FOUND", /web/),
    "without force it is a different request",
  );
  await t.rejects(idle.begin("removePod", { pod: "none" }), refusal("POD_NOT_FOUND", /none/));
  await t.rejects(changes.begin("removePod", { pod: "web" }), refusal("POD_NOT_FOUND", /web/));
});

test("for an image that its removal has already removed, the same request returns that operation while it is running", async (t) => {
  const { runtime, image } = await createSubject(t);
  const id = await image(appImage);
  const idle = createChangesUnderTest(t, { runtime, store: await openOwnStore(t), isIdle: true });
  const started = await idle.begin("removeImage", { image: appImage, force: true });
  runtime.pods.removeImage(id, true);
  for (const name of [appImage, id, `sha256:${id.toUpperCase()}`]) {
    t.equal((await idle.begin("removeImage", { image: name, force: true })).id, started.id, name);
  }
  await t.rejects(idle.begin("removeImage", { image: appImage }), refusal("IMAGE_NOT_FOUND", /app:1/));
});
