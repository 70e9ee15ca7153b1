/** Returns the milliseconds of a clock that all processes of a machine share. */
export function sharedClockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
