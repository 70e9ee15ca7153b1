import { create } from "@bufbuild/protobuf";
import { test } from "tap";
import { domainHealthText, needsHelp } from "../../../../dashboard/pages/overview/backend-health.ts";
import { BackendHealth, BackendKind, BackendSchema } from "../../../../gen/hostplane/v1/system_pb.ts";

const backend = (kind: BackendKind, health: BackendHealth, missing: string[] = []) =>
  create(BackendSchema, { kind, health, missing });
const works = backend(BackendKind.REAL, BackendHealth.OK);
const off = backend(BackendKind.OFF, BackendHealth.UNAVAILABLE, ["set it"]);
const down = backend(BackendKind.REAL, BackendHealth.UNAVAILABLE);
const degraded = backend(BackendKind.SANDBOX, BackendHealth.DEGRADED);

test("a domain has the health of its worst system, and is off if all of them are", async (t) => {
  t.match(domainHealthText([works, off]), { text: "healthy" });
  t.match(domainHealthText([works, degraded]), { text: "degraded" });
  t.match(domainHealthText([degraded, down]), { text: "unreachable" });
  t.match(domainHealthText([off]), { text: "off" });
  t.match(domainHealthText([]), { text: "unknown" });
});

test("an unconfigured system needs no attention; a configured one with a problem does", async (t) => {
  t.same([works, off, down, degraded].map(needsHelp), [false, false, true, true]);
  t.ok(needsHelp(backend(BackendKind.REAL, BackendHealth.OK, ["a tool"])));
  t.notOk(needsHelp(backend(BackendKind.REAL, BackendHealth.UNKNOWN)));
});
