import { test } from "tap";
import { startFleetUnderTest } from "./fleet-under-test.ts";

const create = { method: "proto.LVService/CreateLV", json: { name: "planned", sizeGb: "1" } };

test("a plan is made by the host that would get the call", async (t) => {
  const fleet = await startFleetUnderTest(t, ["node-1", "node-2"]);
  const { hosts, authorization, hub } = fleet;
  const plan = async (request: object, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${hub.url}/hostplane.v1.PlanService/Plan`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", ...headers },
      body: JSON.stringify(request),
    });
    const text = await response.text();
    return {
      status: response.status,
      host: response.headers.get("hostplane-host"),
      reason: /"reason":"([A-Z_]+)"/.exec(text)?.[1],
      text,
    };
  };

  t.match(await plan(create), { reason: "HOST_REQUIRED", text: /node-1, node-2/ });
  t.match(await plan(create, { "hostplane-host": "node-2" }), { status: 200, host: "node-2" });
  const userDeletion = { method: "hostplane.v1.UserService/DeleteUser", json: { name: "admin" } };
  t.match(await plan(userDeletion, { "hostplane-host": "node-1" }), { reason: "NOT_ON_HOSTS" });
  t.match(await plan(userDeletion), { host: null, text: /admin/ }, "the hub's own users");

  hosts.set("node-1", hosts.find("node-1")?.link, new Set());
  const planned = await plan(create);
  t.match(planned, { status: 200, host: "node-2", text: /lvcreate/ });
  t.match(await plan({ ...create, json: { name: "planned" } }), { reason: "INVALID_FIELD", host: "node-2" });
  t.match(await plan({ ...create, json: { nmae: "planned" } }), { reason: "UNKNOWN_FIELD" });
  t.ok(
    hub.log.some(({ rpc, fleetHost }) => rpc === "hostplane.v1.PlanService/Plan" && fleetHost === "node-2"),
    "the log names the host",
  );
  fleet.link("node-2").cut();
  t.match(await plan(create), { reason: "HOST_UNREACHABLE" });
});
