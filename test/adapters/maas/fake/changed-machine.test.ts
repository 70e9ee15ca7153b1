import fc from "fast-check";
import { test } from "tap";
import { changedMachine, type MachineChange } from "../../../../adapters/maas/fake/changed-machine.ts";
import { type FakeMachine, newFakeMachine } from "../../../../adapters/maas/fake/machine.ts";
import { statusName } from "../../../../adapters/maas/fake/status-name.ts";

const fresh = newFakeMachine({ systemId: "sbxaaa", hostname: "sandbox-node-1" });
const deploy = { kind: "deploy", osystem: "ubuntu", series: "noble", userData: "eA==" } as const;
const allocate = { kind: "allocate", owner: "me", agentName: "agent" } as const;
const release = { kind: "release", erase: false } as const;

function after(...changes: readonly MachineChange[]): FakeMachine {
  return changes.reduce<FakeMachine>((machine, change) => {
    const changed = changedMachine(machine, change);
    if ("violation" in changed) {
      throw new Error(changed.violation);
    }
    return changed;
  }, fresh);
}

function violationOf(machine: FakeMachine, change: MachineChange): string | undefined {
  const changed = changedMachine(machine, change);
  return "violation" in changed ? changed.violation : undefined;
}

test("a machine goes from free to deployed and back", async (t) => {
  t.match(after(allocate), { status: "allocated", owner: "me", agentName: "agent" });
  t.match(after(allocate, deploy), { status: "deploying", powerState: "on", series: "noble" });
  t.match(after(allocate, deploy, { kind: "deployed" }), { status: "deployed", owner: "me" });
  const leaving = after(allocate, deploy, { kind: "deployed" }, release);
  t.match(leaving, { status: "releasing", owner: "me", agentName: "" });
  t.same(after(allocate, deploy, { kind: "deployed" }, release, { kind: "released" }), {
    ...fresh,
    statusMessage: "Released",
  });
  t.match(after(allocate, release), { status: "ready", owner: undefined }, "one that is off is free at once");
});

test("which changes keep annotations, and which remove them", async (t) => {
  const annotate = { kind: "annotate", user: "me", annotations: { a: "1", b: "2" } } as const;
  const remove = { kind: "annotate", user: "me", annotations: { a: "" } } as const;
  t.same(after(allocate, annotate, remove).annotations, { b: "2" });
  t.same(
    after(allocate, annotate, deploy, { kind: "abort" }, { kind: "aborted" }).annotations,
    annotate.annotations,
  );
  t.match(after(allocate, deploy, { kind: "abort" }, { kind: "aborted" }), {
    status: "allocated",
    agentName: "agent",
  });
  t.same(after(allocate, annotate, { kind: "markBroken", comment: "smoke" }).annotations, {});
  t.equal(
    violationOf(after(allocate), { ...annotate, user: "other" }),
    "Cannot set workload annotation: it hasn't been acquired.",
  );
});

test("in each state a change is made or refused with MAAS's message", async (t) => {
  const violations: readonly (readonly [FakeMachine, MachineChange, string])[] = [
    [after(allocate), allocate, "No machine with system ID sbxaaa available."],
    [after(allocate, deploy), deploy, "Can't deploy a machine that is in the 'Deploying' state"],
    [fresh, deploy, "Can't deploy a machine that is in the 'Ready' state"],
    [fresh, { kind: "lock" }, "Can't lock, node is not deployed or deploying"],
    [after(allocate, deploy, { kind: "lock" }), { kind: "lock" }, "Machine is already locked"],
    [fresh, { kind: "unlock" }, "Machine is not locked"],
    [fresh, { kind: "abort" }, "Cannot abort in current state: node sbxaaa is in state Ready."],
    [fresh, { kind: "markFixed" }, "Can't mark a machine as fixed that is in the 'Ready' state"],
    ...(["new", "diskErasing", "testing", "rescueMode"] as const).map((status) => {
      const words = `Machine cannot be released in its current state ('${statusName(status)}').`;
      return [{ ...fresh, status }, release, words] as const;
    }),
  ];
  for (const [machine, change, words] of violations) {
    t.equal(violationOf(machine, change), words);
  }
});

test("whatever happens to a machine, a free one has no owner", async (t) => {
  const change: fc.Arbitrary<MachineChange> = fc.oneof(
    fc.constantFrom<MachineChange>(
      ...[allocate, deploy, release, { kind: "release", erase: true } as const],
      ...(["lock", "unlock", "abort", "markFixed", "deployed", "released"] as const).map((kind) => ({
        kind,
      })),
      ...(["deploymentFailed", "aborted", "erased", "releaseFailed"] as const).map((kind) => ({ kind })),
      { kind: "markBroken", comment: "x" },
    ),
    fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("", "1")).map((annotations) => {
      return { kind: "annotate" as const, user: "me", annotations };
    }),
  );
  // Like MAAS's own changes, these occur only in the state that they end.
  const comesIn: Partial<Record<MachineChange["kind"], readonly FakeMachine["status"][]>> = {
    deployed: ["deploying"],
    deploymentFailed: ["deploying"],
    aborted: ["deploying", "diskErasing"],
    erased: ["diskErasing"],
    released: ["releasing"],
    releaseFailed: ["releasing"],
  };
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      let machine = fresh;
      for (const each of changes) {
        const changed = changedMachine(machine, each);
        if (!("violation" in changed) && (comesIn[each.kind]?.includes(machine.status) ?? true)) {
          machine = changed;
        }
        if ((machine.status === "ready" || machine.status === "broken") && !isNobodys(machine)) {
          return false;
        }
      }
      return true;
    }),
    { numRuns: 1000 },
  );
  t.pass();
});

function isNobodys({ owner, agentName, annotations, isLocked, address, userData }: FakeMachine): boolean {
  const isBlank = owner === undefined && agentName === "" && address === undefined && userData === undefined;
  return isBlank && !isLocked && Object.keys(annotations).length === 0;
}
