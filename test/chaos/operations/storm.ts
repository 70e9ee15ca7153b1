import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import type { Operation } from "../../../server/operations/operation.ts";
import type { Store } from "../../../server/store/store.ts";
import { missingEnds, type ReportedState, readOperations, readReportedStates } from "./missing-ends.ts";
import { openStormEffects, pointOfNoReturn, type StormInput, stormSteps } from "./storm-kind.ts";
import type { StormArgs } from "./storm-process.ts";

const program = fileURLToPath(new URL("./storm-process.ts", import.meta.url));

/** Number of kills in a storm: `OPERATION_KILLS`, or the given default. */
export const killsOr = (few: number) => Number(process.env.OPERATION_KILLS ?? few);

const writes = ["beginStep", "endStep", "failStep", "progress", "beginUndo", "beginUndoStep", "endUndoStep"];
const ends = ["complete", "endUndo", "giveUp"];

/** Every boundary of a storm's operation. */
export const boundaries: readonly string[] = ["before", "after"].flatMap((when) => [
  ...[...writes, ...ends].map((name) => `${when} operations.${name}`),
  ...stormSteps.map((name) => `${when} forward ${name}`),
  // Steps after the point of no return are never undone.
  ...stormSteps.slice(0, stormSteps.indexOf(pointOfNoReturn) + 1).map((name) => `${when} undo ${name}`),
]);

/** With this many kills, half of them at boundaries, every boundary is reached. */
const enoughKills = 200;

/** The result of a storm. */
export interface StormReport {
  readonly kills: number;
  /** Boundaries at which processes killed themselves. */
  readonly atBoundaries: ReadonlySet<string>;
  readonly minimum: number;
}

export interface StormOptions extends Pick<StormArgs, "url" | "directory" | "effects" | "leaseMs"> {
  readonly kills: number;
  /** Number of processes that run in parallel. */
  readonly processes: number;
}

const failpointPatienceMs = 3000;

/** The next process either kills itself at a boundary or is killed at a random moment; the two alternate. */
interface Fate {
  readonly failpoint: StormArgs["failpoint"];
  readonly afterMs: number;
}

/**
 * Runs operations in processes that are killed repeatedly, at every boundary and at random moments, and then lets all operations
 * end.
 */
export async function storm(t: Test, options: StormOptions): Promise<StormReport> {
  const { kills, processes, ...args } = options;
  const atBoundaries = new Set<string>();
  let killed = 0;
  let minimum = 40;
  let turn = 0;
  const places = boundaries.toSorted(() => Math.random() - 0.5);

  function nextFate(): Fate | undefined {
    if (killed >= kills) {
      return undefined;
    }
    turn += 1;
    if (turn % 2 === 0) {
      return { failpoint: undefined, afterMs: Math.random() * 400 };
    }
    const unmet = places.filter((name) => !atBoundaries.has(name));
    const candidates = unmet.length > 0 ? unmet : places;
    const name = candidates[((turn - 1) / 2) % candidates.length] ?? "";
    // A boundary may not occur with the work that is left.
    const visit = 1 + Math.floor(Math.random() * 2);
    return { failpoint: { name, visit }, afterMs: 2 * failpointPatienceMs * Math.random() };
  }

  /** Runs one process; resolves with whether all operations had ended. */
  async function live(fate: Fate | undefined): Promise<boolean> {
    const stormArgs = JSON.stringify({ ...args, minimum, failpoint: fate?.failpoint });
    const child = spawn(process.execPath, [program, stormArgs], { stdio: ["ignore", "pipe", "pipe"] });
    t.teardown(() => child.kill("SIGKILL"));
    const exited = once(child, "exit");
    const lines = followLines(child);
    let timer: NodeJS.Timeout | undefined;
    void lines.ready.then(() => {
      if (fate !== undefined) {
        timer = setTimeout(() => child.kill("SIGKILL"), fate.afterMs);
      }
    });
    const isDone = await Promise.race([lines.done.then(() => true), exited.then(() => false)]);
    if (isDone && fate === undefined) {
      child.kill("SIGKILL");
      await exited;
      return true;
    }
    if (isDone) {
      // There must be work left during the next kill.
      minimum += 20;
    }
    const [code, signal] = (await exited) as [number | null, NodeJS.Signals | null];
    clearTimeout(timer);
    if (signal !== "SIGKILL") {
      throw new Error(`a process of the storm exited unexpectedly with ${code}: ${lines.errors()}`);
    }
    killed += 1;
    if (fate?.failpoint !== undefined && !child.killed) {
      atBoundaries.add(fate.failpoint.name);
    }
    return false;
  }

  async function liveOn(): Promise<void> {
    while (!(await live(nextFate()))) {}
  }

  await Promise.all(Array.from({ length: processes }, liveOn));
  return { kills: killed, atBoundaries, minimum };
}

function followLines({ stdout, stderr }: ChildProcess) {
  const ready = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  let seen = "";
  let errors = "";
  stdout?.setEncoding("utf8").on("data", (text: string) => {
    seen += text;
    if (seen.includes("ready\n")) {
      ready.resolve();
    }
    if (seen.includes("done\n")) {
      done.resolve();
    }
  });
  stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-4000);
  });
  return { ready: ready.promise, done: done.promise, errors: () => errors };
}

const expected: Readonly<Record<StormInput["plan"], readonly Operation["state"][]>> = {
  succeed: ["completed"],
  fail: ["failed"],
  // Cancelling may come too late.
  cancel: ["cancelled", "completed"],
  stick: ["needsAttention"],
};

/** Asserts that every operation has ended as expected, that every effect exists once or is gone, and that the events agree. */
export async function assertCalm(
  t: Test,
  store: Pick<Store, "run">,
  { effects, report }: { effects: string; report: StormReport },
): Promise<void> {
  const operations = await readOperations(store);
  t.ok(operations.length >= report.minimum, `${operations.length} operations, ${report.kills} kills`);
  const wrong = operations.filter(
    ({ state, input }) => !expected[(input as StormInput).plan].includes(state),
  );
  t.same(wrong, [], "every operation has ended as expected");
  const { present, violations } = openStormEffects(effects);
  t.same(violations(), [], "nothing was done twice, and nothing was done after it was undone");
  const left = operations.flatMap(({ id, state, steps }) => {
    const done = state === "completed" ? stormSteps : state === "needsAttention" ? ["prepare"] : [];
    return done
      .filter((name) => state === "completed" || wasCreated(steps, name))
      .map((name) => `${id}.${name}`);
  });
  const there = present();
  t.same(
    there.filter((token) => !left.includes(token)),
    [],
    "nothing is left behind",
  );
  const completed = operations.filter(({ state }) => state === "completed");
  const missing = completed.flatMap(({ id }) =>
    stormSteps.map((name) => `${id}.${name}`).filter((token) => !there.includes(token)),
  );
  t.same(missing, [], "effects of completed operations exist");
  const reported = await readReportedStates(store);
  t.same(strayEvents(reported), [], "no event reports an earlier stage than the one before");
  t.same(missingEnds(operations, reported), [], "every operation has ended, and its last event says so");
  const counts = Map.groupBy(operations, ({ state }) => state);
  t.comment([...counts].map(([state, all]) => `${all.length} ${state}`).join(", "));
  t.comment(`${operations.reduce((sum, { attempt }) => sum + Math.max(0, attempt - 1), 0)} takeovers`);
  const unmet = boundaries.filter((name) => !report.atBoundaries.has(name));
  t.comment(`processes died at ${boundaries.length - unmet.length} of ${boundaries.length} boundaries`);
  if (report.kills >= enoughKills) {
    t.same(unmet, [], "a process has died at every boundary");
  }
}

function wasCreated(steps: Operation["steps"], name: string): boolean {
  return steps.some((step) => step.name === name && step.state !== "pending");
}

const order: readonly Operation["state"][] = [
  "scheduled",
  "active",
  "undoing",
  "completed",
  "failed",
  "cancelled",
  "needsAttention",
];

/** Returns events that report an earlier stage of an operation than an event before. */
function strayEvents(reported: readonly ReportedState[]): string[] {
  const stray: string[] = [];
  const stages = new Map<string, number>();
  for (const { id, state } of reported) {
    const stage = order.indexOf(state);
    const before = stages.get(id) ?? 0;
    if (stage < before || (before >= order.indexOf("completed") && stage !== before)) {
      stray.push(`${id} is ${state} after ${order[before]}`);
    }
    stages.set(id, stage);
  }
  return stray;
}
