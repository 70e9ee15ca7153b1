import type { Test } from "tap";
import { bootPlanFrom } from "../../../adapters/workload/fake/boot-plan.ts";
import type { SlotState } from "../../../server/domains/clusters/store/records.ts";
import { longestDelayMs } from "./clusters-trouble.ts";
import type { WorldChange } from "./clusters-world.ts";

/** A `kubernetesMachine.changed` event in the store. */
export interface MachineEventRow {
  readonly at: number;
  readonly payload_json: string;
}

export interface AuditOptions {
  readonly changes: readonly WorldChange[];
  /** All changes, oldest first. */
  readonly events: readonly MachineEventRow[];
  /** When gateways were killed. */
  readonly killedAtMs: readonly number[];
}

interface SlotStep {
  readonly atMs: number;
  readonly state: SlotState;
  readonly systemId: string;
  readonly cluster: string;
}

type Slots = ReadonlyMap<string, readonly SlotStep[]>;

/** Time after a kill in which a request of the killed gateway may still take effect. */
const lateMs = longestDelayMs + 200;

/**
 * For each change of a machine, the states of its slot in which the change is allowed. Each state is stored before the gateway
 * acts.
 */
const lawful: Partial<Record<WorldChange["kind"], readonly SlotState[]>> = {
  allocate: ["candidate"],
  annotate: ["allocated", "releasing"],
  deploy: ["deploying"],
  release: ["releasing"],
  markBroken: ["releasing"],
};

/** Compares everything that gateways did to machines with what the store had recorded by then. */
export function assertLawful(t: Test, { changes, events, killedAtMs }: AuditOptions): void {
  const slots = slotsFrom(events);
  const isLate = (atMs: number) => killedAtMs.some((each) => atMs >= each && atMs <= each + lateMs);
  const requested = changes.filter(({ by }) => by === "gateway");
  const wrong = requested.flatMap((change) => {
    const why = violationOf(change, slots);
    return why === undefined ? [] : [{ why, late: isLate(change.atMs) }];
  });
  const strict = wrong.filter(({ late }) => !late).map(({ why }) => why);
  t.same(strict, [], "machines were only changed for the slot that owned them, as recorded in the store");
  t.same(overlaps(slots), [], "no machine belonged to two slots at the same time");
  t.same(misled(changes), [], "machines were installed under their own names");
  const kinds = Map.groupBy(requested, ({ kind }) => kind);
  t.comment(
    `${[...kinds].map(([kind, all]) => `${all.length} ${kind}`).join(", ")}; ${wrong.length - strict.length} late ones of killed gateways`,
  );
}

function slotsFrom(events: readonly MachineEventRow[]): Slots {
  const slots = new Map<string, SlotStep[]>();
  for (const { at, payload_json } of events) {
    const { kubernetesMachine } = JSON.parse(payload_json) as {
      readonly kubernetesMachine: { id: string; state: SlotState; systemId: string; cluster: string };
    };
    const { id, ...step } = kubernetesMachine;
    const steps = slots.get(id) ?? [];
    steps.push({ ...step, atMs: Number(at) });
    slots.set(id, steps);
  }
  return slots;
}

function violationOf({ kind, atMs, before, after }: WorldChange, slots: Slots): string | undefined {
  const states = lawful[kind];
  const annotated = after.annotations["hostplane-slot"] ?? before.annotations["hostplane-slot"];
  const agent = (kind === "allocate" ? after : before).agentName.split("/").at(-1);
  // An administrator may release a machine before it is marked; its agent name is then empty.
  const marked = annotated ?? (agent === "" ? undefined : agent);
  const uid = marked ?? holderOf(before.systemId, atMs, slots) ?? "";
  const steps = slots.get(uid);
  const what = `${kind} of ${before.hostname} (${before.status}) for ${uid}`;
  if (states === undefined || steps === undefined) {
    return `${what}: no such slot`;
  }
  const now = steps.findLast((step) => step.atMs <= atMs);
  // The state may have been stored in the same millisecond as the response.
  const last = steps.filter((step) => step.atMs < atMs).at(-1);
  const isSwept = kind === "release" && before.status === "allocated" && now?.state === "released";
  if (isSwept || [now, last].some((step) => step !== undefined && states.includes(step.state))) {
    return now === undefined || ["", before.systemId].includes(now.systemId)
      ? undefined
      : `${what}: it has ${now.systemId}`;
  }
  return `${what}: it was ${now?.state ?? "not there"}`;
}

/** Returns the slot that owned a machine at the given time. */
function holderOf(systemId: string, atMs: number, slots: Slots): string | undefined {
  const found = [...slots].find(([, steps]) => {
    const now = steps.findLast((step) => step.atMs <= atMs);
    return now?.systemId === systemId && now.state !== "released";
  });
  return found?.[0];
}

/** Returns machines that belonged to two slots at once, between allocation and release. */
function overlaps(slots: Slots): readonly string[] {
  const spans = [...slots].flatMap(([uid, steps]) => {
    const systemId = steps.find((step) => step.systemId !== "")?.systemId;
    const fromMs = steps.find(({ state }) => state === "allocated")?.atMs;
    const toMs = steps.find(({ state }) => state === "released")?.atMs ?? Number.POSITIVE_INFINITY;
    return systemId === undefined || fromMs === undefined ? [] : [{ uid, systemId, fromMs, toMs }];
  });
  return [...Map.groupBy(spans, ({ systemId }) => systemId)].flatMap(([systemId, all]) => {
    const sorted = all.toSorted((left, right) => left.fromMs - right.fromMs);
    return sorted
      .filter((span, index) => span.fromMs < (sorted[index - 1]?.toMs ?? 0))
      .map(({ uid }) => `${systemId} was ${uid}'s while it was another's`);
  });
}

function misled(changes: readonly WorldChange[]): readonly string[] {
  return changes
    .filter(({ kind }) => kind === "deploy")
    .filter(({ after }) => bootPlanFrom(userDataOf(after))?.nodeName !== after.hostname.toLowerCase())
    .map(({ after }) => after.hostname);
}

export function userDataOf({ userData = "" }: { readonly userData: string | undefined }): string {
  return Buffer.from(userData, "base64").toString();
}

/** Asserts that the log contains neither the secrets in the machines' user data nor the MAAS key. */
export function assertNoSecrets(t: Test, changes: readonly WorldChange[], apiKey: string, log: string): void {
  const reported = changes.filter(({ kind }) => kind === "deploy").map(({ after }) => after);
  const texts = reported.map(userDataOf);
  const keys = texts.flatMap((text) => {
    const files = [...text.matchAll(/content: (\S{60,})$/gm)].flatMap(([, content = ""]) => [
      content,
      Buffer.from(content, "base64").toString(),
    ]);
    return [text, ...files].flatMap((each) =>
      [...each.matchAll(/-----BEGIN [A-Z ]*PRIVATE KEY-----\s+(\S{40})/g)].map(([, body = ""]) => body),
    );
  });
  const tokens = texts.flatMap((text) =>
    [...text.matchAll(/\b[a-z0-9]{6}\.([a-z0-9]{16})\b/g)].map(([, secret = ""]) => secret),
  );
  const encoded = reported.map(({ userData = "" }) => userData.slice(200, 260));
  const secrets = new Set([...keys, ...tokens, ...encoded, apiKey.split(":").at(-1) ?? ""]);
  t.ok(keys.length > 0 && tokens.length > 0, `${secrets.size} secrets in user data`);
  t.same(
    [...secrets].filter((each) => each !== "" && log.includes(each)),
    [],
    "no secret is in the log",
  );
}
