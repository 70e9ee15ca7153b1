import { test } from "tap";
import { dataWithStore, stop } from "../data-under-test.ts";
import { main, start } from "../run-hostplane.ts";

test("pods are listed, shown, started, stopped, killed and removed", async (t) => {
  const data = await dataWithStore(t);
  const { run, refused } = data;
  const gateway = await data.serve();

  const listed = await run(["pod", "list"]);
  t.match(listed, /^ID +NAME +STATE +CONTAINERS +STARTED\n/);
  t.match(listed, /^[-0-9a-f]{36} +sandbox-web +running +sandbox-server running, sandbox-proxy running +20/m);
  t.match(listed, /^[-0-9a-f]{36} +sandbox-new +created +sandbox-idle created$/m);
  const all = JSON.parse(await run(["pod", "list", "-o", "json"])) as { name: string; id: string }[];
  const id = all.find(({ name }) => name === "sandbox-new")?.id ?? "";

  const shown = await run(["pod", "show", "sandbox-web"]);
  t.match(shown, /^id +[-0-9a-f]{36}\nname +sandbox-web\nstate +running\ncreated +20.*\nstarted +20/);
  t.match(shown, /^label +role=web$/m);
  t.match(shown, /^sandbox-server +running +localhost\/sandbox\/app:1 +20/m);
  t.match(JSON.parse(await run(["pod", "show", id.slice(0, 6).toUpperCase(), "-o", "json"])), { id });
  const asPodmanHasIt = id.replaceAll("-", "").slice(0, 12);
  t.match(JSON.parse(await run(["pod", "show", asPodmanHasIt, "-o", "json"])), { id });

  t.match(await run(["pod", "start", "sandbox-new", "--wait"]), /^completed$/m);
  const started = JSON.parse(await run(["pod", "stop", id, "--grace", "0s", "-o", "json"]));
  t.match(started, { kind: "pods.stop", resource: `pods/${id}` });
  t.match(await run(["operation", "watch", started.id]), /^completed$/m);
  t.match(await run(["pod", "kill", "sandbox-web", "--signal", "SIGTERM", "--wait"]), /^completed$/m);
  t.match(await run(["pod", "remove", id.slice(0, 8), "--yes"]), /^operation [-0-9a-f]{36}: /);
  t.match(await run(["pod", "remove", "sandbox-web", "--force", "--wait", "--yes"]), /^completed$/m);
  t.notMatch(await run(["pod", "list"]), /sandbox-(web|new)/);

  const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["pod", "show", "none"], 1, /^hostplane: pod none not found$/m],
    [["pod", "logs", "none"], 1, /^hostplane: pod none not found$/m],
    [["pod", "stop", "none"], 1, /^hostplane: pod none not found$/m],
    [["pod", "stop", "sandbox-job", "--grace", "10"], 2, /expected a number with a unit/],
    [["pod", "stop", "sandbox-job", "--grace", "3601s"], 2, /^hostplane: grace_seconds: /],
    [["pod", "kill", "sandbox-job", "--signal", ""], 2, /expected the name of a signal/],
    [["pod", "kill", "sandbox-job", "--signal", "9"], 2, /^hostplane: signal: must be a full signal name/],
    [["pod", "show", ""], 2, /expected a name or an id/],
  ];
  for (const [args, code, words] of refusals) {
    const ended = await refused(args);
    t.match(ended, { code, stdout: "" }, args.join(" "));
    t.match(ended.stderr, words);
  }
  await stop(gateway);
  t.match(await refused(["pod", "list"]), {
    code: 1,
    stderr: /no gateway is running .* this command needs one/,
  });
});

test("images are listed, pulled and removed", async (t) => {
  const data = await dataWithStore(t);
  const { run, refused } = data;
  const gateway = await data.serve();
  const pulled = await run(["image", "pull", "docker.io/library/busybox:1.35", "--wait"]);
  t.match(pulled, /^completed$/m);
  const listed = await run(["image", "list"]);
  t.match(listed, /^ID +NAMES +SIZE +CONTAINERS +BUILT +IMPORTED\n/);
  t.match(listed, /^[0-9a-f]{64} +docker\.io\/library\/busybox:1\.35 +\S+ \w+ +0 +20/m);
  t.match(JSON.parse(await run(["image", "list", "-o", "json"])), [{ id: /^[0-9a-f]{64}$/ }, {}, {}]);
  t.match(
    await run(["image", "remove", "docker.io/library/busybox:1.35", "--wait", "--yes"]),
    /^completed$/m,
  );
  t.match(await refused(["image", "remove", "localhost/sandbox/app:1", "--yes"]), {
    code: 1,
    stderr: /^hostplane: the image localhost\/sandbox\/app:1 is used by pod sandbox-/,
  });
  t.match(await refused(["image", "pull", "busybox"]), { code: 2, stderr: /^hostplane: reference: / });
  t.match(await refused(["image", "pull", "docker.io/missing/x:1", "--wait"]), {
    code: 1,
    stdout: /^failed: IMAGE_PULL_FAILED: /m,
  });
  await stop(gateway);
});

test("container logs are printed, and followed until the gateway stops", async (t) => {
  const data = await dataWithStore(t);
  const gateway = await data.serve();
  const argv = (...args: string[]) => [process.execPath, main, ...args, "--data", data.data, "--sandbox"];
  const followed = start(argv("pod", "logs", "-f", "sandbox-web", "--container", "sandbox-server"));
  await followed.untilPrinted(/^20\S+ tick 2$/m);
  const lines = (
    await data.run(["pod", "logs", "sandbox-web", "--container", "sandbox-server", "--lines", "2"])
  )
    .trim()
    .split("\n");
  // Any tick may be the latest; every fifth tick is followed by a "five".
  const line = /^20\S+ (tick|five) \d+$/;
  t.equal(lines.length, 2);
  t.match(lines, [line, line]);
  t.equal(await data.run(["pod", "logs", "sandbox-web", "--until", "2020-01-01"]), "");
  t.match(await data.refused(["pod", "logs", "sandbox-web", "--container", "none"]), {
    code: 1,
    stderr: /sandbox-proxy/,
  });
  const watched = start(argv("pod", "list", "--watch"));
  await watched.untilPrinted(/^[-0-9a-f]{36} sandbox-new created: sandbox-idle created$/m);
  await data.run(["pod", "start", "sandbox-new", "--wait"]);
  await watched.untilPrinted(/^[-0-9a-f]{36} sandbox-new running: sandbox-idle running$/m);
  await stop(gateway);
  t.match(await followed.ended, { code: 1, stderr: /^hostplane: / });
  t.match(await watched.ended, { code: 1, stderr: /^hostplane: / });
});
