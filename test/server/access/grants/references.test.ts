import { test } from "tap";
import { type GrantedCaller, startGrants } from "./grants-under-test.ts";

const absent = "ffffffff";

async function runningPod(caller: GrantedCaller) {
  const { body } = await caller.call("hostplane.v1.InventoryService/ListResources", {
    filter: { types: ["pod"], states: ["running"] },
  });
  const [pod] = body.resources as readonly { readonly name: string; readonly title: string }[];
  if (pod === undefined) {
    throw new Error("the sandbox has no running pod");
  }
  return { ...pod, id: pod.name.slice("pods/".length) };
}

test("a refusal names what the request names, whether or not that refers to something", async (t) => {
  const { admin, userWith } = await startGrants(t);
  const pod = await runningPod(admin);
  const caller = await userWith("database", [{ role: "ROLE_OPERATOR", resources: ["pods/db-*"] }]);
  const references = [
    ["v1alpha.PublicAPI/InspectPod", "id", pod.id.slice(0, 8)],
    ["hostplane.v1.PodService/StopPod", "pod", pod.title],
    ["hostplane.v1.PodService/RemovePod", "pod", pod.id.toUpperCase()],
  ] as const;
  for (const [method, field, reference] of references) {
    const [existing, missing] = await Promise.all(
      [reference, absent].map((each) => caller.call(method, { [field]: each })),
    );
    t.match([existing, missing], [{ reason: "NOT_GRANTED" }, { reason: "NOT_GRANTED" }], method);
    t.equal(String(existing?.body.message).replaceAll(reference, absent), missing?.body.message, method);
    t.notMatch(existing?.text, pod.id, method);
  }
});

test("the commands of an operation need a grant for its method, and not only one that shows it", async (t) => {
  const { admin, userWith } = await startGrants(t);
  const { name, id: pod } = await runningPod(admin);
  const { body: stopped } = await admin.call("hostplane.v1.PodService/StopPod", { pod });
  const { id } = stopped.operation as { readonly id: string };
  const elsewhere = { role: "ROLE_OPERATOR", resources: ["volumeGroups/sandbox-vg/volumes/db-*"] };
  const viewer = await userWith("viewer", [elsewhere, { role: "ROLE_VIEWER", resources: [name] }]);
  const operator = await userWith("operator", [{ role: "ROLE_OPERATOR", resources: [name] }]);
  t.equal((await viewer.call("hostplane.v1.OperationService/GetOperation", { id })).status, 200);
  t.equal((await viewer.call("hostplane.v1.OperationService/ListCommands", { id })).reason, "NOT_GRANTED");
  t.equal((await operator.call("hostplane.v1.OperationService/ListCommands", { id })).status, 200);
});
