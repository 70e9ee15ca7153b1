import { type Test, test } from "tap";
import { createSubject, refusal } from "./changes-under-test.ts";

async function createPaused(t: Test) {
  const subject = await createSubject(t);
  const { containers } = await subject.pod("web");
  subject.runtime.pods.pauseContainer(containers.find(({ name }) => name === "server")?.id ?? "");
  const states = async () => (await subject.pod("web")).containers.map(({ state }) => state).toSorted();
  return { ...subject, states };
}

test("a pod with paused containers is stopped as a whole", async (t) => {
  const { changes, states } = await createPaused(t);
  t.match(await changes.plan("stopPod", { pod: "web" }), {
    plan: {
      changes: [
        "server of pod web is resumed in order to stop",
        "pod web is stopped: server, proxy asked to exit, and killed after 10 seconds",
      ],
    },
  });
  t.match(await changes.make("stopPod", { pod: "web" }), { state: "completed" });
  t.strictSame(await states(), ["exited", "exited", "exited"]);
});

test("changes that Podman would only half apply to a paused pod are rejected, and nothing is started", async (t) => {
  const { changes, changeCalls, states } = await createPaused(t);
  const why = refusal("POD_STATE", /^pod web has paused containers: server; /);
  for (const changeCall of changeCalls) {
    await t.rejects(changeCall("startPod", { pod: "web" }), why);
    await t.rejects(changeCall("killPod", { pod: "web", signal: "SIGTERM" }), why);
  }
  t.strictSame(await states(), ["paused", "running", "running"]);
  t.match(
    await changes.make("killPod", { pod: "web" }),
    { state: "completed" },
    "SIGKILL ends all containers",
  );
  t.strictSame(await states(), ["exited", "exited", "exited"]);
});
