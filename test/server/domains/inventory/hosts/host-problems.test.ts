import { test } from "tap";
import { hostProblemsFrom } from "../../../../../server/domains/inventory/hosts/host-problems.ts";

test("a hub shows few and short problems of a host, whatever the host reports", async (t) => {
  const problem = { domain: "pods", reason: "PODMAN_UNAVAILABLE", message: "podman does not answer" };
  t.same(hostProblemsFrom([problem]), [problem]);
  const long = "x".repeat(100_000);
  const many = hostProblemsFrom(
    Array.from({ length: 100_000 }, () => ({ domain: long, reason: long, message: long })),
  );
  t.ok(JSON.stringify(many).length < 64 * 1024, "far less than a message holds");
});
