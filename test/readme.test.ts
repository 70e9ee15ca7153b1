import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "tap";
import { root } from "./docs/markdown.ts";
import { testBlocks } from "./docs/run-blocks.ts";
import { start } from "./server/cli/run-hostplane.ts";

const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);

test("`npm start` serves the sandbox that the README's examples call", async (t) => {
  // With `exec`, since otherwise the shell that npm starts would not pass SIGTERM on.
  const [setting, exec, program, ...args] = (scripts.start ?? "").split(" ");
  t.equal(setting, "MALLOC_ARENA_MAX=1", "the C library keeps less memory");
  t.same([exec, program], ["exec", "node"]);
  const data = await mkdtemp(join(tmpdir(), "hostplane-readme-"));
  t.teardown(() => rm(data, { recursive: true }));
  const gateway = start([process.execPath, ...args, "--listen", "127.0.0.1:0", "--data", data]);
  t.teardown(async () => {
    gateway.child.kill();
    await gateway.ended;
  });
  const [, address = "", token = ""] = await gateway.untilPrinted(
    /http:\/\/(\S+)\n[\s\S]*^ *export TOKEN=(\S+)\n/m,
  );
  const answer = await fetch(`http://${address}/healthz`);
  t.equal(answer.headers.get("hostplane-backend"), "sandbox");
  await testBlocks(t, "README.md", { "127.0.0.1:8080": address }, { TOKEN: token });
});
