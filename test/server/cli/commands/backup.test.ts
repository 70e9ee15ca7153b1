import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "tap";
import { dataWithStore, stop } from "../data-under-test.ts";
import { hostplane } from "../run-hostplane.ts";

const volume = "volumeGroups/sandbox-vg/volumes/sandbox-web";

test("backups are created, listed, shown, verified, restored and deleted", async (t) => {
  const data = await dataWithStore(t);
  const { run, refused } = data;
  const gateway = await data.serve();

  const created = await run(["backup", "create", "monday", "sandbox-web", "--wait"]);
  t.match(
    created,
    /^(scheduled|active|completed).*\n(.*\n)*backup \S+: .* stored in \/sandbox\/backups as snapshot/,
  );
  t.equal(
    await run(["backup", "create", "monday", volume]),
    `${created.trim().split("\n").at(-1)}\n`,
    "it can be repeated",
  );
  t.match(JSON.parse(await run(["backup", "create", "monday", "sandbox-web", "-o", "json"])), {
    name: "monday",
    state: "COMPLETE",
    msg: /stored in/,
  });

  const [backup] = JSON.parse(await run(["backup", "list", "-o", "json"]));
  t.match(backup, { name: "monday", volume, repository: "/sandbox/backups", schedule: "" });
  const { id } = backup;
  const list = await run(["backup", "list"]);
  t.match(list, /^ID +NAME +VOLUME +AS OF +SIZE +REPOSITORY +STATE\n/);
  t.match(
    list,
    new RegExp(`^${id}  monday  ${volume}  20\\S+Z  \\d GiB +/sandbox/backups +not verified$`, "m"),
  );
  for (const [filter, value] of [
    ["--volume", "volumeGroups/other"],
    ["--name", "tuesday"],
    ["--schedule", "nightly"],
  ] as const) {
    t.same(JSON.parse(await run(["backup", "list", "-o", "json", filter, value])), [], filter);
  }
  t.equal(
    JSON.parse(await run(["backup", "list", "-o", "json", "--limit", "1", "--name", "monday"])).length,
    1,
  );

  const verified = await run(["backup", "verify", id, "--wait", "-o", "json"]);
  t.match(JSON.parse(verified.trim().split("\n").at(-1) ?? ""), {
    operation: { kind: "volumes.verifyBackup", state: "OPERATION_STATE_COMPLETED" },
  });
  t.match(
    await run(["backup", "show", id]),
    /^id +\S+\nname +monday\nvolume .*\nhost .*\n(.*\n)*key +the gateway's key-\w+\nrequested +by \S+\noperation +\S+\nstate +verified on 20\S+Z\n$/,
  );
  t.match(JSON.parse(await run(["backup", "show", id, "-o", "json"])), { id, verifiedAt: /^20/ });

  const restore = ["backup", "restore", id, "again", "--size", "3GiB", "--tag", "mine", "--wait"];
  t.match(await run(restore), /^completed$/m);
  t.match(
    await run(["operation", "list", "--kind", "volumes.restore"]),
    /volumeGroups\/sandbox-vg\/volumes\/again .* completed\n$/,
  );
  t.match(await run(["backup", "delete", id, "--wait", "--yes"]), /^completed$/m);
  t.same(JSON.parse(await run(["backup", "list", "-o", "json"])), []);

  const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["backup", "show", id], 1, /^hostplane: backup \S+ not found$/m],
    [["backup", "show", "a b"], 2, /^hostplane: id: /],
    [["backup", "verify", id], 1, /backup \S+ not found/],
    [["backup", "restore", id, "x", "--size", "3"], 2, /expected a number with a unit/],
    [
      ["backup", "create", "a", "nothing"],
      1,
      /^hostplane: logical volume nothing not found in any device class\n$/,
    ],
    [["backup", "create", "a", "sandbox-web", "--path", "bucket"], 2, /endpoint/],
    [["backup", "create", "a"], 2, /missing required argument 'volume'/],
    [["backup", "list", "--limit", "0"], 2, /expected a whole number/],
  ];
  for (const [args, code, words] of refusals) {
    const ended = await refused(args);
    t.match(ended, { code, stdout: "" }, args.join(" "));
    t.match(ended.stderr, words);
  }
  await stop(gateway);
  t.match(await refused(["backup", "list"]), {
    code: 1,
    stderr: /no gateway is running .* this command needs one/,
  });
});

test("repository secrets come only from a file or the environment", async (t) => {
  const data = await dataWithStore(t);
  const gateway = await data.serve();
  t.match(await data.run(["backup", "create", "first", "sandbox-web"]), /; operation [0-9a-f-]{36}\n$/);
  const target = ["--data", data.data, "--sandbox"];
  const place = ["--endpoint", "https://s3.sandbox.invalid", "--path", "bucket/volumes"];
  const create = (name: string) => ["backup", "create", name, "sandbox-web", ...place, "--wait"];
  t.match(await data.refused(create("a")), { code: 2, stderr: /access_key_id/ });
  const env = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret", RESTIC_PASSWORD: "own" };
  const byEnvironment = await hostplane([...create("a"), ...target], env);
  t.match(byEnvironment, { code: 0, stdout: /s3\.sandbox\.invalid\/bucket\/volumes .* the gateway's key/ });
  const [ofGateway] = JSON.parse(await data.run(["backup", "list", "-o", "json"]));
  t.match(
    await data.refused(["backup", "verify", ofGateway.id]),
    { code: 2, stderr: /access_key_id/ },
    "no secrets are stored",
  );

  const file = join(data.data, "access");
  await writeFile(file, "AWS_ACCESS_KEY_ID=id\nAWS_SECRET_ACCESS_KEY='secret'\nRESTIC_PASSWORD=own\n");
  const own = ["--access", file, "--own-key"];
  const elsewhere = create("b").map((word) => (word === "bucket/volumes" ? "bucket/own" : word));
  t.match(await data.run([...elsewhere, ...own]), /encrypted with its owner's key\n$/);
  const [ofOwner] = JSON.parse(await data.run(["backup", "list", "-o", "json"]));
  t.match(await data.refused(["backup", "delete", ofOwner.id, "--access", file, "--yes"]), {
    code: 2,
    stderr: /encryption_key/,
  });
  t.match(await data.run(["backup", "delete", ofOwner.id, ...own, "--wait", "--yes"]), /^completed$/m);

  t.match(await data.refused([...create("c"), "--own-key"]), {
    code: 1,
    stderr: "hostplane: --own-key needs RESTIC_PASSWORD, which the environment does not set\n",
  });
  t.match(await data.refused([...create("c"), "--access", file, "--proxy"]), {
    code: 1,
    stderr: /--proxy needs HTTP_PROXY or HTTPS_PROXY, which .*access does not set/,
  });
  t.match(await data.refused([...create("c"), "--access", join(data.data, "none")]), {
    code: 1,
    stderr: /ENOENT/,
  });
  await stop(gateway);
});
