import { test } from "tap";
import { createRandom, type Random } from "../../../adapters/sandbox/random.ts";

const numbers = (random: Random) => Array.from({ length: 100 }, () => random.next());

test("the same seed gives the same choices, and another seed gives others", async (t) => {
  t.same(numbers(createRandom(7)), numbers(createRandom(7)));
  t.notSame(numbers(createRandom(7)), numbers(createRandom(8)));
});

test("a fork depends on its name only, not on earlier choices", async (t) => {
  const random = createRandom(7);
  const before = numbers(random.fork("pods"));
  random.next();
  t.same(numbers(random.fork("pods")), before);
  t.notSame(numbers(random.fork("volumes")), before);
});

test("integers are spread over the whole range, including its ends", async (t) => {
  const random = createRandom(1);
  const seen = Array.from({ length: 1_000 }, () => random.integer(-1, 2));
  for (const value of [-1, 0, 1, 2]) {
    const count = seen.filter((each) => each === value).length;
    t.ok(count > 150 && count < 350, `${value} was chosen ${count} times of 1000`);
  }
  t.equal(new Set(seen).size, 4);
  t.ok(["a", "b"].includes(random.pick(["a", "b"])));
});
