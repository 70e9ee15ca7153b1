import { setImmediate as turn } from "node:timers/promises";
import { test } from "tap";
import { createGathering } from "../../../../../server/domains/pods/logs/gathering.ts";

test("values of several sources are taken together, and a source is read further once its value is taken", async (t) => {
  const gathering = createGathering<string>();
  const created: string[] = [];
  async function* source(name: string): AsyncGenerator<string, void> {
    for (let count = 0; count < 3; count += 1) {
      created.push(`${name}${count}`);
      yield `${name}${count}`;
    }
  }
  gathering.add(source("a"));
  gathering.add(source("b"));
  for (let wait = 0; wait < 20; wait += 1) {
    await turn();
  }
  t.strictSame(created, ["a0", "b0"]);
  t.strictSame(await gathering.take(), ["a0", "b0"]);
  const rest: string[] = [];
  while (rest.length < 4) {
    rest.push(...(await gathering.take()));
  }
  t.strictSame(rest.toSorted(), ["a1", "a2", "b1", "b2"]);
});

test("a consumer can be woken, and notices the end and the failure of a source", async (t) => {
  const gathering = createGathering<string>();
  const waiting = gathering.take();
  gathering.wake();
  t.strictSame(await waiting, []);
  gathering.wake();
  t.strictSame(await gathering.take(), [], "also before it waits");
  gathering.add((async function* () {})());
  t.strictSame(await gathering.take(), []);
  gathering.add(
    // biome-ignore lint/correctness/useYield: it throws first
    (async function* () {
      throw new Error("broken");
    })(),
  );
  await t.rejects(gathering.take(), { message: "broken" });
});

test("sources end when the gathering is closed", async (t) => {
  const gathering = createGathering<string>();
  const ended: string[] = [];
  const come = Promise.withResolvers<void>();
  async function* source(name: string, arrival?: Promise<void>): AsyncGenerator<string, void> {
    try {
      await arrival;
      yield `${name}0`;
      yield `${name}1`;
    } finally {
      ended.push(name);
    }
  }
  gathering.add(source("taken"));
  await gathering.take();
  gathering.add(source("brought"));
  gathering.add(source("late", come.promise));
  for (let wait = 0; wait < 20; wait += 1) {
    await turn();
  }
  gathering.close();
  await turn();
  t.strictSame(ended.toSorted(), ["brought", "taken"]);
  come.resolve();
  await turn();
  t.strictSame(ended.toSorted(), ["brought", "late", "taken"]);
});
