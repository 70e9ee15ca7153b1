import fc from "fast-check";
import { test } from "tap";
import { podPhaseFrom } from "../../../adapters/podman/pod-phase.ts";
import type { ContainerState } from "../../../adapters/podman/runtime-state.ts";

const infra = (state: ContainerState) => ({ isInfra: true, state });
const app = (state: ContainerState) => ({ isInfra: false, state });

test("the phase of a pod follows its app containers", async (t) => {
  t.equal(podPhaseFrom([]), "created");
  t.equal(podPhaseFrom([infra("created"), app("created")]), "created");
  for (const state of ["running", "paused", "stopping"] as const) {
    t.equal(podPhaseFrom([infra("running"), app("exited"), app(state)]), "running", state);
  }
  t.equal(
    podPhaseFrom([infra("running"), app("exited"), app("created")]),
    "exited",
    "Podman reports Degraded",
  );
  t.equal(podPhaseFrom([infra("running"), app("exited"), app("unknown")]), "unknown");
});

test("while no app container has been started, the phase follows the infra container", async (t) => {
  t.equal(podPhaseFrom([infra("running")]), "running");
  t.equal(podPhaseFrom([infra("running"), app("created")]), "running");
  t.equal(podPhaseFrom([infra("exited"), app("created")]), "exited");
});

test("an app container that was only created does not change the phase", async () => {
  const anyState = fc.constantFrom<ContainerState>("created", "running", "paused", "exited", "unknown");
  fc.assert(
    fc.property(anyState, fc.array(anyState), (ofInfra, ofApps) => {
      const before = [infra(ofInfra), ...ofApps.map(app)];
      return podPhaseFrom([...before, app("created")]) === podPhaseFrom(before);
    }),
  );
});
