import fc from "fast-check";
import { test } from "tap";
import { parseRadarWords, radarFields } from "../../../../dashboard/pages/storage/radar-words.ts";

test("the radar header is parsed by score", async (t) => {
  const header =
    "cluster_health: OSD_DOWN -15, RECENT_CRASH -5; nodes_health: 3 of 3 ready by Ceph (no pods; yet); stability: no deductions";
  t.same(parseRadarWords(header), {
    cluster_health: "OSD_DOWN -15, RECENT_CRASH -5",
    nodes_health: "3 of 3 ready by Ceph (no pods; yet)",
    stability: "no deductions",
  });
  t.same(parseRadarWords(""), {});
});

test("any set of scores is parsed back, unless an explanation contains another score's name", async () => {
  const words = fc.stringMatching(/^[A-Za-z0-9 ,;()-]{1,40}$/);
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...radarFields), words), (because) => {
      const header = Object.entries(because)
        .map(([field, text]) => `${field}: ${text}`)
        .join("; ");
      const read: Record<string, string | undefined> = parseRadarWords(header);
      return (
        Object.keys(read).length === Object.keys(because).length &&
        Object.entries(because).every(([field, text]) => read[field] === text)
      );
    }),
  );
});

test("never throws", async () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      return Object.keys(parseRadarWords(text)).length >= 0;
    }),
  );
});
