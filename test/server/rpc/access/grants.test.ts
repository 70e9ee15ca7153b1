import fc from "fast-check";
import { test } from "tap";
import { type Grant, grantSchema } from "../../../../server/rpc/access/grant.ts";
import { createGrants } from "../../../../server/rpc/access/grants.ts";

const volumes: Grant = {
  role: "operator",
  services: ["proto.LVService"],
  resources: ["volumeGroups/vg0/volumes/db-*"],
};

test("one grant without bounds needs no grants", (t) => {
  t.equal(createGrants([], "here"), undefined);
  t.equal(createGrants([{ role: "admin" }], "here"), undefined);
  t.equal(createGrants([{ role: "operator", services: ["proto.LVService"] }], "here"), undefined);
  t.not(createGrants([{ role: "viewer" }, { role: "operator", services: ["a.B"] }], "here"), undefined);
  t.end();
});

test("role and services are those of all grants", (t) => {
  const both = createGrants([volumes, { role: "viewer", methods: ["proto.VGService/Watch"] }], "here");
  t.equal(both?.role, "operator");
  t.same([...(both?.services ?? [])], ["proto.LVService", "proto.VGService"]);
  t.equal(createGrants([volumes, { role: "viewer" }], "here")?.services, undefined);
  t.end();
});

test("a use needs one grant that covers all of it", (t) => {
  const grants = createGrants([volumes, { role: "viewer", hosts: ["web-*"] }], "here");
  const use = { methodPath: "proto.LVService/RemoveLV", role: "operator", host: "here" } as const;
  t.equal(grants?.allowing({ ...use, resource: "volumeGroups/vg0/volumes/db-1" }), volumes);
  t.equal(grants?.allowing({ ...use, resource: "volumeGroups/vg0/volumes/web" }), undefined);
  t.equal(grants?.allowing({ ...use, resource: "all" }), undefined, "resources that cannot be determined");
  t.equal(grants?.allowing(use), volumes, "an open resource");
  t.equal(grants?.allowing({ ...use, role: "admin" }), undefined);
  const web = { name: "web-1", labels: {} };
  t.equal(grants?.allowing({ ...use, host: web, resource: "all" }), undefined, "the role of the other grant");
  t.match(grants?.allowing({ ...use, role: "viewer", host: web, resource: "all" }), { hosts: ["web-*"] });
  t.end();
});

test("labels of hosts must all match", (t) => {
  const label = (name: string, value: string) => ({ name, value });
  const grants = createGrants(
    [{ role: "viewer", hostLabels: [label("rack", "1"), label("tested", "")] }],
    "here",
  );
  const covers = (labels: Readonly<Record<string, string>>) => grants?.coversHost({ name: "a", labels });
  t.ok(covers({ rack: "1", tested: "" }));
  t.ok(covers({ rack: "1", tested: "yes" }));
  t.notOk(covers({ rack: "2", tested: "" }));
  t.notOk(covers({ rack: "1" }));
  t.notOk(covers({}));
  t.end();
});

test("the grants of a host have no bounds of hosts", (t) => {
  const grants = createGrants(
    [
      { ...volumes, hosts: ["web-*"] },
      { role: "viewer", hosts: ["db-1"] },
    ],
    "here",
  );
  t.same(grants?.onHost({ name: "web-1", labels: {} }), [volumes]);
  t.same(grants?.onHost({ name: "other", labels: {} }), []);
  t.end();
});

test("a grant is refused with the key that is wrong", (t) => {
  const mistakeOf = (grant: unknown) => {
    const [issue] = grantSchema.safeParse(grant).error?.issues ?? [];
    return issue && `${issue.path.join(".")}: ${issue.message}`;
  };
  t.equal(mistakeOf({ role: "operator", resources: ["a/*"] }), undefined);
  t.match(mistakeOf({}), /^role: /);
  t.match(mistakeOf({ role: "operator", resource: ["a"] }), /Unrecognized key: "resource"/);
  t.match(mistakeOf({ role: "operator", resources: [] }), /^resources: /);
  t.match(mistakeOf({ role: "operator", resources: ["a", "(a+)+"] }), /^resources\.1: .*only wildcard/);
  t.match(mistakeOf({ role: "operator", services: ["a.B"], methods: ["a.B/C"] }), /^methods: .*two grants/);
  t.match(mistakeOf({ role: "operator", methods: ["a.B"] }), /^methods\.0: expected a method/);
  t.match(mistakeOf({ role: "operator", hosts: ["A b"] }), /^hosts\.0: expected the name of a host/);
  t.match(mistakeOf({ role: "admin", resources: ["a"] }), /^role: .*needs services or methods/);
  t.end();
});

const name = fc.constantFrom("a", "b", "ab", "a*", "*");
const pattern = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const service = fc.constantFrom("x.A", "x.B");
const grant: fc.Arbitrary<Grant> = fc.record(
  {
    role: fc.constantFrom("viewer" as const, "operator" as const),
    services: fc.uniqueArray(service, { minLength: 1 }),
    resources: fc.uniqueArray(pattern, { minLength: 1 }),
  },
  { requiredKeys: ["role"] },
);

test("several grants allow and show what each of them does, and nothing else", (t) => {
  const subject = fc.record({ services: fc.array(service, { minLength: 1 }), resource: pattern });
  fc.assert(
    fc.property(
      fc.array(grant, { minLength: 2, maxLength: 4 }),
      subject,
      (grants, { services, resource }) => {
        // A second grant, since one without bounds is none.
        const alone = grants.map((each) => createGrants([each, each], "here"));
        const all = createGrants(grants, "here");
        const [first = ""] = services;
        const use = { methodPath: `${first}/M`, role: "operator", resource } as const;
        const isAllowed = all?.allowing(use) !== undefined;
        const isCovered = all?.covers({ services, resource });
        return (
          isAllowed === alone.some((each) => each?.allowing(use) !== undefined) &&
          isCovered === alone.some((each) => each?.covers({ services, resource }) === true)
        );
      },
    ),
  );
  t.pass("for any grants");
  t.end();
});
