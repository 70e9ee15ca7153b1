const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;

/**
 * A time in the browser's own zone and language, on a 24-hour clock as logs have it; without the date if it is of today.
 * @param locale the browser's if absent
 */
export function localTime(date: Date, now: Date, locale?: string): string {
  return date.toDateString() === now.toDateString()
    ? localClock(date, locale)
    : `${localDate(date, locale)}, ${localClock(date, locale)}`;
}

/** The time of day alone. */
export function localClock(date: Date, locale?: string): string {
  return date.toLocaleTimeString(locale, clock);
}

function localDate(date: Date, locale?: string): string {
  return date.toLocaleDateString(locale, { dateStyle: "short" });
}
