import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { kubernetesReasons } from "../../../../../adapters/kubernetes/reasons.ts";
import { createKubernetesSandbox } from "../../../../../adapters/kubernetes/sandbox.ts";
import { createKubernetesInspector } from "../../../../../server/domains/storage/doctor/inspect-kubernetes.ts";

test("doctor reports missing permissions of the account, and the fix", async (t) => {
  const kubernetes = createKubernetesSandbox();
  t.teardown(() => kubernetes.close());
  const inspector = createKubernetesInspector(kubernetes);
  t.equal(inspector.name, "kubernetes");
  t.match(await inspector.inspect(), { findings: [{ ok: true }] });
  kubernetes.setMissing("nodes", "The account may not list nodes");
  t.match(await inspector.inspect(), {
    findings: [{ ok: true }, { ok: false, what: "The account may not list nodes", fix: /kubectl apply/ }],
  });
  kubernetes.setOutage(
    new InfraError(kubernetesReasons.KUBERNETES_UNAVAILABLE, "Kubernetes cannot be reached"),
  );
  t.match(await inspector.inspect(), { findings: [{ ok: false, what: "Kubernetes cannot be reached" }] });
});
