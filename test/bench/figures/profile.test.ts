import { test } from "tap";
import { describeProfiles, describeSelfTimes, selfTimesOf } from "./profile.ts";

const frame = (functionName: string, url = "", lineNumber = 0) => ({ functionName, url, lineNumber });
const profile = {
  nodes: [
    { id: 1, callFrame: frame("(root)", "", -1) },
    { id: 2, callFrame: frame("(idle)", "", -1) },
    { id: 3, callFrame: frame("(garbage collector)", "", -1) },
    { id: 4, callFrame: frame("serve", "file:///repo/server/app.ts", 11) },
    { id: 5, callFrame: frame("toBinary", "file:///repo/node_modules/@bufbuild/protobuf/dist/a.js", 4) },
    { id: 6, callFrame: frame("", "node:internal/http2/core", 99) },
    // The same function, called from elsewhere.
    { id: 7, callFrame: frame("serve", "file:///repo/server/app.ts", 11) },
    { id: 8, callFrame: frame("writev") },
  ],
  samples: [2, 3, 4, 5, 6, 7, 8, 4],
  timeDeltas: [1_000, 10, 20, 15, 5, 20, 1, 30],
};

test("self times are per function, wherever it is called from, and idle time does not count", async (t) => {
  t.same(selfTimesOf(profile, "/repo"), [
    { module: "server/app.ts", fn: "serve:12", us: 70 },
    { module: "@bufbuild/protobuf", fn: "toBinary:5", us: 15 },
    { module: "(garbage collector)", fn: "(garbage collector):0", us: 10 },
    { module: "node:internal/http2/core", fn: "(anonymous):100", us: 5 },
    { module: "(native)", fn: "writev:1", us: 1 },
  ]);
});

test("modules and functions are listed with their share of the time", async (t) => {
  const times = [
    { module: "a.ts", fn: "x:1", us: 50 },
    { module: "b", fn: "y:1", us: 30 },
    { module: "a.ts", fn: "z:1", us: 20 },
  ];
  t.equal(
    describeSelfTimes(times, 1, 2),
    ["  70.0 %  a.ts", "", "  50.0 %  x:1  a.ts", "  30.0 %  y:1  b"].join("\n"),
  );
});

test("a benchmark without its own process has no profile", async (t) => {
  t.throws(() => describeProfiles(t.testdir(), "/repo"), /no profile/);
});
