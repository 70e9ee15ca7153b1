import { invalidField } from "../../../../adapters/host/infra-error.ts";
import { type EventFilter, EventType } from "../../../../gen/v1alpha/api_pb.ts";
import { imageIdFrom } from "../image-id.ts";
import { parseSecondsWindow, type SecondsWindow } from "../public/seconds-window.ts";

/** Filter of events of pods and images: those after the start of the window's first second and before its end. */
export interface ListenRequest extends SecondsWindow {
  /** Empty for any, as for the other sets. */
  readonly types: ReadonlySet<EventType>;
  readonly ids: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

const knownTypes: ReadonlySet<number> = new Set(Object.values(EventType));
const maxValues = 1_000;
const maxLength = 1_024;

/** Parses the filter of a request; without one, all events from now on match. @throws InfraError INVALID_FIELD */
export function parseListenRequest(filter: EventFilter | undefined): ListenRequest {
  const { types = [], ids = [], names = [], sinceTime = 0n, untilTime = 0n } = filter ?? {};
  assertCount("types", types.length);
  for (const [index, type] of types.entries()) {
    if (type === EventType.UNDEFINED || !knownTypes.has(type)) {
      throw invalidField(`filter.types[${index}]`, "expected a type of event, from 1 to 9");
    }
  }
  return {
    types: new Set(types),
    ids: new Set(parseTexts("ids", ids).map(imageIdFrom)),
    names: new Set(parseTexts("names", names)),
    ...parseSecondsWindow({ sinceTime, untilTime }, "filter."),
  };
}

function assertCount(field: string, count: number): void {
  if (count > maxValues) {
    throw invalidField(`filter.${field}`, `expected at most ${maxValues}, got ${count}`);
  }
}

function parseTexts(field: string, texts: readonly string[]): readonly string[] {
  assertCount(field, texts.length);
  for (const [index, text] of texts.entries()) {
    if (text === "" || text.length > maxLength) {
      throw invalidField(`filter.${field}[${index}]`, `expected 1 to ${maxLength} characters`);
    }
  }
  return texts;
}
