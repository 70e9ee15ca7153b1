import type { JsonObject } from "@bufbuild/protobuf";
import { documentedReasons } from "../../../../server/gateway/method-reasons.ts";
import { methodRuleOf } from "../../../../server/gateway/method-rules.ts";
import { readContractComments } from "../../../../server/rpc/openapi/contract-comments.ts";
import { createErrorTable } from "../../../../server/rpc/openapi/error-table.ts";
import { type DocumentedContract, openApiDocument } from "../../../../server/rpc/openapi/openapi-document.ts";
import { restRoutes } from "../../../../server/rpc/protocols/rest/routes.ts";
import { readContractServices } from "../../harness/contract-services.ts";

/** Reads the whole contract as input for documents. */
export async function readDocumentedContract(): Promise<DocumentedContract> {
  const services = await readContractServices();
  const commentOf = await readContractComments("backups");
  return {
    methods: services
      .flatMap(({ methods }) => methods)
      .map((method) => ({ method, rule: methodRuleOf(method) })),
    restRoutes: restRoutes(services.map((service) => ({ service, handlerOf: () => async () => ({}) }))),
    commentOf,
    errors: createErrorTable(documentedReasons, commentOf),
    isPlannable: () => false,
    version: "0.0.0-test",
    maxMessageBytes: 4 << 20,
    maxDeadlineMs: 60_000,
  };
}

/** Creates the document of a contract without pauses. */
export function wholeDocument(contract: DocumentedContract): JsonObject {
  const steps = openApiDocument(contract);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      return value;
    }
  }
}
