import { test } from "tap";
import { limitCrossings } from "../../../server/events/limit-crossings.ts";

interface Tank {
  readonly name: string;
  /** Undefined: the gauge is broken. */
  readonly percent: number | undefined;
}

/** Full from 90 %, until it falls below 85 %. */
const full = {
  keyOf: ({ name }: Tank) => name,
  isBeyond: ({ percent }: Tank, wasBeyond: boolean) =>
    percent === undefined ? undefined : percent >= (wasBeyond ? 85 : 90),
};

/** Reads a tank several times, and returns the reads that crossed the limit. */
function crossingsOf(percents: readonly (number | undefined)[]): string[] {
  let beyond: string[] = [];
  return percents.flatMap((percent) => {
    const result = limitCrossings(beyond, [{ name: "north", percent }], full);
    beyond = result.beyond;
    return result.crossings.map(
      ({ resource, isBeyond }) => `${resource.percent} ${isBeyond ? "full" : "ok"}`,
    );
  });
}

test("a crossing is returned once, however the figure moves within the hysteresis", async (t) => {
  t.strictSame(crossingsOf([80, 90, 89, 91, 85, 84, 89, 90]), ["90 full", "84 ok", "90 full"]);
});

test("a resource whose figure is unknown stays where it was", async (t) => {
  t.strictSame(crossingsOf([undefined, 95, undefined, 95, 80, undefined, 80]), ["95 full", "80 ok"]);
});

test("a removed resource is forgotten without a crossing", async (t) => {
  t.strictSame(limitCrossings(["north"], [], full), { crossings: [], beyond: [] });
});
