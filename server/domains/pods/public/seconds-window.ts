import { invalidField } from "../../../../adapters/host/infra-error.ts";

/** Start and end of a window, seconds since 1970; undefined for no limit. */
export interface SecondsWindow {
  readonly sinceSeconds: bigint | undefined;
  readonly untilSeconds: bigint | undefined;
}

/** The end of the year 9999. */
const maxSeconds = 253_402_300_799n;

/**
 * Parses `since_time` and `until_time` of a request of v1alpha.PublicAPI; 0 means not set.
 * @param path prefix of the fields' names in errors, e.g. `filter.`
 * @throws InfraError INVALID_FIELD, also for an empty window
 */
export function parseSecondsWindow(
  { sinceTime, untilTime }: { readonly sinceTime: bigint; readonly untilTime: bigint },
  path = "",
): SecondsWindow {
  const sinceSeconds = parseSeconds(`${path}since_time`, sinceTime);
  const untilSeconds = parseSeconds(`${path}until_time`, untilTime);
  if (sinceSeconds !== undefined && untilSeconds !== undefined && untilSeconds <= sinceSeconds) {
    throw invalidField(`${path}until_time`, "must be later than since_time");
  }
  return { sinceSeconds, untilSeconds };
}

function parseSeconds(field: string, seconds: bigint): bigint | undefined {
  if (seconds < 0n || seconds > maxSeconds) {
    throw invalidField(field, `must be 0 (none) or seconds since 1970 up to ${maxSeconds}, got ${seconds}`);
  }
  return seconds === 0n ? undefined : seconds;
}
