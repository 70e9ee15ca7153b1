import openapiTypescript, { astToString } from "openapi-typescript";
import { test } from "tap";
import ts from "typescript";
import { readDocumentedContract, wholeDocument } from "./contract-under-test.ts";

/** Code that a user of the generated types would write. */
const use = `
type Schemas = components["schemas"];
export const request: Schemas["proto.CreateLVRequest"] = { name: "data", sizeGb: "1", tags: ["team=web"] };
export const state: Schemas["proto.StateType"] = "COMPLETE";
export const reason: Schemas["Reason"] = "VOLUME_EXISTS";
type Get = operations["proto.VGService.GetLVList.get"];
export const volumes: Get["responses"]["200"]["content"]["application/json"] = { volumes: [{ name: "data" }] };
type Rest = operations["cnct.kaas.api.Cluster.CreateCluster.postRest"];
export const rest: Rest["responses"]["409"]["content"]["application/json"] = {
  error: "blue", message: "blue", code: 6, details: [],
};
// @ts-expect-error: no such field
export const unknown: Schemas["proto.CreateLVRequest"] = { sizeGB: "1" };
`;

test("a generator can create types from the document, for requests and answers", async (t) => {
  const document = wholeDocument(await readDocumentedContract());
  const nodes = await openapiTypescript(JSON.stringify(document));
  const text = `${astToString(nodes)}${use}`;
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2024,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, ...rest) =>
    name === "openapi.ts"
      ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2024)
      : getSourceFile.call(host, name, ...rest);
  const program = ts.createProgram(["openapi.ts"], options, host);
  const mistakes = ts.getPreEmitDiagnostics(program);
  t.same(
    mistakes.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")),
    [],
  );
});
