import { test } from "tap";
import type { SearchEntry } from "../../../dashboard/docs/find-entries.ts";
import { newAddressOf } from "../../../dashboard/docs/old-links.ts";

const entries: readonly SearchEntry[] = [
  ["service", "a.B", "", "/docs/a.B", ""],
  ["RPC", "C", "a.B", "/docs/a.B#rpc-a.B.C", ""],
  ["type", "a.D", "", "/docs/a.B#type-a.D", ""],
  ["reason", "GONE", "NOT_FOUND", "/docs/errors#reason-GONE", ""],
];

test("links from when all services were on one page lead to their new place", async (t) => {
  t.equal(newAddressOf("#service-a.B", entries), "/docs/a.B");
  t.equal(newAddressOf("#rpc-a.B.C", entries), "/docs/a.B#rpc-a.B.C");
  t.equal(newAddressOf("#type-a.D", entries), "/docs/a.B#type-a.D");
  t.equal(newAddressOf("#reason-GONE", entries), "/docs/errors#reason-GONE");
  t.equal(newAddressOf("#calls", entries), undefined);
  t.equal(newAddressOf("#rpc-a.B", entries), undefined);
});
