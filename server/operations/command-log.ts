import { AsyncLocalStorage } from "node:async_hooks";
import { type ToolObservation, toolChannel } from "../../adapters/host/observation.ts";
import type { NewCommand } from "../store/fenced-change.ts";

/** The commands that the steps of one operation run, until they are written down. */
export interface CommandLog {
  /** Runs the task; commands that it starts count as the step's. */
  during<T>(step: string, task: () => Promise<T>): Promise<T>;
  /** Those that have ended since the last time. */
  take(): readonly NewCommand[];
  /** Called when one has ended. */
  onAdded: () => void;
}

interface Recorder {
  add(observation: ToolObservation, atMs: number): void;
}

const recorders = new AsyncLocalStorage<Recorder>();
const started = new WeakMap<ToolObservation, { readonly recorder: Recorder; readonly atMs: number }>();
let isListening = false;

/** The channels are the process's, and so is the one listener. */
function listen(): void {
  if (isListening) {
    return;
  }
  isListening = true;
  toolChannel.subscribe({
    start(observation) {
      const recorder = recorders.getStore();
      if (recorder !== undefined) {
        started.set(observation, { recorder, atMs: Date.now() });
      }
    },
    asyncEnd(observation) {
      const begun = started.get(observation);
      begun?.recorder.add(observation, begun.atMs);
    },
    end() {},
    asyncStart() {},
    error() {},
  });
}

/** @param host where the commands run */
export function createCommandLog(host: string): CommandLog {
  listen();
  let ended: NewCommand[] = [];
  const log: CommandLog = {
    onAdded: () => {},
    during: (step, task) => {
      const recorder: Recorder = {
        add({ argv, outcome }, atMs) {
          if (outcome !== undefined) {
            const { exitCode, signal, durationMs } = outcome;
            ended.push({
              step,
              at: atMs,
              argv_json: JSON.stringify(argv),
              exit_code: exitCode,
              signal,
              duration_ms: Math.round(durationMs),
              host,
            });
            log.onAdded();
          }
        },
      };
      return recorders.run(recorder, task);
    },
    take() {
      const taken = ended;
      ended = [];
      return taken;
    },
  };
  return log;
}
