import fc from "fast-check";
import { test } from "tap";
import { createRing, type RingElement } from "../../../../server/rpc/call/ring.ts";

test("a ring has the same elements as a list, in the same order", async (t) => {
  const step = fc.record({ isAdded: fc.boolean(), index: fc.nat({ max: 7 }) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const links: RingElement[] = Array.from({ length: 8 }, () => ({
        previous: undefined,
        next: undefined,
      }));
      const ring = createRing<RingElement>();
      const list: RingElement[] = [];
      for (const { isAdded, index } of steps) {
        const link = links[index] as RingElement;
        const place = list.indexOf(link);
        if (!isAdded) {
          ring.delete(link);
          list.splice(place, place < 0 ? 0 : 1);
        } else if (place < 0) {
          ring.add(link);
          list.push(link);
        }
        const held = [...ring];
        const isAlike = held.length === list.length && held.every((one, at) => one === list[at]);
        if (!isAlike || ring.size() !== list.length || ring.first() !== list[0]) {
          return false;
        }
      }
      return links.every((link) => list.includes(link) || (link.previous ?? link.next) === undefined);
    }),
  );
  t.pass("for any order of insertions and deletions");
});

test("elements may be added and deleted during iteration", async (t) => {
  for (const gone of [[0], [1], [0, 1], [1, 2], [0, 1, 2], [3], [2, 3]]) {
    const links: RingElement[] = Array.from({ length: 4 }, () => ({ previous: undefined, next: undefined }));
    const late: RingElement = { previous: undefined, next: undefined };
    const ring = createRing<RingElement>();
    for (const link of links) {
      ring.add(link);
    }
    const visited: number[] = [];
    for (const link of ring) {
      const at = links.indexOf(link);
      visited.push(at);
      if (at === 1) {
        for (const index of gone) {
          ring.delete(links[index] as RingElement);
        }
        ring.add(late);
      }
    }
    const expected = [0, 1, 2, 3].filter((at) => at < 2 || !gone.includes(at));
    t.same(visited, [...expected, -1], `${gone} deleted at 1`);
  }
});
