import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { createSlots } from "../../../../server/rpc/interceptors/slots.ts";

const endless = { onEnd: () => () => {} };

test("at any time at most the limit of calls have a slot, and waiting calls get one in order", async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.nat({ max: 40 }), { maxLength: 60 }),
      async (most, leaving) => {
        const places = createSlots(most);
        const inside: number[] = [];
        const open = leaving.map((_, index) => {
          const place = places.enter(endless);
          if (place.entered === undefined) {
            inside.push(index);
          } else {
            void place.entered.then(() => inside.push(index));
          }
          return { index, place };
        });
        const left = new Set<number>();
        for (const which of leaving) {
          const one = open[which % open.length];
          one?.place.leave();
          left.add(which % open.length);
          await Promise.resolve();
          const present = inside.filter((index) => !left.has(index));
          const expected = open.filter(({ index }) => !left.has(index)).slice(0, most);
          t.same(
            present.toSorted((a, b) => a - b),
            expected.map(({ index }) => index),
          );
          t.equal(places.takenCount(), present.length);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test("a call that ends while it waits gets its error, and its slot goes to the next", async (t) => {
  const places = createSlots(1);
  const first = places.enter(endless);
  let end: ((error: InfraError) => void) | undefined;
  const second = places.enter({
    onEnd(listener) {
      end = listener;
      return () => {};
    },
  });
  const third = places.enter(endless);
  end?.(new InfraError(hostReasons.CALLER_LEFT, "gone"));
  t.match(await second.entered?.catch((error: unknown) => error), { reason: "CALLER_LEFT" });
  second.leave();
  first.leave();
  await third.entered;
  t.equal(places.takenCount(), 1);
  third.leave();
  third.leave();
  t.equal(places.takenCount(), 0);
});
