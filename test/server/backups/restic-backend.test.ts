import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { resticReasons } from "../../../adapters/restic/reasons.ts";
import { createResticSandbox } from "../../../adapters/restic/sandbox.ts";
import { createStepFaults } from "../../../adapters/sandbox/step-faults.ts";
import { createAbsentResticBackend, createResticBackend } from "../../../server/backups/restic-backend.ts";
import { storeReasons } from "../../../server/store/reasons.ts";
import { createGateway, createHost } from "../domains/volumes/backups/backups-under-test.ts";

const volumes = { domain: "volumes", kindStart: "volumes" };

test("restic is degraded after an operation that failed because of its local repository, until one does not", async (t) => {
  let isUnreachable = false;
  const fault = () =>
    isUnreachable ? new InfraError(resticReasons.REPOSITORY_DENIED, "no room left") : undefined;
  const restic = createResticSandbox({ transferMs: 10, faults: createStepFaults(fault) });
  const host = await createHost(t, { restic });
  const { operations, backUp } = await createGateway(t, host);
  const backend = createResticBackend({ ...volumes, restic, operations, host: "alpha", freshMs: 0 });
  t.match(backend, {
    domain: "volumes",
    name: "restic",
    kind: "sandbox",
    services: ["hostplane.v1.BackupService"],
  });
  const whole = { health: "ok", version: "sandbox", missing: [] };
  t.match(await backend.status(), whole);
  await backUp("a", "data");
  t.match(await backend.status(), whole);
  isUnreachable = true;
  await backUp("b", "data");
  t.match(await backend.status(), {
    health: "degraded",
    missing: [/the last operation .* failed: no room left$/],
  });
  const other = createResticBackend({ ...volumes, restic, operations, host: "beta", freshMs: 0 });
  t.match(await other.status(), whole, "the repository of another host is a different one");
  isUnreachable = false;
  await backUp("c", "data");
  t.match(await backend.status(), whole);
});

test("failures of an S3 service in a request do not affect the gateway's health", async (t) => {
  const fault = () => new InfraError(resticReasons.REPOSITORY_DENIED, "wrong access key");
  const restic = createResticSandbox({ transferMs: 10, faults: createStepFaults(fault) });
  const { operations, backUp } = await createGateway(t, await createHost(t, { restic }));
  const s3 = {
    endpoint: "https://s3.test",
    path: "bucket",
    accessKeyId: "a",
    secretAccessKey: "b",
    verifyTls: true,
  };
  await backUp("a", "data", { dataSource: { type: { case: "s3", value: s3 } } });
  const backend = createResticBackend({ ...volumes, restic, operations, host: "alpha", freshMs: 0 });
  t.match(await backend.status(), { health: "ok" });
});

test("restic is unavailable while it cannot run; once it can, it is not inspected again", async (t) => {
  let inspections = 0;
  let isThere = false;
  const there = { version: "0.14.0", findings: [{ ok: true, what: "restic 0.14.0" }] };
  const gone = { version: undefined, findings: [{ ok: false, what: "it is not there", fix: "install it" }] };
  const restic = {
    ...createResticSandbox(),
    inspect: async () => {
      inspections += 1;
      return isThere ? there : gone;
    },
  };
  const operations = {
    list: () => Promise.reject(new InfraError(storeReasons.STORE_UNAVAILABLE, "no store")),
  };
  const backend = createResticBackend({ ...volumes, restic, operations, host: "alpha", freshMs: 0 });
  t.match(await backend.status(), { health: "unavailable", missing: ["it is not there: install it"] });
  isThere = true;
  const changed = Promise.withResolvers<void>();
  const end = backend.subscribe(changed.resolve);
  await changed.promise;
  end();
  t.match(await backend.status(), { health: "ok", version: "0.14.0" });
  t.match(await backend.status(), { health: "ok" });
  t.equal(inspections, 2);
  t.match(await createAbsentResticBackend("volumes", "volumes.backup").status(), {
    health: "unavailable",
    missing: [/set `volumes\.backup` in the configuration/],
  });
});
