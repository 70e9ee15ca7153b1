import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { createInlineRunner } from "../../../../server/operations/engine/run-inline.ts";
import type { Mutation, MutationStep } from "../../../../server/operations/mutation.ts";

/** The signal of a caller that stays connected. */
const open = new AbortController().signal;

function mutationOf(steps: readonly MutationStep[], pointOfNoReturn = steps.length): Mutation {
  return {
    kind: "test",
    resource: "r",
    backend: "b",
    plan: { changes: [], losses: [], facts: [] },
    steps,
    pointOfNoReturn,
  };
}

function stepOf(log: string[], name: string, fails = false): MutationStep {
  return {
    name,
    command: [name],
    forward: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      log.push(name);
      if (fails) {
        throw new Error(`${name} failed`);
      }
    },
    undo: async () => {
      log.push(`undo ${name}`);
    },
  };
}

test("a failing step undoes the earlier ones in reverse order", async (t) => {
  const log: string[] = [];
  const runner = createInlineRunner(() => t.fail("no undo fails"));
  const steps = [stepOf(log, "a"), stepOf(log, "b"), stepOf(log, "c", true)];
  await t.rejects(
    runner.run("r", async () => mutationOf(steps), open),
    { message: "c failed" },
  );
  t.same(log, ["a", "b", "c", "undo b", "undo a"]);
});

test("nothing is undone after the point of no return", async (t) => {
  const log: string[] = [];
  const runner = createInlineRunner(() => t.fail("no undo fails"));
  const steps = [stepOf(log, "a"), stepOf(log, "b"), stepOf(log, "c", true)];
  await t.rejects(runner.run("r", async () => mutationOf(steps, 1), open));
  t.same(log, ["a", "b", "c"]);
});

test("mutations of one resource run one after another, those of different resources in parallel", async (t) => {
  const log: string[] = [];
  const runner = createInlineRunner(() => {});
  const run = (resource: string, name: string) =>
    runner.run(
      resource,
      async () => {
        log.push(`describe ${name}`);
        return mutationOf([stepOf(log, name)]);
      },
      open,
    );
  await Promise.all([run("x", "1"), run("x", "2"), run("y", "3")]);
  t.ok(log.indexOf("1") < log.indexOf("describe 2"), "the second is described when the first is done");
  t.ok(log.indexOf("describe 3") < log.indexOf("1"), "another resource does not wait");
});

test("a failed mutation does not block the next, and a failed undo is reported", async (t) => {
  const log: string[] = [];
  const reported: string[] = [];
  const runner = createInlineRunner((mutation, step) => reported.push(`${mutation.kind} ${step.name}`));
  const broken: MutationStep = {
    ...stepOf(log, "a"),
    undo: async () => {
      throw new Error("cannot");
    },
  };
  const first = runner.run("r", async () => mutationOf([broken, stepOf(log, "b", true)]), open);
  const second = runner.run("r", async () => mutationOf([stepOf(log, "c")]), open);
  await t.rejects(first, { message: "b failed" });
  await second;
  t.same(reported, ["test a"]);
  t.same(log, ["a", "b", "c"]);
});

test("drain waits for running mutations and begins no more", async (t) => {
  const log: string[] = [];
  const runner = createInlineRunner(() => {});
  const running = runner.run("r", async () => mutationOf([stepOf(log, "a"), stepOf(log, "b")]), open);
  await new Promise((resolve) => setImmediate(resolve));
  const queued = runner.run("r", async () => mutationOf([stepOf(log, "c")]), open);
  queued.catch(() => {});
  await runner.drain();
  await running;
  await t.rejects(queued, { name: "InfraError", reason: "SHUTTING_DOWN" });
  t.same(log, ["a", "b"]);
});

test("a mutation is not begun if its caller leaves first; once begun, it runs to its end", async (t) => {
  const log: string[] = [];
  const runner = createInlineRunner(() => {});
  const leaving = new AbortController();
  const first = runner.run("r", async () => mutationOf([stepOf(log, "a"), stepOf(log, "b")]), leaving.signal);
  const second = runner.run("r", async () => mutationOf([stepOf(log, "c")]), leaving.signal);
  second.catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  leaving.abort(new Error("left"));
  await first;
  await t.rejects(second, { message: "left" });
  t.same(log, ["a", "b"]);
});

test("the queue is bounded, and a caller that leaves frees its place at once", async (t) => {
  const log: string[] = [];
  const runner = createInlineRunner(() => {});
  const gate = Promise.withResolvers<void>();
  const held = async () => {
    await gate.promise;
    return mutationOf([stepOf(log, "held")]);
  };
  const first = runner.run("r", held, open);
  const leaving = new AbortController();
  const waiting = Array.from({ length: 128 }, () =>
    runner.run("r", async () => mutationOf([stepOf(log, "waited")]), leaving.signal),
  );
  const busy = {
    name: "InfraError",
    reason: "BUSY",
    message: /^too many changes of r: 128 are already waiting .*128 waiting/,
  };
  await t.rejects(
    runner.run("r", async () => mutationOf([]), open),
    busy,
  );
  await runner.run("other", async () => mutationOf([]), open);
  leaving.abort(new InfraError(hostReasons.CALLER_LEFT, "left"));
  const left = await Promise.allSettled(waiting);
  t.ok(left.every(({ status }) => status === "rejected"));
  const next = runner.run("r", async () => mutationOf([stepOf(log, "next")]), open);
  gate.resolve();
  await Promise.all([first, next]);
  t.same(log, ["held", "next"]);
});

test("the total of all queues is bounded as well", async (t) => {
  const runner = createInlineRunner(() => {});
  const gate = Promise.withResolvers<void>();
  const held = async () => {
    await gate.promise;
    return mutationOf([]);
  };
  const resources = Array.from({ length: 16 }, (_, index) => `r${index}`);
  const running = resources.map((resource) => runner.run(resource, held, open));
  const waiting = resources.flatMap((resource) =>
    Array.from({ length: 64 }, () => runner.run(resource, held, open)),
  );
  await t.rejects(runner.run("r0", held, open), {
    name: "InfraError",
    reason: "BUSY",
    message: /^1024 changes are already queued/,
  });
  const free = runner.run("free", held, open);
  gate.resolve();
  await Promise.all([...running, ...waiting, free]);
});

test("the error of a mutation reports which effect remains", async (t) => {
  const refusal = new InfraError(hostReasons.NO_SPACE, "no space");
  const unknown = new InfraError(hostReasons.TOOL_FAILED, "ended by a signal");
  const runner = createInlineRunner(() => {});
  const done: MutationStep = stepOf([], "a");
  const failing = (error: InfraError): MutationStep => ({ ...done, forward: () => Promise.reject(error) });
  const stuck = { ...done, undo: () => Promise.reject(new Error("it cannot be undone")) };
  const effectOf = async (steps: readonly MutationStep[], pointOfNoReturn = steps.length) => {
    const failed = runner.run("r", async () => mutationOf(steps, pointOfNoReturn), open);
    return failed.then(
      () => "succeeded",
      (error: InfraError) => error.effect,
    );
  };
  t.equal(await effectOf([failing(refusal)]), "none");
  t.equal(await effectOf([failing(unknown)]), "possible");
  t.equal(await effectOf([done, failing(refusal)]), "none", "the completed step is undone");
  t.equal(await effectOf([stuck, failing(refusal)]), "possible", "the completed step remains");
  t.equal(await effectOf([done, failing(refusal)], 0), "possible", "nothing is undone");
  t.equal(await effectOf([done, failing(unknown)]), "possible");
  const refused = runner.run("r", () => Promise.reject(unknown), open);
  t.equal(await refused.catch(({ effect }: InfraError) => effect), undefined, "no step has begun");
});
