import { createHash, X509Certificate } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Test, test } from "tap";
import { createCertificate } from "../rpc/listener/certificate.ts";
import { onTerminal, skip } from "./on-terminal.ts";
import { hostplane, main, start } from "./run-hostplane.ts";
import { runInProcess } from "./run-in-process.ts";

const password = "a password of the test";

/** Serves a sandbox over cleartext and over TLS with a self-signed certificate. */
async function serve(t: Test) {
  const directory = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const { cert, key } = await createCertificate("localhost");
  const files = { cert: join(directory, "cert.pem"), key: join(directory, "key.pem") };
  await Promise.all([writeFile(files.cert, cert), writeFile(files.key, key)]);
  const config = join(directory, "hostplane.yaml");
  const listen = [{ address: "127.0.0.1:0" }, { address: "127.0.0.1:0", tls: files }];
  await writeFile(config, JSON.stringify({ listen, data: join(directory, "data") }));
  const argv = [process.execPath, main, "serve", "--sandbox", "--sandbox-quiet", "--config", config];
  const gateway = start(argv, {
    env: { HOSTPLANE_ADMIN_PASSWORD: password, HOSTPLANE_DATA: join(directory, "data") },
  });
  t.teardown(() => gateway.child.kill("SIGKILL"));
  const [cleartext] = await gateway.untilPrinted(/http:\/\/127\.0\.0\.1:\d+/);
  const [tls] = await gateway.untilPrinted(/https:\/\/127\.0\.0\.1:\d+/);
  const env = { XDG_CONFIG_HOME: join(directory, "config") };
  const run = (args: readonly string[], input?: string, more: NodeJS.ProcessEnv = {}) =>
    runInProcess(args, { env: { ...env, ...more }, ...(input === undefined ? {} : { input }) });
  const digest = createHash("sha256").update(new X509Certificate(cert).raw).digest("hex");
  return {
    run,
    /** Runs a command in a separate process: a process reads the system's certificates once. */
    runTrusting: (args: readonly string[], input?: string) =>
      hostplane(args, { ...env, SSL_CERT_FILE: files.cert }, input),
    cleartext,
    tls,
    env,
    fingerprint: `sha256:${digest}`,
    contexts: join(env.XDG_CONFIG_HOME, "hostplane", "contexts.json"),
    local: ["--config", config, "--sandbox", "--data", join(directory, "data")],
  };
}

test("a remote gateway is used like a local one", async (t) => {
  const { run, runTrusting, cleartext, tls, fingerprint, contexts, local, env } = await serve(t);
  const host = new URL(cleartext).host;
  const secureHost = new URL(tls).host;
  const ok = async (args: readonly string[], input?: string, runner = run) => {
    const { code, stdout, stderr } = await runner(args, input);
    t.equal(code, 0, `${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const fails = async (args: readonly string[], code: number, words: RegExp, input?: string) => {
    const ended = await run(args, input);
    t.match(ended, { code, stdout: "" }, args.join(" "));
    t.match(ended.stderr, words);
  };

  await t.test("login keeps a token in a file of the user's own", async (t) => {
    await fails(["login", cleartext, "--user", "admin"], 1, /^hostplane: .*password/, "wrong\n");
    await fails(["login", cleartext], 2, /--user/, `${password}\n`);
    t.equal(
      await ok(["login", `${cleartext}/`, "--user", "admin"], `${password}\n`),
      `logged in to ${cleartext} as user/admin; commands now use the context ${host}\n`,
    );
    t.equal((await stat(contexts)).mode & 0o777, 0o600);
    t.equal((await stat(join(contexts, ".."))).mode & 0o777, 0o700);
    t.notMatch(await readFile(contexts, "utf8"), password);
  });

  await t.test("commands print the same as on the gateway's host", async (t) => {
    for (const args of [
      ["volume", "list"],
      ["image", "list", "-o", "json"],
      ["user", "list", "-o", "yaml"],
    ]) {
      t.equal(await ok(args), await ok([...args, ...local]), args.join(" "));
    }
    t.match(await ok(["pod", "start", "sandbox-new", "--wait"]), /^completed$/m);
    t.match(
      await ok(["audit", "export", "--rpc", "hostplane.v1.PodService/StartPod"]),
      /"actor":"user\/admin"/,
    );
    await fails(["store", "backup", join(tmpdir(), "never")], 1, /on the gateway's host/);
    await fails(["pod", "show", "none"], 1, /^hostplane: pod none not found$/m);
  });

  await t.test("a certificate is trusted by the system, or pinned", async (t) => {
    const refused = new RegExp(`not trusted \\(DEPTH_ZERO_SELF_SIGNED_CERT\\).*--pin ${fingerprint}`);
    await fails(["login", tls, "--user", "admin"], 1, refused, `${password}\n`);
    const other = `sha256:${"0".repeat(64)}`;
    await fails(
      ["login", tls, "--user", "admin", "--pin", other],
      1,
      /not the pinned sha256:0000/,
      `${password}\n`,
    );
    await fails(["login", tls, "--user", "admin", "--pin", "abc"], 2, /expected sha256:/, `${password}\n`);
    await ok(["login", tls, "--user", "admin", "--name", "trusted"], `${password}\n`, runTrusting);
    t.match(await ok(["pod", "list"], undefined, runTrusting), /^ID /);
    await fails(["pod", "list"], 1, /^hostplane: no connection to https:.*self-signed/);
    await ok(["login", tls, "--user", "admin", "--pin", fingerprint.toUpperCase()], `${password}\n`);
    t.match(await ok(["pod", "list"]), /^ID /);
  });

  await t.test("a changed certificate gets no request", async () => {
    const whole = await readFile(contexts, "utf8");
    await writeFile(contexts, whole.replaceAll(fingerprint, `sha256:${"1".repeat(64)}`));
    await fails(["pod", "list"], 1, /the server's certificate is sha256:.*, not the pinned sha256:1111/);
    await writeFile(contexts, whole);
  });

  await t.test("contexts are listed, selected and removed", async (t) => {
    const list = await ok(["context", "list"]);
    t.match(list, new RegExp(`^\\* +${secureHost} +${tls} +user/admin +sha256:`, "m"));
    t.match(list, /^ +local +the gateway of this host$/m);
    t.notMatch(await ok(["context", "list", "-o", "json"]), /token/);
    await ok(["context", "use", host]);
    t.match(await ok(["context", "list"]), new RegExp(`^\\* +${host} `, "m"));
    t.match(await ok(["pod", "list", "--context", secureHost]), /^ID /);
    await fails(["pod", "list", "--context", "none"], 2, /context "none" not found \(known: /);
    t.match(
      (await run(["pod", "list"], undefined, { HOSTPLANE_CONTEXT: "none" })).stderr,
      /"none" not found/,
    );
    await ok(["context", "use", "local"]);
    t.match(await run(["pod", "list", "--sandbox"]), { code: 1, stderr: /no gateway is running/ });
    t.equal(await ok(["__complete", "context"]), `${["local", host, "trusted", secureHost].join("\n")}\n`);
    // A gateway that does not answer in time counts as away.
    let names = "";
    while (names === "") {
      names = await ok(["__complete", "user", "--context", host]);
    }
    t.equal(names, "admin\n");
    await fails(["pod", "list", "--context", host, "--sandbox"], 2, /cannot be used with/);
    await ok(["context", "remove", "trusted"]);
    t.notMatch(await ok(["context", "list", "-o", "name"]), /trusted/);
    await chmod(contexts, 0o644);
    await fails(["pod", "list", "--context", host], 1, /other users can read the tokens .* chmod 600/);
    await chmod(contexts, 0o600);
  });

  await t.test("logout revokes a login, and only forgets an API token", async (t) => {
    await ok(["context", "use", host]);
    const before = await readFile(contexts, "utf8");
    t.equal(await ok(["logout"]), `logged out of ${cleartext}\n`);
    await writeFile(contexts, before);
    await fails(["pod", "list"], 1, new RegExp(`log in again: hostplane login ${cleartext}`));
    const token = (await ok(["token", "create", "robot", "--role", "viewer", ...local])).trim();
    const login = ["login", cleartext, "--token", "--name", "robot"];
    t.match(await ok(login, `${token}\n`), /as .*robot; commands now use the context robot/);
    await fails(["pod", "start", "sandbox-new"], 1, /^hostplane: .*operator/);
    t.match(await ok(["logout", "robot"]), /its API token stays valid/);
    t.match(await ok(login, `${token}\n`), /logged in/);
    await fails(login, 1, /^hostplane: /, "hpt_nonsense\n");
  });

  await t.test("cleartext goes to this host only", async () => {
    await fails(["login", "http://gateway.example.org", "--user", "a"], 2, /cleartext.*--insecure/, "x\n");
    await fails(
      ["login", "https://a:b@gateway.example.org", "--user", "a"],
      2,
      /must not contain a password/,
      "x\n",
    );
    await fails(["login", "gateway", "--user", "a"], 2, /expected the URL of a gateway/, "x\n");
    await fails(
      ["login", "https://127.0.0.1:1", "--user", "a"],
      1,
      /no connection to https:\/\/127.0.0.1:1/,
      "x\n",
    );
  });

  await t.test("on a terminal an unknown certificate is offered", skip, async (t) => {
    const declined = await onTerminal(["login", tls, "--user", "admin"], [[/\[y\/N\] /, "n\n"]], env);
    t.match(declined, { code: 1, shown: new RegExp(`fingerprint is ${fingerprint}`) });
    const accepted = await onTerminal(
      ["login", tls, "--name", "asked"],
      [
        [/\[y\/N\] /, "y\n"],
        [/User: /, "admin\n"],
        [/Password of admin: /, `${password}\n`],
      ],
      env,
    );
    t.match(accepted, { code: 0, shown: /logged in to .* the context asked/ });
    t.notMatch(accepted.shown, password);
    t.match(await ok(["pod", "list", "--context", "asked"]), /^ID /);
  });
});
