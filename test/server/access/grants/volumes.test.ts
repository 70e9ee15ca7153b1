import type { JsonObject } from "@bufbuild/protobuf";
import { test } from "tap";
import { startGrants } from "./grants-under-test.ts";

const grant = { role: "ROLE_OPERATOR", resources: ["volumeGroups/sandbox-vg/volumes/db-*"] };

test("a grant with resources allows changes of these resources only", async (t) => {
  const { admin, userWith } = await startGrants(t);
  const db = await userWith("database", [grant]);
  const create = (name: string) => db.call("proto.LVService/CreateLV", { name, sizeGb: "1" });
  t.equal((await create("db-1")).status, 200);
  const refused = await create("web-1");
  t.match(refused, { status: 403, reason: "NOT_GRANTED" });
  t.match(refused.body.message, /no grant of user\/database covers volumeGroups\/sandbox-vg\/volumes\/web-1/);
  t.equal((await admin.call("proto.LVService/CreateLV", { name: "web-1", sizeGb: "1" })).status, 200);

  t.match(await db.call("proto.LVService/RemoveLV", { name: "web-1" }), { reason: "NOT_GRANTED" });
  t.match(await db.call("proto.LVService/RemoveLV", { name: "absent" }), { reason: "NOT_GRANTED" });
  t.match(await db.call("hostplane.v1.VolumeService/GetVolume", { name: "db-absent" }), {
    reason: "VOLUME_NOT_FOUND",
  });
  t.match(
    await db.call("hostplane.v1.VolumeService/CreateSnapshot", { source: "web-1", name: "db-stolen" }),
    { reason: "NOT_GRANTED" },
    "the source of a snapshot counts too",
  );
  t.match(
    await db.call("hostplane.v1.VolumeService/CloneVolume", { source: "web-1", name: "db-stolen" }),
    { reason: "NOT_GRANTED" },
    "and that of a clone",
  );
  const snapshot = { source: "web-1", name: "db-snapshot" };
  t.equal((await admin.call("hostplane.v1.VolumeService/CreateSnapshot", snapshot)).status, 200);
  t.match(
    await db.call("hostplane.v1.VolumeService/MergeSnapshot", { name: "db-snapshot" }),
    { reason: "NOT_GRANTED", body: { message: /covers volumeGroups\/sandbox-vg\/volumes\/web-1/ } },
    "a merge overwrites the origin",
  );
  t.match(await db.call("hostplane.v1.VolumeService/RenameVolume", { name: "db-1", newName: "web-2" }), {
    reason: "NOT_GRANTED",
  });
  await admin.call("hostplane.v1.VolumeService/CreateSnapshot", { source: "web-1", name: "db-of-web" });
  t.match(
    await db.call("hostplane.v1.VolumeService/MergeSnapshot", { name: "db-of-web" }),
    { reason: "NOT_GRANTED" },
    "the volume that a snapshot is merged into counts too",
  );
  t.match(
    await db.call("hostplane.v1.PlanService/Plan", {
      method: "proto.LVService/RemoveLV",
      json: { name: "web-1" },
    }),
    { reason: "NOT_GRANTED" },
  );
  t.equal((await db.call("proto.LVService/RemoveLV", { name: "db-1" })).status, 200);
});

test("lists contain only what a grant covers", async (t) => {
  const { admin, userWith } = await startGrants(t);
  const db = await userWith("database", [grant]);
  await admin.call("proto.LVService/CreateLV", { name: "db-1", sizeGb: "1" });
  const namesOf = async (method: string) => {
    const { body } = await db.call(method);
    return ((body.volumes ?? body.resources) as readonly { readonly name: string }[]).map(({ name }) => name);
  };
  t.same(await namesOf("proto.VGService/GetLVList"), ["db-1"]);
  t.same(await namesOf("hostplane.v1.VolumeService/ListVolumes"), ["db-1"]);
  t.same(await namesOf("hostplane.v1.InventoryService/ListResources"), [
    "volumeGroups/sandbox-vg/volumes/db-1",
  ]);
  t.match(await db.call("proto.VGService/GetFreeBytes"), { reason: "NOT_GRANTED" });
  t.match(await db.call("stats.StatsService/GetClusterStats"), { reason: "NOT_GRANTED" });
});

test("metrics, which name any resource, need a grant for all of them", async (t) => {
  const { url, userWith } = await startGrants(t);
  const statusFor = async (name: string, grants: readonly JsonObject[]) => {
    const { token } = await userWith(name, grants);
    return (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).status;
  };
  t.equal(await statusFor("bounded", [grant]), 403);
  t.equal(await statusFor("elsewhere", [{ role: "ROLE_VIEWER", hosts: ["elsewhere"] }]), 403);
  t.equal(await statusFor("both", [grant, { role: "ROLE_VIEWER" }]), 200);
});

test("a grant of methods allows no others, and one without bounds is a role", async (t) => {
  const { admin, userWith } = await startGrants(t);
  const remover = await userWith("remover", [
    { role: "ROLE_OPERATOR", methods: ["proto.LVService/RemoveLV"] },
    { role: "ROLE_VIEWER", services: ["proto.VGService"] },
  ]);
  t.equal((await remover.call("proto.VGService/GetLVList")).status, 200);
  t.match(await remover.call("proto.LVService/CreateLV", { name: "x", sizeGb: "1" }), {
    reason: "NOT_GRANTED",
  });
  t.equal((await remover.call("proto.LVService/RemoveLV", { name: "sandbox-web" })).status, 200);
  const { body } = await admin.call("hostplane.v1.UserService/CreateUser", {
    name: "plain",
    password: "a user of a test",
    grants: [{ role: "ROLE_OPERATOR", services: ["proto.VGService"] }],
  });
  t.match(body.user, { role: "ROLE_OPERATOR", services: ["proto.VGService"] });
  t.notHas(body.user, { grants: /./ });
});
