import { create } from "@bufbuild/protobuf";
import { test } from "tap";
import { servicesText } from "../../../../dashboard/pages/users/services-text.ts";
import { GrantSchema } from "../../../../gen/hostplane/v1/user_pb.ts";

test("without grants, the services of the role are shown", async (t) => {
  t.equal(servicesText({ services: [], grants: [] }), "all");
  t.equal(servicesText({ services: ["a.B", "c.D"], grants: [] }), "a.B, c.D");
});

test("grants are shown with their bounds", async (t) => {
  const grants = [
    create(GrantSchema, { resources: ["volumeGroups/vg0/volumes/db-*"] }),
    create(GrantSchema, { methods: ["a.B/C"], hosts: ["web-*"], hostLabels: [{ name: "rack", value: "1" }] }),
  ];
  const shown = "all for volumeGroups/vg0/volumes/db-*; a.B/C on web-*, rack=1";
  t.equal(servicesText({ services: ["a.B"], grants }), shown);
});
