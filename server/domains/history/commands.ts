import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type FigureSeries,
  type GetHistoryResponse,
  GetHistoryResponseSchema,
  HistoryService,
  type SubjectHistory,
} from "../../../gen/hostplane/v1/history_pb.ts";
import { InventoryService, ResourceHealthSchema } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { type Noun, show } from "../../cli/table/command.ts";
import { enumText } from "../../cli/table/enum-text.ts";
import { argument, duration, nameOf, option, optionList, word } from "../../cli/table/parameter.ts";
import { anyName, type Reference } from "../../cli/table/reference.ts";
import { sizeText } from "../../cli/table/size-text.ts";
import { sparkline } from "../../cli/table/sparkline.ts";
import { timeText } from "../../cli/table/time-text.ts";
import type { View } from "../../cli/table/view.ts";

/** Fits into a terminal beside the figures. */
const points = 48;
/** The table shows the last changes of state. */
const shownStates = 10;

const subjects: Reference = {
  noun: "history",
  fullId: anyName,
  async list(session) {
    const [systems, resources] = await Promise.all([
      session.call(HistoryService.method.listSubjects, {}),
      session.call(InventoryService.method.listResources, { pageSize: 1000 }),
    ]);
    return [...systems.message.subjects, ...resources.message.resources].map(({ name }) => ({
      id: name,
      names: [],
    }));
  },
};

/** Figures of the last 24 hours. */
export const historyNoun: Noun = {
  reference: subjects,
  commands: [
    show({
      name: "",
      summary: "show how the figures and states of a resource, device class or system have changed",
      parameters: {
        resource: argument(
          "name as `get` prints it, or deviceClasses/NAME, hypervisors, pods, clusters, gateway",
          nameOf("resource", subjects),
        ),
        since: option("how far back, at most 24h (default: 24h)", duration),
        figure: optionList("only this figure", word("figure")),
      },
      method: HistoryService.method.getHistory,
      request: ({ resource, since, figure }) => ({
        subjects: [resource],
        figures: [...figure],
        points,
        ...(since === undefined ? {} : { startTime: timestampFromMs(Date.now() - since) }),
      }),
      schema: GetHistoryResponseSchema,
      item: (response, { resource }) => {
        if (response.subjects.length === 0) {
          throw new Error(`no history of ${resource}`);
        }
        return response;
      },
      id: (item) => item.subjects[0]?.subject ?? "",
      view: historyView,
    }),
  ],
};

function historyView(item: GetHistoryResponse): View {
  const subject = item.subjects[0];
  const interval = item.interval === undefined ? 0 : durationMs(item.interval);
  return {
    facts: [
      ["since", timeText(item.startTime)],
      ["interval", `${interval / 1000} s`],
    ],
    tables:
      subject === undefined
        ? []
        : [
            ...(subject.figures.length === 0 ? [] : [figuresTable(subject, item.points)]),
            ...(subject.states.length === 0 ? [] : [statesTable(subject)]),
          ],
  };
}

function figuresTable({ figures }: SubjectHistory, count: number) {
  return {
    head: ["FIGURE", "LAST", "MIN", "MAX", "TREND"],
    rows: figures.map((series) => {
      const values = valuesOf(series, count);
      const known = values.filter((value) => !Number.isNaN(value));
      const text = (value: number | undefined) => valueText(value, series.unit);
      const [min, max] = known.length === 0 ? [] : [Math.min(...known), Math.max(...known)];
      return [series.name, text(known.at(-1)), text(min), text(max), sparkline(values)];
    }),
  };
}

function statesTable({ states }: SubjectHistory) {
  return {
    head: ["STATE", "HEALTH", "FROM", "TO"],
    rows: states
      .slice(-shownStates)
      .map(({ state, health, startTime, endTime }) => [
        state,
        enumText(ResourceHealthSchema, health),
        timeText(startTime),
        timeText(endTime),
      ]),
  };
}

/** Returns a value for each interval; NaN if it is unknown. */
function valuesOf({ starts, lengths, values }: FigureSeries, count: number): readonly number[] {
  const all = new Array<number>(count).fill(Number.NaN);
  for (const [run, value] of values.entries()) {
    const start = starts[run] ?? 0;
    all.fill(value, start, start + (lengths[run] ?? 0));
  }
  return all;
}

function valueText(value: number | undefined, unit: string): string {
  if (value === undefined) {
    return "?";
  }
  const rounded = String(Number(value.toFixed(2)));
  switch (unit) {
    case "bytes":
      return sizeText(BigInt(Math.round(value)));
    case "bytes_per_second":
      return `${sizeText(BigInt(Math.round(value)))}/s`;
    case "per_second":
      return `${rounded}/s`;
    case "percent":
      return `${rounded} %`;
    case "seconds":
      return new Date(value * 1000).toISOString();
    case "milliseconds":
      return `${rounded} ms`;
    default:
      return rounded;
  }
}
