import fc from "fast-check";
import { test } from "tap";
import { hasReason } from "../../../adapters/host/infra-error.ts";
import { newFakeMachine } from "../../../adapters/maas/fake/machine.ts";
import { createFakeRegion } from "../../../adapters/maas/fake/region.ts";
import { renderEventTime } from "../../../adapters/maas/fake/render.ts";
import { renderMachineOf } from "../../../adapters/maas/fake/render-machine.ts";
import { machineStatusFrom } from "../../../adapters/maas/machine-status.ts";
import * as parse from "../../../adapters/maas/parse-reply.ts";
import { maasReasons } from "../../../adapters/maas/reasons.ts";

const seed = newFakeMachine({ systemId: "sbxaaa", hostname: "sandbox-node-1", tags: ["gpu"], pool: "kube" });
const region = createFakeRegion({
  ...{ machines: [], images: [], tags: ["gpu"], pools: ["kube"], zones: ["default"], users: [] },
  ...{ deployMs: 0, releaseMs: 0, eraseMs: 0, nowMs: () => 0 },
});
const rendered = renderMachineOf(region, {
  ...seed,
  status: "deployed",
  owner: "me",
  annotations: { a: "b" },
});

test("parses a machine of 3.4", async (t) => {
  t.same(parse.parseMachine(rendered), {
    systemId: "sbxaaa",
    hostname: "sandbox-node-1",
    fqdn: "sandbox-node-1.maas",
    status: "deployed",
    statusCode: 6,
    statusMessage: "",
    owner: "me",
    annotations: new Map([["a", "b"]]),
    ipAddresses: [],
    tags: ["gpu"],
    cpuCount: 8,
    memoryMib: 16_384,
    architecture: "amd64/generic",
    powerState: "off",
    pool: "kube",
    zone: "default",
    isLocked: false,
    osystem: "",
    series: "",
  });
});

test("accepts added, missing and null keys of other versions", async (t) => {
  const { pod: _pod, virtualmachine_id: _id, workload_annotations: _annotations, ...later } = rendered;
  const machine = parse.parseMachine({ ...later, error_description: "", is_dpu: false, status: 23 });
  t.match(machine, { status: "unknown", statusCode: 23 });
  t.equal(machine.annotations.get("a"), "b", "by their old name, owner_data");
  const bare = parse.parseMachine({ system_id: "abcdef", hostname: "h", status: 4, owner: null, pool: null });
  t.match(bare, { owner: undefined, pool: undefined, powerState: "unknown", tags: [], memoryMib: 0 });
  t.same(parse.parseMachine({ ...rendered, ip_addresses: [null, "", "10.0.0.1"] }).ipAddresses, ["10.0.0.1"]);
});

test("text written by users or machines becomes one short line without passwords", async (t) => {
  const words = `curtin:\n\u001b[31m\0cannot fetch http://user:hidden@mirror/ubuntu ${"x y ".repeat(1e5)}`;
  const reported = /^curtin: \[31m cannot fetch http:\/\/…@mirror\/ubuntu x y .*…$/;
  const { statusMessage } = parse.parseMachine({ ...rendered, status_message: words });
  t.match(statusMessage, reported);
  t.equal(statusMessage.length, 300);
  const [event] = parse.parseEvents({ events: [{ id: 1, description: words }] });
  t.match(event?.description, reported);
});

test("every status number has one name", async (t) => {
  const names = Array.from({ length: 23 }, (_, code) => machineStatusFrom(code));
  t.equal(new Set(names).size, 23);
  t.notOk(names.includes("unknown"));
  t.same([4, 6, 8, 9, 10, 11, 12, 14].map(machineStatusFrom), [
    ...[
      "ready",
      "deployed",
      "broken",
      "deploying",
      "allocated",
      "failedDeployment",
      "releasing",
      "diskErasing",
    ],
  ]);
  t.same([-1, 23, 1e9, 4.5].map(machineStatusFrom), ["unknown", "unknown", "unknown", "unknown"]);
});

test("an invalid version is undefined", async (t) => {
  t.equal(parse.parseVersion({ version: "None", subversion: "", capabilities: [] }).version, undefined);
  t.equal(parse.parseVersion({ version: "3.8.0~alpha1" }).version, "3.8.0~alpha1");
});

test("images are synced or uploaded", async (t) => {
  const images = ["Synced", "Uploaded", "Generated"].map((type, id) => ({
    id,
    name: "n",
    type,
    architecture: "a",
  }));
  t.same(
    parse.parseImages(images).map(({ kind }) => kind),
    ["synced", "uploaded", "other"],
  );
});

test("parses the time of an event in MAAS's format only", async (t) => {
  t.equal(parse.msFromEventTime("Sat, 21 Nov. 2026 00:19:06"), Date.UTC(2026, 10, 21, 0, 19, 6));
  for (const text of ["", "Sat, 21 Nov 2026 00:19:06", "2026-11-21T00:19:06", "Sat, 21 Foo. 2026 00:19:06"]) {
    t.equal(parse.msFromEventTime(text), undefined);
  }
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e9 }), (seconds) => {
      return parse.msFromEventTime(renderEventTime(seconds * 1000)) === seconds * 1000;
    }),
  );
});

test("any input is parsed or rejected as MAAS_FAILED", async (t) => {
  const value = fc.jsonValue();
  const mutated = fc
    .tuple(fc.constantFrom(...(Object.keys(rendered) as (keyof typeof rendered)[])), value)
    .map(([key, changed]) => ({ ...rendered, [key]: changed }));
  for (const [name, read] of Object.entries(parse)) {
    if (name === "msFromEventTime") {
      continue;
    }
    fc.assert(
      fc.property(fc.oneof(value, mutated, fc.array(mutated, { maxLength: 3 })), (json) => {
        try {
          (read as (value: unknown) => unknown)(json);
          return true;
        } catch (error) {
          return hasReason(error, maasReasons.MAAS_FAILED);
        }
      }),
    );
    t.pass(name);
  }
});
