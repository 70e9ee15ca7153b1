import type { Test } from "tap";
import { bootPlanFrom } from "../../adapters/workload/fake/boot-plan.ts";
import type { SlotState } from "../../server/store/cluster-records.ts";
import { longestDelayMs } from "./clusters-trouble.ts";
import type { WorldChange } from "./clusters-world.ts";

/** An event `kubernetesMachine.changed` of the store. */
export interface MachineEventRow {
  readonly at: number;
  readonly payload_json: string;
}

export interface AuditOptions {
  readonly changes: readonly WorldChange[];
  /** All there were, oldest first. */
  readonly events: readonly MachineEventRow[];
  /** When gateways died. */
  readonly killedAtMs: readonly number[];
}

interface SlotStep {
  readonly atMs: number;
  readonly state: SlotState;
  readonly systemId: string;
  readonly cluster: string;
}

type Slots = ReadonlyMap<string, readonly SlotStep[]>;

/** A request that was on its way when its gateway died, and was answered late. */
const lateMs = longestDelayMs + 200;

/** In which states of its slot a machine may be asked for what; all is written down before it is done. */
const lawful: Partial<Record<WorldChange["kind"], readonly SlotState[]>> = {
  allocate: ["candidate"],
  annotate: ["allocated", "releasing"],
  deploy: ["deploying"],
  release: ["releasing"],
  markBroken: ["releasing"],
};

/** Holds everything that gateways did to machines against what the store had written down by then. */
export function assertLawful(t: Test, { changes, events, killedAtMs }: AuditOptions): void {
  const slots = slotsFrom(events);
  const isLate = (atMs: number) => killedAtMs.some((each) => atMs >= each && atMs <= each + lateMs);
  const asked = changes.filter(({ by }) => by === "gateway");
  const wrong = asked.flatMap((change) => {
    const why = violationOf(change, slots);
    return why === undefined ? [] : [{ why, late: isLate(change.atMs) }];
  });
  const strict = wrong.filter(({ late }) => !late).map(({ why }) => why);
  t.same(strict, [], "machines were changed for the slot alone that had them, as the store had decided");
  t.same(overlaps(slots), [], "no two slots had one machine at the same time");
  t.same(misled(changes), [], "machines were installed under their own names");
  const kinds = Map.groupBy(asked, ({ kind }) => kind);
  t.comment(
    `${[...kinds].map(([kind, all]) => `${all.length} ${kind}`).join(", ")}; ${wrong.length - strict.length} late ones of gateways that were dead`,
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
  // An administrator may release a machine before it is marked; its agent name is gone then.
  const marked = annotated ?? (agent === "" ? undefined : agent);
  const uid = marked ?? holderOf(before.systemId, atMs, slots) ?? "";
  const steps = slots.get(uid);
  const what = `${kind} of ${before.hostname} (${before.status}) for ${uid}`;
  if (states === undefined || steps === undefined) {
    return `${what}: no such slot`;
  }
  const now = steps.findLast((step) => step.atMs <= atMs);
  // Written in the same millisecond as the answer.
  const last = steps.filter((step) => step.atMs < atMs).at(-1);
  const isSwept = kind === "release" && before.status === "allocated" && now?.state === "released";
  if (isSwept || [now, last].some((step) => step !== undefined && states.includes(step.state))) {
    return now === undefined || ["", before.systemId].includes(now.systemId)
      ? undefined
      : `${what}: it has ${now.systemId}`;
  }
  return `${what}: it was ${now?.state ?? "not there"}`;
}

/** The slot that had a machine at a time. */
function holderOf(systemId: string, atMs: number, slots: Slots): string | undefined {
  const found = [...slots].find(([, steps]) => {
    const now = steps.findLast((step) => step.atMs <= atMs);
    return now?.systemId === systemId && now.state !== "released";
  });
  return found?.[0];
}

/** Machines that were two slots' at once, from the taking to the giving back. */
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

/** Asserts that no log line has what machines were told in secret, or the key of MAAS. */
export function assertNoSecrets(t: Test, changes: readonly WorldChange[], apiKey: string, log: string): void {
  const told = changes.filter(({ kind }) => kind === "deploy").map(({ after }) => after);
  const texts = told.map(userDataOf);
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
  const encoded = told.map(({ userData = "" }) => userData.slice(200, 260));
  const secrets = new Set([...keys, ...tokens, ...encoded, apiKey.split(":").at(-1) ?? ""]);
  t.ok(keys.length > 0 && tokens.length > 0, `${secrets.size} secrets were told`);
  t.same(
    [...secrets].filter((each) => each !== "" && log.includes(each)),
    [],
    "no secret is in the log",
  );
}
