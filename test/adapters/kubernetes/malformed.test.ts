import { test } from "tap";
import { okOf, until } from "../until-state.ts";
import { connect, everyWatchStands, startServer } from "./cluster-under-test.ts";

for (const reply of ["null", "[]", "{}", '{"items":{}}', '{"items":[{}]}', '{"items":[null]}', "<html>"]) {
  test(`a list answered with ${reply} is missing until the reply is valid`, async (t) => {
    const server = await startServer(t);
    server.setListReply("blockPools", reply);
    const kubernetes = connect(t, server);
    const { nodes, blockPools } = await until(t, kubernetes, (state) => "missing" in state.blockPools);
    t.equal(okOf(nodes).length, 3, "the other parts are present");
    t.match(blockPools, { missing: /invalid reply to list cephblockpools\.ceph\.rook\.io in rook-ceph/ });
    server.setListReply("blockPools", undefined);
    await until(t, kubernetes, (state) => "ok" in state.blockPools && state.blockPools.ok.length === 1);
  });
}

test("an empty list may be null, as Go encodes it", async (t) => {
  const server = await startServer(t);
  server.setListReply("blockPools", '{"metadata":{"resourceVersion":"1000"},"items":null}');
  const { value } = await connect(t, server).read();
  t.strictSame(value.blockPools, { ok: [] });
});

const object = { kind: "CephBlockPool", spec: {} };
const lines = [
  { type: "BOOKMARK" },
  { type: "BOOKMARK", object: null },
  { type: "BOOKMARK", object: { metadata: {} } },
  { type: "ADDED" },
  { type: "ADDED", object },
  { type: "MODIFIED", object: { ...object, metadata: { name: 7 } } },
  { type: "DELETED", object: "images" },
  { type: "ERROR" },
  {},
  { type: "SHOUTED", object: { ...object, metadata: { name: "images" } } },
];

for (const line of lines.map((each) => JSON.stringify(each))) {
  test(`a watch that sends ${line} is restarted from a list`, async (t) => {
    const server = await startServer(t);
    const kubernetes = connect(t, server);
    await kubernetes.read();
    await everyWatchStands(server);
    server.writeLine("blockPools", line);
    server.remove("blockPools", "images");
    await until(t, kubernetes, ({ blockPools }) => okOf(blockPools).length === 0);
    await everyWatchStands(server);
    t.equal(okOf((await kubernetes.read()).value.nodes).length, 3);
  });
}

test("follows bookmarks, which have no name", async (t) => {
  const server = await startServer(t);
  const kubernetes = connect(t, server);
  await kubernetes.read();
  await everyWatchStands(server);
  const before = server.requestCount();
  server.writeLine(
    "blockPools",
    JSON.stringify({ type: "BOOKMARK", object: { ...object, metadata: { resourceVersion: "1000" } } }),
  );
  server.remove("blockPools", "images");
  await until(t, kubernetes, ({ blockPools }) => okOf(blockPools).length === 0);
  t.equal(server.requestCount(), before, "the watch continues");
});
