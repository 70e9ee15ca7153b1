import type { DescService, JsonObject } from "@bufbuild/protobuf";
import { test } from "tap";
import { invalidField } from "../../../../../adapters/host/infra-error.ts";
import { registerRefusal } from "../../../../../server/rpc/call/service-handlers.ts";
import { restRoutes } from "../../../../../server/rpc/protocols/rest/routes.ts";
import { readContractServices } from "../../../harness/contract-services.ts";
import { createLibrary, createLibraryOf } from "./library.ts";

function routesOf(...services: readonly DescService[]) {
  return restRoutes(
    services.map((service) => registerRefusal(service, () => invalidField("none", "not called"))),
  );
}

test("the contract's routes are those that its clients use", async (t) => {
  const rows = routesOf(...(await readContractServices())).map(({ method, httpMethod, template, body }) =>
    [method.name, httpMethod, template.text, ...(body === undefined ? [] : [body])].join(" "),
  );
  t.same(rows.toSorted(), [
    "AddNodePool POST /api/v1/cluster/pool *",
    "CreateCluster POST /api/v1/cluster *",
    "DeleteCluster DELETE /api/v1/cluster",
    "DeleteNodePool DELETE /api/v1/cluster/pool",
    "GetCluster GET /api/v1/cluster",
    "GetClusterList GET /api/v1/cluster/list",
    "GetClusterNodesStatus GET /api/v1/cluster/nodesstatus",
    "GetUpgradeClusterInformation GET /api/v1/cluster/upgrade",
    "GetVersionInformation GET /api/v1/version",
    "ScaleNodePool PUT /api/v1/cluster/pool *",
    "UpgradeCluster PUT /api/v1/cluster/upgrade *",
  ]);
});

test("every binding of a method is a route, the most specific first", async (t) => {
  const routes = routesOf(createLibrary());
  const rows = routes
    .filter(({ method }) => method.name === "GetBook" || method.name === "WatchBooks")
    .map(({ method, httpMethod, template }) => `${method.name} ${httpMethod} ${template.text}`);
  t.same(rows, [
    "WatchBooks GET /v1/books:watch",
    "GetBook GET /v1/books/{name}",
    "GetBook GET /v1/{name=shelves/*/books/*}",
  ]);
  const named = (name: string) => routes.find(({ method }) => method.name === name);
  t.match(named("CreateBook")?.body, { name: "book" });
  t.match(named("ReadSizes")?.responseField, { name: "sizes" });
  t.equal(named("Purge")?.httpMethod, "*");
});

test("a declaration that cannot be served is refused at the start", async (t) => {
  const wrong: readonly (readonly [JsonObject, RegExp])[] = [
    [{}, /has no path/],
    [{ get: "v1" }, /path template/],
    [{ get: "/v1/{nam}" }, /cannot have nam in the path/],
    [{ get: "/v1/{name.first}" }, /cannot have name.first in the path/],
    [{ get: "/v1/{pass_code}" }, /cannot have pass_code in the path/],
    [{ get: "/v1/x", body: "*" }, /gives GET a body/],
    [{ post: "/v1/x", body: "nam" }, /names nam, which is not a field of library.v1.GetBookRequest/],
    [{ get: "/v1/x", responseBody: "nam" }, /names nam, which is not a field of library.v1.Book/],
    [{ get: "/v1/{name}", additionalBindings: [{ get: "/v1/*" }] }, /have the same route GET/],
  ];
  for (const [rule, message] of wrong) {
    t.throws(() => routesOf(createLibraryOf(rule)), { name: "TypeError", message }, JSON.stringify(rule));
  }
  for (const more of [{ clientStreaming: true }, { clientStreaming: true, serverStreaming: true }]) {
    const message = /a method with a single request message/;
    t.throws(() => routesOf(createLibraryOf({ get: "/v1/x" }, more)), { name: "TypeError", message });
  }
  t.equal(routesOf(createLibraryOf({ get: "/v1/x", additionalBindings: [{ post: "/v1/x" }] })).length, 2);
});
