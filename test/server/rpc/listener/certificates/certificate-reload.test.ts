import { once } from "node:events";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Test, test } from "tap";
import type { Certificate } from "../../../../../server/rpc/listener/certificates/certificate.ts";
import { createCertificateReload } from "../../../../../server/rpc/listener/certificates/certificate-reload.ts";
import { createAuthority } from "../authority.ts";
import { createCertificate } from "../certificate.ts";

/** Watches the files of a certificate, and records the results. */
async function watch(t: Test, checkEveryMs: number, first: { cert: Buffer; key: Buffer; ca?: Buffer }) {
  const dir = t.testdir();
  const files = {
    cert: join(dir, "cert.pem"),
    key: join(dir, "key.pem"),
    ...(first.ca && { clientCa: join(dir, "ca.pem") }),
  };
  const events = new EventTarget();
  const write = async (name: keyof typeof files, text: Buffer | string) => {
    const path = join(dir, name === "clientCa" ? "ca.pem" : `${name}.pem`);
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  };
  await Promise.all([
    write("cert", first.cert),
    write("key", first.key),
    first.ca && write("clientCa", first.ca),
  ]);
  const refused: string[] = [];
  let used: Certificate | undefined;
  const reload = createCertificateReload(checkEveryMs, {
    onReloaded: () => events.dispatchEvent(new Event("reloaded")),
    onRefused: (error) => {
      refused.push(String(error));
      events.dispatchEvent(new Event("refused"));
    },
  });
  // Keeps the process alive, which the checks do not.
  const alive = setInterval(() => {}, 1000);
  t.teardown(() => {
    clearInterval(alive);
    reload.close();
  });
  used = reload.use(files, (certificate) => {
    used = certificate;
  });
  return { files, write, refused, reload, used: () => used, next: (event: string) => once(events, event) };
}

test("a half-written pair changes nothing, and is used once it is complete", async (t) => {
  const [first, second] = [await createCertificate("first.test"), await createCertificate("second.test")];
  const { write, refused, used, next } = await watch(t, 5, first);
  const isRefused = next("refused");
  await write("cert", second.cert);
  await isRefused;
  t.match(refused, [/cert\.pem with the key .*key\.pem cannot be used/]);
  t.same(used(), first);
  const isReloaded = next("reloaded");
  await write("key", second.key);
  await isReloaded;
  t.same(used(), second);
  t.equal(refused.length, 1, "an error is reported once");
});

test("authorities follow their file, which must contain at least one", async (t) => {
  const pair = await createCertificate("first.test");
  const [first, second] = [await createAuthority(t, "first"), await createAuthority(t, "second")];
  const { write, refused, used, next } = await watch(t, 5, { ...pair, ca: first.cert });
  const isReloaded = next("reloaded");
  await write("clientCa", second.cert);
  await isReloaded;
  t.same(used()?.ca, second.cert);
  for (const text of ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", pair.key]) {
    const isRefused = next("refused");
    await write("clientCa", text);
    await isRefused;
  }
  t.match(refused, [/client CA file .*ca\.pem: it contains no certificate/, /ca\.pem/, /ca\.pem/]);
  t.same(used()?.ca, second.cert);
});

test("a reload uses all certificates or none", async (t) => {
  const [first, second] = [await createCertificate("first.test"), await createCertificate("second.test")];
  const one = await watch(t, 3_600_000, first);
  let other: Certificate | undefined;
  one.reload.use(one.files, (certificate) => {
    other = certificate;
  });
  await one.write("cert", second.cert);
  t.throws(() => one.reload.reload(), { message: /cannot be used/ });
  t.same(one.used(), first);
  t.equal(other, undefined);
  await one.write("key", second.key);
  one.reload.reload();
  t.same(one.used(), second);
  t.same(other, second);
});
