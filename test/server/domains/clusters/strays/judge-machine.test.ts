import fc from "fast-check";
import { test } from "tap";
import type { MaasMachine, MaasMachineStatus } from "../../../../../adapters/maas/machine.ts";
import { machineStatuses } from "../../../../../adapters/maas/machine-status.ts";
import type { MachineMarks } from "../../../../../server/domains/clusters/reconcile/machines/machine-marks.ts";
import type { SlotRecord, SlotState } from "../../../../../server/domains/clusters/store/records.ts";
import {
  isUnexplained,
  judgeMachine,
  type KnownSlots,
  type SeenMachine,
} from "../../../../../server/domains/clusters/strays/judge-machine.ts";
import { reportOnlyReason } from "../../../../../server/domains/clusters/strays/report-only.ts";

const installationId = "0123456789abcdef";

function machineWith(systemId: string, status: MaasMachineStatus, isLocked = false): MaasMachine {
  return {
    systemId,
    hostname: `node-${systemId}`,
    fqdn: `node-${systemId}.maas`,
    status,
    statusCode: machineStatuses.indexOf(status),
    statusMessage: "",
    owner: "us",
    annotations: new Map(),
    ipAddresses: [],
    tags: [],
    cpuCount: 4,
    memoryMib: 4096,
    architecture: "amd64/generic",
    powerState: "off",
    pool: "default",
    zone: "default",
    isLocked,
    osystem: "",
    series: "",
  };
}

function slotWith(
  uid: string,
  state: SlotState,
  ids: Pick<SlotRecord, "systemId" | "candidateId">,
): SlotRecord {
  return {
    uid,
    cluster: "prod",
    clusterUid: "prod-uid",
    pool: undefined,
    instanceType: "standard",
    labels: [],
    k8sVersion: "1.36.1",
    state,
    hostname: undefined,
    ipAddress: undefined,
    sequence: 1,
    message: "",
    reason: "",
    attempts: 0,
    nextTryAtMs: 0,
    stateSinceMs: 0,
    createdAtMs: 0,
    ...ids,
  };
}

function marksWith(slotUid: string, sequence = 1, of = installationId): MachineMarks {
  return { installationId: of, cluster: "prod", clusterUid: "prod-uid", pool: undefined, slotUid, sequence };
}

const none = { systemId: undefined, candidateId: undefined };
// Few enough to coincide often.
const systemIds = fc.constantFrom("m1", "m2");
const slotUids = fc.constantFrom("s1", "s2", "s3");
const states = fc.oneof(
  fc.constant<SlotState>("released"),
  fc.constantFrom<SlotState>("wanted", "candidate", "allocated", "deploying", "joined", "releasing"),
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const slots = fc.uniqueArray(
  fc
    .record({ uid: slotUids, state: states, systemId: maybe(systemIds), candidateId: maybe(systemIds) })
    .map(({ uid, state, ...ids }) => slotWith(uid, state, ids)),
  { selector: ({ uid }) => uid },
);
const known: fc.Arbitrary<KnownSlots> = fc.record({
  installationId: fc.constant(installationId),
  sequence: fc.nat(3),
  slots,
  candidates: fc.array(fc.record({ slotUid: slotUids, systemId: systemIds }), { maxLength: 6 }),
});
const status = fc.oneof(fc.constant<MaasMachineStatus>("allocated"), fc.constantFrom(...machineStatuses));
const seen: fc.Arbitrary<SeenMachine> = fc.record({
  machine: fc.tuple(systemIds, status, fc.boolean()).map((facts) => machineWith(...facts)),
  marks: maybe(
    fc
      .tuple(slotUids, fc.nat(5), fc.constantFrom(installationId, "fedcba9876543210"))
      .map((facts) => marksWith(...facts)),
  ),
  agentSlot: maybe(slotUids),
});

test("only machines without use are releasable, whatever MAAS and the store contain", async (t) => {
  let releases = 0;
  fc.assert(
    fc.property(seen, known, fc.boolean(), (machineSeen, store, isReportOnly) => {
      const verdict = judgeMachine(machineSeen, store, isReportOnly);
      if (verdict.is !== "stray" || !verdict.isReleasable) {
        return true;
      }
      releases += 1;
      const { machine, marks, agentSlot } = machineSeen;
      const { systemId } = machine;
      const slotUid = marks?.slotUid ?? agentSlot;
      const had = (slot: SlotRecord) => slot.systemId === systemId || slot.candidateId === systemId;
      const isOfLiveSlot = store.slots.some((slot) => slot.state !== "released" && had(slot));
      const wasReleased = store.slots.some(
        (slot) => slot.uid === slotUid && slot.state === "released" && had(slot),
      );
      const wasCandidate = store.candidates.some(
        (each) => each.slotUid === slotUid && each.systemId === systemId,
      );
      return (
        machine.status === "allocated" &&
        !machine.isLocked &&
        !isReportOnly &&
        (marks === undefined || marks.installationId === installationId) &&
        !isOfLiveSlot &&
        (wasReleased || wasCandidate)
      );
    }),
    { numRuns: 20_000 },
  );
  t.ok(releases > 100, "enough machines were releasable");
});

test("a machine is in use exactly when a slot that is not released has it or may have it", async (t) => {
  fc.assert(
    fc.property(seen, known, fc.boolean(), (machineSeen, store, isReportOnly) => {
      const { systemId } = machineSeen.machine;
      const users = store.slots.filter(
        (slot) => slot.state !== "released" && (slot.systemId === systemId || slot.candidateId === systemId),
      );
      const verdict = judgeMachine(machineSeen, store, isReportOnly);
      return verdict.is === "inUse" ? users.includes(verdict.slot) : users.length === 0;
    }),
    { numRuns: 5_000 },
  );
  t.end();
});

test("a store that knows all marks in MAAS is not in report-only mode", async (t) => {
  fc.assert(
    fc.property(fc.array(seen, { maxLength: 4 }), known, (machines, store) => {
      const isOlder = machines.some((each) => isUnexplained(each, store));
      return (reportOnlyReason(machines, store) !== undefined) === isOlder;
    }),
  );
  const live = slotWith("s1", "joined", { systemId: "m1", candidateId: "m1" });
  const facts = { installationId, sequence: 1, slots: [live], candidates: [] };
  const inPlace = { machine: machineWith("m1", "deployed"), marks: marksWith("s1", 1), agentSlot: undefined };
  t.equal(reportOnlyReason([inPlace], facts), undefined);
  const foreign = { ...inPlace, marks: marksWith("x", 900, "fedcba9876543210") };
  t.equal(reportOnlyReason([foreign], facts), undefined, "other stores' numbers do not matter");
});

test("a store restored from a backup is recognized by machines it does not know", async (t) => {
  const machine = machineWith("m1", "deployed");
  const store = { installationId, sequence: 5, slots: [slotWith("s1", "wanted", none)], candidates: [] };
  const unknownSlot = { machine, marks: marksWith("s9", 3), agentSlot: undefined };
  t.match(reportOnlyReason([unknownSlot], store), /older than MAAS.*m1; adopt or release it/);
  const laterNumber = { machine, marks: marksWith("s1", 6), agentSlot: undefined };
  t.match(reportOnlyReason([laterNumber], store), /m1/);
  const given = { ...store, slots: [slotWith("s1", "released", { systemId: "m1", candidateId: "m1" })] };
  t.match(reportOnlyReason([laterNumber], given), /m1/);
  t.equal(reportOnlyReason([{ ...laterNumber, marks: marksWith("s1", 5) }], given), undefined);
  const otherMachine = { ...store, slots: [slotWith("s1", "joined", { systemId: "m2", candidateId: "m2" })] };
  const formerOne = { machine, marks: marksWith("s1", 2), agentSlot: undefined };
  t.match(reportOnlyReason([formerOne], otherMachine), /m1/);
  const wasAllocated = { ...otherMachine, candidates: [{ slotUid: "s1", systemId: "m1" }] };
  t.equal(
    reportOnlyReason([formerOne], wasAllocated),
    undefined,
    "what the store has on record is explained",
  );
  const seven = Array.from({ length: 7 }, (_, index) => ({
    ...unknownSlot,
    machine: machineWith(`m${index}`, "deployed"),
  }));
  t.match(reportOnlyReason(seven, store), /m0, m1, m2, m3, m4 and 2 more; adopt or release them/);
});

test("the known facts about a stray are reported", async (t) => {
  const live = slotWith("s1", "joined", { systemId: "m2", candidateId: "m2" });
  const released = slotWith("s2", "released", { systemId: "m1", candidateId: "m1" });
  const store = {
    installationId,
    sequence: 5,
    slots: [live, released, slotWith("s3", "wanted", none)],
    candidates: [{ slotUid: "s1", systemId: "m1" }],
  };
  const judge = (status: MaasMachineStatus, marks?: MachineMarks, agentSlot?: string) =>
    judgeMachine({ machine: machineWith("m1", status), marks, agentSlot }, store, false);
  t.match(judge("allocated", undefined, "s1"), {
    isReleasable: true,
    message: "cluster prod has machine m2 in its place; it is released automatically",
  });
  t.match(judge("deployed", marksWith("s2")), {
    isReleasable: false,
    message: "cluster prod no longer needs it",
  });
  t.match(judge("deployed", marksWith("s3")), {
    isOurs: true,
    message: "cluster prod has no machine yet in its place",
  });
  t.match(judge("allocated", marksWith("s9")), {
    isReleasable: false,
    message: "this gateway allocated it, but its database has no record of that",
  });
  t.match(judge("allocated"), {
    isOurs: false,
    message: "nothing in MAAS shows that this gateway allocated it",
  });
  t.match(judge("allocated", marksWith("s2", 1, "fedcba9876543210")), {
    isOurs: false,
    message: "it was allocated by another gateway (installation fedcba9876543210)",
  });
});
