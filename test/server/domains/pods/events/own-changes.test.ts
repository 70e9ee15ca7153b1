import fc from "fast-check";
import { test } from "tap";
import {
  createOwnChanges,
  imageResource,
  podResource,
} from "../../../../../server/domains/pods/events/own-changes.ts";

const ms = 1_000_000n;

/** Creates a clock that moves only when the test advances it. */
function clockAt(startMs: number) {
  let nowMs = startMs;
  return {
    now: () => BigInt(nowMs) * ms,
    forward(byMs: number) {
      nowMs += byMs;
    },
  };
}

test("events of a pod and its containers during a change are attributed to the operation", async (t) => {
  const clock = clockAt(10_000);
  const own = createOwnChanges(clock.now);
  const created = await own.during({ resources: [podResource("a")], operationId: "op" }, async () => {
    t.equal(own.operationOf("pods/a", clock.now()), "op", "while it is running");
    clock.forward(100);
    return 7;
  });
  t.equal(created, 7);
  clock.forward(1_000);
  const at = (atMs: number, resource = "pods/a") => own.operationOf(resource, BigInt(atMs) * ms);
  t.equal(at(10_050), "op");
  t.equal(at(10_050, "pods/a/containers/web"), "op");
  t.equal(at(9_998), undefined, "before");
  t.equal(at(10_102), undefined, "after");
  t.equal(at(10_050, "pods/ab"), undefined, "another pod");
  t.equal(at(10_050, "pods"), undefined);
});

test("a change lasts as long as its effects, also when it fails", async (t) => {
  const clock = clockAt(10_000);
  const own = createOwnChanges(clock.now);
  const change = { resources: [podResource("a")], operationId: "op", lingerMs: 500 };
  await t.rejects(
    own.during(change, async () => {
      throw new Error("no");
    }),
  );
  t.equal(own.operationOf("pods/a", 10_400n * ms), "op");
  t.equal(own.operationOf("pods/a", 10_600n * ms), undefined);
  await own.during({ resources: [podResource("a")], operationId: "next" }, async () => {});
  t.equal(own.operationOf("pods/a", 10_000n * ms), "next", "the later of two");
});

test("a pulled image is identified by its name until its id is known", async (t) => {
  const clock = clockAt(10_000);
  const own = createOwnChanges(clock.now);
  const names = ["example.org/a:1", "example.org/b:1"];
  const change = { resources: [imageResource("example.org/b:1")], operationId: "op" };
  await own.during(change, async (also) => {
    t.equal(own.operationOfImage("1234", names, clock.now()), "op");
    t.equal(own.operationOfImage("1234", ["example.org/b:2"], clock.now()), undefined);
    t.equal(own.operationOfImage("1234", [], clock.now()), undefined);
    also(imageResource("1234"));
    t.equal(own.operationOfImage("1234", [], clock.now()), "op");
  });
});

test("changes from minutes ago are forgotten", async (t) => {
  const clock = clockAt(10_000);
  const own = createOwnChanges(clock.now);
  const change = (id: string) =>
    own.during({ resources: [podResource(id)], operationId: id }, async () => {});
  await change("a");
  clock.forward(301_000);
  await change("b");
  t.equal(own.operationOf("pods/a", 10_000n * ms), undefined);
  t.equal(own.operationOf("pods/b", 311_000n * ms), "b");
});

test("no event is attributed to an operation that did not change the resource at that time", async () => {
  const change = fc.record({
    id: fc.constantFrom("a", "b", "c"),
    startMs: fc.nat(50),
    lastsMs: fc.nat(50),
    lingerMs: fc.nat(20),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 8 }), fc.nat(200), async (changes, atMs) => {
      let nowMs = 0;
      const own = createOwnChanges(() => BigInt(1_000 + nowMs) * ms);
      const spans: { id: string; from: number; to: number; operationId: string }[] = [];
      for (const [index, { id, startMs, lastsMs, lingerMs }] of changes.entries()) {
        nowMs += startMs;
        const from = nowMs - 1;
        const operationId = `op-${index}`;
        await own.during({ resources: [podResource(id)], operationId, lingerMs }, async () => {
          nowMs += lastsMs;
        });
        spans.push({ id, from, to: nowMs + 1 + lingerMs, operationId });
      }
      for (const id of ["a", "b", "c"]) {
        const reported = own.operationOf(podResource(id), BigInt(1_000 + atMs) * ms);
        const possible = spans.filter((span) => span.id === id && span.from <= atMs && atMs <= span.to);
        if (reported !== possible.at(-1)?.operationId) {
          return false;
        }
      }
      return true;
    }),
  );
});
