import { test } from "tap";
import { callableServices } from "../../../../server/rpc/call/callable-services.ts";
import { anonymous, type Caller } from "../../../../server/rpc/call/caller.ts";
import { createCall } from "./call-under-test.ts";

function servicesOf(ofCaller: readonly string[] | undefined, ofListener: readonly string[] | undefined) {
  const call = createCall({ peer: { services: ofListener && new Set(ofListener) } });
  const current: Caller = { ...anonymous, services: ofCaller && new Set(ofCaller) };
  call.identify({ ...anonymous, current: () => current });
  const services = callableServices(call);
  return services && [...services];
}

test("a caller may call the services that both its current role and its listener allow", async (t) => {
  t.equal(servicesOf(undefined, undefined), undefined);
  t.same(servicesOf(["a", "b"], undefined), ["a", "b"]);
  t.same(servicesOf(undefined, ["b", "c"]), ["b", "c"]);
  t.same(servicesOf(["a", "b"], ["b", "c"]), ["b"]);
  t.same(servicesOf(["a"], ["c"]), []);
});

test("the same caller and listener get the same set each time", async (t) => {
  const call = createCall({ peer: { services: new Set(["b", "c"]) } });
  let current: Caller = { ...anonymous, services: new Set(["a", "b"]) };
  call.identify({ ...anonymous, current: () => current });
  const first = callableServices(call);
  t.equal(callableServices(call), first);
  current = { ...anonymous, services: new Set(["c"]) };
  const changed = callableServices(call);
  t.same(changed && [...changed], ["c"]);
  t.equal(callableServices(call), changed);
});
