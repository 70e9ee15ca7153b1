import { fromJson } from "@bufbuild/protobuf";
import { test } from "tap";
import { exampleRequest } from "../../../../server/rpc/openapi/example-request.ts";
import { exampleValues } from "../../../../server/rpc/openapi/example-values.ts";
import { readDocumentedContract } from "./contract-under-test.ts";

const { methods } = await readDocumentedContract();

test("the example of every method is a valid request, with either names", async (t) => {
  for (const { method } of methods) {
    for (const names of ["json", "contract"] as const) {
      t.doesNotThrow(() => fromJson(method.input, exampleRequest(method, { names })), method.toString());
    }
  }
});

test("an example of a nested message consists of its fields' examples", async (t) => {
  const create = methods.find(({ method }) => method.name === "CreateCluster");
  t.same(create && exampleRequest(create.method, { names: "contract" }), {
    name: "demo",
    k8s_version: "1.35.4",
    control_plane_nodes: { instanceType: "standard", count: 1 },
    worker_node_pools: [{ name: "workers", instanceType: "standard", count: 1 }],
  });
});

test("every example value belongs to an existing field", async (t) => {
  const names = new Set<string>();
  const visit = (message: (typeof methods)[number]["method"]["input"]): void => {
    for (const field of message.fields) {
      const isNew = !names.has(`${message.typeName}.${field.name}`);
      names.add(field.name).add(`${message.typeName}.${field.name}`);
      if (field.message !== undefined && isNew) {
        visit(field.message);
      }
    }
  };
  for (const { method } of methods) {
    visit(method.input);
  }
  t.same(
    Object.keys(exampleValues).filter((name) => !names.has(name)),
    [],
  );
});
