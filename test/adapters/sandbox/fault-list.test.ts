import { test } from "tap";
import { createFaultList, type FaultList } from "../../../adapters/sandbox/fault-list.ts";

function createList(): FaultList<RegExp, string, number> {
  return createFaultList((match, request) => match.test(request));
}

test("a fault applies to matching requests, once by default", (t) => {
  const faults = createList();
  t.equal(faults.take("read"), undefined);
  faults.add(/write/, { kind: "cut" });
  t.equal(faults.take("read"), undefined);
  t.same(faults.take("write"), { kind: "cut" });
  t.equal(faults.take("write"), undefined);
  faults.add(/./, { kind: "answer", answer: 503, times: 2 });
  t.match([faults.take("read"), faults.take("write")], [{ answer: 503 }, { answer: 503 }]);
  t.equal(faults.take("read"), undefined);
  t.end();
});

test("the oldest of several faults applies first, and only one to each request", (t) => {
  const faults = createList();
  faults.add(/write/, { kind: "loseReply" });
  faults.add(/./, { kind: "delay", ms: 5 });
  faults.add(/write/, { kind: "cut" });
  t.match(faults.take("read"), { kind: "delay" });
  t.match(faults.take("write"), { kind: "loseReply" });
  t.match(faults.take("write"), { kind: "cut" });
  t.equal(faults.take("write"), undefined);
  t.end();
});

test("a cleared fault does not apply", (t) => {
  const faults = createList();
  faults.add(/./, { kind: "cut", times: 100 });
  faults.take("read");
  faults.clear();
  t.equal(faults.take("read"), undefined);
  faults.add(/./, { kind: "cut" });
  t.match(faults.take("read"), { kind: "cut" });
  t.end();
});
