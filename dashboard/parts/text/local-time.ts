const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;

/**
 * Formats a time in the browser's time zone and language, with a 24-hour clock. Leaves out today's date.
 * @param locale default: the browser's
 */
export function localTime(date: Date, now: Date, locale?: string): string {
  return date.toDateString() === now.toDateString()
    ? localClock(date, locale)
    : `${localDate(date, locale)}, ${localClock(date, locale)}`;
}

/** Formats only the time of day. */
export function localClock(date: Date, locale?: string): string {
  return date.toLocaleTimeString(locale, clock);
}

function localDate(date: Date, locale?: string): string {
  return date.toLocaleDateString(locale, { dateStyle: "short" });
}
