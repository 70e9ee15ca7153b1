import { appendFileSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
import type { OperationKind, OperationStep } from "../../../server/operations/operation-kind.ts";
import { storeReasons } from "../../../server/store/reasons.ts";

/** Input of a storm's operation. */
export type StormInput = {
  readonly plan: "succeed" | "fail" | "cancel" | "stick";
  /** The step that fails, if any. */
  readonly failsAt: string;
};

export const stormSteps = ["prepare", "copy", "publish", "clear"] as const;
export const pointOfNoReturn = "publish";

/** Files in a directory that record the effects of steps. */
export interface StormEffects {
  readonly present: () => string[];
  /** Returns what must never happen, one line each. */
  readonly violations: () => string[];
}

const folders = { present: "present", undone: "undone", violations: "violations" } as const;

export function openStormEffects(directory: string): StormEffects {
  for (const folder of Object.values(folders)) {
    mkdirSync(join(directory, folder), { recursive: true });
  }
  return {
    present: () => readdirSync(join(directory, folders.present)).toSorted(),
    violations: () => readdirSync(join(directory, folders.violations)),
  };
}

const someMs = (most: number) => delay(Math.random() * most);

/**
 * Creates an operation kind whose steps each create a file named by the step's token, and whose undoing moves it away. Both are
 * atomic, whenever the process is killed. It reports a file that is created a second time, or after it was undone.
 */
export function createStormKind(directory: string): OperationKind<StormInput> {
  const place = (folder: keyof typeof folders, token: string) => join(directory, folders[folder], token);

  const step = (name: string): OperationStep<StormInput, null> => ({
    name,
    title: `storming ${name}`,
    isAbortable: name === "copy",
    async happened({ token, input }) {
      await someMs(2);
      return input.failsAt !== name && existsSync(place("present", token)) ? { output: token } : undefined;
    },
    async forward({ token, input, signal, progress, attempt }) {
      await someMs(10);
      if (name === "copy") {
        progress({ doneBytes: 1, totalBytes: 2 });
        await delay(Math.random() * 40, undefined, { signal });
      }
      if (attempt === 1 && Math.random() < 0.1) {
        throw new InfraError(storeReasons.STORE_UNAVAILABLE, "not now");
      }
      if (input.failsAt === name) {
        // Some fail before their effect, and some after it.
        if (token < "8" && !existsSync(place("present", token))) {
          make(token, signal);
        }
        throw new InfraError(lvmReasons.VOLUME_EXISTS, "made to fail");
      }
      make(token, signal);
      await someMs(5);
      return token;
    },
    async undo({ token, input }) {
      await someMs(10);
      if (input.plan === "stick" && name === "prepare") {
        throw new InfraError(hostReasons.VOLUME_IN_USE, "made to stick");
      }
      if (existsSync(place("present", token))) {
        renameSync(place("present", token), place("undone", token));
      }
      await someMs(5);
    },
  });

  function make(token: string, signal: AbortSignal): void {
    // A replaced gateway may continue for a moment; the token prevents duplicates then.
    if (existsSync(place("undone", token)) && !signal.aborted) {
      appendFileSync(place("violations", `${token} was made after it was undone`), "");
    }
    try {
      writeFileSync(place("present", token), "", { flag: "wx" });
    } catch {
      if (!signal.aborted) {
        appendFileSync(place("violations", `${token} was made twice`), "");
      }
    }
  }

  return {
    kind: "storm.files",
    system: "storm",
    runsOn: "anywhere",
    steps: stormSteps.map(step),
    pointOfNoReturn,
    result: ({ output }) => stormSteps.map((name) => output(name) ?? null),
  };
}

/** Returns the input of operation number `index`: of ten, six succeed, two fail, one is cancelled and one gets stuck. */
export function stormInput(index: number): StormInput {
  const failsAt = stormSteps[index % 3] ?? "copy";
  const plans = { 3: "fail", 6: "cancel", 8: "fail", 9: "stick" } as const;
  const plan = plans[(index % 10) as keyof typeof plans] ?? "succeed";
  return { plan, failsAt: plan === "fail" || plan === "stick" ? failsAt : "" };
}
