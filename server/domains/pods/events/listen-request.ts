import { invalidField } from "../../../../adapters/host/infra-error.ts";
import { type EventFilter, EventType } from "../../../../gen/v1alpha/api_pb.ts";

/** Which events of pods and images a caller wants. Times are seconds since 1970. */
export interface ListenRequest {
  /** Any when empty; so are the others. */
  readonly types: ReadonlySet<EventType>;
  readonly ids: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  /** Only what happened later; undefined: from now. */
  readonly sinceSeconds: bigint | undefined;
  /** Only what happened earlier; undefined: without end. */
  readonly untilSeconds: bigint | undefined;
}

const knownTypes: ReadonlySet<number> = new Set(Object.values(EventType));
const maxValues = 1_000;
const maxLength = 1_024;

/** The end of the year 9999. */
const maxSeconds = 253_402_300_799n;

/** Reads the filter of a request; without one everything from now on is wanted. @throws InfraError INVALID_FIELD */
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
    ids: new Set(parseTexts("ids", ids).map((id) => id.replace(/^sha256:/, ""))),
    names: new Set(parseTexts("names", names)),
    sinceSeconds: parseSeconds("since_time", sinceTime),
    untilSeconds: parseSeconds("until_time", untilTime),
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

function parseSeconds(field: string, seconds: bigint): bigint | undefined {
  if (seconds < 0n || seconds > maxSeconds) {
    throw invalidField(`filter.${field}`, `expected 0, for none, to ${maxSeconds} seconds since 1970`);
  }
  return seconds === 0n ? undefined : seconds;
}
