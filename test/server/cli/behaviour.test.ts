import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { test } from "tap";
import { dataWithStore, stop } from "./data-under-test.ts";
import { onTerminal, skip } from "./on-terminal.ts";
import { main, root } from "./run-hostplane.ts";

const hasBash = spawnSync("bash", ["--version"]).status === 0;

test("commands behave alike, whatever they call", async (t) => {
  const data = await dataWithStore(t);
  const { run, refused, follow } = data;
  const gateway = await data.serve();
  const target = ["--data", data.data, "--sandbox"];

  await t.test("what destroys is confirmed, planned, or not done", async (t) => {
    // Names, because the state of the sandbox's pods changes by itself.
    const before = await run(["pod", "list", "-o", "name"]);
    const words = /^hostplane: this cannot be undone: confirm it with --yes, or see .* --dry-run\n$/;
    for (const args of [
      ["pod", "remove", "sandbox-new"],
      ["image", "remove", "x"],
      ["volume", "remove", "sandbox-db"],
      ["hypervisor", "destroy", "sandbox-hv-1"],
      ["backup", "delete", "x"],
      ["cluster", "delete", "x"],
      ["user", "remove", "admin"],
      ["token", "revoke", "x"],
    ]) {
      t.match(await refused(args), { code: 2, stdout: "", stderr: words }, args.join(" "));
    }
    t.match(
      await run(["pod", "remove", "sandbox-new", "--dry-run"]),
      /^ {2}LOST: data that sandbox-idle wrote/m,
    );
    t.match(JSON.parse(await run(["pod", "remove", "sandbox-new", "--dry-run", "-o", "json"])), {
      kind: "pods.remove",
      steps: [{ name: "check" }, { name: "remove" }],
    });
    t.equal(await run(["pod", "list", "-o", "name"]), before, "nothing was changed");
  });

  await t.test("on a terminal a person sees the plan and is asked", skip, async (t) => {
    // Otherwise the pod may still exist when the next command looks for it.
    const args = ["pod", "remove", "sandbox-new", "--wait", ...target];
    const declined = await onTerminal(args, [[/\[y\/N\] /, "\n"]]);
    t.match(declined, { code: 1, shown: /LOST: [\s\S]*Continue\? \[y\/N\] [\s\S]*nothing was changed/ });
    t.match(await run(["pod", "list"]), /sandbox-new/);
    t.match(await onTerminal(args, [[/\[y\/N\] /, "yes\n"]]), { code: 0, shown: /completed\r\n$/ });
    t.match(await onTerminal(args, []), { code: 1, shown: /not found/ });
  });

  await t.test("on a terminal an operation has a progress bar, in a pipe lines", skip, async (t) => {
    const pull = ["image", "pull", "docker.io/library/busybox:1.35", "--wait"];
    const { code, shown } = await onTerminal([...pull, ...target], []);
    t.equal(code, 0);
    t.ok(shown.includes("\u001b[K"), "a line is replaced");
    // A busy machine may show the end only.
    t.match(shown, /\[#*-*\] (active \d+ %|completed)/);
    t.match(shown, /completed\r\n$/);
    const lines = (await run(pull)).trim().split("\n");
    t.equal(lines.at(-1), "completed");
    t.notOk(lines.join("\n").includes("\u001b"));
  });

  await t.test("ids are found by unique prefixes", async (t) => {
    const ids = (await run(["pod", "list", "-o", "name"])).trim().split("\n");
    const [id = ""] = ids;
    t.equal(await run(["pod", "show", id.slice(0, 6), "-o", "name"]), `${id}\n`);
    t.equal(
      await run(["pod", "show", id.replaceAll("-", "").slice(0, 12).toUpperCase(), "-o", "name"]),
      `${id}\n`,
    );
    const operations = (await run(["operation", "list", "-o", "name"])).trim().split("\n");
    const [operation = ""] = operations;
    t.match(await run(["operation", "show", operation.slice(0, 23)]), new RegExp(`^id +${operation}\n`));
    const [image = ""] = (await run(["image", "list", "-o", "name"])).split("\n");
    t.match(await run(["image", "remove", image.slice(0, 12), "--force", "--dry-run"]), new RegExp(image));
    t.match(await refused(["operation", "show", "none"]), {
      code: 1,
      stderr: /^hostplane: operation none not found\n$/,
    });
  });

  await t.test("every format, of lists and of watches", async (t) => {
    t.match(
      await run(["pod", "show", "sandbox-web", "-o", "yaml"]),
      /^name: sandbox-web\nstate: POD_STATE_RUNNING$/m,
    );
    t.match(JSON.parse(await run(["pod", "list", "-o", "json"])), [{ id: /./ }]);
    t.match(await refused(["pod", "list", "-o", "xml"]), { code: 2, stderr: /table, json, yaml, name/ });
    const watch = (...args: string[]) => follow(["volume", "list", "--watch", ...args]);
    const [lines, json, yaml] = [watch(), watch("-o", "json"), watch("-o", "yaml")];
    await lines.untilPrinted(/^volumeGroups\/sandbox-vg\/volumes\/sandbox-db active, ok: size 5 GiB$/m);
    await json.untilPrinted(/^\{"changed":\[\{.*\}$/m);
    await yaml.untilPrinted(/^---\nchanged:\n {2}- name: /m);
    await run(["volume", "create", "watched", "--size", "1GiB"]);
    await lines.untilPrinted(/volumes\/watched active, ok: size 1 GiB$/m);
    await json.untilPrinted(/^\{"changed":\[\{"name":"volumeGroups\/sandbox-vg\/volumes\/watched".*\}$/m);
    await run(["volume", "remove", "watched", "--yes"]);
    await lines.untilPrinted(/volumes\/watched removed$/m);
  });

  await t.test("every watch begins with the current state", async () => {
    for (const args of [
      ["get", "osd"],
      ["pod", "list"],
      ["image", "list"],
      ["hypervisor", "list"],
      ["storage", "osds"],
      ["volume", "classes"],
      ["pool", "show"],
      ["storage", "stats"],
      ["cluster", "list"],
    ]) {
      const watch = (...more: string[]) => follow([...args, "--watch", ...more]);
      await watch("-o", "json").untilPrinted(/^\{.*\}\n/);
      // There is no cluster that a line could be about.
      await (args[0] === "cluster" ? undefined : watch().untilPrinted(/^\S+ .*\n/));
    }
  });

  await t.test(
    "a reader that closes the pipe ends a watch without an error",
    { skip: !hasBash },
    async (t) => {
      const command = [process.execPath, main, "volume", "list", "--watch", ...target]
        .map((word) => `'${word}'`)
        .join(" ");
      const script = `${command} | head -n 1; echo "\${PIPESTATUS[0]}"`;
      const child = spawn("bash", ["--norc", "-c", script], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
      const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
      // A change makes the watch write to the closed pipe.
      const closed = once(child, "close");
      for (let size = 1; child.exitCode === null; size += 1) {
        const name = `pipe-${size}`;
        await run(["volume", "create", name, "--size", "4MiB"]);
        await run(["volume", "remove", name, "--yes"]);
      }
      await closed;
      t.match(await stdout, /^volumeGroups\/\S+ active, ok: size \d GiB\n0\n$/);
      t.equal(await stderr, "");
    },
  );

  await t.test("any call can be planned from a file or stdin", async (t) => {
    const request = '{"name": "planned", "sizeGb": "1"}';
    t.match(await run(["plan", "proto.LVService/CreateLV", "-"], request), /^plan: volumes\.create/);
    t.match(await refused(["plan", "proto.LVService/RemoveLV", "-"], "{"), { code: 2, stderr: /not JSON/ });
    t.match(await refused(["plan", "proto.VGService/GetLVList"]), { code: 1, stderr: /it changes nothing/ });
  });

  await t.test("a volume is created, resized and removed", async (t) => {
    t.match(await refused(["volume", "create", "a", "--size", "5"]), {
      code: 2,
      stderr: /expected a number with a unit/,
    });
    t.match(await refused(["volume", "create", "a"]), { code: 2, stderr: /--size/ });
    t.match(
      await run(["volume", "create", "a", "--size", "1GiB", "--tag", "x=y"]),
      /^created the volume a: 1 GiB, /,
    );
    t.match(await run(["volume", "resize", "a", "2GiB"]), /to 2 GiB/);
    t.match(await refused(["volume", "resize", "a"]), { code: 2, stderr: /expected the new size/ });
    t.match(await refused(["volume", "resize", "a", "3GiB", "--size", "3GiB"]), {
      code: 2,
      stderr: /one size/,
    });
    t.match(await run(["volume", "show", "a"]), /^size +2 GiB$[\s\S]*^tag +x=y$/m);
    t.match(await refused(["volume", "resize", "a", "1GiB"]), { code: 1, stdout: "" });
    t.match(await run(["volume", "resize", "a", "--size", "3GiB"]), /to 3 GiB/);
    t.match(await refused(["volume", "show", "none"]), {
      code: 1,
      stderr: /^hostplane: volume none not found/,
    });
    t.equal(await run(["volume", "remove", "a", "--yes", "-o", "name"]), "a\n");
  });

  await stop(gateway);
  t.match(await refused(["status"]), { code: 1, stderr: /no gateway is running/ });
});
