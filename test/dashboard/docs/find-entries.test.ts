import { test } from "tap";
import { findEntries, type SearchEntry } from "../../../dashboard/docs/find-entries.ts";

const entries: readonly SearchEntry[] = [
  ["field", "pod", "hostplane.v1.PodService / StopPod / request", "#1", "ID of the pod."],
  ["RPC", "StopPod", "hostplane.v1.PodService", "#2", "Stops a pod."],
  ["service", "hostplane.v1.PodService", "", "#3", "Lists pods and images."],
  ["reason", "POD_NOT_FOUND", "NOT_FOUND", "#4", "There is no such pod."],
  ["field", "size_gb", "proto.CreateLVRequest", "#5", "Size in GiB."],
];

const found = (query: string, limit = 9) => findEntries(entries, query, limit).map(([, , , href]) => href);

test("a whole name comes first, then its beginnings, then its parts", async (t) => {
  t.same(found("PodService"), ["#3", "#2", "#1"]);
  t.same(found("pod"), ["#1", "#4", "#3", "#2"]);
  t.same(found("pod_not"), ["#4"]);
});

test("every word must occur in the name, the place or the text", async (t) => {
  t.same(found("stop pod"), ["#2", "#1"]);
  t.same(found("podservice/stoppod"), ["#2", "#1"]);
  t.same(found("gib createlv"), ["#5"]);
  t.same(found("pod gib"), []);
  t.same(found("  "), []);
  t.equal(found("pod", 2).length, 2);
});
