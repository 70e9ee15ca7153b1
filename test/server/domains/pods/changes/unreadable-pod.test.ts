import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../../../adapters/podman/reasons.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import {
  createChangesUnderTest,
  createRuntime,
  createSubject,
  leftOf,
  refusal,
} from "./changes-under-test.ts";

test("an unreadable pod exists, and can only be removed by force", async (t) => {
  const { runtime, changes, changeCalls, pod } = await createSubject(t);
  const { id, uuid } = await pod("web");
  runtime.pods.breakPod(id, "no such container: it is half removed");
  const why = refusal("PODMAN_FAILED", /cannot be read at the moment.*half removed/);
  for (const changeCall of changeCalls) {
    for (const name of ["startPod", "stopPod", "killPod"] as const) {
      await t.rejects(changeCall(name, { pod: uuid.slice(0, 8) }), why, name);
    }
    await t.rejects(changeCall("removePod", { pod: uuid }), why);
  }
  t.match(await changes.plan("removePod", { pod: id, force: true }), {
    resource: `pods/${uuid}`,
    plan: {
      changes: [`pod ${uuid}, which cannot be read, is removed with everything left of it`],
      losses: [/^work in progress, data and logs of its containers, .*half removed$/],
    },
    steps: [{ name: "check" }, { name: "remove", command: ["DELETE", `pods/${id}?force=true`] }],
  });
  t.match(await changes.make("removePod", { pod: uuid, force: true }), {
    state: "completed",
    result: { podId: uuid, podName: uuid },
  });
  const { value } = await runtime.read();
  t.strictSame(value.unreadable, []);
  t.strictSame((await leftOf(runtime)).pods, ["new created"]);
});

test("a pod that has become unreadable since it was listed is reported as unreadable, whichever part is missing", async (t) => {
  const runtime = createRuntime(t);
  const store = await openOwnStore(t);
  const halfRemoved = {
    ...runtime,
    inspectPod: async () => {
      throw new InfraError(podmanReasons.CONTAINER_NOT_FOUND, "no such container");
    },
  };
  const changes = createChangesUnderTest(t, { runtime: halfRemoved, store });
  await t.rejects(changes.begin("stopPod", { pod: "web" }), refusal("PODMAN_FAILED", /no such container/));
  await t.rejects(
    changes.begin("removePod", { pod: "web" }),
    refusal("PODMAN_FAILED", /pod web cannot be read/),
  );
  t.match(await changes.make("removePod", { pod: "web", force: true }), {
    state: "completed",
    result: { podName: "web" },
  });
  t.strictSame((await leftOf(runtime)).pods, ["new created"]);
});
