import { test } from "tap";
import { sourceSandbox } from "../servers/built-gateway.ts";
import { runHostile } from "./hostile.ts";

test("a gateway under attack by anonymous callers serves those who log in", async (t) => {
  const report = await runHostile({
    argvOf: sourceSandbox,
    connections: 400,
    quietMs: 200,
    attackMs: 1500,
    isPinned: false,
  });
  t.same(report.failures, []);
  t.ok(report.hasSurvived);
  t.ok(report.logins > 0);
  t.ok(report.connections >= 400, `${report.connections} connections`);
  t.ok(report.maxRssMib < 300, `${report.maxRssMib} MiB`);
});
