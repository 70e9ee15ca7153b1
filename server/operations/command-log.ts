import { AsyncLocalStorage } from "node:async_hooks";
import { type ToolObservation, toolChannel } from "../../adapters/host/observation.ts";
import type { NewCommand } from "./store/fenced-change.ts";

/** Buffer of the commands that the steps of one operation run, until they are stored. */
export interface CommandLog {
  /** Runs the task; commands that it starts are attributed to the step. */
  during<T>(step: string, task: () => Promise<T>): Promise<T>;
  /** Returns the commands that have ended since the last call. */
  take(): readonly EndedCommand[];
  /** Called when a command has ended. */
  onAdded: () => void;
}

export interface EndedCommand extends Omit<NewCommand, "startedMsAgo"> {
  /** In terms of `performance.now()`. */
  readonly startedMs: number;
}

interface Recorder {
  add(observation: ToolObservation, startedMs: number): void;
}

const recorders = new AsyncLocalStorage<Recorder>();
const started = new WeakMap<ToolObservation, { readonly recorder: Recorder; readonly startedMs: number }>();
let isListening = false;

/** Installs one listener per process, because the channels are global. */
function listen(): void {
  if (isListening) {
    return;
  }
  isListening = true;
  toolChannel.subscribe({
    start(observation) {
      const recorder = recorders.getStore();
      if (recorder !== undefined) {
        started.set(observation, { recorder, startedMs: performance.now() });
      }
    },
    asyncEnd(observation) {
      const run = started.get(observation);
      run?.recorder.add(observation, run.startedMs);
    },
    end() {},
    asyncStart() {},
    error() {},
  });
}

/** @param host host that the commands run on */
export function createCommandLog(host: string): CommandLog {
  listen();
  let ended: EndedCommand[] = [];
  const log: CommandLog = {
    onAdded: () => {},
    during: (step, task) => {
      const recorder: Recorder = {
        add({ argv, outcome }, startedMs) {
          if (outcome !== undefined) {
            const { exitCode, signal, durationMs } = outcome;
            ended.push({
              step,
              startedMs,
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
