import { test } from "tap";
import { dataWithStore, stop } from "../data-under-test.ts";
import { main, start } from "../run-hostplane.ts";

test("a cluster is created, shown, scaled, upgraded and deleted", async (t) => {
  const data = await dataWithStore(t);
  const { run, refused } = data;
  const gateway = await data.serve();
  t.match(await run(["cluster", "list"]), /^NAME +STATUS +VERSION +ENDPOINT +NODES +MESSAGE\n$/);
  const watched = start([
    ...[process.execPath, main, "cluster", "list", "demo", "--watch"],
    ...["--data", data.data, "--sandbox"],
  ]);

  const created = [
    "cluster",
    "create",
    "demo",
    "--k8s-version",
    "1.35.4",
    "--pool",
    "workers=1,tier=web",
    "--wait",
  ];
  t.match(await run(created), /^demo PROVISIONING 0\/2.*\n(.*\n)*demo RUNNING 2\/2\n$/);
  await watched.untilPrinted(/^demo RUNNING 2\/2$/m);
  t.match(await run(["cluster", "list"]), /^demo +RUNNING +1\.35\.4 +10\.20\.0\.220:6443 +2\/2$/m);
  const [listed] = JSON.parse(await run(["cluster", "list", "-o", "json"]));
  t.match(listed, { name: "demo", status: "RUNNING", pools: [{ name: "workers", wanted: 1, ready: 1 }] });
  const shown = await run(["cluster", "show", "demo"]);
  t.match(
    shown,
    /^name +demo\nstatus +RUNNING\nversion +1\.35\.4\nendpoint +10\.20\.0\.220:6443\ncreated +20/,
  );
  t.match(shown, /^control plane +standard +1 +1 +1\nworkers +standard +1 +1 +1$/m);
  t.match(shown, /^sandbox-node-1 +Ready +1\.35\.4 +sbxaaa +Deployed +10\.20\.0\.221$/m);
  const machines = await run(["cluster", "machines", "demo", "--history"]);
  t.match(machines, /^workers +joined +sandbox-node-2 +sbxbbb +10\.20\.0\.222 +1\.35\.4 +20/m);
  t.match(machines, /^ {2}20\S+ joined sbxbbb /m);
  const kubeconfig = await run(["cluster", "kubeconfig", "demo"]);
  t.match(kubeconfig, /^apiVersion: /);
  const rotated = await run(["cluster", "rotate", "demo"]);
  t.match(rotated, /^apiVersion: /);
  t.not(rotated, kubeconfig);

  t.equal(await run(["cluster", "versions", "demo"]), "1.36.3\n");
  t.equal(await run(["cluster", "add-pool", "demo", "more=1"]), "cluster demo is getting new pools\n");
  t.match(await run(["cluster", "delete-pool", "demo", "more", "--wait", "--yes"]), /^demo RUNNING 2\/2$/m);
  t.equal(await run(["cluster", "scale", "demo", "workers=2"]), "cluster demo is being scaled\n");
  t.match(
    await run(["cluster", "strays"]),
    /^SYSTEM ID +HOSTNAME +MAAS +CLUSTER +POOL +ADOPTABLE +MESSAGE\n$/,
  );

  const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["cluster", "show", "none"], 1, /^hostplane: cluster none not found$/m],
    [["cluster", "create", "x"], 2, /required option '--k8s-version <version>' not specified/],
    [["cluster", "create", "X", "--k8s-version", "1.35.4"], 2, /^hostplane: name: /m],
    [["cluster", "create", "x", "--k8s-version", "1.35.4", "--pool", "a"], 2, /expected <name>=<count>/],
    [["cluster", "scale", "demo", "workers=0"], 2, /DeleteNodePool/],
    [["cluster", "upgrade", "demo", "1.34.8"], 1, /^hostplane: /m],
    [["cluster", "release", "sbxaaa", "--yes"], 1, /^hostplane: machine sbxaaa is used by cluster demo$/m],
    [["cluster", "adopt", "?"], 2, /system_id: must be six/],
  ];
  for (const [args, code, words] of refusals) {
    const ended = await refused(args);
    t.match(ended, { code, stdout: "" }, args.join(" "));
    t.match(ended.stderr, words);
  }

  t.equal(await run(["cluster", "upgrade", "demo", "1.36.3"]), "cluster demo is being upgraded to 1.36.3\n");
  t.match(await run(["cluster", "delete", "demo", "--wait", "--yes"]), /^demo is gone\n$/m);
  await watched.untilPrinted(/^demo is gone$/m);
  await stop(gateway);
  t.match(await watched.ended, { code: 1, stderr: /^hostplane: / });
});

test("a sandbox's clusters are gone after a restart, like its machines", async (t) => {
  const data = await dataWithStore(t);
  const gateway = await data.serve();
  await data.run(["cluster", "create", "demo", "--k8s-version", "1.35.4"]);
  t.match(await data.run(["cluster", "list"]), /^demo /m);
  await stop(gateway);
  const next = await data.serve();
  t.notMatch(await data.run(["cluster", "list"]), /demo/);
  t.equal(
    await data.run(["cluster", "create", "demo", "--k8s-version", "1.35.4"]),
    "cluster demo is being created\n",
  );
  await stop(next);
});
