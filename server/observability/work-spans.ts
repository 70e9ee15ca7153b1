import { InfraError } from "../../adapters/host/infra-error.ts";
import {
  snapshotChannel,
  toolChannel,
  type WorkChannel,
  waitChannel,
} from "../../adapters/host/observation.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import { mutationChannel, stepChannel } from "../operations/observation.ts";
import { type ActiveSpan, activeSpan, type SpanAttributes, type SpanBegin } from "./active-span.ts";

/**
 * Creates a child span for all work on the channels of the process that belongs to a traced call; other work gets none. Further
 * calls have no effect, so each gateway of a process may call it. Attributes of programs follow OpenTelemetry's conventions
 * (https://opentelemetry.io/docs/specs/semconv/cli/cli-spans/).
 */
export function traceWork(): void {
  if (isTracing) {
    return;
  }
  isTracing = true;
  traceChannel(snapshotChannel, ({ system }) => ({
    name: `snapshot ${system}`,
    attributes: { "hostplane.snapshot.system": system },
  }));
  traceChannel(waitChannel, ({ queue }) => ({
    name: `wait for ${queue}`,
    attributes: { "hostplane.queue": queue },
  }));
  traceChannel(mutationChannel, ({ kind, resource }) => ({
    name: kind,
    attributes: { "hostplane.operation.kind": kind, "hostplane.resource": resource },
  }));
  traceChannel(stepChannel, ({ name }) => ({ name: `step ${name}`, attributes: { "hostplane.step": name } }));
  traceChannel(
    toolChannel,
    ({ program, subcommand, kind, argv }) => ({
      name: subcommand === "" ? program : `${program} ${subcommand}`,
      attributes: {
        "process.executable.name": program,
        "process.command_args": argv,
        "hostplane.tool.kind": kind,
      },
      isProgram: true,
    }),
    ({ outcome }) => ({
      attributes: outcome?.exitCode == null ? {} : { "process.exit.code": outcome.exitCode },
      errorType:
        outcome?.failure ?? (outcome?.exitCode === 0 ? undefined : (outcome?.signal ?? "nonzero_exit")),
    }),
  );
}

let isTracing = false;

interface SpanEnd {
  readonly attributes: SpanAttributes;
  readonly errorType: string | undefined;
}

function traceChannel<Observation extends object>(
  channel: WorkChannel<Observation>,
  begin: (observation: Observation) => SpanBegin,
  endOf: (observation: Observation & { readonly error?: unknown }) => SpanEnd = ({ error }) => ({
    attributes: {},
    errorType: error === undefined ? undefined : reasonOf(error),
  }),
): void {
  const spans = new WeakMap<object, ActiveSpan>();
  channel.start.bindStore(activeSpan, (observation) => {
    const parent = activeSpan.getStore();
    if (parent === undefined) {
      return undefined;
    }
    const child = parent.startChild(begin(observation));
    if (child !== undefined) {
      spans.set(observation, child);
    }
    return child ?? parent;
  });
  channel.asyncEnd.subscribe((message) => {
    const observation = message as Observation;
    const { attributes, errorType } = endOf(observation);
    spans.get(observation)?.end(attributes, errorType);
  });
}

/** Returns the reason of an InfraError. For any other error returns INTERNAL, because its message may contain anything. */
function reasonOf(error: unknown): string {
  return error instanceof InfraError ? error.reason : hostReasons.INTERNAL.id;
}
