import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { podmanReasons } from "../../../../../adapters/podman/reasons.ts";
import { createPodmanSandbox } from "../../../../../adapters/podman/sandbox.ts";
import { createPodBackend } from "../../../../../server/domains/pods/monitoring/backend.ts";
import { podOf, runtimeOf } from "../pods-under-test.ts";

test("Podman is reported with its version, also while it is unavailable", async (t) => {
  const runtime = createPodmanSandbox();
  t.teardown(() => runtime.close());
  const backend = createPodBackend(runtime, () => false);
  t.match(await backend.status(), { health: "ok", version: "0.0.0-sandbox", missing: [] });
  runtime.setOutage(new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "it is stopped"));
  runtime.pods.createPod({ name: "new", containers: [] });
  t.match(await backend.status(), {
    health: "unavailable",
    version: "0.0.0-sandbox",
    missing: ["it is stopped"],
  });
});

test("an unreadable pod degrades it", async (t) => {
  const { id, uuid } = podOf("aaaa");
  const unreadable = [{ podId: id, podUuid: uuid, why: "it is being removed" }];
  const backend = createPodBackend(runtimeOf(t, { unreadable }), () => false);
  t.match(await backend.status(), {
    health: "degraded",
    missing: [`pod ${uuid} cannot be read: it is being removed`],
  });
});
