import { create } from "@bufbuild/protobuf";
import { test } from "tap";
import { type ResourceHealth, ResourceSchema } from "../../../../../gen/hostplane/v1/inventory_pb.ts";
import { createHostRows, createRowsBudget } from "../../../../../server/domains/inventory/hosts/host-rows.ts";

const message = (name: string, title = "") =>
  create(ResourceSchema, { name, type: "volume", domain: "volumes", title, host: "forged" });
const all = { rows: 100, bytes: 10_000 };

test("rows have the name of the link's host, whatever the host reports", async (t) => {
  const rows = createHostRows("node-1", createRowsBudget(all));
  rows.apply([create(ResourceSchema, { ...message("v1"), health: 9 as ResourceHealth })], []);
  t.match(rows.rows(), [{ host: "node-1", domain: "volumes", resource: { name: "v1", health: "unknown" } }]);
});

test("rows beyond the limit of a host are left out, and room is used again", async (t) => {
  const rows = createHostRows("node-1", createRowsBudget(all), { rows: 2, bytes: 1000 });
  rows.apply([message("v1"), message("v2")], []);
  t.notOk(rows.isIncomplete());
  rows.apply([message("v3")], []);
  t.ok(rows.isIncomplete());
  rows.apply([message("v4")], ["v1"]);
  t.same(
    rows.rows().map(({ resource }) => resource.name),
    ["v2", "v4"],
  );
  rows.apply([message("v2", "x".repeat(1000))], []);
  t.same(
    rows.rows().map(({ resource }) => resource.name),
    ["v4"],
    "a row that has grown too large",
  );
});

test("hosts share a limit, and a host gives its share back", async (t) => {
  const budget = createRowsBudget({ rows: 3, bytes: 10_000 });
  const one = createHostRows("node-1", budget);
  const other = createHostRows("node-2", budget);
  one.apply([message("v1"), message("v2")], []);
  other.apply([message("v1"), message("v2")], []);
  t.equal(other.rows().length, 1);
  t.ok(other.isIncomplete());
  one.release();
  one.release();
  const next = createHostRows("node-3", budget);
  next.apply([message("v1"), message("v2"), message("v3")], []);
  t.equal(next.rows().length, 2);
});

test("a row that is too large for messages and page tokens is left out", async (t) => {
  const rows = createHostRows("node-1", createRowsBudget({ rows: 100, bytes: 10_000_000 }));
  const withReason = (name: string, reason: string) => create(ResourceSchema, { ...message(name), reason });
  rows.apply([withReason("v1", "x".repeat(60_000)), message("n".repeat(1024), "t".repeat(1024))], []);
  t.equal(rows.rows().length, 2);
  t.notOk(rows.isIncomplete());
  for (const row of [
    withReason("v2", "x".repeat(70_000)),
    message("n".repeat(1025)),
    message("v3", "t".repeat(1025)),
  ]) {
    rows.apply([row], []);
    t.equal(rows.rows().length, 2);
    t.ok(rows.isIncomplete());
  }
});
