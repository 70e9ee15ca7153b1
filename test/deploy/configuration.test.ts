import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { configSchema } from "../../server/gateway/config/schema.ts";
import { hostplane, root } from "../server/cli/run-hostplane.ts";

const file = join(root, "deploy/hostplane.yaml");

test("hostplane config check accepts the example", async (t) => {
  const { code, stdout, stderr } = await hostplane(["config", "check", "--config", file]);
  t.same({ code, stdout, stderr }, { code: 0, stdout: `${file}: ok\n`, stderr: "" });
});

test("it accepts the example with every domain uncommented", async (t) => {
  const text = readFileSync(file, "utf8").replaceAll(/^( *)# ( *)(?=- |[a-zA-Z]+:( |$))/gm, "$1$2");
  const whole = join(t.testdir({ "hostplane.yaml": text }), "hostplane.yaml");
  const { code, stderr } = await hostplane(["config", "check", "--config", whole]);
  t.same({ code, stderr }, { code: 0, stderr: "" });
  for (const domain of ["volumes", "hypervisors", "pods", "storage", "clusters"]) {
    t.ok(domain in configSchema.shape && new RegExp(`^${domain}:`, "m").test(text), domain);
  }
});
