import { fork } from "node:child_process";
import { once } from "node:events";
import { pinned } from "./pinned.ts";

/** What a process of a bench can be asked, by name. Arguments and answers are plain data. */
export type Answers = Readonly<Record<string, (argument: never) => unknown>>;

/** A process of a bench's own, so that only its work is in its CPU time. */
export interface BenchProcess<A extends Answers> {
  /** @throws Error when the process has failed at it, or has ended */
  ask<K extends keyof A & string>(name: K, ...argument: Parameters<A[K]>): Promise<Awaited<ReturnType<A[K]>>>;
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
 * @param nodeFlags for a look inside, e.g. `--cpu-prof`
 * @param core to which it keeps, `serverCore` or `loadCore`; any unless told
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
    ask(name, argument?) {
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

/** Answers the process that has started this one, until it lets go; then calls `close`, which lets this one end. */
export function answerParent(answers: Answers, close: () => unknown): void {
  process.on("message", async ({ id, name, argument }: Question) => {
    try {
      const answer = answers[name] as ((argument: unknown) => unknown) | undefined;
      if (answer === undefined) {
        throw new Error(`there is no answer to ${name}`);
      }
      process.send?.({ id, value: await answer(argument) } satisfies Answer);
    } catch (error) {
      process.send?.({ id, error: String(error) } satisfies Answer);
    }
  });
  process.once("disconnect", () => close());
}

/** Milliseconds of CPU time that this process has taken with all its threads. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
