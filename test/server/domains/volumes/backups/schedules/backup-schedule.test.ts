import fc from "fast-check";
import { test } from "tap";
import {
  latestSlotMs,
  slotName,
} from "../../../../../../server/domains/volumes/backups/schedules/backup-schedule.ts";

const minuteMs = 60_000;

function slotOf(rule: { cron?: string; timeZone?: string; everyHours?: number }, now: string) {
  const slotMs = latestSlotMs({ timeZone: "UTC", ...rule }, Date.parse(now));
  return slotMs === undefined ? undefined : new Date(slotMs).toISOString();
}

test("the newest slot is the schedule's last occurrence up to now", async (t) => {
  const nightly = { cron: "0 2 * * *" };
  t.equal(slotOf(nightly, "2026-11-21T01:59:59.999Z"), "2026-11-20T02:00:00.000Z");
  t.equal(slotOf(nightly, "2026-11-21T02:00:00.000Z"), "2026-11-21T02:00:00.000Z", "exactly at the slot");
  t.equal(slotOf(nightly, "2026-11-21T02:00:00.001Z"), "2026-11-21T02:00:00.000Z");
  t.equal(slotOf({ cron: "30 1 1 1 *" }, "2026-11-21T00:00:00Z"), "2026-01-01T01:30:00.000Z");
  t.equal(slotOf({ everyHours: 6 }, "2026-11-21T11:59:59.999Z"), "2026-11-21T06:00:00.000Z");
  t.equal(slotOf({ everyHours: 6 }, "2026-11-21T12:00:00Z"), "2026-11-21T12:00:00.000Z");
});

test("a night has one slot even when the clocks change", async (t) => {
  const berlin = { cron: "30 2 * * *", timeZone: "Europe/Berlin" };
  t.equal(
    slotOf(berlin, "2026-03-29T12:00:00Z"),
    "2026-03-29T01:00:00.000Z",
    "02:30 does not exist that night",
  );
  t.equal(
    slotOf(berlin, "2026-10-25T12:00:00Z"),
    "2026-10-25T00:30:00.000Z",
    "02:30 occurs twice that night",
  );
  t.equal(slotOf(berlin, "2026-11-21T12:00:00Z"), "2026-11-21T01:30:00.000Z");
});

test("every time belongs to the slot before it, for any hour and minute", async (t) => {
  const moments = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2030, 0, 1) });
  const daily = fc.record({
    hour: fc.integer({ min: 0, max: 23 }),
    minute: fc.integer({ min: 0, max: 59 }),
    now: moments,
  });
  fc.assert(
    fc.property(daily, ({ hour, minute, now }) => {
      const slot = latestSlotMs({ cron: `${minute} ${hour} * * *`, timeZone: "UTC" }, now) ?? Number.NaN;
      const dayMs = 24 * 60 * minuteMs;
      return slot <= now && slot > now - dayMs && slot % dayMs === (hour * 60 + minute) * minuteMs;
    }),
  );
  const every = fc.record({ everyHours: fc.integer({ min: 1, max: 8784 }), now: moments });
  fc.assert(
    fc.property(every, ({ everyHours, now }) => {
      const slot = latestSlotMs({ everyHours, timeZone: "UTC" }, now) ?? Number.NaN;
      const periodMs = everyHours * 60 * minuteMs;
      return slot <= now && slot > now - periodMs && slot % periodMs === 0;
    }),
  );
  t.pass();
});

test("backups are named after their slot", async (t) => {
  t.equal(slotName({ name: "nightly" }, Date.UTC(2026, 0, 31, 2, 5)), "nightly-20260131T0205Z");
});
