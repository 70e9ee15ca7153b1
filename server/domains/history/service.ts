import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { HistoryService, type SubjectHistorySchema } from "../../../gen/hostplane/v1/history_pb.ts";
import { healthMessages } from "../../domain/health-messages.ts";
import { createVisibilityOf, type VisibilityOf } from "../../domain/visibility.ts";
import type { History, StateSpan, SubjectHistory } from "../../history/history.ts";
import { resample } from "../../history/resample.ts";
import type { Call } from "../../rpc/call/call.ts";
import { inSlices } from "../../rpc/call/in-slices.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { type HistoryQuery, parseHistoryQuery } from "./history-query.ts";
import type { HistorySource } from "./history-sources.ts";

/** So that a resource that changes with each sample does not fill the answer. */
const statesMax = 200;

type SubjectMessage = MessageInitShape<typeof SubjectHistorySchema>;

/** hostplane.v1.HistoryService: the history of what the caller sees in the inventory. */
export function createHistoryService(
  history: History,
  sources: readonly HistorySource[],
  visibilityOf: VisibilityOf = createVisibilityOf({ hub: undefined }),
): ServiceRegistration {
  const { stepMs } = history;
  const domains = new Map(sources.map(({ source, domain }) => [source, domain]));

  /** @throws InfraError UNAUTHENTICATED reasons once the caller's credential is no longer accepted */
  function visibleSources(
    call: Pick<Call, "caller" | "peer">,
  ): (name: string) => (source: number) => boolean {
    const { services: callable, bounds } = visibilityOf(call);
    const visible = new Map(
      sources
        .filter(({ services }) => callable === undefined || services.some((name) => callable.has(name)))
        .map(({ source, services }) => [source, services]),
    );
    return (resource) => (source) => {
      const services = visible.get(source);
      return services !== undefined && (bounds === undefined || bounds.covers({ services, resource }));
    };
  }

  function* subjectMessages(query: HistoryQuery, isVisible: ReturnType<typeof visibleSources>) {
    const messages: SubjectMessage[] = [];
    for (const name of query.subjects) {
      const subject = history.read(name, isVisible(name));
      if (subject !== undefined) {
        messages.push(subjectMessage(name, subject, query, stepMs));
      }
      yield;
    }
    return messages;
  }

  return registerService(HistoryService, {
    async getHistory(request, call) {
      await history.load();
      const query = parseHistoryQuery(request, stepMs, history.lastTick());
      const { fromTick, ticks, count } = query.grid;
      const subjects = await inSlices(subjectMessages(query, visibleSources(call)));
      return {
        startTime: timestampFromMs(fromTick * stepMs),
        interval: durationFromMs(ticks * stepMs),
        points: count,
        step: durationFromMs(stepMs),
        subjects,
        ...(history.firstTick() === -1 ? {} : { beginTime: timestampFromMs(history.firstTick() * stepMs) }),
      };
    },
    async listSubjects(_, call) {
      await history.load();
      const isVisible = visibleSources(call);
      return {
        subjects: history
          .systems()
          .filter(({ name, source }) => isVisible(name)(source))
          .map(({ name, source }) => ({
            name,
            domain: domains.get(source) ?? "",
            figures: (history.read(name, (each) => each === source)?.figures ?? []).map((figure) => ({
              name: figure.name,
              unit: figure.unit,
            })),
          })),
      };
    },
  });
}

function subjectMessage(
  subject: string,
  { figures, states }: SubjectHistory,
  { figures: wanted, fromTick, toTick, grid }: HistoryQuery,
  stepMs: number,
): SubjectMessage {
  const end = grid.fromTick + grid.count * grid.ticks;
  return {
    subject,
    figures: figures
      .filter(({ name }) => wanted.size === 0 || wanted.has(name))
      .map(({ name, unit, isMean, spans }) => ({
        name,
        unit,
        ...resample(spans(grid.fromTick, end), grid, isMean),
      })),
    states: joinStates(states(fromTick, toTick))
      .slice(-statesMax)
      .map(({ from, to, state, health }) => ({
        startTime: timestampFromMs(from * stepMs),
        endTime: timestampFromMs(to * stepMs),
        state,
        health: healthMessages[health],
      })),
  };
}

/** Joins parts of one state that follow each other. */
function joinStates(spans: Iterable<StateSpan>): StateSpan[] {
  const joined: StateSpan[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last?.to === span.from && last.state === span.state && last.health === span.health) {
      joined[joined.length - 1] = { ...span, from: last.from };
    } else {
      joined.push(span);
    }
  }
  return joined;
}
