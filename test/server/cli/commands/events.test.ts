import { type Test, test } from "tap";
import { cursorFrom, parseCursor } from "../../../../server/events/cursor.ts";
import { type Data, dataWithStore, stop } from "../data-under-test.ts";
import { openSandboxStore } from "../open-sandbox-store.ts";
import { main, start } from "../run-hostplane.ts";

/** Writes events to the store of a stopped sandbox, as a newer gateway could have. Returns their cursors. */
async function leaveEvents(t: Test, data: Data, resources: readonly string[]): Promise<string[]> {
  const store = await openSandboxStore(t, data.data);
  const events = resources.map((resource) => ({
    topic: "newer",
    type: "newer.thing",
    resource,
    host: "",
    services: [],
    payload: null,
  }));
  await store.run("events.append", { events });
  const { epoch, headSeq } = await store.run("events.head", undefined);
  await store.close();
  return resources.map((_resource, index) =>
    cursorFrom({ epoch, seq: headSeq - resources.length + index + 1 }),
  );
}

test("events are printed in order, until the gateway stops", async (t) => {
  const data = await dataWithStore(t);
  await stop(await data.serve());
  const cursors = await leaveEvents(t, data, ["things/a", "things/b/part", "things/c"]);
  const gateway = await data.serve();
  const follow = (...args: string[]) => data.follow(["events", ...args]);
  // The restarted sandbox also reports a gap in the events about its volumes.
  const all = follow("--since", "2020-01-01", "--resource", "things");
  const some = follow(
    "--since",
    "2020-01-01",
    "--resource",
    "things/b",
    "--resource",
    "things/c",
    "-o",
    "json",
  );
  const later = follow("--from-cursor", cursors[1] ?? "", "--resource", "things", "-o", "json");
  await all.untilPrinted(
    /^\S+Z newer\.thing things\/a\n\S+Z newer\.thing things\/b\/part\n\S+Z newer\.thing things\/c\n$/,
  );
  await some.untilPrinted(/"things\/b\/part".*\n.*"things\/c".*\n$/);
  await later.untilPrinted(/^.*"things\/c".*\n$/);
  await stop(gateway);
  for (const { ended } of [all, some, later]) {
    const { code, stderr } = await ended;
    t.equal(code, 1);
    const end = /^hostplane: the gateway is stopping; resume with --from-cursor (\S+)\n$/.exec(stderr);
    // A heartbeat may have moved it on.
    t.ok(parseCursor(end?.[1] ?? "").seq >= parseCursor(cursors[2] ?? "").seq, stderr);
  }
  const lines = (await some.ended).stdout.trim().split("\n");
  t.match(
    lines.map((line) => JSON.parse(line)),
    [
      { cursor: cursors[1], topic: "newer", type: "newer.thing", resource: "things/b/part", sandbox: true },
      { cursor: cursors[2], resource: "things/c" },
    ],
  );
});

test("invalid requests are rejected with one sentence", async (t) => {
  const data = await dataWithStore(t);
  const gateway = await data.serve();
  const gone = await data.refused(["events", "--from-cursor", cursorFrom({ epoch: "another", seq: 5 })]);
  t.match(gone, {
    code: 1,
    stdout: "",
    stderr: /^hostplane: events after .*; resume with --from-cursor [\w-]+\n$/,
  });
  const refusals: readonly [readonly string[], RegExp][] = [
    [
      ["--topic", "nothing"],
      /^hostplane: topics\[0\]: expected one of clusters, fleet, hypervisors, operations/,
    ],
    [["--from-cursor", "nonsense"], /^hostplane: cursor: expected a cursor/],
    [["--since", "yesterday"], /expected a time/],
    [["--since", "2026-01-31", "--from-cursor", "x"], /cannot be used with/],
  ];
  for (const [args, words] of refusals) {
    t.match(await data.refused(["events", ...args]), { code: 2, stdout: "", stderr: words }, args.join(" "));
  }
  await stop(gateway);
  t.match(await data.refused(["events"]), {
    code: 1,
    stderr: /^hostplane: no gateway is running with the data in .*sandbox, and this command needs one\n$/,
  });
});

test("it ends when its output is closed", async (t) => {
  const data = await dataWithStore(t);
  await stop(await data.serve());
  await leaveEvents(
    t,
    data,
    Array.from({ length: 5000 }, (_, index) => `things/${index}`),
  );
  const gateway = await data.serve();
  const command = `"${process.execPath}" "${main}" events --since 2020-01-01 --resource things --sandbox | head -1`;
  const { code, stdout, stderr } = await start(["bash", "-c", `set -o pipefail; ${command}`], {
    env: { HOSTPLANE_DATA: data.data },
  }).ended;
  t.equal(stderr, "");
  t.match(stdout, /^\S+Z newer\.thing things\/0\n$/);
  t.equal(code, 0);
  await stop(gateway);
});
