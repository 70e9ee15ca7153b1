import { test } from "tap";
import { createStateKeeper } from "../../../adapters/kubernetes/state-keeper.ts";
import { kubernetesState } from "../../server/domains/storage/kubernetes-state.ts";
import { reasonOf } from "../host/reason-of.ts";

test("reads fail after a period without a reply, even if no failure was reported", async (t) => {
  const keeper = createStateKeeper({ load: () => kubernetesState(), keepMs: 30_000 });
  t.teardown(() => keeper.close());
  keeper.setAnswered(undefined, performance.now() - 29_000);
  t.match(await keeper.read(), { staleBecause: undefined });
  keeper.setAnswered(undefined, performance.now() - 30_001);
  t.equal(await reasonOf(keeper.read()), "KUBERNETES_UNAVAILABLE");
  keeper.setAnswered(undefined, performance.now());
  t.match(await keeper.read(), { staleBecause: undefined });
});
