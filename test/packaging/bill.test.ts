import { test } from "tap";
import { type Bill, billOf } from "../../packaging/bill.ts";

const component = (name: string) => ({ "bom-ref": `${name}@1`, name, version: "1" });
const bill: Bill = {
  serialNumber: "urn:uuid:0",
  metadata: { timestamp: "", component: component("app") },
  components: ["a", "b", "shared", "types", "tool"].map(component),
  dependencies: [
    { ref: "app@1", dependsOn: ["a@1", "b@1", "tool@1"] },
    { ref: "a@1", dependsOn: ["shared@1", "types@1"] },
    // A cycle, as npm packages may have.
    { ref: "shared@1", dependsOn: ["a@1"] },
    { ref: "tool@1", dependsOn: ["shared@1", "b@1"] },
  ],
};

test("a bill is reduced to what the named packages need and what is shipped", async (t) => {
  const reduced = billOf(bill, ["a"], ({ name }) => name !== "types");
  t.same(
    reduced.components.map(({ name }) => name),
    ["a", "shared"],
  );
  t.same(reduced.dependencies, [
    { ref: "app@1", dependsOn: ["a@1"] },
    { ref: "a@1", dependsOn: ["shared@1"] },
    { ref: "shared@1", dependsOn: ["a@1"] },
  ]);
});

test("a package that is not a direct dependency is refused", async (t) => {
  t.throws(() => billOf(bill, ["shared"], () => true), /shared is not a dependency of package.json/);
});
