import type { Json } from "../../../server/operations/operation.ts";
import type { OperationKind, OperationStep, StepRun } from "../../../server/operations/operation-kind.ts";

type Hook = (run: StepRun<Json, Json>) => Promise<unknown> | unknown;

/** A kind whose steps set marks in memory, so that their effects can be counted. */
export interface CountingKind {
  readonly kind: OperationKind<Json, Json>;
  /** Marks that currently exist. */
  readonly present: ReadonlySet<string>;
  /** Calls so far, in order: `forward first`, `undo second`. */
  readonly done: readonly string[];
  /** How often each mark was set. */
  readonly created: ReadonlyMap<string, number>;
  /** Called before a step's function takes effect, e.g. `forward first`; an error fails the step. */
  before(what: string, hook: Hook): void;
  /** Called after a step's function has taken effect. */
  after(what: string, hook: Hook): void;
}

export interface CountingOptions {
  readonly kind?: string;
  readonly system?: string;
  readonly runsOn?: "host" | "anywhere";
  readonly steps?: readonly string[];
  readonly pointOfNoReturn?: string;
  readonly isAbortable?: boolean;
  readonly weights?: Readonly<Record<string, number>>;
  readonly attention?: OperationStep<Json, Json>["attention"];
}

export function createCountingKind(options: CountingOptions = {}): CountingKind {
  const { steps = ["first", "second", "third"], isAbortable = false, weights = {} } = options;
  const present = new Set<string>();
  const done: string[] = [];
  const created = new Map<string, number>();
  const before = new Map<string, Hook>();
  const after = new Map<string, Hook>();

  const step = (name: string): OperationStep<Json, Json> => ({
    name,
    title: `doing ${name}`,
    isAbortable,
    weight: weights[name] ?? 1,
    ...(options.attention === undefined ? {} : { attention: options.attention }),
    async happened(run) {
      await before.get(`happened ${name}`)?.(run);
      return present.has(run.token) ? { output: `found ${name}` } : undefined;
    },
    async forward(run) {
      done.push(`forward ${name}`);
      await before.get(`forward ${name}`)?.(run);
      present.add(run.token);
      created.set(run.token, (created.get(run.token) ?? 0) + 1);
      await after.get(`forward ${name}`)?.(run);
      return `made ${name}`;
    },
    async undo(run) {
      done.push(`undo ${name}`);
      await before.get(`undo ${name}`)?.(run);
      present.delete(run.token);
      await after.get(`undo ${name}`)?.(run);
    },
  });

  return {
    kind: {
      kind: options.kind ?? "test.count",
      system: options.system ?? "test",
      runsOn: options.runsOn ?? "anywhere",
      steps: steps.map(step),
      ...(options.pointOfNoReturn === undefined ? {} : { pointOfNoReturn: options.pointOfNoReturn }),
      result: ({ output }) => ({ outputs: steps.map((name) => output(name) ?? null) }),
    },
    present,
    done,
    created,
    before: (what, hook) => void before.set(what, hook),
    after: (what, hook) => void after.set(what, hook),
  };
}
