import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { test } from "tap";
import {
  agentNameOf,
  markedSlotOf,
  marksFrom,
  marksOf,
} from "../../../../../../server/domains/clusters/reconcile/machines/machine-marks.ts";

const slot = { uid: randomUUID(), cluster: "prod", clusterUid: randomUUID(), pool: "web", sequence: 7 };
const installation = "0123456789abcdef";
const facts = {
  installationId: installation,
  cluster: "prod",
  clusterUid: slot.clusterUid,
  slotUid: slot.uid,
  sequence: 7,
};

test("written marks can be read back", async (t) => {
  t.same(marksFrom(new Map(Object.entries(marksOf(installation, slot)))), { ...facts, pool: "web" });
  const ofControlPlane = marksOf(installation, { ...slot, pool: undefined });
  t.same(marksFrom(new Map(Object.entries(ofControlPlane))), { ...facts, pool: undefined });
  t.equal(ofControlPlane["hostplane-pool"], "control-plane");
  t.equal(markedSlotOf(new Map(Object.entries(ofControlPlane))), slot.uid);
});

test("incomplete or modified marks are ignored", async (t) => {
  const marks = Object.entries(marksOf(installation, slot));
  for (const [key] of marks) {
    t.equal(marksFrom(new Map(marks.filter(([name]) => name !== key))), undefined, key);
    t.equal(marksFrom(new Map([...marks, [key, ""]])), undefined, `${key} is empty`);
  }
  for (const sequence of ["x", "-1", "1.5", "1e3", " 7", "9".repeat(40)]) {
    t.equal(marksFrom(new Map([...marks, ["hostplane-sequence", sequence]])), undefined, sequence);
  }
});

test("other annotations are not mistaken for marks", async (t) => {
  const annotations = fc.dictionary(fc.string(), fc.string());
  fc.assert(fc.property(annotations, (all) => marksFrom(new Map(Object.entries(all))) === undefined));
  t.pass();
});

test("each slot has its own agent name", async (t) => {
  t.equal(agentNameOf(installation, slot.uid), `kaas/${installation}/${slot.uid}`);
});
