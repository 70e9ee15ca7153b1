import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Test, test } from "tap";
import { onTerminal, skip } from "../on-terminal.ts";
import { serveSandbox } from "../run-hostplane.ts";

async function sandboxData(t: Test): Promise<readonly string[]> {
  const data = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const gateway = serveSandbox(["--data", data]);
  t.teardown(() => gateway.child.kill("SIGKILL"));
  await gateway.untilPrinted(/^\s*curl .*\n/m);
  return ["--data", data, "--sandbox"];
}

test("on a terminal a password is requested twice and not shown", skip, async (t) => {
  const target = await sandboxData(t);
  const passwd = ["user", "passwd", "admin", ...target];
  const same = await onTerminal(passwd, [
    [/New password of admin: $/, "correct horsX\u007fe\r"],
    [/Repeat the password: $/, "correct horse\r"],
  ]);
  t.match(same, { code: 0, shown: /changed the password of admin/ });
  t.notMatch(same.shown, /hors|\*/);

  const different = await onTerminal(passwd, [
    [/New password of admin: $/, "correct horse\r"],
    [/Repeat the password: $/, "correct house\r"],
  ]);
  t.match(different, { code: 2, shown: /the two passwords differ; nothing was changed/ });

  const broken = await onTerminal(passwd, [[/New password of admin: $/, "correct ho\u0003"]]);
  t.match(broken, { code: 2, shown: /interrupted; nothing was changed/ });
  t.notMatch(different.shown + broken.shown, /ho[ru]/);

  const none = await onTerminal(passwd, [[/New password of admin: $/, "\u0004"]]);
  t.match(none, { code: 2, shown: /no password was given; nothing was changed/ });
});
