import { fork } from "node:child_process";
import { once } from "node:events";
import { pinned } from "../load/pinned.ts";

/** The questions that a benchmark process answers, by name. Arguments and answers are plain data. */
export type Answers = Readonly<Record<string, (argument: never) => unknown>>;

/** A separate process of a benchmark, so that its CPU time includes only its own work. */
export interface BenchProcess<A extends Answers> {
  /** @throws Error when the process reports an error or has ended */
  query<K extends keyof A & string>(
    name: K,
    ...argument: Parameters<A[K]>
  ): Promise<Awaited<ReturnType<A[K]>>>;
  stop(): Promise<void>;
}

interface Question {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/**
 * Starts a TypeScript file that calls `answerParent`.
 * @param nodeFlags e.g. `--cpu-prof`, to profile it
 * @param core the only core it may use, `serverCore` or `loadCore`; default: any
 */
export async function startBenchProcess<A extends Answers>(
  file: string,
  nodeFlags: readonly string[] = [],
  core?: number,
): Promise<BenchProcess<A>> {
  const argv: [string, ...string[]] = [process.execPath, ...nodeFlags];
  const [execPath, ...execArgv] = core === undefined ? argv : pinned(core, argv);
  const child = fork(file, { execPath, execArgv, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  child.on("message", ({ id, value, error }: Answer) => {
    const question = open.get(id);
    open.delete(id);
    if (error === undefined) {
      question?.resolve(value);
    } else {
      question?.reject(new Error(error));
    }
  });
  const exited = once(child, "exit").then(() => {
    for (const question of open.values()) {
      question.reject(new Error(`${file} has ended`));
    }
    open.clear();
  });
  return {
    query(name, argument?) {
      const question = Promise.withResolvers<unknown>();
      if (!child.connected) {
        question.reject(new Error(`${file} has ended`));
        return question.promise as never;
      }
      lastId += 1;
      open.set(lastId, question);
      child.send({ id: lastId, name, argument } satisfies Question);
      return question.promise as never;
    },
    async stop() {
      if (child.connected) {
        child.disconnect();
      }
      await exited;
    },
  };
}

/** Answers questions of the parent process until that disconnects, then calls `close`, after which this process can end. */
export function answerParent(answers: Answers, close: () => unknown): void {
  process.on("message", async ({ id, name, argument }: Question) => {
    try {
      const answer = answers[name] as ((argument: unknown) => unknown) | undefined;
      if (answer === undefined) {
        throw new Error(`unknown question "${name}"`);
      }
      process.send?.({ id, value: await answer(argument) } satisfies Answer);
    } catch (error) {
      process.send?.({ id, error: String(error) } satisfies Answer);
    }
  });
  process.once("disconnect", () => close());
}

/** Returns the CPU time of this process in milliseconds, including all its threads. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
