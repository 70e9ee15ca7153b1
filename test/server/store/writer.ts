import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import type { TestStore } from "./store-under-test.ts";

const program = fileURLToPath(new URL("./writing-process.ts", import.meta.url));

/** Result of a process that wrote until it was killed. */
export interface WriterReport {
  /** Last acknowledged value of each lane. */
  readonly acknowledged: ReadonlyMap<string, number>;
  /** Number of writes without an answer, or with an unknown outcome. */
  readonly unknown: number;
}

/** A process that writes until it is killed. */
export interface Writer {
  /** Resolves after this many further acknowledgements. */
  untilAcknowledged(count: number): Promise<void>;
  /** Kills it with SIGKILL, and waits until all of its output is read. */
  kill(): Promise<WriterReport>;
}

/** Number of rounds of kill tests: `STORE_KILLS`, or a few. */
export const killRounds = Number(process.env.STORE_KILLS ?? 2);

const lanes = 8;

/** Starts `writing-process.ts` on a store; it is killed when the test ends. */
export function startWriter(t: Test, url: string, directory: string): Writer {
  const child = spawn(process.execPath, [program, url, directory], { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => child.kill("SIGKILL"));
  const acknowledged = new Map<string, number>();
  let lost = 0;
  let count = 0;
  let rest = "";
  let onLine: (() => void) | undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const [lane = "", value] of lines.map((line) => line.split(" "))) {
      if (value === "lost") {
        lost += 1;
      } else {
        acknowledged.set(lane, Number(value));
        count += 1;
      }
    }
    onLine?.();
  });
  return {
    async untilAcknowledged(more) {
      const expected = count + more;
      await new Promise<void>((resolve, reject) => {
        onLine = () => {
          if (count >= expected) {
            resolve();
          }
        };
        child.once("exit", () => reject(new Error("the writer ended by itself")));
      });
    },
    async kill() {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
      return { acknowledged, unknown: lost + lanes };
    },
  };
}

/** Asserts that every acknowledged write is there, and that nothing was counted that was not requested. */
export async function assertNothingLost(
  t: Test,
  store: TestStore,
  { acknowledged, unknown }: WriterReport,
  name: string,
): Promise<void> {
  let beyond = 0;
  for (const [lane, value] of acknowledged) {
    const kept = (await store.run("counter.read", { name: lane })) ?? 0;
    beyond += kept - value;
    t.ok(kept >= value, `${name}: ${lane} has ${kept} of ${value}`);
  }
  t.ok(beyond <= unknown, `${name}: ${beyond} more than acknowledged, ${unknown} unknown`);
}
