import { Gauge, Histogram, type Registry } from "@prometheus-io/client";
import {
  snapshotChannel,
  type ToolObservation,
  toolChannel,
  waitChannel,
} from "../../adapters/host/observation.ts";
import {
  mutationChannel,
  type OperationEnd,
  operationChannel,
  operationEndChannel,
} from "../operations/observation.ts";
import { observeWork } from "./observe-work.ts";

/** Upper bounds in seconds: from a tool that only reads a file to one that copies a disk. */
const bucketsSeconds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 28800,
];

/**
 * Registers metrics of tools, snapshots, queues, mutations and durable operations, from the channels of the process. Label values
 * come from the code and the configuration. Returns a function that stops observing.
 */
export function observeWorkMetrics(registry: Registry): () => void {
  const registers = [registry];
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Histogram({ name, help, labelNames, buckets: bucketsSeconds, registers });

  const toolsRunning = gauge("hostplane_tools_running", "Running processes of host tools.", [
    "program",
    "subcommand",
  ]);
  const toolDuration = histogram("hostplane_tool_duration_seconds", "Run time of a host tool.", [
    "program",
    "subcommand",
    "outcome",
  ]);
  const queueWaiting = gauge("hostplane_queue_waiting", "Tasks that wait in a queue.", ["queue"]);
  const queueWait = histogram(
    "hostplane_queue_wait_duration_seconds",
    "Waiting time of the tasks that had to wait.",
    ["queue"],
  );
  const snapshotLoad = histogram(
    "hostplane_snapshot_load_duration_seconds",
    "Time it took to read a system's state.",
    ["system", "outcome"],
  );
  const operationsRunning = gauge(
    "hostplane_operations_running",
    "Mutations and durable operations that this gateway runs.",
    ["kind"],
  );
  const operationDuration = histogram(
    "hostplane_operation_duration_seconds",
    "Duration of a mutation without its waiting time, or of a durable operation from its first start to its end.",
    ["kind", "outcome"],
  );

  const ends = [
    observeWork(
      toolChannel,
      ({ program, subcommand }) => toolsRunning.inc({ program, subcommand }),
      (observation) => {
        const { program, subcommand, outcome } = observation;
        toolsRunning.dec({ program, subcommand });
        if (outcome !== undefined) {
          toolDuration.observe(
            { program, subcommand, outcome: outcomeOf(outcome) },
            outcome.durationMs / 1000,
          );
        }
      },
    ),
    observeWork(
      waitChannel,
      ({ queue }) => queueWaiting.inc({ queue }),
      ({ queue }, { durationMs }) => {
        queueWaiting.dec({ queue });
        queueWait.observe({ queue }, durationMs / 1000);
      },
    ),
    observeWork(
      snapshotChannel,
      () => {},
      ({ system }, { durationMs, failed }) =>
        snapshotLoad.observe({ system, outcome: failed ? "failed" : "ok" }, durationMs / 1000),
    ),
    observeWork(
      mutationChannel,
      ({ kind }) => operationsRunning.inc({ kind }),
      ({ kind }, { durationMs, failed }) => {
        operationsRunning.dec({ kind });
        operationDuration.observe({ kind, outcome: failed ? "failed" : "done" }, durationMs / 1000);
      },
    ),
    observeWork(
      operationChannel,
      ({ kind }) => operationsRunning.inc({ kind }),
      ({ kind }) => operationsRunning.dec({ kind }),
    ),
  ];
  const onOperationEnd = (message: unknown) => {
    const { kind, state, durationMs } = message as OperationEnd;
    const outcome = state === "completed" ? "done" : state;
    operationDuration.observe({ kind, outcome }, durationMs / 1000);
  };
  operationEndChannel.subscribe(onOperationEnd);
  // So that a queue without waiting tasks is reported as 0 instead of missing.
  queueWaiting.set({ queue: "mutations" }, 0);
  return () => {
    for (const end of ends) {
      end();
    }
    operationEndChannel.unsubscribe(onOperationEnd);
  };
}

/** Returns `ok`, `failed` (nonzero exit code), `signal`, or the reason why it was stopped or not started. */
function outcomeOf({ exitCode, failure }: NonNullable<ToolObservation["outcome"]>): string {
  if (failure !== undefined) {
    return failure;
  }
  if (exitCode === null) {
    return "signal";
  }
  return exitCode === 0 ? "ok" : "failed";
}
