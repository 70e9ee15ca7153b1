import fc from "fast-check";
import { test } from "tap";
import { idsOfPattern } from "../../../../server/domains/hypervisors/id-range.ts";

test("a range gives its numbers, padded as a shell does", async (t) => {
  t.same(idsOfPattern("bm-e4-{08..11}"), ["bm-e4-08", "bm-e4-09", "bm-e4-10", "bm-e4-11"]);
  t.same(idsOfPattern("hv{9..10}x"), ["hv9x", "hv10x"]);
  t.same(idsOfPattern("{1..003}"), ["001", "002", "003"]);
  t.same(idsOfPattern("{0..1}"), ["0", "1"]);
  t.same(idsOfPattern("{7..7}"), ["7"]);
  t.same(idsOfPattern("plain"), ["plain"]);
});

test("anything other than a single range is refused", async (t) => {
  for (const pattern of [
    "{1..2}{1..2}",
    "{2..1}",
    "{a..b}",
    "{1,2}",
    "{",
    "}",
    "a{}",
    "{1..10001}",
    "{-1..2}",
  ]) {
    t.equal(idsOfPattern(pattern), undefined, pattern);
  }
});

test("the ids of a range are distinct, and as many as it has numbers", async () => {
  const number = fc.integer({ min: 0, max: 2000 });
  fc.assert(
    fc.property(number, number, fc.boolean(), (first, more, isPadded) => {
      const from = isPadded ? `0${first}` : String(first);
      const ids = idsOfPattern(`a{${from}..${first + more}}`) ?? [];
      return new Set(ids).size === more + 1 && ids.every((id, at) => Number(id.slice(1)) === first + at);
    }),
  );
});

test("no text throws", async () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a{}.0-9]{0,20}$/)), (text) => {
      const ids = idsOfPattern(text);
      return ids === undefined || (ids.length >= 1 && ids.length <= 10_000);
    }),
  );
});
