import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { exitProblems } from "../../../../../dashboard/pages/overview/problems/exit-problems.ts";
import { EventSchema } from "../../../../../gen/hostplane/v1/event_pb.ts";

const minuteMs = 60_000;

function exit(atMs: number, exitCode: number, pod = "1", fleetHost = "") {
  return create(EventSchema, {
    type: "container.exited",
    fleetHost,
    resource: `pods/${pod}/containers/worker`,
    at: timestampFromMs(atMs),
    detail: { case: "pod", value: { name: `job-${pod}`, container: "worker", exitCode } },
  });
}

test("a pod that exits again and again is one problem", async (t) => {
  const events = [
    exit(3 * minuteMs, 3),
    exit(2 * minuteMs, 3),
    exit(2 * minuteMs, 1, "2"),
    exit(minuteMs, 3),
  ];
  const problems = exitProblems(events, 4 * minuteMs, () => true);
  t.match(problems, [{ key: "pods/1", title: "Pod job-1 exited 3 times", sinceMs: 3 * minuteMs }]);
  t.match(problems[0]?.cause, /^worker, exit code 3, since \d\d:\d\d/);
  t.equal(problems.length, 1);
});

test("stops, pods that are gone and exits that are long ago are none", async (t) => {
  const thrice = (code: number) => [3, 2, 1].map((minute) => exit(minute * minuteMs, code));
  t.same(
    exitProblems(thrice(143), 4 * minuteMs, () => true),
    [],
  );
  t.same(
    exitProblems(thrice(0), 4 * minuteMs, () => true),
    [],
  );
  t.same(
    exitProblems(thrice(3), 4 * minuteMs, () => false),
    [],
  );
  t.same(
    exitProblems(thrice(3), 30 * minuteMs, () => true),
    [],
  );
});

test("pods of the same name on different hosts have their own counts", async (t) => {
  const events = [3, 2, 1].flatMap((minute) => [
    exit(minute * minuteMs, 3, "1", "node-a"),
    ...(minute === 1 ? [] : [exit(minute * minuteMs, 3, "1", "node-b")]),
  ]);
  t.match(
    exitProblems(events, 4 * minuteMs, () => true),
    [{ key: "node-a:pods/1", title: "Pod job-1 exited 3 times", place: "node-a" }],
  );
});
