import { localTime } from "./local-time.ts";

/** Replaces the exact times in a sentence of the gateway, such as "2026-11-26T09:00:00.000Z", by local ones. */
export function withLocalTimes(text: string, now: Date, locale?: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) =>
    localTime(new Date(time), now, locale),
  );
}
